"""Main effects: worked by hand, not mixed with other settings where the grid has gaps, right at their level."""

from itertools import combinations, product

import numpy as np
import pytest

from judgec.records.game import Games
from judgec.stats.rating.bradley_terry import ELO_PER_LOGIT
from judgec.stats.rating.ratings import bradley_terry
from judgec.tournament.report.effects import effects_sentence, main_effects, unpaired
from tests.stats.known import bounds

GRID = {f"{c}{k}": {"chunk": c, "k": k} for c, k in product(("500", "1000"), ("3", "5"))}


def league(strength: dict[str, float], queries: int, seed: int) -> Games:
    """All pairs on all queries; a query's form moves each agent."""
    rng = np.random.default_rng(seed)
    agents = tuple(sorted(strength))
    theta = np.array([strength[name] for name in agents])
    form = rng.normal(0, 0.5, (queries, len(agents)))
    rows = [(a, b, q) for q in range(queries) for a, b in combinations(range(len(agents)), 2)]
    a, b, query = (np.array(column) for column in zip(*rows, strict=True))
    gap = theta[a] + form[query, a] - theta[b] - form[query, b]
    score = (rng.random(len(rows)) < 1 / (1 + np.exp(-gap))).astype(np.float64)
    return Games(agents, tuple(map(str, range(queries))), a, b, query, score)


def test_effects_on_grades_are_means_over_pairs_by_hand() -> None:
    # By query: 500/3, 500/5, 1000/3, 1000/5.
    grades = {"1": (1, 2, 3, 4), "2": (2, 2, 2, 4), "3": (0, 1, 3, 2)}
    scores = {
        (query, agent): {"grade": float(grade)}
        for query, row in grades.items()
        for agent, grade in zip(GRID, row, strict=True)
    }
    ratings = bradley_terry(league(dict.fromkeys(GRID, 0.0), 40, 1))
    found = main_effects(GRID, ratings, {"judge": scores})
    by_name = {(one.setting, one.measure): one for one in found}
    chunk, k = by_name["chunk", "grade"], by_name["k", "grade"]
    # chunk: query means of 1000 less 500 are 2, 1, 2; k: of 5 less 3: 1, 1, 0.
    assert chunk.difference.value == pytest.approx(5 / 3)
    assert k.difference.value == pytest.approx(2 / 3)
    half = 4.302653 * np.std([2, 1, 2], ddof=1) / np.sqrt(3)  # t of 2 degrees of freedom
    assert (chunk.difference.low, chunk.difference.high) == pytest.approx((5 / 3 - half, 5 / 3 + half), abs=1e-5)
    assert chunk.levels == ("500", "1000")
    assert chunk.pairs == k.pairs == 2
    rated = dict(zip(ratings.agents, ratings.rating, strict=True))
    by_hand = (rated["10003"] + rated["10005"] - rated["5003"] - rated["5005"]) / 2
    assert by_name["chunk", "Elo"].difference.value == pytest.approx(by_hand)


def test_a_grid_with_gaps_does_not_mix_settings() -> None:
    grid = {name: own for name, own in GRID.items() if name != "5005"}
    scores = {("1", name): {"grade": 10.0 * (own["k"] == "5")} for name, own in grid.items()}
    scores |= {("2", name): {"grade": 10.0 * (own["k"] == "5")} for name, own in grid.items()}
    found = main_effects(grid, bradley_terry(league(dict.fromkeys(grid, 0.0), 30, 2)), {"judge": scores})
    values = {one.setting: one.difference.value for one in found if one.measure == "grade"}
    assert values == {"chunk": 0.0, "k": 10.0}  # the plain mean of 1000 less that of 500 would be 5


def test_confounded_settings_have_no_effect_and_are_named() -> None:
    grid = {"old": {"chunk": "500", "k": "3", "lm": "m"}, "new": {"chunk": "1000", "k": "5", "lm": "m"}}
    assert main_effects(grid, bradley_terry(league(dict.fromkeys(grid, 0.0), 30, 3)), {}) == ()
    assert unpaired(grid) == ("chunk", "k")


def test_the_sentence_names_what_matters_and_what_was_not_shown_to() -> None:
    strength = {name: 1.0 * (own["chunk"] == "1000") for name, own in GRID.items()}
    effects = main_effects(GRID, bradley_terry(league(strength, 150, 4)), {})
    said = effects_sentence(effects)
    assert ": chunk 500 → 1000 +" in said
    assert said.endswith(": k.")


def test_agents_that_never_lose_leave_the_effect_without_an_interval() -> None:
    games = league({"a": 0.0, "b": 0.0}, 20, 5)
    swept = Games(games.agents, games.queries, games.a, games.b, games.query, np.ones(len(games.a)))
    (effect,) = main_effects({"a": {"k": "5"}, "b": {"k": "3"}}, bradley_terry(swept), {})
    assert effect.p is None
    assert effect.difference.low is None
    assert effect.difference.note


@pytest.mark.full
def test_intervals_of_effects_cover_and_their_p_is_right() -> None:
    strength = {name: 0.3 * (own["chunk"] == "1000") for name, own in GRID.items()}
    # Forms average out of the odds: what all queries together would give.
    wide = bradley_terry(league(strength, 60_000, 0), resamples=0)
    rated = dict(zip(wide.agents, wide.rating, strict=True))
    truth = (rated["10003"] + rated["10005"] - rated["5003"] - rated["5005"]) / 2
    assert truth == pytest.approx(0.3 * ELO_PER_LOGIT, rel=0.15)
    covered, false = 0, 0
    runs = 300
    for seed in range(1, runs + 1):
        chunk, k = main_effects(GRID, bradley_terry(league(strength, 60, seed), resamples=400), {})
        low, high = bounds(chunk.difference)
        covered += low <= truth <= high
        false += k.p is not None and k.p <= 0.05
    assert covered >= 0.92 * runs
    assert false <= 0.08 * runs
