"""From a prompt to a judge: the calibrator of each aspect, with its accept threshold."""

from dataclasses import dataclass, replace

from judgec.compiler.calibrate import fit_calibrator
from judgec.compiler.dataset import Dataset, Part
from judgec.compiler.preference.ties import tie_band_of
from judgec.compiler.search.candidates import Candidate, first_predictor, with_demonstrations
from judgec.evidence.model import EvidenceModel
from judgec.judges.bulk import Ask
from judgec.judges.judge import CompiledJudge
from judgec.judges.pairwise import verdicts
from judgec.records.judgment import Judgments, concatenate
from judgec.records.label import IntArray
from judgec.records.scale import Scale

MIN_CALIBRATION_ITEMS = 50  # fewer outside the demonstrations' queries: leave-query-out demonstrations


@dataclass(frozen=True, slots=True)
class Bench:
    """What every judge of a compile shares.

    Args:
        dataset: Labels and split.
        ask: Sends requests to the LM.
        evidence: Fitted on the train items, or None without evidence.
        seed: Seed of the calibrators' cross-validation.
        language_model: Whether a language model gives the verdicts; false for the embedded evidence engine.
    """

    dataset: Dataset
    ask: Ask
    evidence: EvidenceModel | None
    seed: int
    language_model: bool = True

    @property
    def scale(self) -> Scale:
        """The labels' scale."""
        return self.dataset.labels.scale

    @property
    def aspects(self) -> tuple[str, ...]:
        """The labels' aspects."""
        return self.dataset.labels.aspects

    def raw(self, candidate: Candidate, part: Part) -> Judgments:
        """The prompt's own verdicts; asked once, then they are in the journal."""
        return verdicts(candidate.module, part.items, ask=self.ask, scale=self.scale, aspects=self.aspects)

    def target(self, part: Part) -> IntArray:
        """What calibrators learn: grade positions, or accepts where that is all there is."""
        return part.experts.accept if self.dataset.labels.accept_only else part.experts.grade


def calibrated(bench: Bench, candidate: Candidate, judge: CompiledJudge | None = None) -> CompiledJudge:
    """The judge with this prompt: calibrators and accept thresholds fitted on train, the tie band on dev.

    Args:
        bench: What it is made from.
        candidate: The prompt.
        judge: The judge with it as ``fitted`` makes it, where that was done already.
    """
    judge = judge or fitted(bench, candidate, *calibration_data(bench, candidate))
    dev = bench.dataset.dev
    if not dev.items:
        return judge
    judged = judge.calibrate(dev.items, bench.raw(candidate, dev) if judge.asks_lm else None)
    return replace(judge, tie_band=tie_band_of(dev, judged, bench.scale))


def evidence_only(bench: Bench, candidate: Candidate) -> CompiledJudge:
    """The judge that asks no LM: the calibrator on evidence alone."""
    return fitted(bench, candidate, bench.dataset.train, None)


def fitted(bench: Bench, candidate: Candidate, part: Part, raw: Judgments | None) -> CompiledJudge:
    """The judge with this prompt, fitted on the raw verdicts of ``part``, or on its evidence alone."""
    features = None if bench.evidence is None else bench.evidence.transform(part.items)
    target = bench.target(part)
    calibrators = {}
    for j, aspect in enumerate(bench.aspects):
        known = (target[:, j] >= 0) & (True if raw is None else raw.scored)
        if not known.any():
            continue
        calibrators[aspect] = fit_calibrator(
            verdicts=None if raw is None else raw.probabilities[known, j],
            evidence=None if features is None else features[known],
            target=target[known, j],
            cluster=part.experts.cluster[known],
            scale=bench.scale,
            accept=part.experts.accept[known, j],
            names=() if bench.evidence is None else bench.evidence.names,
            seed=bench.seed,
            lm_incumbent=bench.language_model,
        )
    return CompiledJudge(candidate.module, bench.scale, bench.aspects, bench.evidence, calibrators)


def calibration_data(bench: Bench, candidate: Candidate) -> tuple[Part, Judgments]:
    """Train items with verdicts from demonstrations that show nothing of their query."""
    train = bench.dataset.train
    seen = {*candidate.queries, *candidate.reflected}
    outside = [i for i, item in enumerate(train.items) if item.query_id not in seen]
    if len(outside) < MIN_CALIBRATION_ITEMS:  # instructions cannot be written anew without a query, as prompts can
        outside = [i for i, item in enumerate(train.items) if item.query_id not in candidate.queries]
    if len(outside) >= MIN_CALIBRATION_ITEMS or not candidate.queries:
        part = train.rows(outside)
        return part, bench.raw(candidate, part)
    order = [*outside]
    pieces = [bench.raw(candidate, train.rows(outside))] if outside else []
    for query in sorted(set(candidate.queries)):
        rows = [i for i, item in enumerate(train.items) if item.query_id == query]
        pieces.append(bench.raw(_without_query(candidate, query), train.rows(rows)))
        order += rows
    return train.rows(order), concatenate(pieces)


def _without_query(candidate: Candidate, query: str) -> Candidate:
    """The candidate without its demonstrations of one query."""
    demos = first_predictor(candidate.module).demos
    kept = [(demo, shown) for demo, shown in zip(demos, candidate.queries, strict=True) if shown != query]
    module = with_demonstrations(candidate.module, [demo for demo, _ in kept])
    return replace(candidate, module=module, queries=tuple(shown for _, shown in kept))
