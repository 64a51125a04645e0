import json
import math
from collections.abc import Sequence

import pytest
from dspy.lm15 import TokenLogprob, TopLogprob
from hypothesis import given
from hypothesis import strategies as st

from judgec.lm.logprobs import Span, condense, condense_entries, dump, label_probabilities, load, to_tokens


def tokens(*spelled: tuple[str, float] | tuple[str, float, dict[str, float]]) -> list[TokenLogprob]:
    made = []
    for text, chance, *rest in spelled:
        top = tuple(TopLogprob(token=t, logprob=math.log(p)) for t, p in (rest[0] if rest else {}).items())
        made.append(TokenLogprob(token=text, logprob=math.log(chance), top=top))
    return made


CHAT = tokens(
    ("[[ ##", 1.0),
    (" reason ## ]]", 1.0),
    ("\n", 1.0),
    ("Good", 0.5, {"Good": 0.5, "4": 0.5}),
    (".", 0.5, {".": 0.5, "4": 0.5}),
    ("\n\n", 1.0),
    ("[[ ## grade ## ]]", 1.0),
    ("\n", 0.9, {"\n": 0.9, " ": 0.1}),
    ("4", 0.6, {"4": 0.6, " 5": 0.2, "3": 0.1, "four": 0.1}),
    ("\n\n[[ ## completed ## ]]", 1.0),
)


def test_condense_keeps_alternatives_where_values_begin_and_sums_the_rest() -> None:
    spans = condense(CHAT)
    assert spans is not None
    assert "".join(span.text for span in spans) == "".join(token.token for token in CHAT)
    assert [span.text for span in spans if span.top] == ["Good", "4"]
    between = spans[2]
    assert between.text == ".\n\n[[ ## grade ## ]]\n"
    assert between.logprob == pytest.approx(math.log(0.5 * 0.9))  # hand-worked: the run's probability


JSON = tokens(('{"reason": "ok", "grade": ', 1.0), ("2", 0.75, {"2": 0.75, "1": 0.25}), ("}", 1.0))
WORDS = tokens(("[[ ## preference ## ]]\n", 1.0), ("t", 0.5, {"t": 0.5, "a": 0.3, "b": 0.2}), ("ie", 1.0))
TEN = tokens(("[[ ## grade ## ]]\n", 1.0), ("10", 0.5, {"10": 0.5, "1": 0.25, "9": 0.25}))


@pytest.mark.parametrize(
    ("reply", "field", "labels", "wanted"),
    [
        (CHAT, "grade", "12345", (0, 0, 0.1 / 0.9, 0.6 / 0.9, 0.2 / 0.9)),
        (JSON, "grade", "12", (0.25, 0.75)),
        (WORDS, "preference", ["a", "b", "tie"], (0.3, 0.2, 0.5)),  # a first piece counts for the word
        (TEN, "grade", [*"123456789", "10"], (0.25, *[0] * 7, 0.25, 0.5)),
    ],
)
def test_label_probabilities_normalizes_over_the_labels(
    reply: list[TokenLogprob], field: str, labels: Sequence[str], wanted: tuple[float, ...]
) -> None:
    assert label_probabilities(condense(reply), field, labels) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("field", "labels", "why"),
    [
        ("score", ["3", "4"], "no such field"),
        ("grade", ["a", "b"], "the alternatives are no labels"),
        ("grade", ["4", "4.5"], "the first token is shared"),
    ],
)
def test_label_probabilities_that_cannot_be_read_is_none(field: str, labels: Sequence[str], why: str) -> None:
    assert label_probabilities(condense(CHAT), field, labels) is None, why


def test_condense_without_alternatives_is_none() -> None:
    assert condense(None) is None
    assert condense(tokens(("[[ ## grade ## ]]\n", 1.0), ("4", 0.5))) is None
    assert label_probabilities(None, "grade", ["4"]) is None


def test_from_prediction_reads_what_dspy_returns() -> None:
    content = [
        {
            "token": t.token,
            "logprob": t.logprob,
            "bytes": None,
            "top_logprobs": [{"token": a.token, "logprob": a.logprob, "bytes": None} for a in t.top],
        }
        for t in CHAT
    ]
    assert condense_entries(content) == condense(CHAT)
    assert condense_entries([]) is None


@given(
    st.lists(
        st.tuples(st.text(), st.floats(-50, 0), st.dictionaries(st.text(), st.floats(-50, 0), max_size=3)),
        min_size=1,
        max_size=8,
    )
)
def test_journal_and_response_round_trips_change_nothing(
    spelled: list[tuple[str, float, dict[str, float]]],
) -> None:
    spans = tuple(Span(text, logprob, tuple(top.items())) for text, logprob, top in spelled)
    assert load(dump(spans)) == spans
    as_tokens = to_tokens(spans)
    assert as_tokens is not None
    assert tuple(Span(t.token, t.logprob, tuple((a.token, a.logprob) for a in t.top)) for t in as_tokens) == spans
    condensed = condense(as_tokens)
    assert condensed is None or condense(to_tokens(condensed)) == condensed
    assert json.loads(dump(spans) or "")
