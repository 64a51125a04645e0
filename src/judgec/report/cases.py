"""Cases of a page: one query, question or item with what several sides said of it, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from judgec.report.items import TITLE, answers_of, cut, shown_texts

MOST_SIDES = 40  # of a case on the page


@dataclass(frozen=True, slots=True)
class CaseSide:
    """One side of a case: an agent, a system or an annotator.

    Args:
        who: Its name.
        grade: What it got or gave, in words.
        texts: Fields in the order of reading; those that begin with ``answer`` are what contexts are held against.
        reason: Why, or empty.
    """

    who: str
    grade: str
    texts: Mapping[str, tuple[str, ...]]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CaseNote:
    """Something said of a case as a whole, such as a game between two of its sides."""

    who: str
    said: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class BrowsedCase:
    """A case with its sides.

    Args:
        item_id: Unique on the page.
        head: Its line, in words.
        title: Beneath: the query.
        group: Which the browser filters by, or None.
        differs: Belongs to those that the page is about: failures, disagreements, verdicts that changed.
        unscored: Why something of it has no grade, or None.
        distance: The larger, the more worth reading.
        sides: Beside each other.
        notes: Below them.
        texts: Of the case as a whole, such as the reference.
    """

    item_id: str
    head: str
    title: str
    group: str | None
    differs: bool
    unscored: str | None
    distance: float
    sides: Sequence[CaseSide]
    notes: Sequence[CaseNote] = ()
    texts: Mapping[str, tuple[str, ...]] | None = None

    def to_json(self) -> dict[str, object]:
        """Whole, as a line of the file."""
        return {**asdict(self), "texts": dict(self.texts or {})}

    def shown(self, file: str) -> dict[str, object]:
        """As embedded: texts cut, contexts in pieces of which every second one supports the side's answer.

        Of very many sides the first and the last are shown, and as many notes.
        """
        half, left_out = MOST_SIDES // 2, max(0, len(self.sides) - MOST_SIDES)
        shown = [*self.sides[:half], *self.sides[-half:]] if left_out else self.sides
        sides = [
            {
                "who": side.who,
                "grade": side.grade,
                "reason": cut(side.reason, file),
                "texts": shown_texts(side.texts, answers_of(side.texts), file),
            }
            for side in shown
        ]
        kept = self.notes[:MOST_SIDES] if left_out else self.notes
        notes = [{"who": note.who, "said": note.said, "reason": cut(note.reason, file)} for note in kept]
        texts = shown_texts(self.texts or {}, (), file)
        texts += [["left out", [[f"{left_out} more sides and their games are in {file}."]]]] if left_out else []
        made = {**self.to_json(), "sides": sides, "notes": notes, "texts": texts}
        return {**made, "title": self.title[:TITLE], "confidence": None}

    def worth(self) -> tuple[float, ...]:
        """Sort key: what the page is about first, the farthest apart first; then what has no grade."""
        return 0 if self.differs else 1 if self.unscored is not None else 2, -self.distance

    def row(self) -> list[str]:
        """Cells of the table that stands where no script runs."""
        return [self.title[:TITLE], self.head]
