"""Measures how well each agent retrieves: MRR, nDCG, precision and MAP, with intervals and tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import shown
from judgec.report.numbers import show
from judgec.stats.agreement.statistic import SHARE, mean
from judgec.stats.intervals.jackknife import difference_interval, interval
from judgec.stats.intervals.significance import holm
from judgec.tournament.files.entries import Entries
from judgec.tournament.pooling import Relevance

CUTOFF = 5  # RAGElo's MRR@5


@dataclass(frozen=True, slots=True)
class RetrievalTable:
    """Retrieval quality of every agent.

    Args:
        by_agent: Mean over queries by agent and measure; measures as ``ir_measures`` names them.
        differences: Paired difference of two agents by measure, with p and p after Holm's correction over the
            pairs of a measure.
        notes: What the reader has to know.
    """

    by_agent: Mapping[str, Mapping[str, Estimate]]
    differences: tuple[tuple[str, str, str, Estimate, float | None], ...]
    notes: tuple[str, ...]

    def columns(self) -> TableColumns[tuple[str, Mapping[str, Estimate]]]:
        """A column a measure; rows are the items of ``by_agent``."""
        return TableColumns([_measure(name) for name in next(iter(self.by_agent.values()))], lambda row: row[0])

    def to_json(self) -> dict[str, object]:
        """The ``retrieval`` part of the report."""
        return self.columns().json(list(self.by_agent.items()))

    def pairs_json(self) -> list[dict[str, object]]:
        """The paired differences."""
        return [
            {"agents": [one, other], "measure": name, "difference": found.to_json(), "p_holm": p}
            for one, other, name, found, p in self.differences
        ]


def _measure(name: str) -> Column[tuple[str, Mapping[str, Estimate]]]:
    return Column(
        name,
        lambda row: show(row[1][name]),
        value=lambda row: row[1][name],
        json=(None, name),
        metric=("retrieval", None, name),
        cell=lambda row: shown(row[1][name]),
    )


def measures(best: int, cutoff: int = CUTOFF) -> tuple[str, ...]:
    """The measures for grades up to ``best``: at both thresholds where that is above 1, else at one."""
    thresholds = (1, 2) if best > 1 else (1,)
    names = [name for rel in thresholds for name in (f"MRR(rel={rel})@{cutoff}", f"P(rel={rel})@{cutoff}")]
    return (*names, f"nDCG@{cutoff}", *(f"MAP(rel={rel})" for rel in thresholds))


def retrieval_table(entries: Entries, relevance: Relevance, *, cutoff: int = CUTOFF) -> RetrievalTable | None:
    """The table, or None when no file says which agent retrieved what.

    A query of which an agent's ranking is unknown is left out of that agent's mean, and so is one with a document
    that the judge could not grade. Nothing retrieved counts 0 where a relevant document of the query is known. Under
    given qrels an ungraded document is not relevant, as TREC has it, and queries without any grade are left out;
    chunks of one document that is graded as a whole are one document.

    Args:
        entries: With rankings by agent.
        relevance: Grades of the documents; with a judge, of the first documents of each ranking.
        cutoff: k of MRR@k, nDCG@k, P@k.
    """
    if not entries.retrieved:
        return None
    names = measures(relevance.best, cutoff)
    values = {agent: _values(entries, relevance, agent, names) for agent in entries.agents}
    queries = list(entries.queries)
    by_agent: dict[str, dict[str, Estimate]] = {}
    for agent in entries.agents:
        by_agent[agent] = {}
        for name in names:
            known = np.array([values[agent][q][name] for q in queries if q in values[agent]])
            by_agent[agent][name] = _mean(known)
    differences: list[tuple[str, str, str, Estimate, float | None]] = []
    for name in names:
        rows = [
            (one, other, _difference(values[one], values[other], name))
            for one, other in combinations(entries.agents, 2)
        ]
        adjusted = holm(np.array([np.nan if found.p is None else found.p for _, _, found in rows]))
        differences += [
            (one, other, name, found, None if np.isnan(p) else float(p))
            for (one, other, found), p in zip(rows, adjusted, strict=True)
        ]
    return RetrievalTable(by_agent, tuple(differences), _notes(entries, relevance, values, cutoff))


def _values(entries: Entries, relevance: Relevance, agent: str, names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Values by query and measure, of the queries that can be measured."""
    graded: dict[str, dict[str, int]] = {}
    for (query_id, doc_id), grade in relevance.grades.items():
        graded.setdefault(query_id, {})[doc_id] = grade
    lost = {query_id for query_id, _ in relevance.unscored}
    run: dict[str, dict[str, float]] = {}
    for query_id in entries.queries:
        ranking = entries.retrieved.get((query_id, agent))
        if ranking is None or query_id not in graded:
            continue
        if not ranking and max(graded[query_id].values()) <= 0:
            continue
        if query_id in lost and any((query_id, doc_id) in relevance.unscored for doc_id in ranking):
            continue
        documents = relevance.ranking(ranking)
        run[query_id] = {doc_id: float(len(documents) - rank) for rank, doc_id in enumerate(documents)}
    import ir_measures  # of judgec[rag]

    parsed = {name: ir_measures.parse_measure(name) for name in names}
    qrels = {query_id: graded[query_id] for query_id, documents in run.items() if documents}
    found: dict[str, dict[str, float]] = {query_id: dict.fromkeys(names, 0.0) for query_id in run}
    by_measure = {str(measure): name for name, measure in parsed.items()}
    for metric in ir_measures.iter_calc(list(parsed.values()), qrels, {query_id: run[query_id] for query_id in qrels}):
        found[metric.query_id][by_measure[str(metric.measure)]] = float(metric.value)
    return found


def _mean(values: FloatArray) -> Estimate:
    if not len(values):
        return Estimate(value=None, note="no query with a ranking and relevance grades")
    each = np.arange(len(values))
    return interval(mean(values, each, bounds=SHARE)).estimate(len(values))


def _difference(
    one: Mapping[str, Mapping[str, float]],
    other: Mapping[str, Mapping[str, float]],
    name: str,
) -> Estimate:
    both = [query_id for query_id in one if query_id in other]
    if not both:
        return Estimate(value=None, note="no query in common")
    each = np.arange(len(both))
    parts = [mean(np.array([row[q][name] for q in both]), each) for row in (one, other)]
    return difference_interval(parts[0], parts[1]).estimate(len(both))


def _notes(
    entries: Entries, relevance: Relevance, values: Mapping[str, Mapping[str, object]], cutoff: int
) -> tuple[str, ...]:
    n = len(entries.answered)
    notes = [
        f"Retrieval of {agent}: {n - len(row)} of {plural(n, 'query')} cannot be measured."
        for agent, row in values.items()
        if len(row) < n
    ]
    for agent, row in values.items():
        if nothing := sum(not entries.retrieved[query_id, agent] for query_id in row):
            notes.append(f"Retrieval of {agent}: nothing was retrieved for {plural(nothing, 'query')}, which count 0.")
    if relevance.unscored:
        notes.append(f"{len(relevance.unscored)} documents got no relevance grade; their queries are left out.")
    if not relevance.judged:
        rankings = [(q, relevance.ranking(retrieved)) for (q, _), retrieved in entries.retrieved.items()]
        cells = [(q, d) for q, ranking in rankings for d in ranking[:cutoff]]
        seen = sum(cell in relevance.grades for cell in cells)
        notes.append(
            f"{seen} of {plural(len(cells), 'document')} down to rank {cutoff} are graded in the qrels; "
            "others count as irrelevant."
        )
        chunks = [d for ranking in entries.retrieved.values() for d in ranking if d in relevance.graded_as]
        if chunks:
            notes.append(
                f"Measures are by document, as the qrels name them: {chunks[0]} is a chunk of "
                f"{relevance.graded_as[chunks[0]]}; of several chunks of a document the best rank counts, once."
            )
    return tuple(notes)
