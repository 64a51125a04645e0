"""The documents of a tournament, each graded once per query, and how a judge is shown those of several agents."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from judgec.errors import InputError
from judgec.lm.executor import Ask
from judgec.raters.judge import JudgeTree
from judgec.records.citation import NOT_SHOWN, marks, renamed, unread
from judgec.records.counts import plural
from judgec.records.judgment import UNSCORED
from judgec.records.label import Item, PooledContexts
from judgec.records.scale import Grade, Scale
from judgec.records.tasks.registry import TASKS
from judgec.tournament.files.entries import Entries

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


def judge_pool(entries: Entries, judge: JudgeTree, ask: Ask) -> Relevance:
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
class Shown:
    """A document as a judge is shown it: its text, its grade in words, and why it has it; the last two may be empty."""

    text: str
    grade: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Showing:
    """The documents of several agents together, as a judge of their answers is shown them.

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

    def pooled(self, item: Item, answers: Mapping[str, str], agents: Sequence[str]) -> Item:
        """An item with the documents of some agents in place of its own; without contexts where none is shown.

        Args:
            item: With its answers as their agents wrote them.
            answers: The agent of each of these, by input field.
            agents: Whose documents.
        """
        documents = self.documents(item.query_id, agents)
        shown = {field: self.answer(item.query_id, agent, [*documents]) for field, agent in answers.items()}
        pool = PooledContexts(
            grades=tuple(one.grade for one in documents.values()),
            reasons=tuple(one.reason for one in documents.values()),
            meanings=self._meanings() if any(one.grade for one in documents.values()) else "",
            answers={field: text for field, text in shown.items() if text is not None},
        )
        inputs = {name: text for name, text in item.inputs.items() if name != "contexts"}
        if documents:
            inputs["contexts"] = tuple(one.text for one in documents.values())
        return replace(item, inputs=inputs, pool=pool)

    def answer(self, query_id: str, agent: str, shown: Sequence[str]) -> str | None:
        """An agent's answer with the names of documents for its citations; None where it declares no form.

        Args:
            query_id: Of the query.
            agent: Who answered.
            shown: Ids of the documents that are shown, in order.
        """
        if (form := self.entries.citing.get(agent)) is None:
            return None
        names = {doc_id: f"P{n}" for n, doc_id in enumerate(shown, 1)}
        cited = self.entries.cited(query_id, agent)
        known = {said: [names[one] for one in ids if one in names] or [NOT_SHOWN] for said, ids in cited.items()}
        return renamed(self.entries.answers[query_id, agent], form, known)

    @property
    def least(self) -> int:
        """The lowest grade of a document that is shown."""
        if self.relevance is None:
            return VERY_RELEVANT if self.threshold is None else self.threshold
        best = min(VERY_RELEVANT, self.relevance.best)
        return best if self.threshold is None else self.relevance.position(self.threshold)

    def documents(self, query_id: str, agents: Sequence[str]) -> dict[str, Shown]:
        """The documents of the agents' pool that are shown, by id, best first, whatever the order of the agents.

        Of one without a text, or whose text is not to be shown, the text is the reason of its grade.
        """
        graded = self.relevance or given({})
        cells = {d: (query_id, graded.graded_as.get(d, d)) for d in self.entries.pool(query_id, *agents)}
        grades = {doc_id: graded.grades.get(cell) for doc_id, cell in cells.items()}
        relevant = any(grade is not None and grade >= self.least for grade in grades.values())
        kept = [d for d, grade in grades.items() if (not relevant if grade is None else grade >= self.least)]
        found = {}
        for doc_id in kept:
            grade, text = grades[doc_id], self.entries.documents.get(doc_id, "") if self.raw else ""
            said = "" if grade is None or not self.annotations else f"relevance {graded.called(grade)}"
            reason = graded.reasons.get(cells[doc_id], "") if said else ""
            found[doc_id] = Shown(text, said, reason) if text else Shown(reason or said, said)
        return {doc_id: one for doc_id, one in found.items() if one.text}

    def _meanings(self) -> str:
        """What the grades of relevance mean, in one line."""
        assert self.relevance is not None  # there is a grade
        if (scale := self.relevance.scale) is None:
            return f"grades of relevance to the query: 0 is not relevant, {self.relevance.best} the best"
        listed = scale.listed or (scale.grades[:1] + scale.grades[-1:] if scale.interval else scale.grades)
        meanings = zip_longest(listed, TASKS["relevance"].meanings_of(scale), fillvalue="")
        said = (f"{grade}: {text}" if text else str(grade) for grade, text in meanings)
        return f"grades of relevance to the query, worst first: {'; '.join(said)}"


def count_citations(entries: Entries) -> dict[str, tuple[list[list[str]], list[str]]]:
    """Citations of documents that an agent did not have, and what looks like one and is none of its declared form.

    By agent; answers to queries without documents are left out.
    """
    counts: dict[str, tuple[list[list[str]], list[str]]] = {}
    for (query_id, agent), answer in entries.answers.items():
        form = entries.citing.get(agent)
        if form is not None and entries.pool(query_id, *entries.answered[query_id]):
            known = entries.cited(query_id, agent)
            missing, left = counts.setdefault(agent, ([], []))
            missing += [said for _, _, said in marks(answer, form, known) if not known.keys() >= {*said}]
            left += unread(answer, form, known)
    return counts
