"""The documents of a tournament, each graded once per query, and how a comparing judge is shown them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from judgec.errors import InputError
from judgec.judges.judge import CompiledJudge
from judgec.lm.executor import Ask
from judgec.records.judgment import UNSCORED
from judgec.records.label import Item
from judgec.store.tournament.entries import Entries

Cell = tuple[str, str]  # query id, document id
VERY_RELEVANT = 2  # RAGElo leaves out documents below this when it compares answers
_CHUNK = re.compile(r"(.+)#\d+")  # as an index names the passages of a document that has several
_DIGEST = re.compile(r"[0-9a-f]{16,}")
_SUFFIX = re.compile(r"\.[A-Za-z]{1,5}$")  # of a file name


@dataclass(frozen=True, slots=True)
class Relevance:
    """How relevant the pooled documents are.

    Args:
        grades: By query and document; a document that nobody judged is absent.
        reasons: In the judge's words, by query and document.
        unscored: Why the judge gave no grade, by query and document.
        judged: False when the grades are given (qrels): a document without one then counts as not relevant.
        best: The highest grade that there can be.
        graded_as: The id under which a retrieved document is graded, where that is another than its own: the
            document that a chunk is of.
    """

    grades: Mapping[Cell, int]
    reasons: Mapping[Cell, str]
    unscored: Mapping[Cell, str]
    judged: bool
    best: int
    graded_as: Mapping[str, str] = field(default_factory=dict)

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
    seen = f"{len(strangers)} retrieved documents {whose}, most of them, do not occur in the qrels"
    forms = f"The qrels name documents like {min(ids)!r}, what was retrieved is named like {own[strangers[0]]!r}"
    valid = "one form is needed (a passage 'page.md#2' of an index counts as its document 'page.md')"
    advice = "Rename the ids in the qrels, or give the answers 'passage_ids' of that form."
    return InputError([f"{source}: {seen}. {forms}; {valid}. {advice}"])


def _form(doc_id: str) -> tuple[object, ...]:
    """How an id looks, coarsely: ``51``, ``cran/51``, ``51.txt``, ``51#a`` and a digest are all of different forms."""
    kind = "number" if doc_id.isdecimal() else "digest" if _DIGEST.fullmatch(doc_id) else "words"
    return kind, *_SUFFIX.findall(doc_id.lower()), "/" in doc_id, "#" in doc_id


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
        cell = (query_id, doc_id if self.relevance is None else self.relevance.graded_as.get(doc_id, doc_id))
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
