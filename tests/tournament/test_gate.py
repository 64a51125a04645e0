import numpy as np
import pytest

from judgec.errors import UserError
from judgec.records.estimate import Estimate
from judgec.records.game import Game, Games, Winner
from judgec.stats.rating.corrected_ratings import corrected_ratings
from judgec.tournament.gate import RatingGate, held, parse_gate
from judgec.tournament.leaderboard import make_leaderboard


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("new>=old-30", RatingGate("new", "old", -30.0)),
        ("new >= old + 12.5", RatingGate("new", "old", 12.5)),
        ("old>=new", RatingGate("old", "new", 0.0)),
        ("gpt-4>=a>=b-2-30", RatingGate("gpt-4", "a>=b-2", -30.0)),
        ("new>=a>=b-2", RatingGate("new", "a>=b-2", 0.0)),  # the name, not "a>=b" with a margin of -2
        ("new>=two\nlines-30", RatingGate("new", "two\nlines", -30.0)),
    ],
)
def test_parse_gate_knows_names_with_any_characters(text: str, expected: RatingGate) -> None:
    assert parse_gate(text, ("new", "old", "gpt-4", "a>=b-2", "a>=b", "two\nlines")) == expected


@pytest.mark.parametrize("text", ["new", "new>=new", "new>=stranger-30", "new>old", "new>=old-much"])
def test_parse_gate_of_another_form_or_a_stranger_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="not of the form"):
        parse_gate(text, ("new", "old"))


def difference(value: float, low: float | None, queries: int = 25) -> Estimate:
    return Estimate(value=value, low=low, high=None, n_clusters=queries, note="" if low is not None else "one query")


@pytest.mark.parametrize(
    ("found", "opened", "said"),
    [
        (difference(10.0, -29.0), True, ""),
        (difference(10.0, -30.0), False, "too few queries"),
        (difference(-31.0, -60.0), False, "worse: "),
        # Half-width 80 with 25 queries; 40 Elo of room need a quarter of the variance: 4 * 25 = 100, and one to pass.
        (difference(10.0, -70.0), False, "about 101 needed, there are 25"),
        (difference(10.0, None), False, "about 26 needed, there are 25"),
        # .457 is the chance of a win 30 points behind: .457^4 = .044, .457^5 = .020 < .025.
        (difference(10.0, 5.0, queries=5), True, ""),
        (difference(10.0, 5.0, queries=4), False, "about 5 needed, there are 4"),
    ],
)
def test_gate_opens_only_when_the_lower_bound_is_above_the_margin_and_says_what_lacks(
    found: Estimate, opened: bool, said: str
) -> None:
    shown = RatingGate("new", "old", -30.0).verdict(found)
    assert shown[0] is opened
    assert said in shown[1]


def duel(results: list[Winner]) -> Games:
    """Both orders of ``new`` and ``old`` on a query for each result."""
    turned: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}
    rows = [Game(f"q{i}", "new", "old", result) for i, result in enumerate(results)]
    rows += [Game(f"q{i}", "old", "new", turned[result]) for i, result in enumerate(results)]
    return Games.of(rows)


@pytest.mark.parametrize(
    ("results", "margin", "verdict"),
    [
        (["tie"] * 25, -30, "not shown"),
        (["tie"] * 25, -60, "passed"),  # 25 ties leave room for 49 points
        (["tie"] * 100, -30, "passed"),
        (["tie"] * 100, 0, "not shown"),
        (["tie"] * 24 + ["a"], -30, "not shown"),
        (["a"] * 25, -30, "passed"),
        (["b"] * 25, -30, "failed"),
        (["b"] * 19 + ["a"] * 6, -30, "failed"),
        (["b"] * 3, -30, "not shown"),  # worse, but three queries show nothing
        (["b"] * 13 + ["a"] * 12, -30, "not shown"),
    ],
)
def test_gate_passes_or_fails_only_where_it_is_shown(results: list[Winner], margin: float, verdict: str) -> None:
    found = held(RatingGate("new", "old", margin), make_leaderboard(duel(results), source="test").ratings)
    assert found.verdict == verdict, found.sentence
    assert f"margin {margin:+g}" in found.sentence
    report = found.to_json()
    assert (report["verdict"], report["margin"], report["queries"]) == (verdict, margin, len(results))


def test_gate_is_held_against_ratings_that_votes_corrected() -> None:
    # The judge has the new one win every game; people let it lose three in four.
    judged = Games.of(Game(f"q{query}", "new", "old", "a") for query in range(80))
    votes = np.where(np.arange(80) < 40, (np.arange(80) % 4 == 0).astype(float), np.nan)
    demand = RatingGate("new", "old", 0.0)
    assert held(demand, make_leaderboard(judged, source="test").ratings).verdict == "passed"
    found = held(demand, corrected_ratings(judged, votes))
    assert (found.verdict, found.difference.n_clusters) == ("failed", 40)
    assert held(RatingGate("old", "new", 0.0), corrected_ratings(judged, votes)).verdict == "passed"


@pytest.mark.parametrize(("margin", "warns"), [(-30.0, False), (-100.0, False), (-101.0, True), (150.0, True)])
def test_gate_with_a_margin_over_100_warns_with_its_meaning(margin: float, warns: bool) -> None:
    warning = RatingGate("new", "old", margin).warning
    assert bool(warning) is warns
    if margin == -101.0:
        assert "36 % " in warning  # 1 / (1 + 10^(101 / 400))
