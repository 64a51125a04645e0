"""Measures judges against people's labels: verdicts beside the labels, or in a file of their own."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from judgec.compile.pair_columns import flip_rate
from judgec.compile.prepare import default_objective
from judgec.compile.replacement import replaces
from judgec.errors import InputError, UserError
from judgec.labels.experts import constant_notes, experts_of
from judgec.labels.labels import LabelFile, label_file, require_two_classes
from judgec.labels.reading import Datasheet, read_datasheet
from judgec.labels.rows.raters import is_measured, left_out
from judgec.raters.recorded import OnWhat, RecordedVerdicts, check_against, read_recorded
from judgec.raters.replies import OFF_SCALE
from judgec.raters.verdicts import as_recorded
from judgec.records.agreement import Agreement
from judgec.records.alternative_annotator import AltTest
from judgec.records.counts import plural
from judgec.records.judgment import NOT_ASKED, UNSCORED, Judgments
from judgec.records.label import Experts, FloatArray, IntArray, JudgedCell, LabelSet
from judgec.records.mode_agreement import ModesAgreement
from judgec.records.ratings import GradePairs, pair
from judgec.records.tasks.registry import finds_modes
from judgec.report.numbers import show
from judgec.stats.agreement.ceiling import ceiling
from judgec.stats.agreement.cut_off import CutOff, best_cut_off
from judgec.stats.agreement.measure import measure, with_aspects
from judgec.stats.agreement.modes import measure_modes
from judgec.stats.agreement.systems import SystemAgreement, systems_of
from judgec.table.rows.cells import as_grade, as_id, as_number
from judgec.table.rows.columns import JUDGED_BY, LEARNED, listed
from judgec.table.table import IN_MEMORY
from judgec.trust.stand_ins import stand_ins
from judgec.verbs.frames import as_table, is_path, table_source
from judgec.verbs.options.agreement import AgreementOptions
from judgec.verbs.recorded import NAMES, label_columns_of
from judgec.verbs.typed import command, labels_typed

JUDGED_COLUMN = re.compile(r"(.*?)(stated_confidence|grade|score|accept|confidence)(\..*)?")  # of ``judgec judge``
CLUSTER, GROUP, SCORE, CONFIDENCE = "--cluster", "--group", "--score", "--confidence"
NEGATIVE = -0.1  # a rank correlation from here on down is no accident worth passing over
UNREAD_SCORE = "recorded score that cannot be read"  # of a judge that has no grades, none is off the scale
ORDER_ALONE = (
    "{judge}: its numbers, {range}, are off the scale of the labels: only their order counts; --judges "
    '"{judge}=WORST..BEST" declares their range and makes grades of them'
)


@dataclass(frozen=True, slots=True)
class Learned:
    """Items that a judge has learned from.

    Args:
        rows: How many of those with a label.
        kept: They are measured too.
        out_of_fold: For how many its judgments from before it learned from them are measured.
    """

    rows: int
    kept: bool
    out_of_fold: int = 0

    def to_json(self) -> dict[str, object]:
        """The ``learned`` of a judge's report."""
        return {"rows": self.rows, "kept": self.kept, "out_of_fold": self.out_of_fold}


@dataclass(frozen=True, slots=True)
class Drawn:
    """The grades of a judge and of people on the items that it was asked about, for drawings.

    Args:
        ratings: The judge beside the consensus.
        people: Grade positions of each expert on these rows.
        confidence: That the judge states, 0-1, NaN where none is known.
    """

    ratings: GradePairs
    people: Mapping[str, IntArray]
    confidence: FloatArray


@dataclass(frozen=True, slots=True)
class MeasuredJudge:
    """A judge beside people's labels, on the items that it was asked about.

    Args:
        agreement: Every statistic.
        notes: What is to be said of it alone.
        alt_test: Whether it may replace an annotator; None where a single one labelled.
        ceiling: Of several experts each beside the consensus of the others.
        beside: The judge beside the same consensuses.
        modes: How well it finds each failure mode; None where the labels are of none.
        cut_off: Of a judge whose numbers are a score, the cut-off that fits accept and reject best.
        systems: How it ranks whoever answered; None where nobody names them.
        groups: Its agreement on the items of each group.
        learned: The items that it has learned from; None where no column says so.
        drawn: For drawings; None where its grades have no order.
    """

    agreement: Agreement
    notes: tuple[str, ...] = ()
    alt_test: AltTest | None = None
    ceiling: Agreement | None = None
    beside: Agreement | None = None
    modes: ModesAgreement | None = None
    cut_off: CutOff | None = None
    systems: SystemAgreement | None = None
    groups: Mapping[str, Agreement] = field(default_factory=dict)
    learned: Learned | None = None
    drawn: Drawn | None = None


@dataclass(frozen=True, slots=True)
class MeasuredJudges:
    """Judges beside people's labels.

    Args:
        judges: By name.
        headline: The statistic that such labels are compared by.
        people: Who labelled.
        reading: How the labels were read.
        notes: What reading the verdicts assumed, left out or counted.
    """

    judges: Mapping[str, MeasuredJudge]
    headline: str
    people: tuple[str, ...]
    reading: tuple[str, ...]
    notes: tuple[str, ...]


def measured_judges(options: AgreementOptions) -> MeasuredJudges:
    """Measure each judge that is named; of a file of verdicts, all where nobody names any.

    Raises:
        UserError: No such judge, a grader named both, or options that do not go together.
        InputError: Faults of the labels or verdicts.
    """
    whole = read_judged(options)
    source = options.file if options.labels is None else options.labels
    require_two_classes(whole.labels, str(source) if is_path(source) else IN_MEMORY)
    labels, experts, recorded = whole.labels, whole.experts, whole.recorded
    found = {name: _measured(whole, name) for name in recorded.judges}
    headline = default_objective(labels)
    if headline == "tau_b" and {*recorded.scores, *recorded.ranges}:
        headline = "tau_b_score"  # numbers, as they are: on the scale they would be rounded, and tie
    said = labels.notes if options.labels is None else left_out(labels.notes)
    return MeasuredJudges(
        found,
        headline,
        experts.annotators,
        (*said, *whole.clustered),
        (*constant_notes(labels, experts), *recorded.notes, *_failed(whole)),
    )


def read_judged(options: AgreementOptions, further: Collection[str] = ()) -> "JudgedLabels":
    """Read people's labels, and what judges said of the same items.

    Args:
        options: What is read.
        further: Columns whose cells are wanted, too, where they are there.

    Raises:
        UserError, InputError: As ``measured_judges``.
    """
    labels = _labels(options, further=further)
    beside = options.labels is None
    recorded = _beside(options, labels) if beside else _in_file(options, labels)
    if not beside:
        names = {label.annotator for label in labels.labels.labels}
        if judges := [name for name in recorded.judges if any(is_measured(one, [name]) for one in names)]:
            labels = _labels(options, judges)
            recorded = _in_file(options, labels)
    experts, clustered = _clustered(options, labels, experts_of(labels.labels, consensus=options.consensus))
    return JudgedLabels(options, labels, experts, recorded, clustered)


def _labels(options: AgreementOptions, judges: Sequence[str] = (), further: Collection[str] = ()) -> LabelFile:
    """People's labels, with what stands beside them; none of them by these judges.

    Raises:
        UserError: An option of verdicts beside labels, where they are in a file of their own; no judge is named.
    """
    if options.labels is not None:
        for option, value in ((SCORE, options.score), ("--all", options.all), (CONFIDENCE, options.confidence)):
            if value:
                raise UserError(
                    f"{option}: is of verdicts beside labels; with --labels FILE they are in a file of their own. Drop "
                    "one of them."
                )
    elif not options.judges:
        where, typed = IN_MEMORY, "judges=[...]; judgec.read_labels says how far people agree without one"
        if is_path(options.file):
            where = str(options.file)
            people = command("labels", where, *labels_typed(options, where), home=options.home)
            typed = f"--judges A,B, or --labels FILE beside a file of verdicts. How far people agree: {people}"
        raise UserError(
            f"{where}: nobody says who is a judge; columns with a judge's verdicts, or names in the column annotator, "
            f"are needed. Add {typed}."
        )
    source = options.file if options.labels is None else options.labels
    own = {} if options.labels is not None else dict(options.judges)
    where = str(source) if is_path(source) else IN_MEMORY
    reading = options.reading()
    if options.labels is not None:
        columns = label_columns_of(options.columns, options.labels, options.file, options.missing)
        reading = reading.model_copy(update={"columns": columns})
    known = dict.fromkeys((*own, *judges, *([options.score] if options.score else [])), "")
    table = as_table(source, options.missing)
    kept = {option: options.columns.get(name, name) for option, name in _kept(options).items()}
    found = label_file(
        table,
        read_datasheet(where) if is_path(source) else Datasheet(),
        reading.model_copy(update={"judges": known | own}),
        texts=False,
        kept=(*kept.values(), *(name for one in own for name in _beside_judge(one)), *further),
    )
    for option, name in kept.items():
        if name not in found.cells:
            raise UserError(
                f"{where}: {option} {name}: no such column; there are {listed(table.columns)}. Name one of these."
            )
    return found


def _kept(options: AgreementOptions) -> dict[str, str]:
    """The columns that options name, by option."""
    named = {CLUSTER: options.cluster, GROUP: options.group, CONFIDENCE: options.confidence}
    return {option: name for option, name in named.items() if name is not None}


def _beside_judge(judge: str) -> list[str]:
    """The columns that ``judgec judge`` writes beside a judge's verdicts, and those of a stated confidence."""
    written = JUDGED_COLUMN.fullmatch(judge)
    prefix, aspect = (written[1], written[3] or "") if written else ("", "")
    stated = [f"{prefix}stated_confidence{aspect}"] if written else []
    return [f"{prefix}{LEARNED}", f"{prefix}{JUDGED_BY}", *stated, f"{judge}_confidence", f"{judge} confidence"]


def _beside(options: AgreementOptions, labels: LabelFile) -> RecordedVerdicts:
    """What the judges said in the table of the labels.

    Raises:
        UserError: One of them is not there.
    """
    where = str(options.file) if is_path(options.file) else IN_MEMORY
    judged = {name: own for name in options.judges if (own := labels.labels.judged.get(name))}
    if lacks := [name for name in options.judges if name not in judged]:
        people = listed(sorted({label.annotator for label in labels.labels.labels}))
        raise UserError(
            f"{where}: --judges {listed(lacks)}: no such column, and no annotator of that name; the annotators are "
            f"{people}. Name a column, or a name in the column annotator."
        )
    about = _about(options, labels)
    table = as_recorded(where, judged, about.task, failed=True)
    return read_recorded(table, about, None, "scores")


def _in_file(options: AgreementOptions, labels: LabelFile) -> RecordedVerdicts:
    """What the judges said in a file of their own."""
    source = table_source(options.file, NAMES, options.missing)
    found = read_recorded(source, _about(options, labels), tuple(options.judges) or None, "scores")
    return check_against(found, labels.labels)


def _about(options: AgreementOptions, labels: LabelFile) -> OnWhat:
    reading = options.reading()
    return OnWhat.of(
        labels.labels, reading if options.labels is not None else reading.model_copy(update={"columns": {}})
    )


def _clustered(options: AgreementOptions, labels: LabelFile, experts: Experts) -> tuple[Experts, tuple[str, ...]]:
    """The experts clustered by the column that is named, else by the query; a note where that joins items."""
    items = labels.labels.items
    if options.cluster is None:
        n = len({item.query_id for item in items})
        note = f"intervals are clustered by query: {n} in {plural(len(items), 'item')}; --cluster COLUMN clusters by "
        return experts, ((f"{note}another column",) if n < len(items) else ())
    cells = labels.cells[options.columns.get(options.cluster, options.cluster)]
    codes: dict[object, int] = {}
    keys = [as_id(cells[one.item_id]) if one.item_id in cells else (one.item_id,) for one in items]
    code = np.array([codes.setdefault(key, len(codes)) for key in keys], dtype=np.int64)
    alone = sum(isinstance(key, tuple) for key in keys)
    note = f"{plural(alone, 'item has', 'items have')} no {options.cluster}: each stands alone"
    return replace(experts, cluster=code), ((note,) if alone else ())


@dataclass(frozen=True, slots=True)
class JudgedLabels:
    """Everything that the judges are measured with.

    Args:
        options: How it was read.
        file: The labels, and cells of further columns.
        experts: The labels as arrays.
        recorded: What the judges said.
        clustered: A note on the column that groups items.
    """

    options: AgreementOptions
    file: LabelFile
    experts: Experts
    recorded: RecordedVerdicts
    clustered: tuple[str, ...]

    @property
    def labels(self) -> LabelSet:
        """The labels."""
        return self.file.labels

    @property
    def item_ids(self) -> list[str]:
        """The items, in the order of the experts."""
        return [item.item_id for item in self.labels.items]

    def pairs(self, experts: Experts, said: Judgments, aspect: int | None = None) -> GradePairs:
        """A judge beside the experts on the same items."""
        return pair(experts, said, self.labels.scale, accept_only=self.labels.accept_only, aspect=aspect)

    def agreement(self, experts: Experts, said: Judgments, no_grades: str) -> Agreement:
        """Every statistic, and of each aspect its own."""
        labels, nominal = self.labels, self.labels.scale.level == "nominal"
        found = measure(self.pairs(experts, said), nominal=nominal, no_grades=no_grades)
        parts = {name: self.pairs(experts, said, j) for j, name in enumerate(labels.aspects)}
        return with_aspects(found, parts, nominal=nominal, no_grades=no_grades)


def _measured(whole: JudgedLabels, name: str) -> MeasuredJudge:
    options, labels, experts = whole.options, whole.labels, whole.experts
    said, learned, notes = on_new_items(whole, name)
    own = whole.recorded.scores.get(name)
    no_grades = "" if own is None else f"its numbers, {own}, are off the scale of the labels"
    if own is not None:
        notes.append(ORDER_ALONE.format(judge=name, range=own))
    own = own or whole.recorded.ranges.get(name)
    if options.score is not None:
        said = _scored(whole, said, options.score)
    asked = np.flatnonzero(said.asked).tolist()
    people, judged = experts.rows(asked), said.subset(asked)
    pairs = whole.pairs(people, judged)
    agreement = whole.agreement(people, judged, no_grades)
    if said.flipped is not None:
        flips = flip_rate(said, experts.cluster)
        agreement = replace(agreement, estimates={**agreement.estimates, "flip_rate": flips})
    among = ceiling(
        people,
        labels.scale,
        labels.aspects,
        accept_only=labels.accept_only,
        judgments=judged,
        no_grades=no_grades,
    )
    nominal, modes = labels.scale.level == "nominal", finds_modes(labels.task)
    turned = _turned(name, agreement)
    cut = None if own is None or turned else best_cut_off(pairs)  # else it lies on the wrong side
    if cut is not None and own is not None:  # in its own numbers
        low, high = labels.scale.values[0], labels.scale.values[-1]
        at = own.worst + (cut.at - low) / (high - low) * (own.best - own.worst)
        cut = replace(cut, at=at, below=own.best < own.worst)
    by_mode = {mode: whole.pairs(people, judged, j) for j, mode in enumerate(labels.aspects)} if modes else {}
    return MeasuredJudge(
        agreement,
        (*notes, *turned, *_one_grade(name, pairs)),
        None if no_grades else replaces(labels, people, judged, options.epsilon),
        among.get("ceiling"),
        among.get("compiled_loo"),
        measure_modes(by_mode) if modes else None,
        cut,
        None if nominal else systems_of(pairs, alike=not no_grades),
        _groups(whole, said, no_grades),
        learned,
        None if nominal or no_grades else _drawn(whole, name, people, judged),
    )


def on_new_items(whole: JudgedLabels, name: str, *, needed: bool = True) -> tuple[Judgments, Learned | None, list[str]]:
    """A judge on items that are new to it, and out of fold on others where that is known; what it has learned from.

    Args:
        whole: With its verdicts.
        name: The judge.
        needed: One that has learned from every labelled item is refused; else nothing is known of it there.

    Raises:
        UserError: It has learned from every item.
    """
    said = whole.recorded.judgments(name, whole.item_ids)
    prefix = _beside_judge(name)[0].removesuffix(LEARNED)
    column = whole.file.cells.get(f"{prefix}{LEARNED}") or whole.file.cells.get(LEARNED)
    if column is None or not {str(as_grade(cell)).lower() for cell in column.values()} <= {"true", "false"}:
        return said, None, []
    known = {item for item, cell in column.items() if str(as_grade(cell)).lower() == "true"}
    labelled = {label.item_id for label in whole.labels.labels}
    learned, n = known & labelled, plural(len(labelled), "item")
    from_ = f"the judge has learned from the queries of {len(learned)} of {n}"
    if not learned or whole.options.all:
        return said, Learned(len(learned), whole.options.all), [f"{from_}: kept, as --all says"] if learned else []
    by = {as_id(cell) for cell in whole.file.cells.get(f"{prefix}{JUDGED_BY}", {}).values()}
    judge, items = "".join(by) if len(by) == 1 else "", [one for one in whole.labels.items if one.item_id in learned]
    kept = stand_ins(whole.options.home, judge, items)
    gone = learned - kept.keys()
    if labelled <= gone and needed:
        raise UserError(
            f"{whole.recorded.path}: the judge has learned from the queries of all {n} ({prefix}{LEARNED} is true); "
            "items of new queries are valid. Judge other items, or keep these with --all. If the judge was compiled in "
            "folds, name its folder with --home: its out-of-fold judgments are then measured."
        )
    notes = []
    if kept:
        notes.append(f"{from_}: for {len(kept)} of them the out-of-fold judgments of {judge} are measured")
    if gone:
        unknown = f"what it says of {len(gone)} of them counts as unknown"
        left_out = f"{len(gone)} are left out, {len(labelled - gone)} are measured; --all keeps them"
        notes.append(f"{from_}: {left_out if needed else unknown}")
    judged = _recorded_anew(whole, name, kept, gone)
    return judged, Learned(len(learned), kept=False, out_of_fold=len(kept)), notes


def _recorded_anew(
    whole: JudgedLabels, name: str, kept: Mapping[str, Mapping[str, object]], gone: Collection[str]
) -> Judgments:
    """The judge's verdicts with others of some items, and none of those that are gone."""
    written = JUDGED_COLUMN.fullmatch(name)
    kind = written[2] if written else "grade"

    def cell(one: JudgedCell) -> JudgedCell:
        said = kept.get(one.item_id)
        if said is None:
            return one
        by = said.get(f"{kind}s")
        return replace(one, cell=by.get(one.aspect) if isinstance(by, Mapping) else said.get(kind))

    cells = [cell(one) for one in whole.labels.judged[name] if one.item_id not in gone]
    if not cells:
        return whole.recorded.judgments(name, whole.item_ids).without(
            dict.fromkeys(range(len(whole.item_ids)), NOT_ASKED)
        )
    about = whole.recorded.about
    table = as_recorded(whole.recorded.path, {name: cells}, about.task, failed=True)
    return read_recorded(table, about, None, "scores").judgments(name, whole.item_ids)


def _scored(whole: JudgedLabels, said: Judgments, column: str) -> Judgments:
    """The judge with the score of another column; where that is empty, its grade stands in.

    Raises:
        UserError: There is no such column.
        InputError: A cell is no number.
    """
    path, judged = whole.recorded.path, whole.labels.judged.get(column)
    if judged is None:
        raise UserError(f"{path}: --score {column}: no such column. Name a column of the table.")
    faults = [
        f"{path}:{one.line}: {column} is {one.cell!r}; a score is a number. Mend the row, or name another --score."
        for one in judged
        if one.cell is not None and as_number(one.cell) is None
    ]
    if faults:
        raise InputError(faults)
    at, place = ({one: i for i, one in enumerate(names)} for names in (whole.item_ids, whole.labels.aspects))
    score = np.full(said.score.shape, np.nan)
    for one in judged:
        if (number := as_number(one.cell)) is not None:
            score[at[one.item_id], place[one.aspect]] = number
    score = np.where(np.isnan(score), said.score, score)
    return replace(said, score=np.where(said.grade == UNSCORED, np.nan, score))


def _groups(whole: JudgedLabels, said: Judgments, no_grades: str) -> dict[str, Agreement]:
    """The agreement on the items of each group; empty where there is one alone."""
    if whole.options.group is None:
        return {}
    cells = whole.file.cells[whole.options.columns.get(whole.options.group, whole.options.group)]
    rows: dict[str, list[int]] = {}
    for i, item_id in enumerate(whole.item_ids):
        if item_id in cells and said.asked[i]:
            rows.setdefault(as_id(cells[item_id]), []).append(i)
    return {
        name: whole.agreement(whole.experts.rows(own), said.subset(own), no_grades)
        for name, own in (rows if len(rows) > 1 else {}).items()
    }


def _drawn(whole: JudgedLabels, name: str, people: Experts, judged: Judgments) -> Drawn:
    """The rows that are drawn, those that somebody labelled."""
    pairs = whole.pairs(people, judged)
    by = people.accept_by if whole.labels.accept_only else people.grade_by
    kept = ((by >= 0) | (people.accept_by >= 0)).any(axis=0).ravel()
    named = whole.options.confidence
    beside = [whole.options.columns.get(named, named)] if named else _beside_judge(name)[2:]
    cells = next((whole.file.cells[one] for one in beside if one in whole.file.cells), {})
    stated = [np.nan if (n := as_number(cells.get(one))) is None else n for one in judged.item_ids]
    shares = np.repeat(np.array(stated, dtype=np.float64), len(whole.labels.aspects))[kept]
    shares = shares / 100.0 if np.nanmax(shares, initial=0.0) > 1 else shares  # all of them are per cent
    return Drawn(pairs, {who: own.ravel()[kept] for who, own in zip(people.annotators, by, strict=True)}, shares)


def _turned(judge: str, found: Agreement) -> tuple[str, ...]:
    """A sentence where a judge's numbers fall while people's grades rise: nothing is turned round silently."""
    tau = found.estimates.get("tau_b_score")
    if tau is None or tau.value is None or tau.value > NEGATIVE:
        return ()
    return (
        (
            f"{judge}: negative rank correlation with people ({show(tau)}): the higher its number, the lower their "
            f'grade. If low is good, --judges "{judge}=WORST..BEST" with the higher number first turns its numbers'
        ),
    )


def _one_grade(judge: str, pairs: GradePairs) -> tuple[str, ...]:
    """A sentence where a judge gives everything the same: nothing can then be said of its order."""
    scores = pairs.score[~np.isnan(pairs.score)]
    if len(scores) < 2 or (scores != scores[0]).any():
        return ()
    return (f"{judge} gives {scores[0]:g} to all {plural(len(scores), 'item')}: it tells no item from another",)


def _failed(whole: JudgedLabels) -> list[str]:
    """Sentences on how many verdicts are missing, by reason."""
    counts: dict[str, int] = {}
    labelled = {label.item_id for label in whole.labels.labels}
    for name in whole.recorded.judges:
        said = whole.recorded.judgments(name, whole.item_ids)
        for item_id, seen, asked in zip(said.item_ids, said.unscored, said.asked, strict=True):
            if seen is not None and asked and item_id in labelled:
                reason = UNREAD_SCORE if seen == OFF_SCALE and name in whole.recorded.scores else seen
                counts[reason] = counts.get(reason, 0) + 1
    many = {reason: plural(n, "labelled item", thousands=True) for reason, n in counts.items()}
    return [f"{whole.recorded.path}: {items} unscored: {reason}" for reason, items in many.items()]
