import pytest

from judgec.errors import UserError
from judgec.records.estimate import Estimate
from judgec.tournament.gate import Gate, parse_gate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("new>=old-30", Gate("new", "old", -30.0)),
        ("new >= old + 12.5", Gate("new", "old", 12.5)),
        ("old>=new", Gate("old", "new", 0.0)),
        ("gpt-4>=a>=b-2-30", Gate("gpt-4", "a>=b-2", -30.0)),
        ("new>=a>=b-2", Gate("new", "a>=b-2", 0.0)),  # the name, not "a>=b" with a margin of -2
        ("new>=two\nlines-30", Gate("new", "two\nlines", -30.0)),
    ],
)
def test_parse_gate_knows_names_with_any_characters(text: str, expected: Gate) -> None:
    assert parse_gate(text, ("new", "old", "gpt-4", "a>=b-2", "a>=b", "two\nlines")) == expected


@pytest.mark.parametrize("text", ["new", "new>=new", "new>=stranger-30", "new>old", "new>=old-much"])
def test_parse_gate_of_another_form_or_a_stranger_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="not of the form"):
        parse_gate(text, ("new", "old"))


def difference(value: float, low: float | None, queries: int = 25) -> Estimate:
    return Estimate(value=value, low=low, high=None, n_clusters=queries, note="" if low is not None else "one query")


def test_gate_opens_only_when_the_lower_bound_is_above_the_margin() -> None:
    gate = Gate("new", "old", -30.0)
    assert gate.verdict(difference(10.0, -29.0))[0]
    assert not gate.verdict(difference(10.0, -30.0))[0]


def test_gate_that_stays_shut_says_worse_or_how_many_queries() -> None:
    gate = Gate("new", "old", -30.0)
    assert gate.verdict(difference(-31.0, -60.0))[1].startswith("worse: ")
    # Half-width 80 with 25 queries; 40 Elo of room need a quarter of the variance: 4 * 25 = 100, and one to pass.
    assert gate.verdict(difference(10.0, -70.0))[1].startswith("too few queries: about 101 needed, there are 25")
    assert gate.verdict(difference(10.0, None))[1].startswith("too few queries: about 26 needed, there are 25")


def test_gate_never_opens_on_fewer_queries_than_a_clean_sweep_would_need() -> None:
    # .457 is the chance of a win 30 points behind: .457^4 = .044, .457^5 = .020 < .025.
    gate = Gate("new", "old", -30.0)
    assert gate.verdict(difference(10.0, 5.0, queries=5))[0]
    opened, said = gate.verdict(difference(10.0, 5.0, queries=4))
    assert not opened
    assert said.startswith("too few queries: about 5 needed, there are 4")
