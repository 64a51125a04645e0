"""The documents of a tournament, each judged once per query, and how a comparing judge is shown them."""

from collections.abc import Mapping
from dataclasses import dataclass

from judgec.judges.bulk import Ask
from judgec.judges.judge import CompiledJudge
from judgec.records.judgment import UNSCORED
from judgec.records.label import Item
from judgec.store.tournament.entries import Entries

Cell = tuple[str, str]  # query id, document id
VERY_RELEVANT = 2  # RAGElo leaves out documents below this when it compares answers


@dataclass(frozen=True, slots=True)
class Relevance:
    """How relevant the pooled documents are.

    Args:
        grades: By query and document; a document that nobody judged is absent.
        reasons: In the judge's words, by query and document.
        unscored: Why the judge gave no grade, by query and document.
        judged: False when the grades are given (qrels): a document without one then counts as not relevant.
        best: The highest grade that there can be.
    """

    grades: Mapping[Cell, int]
    reasons: Mapping[Cell, str]
    unscored: Mapping[Cell, str]
    judged: bool
    best: int


def judge_pool(entries: Entries, judge: CompiledJudge, ask: Ask) -> Relevance:
    """Judge every document that an agent retrieved, once per query and document.

    Grades are positions on the judge's scale, so that 0 is "not relevant" whatever the scale calls it.
    """
    cells: dict[Cell, None] = {}
    for query_id, agent in entries.answers:
        cells.update(dict.fromkeys((query_id, doc_id) for doc_id in entries.ranking(query_id, agent)))
    known = [cell for cell in cells if cell[1] in entries.documents]
    items = [Item(f"{q}/{d}", q, {"query": entries.queries[q], "document": entries.documents[d]}) for q, d in known]
    judged = judge.judge(items, ask)
    scored = [judged.unscored[i] is None and judged.grade[i, 0] != UNSCORED for i in range(len(known))]
    unscored = {cell: judged.unscored[i] or "no grade" for i, cell in enumerate(known) if not scored[i]}
    unscored |= {cell: "no text" for cell in cells if cell[1] not in entries.documents}
    return Relevance(
        grades={cell: int(judged.grade[i, 0]) for i, cell in enumerate(known) if scored[i]},
        reasons={cell: judged.rationale[i] for i, cell in enumerate(known) if scored[i]},
        unscored=unscored,
        judged=True,
        best=len(judge.scale.grades) - 1,
    )


def given(qrels: Mapping[Cell, int]) -> Relevance:
    """Relevance as somebody else judged it."""
    return Relevance(grades=qrels, reasons={}, unscored={}, judged=False, best=max(qrels.values(), default=1))


@dataclass(frozen=True, slots=True)
class Showing:
    """What a comparing judge is shown of the documents of both agents.

    Args:
        entries: Whose documents.
        relevance: Their grades, or None.
        threshold: Documents graded lower are left out; ungraded ones are shown.
        raw: Show the text.
        annotations: Show grade and reason.
    """

    entries: Entries
    relevance: Relevance | None = None
    threshold: int = VERY_RELEVANT
    raw: bool = True
    annotations: bool = True

    def __call__(self, query_id: str, *agents: str) -> tuple[str, ...]:
        """The documents of the agents' pool as texts, best first, whatever the order of the agents."""
        shown = [self._text(query_id, doc_id) for doc_id in self.entries.pool(query_id, *agents)]
        return tuple(text for text in shown if text)

    def _text(self, query_id: str, doc_id: str) -> str:
        cell = (query_id, doc_id)
        text = self.entries.documents.get(doc_id, "") if self.raw else ""
        if self.relevance is None or cell not in self.relevance.grades:
            return text
        grade = self.relevance.grades[cell]
        if grade < self.threshold:
            return ""
        if not self.annotations:
            return text
        reason = self.relevance.reasons.get(cell, "")
        note = f"(document {doc_id}; relevance {grade}{f': {reason}' if reason else ''})"
        return f"{note}\n{text}" if text else note
