"""The same table under other ids, other names of annotators and in another order of rows: the same numbers."""

from collections.abc import Mapping

import numpy as np
import pytest

from judgec.labels.experts import experts_of
from judgec.records.agreement import Agreement
from judgec.records.judgment import Judgments
from judgec.records.label import Item, Label, LabelSet
from judgec.records.ratings import pair
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.records.tasks.preference import PREFERENCE_SCALE
from judgec.report.label_report import agreement_between
from judgec.stats.agreement.ceiling import ceiling
from judgec.stats.agreement.cut_off import best_cut_off
from judgec.stats.agreement.measure import measure
from judgec.stats.agreement.systems import systems_of

SCALES = {
    "grades": Scale(grades=(1, 2, 3, 4), accept_at=3),
    "accepts": ACCEPT_SCALE,
    "classes": PREFERENCE_SCALE,
    "numbers": Scale(grades=(0, 1, 2.5, 4, 5), level="interval"),
}
AGENTS = ("x", "y", "z")


def rows_of(scale: Scale, seed: int) -> list[tuple[str, str, str, int, int]]:
    """Item, agent, annotator, grade and the judge's: 15 queries of three agents, by two to four annotators."""
    rng, k = np.random.default_rng(seed), len(scale.grades)
    rows: list[tuple[str, str, str, int, int]] = []
    for i in range(45):
        true, judge = int(rng.integers(k)), int(rng.integers(k))
        judge = true if rng.random() < 0.6 else judge
        names = ("ann", "bob", "cem", "dan")[: int(rng.integers(2, 5))]
        given = [true if rng.random() < 0.5 else int(rng.integers(k)) for _ in names]
        rows += [(f"i{i}", AGENTS[i % 3], name, grade, judge) for name, grade in zip(names, given, strict=True)]
    return rows


def numbers(found: Agreement | Mapping[str, object]) -> dict[str, float]:
    """Every number, by where it stands."""

    def walk(at: str, value: object) -> dict[str, float]:
        if isinstance(value, Mapping):
            return {key: one for name, part in value.items() for key, one in walk(f"{at}.{name}", part).items()}
        return {at: float(value)} if isinstance(value, int | float) else {}

    return walk("", found.to_json() if isinstance(found, Agreement) else found)


def measured(scale: Scale, rows: list[tuple[str, str, str, int, int]]) -> dict[str, float]:
    judge = {item: said for item, _, _, _, said in rows}
    agent = {item: name for item, name, _, _, _ in rows}
    items = tuple(Item(i, f"q{int(i[1:]) % 100 // 3}", {"query": "?"}, agent=agent[i]) for i in judge)
    accepts = scale is ACCEPT_SCALE
    labels = tuple(
        Label(item, name, {"grade": grade}, bool(grade) if accepts else None) for item, _, name, grade, _ in rows
    )
    task = "preference" if scale is PREFERENCE_SCALE else "grade"
    made = LabelSet(task, scale, ("grade",), items, labels, accepts, "")
    experts, grade = experts_of(made), np.array([[judge[item.item_id]] for item in items])
    nothing, n = np.full((len(items), 1), np.nan), len(items)
    least = scale.accept_index
    accept = np.full((n, 1), -1) if least is None else (grade >= least).astype(np.int64)
    score = np.array(scale.values)[grade]
    ids, spread = tuple(judge), np.full((n, 1, len(scale.grades)), np.nan)
    said = Judgments(ids, ("grade",), spread, grade, score, accept, nothing, ("",) * n, (None,) * n)
    ratings = pair(experts, said, scale, accept_only=accepts)
    nominal = scale.level == "nominal"
    panels = ceiling(experts, scale, ("grade",), accept_only=accepts, judgments=said)
    found = {"judge": measure(ratings, nominal=nominal), **panels}
    every = {f"{name}{key}": one for name, own in found.items() for key, one in numbers(own).items()}
    every |= numbers({"fleiss": agreement_between(experts, scale, ("grade",))["estimates"]})
    if accepts:
        cut = best_cut_off(ratings)
        every |= {} if cut is None else numbers(cut.to_json())
    if not nominal and (ranks := systems_of(ratings)) is not None:
        every |= numbers(ranks.to_json())
    return every


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", SCALES)
def test_ids_names_and_order_of_rows_change_no_number(kind: str, seed: int) -> None:
    scale, rng = SCALES[kind], np.random.default_rng(100 + seed)
    rows = rows_of(scale, seed)
    first = measured(scale, rows)
    assert {name.rpartition(".")[2] for name in first} >= {"value", "low", "high", "n"}
    names = dict(zip(("ann", "bob", "cem", "dan"), rng.permutation(["ann", "bob", "cem", "dan"]), strict=True))
    queries = rng.permutation(15)  # another number for each query, so other ids of its items
    ids = {f"i{i}": f"i{100 * int(rng.integers(1, 9)) + 3 * int(queries[i // 3]) + i % 3}" for i in range(45)}
    other = [(ids[item], agent, str(names[name]), grade, said) for item, agent, name, grade, said in rows]
    again = measured(scale, [other[i] for i in rng.permutation(len(other))])
    assert again.keys() == first.keys()
    assert {name: again[name] for name in first} == pytest.approx(first, abs=1e-9)
