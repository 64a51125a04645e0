"""Says whether what was measured of a judge holds of new items: they have its inputs, and it was shown to be better."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from judgec.errors import UserError
from judgec.labels.bulk.judged_file import UNPROVEN, WITHOUT
from judgec.records.card import ProgramCard
from judgec.records.conversation import DIALOGUE
from judgec.records.label import InputCounts, Item
from judgec.records.tasks.registry import TASKS
from judgec.records.trajectory import STEPS
from judgec.report.numbers import percent

MORE = 0.05  # of the items lack an input beyond the share of the labels that do: chance explains less in a few hundred
TINY = 1e-9  # 5 of 100 are no more than 5 points, whatever their difference is in binary
QUERY = "query"
OF_FILES = "Give a column {name}, or rename one with --map COLUMN={name}."
OR_WITHOUT = f"{OF_FILES} Or judge with --without {{name}}: rows are marked, without confidence."
IN_PYTHON = "Give {name}, or call judgec.judge_file with without=['{name}']: rows are marked, without confidence."


@dataclass(frozen=True, slots=True)
class Lack:
    """An input that items lack more often than the labels did.

    Args:
        items: The share of the items without it.
        labels: The share of the labels that the judge was compiled and tested on.
        known: False of a judge that was saved before that share was kept.
    """

    items: float
    labels: float
    known: bool = True


@dataclass(frozen=True, slots=True)
class Validity:
    """Validity of what was measured of a judge (agreement, error rates) for some items.

    Args:
        judge: ``NAME@VERSION``.
        lacking: What the items lack, by input.
        unproven: That the judge was not shown to be better, and why, or empty.
    """

    judge: str
    lacking: Mapping[str, Lack]
    unproven: str

    def refused(self, things: str = "items") -> str:
        """The reason why nothing that was measured of the judge may be said of the items, or empty.

        Args:
            things: What the items are called.
        """
        return "; ".join(self._said(things))

    def notes(self, things: str = "items", advice: str = OF_FILES) -> tuple[str, ...]:
        """A sentence for each input that is missing, and one where the judge was not shown to be better.

        Args:
            things: As for ``refused``.
            advice: What to do; ``{name}`` is the input.
        """
        lacks = [
            f"{said}; its measured agreement does not apply to them. {advice.format(name=name)}"
            for name, said in zip(self.lacking, self._said(things), strict=True)
        ]
        return (*lacks, *([self.unproven] if self.unproven else []))

    def _said(self, things: str) -> list[str]:
        """A clause for each input that is missing."""
        said = []
        for name, lack in self.lacking.items():
            part = "" if lack.items == 1 else f"{percent(lack.items, 1)} of "
            none = "none has it; " if lack.items == 1 else ""
            of_labels = percent(lack.labels, 1) if lack.known else "nobody kept how many"
            usual = f"{none}{of_labels} of its labels lack it"
            said.append(f"{self.judge} was compiled with {name}, which {part}these {things} lack ({usual})")
        return said

    def to_json(self) -> dict[str, dict[str, float]]:
        """``missing_inputs`` of reports; empty where nothing is missing."""
        return {name: {"items": lack.items, "labels": lack.labels} for name, lack in self.lacking.items()}


def validity_of(card: ProgramCard, items: Sequence[Item] | InputCounts, *, labelled: Sequence[Item] = ()) -> Validity:
    """Compare items with the labels that a judge was measured on.

    An input counts as missing where more of the items lack it than of the labels, by more than five points. What is
    graded does not: an answer that is not there is judged as an empty one, and a run without steps took none.

    Args:
        card: Of the judge. One from before the shares were kept counts as compiled on labels that lacked nothing.
        items: What it judges, or what they have.
        labelled: Labels of some of them that take the place of the judge's own, where they lack less.
    """
    counts, own = items if isinstance(items, InputCounts) else InputCounts.of(items), InputCounts.of(labelled)
    lacking = {}
    for name in _wanted(card):
        usual = (card.missing or {}).get(name, 0.0)
        usual = min(usual, own.missing(name)) if labelled else usual
        share = counts.missing(name)
        if share - usual > MORE + TINY:
            lacking[name] = Lack(share, usual, card.missing is not None)
    return Validity(f"{card.name}@{card.version}", lacking, why_not_promoted(card))


def _wanted(card: ProgramCard) -> list[str]:
    """The inputs that a judge was compiled with and that items may lack."""
    graded = {QUERY, DIALOGUE, STEPS, *(TASKS[card.task].graded if card.task in TASKS else ())}
    return [name for name in card.fields if name not in graded]


def require_inputs(
    cards: Sequence[ProgramCard],
    items: Sequence[Item] | InputCounts,
    things: str = "items",
    advice: str = OF_FILES,
    *,
    without: Collection[str] = (),
) -> None:
    """Stop before anything is asked where items lack an input that a judge learned with: see ``validity_of``.

    Nothing stops a judge that was saved before the share of its labels was kept, nor a single item where more than a
    few of the labels lack the input: it has no share.

    Args:
        cards: Of the judges.
        items: What they would judge, or what they have.
        things: As for ``Validity.refused``.
        advice: As for ``Validity.notes``.
        without: Inputs that may be missing.

    Raises:
        UserError: When they do.
    """
    alone = (items.items if isinstance(items, InputCounts) else len(items)) == 1
    for card in cards:
        found = validity_of(card, items)
        stops = {
            name: lack
            for name, lack in found.lacking.items()
            if name not in without and lack.known and not (alone and lack.labels > MORE)
        }
        if stops:
            raise UserError(" ".join(replace(found, lacking=stops, unproven="").notes(things, advice)))


def validity_notes(cards: Sequence[ProgramCard], inputs: InputCounts) -> list[str]:
    """``Validity.notes`` of the judges of a file, and that nobody measured several together."""
    jury = [f"UNPROVEN JUDGE: {unproven(cards)}"] if len(cards) > 1 else []
    return jury + [note for card in cards for note in validity_of(card, inputs).notes()]


def missing_inputs(cards: Sequence[ProgramCard], inputs: InputCounts) -> dict[str, dict[str, float]]:
    """``Validity.to_json`` of the judges of a file together: by input, of the judge whose labels lacked it least."""
    found: dict[str, dict[str, float]] = {}
    for card in cards:
        for name, shares in validity_of(card, inputs).to_json().items():
            found[name] = min(found.get(name, shares), shares, key=lambda one: one["labels"])
    return found


def why_not_promoted(card: ProgramCard) -> str:
    """That a judge was not shown to be better, or was never measured, in a sentence; empty of one that was."""
    if card.promoted:
        return ""
    if why := unproven([card]):
        return f"UNPROVEN JUDGE: {why}"
    reason = "this version was not shown to be better than its baselines"
    return f"{card.name}@{card.version} was not promoted: {reason if card.reason[:9] == 'not shown' else card.reason}"


def unproven(cards: Sequence[ProgramCard]) -> str | None:
    """The reason why nobody knows how far these judges agree with people, as ``evaluate --json`` says; or None."""
    if len(cards) > 1:
        return unmeasured_jury({f"{one.name}@{one.version}": one for one in cards}, "labels of its items measure it")
    return next((card.reason for card in cards if not card.version), None)


def unmeasured_jury(judges: Mapping[str, ProgramCard], otherwise: str) -> str:
    """That nobody measured these judges together, and what does: ``otherwise`` where not all of them are compiled."""
    if all(card.version for card in judges.values()):
        otherwise = f"judgec compile-judge LABELS --jury {','.join(judges)} measures and keeps it"
    return f"no label measured this jury ({', '.join(judges)}), in which each has one vote; {otherwise}"


def marks_of(cards: Sequence[ProgramCard], without: Sequence[str] = ()) -> dict[str, object]:
    """What every judged row says of its judges, and of inputs that may be missing.

    Raises:
        UserError: None of the judges learned with such an input.
    """
    known = dict.fromkeys(name for card in cards for name in _wanted(card))
    if unknown := [name for name in without if name not in known]:
        valid = f"{', '.join(known) or 'none'} {'are' if len(known) > 1 else 'is'} valid"
        raise UserError(f"--without {', '.join(unknown)}: no input that the judge learned with; {valid}. Correct it.")
    return ({UNPROVEN: True} if unproven(cards) else {}) | ({WITHOUT: ", ".join(without)} if without else {})
