"""What ``judgec labels --next`` does: judge what is unlabelled, choose, write a sheet to fill in."""

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence

from judgec.cli.labels.labels import Request
from judgec.cli.output import command, say
from judgec.compiler.next_labels import UNCERTAIN, Pick, next_labels, uncertainty
from judgec.errors import UserError
from judgec.judges.judge import load_judge
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.records.card import ProgramCard
from judgec.records.label import FloatArray, Item
from judgec.records.scale import ACCEPT_SCALE
from judgec.report.progress import Bar
from judgec.store import programs
from judgec.store.datasheet import NAME as DATASHEET
from judgec.store.rows.cells import is_missing
from judgec.store.rows.columns import as_names, as_rename
from judgec.store.rows.unlabelled import read_unlabelled
from judgec.store.sides.draw import trainable
from judgec.store.sides.memory import read_memory
from judgec.store.sides.queries import queries_of
from judgec.store.splits import locked_family, read_family, write_family, write_whole
from judgec.store.tables import read_table
from judgec.tasks.preference import PREFERENCE_SCALE
from judgec.tasks.registry import TASKS


def run(request: Request) -> dict[str, object]:
    """Choose items and write the sheet; returns the counts of ``--json``.

    Raises:
        UserError: When there is no such judge, its task is a plugin's, or every item has a label.
    """
    if request.next is None or request.judge is None:
        raise UserError("--next N and --judge NAME belong together; one of them is missing. Give both.")
    bar = Bar(shown=not request.quiet)
    program = programs.load(request.home, request.judge)
    card, judge = program.card, load_judge(program)
    if card.task not in TASKS:
        raise UserError(f"--judge {request.judge}: its task {card.task} has no label columns. Name another judge.")
    out, filled = request.out, label_columns(card)
    if not out.parent.is_dir():
        raise UserError(f"--out {out}: no such folder {out.parent}; create it, or name another.")
    if out.exists() and any(not is_missing(row.get(name)) for row in read_table(str(out)).rows for name in filled):
        raise UserError(f"--out {out}: it holds labels, which would be lost. Move it, or name another.")
    found = read_unlabelled(
        request.file, task=card.task, rename=as_rename(request.rename), annotators=as_names(request.annotators)
    )
    if not found.items:
        raise UserError(
            f"{request.file}: all {found.labelled} items have a label; unlabelled ones are needed. Add some."
        )
    bar.stage("judge", f"{len(found.items)} unlabelled items by {card.name}@{card.version}")
    spec = LMSpec.from_card(card.lm, api_base=request.api_base)
    with Session(spec, request.home, budget=request.budget, max_cost=request.max_cost, on_done=bar.progress) as session:
        judgments = judge.judge(found.items, session.ask)
        calls = session.spent.calls
    bar.close()
    picks = _picked(request, card, found.items, uncertainty(judgments, card.scale))
    write_whole(out, sheet(picks, card))
    beside = out.with_name(f"{out.stem}.{DATASHEET}")
    write_whole(beside, datasheet(card))
    strata = Counter(pick.stratum for pick in picks)
    if not request.quiet:
        say(
            f"{out}: {len(picks)} of {len(found.items)} unlabelled items to grade, {strata['uncertain']} that "
            f"{card.name}@{card.version} is unsure of and {strata['random']} at random",
            f"{calls} LM calls",
            f"Next: fill in {', '.join(filled)}, then {command('labels', str(out), home=request.home)}",
        )
    return {
        "out": str(out),
        "datasheet": str(beside),
        "judge": {"program": card.name, "version": card.version},
        "unlabelled": len(found.items),
        "labelled": found.labelled,
        "picked": len(picks),
        "strata": dict(strata),
        "item_ids": [pick.item.item_id for pick in picks],
        "lm_calls": calls,
    }


def _picked(request: Request, card: ProgramCard, items: Sequence[Item], uncertain: FloatArray) -> tuple[Pick, ...]:
    """The items to grade; the home remembers which were chosen for being hard: these never become test items."""
    memory = read_memory(request.home, card.name)
    picks = next_labels(items, uncertain, request.next or 0, trainable=trainable(items, memory), seed=request.seed)
    key_of = {item.item_id: key for item, key in zip(items, queries_of(items, memory.keys).key_of, strict=True)}
    hard = {key_of[pick.item.item_id] for pick in picks if pick.stratum == UNCERTAIN}
    with locked_family(request.home, card.name):
        family = read_family(request.home, card.name)
        if not hard <= set(family.hard):
            write_family(request.home, family.model_copy(update={"hard": tuple(sorted({*family.hard, *hard}))}))
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
        writer.writerow({**row, "stratum": pick.stratum, "inclusion_probability": f"{pick.probability:.6g}"})
    return text.getvalue()
