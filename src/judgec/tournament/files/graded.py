"""Reads experts' grades of the agents' answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgec.errors import UserError
from judgec.labels.experts import experts_of
from judgec.labels.labels import label_file
from judgec.labels.reading import NOTHING_SAID, Datasheet, Reading
from judgec.labels.rows.raters import left_out
from judgec.records.consensus import people_mean
from judgec.records.counts import plural
from judgec.records.label import Label, LabelSet
from judgec.records.scale import Scale
from judgec.table.table import Table
from judgec.tournament.files.entries import Entries
from judgec.tournament.files.reading import with_query_ids


@dataclass(frozen=True, slots=True)
class GradedAgents:
    """Grades that experts gave the agents' answers.

    Args:
        scores: Mean of what the experts gave, by query and agent, and by aspect, in units of the scale.
        labels: What each of them said, by query and agent.
        scale: What they graded on.
        notes: What was left out, a sentence each.
    """

    scores: Mapping[tuple[str, str], Mapping[str, float]]
    labels: Mapping[tuple[str, str], Sequence[Label]]
    scale: Scale
    notes: tuple[str, ...]


def read_graded(
    table: Table,
    sheet: Datasheet,
    entries: Entries,
    reading: Reading = NOTHING_SAID,
) -> GradedAgents:
    """The experts' grades of the agents that play, on the queries that they answered.

    Args:
        table: Labels with a column ``agent``, in any shape that labels have; without ``query`` or ``answer`` these are
            the tournament's own, by ``query_id`` and ``agent``.
        sheet: Their datasheet.
        entries: Who plays, and on what.
        reading: How it is read; columns of other tables are left alone.

    Raises:
        InputError: Faulty labels, all faults together.
        UserError: No agent is named, or none of these, on these queries.
    """
    own = {theirs: ours for theirs, ours in reading.columns.items() if theirs in table.columns}
    whole, others = _with_texts(table, entries, own)
    if table.rows and not whole.rows:
        raise _no_such_agent(table, entries)
    labels = label_file(whole, sheet, reading.model_copy(update={"columns": own})).labels
    of_agents = {
        item.item_id: (item.query_id, item.agent)
        for item in labels.items
        if item.agent is not None and (item.query_id, item.agent) in entries.answers
    }
    others += len(labels.items) - len(of_agents)
    scores = {cell: given for cell, given in agent_scores(labels).items() if cell in entries.answers}
    cells = {item_id: cell for item_id, cell in of_agents.items() if cell in scores}
    if not of_agents:
        raise _no_such_agent(table, entries)
    notes = [f"{table.path}: {plural(len(scores), 'answer')} of agents that play are graded by experts."]
    notes += [f"{table.path}: {note}" for note in left_out(labels.notes)]
    notes += [f"{table.path}: {others} items of others, or of other queries, are left out."] if others else []
    by_cell: dict[tuple[str, str], list[Label]] = {}
    for label in labels.labels:
        if label.item_id in cells:
            by_cell.setdefault(cells[label.item_id], []).append(label)
    return GradedAgents(scores, by_cell, labels.scale, tuple(notes))


def agent_scores(labels: LabelSet) -> dict[tuple[str, str], dict[str, float]]:
    """By query and agent the mean of what people gave its answer, by aspect; where there is an agent and a grade."""
    experts = experts_of(labels)
    by = experts.accept_by if labels.accept_only else experts.grade_by
    means = people_mean(by, np.array(labels.scale.values))
    return {
        (item.query_id, item.agent): {
            aspect: float(mean) for aspect, mean in zip(labels.aspects, row, strict=True) if not np.isnan(mean)
        }
        for item, row in zip(labels.items, means, strict=True)
        if item.agent is not None and not np.isnan(row).all()
    }


def _with_texts(table: Table, entries: Entries, rename: Mapping[str, str]) -> tuple[Table, int]:
    """The table with the tournament's queries and answers where it has none; and how many rows of others that left out.

    A table of grades alone names each answer by ``query_id`` and ``agent``; one of texts may go without ids.
    """
    theirs = {rename.get(column, column): column for column in table.columns}
    if "query_id" not in theirs and "query" in theirs:
        return with_query_ids(table, entries.queries, theirs["query"]), 0
    lacking = [name for name in ("query", "answer") if name not in theirs]
    if not lacking or "query_id" not in theirs or "agent" not in theirs:
        return table, 0
    cells = [(str(row.get(theirs["query_id"], "")), str(row.get(theirs["agent"], ""))) for row in table.rows]
    kept = [at for at, cell in enumerate(cells) if cell in entries.answers]
    texts = [{"query": entries.queries[cells[at][0]], "answer": entries.answers[cells[at]]} for at in kept]
    rows = [{**table.rows[at], **{name: text[name] for name in lacking}} for at, text in zip(kept, texts, strict=True)]
    lines = tuple(table.lines[at] for at in kept)
    return replace(table, columns=(*table.columns, *lacking), rows=tuple(rows), lines=lines), len(cells) - len(kept)


def _no_such_agent(table: Table, entries: Entries) -> UserError:
    known = ", ".join(entries.agents[:5])
    return UserError(
        f"{table.path}: no row is of an agent that plays ({known}) and a query that it answered; columns agent and "
        "query_id are needed, with the names of the answers. Correct them, or leave --labels out."
    )
