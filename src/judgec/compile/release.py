"""Saves what a compile found, of any kind: decided as the family stands, written whole, its test use counted last."""

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version as installed
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeVar

from judgec import __version__
from judgec.compile.family_state import FamilyState
from judgec.compile.promote import Decision
from judgec.errors import UserError
from judgec.labels.split.family import (
    Family,
    locked_family,
    locked_home,
    read_family,
    write_family,
    write_whole,
    writing_whole,
)
from judgec.labels.split.memory import kind_of
from judgec.lm.usage import Spent
from judgec.raters import programs
from judgec.raters.programs import Program
from judgec.records.card import Cost, ProgramCard
from judgec.report.items import FILE, Browsed, item_lines

PACKAGES = ("dspy", "mlflow", "numpy", "scikit-learn")
C = TypeVar("C")
NOUNS = {"judge": "a judge", "agent": "an agent", "queries": "a query generator"}  # by kind


@dataclass(frozen=True, slots=True)
class Place:
    """The place where a program is saved.

    Args:
        home: Folder of ``programs/``.
        name: The family.
        kind: As ``kind_of`` says.
    """

    home: Path
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Saved(Generic[C]):
    """A version on disk, as it was decided in the end.

    Args:
        card: As saved.
        report: What ``--json`` prints, but for the MLflow run.
        compiled: The outcome.
        items: Of its page: ``BrowsedItem`` of judges, ``BrowsedCase`` of others.
    """

    card: ProgramCard
    report: dict[str, object]
    compiled: C
    items: Sequence[Any] = ()  # Any: as above


@dataclass(frozen=True)
class Finished(Generic[C]):
    """A compile of any kind that is not on disk yet, whatever it compiled.

    Args:
        place: Where it is saved.
        card: Of the version, without its number.
        tree: What runs again: ``tree.json``.
        compiled: What was decided, for Python.
        split: ``split.json``, by the family's salt.
        report: ``report.json``, which ``--json`` prints.
        standing: The family as it was when this was decided.
        stands: Reads it from disk.
        decided: Decides again, as the family stands by then.
        page: ``report.html`` of the card as saved, from the report; None without one.
        browsed: The items of that page.
        kept: What ``report.json`` has besides.
        earlier: The version that this very compile wrote before it was killed, or None.
    """

    place: Place
    card: ProgramCard
    tree: dict[str, object]
    compiled: C
    split: Callable[[str], dict[str, object]]
    report: Mapping[str, object]
    standing: FamilyState
    stands: Callable[[], FamilyState]
    decided: Callable[[FamilyState], "Finished[C]"]
    page: Callable[[ProgramCard], str | None]
    browsed: Sequence[Browsed] = ()
    kept: Mapping[str, object] = field(default_factory=dict)
    earlier: ProgramCard | None = None

    def program(self, family: Family) -> Program:
        """The program that is written."""
        split = self.split(family.salt)
        return Program(card=self.card, tree=self.tree, split=split, report={**self.report, **self.kept})

    def saved_as(self, card: ProgramCard) -> Saved[C]:
        """It with the card that it has on disk."""
        report = {"program": card.name, "version": card.version, **self.report}
        return Saved(card, report, self.compiled, self.browsed)


def release(made: Finished[C], track: Callable[[Saved[C]], None] | None = None) -> Saved[C]:
    """Write the version, point the aliases, track it and count the test use; all or nothing of each.

    The test use is written last: where a version has none, a process was killed before it, and the rest is done.
    One compile of a home at a time: where another one was saved since this one was decided, it is decided again, one
    test use later and against the champion that there is now.

    Args:
        made: The finished compile.
        track: Logs the saved version elsewhere. It is called while nobody else can save one, so that what it calls
            champion is the champion, and before the test use is written: a killed compile is logged by its rerun.

    Raises:
        UserError: When the family holds programs of another kind.
        ArtifactError: When its files are damaged or cannot be written.
    """
    # Test uses are counted over all names: two families must not both be told that theirs is the first.
    home, name = made.place.home, made.place.name
    with locked_home(home), locked_family(home, name):
        check_place(made.place)
        family = read_family(home, name)
        counted = {use.version for use in family.looks}
        earlier = made.earlier
        if earlier is not None and f"{earlier.version:04d}" in counted:
            earlier = None  # nobody was killed: another process was about to finish it
        if earlier is None:
            standing = made.stands()
            if made.earlier is not None or standing != made.standing:
                made = made.decided(standing)
        card = programs.save(home, made.program(family)) if earlier is None else earlier
        path = programs.page_path(home, card)
        if earlier is None or not path.exists():
            page = made.page(card)
            if page is not None:
                _write_items(path, item_lines(made.browsed))
                write_whole(path, page)
        if card.version == max(programs.versions(home, name)):  # a later one has been decided since
            programs.set_aliases(home, name, {alias_of(card): card.version})
        saved = made.saved_as(card)
        if track is not None:
            track(saved)
        write_family(home, family.used(f"{card.version:04d}", card.split_digest))
        return saved


def _write_items(page: Path, lines: Iterable[str]) -> None:
    """Every item of a page, beside it; no file where the page shows none."""
    first = next(iterator := iter(lines), None)
    if first is not None:
        with writing_whole(page.with_name(FILE)) as file:
            file.writelines(line.encode() for line in chain([first], iterator))


def check_place(place: Place) -> None:
    """Refuse a place before anything is done for it: a family holds judges, agents or query generators.

    Raises:
        UserError: When its name cannot be a folder's, or its versions are of another kind.
    """
    if not programs.NAME.fullmatch(place.name):
        raise UserError(
            f"--name {place.name!r}: not a folder name; letters, digits, '-', '_', '.' are valid. Choose another."
        )
    versions = programs.versions(place.home, place.name)
    if versions:
        held = kind_of(programs.load(place.home, f"{place.name}@{versions[-1]}").card.task)
        if held != place.kind:
            raise UserError(
                f"--name {place.name}: that is {NOUNS[held]}; {NOUNS[place.kind]} needs a name of its own. Give --name."
            )


def card_facts(decision: Decision, standing: FamilyState, cost: Cost, created: str) -> dict[str, Any]:
    """What the cards of all compiles say: how it was decided, what it cost, when and with what it was made."""
    return {
        "versions": {"python": platform.python_version(), "judgec": __version__}
        | {name: installed(name) for name in PACKAGES},
        "cost": cost,
        "created": created,
        "parent": standing.champion,
        "looks": decision.test_use,
        "promoted": decision.promoted,
        "reason": decision.reason,
    }


def cost_of(spent: Spent, seconds: float) -> Cost:
    """Cost of a compile, for its card."""
    return Cost(lm_calls=spent.calls, usd=spent.cost_usd, seconds=round(seconds, 2))


def alias_of(card: ProgramCard) -> str:
    """``champion`` when it was promoted, else ``challenger``."""
    return programs.CHAMPION if card.promoted else "challenger"
