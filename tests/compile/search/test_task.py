from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.compile.dataset import make_dataset
from judgec.compile.search.candidates import split_rubric
from judgec.compile.search.task import Task, pool_size
from judgec.lm.watch import Silent
from judgec.raters.registry import judge_module
from judgec.records.judgment import Judgments
from judgec.records.label import Item, Label, LabelSet
from judgec.records.scale import Scale
from judgec.stats.agreement.objective import parse_objective
from tests.raters.judgments import judgments

SCALE = Scale(grades=(0, 1, 2), accept_at=1)
ASPECTS = ("accuracy", "precision")
ITEMS = 40


def two_aspects() -> LabelSet:
    """Every fifth item has one aspect left blank, every seventh none at all."""
    rng = np.random.default_rng(0)
    labels = []
    for i in range(ITEMS):
        grades = {aspect: int(rng.integers(3)) for aspect in ASPECTS}
        if i % 5 == 0:
            del grades["accuracy"]
        if i % 7:
            labels.append(Label(f"i{i}", "expert", grades))
    items = tuple(Item(f"i{i}", f"q{i // 2}", {"query": f"q{i // 2}", "answer": f"a{i}"}) for i in range(ITEMS))
    return LabelSet("answer", SCALE, ASPECTS, items, tuple(labels), accept_only=False, digest="two")


def task_of(labels: LabelSet, objective: str) -> Task:
    dataset = make_dataset(labels, 0)
    nothing: object = None
    return Task(
        module=nothing,
        train=dataset.train,
        dev=dataset.dev,
        verdicts=said(dataset.train.items, np.full((len(dataset.train), 2), 1)),
        scale=SCALE,
        accept_only=False,
        objective=parse_objective(objective),
        ask=lambda requests, total=None: iter(()),
        lm=nothing,
        reflection=None,
        no_reflection="none was given",
        room=lambda: None,
        seed=0,
        watch=Silent(),
    )


def said(items: tuple[Item, ...], grade: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Judgments:
    gone = np.any(grade < 0, axis=1)
    grade, nothing = np.where(gone[:, None], -1, grade), np.full((*grade.shape, 3), np.nan)
    ids, reasons = [item.item_id for item in items], ["no reply" if out else None for out in gone]
    made = judgments(nothing, grade, ids=ids, aspects=ASPECTS, accept_from=1, unscored=reasons)
    return replace(made, score=np.where(grade < 0, np.nan, grade.astype(float)))


@given(seed=st.integers(0, 10_000), objective=st.sampled_from(["tau_b", "kappa", "qwk", "tau_b+accept", "2*exact"]))
def test_item_shares_of_several_aspects_average_to_the_objective(seed: int, objective: str) -> None:
    task = task_of(two_aspects(), objective)
    rng = np.random.default_rng(seed)
    judgments = said(task.train.items, rng.integers(-1, 3, size=(len(task.train), 2)))
    shares = task.item_shares(task.train, judgments)
    assert shares.shape == (len(task.train),)
    assert shares.mean() == pytest.approx(task.value(task.train, judgments), abs=1e-12)


def test_pool_is_whole_train_queries() -> None:
    task = task_of(two_aspects(), "tau_b")
    pool, train = task.pool(), task.train
    queries = {item.query_id for item in pool.items}
    assert len(queries) == pool_size(train.n_queries)
    assert len(pool) == sum(item.query_id in queries for item in train.items)
    other = replace(task, seed=1)
    assert {item.query_id for item in other.pool().items} != queries


@pytest.mark.parametrize(("queries", "seen"), [(3, 2), (20, 13), (30, 20), (50, 20), (100, 40)])
def test_pool_of_a_small_train_is_larger_and_leaves_a_third_to_calibrate_on(queries: int, seen: int) -> None:
    assert pool_size(queries) == seen


def test_starters_are_as_many_as_the_share_of_the_room_allows() -> None:
    task = replace(task_of(two_aspects(), "tau_b"), module=judge_module("answer", SCALE, ASPECTS, ("query", "answer")))
    slice_, last = task.sizes().slices[0], task.sizes().final(2)
    assert replace(task, room=lambda: last).starters(16) == 2
    assert replace(task, room=lambda: last - 1).starters(16) == 1
    assert replace(task, room=lambda: 2 * last).starters(16, share=0.5) == 2
    assert replace(task, room=lambda: slice_ - 1).starters(16) == 0
    assert task.starters(16) == 16


def test_split_rubric_gives_both_parts_back() -> None:
    text = "Judge it.\n\nGrades are discussed here.\n\nGrades, worst first:\n0: bad\n1: good"
    above, below = split_rubric(text)
    assert above + below == text
    assert below == "\n\nGrades, worst first:\n0: bad\n1: good"
    assert split_rubric("No rubric.") == ("No rubric.", "")
