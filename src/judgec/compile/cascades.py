"""Makes a cascade of two judges, and says whether its promise holds: hardly worse than the dear judge alone.

Below which confidence of the cheap judge the dear one is asked is fitted on what both judges, calibrated, say out of
fold of train and dev. The test items then decide whether the cascade ships, by an interval over queries.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from judgec.compile.assemble import Bench, Fitted, calibrated, fitted, out_of_fold
from judgec.compile.costs import cost_once
from judgec.compile.dataset import Part, ratings_of
from judgec.compile.parts import Parts
from judgec.compile.rated import Rated, RecordedCost
from judgec.compile.search.candidates import Candidate
from judgec.compile.search.plan import asked_once
from judgec.compile.settings import CompileSettings
from judgec.compile.winner import MARGIN, difference, gain, hardly_worse
from judgec.errors import UserError
from judgec.lm.watch import Watch
from judgec.raters.grading import either_way
from judgec.raters.pairwise import mirror
from judgec.raters.pool import merged
from judgec.raters.recorded import MIN_COMMON
from judgec.raters.tree import EVIDENCE, Cascade, least_confidence
from judgec.records.estimate import Estimate
from judgec.records.judgment import NOT_ASKED, Judgments
from judgec.records.label import FloatArray
from judgec.report.numbers import number, objective_name, percent, show

SHARES = np.arange(1, 20) / 20  # of dear calls that are tried
NEAR = 0.02  # of the items: how far from a share a threshold may be moved into a wider gap

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Tested:
    """The test items by both judges of a cascade and by the cascade; not asked where one of the two was not.

    Args:
        cheap: The cheap judge's judgments.
        dear: The dear one's.
        whole: The cascade's.
        raw: The verdicts that it follows from.
    """

    cheap: Judgments
    dear: Judgments
    whole: Judgments
    raw: Judgments


@dataclass(frozen=True, slots=True)
class MadeCascade:
    """A cascade of one round.

    Args:
        rated: It beside the candidates that were compared, out of fold on train and dev.
        judge: It as a judge.
        tested: Of the round's test items; None where there are none.
        note: Why it cannot ship whatever the numbers say; or empty.
    """

    rated: Rated
    judge: Fitted
    tested: Tested | None
    note: str


@dataclass(frozen=True, slots=True)
class CascadeFound:
    """A cascade in the report.

    Args:
        cheap: Who is asked first.
        dear: Who is asked where the first is not sure.
        share: Of the test items on which the dear judge is asked.
        calls_saved: How many test items it is not asked about.
        cost_per_1000: US dollars for 1,000 items; None where a price is not known.
        minus_dear: The objective of the cascade minus that of the dear judge, compiled, on test.
        shipped: Whether it is the judge of this compile.
        reason: Why, or why not.
    """

    cheap: str
    dear: str
    share: float
    calls_saved: int
    cost_per_1000: float | None
    minus_dear: Estimate
    shipped: bool
    reason: str

    def to_json(self) -> dict[str, object]:
        """The report's ``cascade``."""
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"minus_dear": self.minus_dear.to_json()}


def make_cascade(
    bench: Bench, first: Candidate | None, second: Candidate, settings: CompileSettings, watch: Watch
) -> MadeCascade:
    """Both judges calibrated, and the threshold between them.

    Args:
        bench: What they are made from.
        first: The cheap one; None for evidence.
        second: The dear one.
        settings: With ``cascade``, their names.
        watch: Told what happens.

    Raises:
        UserError: The two judges share too few labelled items.
    """
    assert settings.candidates.combine.cascade is not None
    cheap, dear = settings.candidates.combine.cascade
    watch.stage("cascade", f"{cheap}, then {dear}, by {objective_name(bench.objective.name)}")
    part = bench.learned
    raws = [None if first is None else bench.raw(first, part), bench.raw(second, part)]
    one, two = (fitted(bench, who, part, raw) for who, raw in zip((first or second, second), raws, strict=True))
    said = [_as_said(judge, raw, part) for judge, raw in zip((one, two), raws, strict=True)]
    both = said[0].asked & said[1].asked
    if int(both.sum()) < MIN_COMMON and bench.recorded is not None:
        raise UserError(
            f"--cascade {cheap},{dear}: both were asked about {int(both.sum())} labelled items of train and "
            f"dev, {MIN_COMMON} are needed. Record more verdicts, or name others."
        )
    tree = Cascade(first=one.rater, then=two.rater, below=fit_threshold(bench, part, said[0], said[1], both))
    whole = _masked(_handed_on(said[0], said[1], tree.passed_on(said[0]).tolist()), both)
    named, name = {"cascade": cheap}, f"{cheap} > {dear}"
    if bench.recorded is not None:
        named["judge"] = name
    candidate = replace(second, name=name, settings={**second.settings, **named}, rater=tree)
    judge = calibrated(bench, candidate, replace(two, tree=tree, out_of_fold=whole))
    tested = _tested(bench, first, second, tree, judge) if bench.dataset.test.items else None
    assert whole.escalated is not None  # of a cascade
    asked = int(whole.asked.sum())
    calls, usd = _cost(bench, part, second, float(whole.escalated[whole.asked].mean()), settings)
    bill, ratings = (
        RecordedCost(calls * asked, asked, usd and usd * asked / 1000),
        ratings_of(bench.dataset, part, whole),
    )
    rated = Rated(candidate, whole, ratings, ratings, bill)
    note = "" if two.asks_lm else f"{dear} calibrated reads evidence alone"
    return MadeCascade(rated, judge, tested, note)


def fit_threshold(bench: Bench, part: Part, first: Judgments, second: Judgments, both: BoolArray) -> float:
    """The lowest confidence of the cheap judge below which it is enough to ask the dear one.

    Enough is where the cascade is shown to be hardly worse than the dear judge alone, by one standard error; where
    nothing is, the highest of those that are tried.

    Args:
        bench: With the labels and the objective.
        part: The items.
        first: The cheap judge's judgments of them, out of fold.
        second: The dear judge's.
        both: Which of them both were asked about.
    """
    sure, at = least_confidence(first), 0.0
    alone = ratings_of(bench.dataset, part, _masked(second, both))
    for at in thresholds(sure[both]):
        mixed = _masked(_handed_on(first, second, np.flatnonzero(~(sure >= at)).tolist()), both)
        if hardly_worse(gain(ratings_of(bench.dataset, part, mixed), alone, bench.objective)):
            break
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


def tested_cascade(
    parts: Parts, bench: Bench, tried: Sequence[MadeCascade | None], settings: CompileSettings
) -> CascadeFound | None:
    """Tests on the test items whether the promise holds, each by the cascade of its split; None where nobody asked.

    Args:
        parts: The data of all splits.
        bench: Of the last split, whose cascade would ship.
        tried: The cascades of the splits.
        settings: With ``cascade``, the names of both judges.
    """
    made, names = tried[-1], settings.candidates.combine.cascade
    if made is None or names is None:
        return None
    pieces = [one.tested for one in tried[: len(parts.tested)] if one is not None and one.tested is not None]
    tested = Tested(*(parts.pool([getattr(one, name) for one in pieces]) for name in Tested.__slots__))
    part, whole = parts.pooled.test, tested.whole
    rated = [ratings_of(parts.pooled, part, one) for one in (tested.cheap, tested.dear, whole)]
    assert whole.escalated is not None  # a cascade's judgments say it
    n, count = int(whole.asked.sum()), int((whole.escalated & whole.asked).sum())
    share = count / n if n else 0.0
    minus, alone = (difference(one, rated[1], bench.objective) for one in (rated[2], rated[0]))
    held = f"{names[0]}, then {names[1]} on {percent(share)} of the items: "
    held += f"{show(minus, 3, sign=True)} against {names[1]} alone"
    if alone.low is not None and alone.low > -MARGIN:
        held += f"; {names[0]} alone keeps the promise, too, with {show(alone, 3, sign=True)}"
    fails = [*filter(None, [made.note]), *_failures(names[1], share, minus)]
    reason = f"none ships: {'; '.join(fails)} ({held})" if fails else f"ships: {held}"
    _, usd = _cost(bench, part, made.rated.candidate, share, settings)
    return CascadeFound(*names, share, n - count, usd, minus, not fails, reason)


def _failures(dear: str, share: float, minus: Estimate) -> Sequence[str]:
    if share in {0.0, 1.0}:
        return [f"{dear} is asked about {'no' if share == 0 else 'every'} item"]
    if minus.low is None or minus.low <= -MARGIN:
        low = "unknown" if minus.low is None else number(minus.low, 3)
        return [f"it may be more than {number(MARGIN)} worse than {dear} alone (lower bound {low})"]
    return []


def _cost(
    bench: Bench, part: Part, dear: Candidate, share: float, settings: CompileSettings
) -> tuple[float, float | None]:
    """Calls an item, and US dollars for 1,000 items, as recorded or at list price."""
    assert settings.candidates.combine.cascade is not None
    if bench.recorded is None:
        asked, n = asked_once(dear.module, part.items, settings.lm), len(part.items)
        return share * asked.calls / n, None if asked.usd is None else 1000 * share * asked.usd / n
    calls, usd, ids = 0.0, list[float | None](), [item.item_id for item in part.items]
    for name, of in zip(settings.candidates.combine.cascade, (1.0, share), strict=True):
        if name != EVIDENCE:
            cost, (made, about) = cost_once(bench.recorded, name, part.items), bench.recorded.calls_of(name, ids)
            usd.append(None if cost is None else 1000 * of * cost)
            calls += of * made / max(1, about)
    return calls, None if None in usd else sum(one for one in usd if one is not None)


def _tested(bench: Bench, first: Candidate | None, second: Candidate, tree: Cascade, judge: Fitted) -> Tested:
    part = bench.dataset.test
    raw = replace(bench.raw(second, part), first=None if first is None else bench.raw(first, part))
    cheap = replace(judge, tree=tree.first).graded(part.items, raw.first)
    dear = replace(judge, tree=tree.then).graded(part.items, raw)
    both = raw.asked if raw.first is None else raw.asked & raw.first.asked
    return Tested(*(_masked(one, both) for one in (cheap, dear, judge.graded(part.items, raw), raw)))


def _handed_on(first: Judgments, second: Judgments, rows: list[int]) -> Judgments:
    """The first judge's judgments, those of the second in these rows."""
    return merged(first, second.subset(rows), np.array(rows, dtype=np.int64))


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
