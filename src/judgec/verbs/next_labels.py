"""Chooses the unlabelled items that are worth a label next, and writes them as a sheet to fill in."""

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judgec.compile.next_labels import UNCERTAIN, Pick, next_labels, uncertainty
from judgec.errors import UserError
from judgec.labels.rows.unlabelled import read_unlabelled
from judgec.labels.sides.draw import trainable
from judgec.labels.sides.memory import read_memory
from judgec.labels.sides.queries import queries_of
from judgec.labels.splits import locked_family, read_family, write_family, write_whole
from judgec.lm.watch import Watch
from judgec.records.card import ProgramCard
from judgec.records.conversation import usual_turn
from judgec.records.label import FloatArray, Item
from judgec.records.scale import ACCEPT_SCALE
from judgec.records.tasks.preference import PREFERENCE_SCALE
from judgec.records.tasks.registry import TASKS
from judgec.table.datasheet import NAME as DATASHEET
from judgec.table.formulas import guarded
from judgec.table.rows.cells import is_missing
from judgec.table.tables import read_table
from judgec.verbs.given_judge import given_judge
from judgec.verbs.options.labels import LabelsOptions
from judgec.verbs.spending import account_for, session_for


@dataclass(frozen=True)
class ChosenItems:
    """Items to label next; they are in ``out``.

    Args:
        card: Of the judge whose doubts decided.
        picks: The items, with why and how likely each was chosen.
        out: The sheet.
        datasheet: What its labels mean, beside it.
        unlabelled: Items to choose from.
        labelled: Items of the file that have a label.
        calls: LM calls that were made.
    """

    card: ProgramCard
    picks: tuple[Pick, ...]
    out: Path
    datasheet: Path
    unlabelled: int
    labelled: int
    calls: int

    @property
    def strata(self) -> Mapping[str, int]:
        """How many were drawn at random, and how many are those that the judge is unsure of."""
        return Counter(pick.stratum for pick in self.picks)

    @property
    def columns(self) -> list[str]:
        """What the experts fill in."""
        return label_columns(self.card)

    def to_json(self) -> dict[str, object]:
        """What ``labels --next --json`` prints."""
        return {
            "out": str(self.out),
            "datasheet": str(self.datasheet),
            "judge": {"program": self.card.name, "version": self.card.version},
            "unlabelled": self.unlabelled,
            "labelled": self.labelled,
            "picked": len(self.picks),
            "strata": dict(self.strata),
            "item_ids": [pick.item.item_id for pick in self.picks],
            "lm_calls": self.calls,
        }


def choose_next(options: LabelsOptions, watch: Watch) -> ChosenItems:
    """Judge what is unlabelled, choose ``options.next`` items and write the sheet.

    Raises:
        UserError: When there is no such judge, its task is a plugin's, or every item has a label.
        ServiceError: When the judge's model fails.
    """
    if options.next is None or options.judge is None:
        raise UserError("--next N and --judge NAME belong together; one of them is missing. Give both.")
    judge = given_judge(options.judge, home=options.home, api_base=options.api_base)
    card, out = judge.program.card, options.out
    if card.task not in TASKS:
        raise UserError(f"--judge {options.judge}: its task {card.task} has no label columns. Name another judge.")
    if not out.parent.is_dir():
        raise UserError(f"--out {out}: no such folder {out.parent}; create it, or name another.")
    filled = label_columns(card)
    if out.exists() and any(not is_missing(row.get(name)) for row in read_table(str(out)).rows for name in filled):
        raise UserError(f"--out {out}: it holds labels, which would be lost. Move it, or name another.")
    found = read_unlabelled(
        options.file,
        task=card.task,
        rename=options.columns,
        annotators=options.annotators,
        turn=options.turn,
        usual=usual_turn(card.fields),
    )
    if not found.items:
        raise UserError(
            f"{options.file}: all {found.labelled} items have a label; unlabelled ones are needed. Add some."
        )
    watch.stage("judge", f"{len(found.items)} unlabelled items by {judge.name}, {judge.judge.spec.asked_at}")
    account = account_for(options, options.judge)
    with session_for(options, judge.judge.spec, options.home, watch, account=account) as session:
        judgments = judge.judge.compiled.judge(found.items, session.ask)
        calls = session.spent.calls
    picks = _picked(options, options.next, card, found.items, uncertainty(judgments, card.scale))
    write_whole(out, sheet(picks, card))
    beside = out.with_name(f"{out.stem}.{DATASHEET}")
    write_whole(beside, datasheet(card))
    return ChosenItems(card, picks, out, beside, len(found.items), found.labelled, calls)


def _picked(
    options: LabelsOptions, n: int, card: ProgramCard, items: Sequence[Item], uncertain: FloatArray
) -> tuple[Pick, ...]:
    """The items to grade; the home remembers which were chosen for being hard: these never become test items."""
    memory = read_memory(options.home, card.name)
    picks = next_labels(items, uncertain, n, trainable=trainable(items, memory), seed=options.seed)
    key_of = {item.item_id: key for item, key in zip(items, queries_of(items, memory.keys).key_of, strict=True)}
    hard = {key_of[pick.item.item_id] for pick in picks if pick.stratum == UNCERTAIN}
    with locked_family(options.home, card.name):
        family = read_family(options.home, card.name)
        if not hard <= set(family.hard):
            write_family(options.home, family.model_copy(update={"hard": tuple(sorted({*family.hard, *hard}))}))
    return picks


def label_columns(card: ProgramCard) -> list[str]:
    """The columns that the experts fill in."""
    spec = TASKS[card.task]
    if spec.takes_accept and card.scale.name == ACCEPT_SCALE.name:
        return ["accept"]
    return list(spec.columns(card.aspects))


def datasheet(card: ProgramCard) -> str:
    """What the sheet's labels mean, as TOML: twenty grades do not show the whole scale, and words no order."""
    lines = [f"task = {json.dumps(card.task)}"]
    if card.scale not in (ACCEPT_SCALE, PREFERENCE_SCALE):  # these are known by their columns
        declared = card.scale.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        # Texts, numbers and lists of them are written alike in JSON and TOML.
        lines += ["", "[scale]", *(f"{key} = {json.dumps(value)}" for key, value in declared.items())]
    return "\n".join(lines) + "\n"


def sheet(picks: Sequence[Pick], card: ProgramCard) -> str:
    """The picks as CSV, with empty label columns; contexts are a JSON list.

    Neither the judge's grade nor its doubt is in it: experts would anchor on them.
    """
    fields = [name for name in TASKS[card.task].inputs if any(name in pick.item.inputs for pick in picks)]
    optional = [name for name in ("agent", "group") if any(getattr(pick.item, name) is not None for pick in picks)]
    labels = [*label_columns(card), "annotator", "rationale"]
    columns = ["item_id", "query_id", *optional, *fields, *labels, "stratum", "inclusion_probability"]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, restval="")
    writer.writeheader()
    for pick in picks:
        item = pick.item
        inputs = {
            name: json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value
            for name, value in item.inputs.items()
        }
        named = {name: getattr(item, name) or "" for name in optional}
        row = {"item_id": item.item_id, "query_id": item.query_id, **named, **inputs}
        safe = {name: guarded(str(cell)) for name, cell in row.items()}
        writer.writerow({**safe, "stratum": pick.stratum, "inclusion_probability": f"{pick.probability:.6g}"})
    return text.getvalue()
