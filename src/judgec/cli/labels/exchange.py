"""What ``judgec labels --export`` and ``--import`` do: labels that are given in a spreadsheet or in MLflow."""

import os
from collections.abc import Sequence
from pathlib import Path

from judgec.cli.labels.labels import Request
from judgec.cli.labels.review import again, opened
from judgec.cli.output import command, judgec_here, say
from judgec.errors import UserError
from judgec.review.desk import meanings_of
from judgec.store.labels import DEFAULT_ANNOTATOR
from judgec.store.review.sheet import Given, LabelSheet
from judgec.store.review.spreadsheet import export_sheet, import_sheet
from judgec.store.rows.columns import as_names
from judgec.tasks.registry import TASKS
from judgec.tracking.review_queue import MOST_OPTIONS, MOST_USERS, Queue, ReviewQuestion, fetch_answers, send_queue
from judgec.tracking.store import TrackingStore, tracking_store
from judgec.tracking.traces import MLFLOW_PREFIX


def export(request: Request, target: str) -> dict[str, object]:
    """Write a spreadsheet for each annotator, or fill an MLflow review queue; returns what ``--json`` prints.

    Raises:
        UserError: When the target's format is not known, or the scale or the annotators do not fit in a queue.
        ServiceError: When MLflow does not work.
    """
    sheet, notes = opened(request)
    names = as_names(request.annotators)
    say(*(f"note: {note}" for note in notes))
    if target.startswith(MLFLOW_PREFIX):
        store = tracking_store(request.home, request.tracking_uri, os.environ)
        return _send(sheet, store, target.removeprefix(MLFLOW_PREFIX), names)
    path = Path(target)
    if not path.parent.is_dir():
        raise UserError(f"--export {target}: no such folder {path.parent}; create it, or name another.")
    paths = {name: path.with_name(f"{path.stem}.{_file_part(name)}{path.suffix}") for name in names}
    if len(names) < 2:
        paths = {names[0] if names else DEFAULT_ANNOTATOR: path}
    if there := [str(each) for each in paths.values() if each.exists()]:
        raise UserError(f"--export: {', '.join(there)} is there and may hold labels. Move it, or name another.")
    blank = {}
    for name, path in paths.items():
        blank[str(path)] = export_sheet(sheet, path, name)
        say(f"{path}: {len(sheet.items)} items for {name}, {blank[str(path)]} of them to grade")
    say(again(request, "--import", next(iter(blank))))
    return {"items": len(sheet.items), "blank": blank}


def bring_back(request: Request, origin: str) -> dict[str, object]:
    """Put labels from a spreadsheet or an MLflow review queue into the file; returns what ``--json`` prints.

    Raises:
        InputError: All faults of the spreadsheet; or no such experiment, or no answers in it.
    """
    sheet, notes = opened(request)
    names = as_names(request.annotators)
    if origin.startswith(MLFLOW_PREFIX):
        store = tracking_store(request.home, request.tracking_uri, os.environ)
        counts = _fetch(sheet, store, origin.removeprefix(MLFLOW_PREFIX))
    else:
        counts = import_sheet(sheet, Path(origin), names[0] if len(names) == 1 else None, among=names)
    say(
        *(f"note: {note}" for note in notes),
        *(f"{count} labels by {name}" for name, count in counts.items()),
        f"Next: {command('labels', str(sheet.path), home=request.home)}",
    )
    return {"out": str(sheet.path), "items": len(sheet.items), "imported": counts, "graded": sheet.annotators()}


def _send(sheet: LabelSheet, store: TrackingStore, experiment: str, users: Sequence[str]) -> dict[str, object]:
    form = sheet.form
    if len(form.scale.grades) > MOST_OPTIONS or len(users) > MOST_USERS:
        raise UserError(
            f"--export mlflow:{experiment}: {len(form.scale.grades)} grades, {len(users)} annotators; a review queue "
            f"takes {MOST_OPTIONS} and {MOST_USERS}. Export a spreadsheet, or use --review."
        )
    options, meanings = form.options, meanings_of(form.task, form.scale)
    rubric = "\n".join(f"{grade}: {meaning}" for grade, meaning in zip(options, meanings, strict=False))
    questions = tuple(ReviewQuestion(column, options, rubric) for column in form.columns)
    spec = TASKS[form.task]
    items = {
        item.item_id: {name: item.inputs[name] for name in spec.reading if name in item.inputs} for item in sheet.items
    }
    name = sheet.path.name
    sent = send_queue(store, Queue(experiment, name, items, questions, tuple(users), spec.graded), os.environ)
    here = judgec_here()
    say(
        f"queue {name} of experiment {experiment}: {len(items)} items, {sent} of them new",
        f"Next: {here} ui, experiment -> Review; then {here} labels FILE --import mlflow:{experiment}",
    )
    return {"items": len(items), "sent": sent, "experiment": experiment, "queue": name}


def _fetch(sheet: LabelSheet, store: TrackingStore, experiment: str) -> dict[str, int]:
    form = sheet.form
    known = {item.item_id for item in sheet.items}
    given: dict[tuple[str, str], Given] = {}
    for answer in fetch_answers(store, experiment, form.columns, os.environ):
        position = form.position(answer.value)
        if position is None:
            raise UserError(
                f"mlflow:{experiment}: {answer.annotator} answered {answer.question} of {answer.item_id} with "
                f"{answer.value!r}; {', '.join(form.options)} are valid. Correct the answer in MLflow."
            )
        if answer.item_id in known:
            earlier = given.get((answer.item_id, answer.annotator), Given({}))
            aspect = form.aspects[form.columns.index(answer.question)]
            reason = "\n".join(filter(None, (earlier.rationale, answer.rationale)))
            given[answer.item_id, answer.annotator] = Given({**earlier.grades, aspect: position}, reason)
    sheet.save_all([(item_id, name, label) for (item_id, name), label in given.items()])
    names = [name for _, name in given]
    return {name: names.count(name) for name in sorted(set(names))}


def _file_part(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)
