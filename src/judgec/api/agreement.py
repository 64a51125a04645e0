"""``judgec.agreement``: how far any judge's grades agree with the experts', from a table that holds both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import pandas as pd

from judgec.api.frames import IN_MEMORY, as_table, frame_part, is_path
from judgec.api.options.agreement import AgreementOptions
from judgec.api.verb import verb
from judgec.lm.watch import Watch
from judgec.records.agreement import Agreement
from judgec.records.alternative_annotator import AltTest
from judgec.records.estimate import Estimate
from judgec.report.numbers import NAMES, show
from judgec.report.render import notes
from judgec.stats.agreement.alternative_annotator import alternative_annotator_test
from judgec.stats.agreement.measure import measure
from judgec.store.experts import adjudicators_of
from judgec.store.rows.graded import StandIns, graded_of
from judgec.store.rows.panel import AnnotatorPanel
from judgec.store.tables import Table


@dataclass(frozen=True)
class MeasuredAgreement:
    """Agreement of a judge's column with the experts'.

    Args:
        agreement: Every statistic, counts and rates.
        expert: The experts' column.
        judge: The judge's column.
        source: The file, or ``DataFrame``.
        notes: What reading the table assumed, and why statistics are missing.
        learned: Rows that the judge has learned from, or None where no column says so.
        out_of_fold: For how many of these its judgments from before it learned from them are measured.
        kept: These rows are measured too.
        alt_test: Whether the judge may replace an annotator, or None where the table names no annotators.
    """

    agreement: Agreement
    expert: str
    judge: str
    source: str
    notes: tuple[str, ...]
    learned: int | None
    out_of_fold: int
    kept: bool
    alt_test: AltTest | None = None

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        """Each statistic by name: tau_b, tau_b_score, spearman, auc, exact, accept_agreement, kappa, qwk."""
        return self.agreement.estimates

    @cached_property
    def table(self) -> pd.DataFrame:
        """Statistics with value, low and high of the 95 % interval; NaN where undefined."""
        rows = {name: (one.value, one.low, one.high) for name, one in self.estimates.items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"], dtype=float)

    @property
    def verdict(self) -> str:
        """The first statistic that is defined, in a sentence."""
        found = next(((name, one) for name, one in self.estimates.items() if one.value is not None), None)
        said = "no statistic is defined" if found is None else f"{NAMES.get(found[0], found[0])} {show(found[1])}"
        unscored = f", {self.agreement.unscored} unscored" if self.agreement.unscored else ""
        return f"{self.judge} against {self.expert}: {said} on {self.agreement.n} rows{unscored}"

    @property
    def report(self) -> dict[str, object]:
        """What ``agreement --json`` prints."""
        report = self.agreement.to_json()
        if self.alt_test is not None:
            report["alt_test"] = self.alt_test.to_json()
        if self.learned is None:
            return report
        return report | {"learned": {"rows": self.learned, "kept": self.kept, "out_of_fold": self.out_of_fold}}

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
    graded = graded_of(
        as_table(options.file),
        expert=options.expert,
        judge=options.judge,
        score=options.score,
        cluster=options.cluster,
        accept_at=None if options.accept_at is None else str(options.accept_at),
        every=options.all,
        in_place=partial(_said_out_of_fold, options.home),
        annotators=options.annotators,
    )
    found = measure(graded.ratings, nominal=graded.nominal)
    panel = graded.panel if isinstance(graded.panel, AnnotatorPanel) else None
    cannot = (graded.panel,) if isinstance(graded.panel, str) else ()
    return MeasuredAgreement(
        found,
        options.expert,
        options.judge,
        str(options.file) if is_path(options.file) else IN_MEMORY,
        (*graded.notes, *(cannot if panel is None else panel.notes), *notes({options.judge: found})),
        graded.learned,
        graded.out_of_fold,
        options.all,
        None if panel is None else _alt_test(panel, options.epsilon),
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
