"""Decides which scores of an export are labels and which are verdicts, and makes rows of them.

Every score that came in is counted once: as a label, a verdict, a text that is kept as a column, or with the reason why
it is none of these.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from judgec.connect.scores.records import ABOUT, INPUTS, Score, ScoreExport, is_label_column, some
from judgec.errors import InputError
from judgec.records.counts import plural
from judgec.records.tasks.spec import ASPECT_PREFIX
from judgec.table.formulas import NUMBER
from judgec.table.rows.cells import as_accept, as_grade, as_text, is_accept_word, is_missing
from judgec.table.rows.columns import listed
from judgec.table.table import Row
from judgec.table.traces.texts import answer_in, documents_in, question_in

As = Literal["labels", "verdicts"]
UNKNOWN = "unknown"  # the annotator where the tool does not say
FIRST = ("item_id", *INPUTS, "annotator")
UNNAMED = "evaluators"  # the judge of several aspects where the tool names each of its evaluators after a metric
MACHINE_TEXT = "a machine's texts"
REPLACED = "replaced by a later one of the same person"
VALUELESS = "without a value"
NO_SCORE = "no score"  # of a machine, whatever it says of it
RATIONALE = "rationale"


@dataclass(frozen=True, slots=True)
class ImportedScores:
    """An export as a label table and recorded verdicts.

    Args:
        rows: One an item and annotator, and one for each item that nobody labelled.
        verdicts: One a machine's score, as ``raters.verdicts`` reads them.
        records: Scores in the export.
        labels: How many became labels.
        texts: How many are kept as columns: remarks, corrected answers.
        skipped: How many are neither, by reason.
        annotators: Labels by annotator.
        columns: Where each metric of people went.
        notes: What was assumed.
    """

    rows: tuple[Row, ...]
    verdicts: tuple[Row, ...]
    records: int
    labels: int
    texts: int
    skipped: Mapping[str, int]
    annotators: Mapping[str, int]
    columns: Mapping[str, str]
    notes: tuple[str, ...]


def imported(export: ScoreExport, where: str, rename: Mapping[str, str], unmarked: As | None = None) -> ImportedScores:
    """Labels and verdicts of an export.

    Args:
        export: As a tool's reader gives it.
        where: What messages call it.
        rename: judgec's names by the tool's, of fields and of metrics.
        unmarked: What scores are whose origin the tool does not mark.

    Raises:
        InputError: Unmarked scores without ``unmarked``; a name to rename that is not there.
    """
    scores = _settled(export.scores, where, unmarked)
    items = _renamed(export, where, rename)
    skipped = Counter(export.skipped)
    valued = list(_valued(scores, rename, skipped))
    told = [score for score in valued if score.kind == "text"]
    texts = [score for score in told if score.origin == "human"]
    skipped[MACHINE_TEXT] += len(told) - len(texts)
    graded = [score for score in valued if score.kind != "text"]
    human = _newest([score for score in graded if score.origin == "human"], skipped)
    machine = [score for score in graded if score.origin == "machine"]
    columns = _columns(human, rename)
    rows, replaced = _label_rows(items, human, texts, columns)
    skipped[REPLACED] += replaced
    counted = Counter(score.annotator for score in human)
    return ImportedScores(
        rows=tuple(rows),
        verdicts=tuple(_verdict_rows(machine, columns)),
        records=len(scores) + sum(export.skipped.values()),
        labels=len(human),
        texts=len(texts) - replaced,
        skipped=dict(sorted((+skipped).items())),
        annotators=dict(sorted(counted.items())),
        columns=columns,
        notes=(*export.notes, *_notes(items, human, machine, columns)),
    )


def _settled(scores: Sequence[Score], where: str, unmarked: As | None) -> list[Score]:
    """The scores, each of a person or of a machine."""
    open_ = Counter((score.name, score.marked) for score in scores if score.origin == "unmarked")
    if open_ and unmarked is None:
        shown = "; ".join(f"{count} of {name} ({marked})" for (name, marked), count in open_.most_common(5))
        raise InputError(
            [
                (
                    f"{where}: {sum(open_.values())} of {len(scores)} scores do not say whether a person or a machine "
                    f"gave them: {shown}; only scores of people become labels. Say --as labels where people gave them, "
                    "else --as verdicts."
                )
            ]
        )
    return [
        score if score.origin != "unmarked" else replace(score, origin="human" if unmarked == "labels" else "machine")
        for score in scores
    ]


def _valued(scores: Sequence[Score], rename: Mapping[str, str], skipped: Counter[str]) -> Iterable[Score]:
    """The scores that say something: a comment without a grade is a text, and so is what --map calls a rationale."""
    for score in scores:
        told = score.kind == "text"
        if rename.get(score.name) == RATIONALE and not is_missing(score.value):
            yield replace(score, name=RATIONALE, kind="text")
        elif not is_missing(score.value) and (told or as_grade(score.value) is not None):
            yield score
        elif score.origin == "machine":
            skipped[NO_SCORE] += 1
        elif score.comment:
            yield replace(score, kind="text", value=score.comment, comment="")
        else:
            skipped[VALUELESS] += 1


def _renamed(export: ScoreExport, where: str, rename: Mapping[str, str]) -> dict[str, Row]:
    """The items with the user's names of fields, read as what they are now."""
    fields = list(dict.fromkeys(name for item in export.items.values() for name in item))
    metrics = list(dict.fromkeys(score.name for score in export.scores))
    known = {*fields, *metrics, *(theirs for theirs, ours in rename.items() if ours in ABOUT)}
    if missing := [name for name in rename if name not in known]:
        raise InputError(
            [
                (
                    f"{where}: no field {listed(missing)}; there are {some(fields)}, and scores {listed(metrics)}. "
                    "Correct --map."
                )
            ]
        )
    read = {"query": question_in, "answer": answer_in, "contexts": documents_in}
    found = {}
    for item_id, item in export.items.items():
        mapped = {ours: item[theirs] for theirs, ours in rename.items() if theirs in item}
        kept = {_field(name): cell for name, cell in item.items() if name not in rename}
        found[item_id] = {**kept, **{ours: read[ours](cell) if ours in read else cell for ours, cell in mapped.items()}}
    for score in export.scores:
        found.setdefault(score.item, {})
    return found


def _field(name: str) -> str:
    """The column of a tool's field: never one of ours for labels, so that no field of a task becomes a label."""
    return f"data.{name}" if is_label_column(name) or name in ABOUT else name


def _newest(scores: Sequence[Score], skipped: Counter[str]) -> list[Score]:
    """One score an item, metric and person: the newest; who is not named is somebody else each time."""
    kept: dict[tuple[str, str, str], Score] = {}
    unnamed: Counter[tuple[str, str]] = Counter()
    for score in sorted(scores, key=lambda one: _moment(one.time)):
        who = score.annotator
        if not who:
            unnamed[score.item, score.name] += 1
            number = unnamed[score.item, score.name]
            who = UNKNOWN if number == 1 else f"{UNKNOWN}-{number}"
        skipped[REPLACED] += (score.item, score.name, who) in kept
        kept[score.item, score.name, who] = replace(score, annotator=who)
    order = {score.item: at for at, score in reversed(list(enumerate(scores)))}
    return sorted(kept.values(), key=lambda one: order[one.item])


def _moment(time: str) -> tuple[float, str]:
    """A time to sort by, whatever its zone and digits; one that cannot be read is before all others."""
    try:
        at = datetime.fromisoformat(time)
    except ValueError:
        return (float(time) if NUMBER.fullmatch(time) else -math.inf, time)
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp(), time)


def _columns(human: Sequence[Score], rename: Mapping[str, str]) -> dict[str, str]:
    """The label column of each metric: ``grade`` or ``preference`` of a single one, ``grade.<metric>`` of several."""
    kinds = {score.name: score.kind for score in human}
    alone = len(kinds) == 1
    return {
        name: rename[name]
        if is_label_column(rename.get(name, ""))
        else str(kind)
        if alone or kind == "preference"
        else ASPECT_PREFIX + name
        for name, kind in kinds.items()
    }


def _label_rows(
    items: Mapping[str, Row], human: Sequence[Score], texts: Sequence[Score], columns: Mapping[str, str]
) -> tuple[list[Row], int]:
    """The rows, and how many texts a later one of the same person and name replaced."""
    of: dict[str, dict[str, list[Score]]] = {}
    for score in human:
        of.setdefault(score.item, {}).setdefault(score.annotator, []).append(score)
    for text in texts:
        own = of.setdefault(text.item, {})
        own.setdefault(text.annotator or next(iter(own), UNKNOWN), []).append(text)
    fields = {name for item in items.values() for name in item}
    words = {name for name in columns if all(_is_word(score.value) for score in human if score.name == name)}
    binary = words if len(columns) > 1 else set()
    rows: list[Row] = []
    replaced = 0
    for item_id, item in items.items():
        shown = {"item_id": item_id, **{name: item[name] for name in INPUTS if name in item}}
        rest = {name: cell for name, cell in item.items() if name not in shown}
        for annotator, given in of.get(item_id, {"": []}).items():
            said = [score for score in given if score.kind != "text"]
            row: Row = dict(shown) | ({"annotator": annotator} if annotator else {})
            row |= {columns[one.name]: _number(one.value) if one.name in binary else one.value for one in said}
            for text in sorted((one for one in given if one.kind == "text"), key=lambda one: _moment(one.time)):
                column = _text_column(text.name, fields)
                replaced += column in row
                row[column] = text.value
            comments = [f"{one.name}: {one.comment}" * (len(columns) > 1) or one.comment for one in said if one.comment]
            if comments:
                row[RATIONALE] = "\n".join([*([as_text(row[RATIONALE])] if RATIONALE in row else []), *comments])
            if times := [one.time for one in given if one.time]:
                row["created_at"] = max(times)
            more = {_about(one, columns, name): cell for one in given for name, cell in one.more.items()}
            rows.append({**row, **{k: v for k, v in (rest | more).items() if k not in row}})
    return rows, replaced


def _about(score: Score, columns: Mapping[str, str], name: str) -> str:
    own = f"{score.name if len(columns) > 1 or score.kind == 'text' else 'score'}.{name}"
    return f"score.{own}" if is_label_column(own) else own


def _text_column(name: str, fields: Collection[str]) -> str:
    """The column of a person's text: none that holds anything else."""
    if name == RATIONALE:
        return name
    return f"text.{name}" if name in {*FIRST, *ABOUT, *fields} or is_label_column(name) else name


def _is_word(value: object) -> bool:
    grade = as_grade(value)
    return grade is not None and is_accept_word(grade)


def _number(value: object) -> int:
    """Of several metrics, which share one scale, yes and no are 1 and 0."""
    return int(bool(as_accept(str(as_grade(value)))))


def _verdict_rows(machine: Sequence[Score], columns: Mapping[str, str]) -> Iterable[Row]:
    """One row a verdict; several of one judge on one item are told apart by ``run``."""
    names: dict[str, set[str]] = {}
    for score in machine:
        names.setdefault(score.judge, set()).add(score.name)
    runs: Counter[tuple[str, str, str]] = Counter()
    several = len(columns) > 1
    for score in machine:
        shared = several and score.name in columns
        judge = score.judge or (UNNAMED if several else score.name)
        if score.judge and len(names[score.judge]) > 1 and not shared:
            judge = f"{score.judge}/{score.name}"
        aspect = score.name if several else ""
        runs[score.item, judge, aspect] += 1
        value = _number(score.value) if several and _is_word(score.value) else score.value
        yield {
            "item_id": score.item,
            "judge": judge,
            ("preference" if score.kind == "preference" else "grade"): value,
            **({"aspect": aspect} if aspect else {}),
            "run": runs[score.item, judge, aspect],
            **({"reply": score.comment} if score.comment else {}),
            **({"created_at": score.time} if score.time else {}),
            **{f"score.{name}": cell for name, cell in score.more.items() if not is_missing(cell)},
        }


def _notes(
    items: Mapping[str, Row], human: Sequence[Score], machine: Sequence[Score], columns: Mapping[str, str]
) -> Iterable[str]:
    scored = {score.item for score in (*human, *machine)}
    for name, cannot in (("query", "question"), ("answer", "answer")):
        bare = [item for item in items if is_missing(items[item].get(name))]
        if bare and not any("preference" in column for column in columns.values()):
            fields = dict.fromkeys(field for item in bare for field in items[item] if field not in INPUTS)
            there = f"its fields are {some(fields)}; name one with --map FIELD={name}" if fields else _elsewhere(name)
            yield f"no {cannot} in {len(bare)} of {plural(len(items), 'item')}: {there}."
    unnamed = sum(score.annotator.startswith(UNKNOWN) for score in human)
    if unnamed:
        said = plural(unnamed, "label names", "labels name")
        yield f"{said} no annotator: by {UNKNOWN}, a second one of an item by {UNKNOWN}-2."
    for name, column in columns.items():
        if column != ASPECT_PREFIX + name:
            yield f"Column {column} is the tool's {name}."
    if unlabelled := len(items) - len({score.item for score in human}):
        lacking = plural(unlabelled, "item has", "items have")
        yield f"{lacking} no label of a person; a machine's: {unlabelled - len(set(items) - scored)}."


def _elsewhere(name: str) -> str:
    return f"the export has scores alone; put the file with the traces beside it and name the folder to get {name}"
