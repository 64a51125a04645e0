"""Reads experts' grades of the agents' answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgec.errors import UserError
from judgec.records.label import Label
from judgec.records.scale import Scale
from judgec.store.datasheet import Datasheet
from judgec.store.experts import experts_of
from judgec.store.labels import label_file
from judgec.store.table import Table
from judgec.store.tournament.entries import Entries


@dataclass(frozen=True, slots=True)
class GradedAgents:
    """What experts gave the agents' answers.

    Args:
        scores: The experts' consensus by query and agent, and by aspect, in units of the scale.
        labels: What each of them said, by query and agent.
        scale: What they graded on.
        notes: What was left out, a sentence each.
    """

    scores: Mapping[tuple[str, str], Mapping[str, float]]
    labels: Mapping[tuple[str, str], Sequence[Label]]
    scale: Scale
    notes: tuple[str, ...]


def read_graded(table: Table, sheet: Datasheet, entries: Entries, rename: Mapping[str, str]) -> GradedAgents:
    """The experts' grades of the agents that play, on the queries that they answered.

    Args:
        table: Labels with a column ``agent``, in any shape that labels have.
        sheet: Their datasheet.
        entries: Who plays, and on what.
        rename: Our column names by theirs; those of other tables are left alone.

    Raises:
        InputError: Faulty labels, all faults together.
        UserError: No agent is named, or none of these, on these queries.
    """
    own = {theirs: ours for theirs, ours in rename.items() if theirs in table.columns}
    labels = label_file(table, sheet, rename=own).labels
    experts = experts_of(labels)
    scores: dict[tuple[str, str], dict[str, float]] = {}
    cells: dict[str, tuple[str, str]] = {}
    others = 0
    for item, row in zip(labels.items, experts.grade, strict=True):
        if item.agent is None or (item.query_id, item.agent) not in entries.answers:
            others += 1
            continue
        given = {a: float(labels.scale.grades[at]) for a, at in zip(labels.aspects, row, strict=True) if at >= 0}
        scores[item.query_id, item.agent] = given
        cells[item.item_id] = item.query_id, item.agent
    if not scores:
        known = ", ".join(entries.agents[:5])
        raise UserError(
            f"{table.path}: no row is of an agent that plays ({known}) and a query that it answered; columns agent and "
            "query_id are needed, with the names of the answers. Correct them, or leave --labels out."
        )
    notes = [f"{table.path}: {len(scores)} answers of agents that play are graded by experts."]
    notes += [f"{table.path}: {others} items of others, or of other queries, are left out."] if others else []
    by_cell: dict[tuple[str, str], list[Label]] = {}
    for label in labels.labels:
        if label.item_id in cells:
            by_cell.setdefault(cells[label.item_id], []).append(label)
    return GradedAgents(scores, by_cell, labels.scale, tuple(notes))
