"""Reads what the programs of a home remember of queries: the side of the split, which were tested, and how often.

It is read from the ``split.json`` of every version under ``programs/``, so there is no second record that could
disagree with the first, and nothing to lock: a version appears whole or not at all. A version that was written before
queries had keys names its queries by ``query_id`` only. Within its own family these speak; for another name only where
they are hashes of the text, or where one of its tested items, which its report knows by digest, is among the items.
"""

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any  # a JSON object of a file; each reader validates what it takes from it

from judgec.errors import ArtifactError
from judgec.labels.rows.items import digest, item_digest
from judgec.labels.split.queries import Queries, queries_of
from judgec.records.label import Item, LabelSet
from judgec.records.scale import ACCEPT_SCALE
from judgec.records.tasks.registry import TASKS
from judgec.table import seal
from judgec.table.regular import regular

VERSION = re.compile(r"\d{4,}")
JUDGE = "judge"
OTHERS = {"agent": "score", "queries": "value"}  # tasks of programs that are no judges: what is measured of them
TESTED_BEFORE = 0.2  # share of the test queries from which a test is one more use of them, not a first one
SIDES = ("train", "dev", "test")  # what was learned from goes before what was tested

Side = str | int
"""``train``, ``dev`` or ``test``; or the number of a fold."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The measure of a compile on its test items: uses of the same test queries add up where this is the same.

    Args:
        task: Of the program: what it judges, ``agent`` or ``queries``.
        columns: The label columns, or the name of what is measured where there are none.
        labelled: Ids of the items that have a label; None where no label is needed.
    """

    task: str
    columns: frozenset[str]
    labelled: frozenset[str] | None = None


@dataclass(frozen=True)
class Version:
    """Queries that one version of a program remembers.

    Args:
        name: Its family.
        number: Its version.
        task: What it judges.
        columns: The label columns that it was measured on.
        sides: Side or fold of each query by key; empty where the version is older than keys.
        by_id: The same by query_id.
        folds: How many folds there were; 1 is the single split.
        tested: Keys of the labelled queries that it was tested on; None where the version is older than keys.
        folder: Where its files are.
    """

    name: str
    number: int
    task: str
    columns: frozenset[str]
    sides: Mapping[str, Side]
    by_id: Mapping[str, Side]
    folds: int
    tested: frozenset[str] | None
    folder: Path = field(repr=False)

    @cached_property
    def judged(self) -> frozenset[str]:
        """Digests of the items that it was tested on."""
        table = _read(self.folder / "report.json").get("judgments")
        return frozenset(table) if isinstance(table, dict) else frozenset()


@dataclass(frozen=True)
class Memory:
    """Queries that a family and the other families of its home remember, oldest version first.

    Args:
        own: The family's versions.
        others: Those of the other families.
        hard: Keys of queries that were chosen for labelling because a judge was unsure of them: never test queries.
    """

    own: tuple[Version, ...] = ()
    others: tuple[Version, ...] = ()
    hard: frozenset[str] = frozenset()

    @cached_property
    def keys(self) -> frozenset[str]:
        """All keys of queries that any version knows."""
        return self.hard.union(*(version.sides for version in (*self.own, *self.others)))

    @property
    def folds(self) -> int | None:
        """The folds of the family's newest version, which later ones keep; None before the first."""
        return self.own[-1].folds if self.own else None

    def sides(self, items: Sequence[Item], queries: Queries, folds: int = 1) -> dict[int, Side]:
        """The remembered side, or with ``folds`` the remembered fold, of each query that has one, by its number.

        The family's own split goes first, its newest version before older ones; then what other families remember.
        Where these disagree, a query that one of them learned from is learned from.
        """
        found: dict[int, Side] = {}
        for version in reversed(self.own):
            if version.folds == folds:
                for query, side in self._named(version, queries, items, own=True).items():
                    found.setdefault(query, side)
        elsewhere: dict[int, Side] = {}
        if folds == 1:
            elsewhere = {i: "train" for i, keys in enumerate(queries.keys) if not self.hard.isdisjoint(keys)}
        for version in self.others:
            if version.folds == folds:
                for query, side in self._named(version, queries, items, own=False).items():
                    elsewhere[query] = _first(side, elsewhere.get(query, side))
        return {**elsewhere, **found}

    def tests(
        self, items: Sequence[Item], queries: Queries, *, task: str, columns: Collection[str]
    ) -> Iterator[tuple[Version, frozenset[int]]]:
        """The numbers of the queries that each version of this task and label column was tested on, where any."""
        for version in (*self.own, *self.others):
            if version.task != task or version.columns.isdisjoint(columns):
                continue
            if version.tested is not None:
                tested = {i for i, keys in enumerate(queries.keys) if not version.tested.isdisjoint(keys)}
            else:
                judged = version.judged
                tested = {queries.of[i] for i, item in enumerate(items) if judged and item_digest(item) in judged}
                if version in self.own:
                    tested |= {i for i, ids in enumerate(queries.ids) if "test" in map(version.by_id.get, ids)}
            if tested or version in self.own:
                yield version, frozenset(tested)

    def _named(self, version: Version, queries: Queries, items: Sequence[Item], *, own: bool) -> dict[int, Side]:
        """Sides of these queries in one version."""
        found: dict[int, Side] = {}
        for i, keys in enumerate(queries.keys):
            for key in keys:
                if key in version.sides:
                    found[i] = _first(version.sides[key], found.get(i, version.sides[key]))
        if not own and version.tested is not None:
            return found
        same = own or any(item_digest(item) in version.judged for item in _shared(version, items))
        for item, i in zip(items, queries.of, strict=True):
            for name in (item.query_id,) if same else (text_id(item),):
                if i not in found and name in version.by_id:
                    found[i] = version.by_id[name]
        return found


def kind_of(task: str) -> str:
    """Kind of a program of this task: ``judge``, ``agent``, or ``queries``, a generator of queries."""
    return task if task in OTHERS else JUDGE


def read_memory(home: Path, name: str, kind: str = JUDGE) -> Memory:
    """Reads what the home's programs of a kind remember, for one of this name.

    Args:
        home: Folder of ``programs/``.
        name: The family.
        kind: From ``kind_of``: an agent's test queries say nothing about a judge's.

    Raises:
        ArtifactError: When a file of a version is damaged.
    """
    root = home / "programs"
    found: dict[bool, list[Version]] = {True: [], False: []}
    hard: set[str] = set()
    for family in sorted(root.iterdir()) if root.is_dir() else ():
        if not family.is_dir():
            continue
        hard |= set(_read(family / "family.json").get("hard") or ())
        for folder in sorted(family.iterdir(), key=lambda path: (len(path.name), path.name)):
            if VERSION.fullmatch(folder.name) and (folder / "split.json").is_file():
                version = _version(folder)
                if kind_of(version.task) == kind:
                    found[family.name == name].append(version)
    # What is hard to judge is not hard to answer.
    return Memory(tuple(found[True]), tuple(found[False]), frozenset(hard if kind == JUDGE else ()))


def measured_by(labels: LabelSet, source: Mapping[str, object]) -> Measured:
    """The measure of a judge of these labels: the label columns as their file calls them.

    Args:
        labels: As read.
        source: How they were read: ``rename`` has our column by theirs, ``assessment`` the name of feedback.
    """
    accepts = any(label.accept is not None for label in labels.labels)
    columns = _columns(labels.task, labels.aspects, source, accept_only=labels.accept_only, accepts=accepts)
    return Measured(labels.task, columns, frozenset(label.item_id for label in labels.labels))


def _columns(
    task: str, aspects: Sequence[str], source: Mapping[str, object], *, accept_only: bool, accepts: bool
) -> frozenset[str]:
    """Two aspects of one file that are both mapped to ``grade`` are two columns."""
    spec = TASKS.get(task)
    names = {*aspects} if spec is None else {*spec.columns(tuple(aspects))}  # None: of a plugin that is gone
    names = {"accept"} if accept_only else names | ({"accept"} if accepts else set())
    if source.get("assessment"):
        return frozenset({str(source["assessment"])})
    theirs = {str(ours): str(column) for column, ours in _table(source.get("rename")).items()}
    return frozenset(theirs.get(name, name) for name in names)


def text_id(item: Item) -> str:
    """The query_id that a row without one gets."""
    return digest(item.text("query"))[:16]


def _shared(version: Version, items: Sequence[Item]) -> list[Item]:
    return [item for item in items if item.query_id in version.by_id]


def _first(one: Side, other: Side) -> Side:
    if isinstance(one, int) or isinstance(other, int):
        return min(one, other, key=str)
    return min(one, other, key=SIDES.index)


def _version(folder: Path) -> Version:
    seal.check(folder)
    split, card = _read(folder / "split.json"), _read(folder / "card.json")
    task = str(card.get("task"))
    folds = _table(split.get("folds"))
    labels = split.get("labels")
    if isinstance(labels, dict):
        columns = frozenset(map(str, labels.get("columns", ())))
    elif task in OTHERS:
        columns = frozenset({OTHERS[task]})
    else:
        source = _table(_read(folder / "report.json").get("source"))
        accept_only = _table(card.get("scale")).get("name") == ACCEPT_SCALE.name
        columns = _columns(task, list(card.get("aspects", ())), source, accept_only=accept_only, accepts=False)
    tested = split.get("tested")
    return Version(
        name=folder.parent.name,
        number=int(folder.name),
        task=task,
        columns=columns,
        sides=_table(split.get("keys")),
        by_id=folds or _table(split.get("queries")),
        folds=int(_table(split.get("items")).get("folds", 1)),
        tested=frozenset(map(str, tested)) if isinstance(tested, list) else None,
        folder=folder,
    )


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(regular(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ArtifactError(
            f"{path}: {error}; a JSON file of a compiled judge was expected. Restore it, or compile again."
        ) from error
    return _table(content)


def earlier_uses(
    items: Sequence[Item], memory: Memory, used: Sequence[str], *, task: str, columns: frozenset[str]
) -> int:
    """Number of earlier uses of these test items.

    A version counts where it was tested on a fifth of the queries; several that were so only together count as one. A
    use by the family whose version is gone counts, since nobody can tell of what it was.

    Args:
        items: The labelled test items.
        memory: What the home remembers.
        used: The versions whose test uses the family has counted.
        task: The labels' task.
        columns: Their label columns.
    """
    queries = queries_of(items, memory.keys)
    tests = [tested for _, tested in memory.tests(items, queries, task=task, columns=columns)]
    least = max(1, math.ceil(TESTED_BEFORE * len(queries) - 1e-9))
    alone = sum(len(tested) >= least for tested in tests)
    together = len(frozenset().union(*tests)) >= least
    gone = set(used) - {f"{version.number:04d}" for version in memory.own}
    return max(alone, int(together)) + len(gone)


def uses_of(tested: AbstractSet[str], memory: Memory, *, task: str, columns: frozenset[str]) -> int:
    """Number of versions that were tested on at least a fifth of these queries, known by their keys."""
    least = max(1, math.ceil(TESTED_BEFORE * len(tested) - 1e-9))
    return sum(
        version.task == task
        and not version.columns.isdisjoint(columns)
        and version.tested is not None
        and len(version.tested & tested) >= least
        for version in (*memory.own, *memory.others)
    )
