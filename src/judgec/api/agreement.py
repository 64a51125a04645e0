"""``judgec.agreement``: how far any judge's grades agree with the experts', from a table that holds both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import pandas as pd

from judgec.api.frames import IN_MEMORY, as_table, frame_part, is_path
from judgec.api.options.agreement import AgreementOptions
from judgec.api.verb import verb
from judgec.errors import UserError
from judgec.lm.watch import Watch
from judgec.records.agreement import Agreement
from judgec.records.alternative_annotator import AltTest
from judgec.records.estimate import Estimate
from judgec.records.mode_agreement import ModesAgreement
from judgec.report.numbers import NAMES, show
from judgec.report.render import notes
from judgec.stats.agreement.alternative_annotator import alternative_annotator_test
from judgec.stats.agreement.cut_off import CutOff, best_cut_off
from judgec.stats.agreement.measure import measure, with_aspects
from judgec.stats.agreement.modes import measure_modes
from judgec.store.datasheet import as_scale
from judgec.store.experts import adjudicators_of
from judgec.store.rows.conversations import DIALOGUE_ID, with_turns
from judgec.store.rows.graded import Graded, Reading, StandIns, graded_of
from judgec.store.rows.graded_modes import MODES, graded_modes
from judgec.store.rows.panel import AnnotatorPanel
from judgec.store.rows.ranges import with_range
from judgec.store.table import Table
from judgec.tasks.winners import winner_words

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
        """Whether the one judge may replace an annotator, or None where nobody tells annotators apart."""
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
    def verdict(self) -> str:
        """The first statistic that is defined, in a sentence; of several judges how many there are."""
        if len(self.agreements) > 1:
            return f"{len(self.agreements)} judges against {self.expert}"
        found = next(((name, one) for name, one in self.estimates.items() if one.value is not None), None)
        said = "no statistic is defined" if found is None else f"{NAMES.get(found[0], found[0])} {show(found[1])}"
        unscored = f", {self.agreement.unscored} unscored" if self.agreement.unscored else ""
        return f"{self.judge} against {self.expert}: {said} on {self.agreement.n} rows{unscored}"

    @property
    def report(self) -> dict[str, object]:
        """What ``agreement --json`` prints."""
        if self.recorded:
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
        test = self.alt_tests.get(judge)
        return report if test is None else report | {"alt_test": test.to_json()}

    def __repr__(self) -> str:
        return f"<MeasuredAgreement {self.verdict}>"

    def _repr_html_(self) -> str:
        return frame_part(" ".join([self.verdict, *(f"Note: {note}" for note in self.notes)]), self.table)


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
    experts, judge = options.expert, options.judge
    if judge is None or not (experts or options.annotators):
        raise UserError(
            f"{source}: --expert and --judge name the columns of a table that holds both (--annotators in place of "
            "--expert), --labels FILE the labels of recorded verdicts; one of these is needed. Give it."
        )
    table = as_table(options.file)
    if options.turn is not None:
        table = with_turns(table, options.turn)
        options = replace(options, cluster=options.cluster or DIALOGUE_ID)
    if len(experts) == 1 and MODES in experts[0] and experts[0] not in table.columns:
        return _of_modes(options, table, source, experts[0], judge)
    how = Reading(
        experts=_columns(experts, table),
        judge=judge,
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
    )
    graded = graded_of(table, how, partial(_said_out_of_fold, options.home))
    judge = with_range(judge)[0] if judge not in table.columns else judge
    found = measure(graded.ratings, nominal=graded.nominal, no_grades=graded.no_grades)
    panel = graded.panel if isinstance(graded.panel, AnnotatorPanel) else None
    cannot = (graded.panel,) if isinstance(graded.panel, str) else ()
    cut = best_cut_off(graded.ratings) if graded.no_grades else None
    ceiling, beside = _ceiling(graded)
    said = (*low_is_good(judge, found, reversed_already=options.reversed), *cut_off_notes(judge, cut))
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
    )


def _columns(experts: Sequence[str], table: Table) -> tuple[str, ...]:
    """The experts' columns; several may be typed with commas, where no column has such a name."""
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


def low_is_good(judge: str, found: Agreement, *, reversed_already: bool = False) -> tuple[str, ...]:
    """A sentence where a judge's numbers fall while the experts' grades rise: nothing is turned round silently."""
    tau = found.estimates["tau_b_score"]
    if tau.value is None or tau.value > NEGATIVE:
        return ()
    way = "drop --reversed" if reversed_already else "--reversed turns its numbers"
    return (
        (
            f"{judge}: negative rank correlation with the experts ({show(tau)}): the higher its number, the lower "
            f"their grade. Is low good there? Then {way}"
        ),
    )


def cut_off_notes(judge: str, cut: CutOff | None) -> tuple[str, ...]:
    """Where a score is best cut, in a sentence."""
    if cut is None:
        return ()
    kappa, exact = cut.estimates["kappa"], cut.estimates["exact"]
    return (
        (
            f"{judge}: best cut-off {cut.at:.4g} and above; cut-offs fitted in {cut.folds} folds agree on held-out "
            f"rows with kappa {show(kappa)}, exact {show(exact)}"
        ),
    )


def _of_modes(options: AgreementOptions, table: Table, source: str, expert: str, judge: str) -> MeasuredAgreement:
    """Each failure mode that a column of the experts and one of the judge hold."""
    for option, value in (
        ("--score", options.score),
        ("--accept-at", options.accept_at),
        ("--annotators", options.annotators or None),
        ("--reversed", options.reversed or None),
        ("--round", options.round),
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
    from judgec.api.recorded_agreement import recorded_agreement  # loads what compiles judges, as below

    found = recorded_agreement(options)
    rare = (f"{judge}: {note}" for judge, modes in found.modes.items() for note in modes.notes)
    scores = [
        note
        for judge, one in found.agreements.items()
        for note in (*low_is_good(judge, one), *cut_off_notes(judge, found.cut_offs.get(judge)))
    ]
    said = dict.fromkeys((*found.notes, *rare, *scores, *notes(found.agreements)))
    return MeasuredAgreement(
        found.agreements,
        str(options.labels) if is_path(options.labels) else IN_MEMORY,
        source,
        tuple(said),
        alt_tests=found.alt_tests,
        headline=found.headline,
        recorded=True,
        modes=found.modes,
        cut_offs=found.cut_offs,
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
    from judgec.compiler.stand_ins import stand_ins  # loads what compiles judges; most tables need none of it

    return stand_ins(home, table, rows, prefix)
