"""Makes a cascade of two judges, and says whether its promise holds: hardly worse than the strong judge alone, and
better than asking the strong judge about items drawn at random.

Below which confidence of the cheap judge the strong one is asked is fitted on what both judges, calibrated, say out of
fold of train and dev. The test items then decide whether the cascade ships, by intervals over queries.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import dspy
import numpy as np
from numpy.typing import NDArray

from judgec.compile.assemble import Bench, Fitted, calibrated, calibration_data, fitted, learned_part, out_of_fold
from judgec.compile.choose import ScoredCandidate
from judgec.compile.dataset import Part, ratings_of
from judgec.compile.list_price import cost_once
from judgec.compile.recorded import candidate_of, worth_of
from judgec.compile.search.candidates import Candidate
from judgec.compile.search.plan import asked_once
from judgec.compile.settings import CompileSettings
from judgec.errors import UserError
from judgec.lm.watch import Watch
from judgec.raters.grading import either_way
from judgec.raters.pairwise import mirror
from judgec.raters.pool import merged
from judgec.raters.recorded import MIN_COMMON
from judgec.raters.tree import EVIDENCE, Cascade, least_confidence
from judgec.records.estimate import Estimate
from judgec.records.judgment import NOT_ASKED, Judgments
from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.report.numbers import number, objective_name, percent, show
from judgec.stats.agreement.objective import Objective
from judgec.stats.agreement.statistic import Statistic, weighted_sum
from judgec.stats.intervals.jackknife import difference_interval
from judgec.stats.intervals.paired_gain import PairedGain, paired_gain

MARGIN = 0.02  # of the objective, that a cascade may be worse than the strong judge
DRAWS = 200  # of random escalation on test
FIT_DRAWS = 20  # the same while the threshold is fitted
SHARES = np.arange(1, 20) / 20  # of strong calls that are tried
NEAR = 0.02  # of the items: how far from a share a threshold may be moved into a wider gap
SHOWN = 2.8  # standard errors on test: from there a bound of 95 % holds in 80 % of tests

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two calibrated judges beside the experts on the same rows, and which item each row is of.

    Args:
        first: The cheap judge's.
        second: The strong judge's.
        item: Position of each row's item.
        both: Items that both were asked about.
    """

    first: GradePairs
    second: GradePairs
    item: IntArray
    both: BoolArray

    def mixed(self, strong: BoolArray) -> GradePairs:
        """The cheap judge's grades, and the strong one's of these items."""
        rows, one, two = strong[self.item], self.first, self.second
        return replace(
            one,
            judge=np.where(rows, two.judge, one.judge),
            score=np.where(rows, two.score, one.score),
            judge_accept=np.where(rows, two.judge_accept, one.judge_accept),
        )

    def random(self, count: int, draws: int, objective: Objective, seed: int) -> Statistic:
        """The mean objective where the strong judge is asked about so many items drawn at random."""
        rng, asked, parts = np.random.default_rng(seed), np.flatnonzero(self.both), []
        for _ in range(draws):
            strong = np.zeros(len(self.both), dtype=bool)
            strong[rng.choice(asked, count, replace=False)] = True
            parts.append((1.0 / draws, objective.statistic(self.mixed(strong))))
        return weighted_sum(parts)


@dataclass(frozen=True, slots=True)
class Tested:
    """The test items by both judges of a cascade and by the cascade; not asked where one of the two was not.

    Args:
        cheap: The cheap judge's, calibrated.
        strong: The strong judge's, calibrated.
        whole: The cascade's.
        raw: The verdicts that it follows from.
    """

    cheap: Judgments
    strong: Judgments
    whole: Judgments
    raw: Judgments


@dataclass(frozen=True, slots=True)
class MadeCascade:
    """A cascade of one round.

    Args:
        candidate: It as a candidate.
        tree: The two judges in their order, and the rule for asking the second.
        judge: It as a judge.
        tested: Of the round's test items; None where there are none.
        scored: It beside the judges that were compared, out of fold on train and dev.
        notes: Why it cannot ship whatever the numbers say.
    """

    candidate: Candidate
    tree: Cascade
    judge: Fitted
    tested: Tested | None
    scored: ScoredCandidate
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CascadeFound:
    """A cascade in the report.

    Args:
        cheap: Who is asked first.
        strong: Who is asked where the first is not sure.
        share: Of the test items on which the strong judge is asked.
        calls_saved: How many test items it is not asked about.
        cost_per_1000: US dollars for 1,000 items; None where a price is not known.
        minus_strong: The objective of the cascade minus that of the strong judge, compiled, on test.
        minus_random: The same minus the mean of ``DRAWS`` draws of as many strong calls at random.
        shipped: Whether it is the judge of this compile.
        reason: Why, or why not.
    """

    cheap: str
    strong: str
    share: float
    calls_saved: int
    cost_per_1000: float | None
    minus_strong: Estimate
    minus_random: Estimate
    shipped: bool
    reason: str

    key: ClassVar = "cascade"  # of report.json

    def to_json(self) -> dict[str, object]:
        """The report's ``cascade``."""
        return {
            "cheap": self.cheap,
            "dear": self.strong,
            "share": self.share,
            "calls_saved": self.calls_saved,
            "cost_per_1000": self.cost_per_1000,
            "minus_dear": self.minus_strong.to_json(),
            "minus_random": self.minus_random.to_json(),
            "shipped": self.shipped,
            "reason": self.reason,
        }


def make_cascade(
    bench: Bench,
    module: dspy.Module,
    chosen: Candidate,
    settings: CompileSettings,
    objective: Objective,
    watch: Watch,
    tested: int,
) -> MadeCascade:
    """Both judges calibrated, and the threshold between them.

    Args:
        bench: With the recorded verdicts, or the way to the model.
        module: What a judge of these labels looks like.
        chosen: The prompt of a model that is asked; it comes after evidence.
        settings: With ``cascade``, the two names.
        objective: What is compared.
        watch: Told what happens.
        tested: Queries that the promise is tested on, in all folds.

    Raises:
        UserError: The two judges share too few labelled items.
    """
    assert settings.combine.cascade is not None
    cheap, strong = settings.combine.cascade
    watch.stage("cascade", f"{cheap}, then {strong}, by {objective_name(objective.name)}")
    if bench.recorded is not None:
        candidate, part = candidate_of(bench, strong, module), learned_part(bench)
        one = candidate if cheap == EVIDENCE else candidate_of(bench, cheap, module)
        raws = [None if cheap == EVIDENCE else bench.raw(one, part), bench.raw(candidate, part)]
    else:
        one, candidate, (part, raw) = chosen, chosen, calibration_data(bench, chosen)
        raws = [None, raw]
    first, second = (fitted(bench, who, part, raw) for who, raw in zip((one, candidate), raws, strict=True))
    said = [_as_said(judge, raw, part) for judge, raw in zip((first, second), raws, strict=True)]
    pairs = pairs_of(bench, part, *said)
    if int(pairs.both.sum()) < MIN_COMMON and bench.recorded is not None:
        raise UserError(
            f"--cascade {cheap},{strong}: both were asked about {int(pairs.both.sum())} labelled items of train and "
            f"dev, {MIN_COMMON} are needed. Record more verdicts, or name others."
        )
    least = SHOWN * float(np.sqrt(part.n_queries / max(1, tested)))
    below = fit_threshold(pairs, least_confidence(said[0]), objective, least, bench.seed)
    tree = Cascade(first=first.rater, then=second.rater, below=below)
    rows = tree.passed_on(said[0])
    whole = _masked(merged(said[0], said[1].subset(rows.tolist()), rows), pairs.both)
    notes = () if second.asks_lm else (f"cascade: {strong} calibrated reads evidence alone",)
    named, name = {"cascade": cheap}, f"{cheap} > {strong}"
    if bench.recorded is not None:
        named["judge"] = name
    both = (None if cheap == EVIDENCE else one), candidate
    candidate = replace(candidate, name=name, settings={**candidate.settings, **named}, rater=tree)
    judge = calibrated(bench, candidate, replace(second, tree=tree, out_of_fold=whole))
    said_of_test = _tested(bench, *both, tree, judge) if bench.dataset.test.items else None
    return MadeCascade(
        candidate, tree, judge, said_of_test, _scored(bench, part, candidate, whole, objective, settings), notes
    )


def fit_threshold(pairs: Pairs, sure: FloatArray, objective: Objective, least: float, seed: int) -> float:
    """The confidence of the cheap judge below which the strong one is asked.

    Of the shares of strong calls at which both promises are likely to be shown on test, the smallest; where there is
    none, the one at which the weaker of both is nearest to that.

    Args:
        pairs: Both judges, out of fold.
        sure: The cheap one's confidence, shape (n_items,); -infinity where it decided nothing.
        objective: What is compared.
        least: Standard errors, out of fold, at which a promise is likely to be shown on test.
        seed: Of random escalation.
    """
    best, at = -np.inf, 0.0
    alone = objective.statistic(pairs.second)
    for threshold in thresholds(sure[pairs.both]):
        strong = (sure < threshold) & pairs.both
        mixed = objective.statistic(pairs.mixed(strong))
        random = pairs.random(int(strong.sum()), FIT_DRAWS, objective, seed)
        holds = min(
            _standard(paired_gain(mixed, alone), MARGIN),
            _standard(paired_gain(mixed, random), 0.0),
        )
        if holds > best:
            best, at = holds, threshold
        if holds >= least:
            return threshold
    return at


def thresholds(sure: FloatArray) -> list[float]:
    """Confidences between those of the items, one for each share of ``SHARES``, the lowest first.

    Each lies in the middle of the widest gap near its share, so that items with the same verdict stay on one side when
    the calibrator is fitted again.

    Args:
        sure: One an item; -infinity where nothing was decided.
    """
    order = np.sort(sure[np.isfinite(sure)])
    found: list[float] = []
    if len(order) < 2:
        return [float(order[0]) if len(order) else 0.0]
    gap, reach, undecided = np.diff(order), max(1, round(NEAR * len(sure))), len(sure) - len(order)
    for share in SHARES:
        at = round(share * len(sure)) - undecided - 1
        near = np.arange(max(0, at - reach), min(len(gap), at + reach + 1))
        if len(near) and gap[near].max() > 0:
            cut = int(near[gap[near].argmax()])
            found.append(float((order[cut] + order[cut + 1]) / 2.0))
    return sorted(set(found)) or [float(order[0])]


def _standard(gain: PairedGain, margin: float) -> float:
    """Distance of the gain from ``-margin``, in standard errors."""
    above = gain.value + margin
    if gain.error is None:
        return -np.inf
    return np.inf if gain.error == 0 < above else above / max(gain.error, 1e-12)


def pairs_of(bench: Bench, part: Part, first: Judgments, second: Judgments) -> Pairs:
    """Both judges beside the experts, on the items that both were asked about.

    Args:
        bench: With the scale.
        part: The items.
        first: The cheap judge's judgments of them.
        second: The strong judge's.
    """
    accept_only = bench.dataset.labels.accept_only
    both = first.asked & second.asked
    one, two = (ratings_of(bench.dataset, part, _masked(said, both)) for said in (first, second))
    known = part.experts.target_accept[..., 0] >= 0
    if not accept_only:
        known = known | (part.experts.target[..., 0] >= 0)
    item = np.repeat(np.arange(len(part)), known.shape[1])[known.ravel()]
    return Pairs(one, two, item, both)


def outcome(
    bench: Bench,
    part: Part,
    made: MadeCascade,
    tested: Tested,
    objective: Objective,
    settings: CompileSettings,
) -> CascadeFound:
    """Tests on the test items whether the promise holds.

    Args:
        bench: With the recorded verdicts.
        part: The test items.
        made: The cascade that would ship.
        tested: The items by both judges, and by the cascades of their rounds.
        objective: What is compared.
        settings: Of the intervals.
    """
    assert settings.combine.cascade is not None  # made with one
    names = settings.combine.cascade
    pairs = pairs_of(bench, part, tested.cheap, tested.strong)
    assert tested.whole.escalated is not None  # a cascade's judgments say it
    strong, n = tested.whole.escalated & pairs.both, int(pairs.both.sum())
    count = int(strong.sum())
    share = count / n if n else 0.0
    mixed = objective.statistic(pairs.mixed(strong))
    rivals = (
        objective.statistic(pairs.second),
        pairs.random(count, DRAWS, objective, settings.seed),
    )
    rows = int(pairs.first.labelled.sum())
    minus_strong, minus_random = (
        difference_interval(mixed, rival, resamples=settings.resamples, seed=settings.seed).estimate(rows)
        for rival in rivals
    )
    fails = [*made.notes, *_failures(names[1], share, minus_strong, minus_random)]
    held = (
        f"{names[0]}, then {names[1]} on {percent(share)} of the items: {show(minus_strong, 3, sign=True)} against "
        f"{names[1]} alone, {show(minus_random, 3, sign=True)} against as many calls at random"
    )
    alone = difference_interval(
        objective.statistic(pairs.first), rivals[0], resamples=settings.resamples, seed=settings.seed
    )
    if alone.low is not None and alone.low > -MARGIN:
        held += f"; {names[0]} alone keeps the first promise, too, with {show(alone.estimate(rows), 3, sign=True)}"
    reason = f"none ships: {'; '.join(fails)} ({held})" if fails else f"ships: {held}"
    _, cost = _cost(bench, part, names, share, settings, made.candidate.module)
    return CascadeFound(*names, share, n - count, cost, minus_strong, minus_random, not fails, reason)


def _failures(strong: str, share: float, minus_strong: Estimate, minus_random: Estimate) -> list[str]:
    if share in {0.0, 1.0}:
        return [f"{strong} is asked about {'no' if share == 0 else 'every'} item"]
    found = []
    if minus_strong.low is None or minus_strong.low <= -MARGIN:
        low = "unknown" if minus_strong.low is None else number(minus_strong.low, 3)
        found.append(f"it may be more than {number(MARGIN)} worse than {strong} alone (lower bound {low})")
    if minus_random.low is None or minus_random.low <= 0:
        low = "unknown" if minus_random.low is None else number(minus_random.low, 3)
        found.append(f"it is not shown to be better than asking at random (lower bound {low})")
    return found


def _cost(
    bench: Bench, part: Part, names: tuple[str, str], share: float, settings: CompileSettings, module: dspy.Module
) -> tuple[float, float | None]:
    """Calls an item, and US dollars for 1,000 items, as recorded or at list price."""
    if bench.recorded is None:
        asked = asked_once(module, part.items, settings.lm)
        n = len(part.items)
        return share * asked.calls / n, None if asked.usd is None else 1000 * share * asked.usd / n
    calls, dollars, ids = 0.0, 0.0, [item.item_id for item in part.items]
    known = True
    for name, of in zip(names, (1.0, share), strict=True):
        if name != EVIDENCE:
            cost, (made, asked_about) = cost_once(bench.recorded, name, part.items), bench.recorded.calls_of(name, ids)
            known = known and cost is not None
            dollars += 1000 * of * (cost or 0.0)
            calls += of * made / max(1, asked_about)
    return calls, dollars if known else None


def _tested(bench: Bench, one: Candidate | None, other: Candidate, tree: Cascade, judge: Fitted) -> Tested:
    part = bench.dataset.test
    raw = replace(bench.raw(other, part), first=None if one is None else bench.raw(one, part))
    cheap, strong = (
        replace(judge, tree=tree.first).graded(part.items, raw.first),
        replace(judge, tree=tree.then).graded(part.items, raw),
    )
    both = raw.asked if raw.first is None else raw.asked & raw.first.asked
    return Tested(
        _masked(cheap, both), _masked(strong, both), _masked(judge.graded(part.items, raw), both), _masked(raw, both)
    )


def _as_said(judge: Fitted, raw: Judgments | None, part: Part) -> Judgments:
    """Judgments of a judge out of fold; of what it was not asked or failed on, that."""
    said = out_of_fold(judge, part)[1]
    if raw is None:
        return said
    if judge.pairs:  # each verdict is of both orders already
        said = either_way(said, mirror(said, judge.scale), raw, judge.calibrators, judge.scale)
    return replace(said, unscored=tuple(why or reason for why, reason in zip(raw.unscored, said.unscored, strict=True)))


def _masked(judgments: Judgments, both: BoolArray) -> Judgments:
    """Not asked, where one of the two judges was not: nothing can be compared there."""
    if both.all():
        return judgments
    reasons = zip(both.tolist(), judgments.unscored, strict=True)
    return replace(judgments, unscored=tuple(reason if kept else NOT_ASKED for kept, reason in reasons))


def _scored(
    bench: Bench, part: Part, candidate: Candidate, whole: Judgments, objective: Objective, settings: CompileSettings
) -> ScoredCandidate:
    """The cascade beside the judges that were compared: out of fold, calibrated as it is made."""
    assert whole.escalated is not None
    assert settings.combine.cascade is not None
    rated = ratings_of(bench.dataset, part, whole)
    found = worth_of(rated, objective, settings)
    share, asked = float(whole.escalated[whole.asked].mean()), int(whole.asked.sum())
    per_item, cost = _cost(bench, part, settings.combine.cascade, share, settings, candidate.module)
    unscored = int((rated.labelled & (rated.judge < 0)).sum())
    return ScoredCandidate(
        candidate,
        objective.value(rated),
        unscored,
        int(rated.labelled.sum()),
        estimate=found,
        cost_usd=None if cost is None else cost * asked / 1000,
        calls=per_item * asked,
        asked=asked,
        worth=found,
        rated=rated,
    )
