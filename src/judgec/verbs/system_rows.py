"""Reads a table of what systems answered, judges' verdicts on it, and people's labels of a part, as rows to compare."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from judgec.errors import UserError
from judgec.labels.experts import constant_notes
from judgec.labels.project import columns_in
from judgec.labels.reading import Datasheet, read_datasheet
from judgec.labels.rows.conversations import columns_with
from judgec.lm.watch import Watch
from judgec.records.consensus import people_mean
from judgec.records.counts import plural
from judgec.records.game import SCORE_OF_A
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import FloatArray, Item, LabelSet
from judgec.records.scale import ACCEPT_SCALE
from judgec.records.tasks.registry import compares
from judgec.records.tasks.spec import PAIR_AGENTS, PAIR_GRADES
from judgec.stats.systems.compare import SystemComparison, compare_judges
from judgec.stats.systems.rows import PairRows, SystemRows
from judgec.table.rows.cells import as_grade, as_id, as_text
from judgec.table.rows.columns import JUDGED_BY, LEARNED, STRATUM, UNCERTAIN, listed, shortly
from judgec.table.table import IN_MEMORY
from judgec.verbs.frames import as_table, is_path
from judgec.verbs.measured import JudgedLabels, on_new_items, read_judged
from judgec.verbs.options.agreement import AgreementOptions
from judgec.verbs.options.judge import JudgeFileOptions
from judgec.verbs.options.option import carried_over
from judgec.verbs.options.systems import SystemsOptions

LEAST_SYSTEMS = 2
POINTS = [SCORE_OF_A[grade] for grade in PAIR_GRADES]  # of the first of two
ASKED = {"query", "query_id", "item_id"}  # columns of which one says which rows belong together


@dataclass(frozen=True)
class JudgedSystems:
    """A table of several systems.

    Args:
        source: The file, or ``DataFrame``.
        labels: What people said.
        rows: The answers, or the pairs of them, with the verdicts of each judge, by its name.
        items: What each row is, in their order.
        answered: The system, or the two, of each.
        people: Who labelled.
        notes: What reading the verdicts assumed, left out or counted.
        reading: How the labels were read.
    """

    source: str
    labels: LabelSet
    rows: Mapping[str, SystemRows | PairRows]
    items: tuple[Item, ...]
    answered: tuple[tuple[str, ...], ...]
    people: tuple[str, ...]
    notes: tuple[str, ...]
    reading: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The systems."""
        return next(iter(self.rows.values())).names

    @property
    def unlabelled(self) -> list[tuple[Item, tuple[str, ...]]]:
        """Items that nobody labelled, with their systems."""
        graded = ~np.isnan(next(iter(self.rows.values())).expert)
        every = zip(self.items, self.answered, graded.tolist(), strict=True)
        return [(item, of) for item, of, known in every if not known]

    def compared(self) -> SystemComparison:
        """The systems, by the judge that needs fewest labels."""
        return compare_judges(self.rows)


def read_systems(options: SystemsOptions, watch: Watch) -> JudgedSystems:
    """Read the table; where a saved judge is named it judges it first, into a file beside it.

    Raises:
        UserError: Nobody says who is a judge, or which column the system; fewer than two systems; a judge in other
            units than people's grades; classes without an order.
        InputError: Faults of the table.
    """
    if options.judge is not None:
        options = replace(options, file=_judged(options, watch))
    where = str(options.file) if is_path(options.file) else IN_MEMORY
    if not ASKED & {*columns_with(options.columns.get(name, name) for name in _columns(options))}:
        raise UserError(
            f"{where}: no column says which query was answered; the columns are {shortly(_columns(options))}. Name it: "
            "--map COLUMN=query."
        )
    own = _own_judges(options)
    if not (judges := {**dict.fromkeys(own, ""), **options.judges}):
        raise UserError(
            f"{where}: nobody says who is a judge; a column with a judge's verdicts is needed. Add --judges COLUMN, or "
            "--judge NAME, a compiled judge that judges the rows first."
        )
    asked = carried_over(AgreementOptions, options, judges=judges)
    further = [name for prefix in own.values() for name in _columns(options) if name.startswith(f"{prefix}accept")]
    whole = read_judged(asked, [STRATUM, *further])
    for name, seen in whole.recorded.scores.items():
        raise UserError(
            f"{where}: the numbers of {name} run from {seen.worst:g} to {seen.best:g}; people's grades are "
            f"{listed(whole.labels.scale.grades)}. Declare its range, worst first: --judges {name}=WORST..BEST."
        )
    said = asked.reading().over(read_datasheet(where) if is_path(options.file) else Datasheet())
    return _systems(where, whole, own, accepts=whole.labels.accept_only or said.accepted_from is not None)


def _judged(options: SystemsOptions, watch: Watch) -> Path:
    """The rows with the verdicts of a saved judge, as ``judge`` writes them."""
    if not is_path(options.file):
        raise UserError(
            f"systems: judge={options.judge!r} judges a file; these rows are in memory. Pass "
            f"judgec.load_judge({options.judge!r})(rows) in their place."
        )
    from judgec.verbs.judge_file import judged  # what asks models

    made = judged(carried_over(JudgeFileOptions, options, file=str(options.file)), watch)
    made.require_some()
    return made.path


def _own_judges(options: SystemsOptions) -> dict[str, str]:
    """The judges whose verdicts ``judge`` wrote beside the rows: the column of each, and how its columns begin."""
    if options.judges and options.judge is None:
        return {}
    columns = _columns(options)
    pairs = {*PAIR_AGENTS} <= {options.columns.get(name, name) for name in columns}
    found: dict[str, str] = {}
    for prefix in (name.removesuffix(JUDGED_BY) for name in columns if name.endswith(JUDGED_BY)):
        kind = f"{prefix}{'grade' if pairs else 'score'}"
        names = [
            name for name in (kind, f"{kind}s") if any(one == name or one.startswith(f"{name}.") for one in columns)
        ]
        found |= dict.fromkeys(names[:1], prefix)
    return found


def _columns(options: SystemsOptions) -> Sequence[str]:
    return columns_in(str(options.file)) if is_path(options.file) else as_table(options.file).columns


def _systems(where: str, whole: JudgedLabels, own: Mapping[str, str], *, accepts: bool) -> JudgedSystems:
    """The rows; ``accepts`` where somebody declared what is accepted, which the usual of a scale is not."""
    labels, pairs = whole.labels, compares(whole.labels.task)
    if labels.scale.level == "nominal" and not pairs:
        raise UserError(
            f"{where}: the grades {listed(labels.scale.grades)} are classes without an order, of which there is no "
            "mean. Say which is best: --best GRADE, or --grades WORST,...,BEST."
        )
    sides = PAIR_AGENTS if pairs else ("agent",)
    answered = [tuple(item.text(name) if pairs else item.agent or "" for name in sides) for item in labels.items]
    kept = np.array([all(one) for one in answered], dtype=bool)
    names = tuple(sorted({name for one, has in zip(answered, kept, strict=True) if has for name in one}))
    if len(names) < LEAST_SYSTEMS:
        least = f"at least {LEAST_SYSTEMS} are compared"
        if names:
            raise UserError(f"{where}: one system, {names[0]}; {least}. Add the rows of another.")
        typed = " ".join(f"--map COLUMN={name}" for name in sides)
        seen = f"no column says which system answered ({listed(sides)})"
        raise UserError(f"{where}: {seen}; {least}. Name their column: {typed}.")
    rows = np.flatnonzero(kept)
    code = {name: place for place, name in enumerate(names)}
    system = np.array([[code[name] for name in answered[row]] for row in rows.tolist()], dtype=np.int64)
    query, stratum = whole.experts.cluster[rows], whole.file.cells.get(STRATUM, {})
    unsure = np.array([as_text(stratum.get(item_id, "")) == UNCERTAIN for item_id in whole.item_ids])[rows]
    chosen = unsure if unsure.any() else None
    expert, accepted = _people(whole, pairs=pairs, accepts=accepts)
    notes = constant_notes(labels, whole.experts)
    found: dict[str, SystemRows | PairRows] = {}
    for name in whole.recorded.judges:
        said, _, more = on_new_items(whole, name, needed=False)
        notes += more
        prefix = own.get(name)
        cells = {} if prefix is None else whole.file.cells.get(f"{prefix}{JUDGED_BY}", {})
        called = {as_id(cell) for cell in cells.values()}
        judge_name = called.pop() if len(called) == 1 else name  # in place of its column's
        if pairs:
            judge = said.probabilities[:, 0] @ np.array(POINTS)
            found[judge_name] = PairRows(query, system[:, 0], system[:, 1], names, judge[rows], expert[rows], chosen)
        else:
            accept = None if accepted is None else (_accepts(whole, said, prefix)[rows], accepted[rows])
            judge = said.score.mean(axis=1)
            found[judge_name] = SystemRows(
                query,
                system[:, 0],
                names,
                judge[rows],
                expert[rows],
                accept=accept,
                chosen=chosen,
                step=labels.scale.step,
                ends=labels.scale.ends,
            )
    if len(rows) < len(kept):
        notes.append(f"{plural(len(kept) - len(rows), 'row')} left out, of which no system is known")
    if len(labels.aspects) > 1:
        notes.append(f"a grade is the mean of {len(labels.aspects)} aspects: {listed(labels.aspects)}")
    reading = (*labels.notes, *whole.recorded.notes)
    items, of = tuple(labels.items[row] for row in rows.tolist()), tuple(answered[row] for row in rows.tolist())
    return JudgedSystems(where, labels, found, items, of, whole.experts.annotators, tuple(notes), reading)


def _people(whole: JudgedLabels, *, pairs: bool, accepts: bool) -> tuple[FloatArray, FloatArray | None]:
    """Means of what each item's annotators gave, over all aspects, and the share of them who accept it."""
    experts, scale = whole.experts, whole.labels.scale
    if pairs:
        return people_mean(experts.grade_by[:, :, 0], np.array(POINTS)), None
    by = experts.accept_by if whole.labels.accept_only else experts.grade_by
    accepted = people_mean(experts.accept_by, np.array(ACCEPT_SCALE.values)).mean(axis=1)
    given = people_mean(by, np.array(scale.values)).mean(axis=1)
    return given, accepted if accepts else None


def _accepts(whole: JudgedLabels, said: Judgments, prefix: str | None) -> FloatArray:
    """What a judge accepts, the mean of the aspects: as ``judge`` wrote it, else by its grades."""
    found = np.where(said.accept == UNSCORED, np.nan, said.accept).astype(np.float64)
    cells = {} if prefix is None else whole.file.cells
    learned = cells.get(f"{prefix}{LEARNED}", {})  # of whose rows stand-ins speak
    for place, aspect in enumerate(whole.labels.aspects):
        names = (f"{prefix}accept.{aspect}", f"{prefix}accepts", f"{prefix}accept")
        column = next((cells[name] for name in names if name in cells), {})
        for row, item_id in enumerate(whole.item_ids):
            cell = column.get(item_id)
            cell = cell.get(aspect) if isinstance(cell, Mapping) else cell
            if cell is not None and not np.isnan(found[row, place]) and not _is_true(learned.get(item_id)):
                found[row, place] = _is_true(cell)
    return np.asarray(found.mean(axis=1))


def _is_true(cell: object) -> bool:
    return str(as_grade(cell)).lower() in {"true", "1"}
