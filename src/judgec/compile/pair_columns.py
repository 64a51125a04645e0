"""Computes what a report says of preference judges beside the statistics of every judge."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from judgec.compile.dataset import Dataset
from judgec.raters.pairwise import TIE
from judgec.records.agreement import Agreement
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import UNLABELLED, Experts, IntArray, Item
from judgec.records.ratings import GradePairs, pair
from judgec.records.scale import Scale
from judgec.report.numbers import brackets, percent, signed
from judgec.stats.agreement.measure import NOTHING_SCORED, compared_rows, measure, panel_statistic, statistic_of
from judgec.stats.agreement.statistic import SHARE, mean
from judgec.stats.intervals.jackknife import difference_interval, interval

LONGEST = "longest"
AS_LONGEST = "as_longest"
ONE_ORDER = "only one order was asked, or no language model was"
_UNKNOWN = {
    "accuracy_decided": Estimate(value=None, note=NOTHING_SCORED),
    "flip_rate": Estimate(value=None, note="known of a judge that was asked in both orders"),
    AS_LONGEST: Estimate(value=None, note="known of a judge"),
}


def with_preference_columns(
    agreements: Mapping[str, Agreement],
    dataset: Dataset,
    judgments: Mapping[str, Judgments],
    panels: Mapping[str, Sequence[GradePairs]] | None = None,
) -> dict[str, Agreement]:
    """Every judge's column with ``accuracy_decided``, ``flip_rate`` and ``as_longest``, and the baseline ``longest``.

    ``accuracy_decided`` is the accuracy where the experts did not tie, a judge's tie being wrong there;
    ``flip_rate`` the share of pairs whose verdict changed with the order of the answers; ``as_longest`` the share of
    verdicts that are those of ``longest``.

    Args:
        agreements: By judge, on the test items.
        dataset: Of preferences.
        judgments: By judge.
        panels: Ratings beside each expert's, by column: of the experts themselves, and of the compiled judge.
    """
    test, scale = dataset.test, dataset.labels.scale
    everyone = {**judgments, LONGEST: longest(test.items, scale)}
    columns = {name: replace(column, estimates={**column.estimates, **_UNKNOWN}) for name, column in agreements.items()}
    for name, panel in (panels or {}).items():
        beside = next((other for key, other in (panels or {}).items() if key != name and other and panel), ())
        decided = {"accuracy_decided": _decided(panel, scale.position(TIE), beside)}
        columns[name] = replace(columns[name], estimates={**columns[name].estimates, **decided})
    for name, judged in everyone.items():
        ratings = pair(test.experts, judged, scale, accept_only=False)
        column = columns[name] if name in agreements else measure(ratings, nominal=True)
        extra = {
            "accuracy_decided": _decided([ratings], scale.position(TIE)),
            "flip_rate": flip_rate(judged, test.experts.cluster),
            AS_LONGEST: _as_longest(ratings, everyone[LONGEST], test.experts),
        }
        columns[name] = replace(column, estimates={**column.estimates, **extra})
    return columns


def follows_length(judge: GradePairs, by_length: GradePairs) -> str:
    """Evidence that a judge follows length rather than the experts, or empty where there is none.

    It is shown where more of its verdicts are those of ``longest`` than the experts', paired by query.

    Args:
        judge: Beside the experts.
        by_length: ``longest``, of the same rows.
    """
    known = judge.graded & (judge.judge != UNSCORED)
    as_experts = judge.where(known)
    if not known.any():
        return ""
    as_longest = replace(as_experts, target=by_length.where(known).judge[:, None])
    shares = [statistic_of("exact", ratings) for ratings in (as_longest, as_experts)]
    found = difference_interval(*shares)
    if found.low is None or found.low <= 0:
        return ""
    length, experts = (share.point() for share in shares)
    return (
        f"it has learned length: {percent(length)} of its test verdicts are for the longer answer, "
        f"{percent(experts)} are the experts' "
        f"(difference {signed(found.value)} {brackets(found.low, found.high, sign=True)})"
    )


def longest(items: Sequence[Item], scale: Scale) -> Judgments:
    """The judge that prefers the answer with more characters; equally long ones tie."""
    gap = np.array([len(item.text("answer_a")) - len(item.text("answer_b")) for item in items], dtype=np.int64)
    a, b, tie = (scale.position(word) for word in ("a", "b", TIE))
    found = Judgments.blank([item.item_id for item in items], ("grade",), len(scale.grades))
    found.grade[:, 0] = np.where(gap > 0, a, np.where(gap < 0, b, tie))
    found.probabilities[:], found.score[:] = np.eye(len(scale.grades))[found.grade], np.array(scale.values)[found.grade]
    return replace(found, rationale=("the longer answer",) * len(items))


def _decided(panel: Sequence[GradePairs], tie: int, beside: Sequence[GradePairs] = ()) -> Estimate:
    decided, others = (
        [r.where(((r.target >= 0) & (r.target != tie)).any(axis=1)) for r in ratings] for ratings in (panel, beside)
    )
    statistic = panel_statistic("decided", decided, others)
    if statistic is None:
        return Estimate(value=None, note=NOTHING_SCORED)
    return interval(statistic).estimate(sum(len(compared_rows("decided", r).judge) for r in decided))


def _as_longest(ratings: GradePairs, by_length: Judgments, experts: Experts) -> Estimate:
    """Of the labelled pairs that the judge gave a verdict on."""
    labelled = experts.target[..., 0].ravel() != UNLABELLED
    compared = replace(ratings, target=by_length.grade.reshape(-1, 1)[labelled])
    return measure(compared, nominal=True).estimates["exact"]


def flip_rate(judged: Judgments, cluster: IntArray) -> Estimate:
    """The share of scored pairs whose verdict changed with the order of the answers."""
    if judged.flipped is None or not judged.scored.any():
        return Estimate(value=None, note=ONE_ORDER)
    flipped = judged.flipped[judged.scored].astype(np.float64)
    statistic = mean(flipped, cluster[judged.scored], n_clusters=int(cluster.max()) + 1, bounds=SHARE)
    return interval(statistic).estimate(len(flipped))
