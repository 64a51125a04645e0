"""The grades of two graders side by side: what every agreement statistic is computed from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from judgec.records.judgment import Judgments
from judgec.records.label import Experts, FloatArray, IntArray, TextArray
from judgec.records.scale import ACCEPT_SCALE, Scale

ROUNDING = 9  # digits: means of annotators that differ by rounding are equal


@dataclass(frozen=True, slots=True)
class GradePairs:
    """Experts and a judge on the same items, one row a pair of grades; aspects are flattened.

    Only rows that an expert labelled are here. A row that the judge left unscored is kept, with -1 / NaN. One that it
    was never asked about is kept too, so that rows of two judges are of the same items, and has lost the expert's
    label: it enters no statistic.

    Args:
        expert: Expert grade positions, shape (n,); -1 where only accept was labelled.
        judge: Judge grade positions, shape (n,); -1 when unscored.
        score: The judge's score in scale units, shape (n,); NaN when unscored.
        expert_accept: 1 / 0, shape (n,); -1 when unknown.
        judge_accept: 1 / 0, shape (n,); -1 when unscored or unknown.
        cluster: Code of the row's query, shape (n,), values 0..n_clusters-1.
        values: What each grade stands for, shape (n_grades,).
        n_clusters: How many queries the rows were drawn from; a query may have lost all of its rows.
        people: Mean of what each row's annotators gave, in scale units, shape (n,); None where one annotator graded,
            whose grade it is. ``expert`` is a grade of the scale, for which one may have been drawn.
        interval: The scale has no grades but numbers: what people gave is compared with ``score``.
        system: Who answered, empty where nobody says or people left out an aspect, shape (n,); None where nobody says
            of any row.
    """

    expert: IntArray
    judge: IntArray
    score: FloatArray
    expert_accept: IntArray
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
        single = np.where(self.expert >= 0, np.array(self.values)[np.maximum(self.expert, 0)], np.nan)
        return single if self.people is None else np.where(np.isnan(self.people), single, self.people)

    @property
    def order(self) -> IntArray:
        """The people's grades as integers in the same order, shape (n,): positions, of numbers their ranks."""
        if not self.interval or (self.expert < 0).any():
            return self.expert
        return np.unique(np.round(self.given, ROUNDING), return_inverse=True)[1].astype(np.int64)

    @property
    def span(self) -> float:
        """From the worst to the best value of the scale."""
        return self.values[-1] - self.values[0]

    @property
    def labelled(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """False for rows that the judge was never asked about, shape (n,)."""
        return np.asarray((self.expert >= 0) | (self.expert_accept >= 0))

    def masked(self, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Self:
        """All rows, those where ``kept`` is false as if the judge had not been asked about them."""
        if kept.all():
            return self
        return replace(
            self,
            expert=np.where(kept, self.expert, -1),
            judge=np.where(kept, self.judge, -1),
            score=np.where(kept, self.score, np.nan),
            expert_accept=np.where(kept, self.expert_accept, -1),
            judge_accept=np.where(kept, self.judge_accept, -1),
        )

    def with_rows(self, rows: np.ndarray[tuple[int], np.dtype[np.bool_]], other: Self) -> Self:
        """These rows of another judge of the same items, the rest as they are."""
        return replace(
            self,
            expert=np.where(rows, other.expert, self.expert),
            judge=np.where(rows, other.judge, self.judge),
            score=np.where(rows, other.score, self.score),
            expert_accept=np.where(rows, other.expert_accept, self.expert_accept),
            judge_accept=np.where(rows, other.judge_accept, self.judge_accept),
        )

    def where(self, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Self:
        """The rows where ``mask`` is true; cluster codes are kept, so that resampling weights stay valid."""
        return type(self)(
            self.expert[mask],
            self.judge[mask],
            self.score[mask],
            self.expert_accept[mask],
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
        accept_only: Compare accept / reject instead of grades: then ``expert`` and ``judge`` are the accepts,
            as they are when nobody gave a grade.
        aspect: Position of the one aspect to keep; None flattens all of them.
    """
    columns = slice(None) if aspect is None else slice(aspect, aspect + 1)
    cluster = np.repeat(experts.cluster[:, None], experts.grade[:, columns].shape[1], axis=1).ravel()
    expert_accept = experts.accept[:, columns].ravel()
    judge_accept = judgments.accept[:, columns].ravel()
    expert = expert_accept if accept_only else experts.grade[:, columns].ravel()
    judge = judge_accept if accept_only else judgments.grade[:, columns].ravel()
    values = ACCEPT_SCALE.values if accept_only else scale.values
    score = judgments.score[:, columns].ravel()
    labelled = (expert >= 0) | (expert_accept >= 0)
    n_clusters = int(experts.cluster.max(initial=-1)) + 1
    by = (experts.accept_by if accept_only else experts.grade_by)[:, :, columns]
    people = people_mean(by, np.array(values)).ravel() if len(experts.annotators) > 1 else None
    interval = scale.interval and not accept_only
    system = None
    if experts.system is not None:  # an item without one of its aspects is no fair part of a system's mean
        width = experts.grade[:, columns].shape[1]
        whole = (expert.reshape(-1, width) >= 0).all(axis=1)
        system = np.repeat(np.where(whole, experts.system, ""), width)
    ratings = GradePairs(
        expert, judge, score, expert_accept, judge_accept, cluster, values, n_clusters, people, interval, system
    )
    asked = np.repeat(judgments.asked[:, None], experts.grade[:, columns].shape[1], axis=1).ravel()
    return ratings.where(labelled).masked(asked[labelled])


def people_mean(by: IntArray, values: FloatArray) -> FloatArray:
    """Mean of what each item's annotators gave.

    Args:
        by: Positions by annotator, -1 where missing, shape (n_annotators, ...).
        values: What each grade stands for.

    Returns:
        Shape (...); NaN where nobody graded.
    """
    given = by >= 0
    total = np.where(given, values[np.maximum(by, 0)], 0.0).sum(axis=0)
    count = given.sum(axis=0)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def stacked(parts: Sequence[GradePairs]) -> GradePairs:
    """The rows of several ratings on one scale, with the same codes of queries, below each other."""
    means = [part.people for part in parts]
    return GradePairs(
        np.concatenate([part.expert for part in parts]),
        np.concatenate([part.judge for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.expert_accept for part in parts]),
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
