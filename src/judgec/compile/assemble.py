"""Makes a judge of a prompt: fits the calibrator and decision rule of each aspect."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import dspy
import numpy as np

from judgec.compile.calibrate import OutOfFold, fit_out_of_fold
from judgec.compile.calibrate_choice import Data
from judgec.compile.dataset import Dataset, Part, joined, ratings_of
from judgec.compile.search.candidates import Candidate
from judgec.evidence.model import EvidenceModel
from judgec.labels.rows.items import item_digest
from judgec.lm.executor import Ask
from judgec.raters.checks import told_of
from judgec.raters.decision import half_way
from judgec.raters.judge import JudgeTree
from judgec.raters.pool import pool
from judgec.raters.predictors import saved_prompt
from judgec.raters.recorded import RecordedVerdicts
from judgec.raters.signatures import check_kind
from judgec.raters.tree import AnyLeaf, Rates, calibrated_by
from judgec.records.card import Setting
from judgec.records.consensus import mean_of
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import UNLABELLED, FloatArray, IntArray, Item
from judgec.records.ratings import GradePairs
from judgec.records.scale import Scale
from judgec.stats.agreement.objective import Objective
from judgec.tournament.tie_band import fit_tie_band


def tie_band_of(dev: Part, judgments: Judgments, scale: Scale) -> float | None:
    """The band in which two calibrated scores count as equal; of several aspects, the scores' mean is compared.

    None for classes without an order, and where no two dev answers to one query have equal expert grades: the
    tournament then takes half a grade.

    Args:
        dev: The dev items with the experts' labels.
        judgments: The calibrated judge's, of the same items.
        scale: Its grades.
    """
    if scale.level == "nominal":
        return None
    experts = dev.experts.target if (dev.experts.target != UNLABELLED).any() else dev.experts.target_accept
    expert = mean_of(np.array(scale.values)[experts], experts).mean(axis=1)  # NaN where an aspect has none
    score = np.where((judgments.grade == UNSCORED).any(axis=1), np.nan, judgments.score.mean(axis=1))
    band = fit_tie_band(score, expert, dev.experts.cluster, scale)
    return band.width if band.pairs else None


NOT_FOLDED = "no label or no verdict to learn from"


@dataclass(frozen=True)
class Fitted(JudgeTree):
    """A judge with what fitting it has shown, which is not saved.

    Args:
        out_of_fold: What it would have said of the items it was fitted on, each from folds without its query.
        half_way: How many of the verdicts that it was fitted on lay half way between two grades.
    """

    out_of_fold: Judgments | None = field(default=None, repr=False, compare=False)
    half_way: int = field(default=0, repr=False, compare=False)


@dataclass(frozen=True)
class Bench:
    """The parts that all judges of a compile share.

    Args:
        dataset: Labels and split.
        ask: Sends requests to the LM.
        evidence: Fitted on the train items, or None without evidence.
        seed: Seed of the calibrators' cross-validation.
        objective: What is maximized.
        module: The prompt of the task.
        no_model: There are no verdicts, of a model or recorded: evidence alone judges.
        recorded: Verdicts that are looked up in place of a model that is asked, or None.
        leaves: Those whose verdicts these are, by name.
        lm: The model that a prompt is put to (``LMSpec.describe``).
        rows: Features of the items, by the evidence's digest and the item's, so that they are computed once.
    """

    dataset: Dataset
    ask: Ask
    evidence: EvidenceModel | None
    seed: int
    objective: Objective
    module: dspy.Module
    no_model: bool = False
    recorded: RecordedVerdicts | None = None
    leaves: Mapping[str, AnyLeaf] = field(default_factory=dict)
    lm: Mapping[str, Setting] = field(default_factory=dict)
    rows: dict[tuple[str, str], FloatArray] = field(default_factory=dict, repr=False, compare=False)

    @property
    def scale(self) -> Scale:
        """The labels' scale."""
        return self.dataset.labels.scale

    @property
    def aspects(self) -> tuple[str, ...]:
        """The labels' aspects."""
        return self.dataset.labels.aspects

    @cached_property
    def learned(self) -> Part:
        """Train and dev together: what judges are compared on, and calibrators and decision rules are fitted on."""
        return joined(self.dataset.train, self.dataset.dev)

    def raw(self, candidate: Candidate, part: Part) -> Judgments:
        """The verdicts of a candidate, which is not asked about what its text has seen.

        They are asked once, then they are in the journal, unless they were recorded before; of a mean the pool of its
        members' verdicts.
        """
        if self.recorded is not None:
            ids = [item.item_id for item in part.items]
            said = [self.recorded.judgments(leaf.name, ids) for leaf in self.rater(candidate).leaves]
            return said[0] if len(said) == 1 else pool(said, self.scale)
        return candidate.verdicts(part.items, ask=self.ask, scale=self.scale, aspects=self.aspects)

    def rater(self, candidate: Candidate) -> Rates:
        """The candidate as it will be saved."""
        return candidate.rater or saved_prompt(candidate.module, self.scale, candidate.name, self.lm)

    def judged(self, judge: JudgeTree, candidate: Candidate, part: Part) -> Judgments:
        """Judgments of the judge with this prompt on the items."""
        return judge.graded(part.items, self.raw(candidate, part) if judge.asks_lm else None)

    @property
    def own_accept(self) -> bool:
        """True when experts said accept or reject apart from their grades."""
        labels = self.dataset.labels
        return not labels.accept_only and any(label.accept is not None for label in labels.labels)

    def target(self, part: Part) -> IntArray:
        """Targets of the calibrators, shape (n_items, n_aspects, n_tied): positions, or accepts without any grade."""
        return part.experts.target_accept if self.dataset.labels.accept_only else part.experts.target


def features_of(bench: Bench, items: Sequence[Item]) -> FloatArray | None:
    """The items' features, shape (n_items, n_features), or None without evidence."""
    if bench.evidence is None:
        return None
    model, known = bench.evidence.digest, bench.rows
    keys = [(model, item_digest(item)) for item in items]
    missing = {key: item for key, item in zip(keys, items, strict=True) if key not in known}
    known.update(zip(missing, bench.evidence.transform(list(missing.values())), strict=True))
    return np.array([known[key] for key in keys]).reshape(len(items), len(bench.evidence.names))


def told_features(
    bench: Bench, candidate: Candidate, items: Sequence[Item], features: FloatArray | None, raw: Judgments | None
) -> FloatArray | None:
    """Features with what the LM said of the claims; the same object where it was not asked about any."""
    kind = check_kind(candidate.module)
    if features is None or raw is None or bench.evidence is None or not bench.evidence.reads_told or not kind:
        return features
    return bench.evidence.telling(features, told_of(kind, items, raw.rationale))


def calibrated(bench: Bench, candidate: Candidate, judge: Fitted | None = None) -> Fitted:
    """The judge with this prompt: calibrators and decision rules fitted on train and dev, the tie band on dev.

    Args:
        bench: What it is made from.
        candidate: The prompt.
        judge: The judge with it as ``fitted`` makes it, where that was done already.
    """
    judge = judge or fitted(bench, candidate, bench.learned, bench.raw(candidate, bench.learned))
    if not bench.dataset.dev.items:
        return judge
    dev, judged = out_of_fold(judge, bench.dataset.dev)
    return replace(judge, tie_band=tie_band_of(dev, judged, bench.scale))


def out_of_fold(judge: Fitted, part: Part) -> tuple[Part, Judgments]:
    """Of a part that ``fitted`` learned from the items, and what the judge says of them without their query.

    Args:
        judge: As ``fitted`` made it.
        part: Train or dev, or a piece of them.
    """
    said = judge.out_of_fold
    assert said is not None  # the compile has just fitted it
    row = {item_id: i for i, item_id in enumerate(said.item_ids)}
    known = [i for i, item in enumerate(part.items) if item.item_id in row]
    return part.rows(known), said.subset([row[part.items[i].item_id] for i in known])


def rated_out_of_fold(bench: Bench, judge: Fitted, part: Part, raw: Judgments) -> GradePairs:
    """Rates with a judge that was fitted on the raw verdicts of ``part``, out of fold, beside the experts.

    An item keeps the reason why its raw verdict is unscored: whether nobody asked for it, or asking failed.
    """
    said = out_of_fold(judge, part)[1]
    reasons = tuple(why or reason for why, reason in zip(raw.unscored, said.unscored, strict=True))
    return ratings_of(bench.dataset, part, replace(said, unscored=reasons))


def evidence_only(bench: Bench, candidate: Candidate) -> Fitted:
    """The judge that asks no LM: the calibrator on evidence alone."""
    return fitted(bench, candidate, bench.learned, None)


def fitted(bench: Bench, candidate: Candidate, part: Part, raw: Judgments | None) -> Fitted:
    """The judge with this prompt, fitted on the raw verdicts of ``part``, or on its evidence alone."""
    features = features_of(bench, part.items)
    told = told_features(bench, candidate, part.items, features, raw)
    target = bench.target(part)
    calibrators = {}
    said: list[tuple[IntArray, OutOfFold | None]] = []
    for j, aspect in enumerate(bench.aspects):
        known = np.flatnonzero((target[:, j, 0] >= 0) & (True if raw is None else raw.scored))
        if not known.size:
            said.append((known, None))
            continue
        data = Data(
            verdicts=None if raw is None else raw.probabilities[known, j],
            evidence=None if told is None else told[known],
            alone=None if told is features or features is None else features[known],
            target=target[known, j],
            cluster=part.experts.cluster[known],
            scale=bench.scale,
            accept=part.experts.target_accept[known, j],
            own_accept=bench.own_accept,
            stated=None if raw is None else raw.grade[known, j],
            joint="panel" in candidate.settings,
        )
        calibrators[aspect], found = fit_out_of_fold(
            data,
            names=() if bench.evidence is None else bench.evidence.names,
            seed=bench.seed,
            objective=bench.objective,
        )
        said.append((known, found))
    judgments = _judgments(bench, part, said)
    return Fitted(
        calibrated_by(bench.rater(candidate), calibrators, bench.evidence, bench.aspects),
        bench.dataset.labels.task,
        bench.scale,
        bench.aspects,
        out_of_fold=judgments,
        half_way=half_way(raw, bench.scale) if raw is not None else 0,
    )


def _judgments(bench: Bench, part: Part, said: Sequence[tuple[IntArray, OutOfFold | None]]) -> Judgments:
    """Judgments made of what was said out of fold; an item that any aspect lacks is unscored."""
    made = Judgments.blank([item.item_id for item in part.items], bench.aspects, len(bench.scale.grades))
    for j, (rows, found) in enumerate(said):
        for name in OutOfFold.__slots__ if found is not None else ():
            getattr(made, name)[rows, j] = getattr(found, name)
    missing = (made.grade == UNSCORED).any(axis=1).tolist()
    return replace(made, unscored=tuple(NOT_FOLDED if gone else None for gone in missing))
