"""How far the experts agree among themselves, and the judge measured the same way."""

from collections.abc import Iterable

import numpy as np

from judgec.records.judgment import Judgments
from judgec.records.label import Experts, IntArray
from judgec.records.ratings import Ratings, pair
from judgec.records.scale import Scale

ONE_ANNOTATOR = "one annotator an item: experts cannot be compared with each other"


def expert_panel(
    experts: Experts,
    others: tuple[IntArray, IntArray],
    scale: Scale,
    *,
    accept_only: bool,
    aspect: int | None = None,
) -> list[Ratings]:
    """Each annotator beside the consensus of the others; empty when no item has two annotators.

    Args:
        experts: The labels.
        others: Consensus grades and accepts without each annotator, (n_annotators, n_items, n_aspects).
        scale: Their scale.
        accept_only: Compare accepts.
        aspect: Position of the one aspect to keep; None flattens all of them.
    """
    values = np.array(scale.values)
    return list(
        _panel(
            experts,
            others,
            (
                _as_judgments(grade, accept, values)
                for grade, accept in zip(experts.grade_by, experts.accept_by, strict=True)
            ),
            scale,
            accept_only,
            aspect,
        )
    )


def judge_panel(
    experts: Experts,
    others: tuple[IntArray, IntArray],
    judgments: Judgments,
    scale: Scale,
    *,
    accept_only: bool,
    aspect: int | None = None,
) -> list[Ratings]:
    """The judge beside the same leave-one-out consensuses, on the same items: comparable with the ceiling."""
    copies = (judgments for _ in experts.annotators)
    return list(_panel(experts, others, copies, scale, accept_only, aspect))


def _panel(
    experts: Experts,
    others: tuple[IntArray, IntArray],
    graders: Iterable[Judgments],
    scale: Scale,
    accept_only: bool,
    aspect: int | None,
) -> Iterable[Ratings]:
    """Ratings of each grader against the others' consensus, where that annotator graded too."""
    for number, grader in enumerate(graders):
        took_part = experts.grade_by[number] >= 0
        voted = experts.accept_by[number] >= 0
        against = Experts(
            np.where(took_part, others[0][number], -1),
            np.where(voted, others[1][number], -1),
            experts.cluster,
            experts.annotators,
            experts.grade_by,
            experts.accept_by,
            0,
        )
        ratings = pair(against, grader, scale, accept_only=accept_only, aspect=aspect)
        if len(ratings.expert):
            yield ratings


def _as_judgments(grade: IntArray, accept: IntArray, values: np.ndarray) -> Judgments:
    """An annotator's labels in the form of a judge's."""
    n_items, n_aspects = grade.shape
    score = np.where(grade >= 0, values[np.maximum(grade, 0)], np.where(accept >= 0, accept, np.nan))
    return Judgments(
        item_ids=("",) * n_items,
        aspects=("",) * n_aspects,
        probabilities=np.full((n_items, n_aspects, len(values)), np.nan),
        grade=grade,
        score=score,
        accept=accept,
        confidence=np.full((n_items, n_aspects), np.nan),
        rationale=("",) * n_items,
        unscored=(None,) * n_items,
    )
