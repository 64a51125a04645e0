"""Metric names."""

import re
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judgec.connect.tracking.names import MAX_NAME, encode_metric


@pytest.mark.parametrize(
    ("name", "encoded"),
    [
        *((name, name) for name in ("test.tau_b", "test.uncompiled.tau_b.low")),
        *(("agent+v2", "agent_2Bv2"), ("agent_2Bv2", "agent_5F2Bv2"), ("MRR@5", "MRR_405"), ("a+b_c", "a_2Bb_5Fc")),
        *(("größe", "gr_C3_B6_C3_9Fe"), ("../x", "_2E_2E_2Fx"), ("a//b", "a_2F_2Fb"), (".", "_2E")),
    ],
)
def test_encode_metric_known_names_give_hand_worked_codes(name: str, encoded: str) -> None:
    assert encode_metric(name) == encoded


@given(st.text(min_size=1, max_size=20))  # 12 characters each at most: none is cut
@example("agent_2Bv2")
@example("a_b+_2B")
def test_encode_metric_any_name_can_be_decoded(name: str) -> None:
    encoded = encode_metric(name)
    if encoded != name:
        encoded = unquote_to_bytes(encoded.replace("_", "%")).decode()
    assert encoded == name


@given(st.text(min_size=1, max_size=400))
@example("x" * 251)
def test_encode_metric_any_name_gives_a_plain_relative_path(name: str) -> None:
    encoded = encode_metric(name)
    assert re.fullmatch(r"[A-Za-z0-9_.\- /]{1,250}", encoded)
    assert not encoded.startswith(("/", "./", "../"))
    assert "//" not in encoded


def test_encode_metric_long_names_with_one_beginning_stay_apart_and_none_raises() -> None:
    first, second = encode_metric("x" * 300 + "a"), encode_metric("x" * 300 + "b")
    assert first != second
    assert len(first) == MAX_NAME
    with pytest.raises(ValueError, match="name"):
        encode_metric("")
