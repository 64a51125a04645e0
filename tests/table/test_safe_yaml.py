"""YAML of somebody else: what it stands for is bounded, and what is none is one kind of error."""

import pytest
import yaml

from judgec.errors import InputError
from judgec.table.safe_yaml import load_yaml

LAUGHS = "\n".join(f"a{n}: &a{n} [{', '.join(['x' if n == 0 else f'*a{n - 1}'] * 10)}]" for n in range(7))


def test_load_yaml_of_plain_values_gives_them_with_aliases_written_out() -> None:
    assert load_yaml("f.yaml", "a: &one [1, x]\nb: *one\n") == {"a": [1, "x"], "b": [1, "x"]}
    assert load_yaml("f.yaml", "") is None


@pytest.mark.parametrize("text", [LAUGHS, "endless: &e [*e]", "- &e {again: *e}"])
def test_load_yaml_of_aliases_that_stand_for_too_much_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"f\.yaml:1: aliases .* 100000 values"):
        load_yaml("f.yaml", text)


@pytest.mark.parametrize(
    ("text", "said"),
    [("day: 2026-99-99", "month"), ("[" * 5000, "nested"), ("a: [", "flow"), ("!!python/none x", "constructor")],
)
def test_load_yaml_of_what_is_none_is_a_yaml_error(text: str, said: str) -> None:
    with pytest.raises(yaml.YAMLError, match=said):
        load_yaml("f.yaml", text)
