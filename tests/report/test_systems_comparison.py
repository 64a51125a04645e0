"""What is said of compared systems: who leads, who is not told apart, whom the judge favours, what labels it takes."""

from dataclasses import replace

import numpy as np
import pytest

from judgec.records.estimate import Estimate
from judgec.report.systems_comparison import comparison_sentences, comparison_tables, forest
from judgec.stats.systems.compare import SystemComparison, SystemDifference, compare_judges
from judgec.stats.systems.rows import SystemRows


def compared(shares: dict[str, float], *, labelled: float = 0.5, queries: int = 300) -> SystemComparison:
    """Systems of known accept rates; the judge errs in one of five answers."""
    rng = np.random.default_rng(1)
    system = np.tile(np.arange(len(shares)), queries)
    query = np.repeat(np.arange(queries), len(shares))
    good = (rng.random(len(system)) < np.array([*shares.values()])[system]).astype(float)
    judge = np.where(rng.random(len(system)) < 0.2, 1 - good, good)
    expert = np.where(rng.random(len(system)) < labelled, good, np.nan)
    return compare_judges({"gpt": SystemRows(query, system, tuple(shares), judge, expert, threshold=1.0)})


def test_one_system_above_all_is_best_and_the_others_are_what_is_open() -> None:
    found = compared({"worse": 0.3, "good": 0.95, "alike": 0.3})
    assert found.beside == []
    assert {*found.undecided} == {"worse", "alike"}
    (said,) = comparison_sentences(found)
    assert said.startswith("good is best")


def test_systems_beside_the_first_are_what_more_labels_are_for() -> None:
    found = compared({"low": 0.1, "one": 0.8, "other": 0.8})
    assert {found.beside[0], next(iter(found.letters))} == {"one", "other"}
    assert {*found.undecided} == {"one", "other"}
    needed = replace(found, needed={found.beside[0]: 70})
    assert f"70 of {found.beside[0]} would tell" in comparison_sentences(needed)[1]
    first, beside = next(iter(found.letters)), found.beside[0]
    fewer = replace(found.systems[first], labelled=found.systems[beside].labelled - 9)
    both = replace(found, needed={beside: 70}, systems={**found.systems, first: fewer})
    assert f"79 more labels of {first}, 70 of {beside} would tell {beside} from" in comparison_sentences(both)[1]
    enough = replace(found, needed={first: 12})
    assert f"12 more labels of {first} would tell {beside} from {first}" in comparison_sentences(enough)[1]
    never = replace(found, needed={found.beside[0]: None})
    assert found.beside[0] in comparison_sentences(never)[1]


def test_all_told_apart_leaves_nothing_open() -> None:
    assert compared({"a": 0.05, "b": 0.5, "c": 0.95}, labelled=0.9).undecided == ()


def test_system_with_few_labels_has_no_letter_and_is_open() -> None:
    found = compared({"a": 0.2, "b": 0.9}, labelled=0.005)
    assert not found.letters
    assert {*found.undecided} == {"a", "b"}
    assert "labels enough" in comparison_sentences(found)[0]
    assert [row[-1] for row in comparison_tables(found)[0].rows] == ["-", "-"]


def test_favoured_system_is_in_the_first_sentence() -> None:
    found = compared({"a": 0.3, "b": 0.95})
    by = SystemDifference("a", None, Estimate(value=0.12, low=0.05, high=0.19), 0.001, shown=True)
    against = replace(by, a="b", difference=Estimate(value=-0.2, low=-0.3, high=-0.1))
    unsure = replace(by, a="c", shown=False)
    first = comparison_sentences(replace(found, favours=(by, against, unsure)))[0]
    assert "hard on b by .20 [.10, .30]" in first
    assert "favours a by .12 [.05, .19]" in first
    assert " c" not in first


@pytest.mark.parametrize("rest", [False, True])
def test_tables_begin_with_what_decides(rest: bool) -> None:
    tables = comparison_tables(compared({"a": 0.3, "b": 0.95}), rest=rest)
    assert "accept rate" in tables[0].title.lower()
    assert len(tables) == (4 if rest else 1)
    assert tables[0].rows[0][0] == "b"


def test_forest_has_three_marks_a_system() -> None:
    drawn = str(forest(compared({"a": 0.3, "b": 0.95})))
    assert drawn.count("<title>b, ") == 3
    assert (drawn.count("<circle"), drawn.count("<rect")) == (6, 3)
