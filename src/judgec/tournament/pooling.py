"""The documents of a tournament, each graded once per query, and how a comparing judge is shown them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from judgec.errors import InputError
from judgec.lm.executor import Ask
from judgec.raters.judge import CompiledJudge
from judgec.records.citation import marks, own_numbers, without_number
from judgec.records.counts import plural
from judgec.records.judgment import UNSCORED
from judgec.records.label import Item
from judgec.records.scale import Grade, Scale
from judgec.tournament.files.entries import Entries, numbered

Cell = tuple[str, str]  # query id, document id
VERY_RELEVANT = 2  # RAGElo leaves out documents below this when it compares answers
_CHUNK = re.compile(r"(.+)#\d+")  # as an index names the passages of a document that has several
_DIGEST = re.compile(r"[0-9a-f]{16,}")
_SUFFIX = re.compile(r"\.[A-Za-z]{1,5}$")  # of a file name


@dataclass(frozen=True, slots=True)
class Relevance:
    """Relevance of the pooled documents.

    Args:
        grades: By query and document; a document that nobody judged is absent.
        reasons: In the judge's own words, without what calibration says of them, by query and document.
        unscored: Why the judge gave no grade, by query and document.
        judged: False when the grades are given (qrels): a document without one then counts as not relevant.
        best: The highest grade that there can be.
        scale: Of the judge, whose positions the grades are; None where they are given.
        graded_as: The id under which a retrieved document is graded, where that is another than its own: the
            document that a chunk is of.
    """

    grades: Mapping[Cell, int]
    reasons: Mapping[Cell, str]
    unscored: Mapping[Cell, str]
    judged: bool
    best: int
    scale: Scale | None = None
    graded_as: Mapping[str, str] = field(default_factory=dict)

    def called(self, grade: int) -> Grade:
        """Name of a grade on the judge's scale."""
        return grade if self.scale is None else self.scale.grades[grade]

    def position(self, threshold: int) -> int:
        """The lowest grade that is not below a threshold, which is one of the judge's scale; of words a position."""
        if self.scale is None or threshold in self.scale.grades:
            return threshold if self.scale is None else self.scale.position(threshold)
        return sum(value < threshold for value in self.scale.values)

    def ranking(self, retrieved: Sequence[str]) -> tuple[str, ...]:
        """The documents that were retrieved, best first; one of which several chunks were, at its best rank."""
        return tuple(dict.fromkeys(self.graded_as.get(doc_id, doc_id) for doc_id in retrieved))


def judge_pool(entries: Entries, judge: CompiledJudge, ask: Ask) -> Relevance:
    """Judge every document that an agent retrieved, once per query and document.

    Grades are positions on the judge's scale, so that 0 is "not relevant" whatever the scale calls it.
    """
    cells: dict[Cell, None] = {}
    for query_id, agent in entries.answers:
        cells.update(dict.fromkeys((query_id, doc_id) for doc_id in entries.ranking(query_id, agent)))
    known = [cell for cell in cells if cell[1] in entries.documents]
    items = [Item(f"{q}/{d}", q, {"query": entries.queries[q], "document": entries.documents[d]}) for q, d in known]
    judged = replace(judge, remarks=False).judge(items, ask)
    scored = [judged.unscored[i] is None and judged.grade[i, 0] != UNSCORED for i in range(len(known))]
    unscored = {cell: judged.unscored[i] or "no grade" for i, cell in enumerate(known) if not scored[i]}
    unscored |= {cell: "no text" for cell in cells if cell[1] not in entries.documents}
    return Relevance(
        grades={cell: int(judged.grade[i, 0]) for i, cell in enumerate(known) if scored[i]},
        reasons={cell: judged.rationale[i] for i, cell in enumerate(known) if scored[i]},
        unscored=unscored,
        judged=True,
        best=len(judge.scale.grades) - 1,
        scale=judge.scale,
    )


def given(qrels: Mapping[Cell, int]) -> Relevance:
    """Relevance as somebody else judged it."""
    best = max(1, *qrels.values()) if qrels else 1  # where all grades are 0, better ones can be given
    return Relevance(grades=qrels, reasons={}, unscored={}, judged=False, best=best)


def by_document(qrels: Mapping[Cell, int], entries: Entries, source: str) -> Relevance:
    """The grades, with the document that each retrieved passage is graded as.

    A passage ``51#2`` is graded as ``51``, unless the qrels name the passages themselves. Sparse qrels, in which most
    of what agents retrieve has no grade, are fine as long as the ids look alike.

    Args:
        qrels: Grades by query and document.
        entries: With rankings by agent.
        source: The file of qrels, for the message.

    Raises:
        InputError: When most of what an agent retrieved does not occur in the qrels and is named in another form, or
            when nothing that anybody retrieved occurs in them.
    """
    ids = {doc_id for _, doc_id in qrels}
    graded = {query_id for query_id, _ in qrels}
    rankings = {key: ranking for key, ranking in entries.retrieved.items() if key[0] in graded}
    own = {d: entries.own_ids.get(d, d) for ranking in rankings.values() for d in ranking}
    chunks = {name: match[1] for name in own.values() if (match := _CHUNK.fullmatch(name))}
    by_passage = sum(name in ids for name in chunks) > sum(document in ids for document in chunks.values())
    named = {d: name if by_passage or name in ids else chunks.get(name, name) for d, name in own.items()}
    if named and ids.isdisjoint(named.values()):
        raise _no_match(own, list(named), ids, source, "of all agents")
    for agent in entries.agents:
        of_agent = dict.fromkeys(d for (_, name), ranking in rankings.items() if name == agent for d in ranking)
        strangers = [d for d in of_agent if named[d] not in ids]
        forms = {_form(doc_id) for doc_id in ids}
        odd = [d for d in strangers if _form(named[d]) not in forms]
        if 2 * len(odd) > len(of_agent):
            raise _no_match(own, odd, ids, source, f"of {agent!r}")
    return replace(given(qrels), graded_as={d: name for d, name in named.items() if name != d})


def _no_match(
    own: Mapping[str, str], strangers: list[str], ids: Collection[str], source: str, whose: str
) -> InputError:
    seen = f"{plural(len(strangers), 'retrieved document')} {whose}, most of them, do not occur in the qrels"
    forms = f"The qrels name documents like {min(ids)!r}, what was retrieved is named like {own[strangers[0]]!r}"
    valid = "one form is needed (a passage 'page.md#2' of an index counts as its document 'page.md')"
    advice = "Rename the ids in the qrels, or give the answers 'passage_ids' of that form."
    return InputError([f"{source}: {seen}. {forms}; {valid}. {advice}"])


def _form(doc_id: str) -> tuple[object, ...]:
    """Form of an id, coarsely: ``51``, ``cran/51``, ``51.txt``, ``51#a`` and a digest are all of different forms."""
    kind = "number" if doc_id.isdecimal() else "digest" if _DIGEST.fullmatch(doc_id) else "words"
    return kind, *_SUFFIX.findall(doc_id.lower()), "/" in doc_id, "#" in doc_id


@dataclass(frozen=True, slots=True)
class Showing:
    """The documents of both agents that a comparing judge is shown, and their answers, which cite these.

    Args:
        entries: Whose documents.
        relevance: Their grades, or None.
        threshold: Documents graded lower are left out; None for 2, or the best grade of the scale where that is lower.
            Ungraded ones are left out where a graded one is shown.
        raw: Show the text.
        annotations: Show grade and reason.
    """

    entries: Entries
    relevance: Relevance | None = None
    threshold: int | None = None
    raw: bool = True
    annotations: bool = True

    def __call__(self, query_id: str, *agents: str) -> tuple[str, ...]:
        """The documents of the agents' pool as texts, best first, whatever the order of the agents."""
        return tuple(self.documents(query_id, agents).values())

    def answers(self, query_id: str, *agents: str) -> tuple[str, ...]:
        """The agents' answers, with their citations by the numbers that the documents have in the pool.

        As they are where nobody has a document.
        """
        cited = [self.entries.cited(query_id, agent) for agent in agents]
        pool = self.entries.pool(query_id, *agents)
        if not pool and not any(cited):
            return tuple(self.entries.answers[query_id, agent] for agent in agents)
        others = sorted({doc_id for documents in cited for doc_id in documents.values()})
        numbers = numbered(dict(enumerate(self.documents(query_id, agents), 1)), [*pool, *others])
        return tuple(self.entries.answer(query_id, agent, numbers) for agent in agents)

    @property
    def least(self) -> int:
        """The lowest grade of a document that is shown."""
        if self.relevance is None:
            return VERY_RELEVANT if self.threshold is None else self.threshold
        best = min(VERY_RELEVANT, self.relevance.best)
        return best if self.threshold is None else self.relevance.position(self.threshold)

    def documents(self, query_id: str, agents: Sequence[str]) -> dict[str, str]:
        """Texts of the documents of the agents' pool that are shown, by id, in the order of their numbers."""
        pool = self.entries.pool(query_id, *agents)
        grades = {doc_id: self._grade(query_id, doc_id) for doc_id in pool}
        relevant = any(grade is not None and grade >= self.least for grade in grades.values())
        kept = [d for d, grade in grades.items() if (not relevant if grade is None else grade >= self.least)]
        numbers = self._with_numbers(query_id, agents)
        texts = {doc_id: self._text(query_id, doc_id, grades[doc_id], bare=doc_id in numbers) for doc_id in kept}
        return {doc_id: text for doc_id, text in texts.items() if text}

    def _with_numbers(self, query_id: str, agents: Sequence[str]) -> set[str]:
        """The documents that say the numbers by which an agent cites them: in the pool these are others."""
        rankings = [self.entries.ranking(query_id, agent) for agent in agents]
        return {
            doc_id
            for ranking in rankings
            if own_numbers([self.entries.documents.get(doc_id, "") for doc_id in ranking]) is not None
            for doc_id in ranking
        }

    def _grade(self, query_id: str, doc_id: str) -> int | None:
        if self.relevance is None:
            return None
        return self.relevance.grades.get((query_id, self.relevance.graded_as.get(doc_id, doc_id)))

    def _text(self, query_id: str, doc_id: str, grade: int | None, *, bare: bool) -> str:
        text = self.entries.documents.get(doc_id, "") if self.raw else ""
        text = without_number(text) if bare else text
        if grade is None or self.relevance is None or not self.annotations:
            return text
        reason = self.relevance.reasons.get((query_id, self.relevance.graded_as.get(doc_id, doc_id)), "")
        note = f"(document {doc_id}; relevance {self.relevance.called(grade)}{f': {reason}' if reason else ''})"
        return f"{note}\n{text}" if text else note


def missing_citations(entries: Entries) -> dict[str, int]:
    """Number of citations of documents that the agent did not have, by agent; only where there are any.

    Answers to queries for which nobody has documents are not looked at.
    """
    counts: dict[str, int] = {}
    for (query_id, agent), answer in entries.answers.items():
        if not entries.pool(query_id, *entries.answered[query_id]):
            continue
        cited = entries.cited(query_id, agent)
        found = sum(
            not cited.keys() >= set(mark.numbers)
            for mark in marks(answer, entries.citing.get(agent, ""))
            if 0 not in mark.numbers or 0 in cited
        )
        if found:
            counts[agent] = counts.get(agent, 0) + found
    return counts
