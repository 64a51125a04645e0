"""``judgec.agreement``: how far any judge's grades agree with the experts', from a table that holds both."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pandas as pd

from judgec.errors import UserError
from judgec.labels.experts import adjudicators_of
from judgec.labels.project import Project, find_project
from judgec.labels.reading import as_scale
from judgec.labels.rows.conversations import DIALOGUE_ID, with_turns
from judgec.labels.rows.graded import JUDGED_COLUMN, ComparedColumns, Graded, StandIns, graded_of
from judgec.labels.rows.graded_modes import MODES, graded_modes
from judgec.labels.rows.nuggets import nugget_rows
from judgec.labels.rows.panel import (
    ANNOTATOR,
    ASPECT,
    AnnotatorPanel,
    by_judge,
    judges_among,
    judges_beside,
    one_row_an_aspect,
)
from judgec.labels.rows.ranges import MARK, Range, usual_range, with_range
from judgec.labels.rows.raters import annotator_column, is_measured, measured_note
from judgec.lm.watch import Watch
from judgec.records.agreement import Agreement
from judgec.records.alternative_annotator import AltTest
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray
from judgec.records.mode_agreement import ModesAgreement
from judgec.records.tasks.registry import also_called, plain
from judgec.records.tasks.spec import ASPECT_PREFIX
from judgec.records.tasks.winners import winner_words
from judgec.report.modes_table import mode_table
from judgec.report.numbers import number, p_value, short, show, show_percent, statistic_name
from judgec.report.page import charts
from judgec.report.page.grade_charts import DrawnGrades, grade_charts
from judgec.report.page.notebook import notebook
from judgec.report.render import agreement_table, beside_table, comparison_table, notes
from judgec.report.replacement_table import ASPECTS, ASPECTS_TITLE, COLUMNS, JUDGES, TITLE, outcome_sentences
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.report.systems_table import pairs_tables, systems_lines
from judgec.stats.agreement.alternative_annotator import alternative_annotator_test
from judgec.stats.agreement.cut_off import CutOff, best_cut_off
from judgec.stats.agreement.measure import measure, with_aspects
from judgec.stats.agreement.modes import measure_modes
from judgec.stats.agreement.systems import SystemAgreement, systems_of
from judgec.table.rows.cells import as_accept, as_grade, as_id, as_number, is_missing
from judgec.table.rows.columns import aspect_columns, listed, renamed
from judgec.table.rows.heads import is_low_good, machines_among, words
from judgec.table.table import Table
from judgec.verbs.frames import IN_MEMORY, Source, as_table, is_path
from judgec.verbs.options.agreement import AgreementOptions
from judgec.verbs.options.labels import LabelsOptions
from judgec.verbs.options.shared import LabelColumns
from judgec.verbs.typed import as_typed, command
from judgec.verbs.verb import verb

LABELS = ("grade", "accept", "preference")  # columns of labels, whoever gave them
LEADING = ("tau_b", "tau_b_score", "kappa", "exact")  # of the verdict, the first that is defined
TESTED = ("tau_b", "spearman")  # whose p-values the screen has
FEWEST = 2  # items of which a judge could tell one from another
ALIKE = {"accept_agreement": "accept or reject alike", "exact": "give the same grade"}  # the share of the verdict
NEGATIVE = -0.1  # a rank correlation from here on down is no accident worth passing over


@dataclass(frozen=True)
class MeasuredAgreement:
    """Agreement of a judge's column, or of each recorded judge, with the experts' grades.

    Args:
        agreements: Every statistic, counts and rates, by judge.
        expert: The experts' column, or what the labels are called.
        source: The file, or ``DataFrame``.
        notes: What reading the table assumed, and why statistics are missing.
        learned: Rows that the judge has learned from, or None where no column says so.
        out_of_fold: For how many of these its judgments from before it learned from them are measured.
        kept: These rows are measured too.
        alt_tests: Whether a judge may replace an annotator; empty where nobody tells annotators apart.
        headline: The statistic that several judges are compared by.
        recorded: The judges are of a file of verdicts.
        modes: How well each judge finds each failure mode; empty where the labels are of none.
        ceilings: Of several experts each beside the consensus of the others, by judge.
        beside: By judge, it beside the same consensuses: comparable with ``ceilings``.
        cut_offs: By judge whose numbers are a score, the cut-off that fits accept and reject best.
        systems: By judge whether it ranks systems as people do; empty where no column says who answered.
        groups: By judge its agreement on the rows of each value of the column ``group``.
        graded: By judge the rows that were measured, for drawings; empty for recorded judges.
    """

    agreements: Mapping[str, Agreement]
    expert: str
    source: str
    notes: tuple[str, ...]
    learned: int | None = None
    out_of_fold: int = 0
    kept: bool = False
    alt_tests: Mapping[str, AltTest] = field(default_factory=dict)
    headline: str = "tau_b"
    recorded: bool = False
    modes: Mapping[str, ModesAgreement] = field(default_factory=dict)
    ceilings: Mapping[str, Agreement] = field(default_factory=dict)
    beside: Mapping[str, Agreement] = field(default_factory=dict)
    cut_offs: Mapping[str, CutOff] = field(default_factory=dict)
    systems: Mapping[str, SystemAgreement] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, Agreement]] = field(default_factory=dict)
    graded: Mapping[str, Graded] = field(default_factory=dict, repr=False)

    @property
    def judge(self) -> str:
        """The judge's name.

        Raises:
            UserError: There are several.
        """
        if len(self.agreements) > 1:
            raise UserError(
                f"{self.source}: {len(self.agreements)} judges; one is valid here. Take it from agreements, or name "
                "it with judges=."
            )
        return next(iter(self.agreements))

    @property
    def agreement(self) -> Agreement:
        """Every statistic of the one judge."""
        return self.agreements[self.judge]

    @property
    def alt_test(self) -> AltTest | None:
        """Tests whether the one judge may replace an annotator, or None where nobody tells annotators apart."""
        return self.alt_tests.get(self.judge)

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        """Each statistic of the one judge: tau_b, tau_b_score, spearman, auc, exact, accept_agreement, kappa, qwk."""
        return self.agreement.estimates

    @cached_property
    def table(self) -> pd.DataFrame:
        """Statistics with value, low and high of the 95 % interval, of several judges by judge; NaN where undefined."""
        tables = {
            judge: pd.DataFrame.from_dict(
                {name: (one.value, one.low, one.high) for name, one in found.estimates.items()},
                orient="index",
                columns=["value", "low", "high"],
                dtype=float,
            )
            for judge, found in self.agreements.items()
        }
        return tables[self.judge] if len(tables) == 1 else pd.concat(tables, names=["judge", "statistic"])

    @property
    def leading(self) -> str:
        """The statistic of the verdict: the headline, or the first that a judge has in its place."""
        names = dict.fromkeys((self.headline, *LEADING))
        return next(
            (name for name in names if any(_value(one, name) is not None for one in self.agreements.values())), "tau_b"
        )

    @property
    def ranked(self) -> list[str]:
        """The judges, highest in the leading statistic first."""
        values = {name: _value(one, self.leading) for name, one in self.agreements.items()}
        return sorted(values, key=lambda name: np.inf if (value := values[name]) is None else -value)

    @property
    def verdict(self) -> str:
        """Sentence on how far the judge, or the best one, agrees with the experts, and the experts with each other."""
        judge = self.ranked[0]
        one, ceiling = self.agreements[judge], self.ceilings.get(judge)
        most = f"Of {plural(len(self.agreements), 'judge')} {judge} agrees most: " if len(self.agreements) > 1 else ""
        beside = f"{'it' if most else judge} and {'the labels' if self.recorded else self.expert}"
        share = next((name for name in ALIKE if _value(one, name) is not None), None)
        size = plural(one.n, "item") + (f" ({plural(one.n_clusters, 'query')})" if one.n_clusters < one.n else "")
        alike = "" if share is None else f" {ALIKE[share]} on {show_percent(one.estimates[share])}"
        score = self._scored(one, share)
        verdict = f"{most}{beside}{alike} of {size}{', ' if score else ''}{score}"
        if share is None:
            verdict = f"{most}{beside}: {score or 'no statistic is defined'} on {size}"
        verdict += f", {one.unscored} more unscored" if one.unscored else ""
        if ceiling is None:
            return verdict
        among = [] if share is None else [show_percent(ceiling.estimates[share])]
        return f"{verdict}; experts among themselves: {', '.join(filter(None, [*among, self._scored(ceiling, share)]))}"

    def _scored(self, one: Agreement, share: str | None) -> str:
        """The leading statistic, where it is another than the share."""
        if self.leading == share or _value(one, self.leading) is None:
            return ""
        return f"{statistic_name(self.leading)} {show(one.estimates[self.leading])}"

    @property
    def report(self) -> dict[str, object]:
        """The JSON that ``agreement --json`` prints."""
        if self.recorded or len(self.agreements) > 1:
            judges = {name: self._of(name) for name in self.agreements}
            return {"headline": self.headline, "judges": judges, "notes": list(self.notes)}
        report = self._of(self.judge)
        if self.learned is None:
            return report
        return report | {"learned": {"rows": self.learned, "kept": self.kept, "out_of_fold": self.out_of_fold}}

    def _of(self, judge: str) -> dict[str, object]:
        report = self.agreements[judge].to_json()
        if judge in self.modes:
            report |= self.modes[judge].to_json()
        if judge in self.ceilings:
            report |= {"compiled_loo": self.beside[judge].to_json(), "ceiling": self.ceilings[judge].to_json()}
        if judge in self.cut_offs:
            report |= {"cut_off": self.cut_offs[judge].to_json()}
        if judge in self.systems:
            report |= {"systems": self.systems[judge].to_json()}
        if judge in self.groups:
            report |= {"groups": {name: one.to_json() for name, one in self.groups[judge].items()}}
        test = self.alt_tests.get(judge)
        return report if test is None else report | {"alt_test": test.to_json()}

    def __repr__(self) -> str:
        return f"<MeasuredAgreement {self.verdict}>"

    def _repr_html_(self) -> str:
        judges = self.ranked[:MOST_JUDGES]
        chart = {judge: self.agreements[judge].estimates[self.leading] for judge in judges}
        if (ceiling := self.ceilings.get(judges[0])) is not None:
            chart[EXPERTS] = ceiling.estimates[self.leading]
        return notebook(agreement_report(self), chart=chart, drawn=statistic_name(self.leading))


@verb(AgreementOptions)
def agreement(options: AgreementOptions, watch: Watch) -> MeasuredAgreement:  # noqa: ARG001  # nothing takes long
    """Measure any judge's grades against the experts': statistics with intervals, nothing else needed.

    Raises:
        UserError: A missing column, or a threshold that is none.
        InputError: Grades that cannot be read.

    Example:
        >>> rows = [{"human": 1 + n % 5, "gpt4": 1 + n % 5 - (n % 7 == 6), "ticket": n // 2} for n in range(60)]
        >>> found = judgec.agreement(rows, expert="human", judge="gpt4", cluster="ticket")
        >>> bool(found.table.loc["tau_b", "value"] > 0.8)
        True
    """
    source = str(options.file) if is_path(options.file) else IN_MEMORY
    if options.labels is not None:
        return _recorded(options, source)
    if options.judges is not None:
        raise UserError("--judges: chooses among recorded judges; --labels FILE is needed beside it. Give it.")
    if options.orders is not None:
        raise UserError("--orders: is of recorded verdicts; --labels FILE is needed beside it. Give it.")
    table = nugget_rows(as_table(options.file, options.missing), (*options.expert, *options.judge))
    if options.turn is not None:
        table = with_turns(table, options.turn)
        options = replace(options, cluster=options.cluster or DIALOGUE_ID)
    table, options = _by_aspect(options, table)
    table, options = _of_whom(options, table, source)
    experts = options.expert
    modes = len(experts) == 1 and MODES in experts[0] and experts[0] not in table.columns
    found: list[MeasuredAgreement] = []
    for judge in options.judge:
        if modes:
            found.append(_of_modes(options, table, source, judge))
            continue
        name = with_range(judge)[0] if judge not in table.columns else judge
        parts = by_judge(table, name) or {name: table}
        found += [_of_column(options, rows, source, judge, called) for called, rows in parts.items()]
    return found[0] if len(found) == 1 else _together(found)


def compare_judges(
    source: Source,
    *,
    judges: Sequence[str],
    expert: str | Sequence[str] = (),
    annotators: Sequence[str] = (),
    cluster: str | None = None,
    accept_at: str | float | None = None,
    home: str | Path = ".",
    tracking_uri: str | None = None,
) -> MeasuredAgreement:
    """Compare judges whose verdicts lie beside the experts' labels: a table and a plot in a notebook, best first.

    It is ``agreement`` of several columns; what that takes besides is there.

    Args:
        source: A path, a DataFrame, a list of dicts or a ``datasets.Dataset``.
        judges: The columns of the judges.
        expert: The column of the experts' labels, or several; or ``annotators``.
        annotators: Columns that hold one annotator's labels each: then the experts' own agreement stands beside.
        cluster: The column that groups dependent rows, such as the query.
        accept_at: The lowest grade that counts as accepted.
        home: The folder of judges and of ``judgec.toml``, as everywhere.
        tracking_uri: As everywhere; nothing is logged.

    Raises:
        UserError: A missing column.
        InputError: Grades that cannot be read.

    Example:
        >>> rows = [{"human": n % 5, "gpt4": min(4, n % 5 + (n % 7 == 6)), "mistral": n // 3 % 5} for n in range(60)]
        >>> judgec.compare_judges(rows, expert="human", judges=["mistral", "gpt4"]).ranked
        ['gpt4', 'mistral']
    """
    said = {"annotators": annotators, "cluster": cluster, "accept_at": accept_at}
    return agreement(source, expert=expert, judge=judges, home=home, tracking_uri=tracking_uri, progress=False, **said)


def _by_aspect(options: AgreementOptions, table: Table) -> tuple[Table, AgreementOptions]:
    """A row an item and aspect, where all who are named have columns ``NAME.<aspect>``; else the table as it is."""
    judges = _columns(options.judge, table)
    experts = _columns(options.expert, table)
    if not experts and not options.annotators and judges and aspect_columns(table.columns):
        experts = (ASPECT_PREFIX.rstrip("."),)
    names = dict.fromkeys((*experts, *options.annotators, *(with_range(name)[0] for name in judges)))
    found = one_row_an_aspect(table, list(names)) if judges else None
    return (table, options) if found is None else (found, replace(options, expert=experts, judge=judges))


def _of_whom(options: AgreementOptions, table: Table, source: str) -> tuple[Table, AgreementOptions]:
    """The table with a column a judge, and which columns are compared.

    Where nobody names the judge, each that looks like one among those who graded is measured; where nobody names the
    experts, the column of the labels is theirs.

    Raises:
        UserError: Nobody says what is measured; it names what may be.
    """
    theirs = {ours: name for name, ours in options.columns.items() if name in table.columns}
    experts, judges = _columns(options.expert, table), _columns(options.judge, table)
    names = [with_range(name)[0] for name in judges if name not in table.columns]
    absent = [name for name in names if name not in (*table.columns, *theirs)]
    heads = {theirs[ANNOTATOR]: ANNOTATOR} if ANNOTATOR in theirs else {}
    column, among = judges_among(renamed(table, heads), absent) if absent or not judges else ("", ())
    label = next((name for ours in LABELS if (name := theirs.get(ours, ours)) in table.columns), None)
    labels = _label_heads(table, names)
    if label is None and len(labels) == 1 and (among or annotator_column(table, table.columns) is not None):
        label = labels[0]  # one row an item and person, under another tool's heads
    if not experts and not options.annotators and label is not None:
        experts = (label,)
    if among and (rated := experts or ((label,) if label is not None else ())):
        experts, judges = rated, judges or among
        table = judges_beside(table, theirs.get(column, column), among, theirs.get(rated[0], rated[0]), options.columns)
    if not judges or not (experts or options.annotators):
        scored = [name for name in machines_among(table.columns) if name not in experts and _is_scored(table, name)]
        scored = scored or list(judges_among(table, sure=False)[1])
        seen = f"; by their names {listed(scored)} may be judges" if scored and not judges else ""
        lacks = [f"--judge {shlex.quote(name)}" for name in scored if not judges]
        if not (experts or options.annotators):
            first = (judges or tuple(scored) or ("",))[0]
            same = [name for name in table.columns if words(name) < words(first) and _is_scored(table, name)]
            lacks = [f"--judge {shlex.quote(first)}"] if same and len(judges) != 1 else lacks
            found = same or labels
            lacks += [f"--expert {shlex.quote(found[0]) if len(found) == 1 else 'COLUMN'}"]
        raise UserError(
            f"{source}: --expert and --judge name the columns of a table that holds both (--annotators in place of "
            f"--expert), --labels FILE the labels of recorded verdicts; one of these is needed{seen}. "
            f"Add {' '.join(lacks) or '--judge COLUMN'}; judgec labels {shlex.quote(source)} compares people alone."
        )
    names = [with_range(name)[0] for name in judges]
    own = [name for name in options.annotators if is_measured(name, names)] if len(judges) > 1 else []
    kept = tuple(name for name in options.annotators if name not in own)
    if own and kept:
        table = replace(table, notes=(*table.notes, measured_note(own)))
    return table, replace(options, expert=experts, judge=judges, annotators=kept or options.annotators)


def _label_heads(table: Table, judges: Sequence[str]) -> list[str]:
    """The columns with a head that other tools have for labels, without judges'."""
    heads = {plain(each) for ours in LABELS for each in (ours, *also_called(ours))}
    found = [name for name in table.columns if plain(name) in heads and name not in judges]
    machines = machines_among(found)
    return [name for name in found if name not in machines and _is_scored(table, name)]


def _is_scored(table: Table, column: str) -> bool:
    """True where numbers stand in a column, or accept and reject."""
    cells = table.column(column).given()
    return bool(cells) and all(
        as_number(value) is not None or ((grade := as_grade(value)) is not None and as_accept(grade) is not None)
        for value in cells
    )


def _of_column(options: AgreementOptions, table: Table, source: str, column: str, judge: str) -> MeasuredAgreement:
    """The judge of this name, whose grades stand in this column."""
    besides = {
        "aspect": ASPECT if ASPECT in table.columns else None,
        "group": options.group,
        "confidence": _confidence_column(options, table, column),
    }
    how = ComparedColumns(
        experts=options.expert,
        judge=column,
        score=options.score,
        cluster=options.cluster,
        accept_at=None if options.accept_at is None else str(options.accept_at),
        every=options.all,
        annotators=options.annotators,
        columns=options.columns,
        scale=None if options.scale is None else as_scale(options.scale),
        low_is_good=options.reversed,
        round_to_nearest=options.round is not None,
        winner_words=winner_words(options.winner_words),
        repeats=options.repeats,
        kept={what: name for what, name in besides.items() if name is not None},
    )
    if options.group is not None and options.group not in table.columns:
        raise UserError(
            f"{source}: --group {options.group}: no such column; there are {listed(table.columns)}. Name one of these."
        )
    graded = graded_of(table, how, partial(_said_out_of_fold, options.home))
    found = replace(
        measure(graded.ratings, nominal=graded.nominal, no_grades=graded.no_grades), aspects=_apart(graded, "aspect")
    )
    groups = _apart(graded, "group")
    panel = graded.panel if isinstance(graded.panel, AnnotatorPanel) else None
    cannot = (graded.panel,) if isinstance(graded.panel, str) else ()
    turned = low_is_good(judge, found, reversed_already=options.reversed)
    cut = best_cut_off(graded.ratings) if graded.no_grades and not turned else None  # else it lies on the wrong side
    if cut is not None and options.reversed:
        cut = replace(cut, at=-cut.at, below=True)
    ceiling, beside = _ceiling(graded)
    systems = systems_of(graded.ratings, alike=not graded.no_grades)
    ranks = (f"{judge}: {line}" for line in systems_lines(systems))
    said = (*turned, *cut_off_notes(judge, cut), *ranks, *_one_grade(judge, graded))
    return MeasuredAgreement(
        {judge: found},
        graded.expert,
        source,
        (*graded.notes, *(cannot if panel is None else panel.notes), *said, *notes({judge: found})),
        graded.learned,
        graded.out_of_fold,
        options.all,
        {} if panel is None else {judge: _alt_test(panel, options.epsilon)},
        ceilings={} if ceiling is None else {judge: ceiling},
        beside={} if beside is None else {judge: beside},
        cut_offs={} if cut is None else {judge: cut},
        systems={} if systems is None else {judge: systems},
        groups={judge: groups} if groups else {},
        graded={judge: graded},
    )


def _confidence_column(options: AgreementOptions, table: Table, judge: str) -> str | None:
    """The column of the confidence that a judge states: the one that is named, or that has a name as judgec writes it.

    Raises:
        UserError: There is no column of the name that was given.
    """
    if options.confidence is not None and options.confidence not in table.columns:
        raise UserError(
            f"{table.path}: --confidence {options.confidence}: no such column; there are {listed(table.columns)}. "
            "Name one of these."
        )
    name = with_range(judge)[0]
    usual = {f"{name} confidence", f"{name} stated confidence"}
    written = JUDGED_COLUMN.fullmatch(name)
    usual |= {f"{written[1]}stated_confidence{written[3] or ''}"} if written else set()
    heads = {plain(one) for one in usual}
    return options.confidence or next((one for one in table.columns if plain(one) in heads), None)


def _apart(graded: Graded, what: str) -> dict[str, Agreement]:
    """The agreement on the rows of each aspect or group; empty where there is one alone."""
    cells = ["" if is_missing(cell) else as_id(cell) for cell in graded.cells.get(what, ())]
    names = [name for name in dict.fromkeys(cells) if name]
    rows = {name: graded.ratings.where(np.array([cell == name for cell in cells])) for name in names}
    return {
        name: measure(own, nominal=graded.nominal, no_grades=graded.no_grades)
        for name, own in (rows if len(rows) > 1 else {}).items()
    }


def _one_grade(judge: str, graded: Graded) -> tuple[str, ...]:
    """A sentence where a judge gives everything the same: nothing can then be said of its order."""
    scores = graded.ratings.score[~np.isnan(graded.ratings.score)]
    if len(scores) < FEWEST or (scores != scores[0]).any():
        return ()
    return (f"{judge} gives {scores[0]:g} to all {plural(len(scores), 'item')}: it tells no item from another",)


def _together(found: Sequence[MeasuredAgreement]) -> MeasuredAgreement:
    """Several judges of one table."""
    shared = {note for note in found[0].notes if all(note in one.notes for one in found)}

    def by(one: MeasuredAgreement, notes: Sequence[str]) -> list[str]:
        return [note if note in shared or one.judge in note else f"{one.judge}: {note}" for note in notes]

    headlines = [
        name for name in ("tau_b", "kappa", "exact") if any(_value(one.agreement, name) is not None for one in found)
    ]
    return replace(
        found[0],
        agreements={one.judge: one.agreement for one in found},
        notes=tuple(dict.fromkeys(note for one in found for note in by(one, one.notes))),
        headline=next(iter(headlines), found[0].headline),
        alt_tests={judge: test for one in found for judge, test in one.alt_tests.items()},
        modes={judge: modes for one in found for judge, modes in one.modes.items()},
        ceilings={judge: ceiling for one in found for judge, ceiling in one.ceilings.items()},
        beside={judge: beside for one in found for judge, beside in one.beside.items()},
        cut_offs={judge: cut for one in found for judge, cut in one.cut_offs.items()},
        systems={judge: systems for one in found for judge, systems in one.systems.items()},
        groups={judge: groups for one in found for judge, groups in one.groups.items()},
        graded={judge: graded for one in found for judge, graded in one.graded.items()},
    )


def _value(one: Agreement, statistic: str) -> float | None:
    found = one.estimates.get(statistic)
    return None if found is None else found.value


def _columns(experts: Sequence[str], table: Table) -> tuple[str, ...]:
    """The experts' or judges' columns; several may be typed with commas, where no column has such a name."""
    found = [
        part.strip()
        for name in experts
        for part in ([name] if name in table.columns or "," not in name else name.split(","))
    ]
    return tuple(dict.fromkeys(found))


def _ceiling(graded: Graded) -> tuple[Agreement | None, Agreement | None]:
    """Several experts among themselves, and the judge beside the same consensuses; None of one expert."""
    if not graded.ceiling:
        return None, None
    judge = measure(graded.beside, nominal=graded.nominal, beside=graded.ceiling, no_grades=graded.no_grades)
    experts = graded.beside if not graded.no_grades else ()
    return measure(graded.ceiling, nominal=graded.nominal, beside=experts), judge


def low_is_good(
    judge: str, found: Agreement, *, reversed_already: bool = False, recorded: bool = False
) -> tuple[str, ...]:
    """A sentence where low seems to be good, by a judge's name or because its numbers fall while the experts' grades
    rise: nothing is turned round silently.
    """
    tau, named = found.estimates["tau_b_score"], is_low_good(judge) and not reversed_already
    negative = tau.value is not None and tau.value <= NEGATIVE
    if not negative and not named:
        return ()
    way = "drop --reversed" if reversed_already else "--reversed turns its numbers"
    way = "#range=1..0 behind the file, worst first, turns its numbers" if recorded else way
    if not negative:
        return (f"{judge}: its name says that low is good, but its numbers are read with high as good; {way}",)
    why = "Its name says that low is good: " if named else "If low is good, "
    return (
        (
            f"{judge}: negative rank correlation with the experts ({show(tau)}): the higher its number, the lower "
            f"their grade. {why}{way}"
        ),
    )


def cut_off_notes(judge: str, cut: CutOff | None) -> tuple[str, ...]:
    """Note on where a score is best cut."""
    if cut is None:
        return ()
    kappa, exact = cut.estimates["kappa"], cut.estimates["exact"]
    return (
        (
            f"{judge}: best cut-off {cut.at:.4g} and {'below' if cut.below else 'above'}; cut-offs fitted in "
            f"{cut.folds} folds agree on held-out rows with kappa {show(kappa)}, exact {show(exact)}"
        ),
    )


def _of_modes(options: AgreementOptions, table: Table, source: str, judge: str) -> MeasuredAgreement:
    """Each failure mode that a column of the experts and one of the judge hold."""
    expert = options.expert[0]
    for option, value in (
        ("--score", options.score),
        ("--accept-at", options.accept_at),
        ("--annotators", options.annotators or None),
        ("--reversed", options.reversed or None),
        ("--round", options.round),
        ("--group", options.group),
        ("--confidence", options.confidence),
    ):
        if value is not None:
            raise UserError(f"{option}: is of one column of grades; {expert} are several modes. Drop it.")
    graded = graded_modes(
        table,
        expert=expert,
        judge=judge,
        cluster=options.cluster,
        every=options.all,
        in_place=partial(_said_out_of_fold, options.home),
    )
    found, modes = with_aspects(measure(graded.together), graded.parts), measure_modes(graded.parts)
    return MeasuredAgreement(
        {judge: found},
        expert,
        source,
        (*graded.notes, *modes.notes, *notes({judge: found})),
        graded.learned,
        graded.out_of_fold,
        options.all,
        headline="kappa",
        modes={judge: modes},
    )


def _recorded(options: AgreementOptions, source: str) -> MeasuredAgreement:
    from judgec.verbs.recorded_agreement import recorded_agreement  # loads what compiles judges, as below

    found = recorded_agreement(options)
    rare = (f"{judge}: {note}" for judge, modes in found.modes.items() for note in modes.notes)
    turned = {judge: low_is_good(judge, one, recorded=True) for judge, one in found.agreements.items()}
    cuts = {judge: cut for judge, cut in found.cut_offs.items() if not turned[judge]}
    scores = [note for judge, own in turned.items() for note in (*own, *cut_off_notes(judge, cuts.get(judge)))]
    ranks = [f"{judge}: {line}" for judge, one in found.systems.items() for line in systems_lines(one)]
    if len(found.systems) > MOST_TESTED:  # the table in full has each
        ranks = [_of_many(found.systems)]
    said = dict.fromkeys((*found.notes, *rare, *scores, *ranks, *notes(found.agreements)))
    return MeasuredAgreement(
        found.agreements,
        str(options.labels) if is_path(options.labels) else IN_MEMORY,
        source,
        tuple(said),
        alt_tests=found.alt_tests,
        headline=found.headline,
        recorded=True,
        modes=found.modes,
        cut_offs=cuts,
        systems=found.systems,
    )


def _of_many(found: Mapping[str, SystemAgreement]) -> str:
    """Sentence on how well many judges rank systems as people do."""
    known = {judge: tau for judge, one in found.items() if (tau := one.tau_b.value) is not None}
    if not known:
        return next(iter(systems_lines(next(iter(found.values())))), "")
    least, most = min(known, key=lambda judge: known[judge]), max(known, key=lambda judge: known[judge])
    return (
        f"the orders of {len(found[most].systems)} systems by {len(known)} judges agree with people's by tau-b "
        f"{number(known[least])} ({least}) to {number(known[most])} ({most})"
    )


def _alt_test(panel: AnnotatorPanel, epsilon: float) -> AltTest:
    return alternative_annotator_test(
        panel.judge,
        panel.by,
        panel.annotators,
        values=panel.values,
        cluster=panel.cluster,
        clustered_by=panel.clustered_by,
        epsilon=epsilon,
        adjudicators=adjudicators_of(panel.annotators, panel.by[:, :, None]),
    )


def _said_out_of_fold(home: Path, table: Table, rows: Sequence[int], prefix: str) -> StandIns:
    from judgec.trust.stand_ins import stand_ins  # loads what compiles judges; most tables need none of it

    return stand_ins(home, table, rows, prefix)


MOST_TESTED = 3  # judges whose p-values, and order of systems, the screen has
MOST_DRAWN = 3  # judges of whom charts are drawn
PERCENT = 100.0
MOST_JUDGES = 12  # rows of the short table
EXPERTS = "experts, each against the others"  # a row
SHOWN_STATISTICS = 2  # of the short table: what fits 80 columns


def agreement_report(
    found: MeasuredAgreement, options: AgreementOptions | None = None, file: Path | None = None
) -> Report:
    """The verdict, the judges in one table, whether they may replace an annotator; every table besides.

    Args:
        found: What was measured.
        options: How.
        file: The page, where one is written.
    """
    apart, tests = _apart_tables(found), _p_values(found)
    commands = [] if options is None else _next(found, options)
    every = [*_every_table(found), *pairs_tables(found.systems)]
    few = len(found.agreements) <= MOST_TESTED
    told = [one for graded in found.graded.values() for one in (*graded.notes, graded.no_grades, graded.panel)]
    reasons = [one for one in told if isinstance(one, str) and one]  # each may stand behind the name of a judge
    reading = [note for note in found.notes if any(reason in note for reason in reasons)]
    return Report(
        data=found.report,
        verdict=[found.verdict],
        tables=[_one_table(found), *apart],
        full=[*every, *apart],
        lines=[*(tests if few else ()), *_replacement(found)],
        details=[*(() if few else tests), *_replacement_in_full(found)],
        notes=[note for note in found.notes if note not in reading],
        reading=reading,
        more="every statistic",
        file=file,
        next=commands,
        title=f"Agreement: {Path(found.source).name}",
        facts=f"{', '.join(found.agreements)} against {found.expert}",
        steps=commands,
        charts="" if file is None else _charts(found),
        further=every,
    )


def _charts(found: MeasuredAgreement) -> str:
    """The drawings of the first judges, with the counts in them as tables; empty where none has an order."""
    drawings, tables = [], []
    for judge, one in list(found.graded.items())[:MOST_DRAWN]:
        if one.nominal or one.no_grades:
            continue
        pairs, stated = one.ratings, one.cells.get("confidence", (None,) * len(one.ratings.judge))
        said = np.where(pairs.judge < 0, np.nan, np.array(pairs.values)[np.maximum(pairs.judge, 0)])
        drawn = DrawnGrades(
            expert=pairs.expert,
            judge=pairs.judge,
            given=pairs.given,
            said=pairs.score if pairs.interval else said,
            grades=() if pairs.interval else tuple(map(short, pairs.values)),
            raters=list(one.people.items()),
            confidence=_stated(stated),
            limits=found.agreements[judge].bland_altman,
            name=judge,
        )
        more, counts = grade_charts(drawn)
        drawings += more
        tables += counts
    return charts.figures(drawings, tables) if drawings else ""


def _stated(cells: Sequence[object]) -> FloatArray:
    """Stated confidence as 0-1; where a number is above 1, all of them are per cent."""
    found = np.array([np.nan if (value := as_number(cell)) is None else value for cell in cells], dtype=np.float64)
    return found / PERCENT if np.nanmax(found, initial=0.0) > 1 else found


def _apart_tables(found: MeasuredAgreement) -> list[TextTable]:
    """Each aspect, and each value of ``--group``, by itself."""
    parts = [(judge, "aspect", one.aspects) for judge, one in found.agreements.items() if judge in found.graded]
    parts += [(judge, "group", one) for judge, one in found.groups.items()]
    return [
        beside_table(
            f"{judge} by {what}, 95 % intervals",
            {f"{name} ({one.n})": one for name, one in rows.items()},
            _leading_names(found, list(rows.values())),
        )
        for judge, what, rows in parts
        if rows
    ]


def _leading_names(found: MeasuredAgreement, shown: Sequence[Agreement]) -> list[str]:
    """The statistics of a short table: those that are defined for a row of it."""
    names = dict.fromkeys((found.leading, "accept_agreement", "exact", "kappa", "spearman", "auc"))
    return [name for name in names if any(_value(one, name) is not None for one in shown)][:SHOWN_STATISTICS]


def _next(found: MeasuredAgreement, options: AgreementOptions) -> list[str]:
    """A judge made of these labels, and of the recorded ones; of a compiled judge the page of its runs."""
    file = str(options.file)
    if found.learned is not None:
        return [command("ui", home=options.home)]
    read = {one.name: getattr(options, one.name) for one in fields(LabelColumns) if hasattr(options, one.name)}
    if options.labels is not None:
        labels, judges = str(options.labels), f"#{options.judges}" if options.judges else ""
        orders = ("--orders", options.orders) if options.orders is not None else ()
        how = as_typed(LabelsOptions(file=labels, **read))
        given = (labels, *how, "--candidate", f"recorded:{file}{judges}", *orders)
        return [command("compile-judge", *given, home=options.home)]
    project = find_project(file)
    if project is not None:
        how = as_typed(LabelsOptions(file=file, **read))
        better = _verdicts(found, options, project)
        known = project.names(file) and better is not None
        return [command("compile-judge", file, *(better or ()), *how, home=options.home)] if known else []
    heads = {plain(name) for name in ("answer", *also_called("answer"))}
    answers = [name for name in as_table(options.file, options.missing).columns if plain(name) in heads]
    return [command("init", file, home=options.home)] if answers else []


def _verdicts(found: MeasuredAgreement, options: AgreementOptions, project: Project) -> tuple[str, ...] | None:
    """How ``--verdicts`` names the judges; None where they were measured against other labels than the project's."""
    table = as_table(options.file, options.missing)
    ours = {name: project.columns.get(name, name) for name in table.columns}
    aspects = aspect_columns(list(ours.values()))  # a column is of one of them
    labels = {*LABELS, *aspects}
    if any(ours.get(name, name) not in labels for name in options.expert):
        return None
    among = renamed(table, {theirs: one for theirs, one in ours.items() if one == ANNOTATOR and theirs != one})
    typed = {with_range(name)[0]: name for name in options.judge}
    found_here = {
        name: typed[name] if MARK in typed.get(name, "") else as_verdicts(name, one, low_is_good=options.reversed)
        for name, one in found.graded.items()
        if name in table.columns or judges_among(among, [name])[1]
    }
    return ("--verdicts", ",".join(found_here.values())) if found_here and not aspects else ()


def as_verdicts(judge: str, graded: Graded, *, low_is_good: bool) -> str:
    """A judge as ``--verdicts`` names it: with the range of its numbers where these are not on the labels' scale, or
    where the low ones are good.
    """
    scores = graded.ratings.score[~np.isnan(graded.ratings.score)]
    if graded.no_grades and len(scores):
        own = usual_range(-scores if low_is_good else scores)
        return f"{judge}{MARK}{Range(own.best, own.worst) if low_is_good else own}"
    grades = graded.ratings.values  # noqa: PD011  # no frame
    return f"{judge}{MARK}{Range(max(grades), min(grades))}" if low_is_good and not graded.nominal else judge


def _one_table(found: MeasuredAgreement) -> TextTable:
    judges = found.ranked
    if len(judges) == 1 and found.modes:
        return mode_table(found.modes[found.judge])
    rows = {judge: found.agreements[judge] for judge in judges[:MOST_JUDGES]}
    first = judges[0]
    if len(judges) == 1 and first in found.ceilings:
        rows |= {f"{first}, one annotator left out": found.beside[first]}
    if first in found.ceilings:
        rows |= {EXPERTS: found.ceilings[first]}
    only = f"{MOST_JUDGES} of " if len(judges) > MOST_JUDGES else ""
    whose = f"{only}{plural(len(judges), 'judge')} of {found.source}" if len(judges) > 1 else first
    about = found.expert if len(judges) > 1 else f"{found.expert}, {found.source}"
    return beside_table(f"{whose} against {about}, 95 % intervals", rows, _leading_names(found, list(rows.values())))


def _every_table(found: MeasuredAgreement) -> list[TextTable]:
    if len(found.agreements) > 1:
        title = f"{plural(len(found.agreements), 'judge')} of {found.source} against {found.expert}"
        experts = dict(zip([EXPERTS], found.ceilings.values(), strict=False))  # alike of all
        tested = [TextTable(TITLE, *JUDGES.screen(list(found.alt_tests.items())))] if found.alt_tests else []
        return [
            comparison_table(title, {**found.agreements, **experts}, found.headline),
            *(mode_table(one, f"{judge}: failure modes") for judge, one in found.modes.items()),
            *tested,
        ]
    rows = {found.judge: found.agreement}
    if found.judge in found.ceilings:
        rows |= {
            f"{found.judge}, one annotator left out": found.beside[found.judge],
            EXPERTS: found.ceilings[found.judge],
        }
    tables = [agreement_table(f"{found.judge} against {found.expert}, {found.source}", rows)]
    tables += [mode_table(one) for one in found.modes.values()]
    test = found.alt_test
    if test is not None and test.contests:
        tables.append(TextTable(TITLE, *COLUMNS.screen(test.contests)))
    if test is not None and test.aspects:
        tables.append(TextTable(ASPECTS_TITLE, *ASPECTS.screen(list(test.aspects.items()))))
    return tables


def _p_values(found: MeasuredAgreement) -> list[str]:
    """Probability of each judge's order without any association with the experts'."""
    tests = {
        judge: [f"{statistic_name(name)} {p_value(p)}" for name in TESTED if (p := one.estimates[name].p) is not None]
        for judge in found.ranked
        if TESTED[0] in (one := found.agreements[judge]).estimates
    }
    whose = "{} " if len(found.agreements) > 1 else ""
    said = [f"{whose.format(judge)}{', '.join(own)}" for judge, own in tests.items() if own]
    return [f"p without any association: {'; '.join(said)}"] if said else []


def _replacement(found: MeasuredAgreement) -> list[str]:
    """Sentences on whether the judge may replace the annotator; of several, which."""
    tested = {judge: test.passes for judge, test in found.alt_tests.items() if test.passes is not None}
    if len(found.agreements) == 1:
        return (
            [] if found.alt_test is None or found.alt_test.omega is None else [*outcome_sentences(found.alt_test)[:2]]
        )
    able = [judge for judge in found.ranked if tested.get(judge)]
    return [f"{TITLE}? {len(able)} of {len(tested)} judges: {', '.join(able) or 'none is shown to'}"] if tested else []


def _replacement_in_full(found: MeasuredAgreement) -> list[str]:
    if len(found.agreements) > 1 or found.alt_test is None:
        return []
    return [one for one in outcome_sentences(found.alt_test) if one not in _replacement(found)]
