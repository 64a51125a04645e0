"""Answers the review page: items without anything that could sway an expert."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from judgec.errors import UserError
from judgec.labels.review.sheet import NOTHING, Given, LabelSheet
from judgec.records.label import Task
from judgec.records.scale import Scale
from judgec.records.tasks.grade import borrowed_meanings
from judgec.records.tasks.registry import TASKS

LONGEST_NAME = 80  # characters of an annotator's name

Json = dict[str, object]


class Desk:
    """The desk at which experts grade; any number of them at once.

    Args:
        sheet: The label file.
        annotators: Who may grade; empty for anybody.
    """

    def __init__(self, sheet: LabelSheet, annotators: Sequence[str] = ()) -> None:
        self._sheet, self._annotators = sheet, tuple(annotators)

    @property
    def path(self) -> Path:
        """The label file."""
        return self._sheet.path

    def about(self) -> Json:
        """The form, and who there is."""
        form = self._sheet.form
        return {
            "file": self._sheet.path.name,
            "place": sha256(str(self._sheet.path).encode()).hexdigest()[:16],  # tells files of one name apart
            "task": form.task,
            "scale": form.scale.name,
            "ordered": form.scale.level == "ordinal",
            "grades": list(form.options),
            "meanings": {name: list(meanings_of(form.task, form.scale, name)) for name in form.aspects},
            "note": " ".join(borrowed_meanings(form.task, form.scale, "this page shows")),
            "aspects": list(form.aspects),
            "items": len(self._sheet.items),
            "annotators": list(self._annotators),
            "known": list(self._annotators or self._sheet.annotators()),
        }

    def labels(self, annotator: str) -> Json:
        """Labels of one annotator, by the item's number, and everybody's progress."""
        name = self._name(annotator)
        given = self._sheet.given(name)
        return {
            "labels": {
                str(number): _as_json(label)
                for number, item in enumerate(self._sheet.items)
                if (label := given.get(item.item_id)) is not None
            },
            "items": [item.item_id for item in self._sheet.items],
            "progress": self._sheet.annotators(),
        }

    def item(self, number: int, annotator: str = "") -> Json:
        """One item's texts, and what the annotator has said: neither who answered, nor what anybody else said of it."""
        items = self._sheet.items
        if not 0 <= number < len(items):
            raise UserError(f"item {number}: there are {len(items)}. Load the page again.")
        item, given = items[number], self._sheet.given(self._name(annotator)) if annotator else {}
        names = [name for name in TASKS[self._sheet.form.task].reading if name in item.inputs]
        return {
            "number": number,
            "item_id": item.item_id,
            "texts": [{"name": name, "texts": list(item.texts(name)) or [""]} for name in names],
            "label": _as_json(given.get(item.item_id, NOTHING)),
        }

    def save(
        self,
        number: int,
        annotator: str,
        given: Given,
        *,
        item_id: str | None = None,
        known: Sequence[Given] | None = None,
    ) -> Json:
        """Save a label; one without a grade takes it back.

        Args:
            number: Of the item.
            annotator: Who says so.
            given: What they say.
            item_id: Of the item that was shown: when others have changed the file, its number may be another's now.
            known: As ``LabelSheet.save``.

        Returns:
            How far everybody is, and ``instead``, what the file says, where it says what is not known.

        Raises:
            UserError: When the item is not there, or the label does not fit the form.
        """
        items = self._sheet.items
        if not 0 <= number < len(items):
            raise UserError(f"item {number}: there are {len(items)}. Load the page again.")
        if item_id is not None and items[number].item_id != item_id:
            raise UserError(
                f"item {number}: the file was changed, and this is no longer {item_id!r}. Load the page again."
            )
        instead = self._sheet.save(items[number].item_id, self._name(annotator), given, known=known)
        said: Json = {"progress": self._sheet.annotators()}
        return said if instead is None else said | {"instead": _as_json(instead)}

    def _name(self, annotator: str) -> str:
        name = " ".join(annotator.split())
        if not name or len(name) > LONGEST_NAME:
            raise UserError(f"name {name!r}: 1 to {LONGEST_NAME} characters are valid. Choose another.")
        if self._annotators and name not in self._annotators:
            raise UserError(f"name {name!r}: {', '.join(self._annotators)} may grade here. Choose one of these.")
        return name


def _as_json(given: Given) -> Json:
    return {"grades": dict(given.grades), "rationale": given.rationale}


def meanings_of(task: Task, scale: Scale, aspect: str) -> tuple[str, ...]:
    """Meaning of each grade of an aspect, in the words that a judge of the task is given; may be empty."""
    return TASKS[task].meanings_of(scale, aspect)
