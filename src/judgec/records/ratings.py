"""The grades of two graders side by side: what every agreement statistic is computed from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from judgec.records.consensus import people_mean, share_of
from judgec.records.judgment import Judgments
from judgec.records.label import Experts, FloatArray, IntArray, TextArray
from judgec.records.scale import ACCEPT_SCALE, Scale

BoolArray = NDArray[np.bool_]

ROUNDING = 9  # digits: means of annotators that differ by rounding are equal


@dataclass(frozen=True, slots=True)
class GradePairs:
    """Experts and a judge on the same items, one row a pair of grades; aspects are flattened.

    Only rows that an expert labelled are here. A row that the judge left unscored is kept, with -1 / NaN. One that it
    was never asked about is kept too, so that rows of two judges are of the same items, and has lost the expert's
    label: it enters no statistic.

    Args:
        target: Expert grade positions, shape (n, n_tied): the one, or those that share the row in equal parts; -1 fills
            up, and stands where only accept was labelled.
        judge: Judge grade positions, shape (n,); -1 when unscored.
        score: The judge's score in scale units, shape (n,); NaN when unscored.
        target_accept: 1 / 0 in the same form; -1 when unknown.
        judge_accept: 1 / 0, shape (n,); -1 when unscored or unknown.
        cluster: Code of the row's query, shape (n,), values 0..n_clusters-1.
        values: What each grade stands for, shape (n_grades,).
        n_clusters: How many queries the rows were drawn from; a query may have lost all of its rows.
        people: Mean of what each row's annotators gave, in scale units, shape (n,); None where one annotator graded,
            whose grade it is.
        interval: The scale has no grades but numbers: what people gave is compared with ``score``.
        system: Who answered, empty where nobody says or people left out an aspect, shape (n,); None where nobody says
            of any row.
    """

    target: IntArray
    judge: IntArray
    score: FloatArray
    target_accept: IntArray
    judge_accept: IntArray
    cluster: IntArray
    values: tuple[float, ...]
    n_clusters: int
    people: FloatArray | None = None
    interval: bool = False
    system: TextArray | None = None

    @property
    def n_grades(self) -> int:
        """Number of grades that the scale has."""
        return len(self.values)

    @property
    def given(self) -> FloatArray:
        """Mean grade that people gave, in scale units, shape (n,); NaN where nobody graded."""
        first = self.target[:, 0]
        single = np.where(first >= 0, np.array(self.values)[np.maximum(first, 0)], np.nan)
        return single if self.people is None else np.where(np.isnan(self.people), single, self.people)

    @property
    def order(self) -> IntArray:
        """The people's grades as integers in the same order, as ``target``: positions, of numbers their ranks."""
        if not self.interval or not self.graded.all():
            return self.target
        return np.unique(np.round(self.given, ROUNDING), return_inverse=True)[1].astype(np.int64)[:, None]

    @property
    def share(self) -> FloatArray:
        """The part of each row that each grade has, shape (n, n_grades): a row adds up to 1, without a grade to 0."""
        return share_of(self.target, self.n_grades)

    @property
    def graded(self) -> BoolArray:
        """True for rows that an expert graded, shape (n,)."""
        return np.asarray(self.target[:, 0] >= 0)

    @property
    def voted(self) -> BoolArray:
        """True for rows that an expert accepted or rejected, shape (n,)."""
        return np.asarray(self.target_accept[:, 0] >= 0)

    @property
    def shared(self) -> bool:
        """True where two grades share a row."""
        return bool((self.target[:, 1:] >= 0).any())

    @property
    def span(self) -> float:
        """From the worst to the best value of the scale."""
        return self.values[-1] - self.values[0]

    @property
    def labelled(self) -> BoolArray:
        """False for rows that the judge was never asked about, shape (n,)."""
        return self.graded | self.voted

    def masked(self, kept: BoolArray) -> Self:
        """All rows, those where ``kept`` is false as if the judge had not been asked about them."""
        if kept.all():
            return self
        return replace(
            self,
            target=np.where(kept[:, None], self.target, -1),
            judge=np.where(kept, self.judge, -1),
            score=np.where(kept, self.score, np.nan),
            target_accept=np.where(kept[:, None], self.target_accept, -1),
            judge_accept=np.where(kept, self.judge_accept, -1),
        )

    def with_rows(self, rows: BoolArray, other: Self) -> Self:
        """These rows of another judge of the same items, the rest as they are."""
        return replace(
            self,
            target=np.where(rows[:, None], other.target, self.target),
            judge=np.where(rows, other.judge, self.judge),
            score=np.where(rows, other.score, self.score),
            target_accept=np.where(rows[:, None], other.target_accept, self.target_accept),
            judge_accept=np.where(rows, other.judge_accept, self.judge_accept),
        )

    def where(self, mask: BoolArray) -> Self:
        """The rows where ``mask`` is true; cluster codes are kept, so that resampling weights stay valid."""
        return type(self)(
            self.target[mask],
            self.judge[mask],
            self.score[mask],
            self.target_accept[mask],
            self.judge_accept[mask],
            self.cluster[mask],
            self.values,
            self.n_clusters,
            None if self.people is None else self.people[mask],
            self.interval,
            None if self.system is None else self.system[mask],
        )


def pair(
    experts: Experts, judgments: Judgments, scale: Scale, *, accept_only: bool, aspect: int | None = None
) -> GradePairs:
    """Put a judge beside the experts' consensus, row i of both being the same item.

    Args:
        experts: The labels as arrays.
        judgments: The judge's.
        scale: Of both.
        accept_only: Compare accept / reject instead of grades: then ``target`` and ``judge`` are the accepts,
            as they are when nobody gave a grade.
        aspect: Position of the one aspect to keep; None flattens all of them.
    """
    columns = slice(None) if aspect is None else slice(aspect, aspect + 1)
    width = experts.target[:, columns].shape[1]
    cluster = np.repeat(experts.cluster, width)
    target_accept, target = (
        one[:, columns].reshape(-1, one.shape[-1]) for one in (experts.target_accept, experts.target)
    )
    target = target_accept if accept_only else target
    judge_accept = judgments.accept[:, columns].ravel()
    judge = judge_accept if accept_only else judgments.grade[:, columns].ravel()
    values = ACCEPT_SCALE.values if accept_only else scale.values
    score = judgments.score[:, columns].ravel()
    n_clusters = int(experts.cluster.max(initial=-1)) + 1
    by = (experts.accept_by if accept_only else experts.grade_by)[:, :, columns]
    people = people_mean(by, np.array(values)).ravel() if len(experts.annotators) > 1 else None
    interval = scale.interval and not accept_only
    system = None
    if experts.system is not None:  # an item without one of its aspects is no fair part of a system's mean
        whole = (target[:, 0].reshape(-1, width) >= 0).all(axis=1)
        system = np.repeat(np.where(whole, experts.system, ""), width)
    ratings = GradePairs(
        target, judge, score, target_accept, judge_accept, cluster, values, n_clusters, people, interval, system
    )
    labelled = ratings.labelled
    return ratings.where(labelled).masked(np.repeat(judgments.asked, width)[labelled])


def stacked(parts: Sequence[GradePairs]) -> GradePairs:
    """The rows of several ratings on one scale, with the same codes of queries, below each other."""
    means = [part.people for part in parts]
    return GradePairs(
        np.concatenate([part.target for part in parts]),
        np.concatenate([part.judge for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.target_accept for part in parts]),
        np.concatenate([part.judge_accept for part in parts]),
        np.concatenate([part.cluster for part in parts]),
        parts[0].values,
        max(part.n_clusters for part in parts),
        None if any(one is None for one in means) else np.concatenate([one for one in means if one is not None]),
        parts[0].interval,
    )


def on_both(one: GradePairs, other: GradePairs) -> tuple[GradePairs, GradePairs]:
    """Two judges' ratings of the same rows on those alone that both were asked about."""
    both = one.labelled & other.labelled
    return one.masked(both), other.masked(both)
