"""Measures how far each judge of a file of recorded verdicts agrees with labels that are in another file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from judgec.compile.compile import default_objective
from judgec.compile.pair_columns import flip_rate
from judgec.compile.replacement import replaces
from judgec.errors import UserError
from judgec.labels.experts import experts_of
from judgec.labels.rows.ranges import Range
from judgec.labels.rows.raters import is_measured, left_out
from judgec.raters.recorded import OnWhat, RecordedVerdicts, check_against, read_recorded
from judgec.raters.replies import OFF_SCALE
from judgec.records.agreement import Agreement
from judgec.records.alternative_annotator import AltTest
from judgec.records.judgment import Judgments
from judgec.records.label import Experts, LabelSet
from judgec.records.mode_agreement import ModesAgreement
from judgec.records.ratings import GradePairs, pair
from judgec.records.tasks.registry import finds_modes
from judgec.stats.agreement.cut_off import CutOff, best_cut_off
from judgec.stats.agreement.measure import Resampling, measure, with_aspects
from judgec.stats.agreement.modes import measure_modes
from judgec.stats.agreement.systems import SystemAgreement, systems_of
from judgec.verbs.frames import table_source
from judgec.verbs.labels import read_labels
from judgec.verbs.options.agreement import AgreementOptions
from judgec.verbs.recorded import NAMES, label_columns_of, verdict_columns

UNREAD_SCORE = "recorded score that cannot be read"  # of a judge that has no grades, none is off the scale
NO_GRADES = (
    "{judge}: its numbers, {range}, have another range than the experts' grades: read as a score, for its order alone; "
    "#range={range} behind the file, worst first, makes grades of them"
)


@dataclass(frozen=True, slots=True)
class RecordedAgreement:
    """Recorded judges beside labels.

    Args:
        agreements: Of each judge, on the items that it was asked about.
        alt_tests: Whether each may replace an annotator; empty where a single one labelled.
        headline: The statistic that such labels are compared by.
        notes: What reading assumed, left out or counted.
        modes: How well each finds each failure mode; empty where the labels are of none.
        cut_offs: Of judges whose numbers are a score, the cut-off that fits accept and reject best.
        systems: How each ranks whoever answered; empty where nobody names them.
    """

    agreements: Mapping[str, Agreement]
    alt_tests: Mapping[str, AltTest]
    headline: str
    notes: tuple[str, ...]
    modes: Mapping[str, ModesAgreement] = field(default_factory=dict)
    cut_offs: Mapping[str, CutOff] = field(default_factory=dict)
    systems: Mapping[str, SystemAgreement] = field(default_factory=dict)


def recorded_agreement(options: AgreementOptions) -> RecordedAgreement:
    """Measure each recorded judge that ``--judges`` leaves.

    Raises:
        UserError: An option of tables that hold both columns, no such judge, or too few items in common.
        InputError: Faults of either file.
    """
    for option, value in (
        ("--expert", options.expert or None),
        ("--judge", options.judge or None),
        ("--score", options.score),
        ("--cluster", options.cluster),
        ("--all", options.all or None),
        ("--reversed", options.reversed or None),
        ("--group", options.group),
        ("--confidence", options.confidence),
    ):
        if value is not None:
            raise UserError(
                f"{option}: is of a table that holds both the experts' and the judge's grades; beside --labels FILE "
                "is one of recorded verdicts. Drop one of them."
            )
    labels, recorded = _labels_and_verdicts(options, ())
    names = {label.annotator for label in labels.labels}
    if judges := [name for name in recorded.judges if any(is_measured(one, [name]) for one in names)]:
        labels, recorded = _labels_and_verdicts(options, judges)
    experts, item_ids = experts_of(labels), [item.item_id for item in labels.items]
    said = {name: recorded.judgments(name, item_ids) for name in recorded.judges}
    why = {
        name: f"its numbers, {own}, are read as a score and no grade"
        for name, own in recorded.scores.items()
        if name in said
    }
    scores = [NO_GRADES.format(judge=name, range=recorded.scores[name]) for name in why]
    tests = {name: _alt_test(labels, experts, one, options.epsilon) for name, one in said.items() if name not in why}
    cuts = {name: _cut_off(labels, experts, said[name], recorded.scores[name]) for name in why}
    ranks = (
        {}
        if labels.scale.level == "nominal"
        else {name: systems_of(_beside(labels, experts, one), alike=name not in why) for name, one in said.items()}
    )
    return RecordedAgreement(
        {name: _measured(labels, experts, one, why.get(name, "")) for name, one in said.items()},
        {name: found for name, found in tests.items() if found is not None},
        default_objective(labels),
        (*left_out(labels.notes), *recorded.notes, *scores, *_failed(recorded, said)),
        {name: _modes(labels, experts, one) for name, one in said.items()} if finds_modes(labels.task) else {},
        {name: cut for name, cut in cuts.items() if cut is not None},
        {name: one for name, one in ranks.items() if one is not None},
    )


def _beside(labels: LabelSet, experts: Experts, said: Judgments) -> GradePairs:
    return pair(experts, said, labels.scale, accept_only=labels.accept_only)


def _cut_off(labels: LabelSet, experts: Experts, said: Judgments, of: Range) -> CutOff | None:
    """The best cut-off of a score, in its own numbers."""
    cut = best_cut_off(_beside(labels, experts, said))
    if cut is None:
        return None
    low, high = labels.scale.values[0], labels.scale.values[-1]
    return replace(cut, at=of.worst + (cut.at - low) / (high - low) * (of.best - of.worst))


def _labels_and_verdicts(options: AgreementOptions, judges: Sequence[str]) -> tuple[LabelSet, RecordedVerdicts]:
    """Both files, without labels by these judges."""
    assert options.labels is not None  # the caller has looked
    labels = read_labels(
        options.labels,
        annotators=options.annotators,
        accept_at=options.accept_at,
        columns=label_columns_of(options.columns, options.labels, options.file, options.missing),
        scale=options.scale,
        turn=options.turn,
        round=options.round,
        repeats=options.repeats,
        judges=judges,
        winner_words=options.winner_words,
        missing=options.missing,
        home=options.home,
    ).label_set
    source = table_source(options.file, NAMES, options.missing)
    columns = verdict_columns(options.columns, options.file, options.missing)
    about = OnWhat.of(labels, options.orders, options.winner_words, columns)
    return labels, check_against(read_recorded(source, about, options.judges, labels, scores=True), labels)


def _modes(labels: LabelSet, experts: Experts, said: Judgments) -> ModesAgreement:
    parts = {
        mode: pair(experts, said, labels.scale, accept_only=False, aspect=j) for j, mode in enumerate(labels.aspects)
    }
    return measure_modes(parts)


def _measured(labels: LabelSet, experts: Experts, said: Judgments, no_grades: str) -> Agreement:
    nominal = labels.scale.level == "nominal"
    whole, *parts = (
        pair(experts, said, labels.scale, accept_only=labels.accept_only, aspect=aspect)
        for aspect in (None, *range(len(labels.aspects)))
    )
    found = measure(whole, nominal=nominal, no_grades=no_grades)
    if said.flipped is not None:
        flips = flip_rate(said, experts.cluster, Resampling())
        found = replace(found, estimates={**found.estimates, "flip_rate": flips})
    return with_aspects(found, dict(zip(labels.aspects, parts, strict=True)), nominal=nominal, no_grades=no_grades)


def _alt_test(labels: LabelSet, experts: Experts, said: Judgments, epsilon: float) -> AltTest | None:
    """On the items that the judge was asked about."""
    asked = np.flatnonzero(said.asked).tolist()
    return replaces(labels, experts.rows(asked), said.subset(asked), epsilon)


def _failed(recorded: RecordedVerdicts, said: Mapping[str, Judgments]) -> list[str]:
    """Sentences on how many verdicts are missing, by reason."""
    counts: dict[str, int] = {}
    for name, one in said.items():
        for seen, asked in zip(one.unscored, one.asked, strict=True):
            if seen is not None and asked:
                reason = UNREAD_SCORE if seen == OFF_SCALE and name in recorded.scores else seen
                counts[reason] = counts.get(reason, 0) + 1
    return [f"{recorded.path}: {n:,} labelled items unscored: {reason}" for reason, n in counts.items()]
