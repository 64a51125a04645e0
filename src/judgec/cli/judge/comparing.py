"""What ``judgec compare`` does: load both judges, find items that neither saw, judge, compare, show."""

import json
import os
from dataclasses import replace

from judgec.api.source import LabelSource, read_source
from judgec.cli.judge.compare import Request
from judgec.cli.output import command, say
from judgec.cli.trust.held_out import as_typed
from judgec.errors import UserError
from judgec.held_out import held_out, judged_unlearned
from judgec.judges.judge import load_judge
from judgec.lm.session import Session
from judgec.lm.spec import EMBEDDED, LMSpec
from judgec.records.card import ProgramCard
from judgec.records.judgment import Judgments
from judgec.records.label import Item, LabelSet
from judgec.report.progress import Bar
from judgec.report.render import notes, paired_table, print_tables
from judgec.stats.agreement.compare import Comparison, Differing
from judgec.stats.agreement.compare import compare as compared
from judgec.stats.intervals.significance import level_for_look
from judgec.store import programs
from judgec.store.programs import Program
from judgec.store.sides.draw import recorded_split
from judgec.store.sides.looks import looks_at
from judgec.store.sides.memory import read_memory
from judgec.store.sides.mirrors import with_mirrors_together
from judgec.store.splits import read_family, write_whole
from judgec.tracking.store import tracking_store

SHOWN = 5  # differing items on screen
LISTED = 20  # in the JSON report; --out has all
LONGEST = 200  # characters of a rationale on screen


def run(request: Request) -> dict[str, object]:
    """Compare; returns the report of ``--json``.

    Raises:
        UserError: When the judges cannot be compared, or no item is left that neither was compiled on.
    """
    bar = Bar(shown=not request.quiet)
    pair = (programs.load(request.home, request.a), programs.load(request.home, request.b))
    a, b = (program.card for program in pair)
    _require_same_scale(a, b)
    if request.out is not None and not request.out.parent.is_dir():
        raise UserError(f"--out {request.out}: no such folder {request.out.parent}; create it, or name another.")
    labels = _read(request, pair)
    fresh = held_out(labels, request.labels or f"{_named(a)} and {_named(b)}", *pair)
    items = list(fresh.items)
    bar.stage("items", f"{len(items)} labelled items that neither was compiled on")
    judged, calls = _judge(request, pair, items, bar)
    bar.close()
    found = compared(items, fresh.experts, judged[0], judged[1], a.scale, accept_only=fresh.accept_only)
    if request.out is not None:
        lines = [json.dumps(each.to_json(), ensure_ascii=False, allow_nan=False) for each in found.differing]
        write_whole(request.out, "".join(line + "\n" for line in lines))
    report = _report(found, pair, request, calls)
    if not request.quiet:
        _show(found, pair, request, calls)
    return report


def _require_same_scale(a: ProgramCard, b: ProgramCard) -> None:
    for what, one, other in (
        ("task", a.task, b.task),
        ("grades", a.scale.grades, b.scale.grades),
        ("accepted from", a.scale.accept_at, b.scale.accept_at),
        ("aspects", a.aspects, b.aspects),
    ):
        if one != other:
            raise UserError(
                f"{_named(a)} and {_named(b)}: {what} {one} and {other}; judges of one task and scale can be compared. "
                "Name another."
            )


def _read(request: Request, pair: tuple[Program, Program]) -> LabelSet:
    """The labels to compare on: those given, or those that both versions were tested on."""
    store = tracking_store(request.home, request.tracking_uri, os.environ)
    a, b = (program.card for program in pair)
    if request.labels is not None:
        threshold = None if a.scale.accept_at is None or a.scale.name == "accept" else str(a.scale.accept_at)
        source = as_typed(request.labels, request, request.task or a.task)
        return read_source(replace(source, accept_at=source.accept_at or threshold), store, os.environ, a)
    if a.split_digest != b.split_digest:
        raise UserError(
            f"{_named(a)} and {_named(b)}: tested on different items; the same are needed. "
            "Give labels with --labels FILE: items that neither was compiled on are used."
        )
    recorded = pair[0].report.get("source")
    if not isinstance(recorded, dict) or not recorded.get("path"):
        raise UserError(f"{_named(a)}: its report does not say where its labels are. Give them with --labels FILE.")
    source = LabelSource(**recorded | {"annotators": tuple(recorded["annotators"])})
    labels = read_source(source, store, os.environ, a)
    if recorded_split(with_mirrors_together(labels), pair[0].split).digests["test"] != a.split_digest:
        raise UserError(
            f"{recorded['path']}: its test items are not those that {_named(a)} was tested on; the file has changed. "
            "Restore it, or give labels with --labels FILE."
        )
    return labels


def _judge(request: Request, pair: tuple[Program, Program], items: list[Item], bar: Bar) -> tuple[list[Judgments], int]:
    """What both say, within caps that they share; a judge that reads the evidence alone asks no model."""
    judges = [load_judge(program) for program in pair]
    specs = [
        LMSpec.from_card(program.card.lm, api_base=request.api_base) if judge.asks_lm else LMSpec.parse(EMBEDDED)
        for program, judge in zip(pair, judges, strict=True)
    ]
    judged = []
    with Session(
        specs[0], request.home, budget=request.budget, max_cost=request.max_cost, on_done=bar.progress
    ) as session:
        asks = (session.ask, session.other(specs[1]))
        for program, judge, ask in zip(pair, judges, asks, strict=True):
            bar.stage("judge", f"{_named(program.card)}, {program.card.engine or program.card.lm.get('model')}")
            judged.append(judged_unlearned(items, program, judge, ask))
        return judged, session.spent.calls


def _looks(request: Request, card: ProgramCard) -> dict[str, object]:
    """How often this test split has been looked at under any name, and how much of the error level that has spent."""
    memory = read_memory(request.home, card.name)
    tested = next(version for version in memory.own if version.number == card.version)
    own = sum(look.test == card.split_digest for look in read_family(request.home, card.name).looks)
    looks = max(own, looks_at(tested.tested or frozenset(), memory, task=card.task, columns=tested.columns))
    spent = sum(level_for_look(look) for look in range(1, looks + 1))
    return {"looks": looks, "level_spent": spent, "next_level": level_for_look(looks + 1)}


def _report(found: Comparison, pair: tuple[Program, Program], request: Request, calls: int) -> dict[str, object]:
    a, b = (program.card for program in pair)
    return {
        "a": {"program": a.name, "version": a.version, **_looks(request, a)},
        "b": {"program": b.name, "version": b.version, **_looks(request, b)},
        "test": {"a": found.a.to_json(), "b": found.b.to_json()},
        "difference": {name: estimate.to_json() for name, estimate in found.differences.items()},
        "differ": len(found.differing),
        "items": [each.to_json() for each in found.differing[:LISTED]],
        "lm_calls": calls,
        "out": None if request.out is None else str(request.out),
    }


def _show(found: Comparison, pair: tuple[Program, Program], request: Request, calls: int) -> None:
    a, b = (program.card for program in pair)
    title = f"{_named(a)} against {_named(b)}, {found.a.n + found.a.unscored} grades, 95 % intervals"
    print_tables(paired_table(title, {_named(a): found.a, _named(b): found.b}, found.differences))
    if found.differing:
        print(f"{len(found.differing)} items on which they differ, the choice mattering most first:\n")
    for each in found.differing[:SHOWN]:
        print("\n".join(_block(each)) + "\n")
    spent = {
        f"{card.name}: {looks['looks']} looks at this test split have spent {looks['level_spent']:.3f} of .05"
        for card in (a, b)
        for looks in [_looks(request, card)]
    }
    missing = notes({_named(a): found.a, _named(b): found.b})
    say(*sorted(spent), f"{calls} LM calls", *[f"note: {note}" for note in dict.fromkeys(missing)])
    if request.out is None and found.differing:
        options = (("--labels", request.labels), ("--api-base", request.api_base))
        given = [part for option, value in options if value is not None for part in (option, value)]
        again = command("compare", request.a, request.b, *given, "--out", "items.jsonl", home=request.home)
        say(f"Next: {again}")


def _block(each: Differing) -> list[str]:
    """An item as lines: the three grades, then both rationales."""
    expert = next(iter(each.expert.values())) if len(each.expert) == 1 else dict(each.expert)
    grades = [row.get("grade", row.get("grades")) for row in (each.a, each.b)]
    lines = [f"{each.item.item_id}: experts {_plain(expert)}, A {_plain(grades[0])}, B {_plain(grades[1])}"]
    for name, row in (("A", each.a), ("B", each.b)):
        reason = " ".join(str(row.get("unscored") or row.get("rationale") or "no reason given").split())
        lines.append(f"  {name}: {reason if len(reason) <= LONGEST else reason[: LONGEST - 1] + '…'}")
    return lines


def _plain(value: object) -> str:
    if value is None:
        return "-"
    return " ".join(map(str, value.values())) if isinstance(value, dict) else str(value)


def _named(card: ProgramCard) -> str:
    return f"{card.name}@{card.version}"
