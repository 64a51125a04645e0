from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from judgec.compile.agents.metric import AcceptedMetric, JudgeMetric, accepted_answers, closeness
from judgec.errors import UserError
from judgec.labels.labels import read_labels
from judgec.rag.agents.answer import Answer, Context
from judgec.raters.judge import JudgeTree
from judgec.raters.registry import judge_module
from judgec.records.label import Item
from judgec.records.scale import Scale
from judgec.tournament.files.queries import Query
from tests.compile.small import write
from tests.raters.judgments import judgments
from tests.raters.trees import judge_of

FIVE = Scale(name="grade", grades=(1, 2, 3, 4, 5), accept_at=4)
QUERIES = {"q1": Query("q1", "How far?", "Ten metres"), "q2": Query("q2", "How heavy?")}


def said(query_id: str, text: str | None, error: str | None = None) -> Answer:
    return Answer(query_id=query_id, agent="rag", text=text, contexts=(Context("C", "c"),), error=error)


class Stub(JudgeTree):
    """Grades 4.0 and leaves the second item unscored."""

    read: ClassVar[list[Sequence[Item]]] = []

    def judge(self, items, ask, **_):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN003, ANN201 - as in the parent
        self.read.append(items)
        n = len(items)
        made = judgments(np.full((n, 5), 0.2), [3] * n, ids=[item.item_id for item in items], accept_from=3)
        return replace(
            made,
            score=np.array([[4.0], [np.nan]])[:n],
            rationale=("good [and what evidence adds]" if self.remarks else "good", "")[:n],
            unscored=(None, "malformed reply")[:n],
        )


def test_judges_score_is_scaled_to_0_1_and_what_is_missing_counts_as_worst() -> None:
    made = judge_of(judge_module("grade", FIVE, ("grade",), ("query", "answer")), FIVE, ("grade",))
    judge = Stub(made.tree, made.task, made.scale, made.aspects)
    metric = JudgeMetric("j@1", judge, lambda requests, total=None: iter(()), QUERIES)
    good, unread, failed = metric.score([said("q1", "x"), said("q2", "y"), said("q2", None, "down")])
    assert (good.value, good.reason) == (0.75, "good")  # (4 - 1) / (5 - 1)
    assert (unread.value, unread.counted, unread.reason) == (None, 0.0, "malformed reply")
    assert Stub.read[-1][0].inputs == {
        "query": "How far?",
        "answer": "x",
        "contexts": ("C",),
        "reference": "Ten metres",
    }
    assert Stub.read[-1][1].inputs == {"query": "How heavy?", "answer": "y", "contexts": ("C",)}
    assert (failed.value, failed.reason) == (None, "no answer: down")


def test_judge_that_compares_cannot_be_the_metric() -> None:
    scale = Scale(name="preference", grades=("a", "b", "tie"), level="nominal")
    module = judge_module("preference", scale, ("grade",), ("query", "answer_a", "answer_b"))
    with pytest.raises(UserError, match="--judge p@1"):
        JudgeMetric("p@1", judge_of(module, scale, ("grade",)), lambda requests, total=None: iter(()), QUERIES)


def test_closeness_is_f1_of_stems() -> None:
    # said: ten, sensor, long; wanted: ten, sensor: 2 shared, precision 2/3, recall 1
    assert closeness("It is ten sensors long.", "ten sensor") == pytest.approx(2 * (2 / 3) / (2 / 3 + 1))
    assert closeness("the of", "ten") == 0.0
    assert closeness("ten", "") == 0.0


def test_nearest_accepted_answer_counts() -> None:
    metric = AcceptedMetric({"q1": ("nothing alike", "ten metres")})
    near, unknown = metric.score([said("q1", "ten metres"), said("q2", "x")])
    assert near.value == 1.0
    assert "ten metres" in near.reason
    assert unknown.value is None


def test_accepted_answers_are_those_of_accepting_experts_by_id_or_text(tmp_path: Path) -> None:
    rows = [
        {"query_id": "q1", "query": "How far?", "answer": "Ten m", "accept": 1},
        {"query_id": "q1", "query": "How far?", "answer": "Nine m", "accept": 0},
        {"query_id": "other", "query": "How heavy?", "answer": "One kg", "accept": 1},
        {"query_id": "else", "query": "Unasked?", "answer": "No", "accept": 1},
    ]
    labels = read_labels(str(write(tmp_path / "labels.jsonl", rows)))
    found = accepted_answers(labels, list(QUERIES.values()), seed=0)
    assert found == {"q1": ("Ten m", "Ten metres"), "q2": ("One kg",)}
    with pytest.raises(UserError, match="query_id or the"):
        accepted_answers(labels, [Query("x", "y")], seed=0)
