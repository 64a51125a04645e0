import time
from dataclasses import replace

import numpy as np
import pytest

from judgec.stats.systems.compare import compare_judges, compare_systems
from judgec.stats.systems.rows import PairRows, SystemRows
from tests.stats.known import known

QUITE = 1000  # more labels than there are rows
KEYS = {
    *("systems", "statistic", "judge", "judges", "pairs", "letters", "favours", "needed", "weight", "notes"),
}


def table(rates: tuple[float, ...], queries: int, labelled: float, seed: int = 0, right: float = 0.8) -> SystemRows:
    """Every system answers every query; a judge that is right about a share of the rows."""
    rng = np.random.default_rng(seed)
    systems = len(rates)
    query, system = np.repeat(np.arange(queries), systems), np.tile(np.arange(systems), queries)
    truth = (rng.random(len(query)) < np.array(rates)[system]).astype(float)
    judge = np.where(rng.random(len(query)) < right, truth, 1.0 - truth)
    expert = np.where(rng.random(len(query)) < labelled, truth, np.nan)
    return SystemRows(query, system, tuple("ABCDEFGHIJ"[:systems]), judge, expert, threshold=1.0)


def test_json_has_the_keys_that_programs_read() -> None:
    found = compare_systems(table((0.9, 0.4), 60, 0.5)).to_json()
    assert found.keys() == KEYS
    assert found["statistic"] == "accept_rate"
    systems = found["systems"]
    assert isinstance(systems, dict)
    assert list(systems) == ["A", "B"]
    assert systems["A"].keys() == {"n", "labelled", "accept_rate", "mean"}
    assert systems["A"]["mean"].keys() == {"experts", "judge", "corrected", "corrected_these_rows"}
    pairs = found["pairs"]
    assert isinstance(pairs, list)
    assert pairs[0].keys() == {"a", "b", "difference", "low", "high", "p", "shown"}


def test_a_better_system_is_shown_and_has_letters_of_its_own() -> None:
    found = compare_systems(table((0.9, 0.4, 0.4), 100, 0.5))
    first, second, rest = found.pairs
    assert (first.a, first.shown, second.shown, rest.shown) == ("A", True, True, False)
    assert found.letters["A"] == "a"
    assert found.letters["B"] == found.letters["C"] == "b"
    assert 0 <= known(first.difference.low) < known(first.difference.value)


def test_too_few_labels_have_no_interval_and_no_letter() -> None:
    rows = table((0.9, 0.4, 0.5), 60, 0.5)
    few = np.where((rows.system == 1) & (rows.query > 5), np.nan, rows.expert)
    found = compare_systems(replace(rows, expert=few))
    figures = found.systems["B"].figures["accept_rate"]
    assert figures.corrected.low is None
    assert figures.corrected.value is None
    assert figures.experts.value is not None
    assert figures.judge.low is not None
    assert list(found.systems)[-1] == "B"
    assert set(found.letters) == {"A", "C"}
    unknown = [pair for pair in found.pairs if "B" in {pair.a, pair.b}]
    assert [(pair.p, pair.shown) for pair in unknown] == [(None, False)] * 2


def test_labels_that_do_not_reach_the_judges_scores_leave_the_corrected_value_out() -> None:
    rows = table((0.6, 0.6), 100, 0.5)
    scores = np.where(rows.system == 1, rows.query / 25.0, rows.judge)  # 0 to 4
    low = np.where((rows.system == 1) & (rows.query > 60), np.nan, rows.expert)
    found = compare_systems(replace(rows, judge=scores, expert=low))
    figures = found.systems["B"].figures["accept_rate"]
    assert (figures.corrected.value, figures.corrected_these_rows.value) == (None, None)
    assert figures.experts.value is not None
    assert found.notes[0].startswith("B has no corrected value: ")
    assert any("no random sample of B:" in note for note in found.notes)


def test_accepts_alone_are_labels() -> None:
    rows = table((0.9, 0.4), 60, 0.5)
    alone = replace(rows, expert=np.full(120, np.nan), threshold=None, accept=(rows.judge, rows.expert))
    found, same = compare_systems(alone), compare_systems(rows)
    assert found.systems["A"].figures["accept_rate"] == same.systems["A"].figures["accept_rate"]
    assert (found.notes, found.pairs) == (same.notes, same.pairs)


def test_labels_of_rows_that_were_chosen_correct_nothing() -> None:
    rows = table((0.8, 0.5), 200, 0.2)
    chosen = np.isnan(rows.expert) & (rows.query % 3 == 0)
    wrong = replace(rows, expert=np.where(chosen, 0.0, rows.expert), chosen=chosen)
    found, plain = compare_systems(wrong), compare_systems(rows)
    assert found.systems == plain.systems
    assert any(note.startswith(f"{int(chosen.sum())} labels") for note in found.notes)


def test_a_judge_that_favours_a_system_is_shown_to() -> None:
    rows = table((0.5, 0.5, 0.5), 200, 0.5)
    flattered = np.where((rows.system == 2) & (rows.query % 2 == 0), 1.0, rows.judge)
    found = compare_systems(replace(rows, judge=flattered))
    assert [(one.a, one.b) for one in found.favours] == [("A", None), ("B", None), ("C", None)]
    assert found.favours[2].shown
    assert known(found.favours[2].difference.low) > 0
    corrected = found.systems["C"].figures["accept_rate"].corrected
    assert known(corrected.low) < 0.5 < known(corrected.high)
    one = found.to_json()["favours"]
    assert isinstance(one, list)
    assert one[0].keys() == {"system", "difference", "low", "high", "p", "shown"}


def test_of_several_judges_the_one_that_needs_fewest_labels_is_taken() -> None:
    rows = table((0.6, 0.65), 400, 0.1, right=0.95)
    rng = np.random.default_rng(9)
    noise = rng.integers(0, 2, len(rows.query)).astype(float)
    found = compare_judges({"dice": replace(rows, judge=noise), "good": rows})
    assert found.judge == "good"
    assert found.judges["good"] == found.needed
    dice, good = (
        sum(QUITE if one is None else one for one in found.judges[name].values()) for name in ("dice", "good")
    )
    assert good < dice


def test_letters_hold_for_any_pairs() -> None:
    # A, of few labels, may not be told apart from systems that others are told apart from.
    rng = np.random.default_rng(2)
    for seed in range(30):
        rates = tuple(rng.uniform(0.3, 0.9, 5))
        rows = table(rates, 120, 0.4, seed)
        few = np.where((rows.system == 0) & (rows.query > 25), np.nan, rows.expert)
        found = compare_systems(replace(rows, expert=few))
        for pair in found.pairs:
            if pair.p is not None and pair.b is not None:
                assert bool(set(found.letters[pair.a]) & set(found.letters[pair.b])) != pair.shown


def test_means_of_grades_decide_without_a_threshold() -> None:
    rng = np.random.default_rng(0)
    query, system = np.repeat(np.arange(80), 2), np.tile([0, 1], 80)
    truth = np.clip(3 + system + rng.integers(-1, 2, 160), 1, 5).astype(float)
    judge = np.clip(truth + rng.integers(-1, 2, 160), 1, 5).astype(float)
    expert = np.where(query < 40, truth, np.nan)
    found = compare_systems(SystemRows(query, system, ("A", "B"), judge, expert))
    assert (found.statistic, found.pairs[0].a, found.pairs[0].shown) == ("mean", "B", True)
    assert list(found.systems["A"].figures) == ["mean"]
    assert found.pairs[0].difference.value == pytest.approx(1.0, abs=0.25)


def test_pairs_are_compared_by_win_rate() -> None:
    rng = np.random.default_rng(0)
    query, wins = np.arange(80), (rng.random(80) < 0.8).astype(float)
    games = PairRows(
        query, np.zeros(80, int), np.ones(80, int), ("new", "old"), wins, np.where(query < 40, wins, np.nan)
    )
    found = compare_systems(games)
    assert found.statistic == "win_rate"
    assert found.systems["new"].figures.keys() == {"win_rate", "rating"}
    rating = found.systems["new"].figures["rating"]
    assert known(rating.corrected.low) > 1000
    assert rating.judge.value is not None
    new, old = (known(found.systems[name].figures["win_rate"].corrected.value) for name in ("new", "old"))
    assert new + old == pytest.approx(1.0)
    assert found.pairs[0].shown


def test_a_comparison_does_not_depend_on_the_order_of_rows() -> None:
    rows = table((0.7, 0.5, 0.6), 40, 0.4)
    turned = replace(
        rows, query=rows.query[::-1], system=rows.system[::-1], judge=rows.judge[::-1], expert=rows.expert[::-1]
    )
    one, other = (compare_systems(each) for each in (rows, turned))
    assert list(one.systems) == list(other.systems)
    for name in one.systems:
        mine, its = (each.systems[name].figures["accept_rate"].corrected for each in (one, other))
        assert known(mine.low) == pytest.approx(known(its.low), abs=1e-12)


@pytest.mark.full
def test_a_million_rows_of_twenty_systems_take_less_than_five_seconds_of_a_processor() -> None:
    rng, n = np.random.default_rng(0), 1_000_000
    grades = rng.integers(1, 6, n).astype(float)
    judge = np.clip(grades + rng.integers(-1, 2, n), 1, 5).astype(float)
    expert = np.where(rng.random(n) < 0.02, grades, np.nan)
    rows = SystemRows(
        np.arange(n) % 50_000, np.arange(n) // 50_000, tuple(f"{i:02}" for i in range(20)), judge, expert, 4
    )
    begin = time.process_time()
    assert len(compare_systems(rows).pairs) == 190
    assert time.process_time() - begin < 5
