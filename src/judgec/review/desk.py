"""Answers the review page: items without anything that could sway an expert."""

from collections.abc import Mapping, Sequence

from judgec.errors import UserError
from judgec.records.label import Task
from judgec.records.scale import Scale
from judgec.store.review.sheet import Given, LabelSheet
from judgec.tasks.registry import TASKS

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
        self._meanings = meanings_of(sheet.form.task, sheet.form.scale)

    def about(self) -> Json:
        """The form, and who there is."""
        form = self._sheet.form
        return {
            "file": self._sheet.path.name,
            "task": form.task,
            "scale": form.scale.name,
            "ordered": form.scale.level == "ordinal",
            "grades": list(form.options),
            "meanings": list(self._meanings),
            "aspects": list(form.aspects),
            "items": len(self._sheet.items),
            "annotators": list(self._annotators),
            "known": list(self._annotators or self._sheet.annotators()),
        }

    def labels(self, annotator: str) -> Json:
        """What one annotator has said, by the item's number, and how far everybody is."""
        name = self._name(annotator)
        given = self._sheet.given(name)
        return {
            "labels": {
                str(number): {"grades": dict(label.grades), "rationale": label.rationale}
                for number, item in enumerate(self._sheet.items)
                if (label := given.get(item.item_id)) is not None
            },
            "progress": self._sheet.annotators(),
        }

    def item(self, number: int) -> Json:
        """One item's texts: neither who answered, nor what anybody else said of it."""
        items = self._sheet.items
        if not 0 <= number < len(items):
            raise UserError(f"item {number}: there are {len(items)}. Load the page again.")
        item = items[number]
        names = [name for name in TASKS[self._sheet.form.task].reading if name in item.inputs]
        return {
            "number": number,
            "item_id": item.item_id,
            "texts": [{"name": name, "texts": list(item.texts(name)) or [""]} for name in names],
        }

    def save(
        self, number: int, annotator: str, grades: Mapping[str, int], rationale: str, *, item_id: str | None = None
    ) -> Json:
        """Save a label; one without a grade takes it back. Returns how far everybody is.

        Args:
            number: Of the item.
            annotator: Who says so.
            grades: Position on the scale by aspect.
            rationale: Why, or empty.
            item_id: Of the item that was shown: when others have changed the file, its number may be another's now.

        Raises:
            UserError: When the item is not there, or the label does not fit the form.
        """
        items = self._sheet.items
        if not 0 <= number < len(items):
            raise UserError(f"item {number}: there are {len(items)}. Load the page again.")
        if item_id is not None and items[number].item_id != item_id:
            raise UserError(f"item {number}: the file was changed, it is {item_id!r} no more. Load the page again.")
        self._sheet.save(items[number].item_id, self._name(annotator), Given(dict(grades), rationale))
        return {"progress": self._sheet.annotators()}

    def _name(self, annotator: str) -> str:
        name = " ".join(annotator.split())
        if not name or len(name) > LONGEST_NAME:
            raise UserError(f"name {name!r}: 1 to {LONGEST_NAME} characters are valid. Choose another.")
        if self._annotators and name not in self._annotators:
            raise UserError(f"name {name!r}: {', '.join(self._annotators)} may grade here. Choose one of these.")
        return name


def meanings_of(task: Task, scale: Scale) -> tuple[str, ...]:
    """What each grade means: the scale's own words, else those that a judge of the task is given; may be empty."""
    return TASKS[task].meanings_of(scale)
