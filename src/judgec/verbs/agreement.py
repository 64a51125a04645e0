"""``judgec.agreement``: how far judges' verdicts agree with people's labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgec.errors import UserError
from judgec.labels.labels import DEFAULT_ANNOTATOR
from judgec.labels.project import find_project
from judgec.lm.watch import Watch
from judgec.records.agreement import Agreement
from judgec.records.alternative_annotator import AltTest
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.mode_agreement import ModesAgreement
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
from judgec.stats.agreement.cut_off import CutOff
from judgec.stats.agreement.systems import SystemAgreement
from judgec.table.rows.columns import listed
from judgec.table.table import IN_MEMORY
from judgec.verbs.frames import Source, as_table, is_path
from judgec.verbs.options.agreement import AgreementOptions
from judgec.verbs.typed import command, labels_typed
from judgec.verbs.verb import verb

if TYPE_CHECKING:
    from judgec.verbs.measured import MeasuredJudge

LEADING = ("tau_b", "tau_b_score", "kappa", "exact")  # of the verdict, the first that is defined
TESTED = ("tau_b", "spearman")  # whose p-values the screen has
MOST_NAMED = 6  # people in a sentence
ALIKE = {"accept_agreement": "accept or reject alike", "exact": "give the same grade"}  # the share of the verdict


@dataclass(frozen=True)
class MeasuredAgreement:
    """Agreement of a judge's column, or of each recorded judge, with the experts' grades.

    Args:
        judges: What was measured of each judge.
        expert: The people.
        source: The file, or ``DataFrame``.
        notes: What reading the verdicts assumed, and why statistics are missing.
        reading: How the labels were read.
        headline: The statistic that several judges are compared by.
    """

    judges: Mapping[str, "MeasuredJudge"] = field(repr=False)
    expert: str
    source: str
    notes: tuple[str, ...]
    reading: tuple[str, ...] = ()
    headline: str = "tau_b"

    @property
    def agreements(self) -> dict[str, Agreement]:
        """Every statistic, counts and rates, by judge."""
        return {name: one.agreement for name, one in self.judges.items()}

    @property
    def alt_tests(self) -> dict[str, AltTest]:
        """Whether a judge may replace an annotator; empty where a single one labelled."""
        return {name: one.alt_test for name, one in self.judges.items() if one.alt_test is not None}

    @property
    def modes(self) -> dict[str, ModesAgreement]:
        """How well each judge finds each failure mode; empty where the labels are of none."""
        return {name: one.modes for name, one in self.judges.items() if one.modes is not None}

    @property
    def ceilings(self) -> dict[str, Agreement]:
        """Of several experts each beside the consensus of the others, by judge."""
        return {name: one.ceiling for name, one in self.judges.items() if one.ceiling is not None}

    @property
    def beside(self) -> dict[str, Agreement]:
        """By judge, it beside the same consensuses: comparable with ``ceilings``."""
        return {name: one.beside for name, one in self.judges.items() if one.beside is not None}

    @property
    def cut_offs(self) -> dict[str, CutOff]:
        """By judge whose numbers are a score, the cut-off that fits accept and reject best."""
        return {name: one.cut_off for name, one in self.judges.items() if one.cut_off is not None}

    @property
    def systems(self) -> dict[str, SystemAgreement]:
        """By judge whether it ranks systems as people do; empty where no column says who answered."""
        return {name: one.systems for name, one in self.judges.items() if one.systems is not None}

    @property
    def groups(self) -> dict[str, Mapping[str, Agreement]]:
        """By judge its agreement on the items of each group."""
        return {name: one.groups for name, one in self.judges.items() if one.groups}

    @property
    def learned(self) -> int | None:
        """Items that the one judge has learned from, or None where no column says so."""
        found = self.judges[self.judge].learned
        return None if found is None else found.rows

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
        beside = f"{'it' if most else judge} and {self.expert}"
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
        judges = {name: _report(one) for name, one in self.judges.items()}
        return {"headline": self.headline, "judges": judges, "notes": [*self.reading, *self.notes]}

    def __repr__(self) -> str:
        return f"<MeasuredAgreement {self.verdict}>"

    def _repr_html_(self) -> str:
        judges = self.ranked[:MOST_JUDGES]
        chart = {judge: self.agreements[judge].estimates[self.leading] for judge in judges}
        if (ceiling := self.ceilings.get(judges[0])) is not None:
            chart[EXPERTS] = ceiling.estimates[self.leading]
        return notebook(agreement_report(self), chart=chart, drawn=statistic_name(self.leading))


def _report(one: "MeasuredJudge") -> dict[str, object]:
    """The entry of a judge in the JSON."""
    parts = {
        "compiled_loo": one.beside,
        "ceiling": one.ceiling,
        "cut_off": one.cut_off,
        "systems": one.systems,
        "alt_test": one.alt_test,
        "learned": one.learned,
    }
    modes = {} if one.modes is None else one.modes.to_json()
    groups = {"groups": {name: own.to_json() for name, own in one.groups.items()}} if one.groups else {}
    known = {key: part.to_json() for key, part in parts.items() if part is not None}
    return one.agreement.to_json() | modes | known | groups


@verb(AgreementOptions)
def agreement(options: AgreementOptions, watch: Watch) -> MeasuredAgreement:  # noqa: ARG001  # nothing takes long
    """Measure judges' verdicts against people's labels: statistics with intervals, nothing else needed.

    Raises:
        UserError: No such judge, or a threshold that is none.
        InputError: Grades that cannot be read.

    Example:
        >>> rows = [{"human": 1 + n % 5, "gpt4": 1 + n % 5 - (n % 7 == 6), "ticket": n // 2} for n in range(60)]
        >>> found = judgec.agreement(rows, annotators=["human"], judges=["gpt4"], cluster="ticket", best=5)
        >>> bool(found.table.loc["tau_b", "value"] > 0.8)
        True
    """
    from judgec.verbs.measured import measured_judges  # loads what compiles judges

    found = measured_judges(options)
    systems = {name: one.systems for name, one in found.judges.items() if one.systems is not None}
    ranks = [f"{judge}: {line}" for judge, one in systems.items() for line in systems_lines(one)]
    if len(systems) > MOST_TESTED:  # the table in full has each
        ranks = [_of_many(systems)]
    rare = [f"{judge}: {note}" for judge, one in found.judges.items() if one.modes for note in one.modes.notes]
    cuts = [note for judge, one in found.judges.items() for note in cut_off_notes(judge, one.cut_off)]
    alone = [note for one in found.judges.values() for note in one.notes]
    why = notes({name: one.agreement for name, one in found.judges.items()})
    return MeasuredAgreement(
        found.judges,
        _who(found.people, named=bool(options.annotators)),
        str(options.file) if is_path(options.file) else IN_MEMORY,
        tuple(dict.fromkeys((*found.notes, *alone, *rare, *cuts, *ranks, *why))),
        found.reading,
        found.headline,
    )


def _who(people: Sequence[str], *, named: bool) -> str:
    """The people in a sentence."""
    if tuple(people) == (DEFAULT_ANNOTATOR,) and not named:
        return "people"
    return listed(people) if len(people) <= MOST_NAMED else plural(len(people), "annotator")


def compare_judges(
    source: Source,
    *,
    judges: str | Sequence[str] | Mapping[str, tuple[float, float] | None],
    annotators: Sequence[str] = (),
    cluster: str | None = None,
    accept_at: str | float | None = None,
    best: str | float | None = None,
    grades: str | Sequence[str] = (),
    home: str | Path = ".",
    tracking_uri: str | None = None,
) -> MeasuredAgreement:
    """Compare judges whose verdicts lie beside the experts' labels: a table and a plot in a notebook, best first.

    It is ``agreement`` of several columns; what that takes besides is there.

    Args:
        source: A path, a DataFrame, a list of dicts or a ``datasets.Dataset``.
        judges: The columns of the judges, or ``{NAME: (worst, best)}``.
        annotators: Columns that hold one annotator's labels each: of several, their own agreement stands beside.
        cluster: The column that groups dependent rows, such as the query.
        accept_at: The lowest grade that counts as accepted.
        best: The best grade, one end of the whole numbers from the lowest to the highest seen.
        grades: The scale, worst first: ``"1..5"``, ``"5..1"`` or ``["bad", "good"]``.
        home: The folder of judges and of ``judgec.toml``, as everywhere.
        tracking_uri: As everywhere; nothing is logged.

    Raises:
        UserError: A missing column.
        InputError: Grades that cannot be read.

    Example:
        >>> rows = [{"human": n % 5, "gpt4": min(4, n % 5 + (n % 7 == 6)), "mistral": n // 3 % 5} for n in range(60)]
        >>> judgec.compare_judges(rows, annotators=["human"], judges=["mistral", "gpt4"], best=4).ranked
        ['gpt4', 'mistral']
    """
    said = {"annotators": annotators, "cluster": cluster, "accept_at": accept_at, "best": best, "grades": grades}
    return agreement(source, judges=judges, home=home, tracking_uri=tracking_uri, progress=False, **said)


def _value(one: Agreement, statistic: str) -> float | None:
    found = one.estimates.get(statistic)
    return None if found is None else found.value


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
    return Report(
        data=found.report,
        verdict=[found.verdict],
        tables=[_one_table(found), *apart],
        full=[*every, *apart],
        lines=[*(tests if few else ()), *_replacement(found)],
        details=[*(() if few else tests), *_replacement_in_full(found)],
        notes=list(found.notes),
        reading=list(found.reading),
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
    drawn = {name: one.drawn for name, one in found.judges.items() if one.drawn is not None}
    for judge, one in list(drawn.items())[:MOST_DRAWN]:
        pairs = one.ratings
        said = np.where(pairs.judge < 0, np.nan, np.array(pairs.values)[np.maximum(pairs.judge, 0)])
        drawn_of = DrawnGrades(
            expert=pairs.target,
            judge=pairs.judge,
            given=pairs.given,
            said=pairs.score if pairs.interval else said,
            grades=() if pairs.interval else tuple(map(short, pairs.values)),
            raters=list(one.people.items()),
            confidence=one.confidence,
        )
        more, counts = grade_charts(drawn_of.counts(), found.agreements[judge].bland_altman, judge)
        drawings += more
        tables += counts
    return charts.figures(drawings, tables) if drawings else ""


def _apart_tables(found: MeasuredAgreement) -> list[TextTable]:
    """Each aspect, and each value of ``--group``, by itself."""
    few = len(found.agreements) <= MOST_TESTED
    named = found.agreements if few else {}
    parts = [(judge, "aspect", one.aspects) for judge, one in named.items() if judge not in found.modes]
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
    if any(one.learned is not None for one in found.judges.values()):
        return [command("ui", home=options.home)]
    if options.labels is not None:
        labels = str(options.labels)
        how = labels_typed(options, labels, judges={})
        one = f"#{next(iter(options.judges))}" if len(options.judges) == 1 else ""
        return [command("compile-judge", labels, *how, "--candidate", f"recorded:{file}{one}", home=options.home)]
    how = labels_typed(options, file)
    if (project := find_project(file)) is not None:
        return [command("compile-judge", file, *how, home=options.home)] if project.names(file) else []
    answers = {"answer", *(theirs for theirs, ours in options.columns.items() if ours == "answer")}
    there = answers & {*as_table(options.file, options.missing).columns}
    return [command("compile-judge", file, *how, home=options.home)] if there else []


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
