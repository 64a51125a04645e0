"""The objective of an agent's compile: a judge's score of its answers, or closeness to answers experts accepted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgec.errors import UserError
from judgec.evidence.overlap import f1
from judgec.evidence.text import read
from judgec.labels.experts import experts_of
from judgec.labels.rows.items import ALTERNATIVES
from judgec.lm.executor import Ask
from judgec.rag.agents.answer import Answer
from judgec.raters.judge import JudgeTree
from judgec.records.consensus import settled
from judgec.records.label import Item, LabelSet, Text
from judgec.tournament.files.queries import Query


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """The score of an answer.

    Args:
        value: 0 (worst) to 1 (best); None when there is no answer or no verdict on it.
        reason: Why, in the judge's words or ours.
    """

    value: float | None
    reason: str = ""

    @property
    def counted(self) -> float:
        """The value in a mean: what is missing counts as the worst, so that failing never pays."""
        return 0.0 if self.value is None else self.value


AnswerTrace = tuple[Query, Answer, ScoredAnswer]
"""A query, an agent's answer to it, and what that is worth."""


class JudgeMetric:
    """The expected score of a compiled judge of single answers, from the worst grade (0) to the best (1).

    Args:
        name: Of the program, with its version.
        judge: The judge.
        ask: The way to its model.
        queries: By id.

    Raises:
        UserError: When it compares answers, or its grades have no order.
    """

    def __init__(self, name: str, judge: JudgeTree, ask: Ask, queries: Mapping[str, Query]) -> None:
        if judge.pairs or judge.scale.level == "nominal":
            raise UserError(
                f"--judge {name}: it gives no score to a single answer; a judge of answer or grade is needed. "
                "Name another."
            )
        self.name = f"judge:{name}"
        self._judge = replace(judge, remarks=False)  # these speak of evidence that whoever rewrites does not see
        self._ask = ask
        self._queries = queries

    def score(self, answers: Sequence[Answer]) -> list[ScoredAnswer]:
        """One score an answer, in order."""
        found = [ScoredAnswer(None, f"no answer: {answer.error}") for answer in answers]
        items = {row: self._item(answer) for row, answer in enumerate(answers) if answer.text is not None}
        if not items:
            return found
        judged = self._judge.judge(list(items.values()), self._ask)
        worst, best = self._judge.scale.values[0], self._judge.scale.values[-1]
        for place, row in enumerate(items):
            scores = judged.score[place]
            if judged.unscored[place] or np.isnan(scores).any():
                found[row] = ScoredAnswer(None, judged.unscored[place] or "no score of an aspect")
            else:
                value = (float(scores.mean()) - worst) / (best - worst)
                found[row] = ScoredAnswer(min(max(value, 0.0), 1.0), judged.rationale[place])
        return found

    def _item(self, answer: Answer) -> Item:
        """An answer as a judge of answers reads it."""
        query = self._queries[answer.query_id]
        inputs: dict[str, Text] = {"query": query.text, "answer": answer.text or ""}
        if answer.contexts:
            inputs["contexts"] = tuple(context.text for context in answer.contexts)
        if query.reference:
            inputs["reference"] = query.reference
        return Item(f"{answer.query_id}/{answer.agent}", answer.query_id, inputs, answer.agent)


class AcceptedMetric:
    """Closeness to the nearest answer that experts accepted: F1 of stems that are not function words.

    Args:
        accepted: Accepted answers by query id.

    Source: token F1 as in Rajpurkar et al. (2016), SQuAD.
    """

    name = "accepted answers"

    def __init__(self, accepted: Mapping[str, Sequence[str]]) -> None:
        self._accepted = accepted

    def score(self, answers: Sequence[Answer]) -> list[ScoredAnswer]:
        """One score an answer, in order; None for queries without an accepted answer."""
        return [self._one(answer) for answer in answers]

    def _one(self, answer: Answer) -> ScoredAnswer:
        wanted = self._accepted.get(answer.query_id, ())
        if answer.text is None or not wanted:
            return ScoredAnswer(None, f"no answer: {answer.error}" if wanted else "no accepted answer is known")
        best = max(wanted, key=lambda text: (closeness(answer.text or "", text), text))
        return ScoredAnswer(closeness(answer.text, best), f"An accepted answer: {best}")


def closeness(answer: str, accepted: str) -> float:
    """F1 of the stems of two texts that are not function words, counted with repeats; 0 when one has none."""
    said, wanted = (
        Counter({stem: passage.vocabulary[stem] for stem in passage.content})
        for passage in map(read, (answer, accepted))
    )
    shared = (said & wanted).total()
    return f1(shared / said.total(), shared / wanted.total()) if shared else 0.0


def accepted_answers(labels: LabelSet, queries: Sequence[Query], seed: int) -> dict[str, tuple[str, ...]]:
    """The answers that experts accepted, by query id; matched by id, else by the query's text.

    The references of the queries count as accepted.

    Raises:
        UserError: When the labels hold no answers, or none that was accepted belongs to a query.
    """
    if not any("answer" in item.inputs for item in labels.items):
        raise UserError("--labels: no column answer; answers that experts graded are needed. Give other labels.")
    ids = {query.query_id for query in queries}
    by_text = {query.text: query.query_id for query in queries}
    accept = settled(experts_of(labels, seed).target_accept)
    found: dict[str, dict[str, None]] = {}
    for row, item in enumerate(labels.items):
        query_id = item.query_id if item.query_id in ids else by_text.get(item.text("query"), "")
        if query_id and (accept[row] == 1).all() and item.text("answer").strip():
            found.setdefault(query_id, {})[item.text("answer")] = None
    for query in queries:
        for reference in filter(str.strip, query.reference.split(ALTERNATIVES)):
            found.setdefault(query.query_id, {})[reference] = None
    if not found:
        raise UserError(
            "--labels: no accepted answer belongs to one of the queries; query_id or the query's text must be the same "
            "in both files. Check the files, or set --accept-at."
        )
    return {query_id: tuple(answers) for query_id, answers in found.items()}
