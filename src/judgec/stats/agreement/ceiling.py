"""Computes the ceiling: how far the experts agree among themselves, and the judge measured the same way.

Each annotator is held against the consensus of the others. Adjudicators, who were asked only where others differed,
take part in the consensus but are not held against it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from judgec.records.agreement import Agreement
from judgec.records.consensus import consensus_of
from judgec.records.judgment import Judgments
from judgec.records.label import UNLABELLED, Experts, IntArray
from judgec.records.ratings import GradePairs, pair
from judgec.records.scale import Scale
from judgec.stats.agreement.measure import measure, with_aspects

ONE_ANNOTATOR = "one annotator an item: experts cannot be compared with each other"
ADJUDICATORS = (
    "{names}: asked only where others differed, so left out of the ceiling; their labels count in the consensus"
)


def ceiling(
    experts: Experts,
    scale: Scale,
    aspects: Sequence[str],
    *,
    accept_only: bool,
    judgments: Judgments | None = None,
    no_grades: str = "",
) -> dict[str, Agreement]:
    """The experts' ceiling, and with ``judgments`` the judge as it stands beside it; empty without two annotators.

    Both are means over the same annotators with the same weights, the items that each of them shares with others.

    Args:
        experts: The labels.
        scale: Their scale.
        aspects: What was graded.
        accept_only: Compare accepts.
        judgments: The judge's, of the same items.
        no_grades: Why its numbers are no grades, or empty.

    Returns: ``ceiling``, and with ``judgments`` ``compiled_loo`` before it.
    """

    def panels(aspect: int | None) -> dict[str, list[GradePairs]]:
        found = {"ceiling": expert_panel(experts, scale, accept_only=accept_only, aspect=aspect)}
        if judgments is None:
            return found
        loo = judge_panel(experts, judgments, scale, accept_only=accept_only, aspect=aspect)
        return {"compiled_loo": loo, **found}

    whole = panels(None)
    if not whole["ceiling"]:
        return {}
    nominal = scale.level == "nominal"
    by_aspect = {name: panels(j) for j, name in enumerate(aspects)} if len(aspects) > 1 else {}
    other = {} if judgments is None else {"ceiling": "compiled_loo", "compiled_loo": "ceiling"}
    if no_grades:  # what experts have in common does not hang on it
        other = {"compiled_loo": "ceiling"}
    return {
        name: with_aspects(
            measure(panel, nominal=nominal, beside=whole.get(other.get(name, ""), ()), no_grades=said),
            {aspect: found[name] for aspect, found in by_aspect.items() if found[name]},
            nominal=nominal,
            beside={aspect: found[other[name]] for aspect, found in by_aspect.items()} if name in other else None,
            no_grades=said,
        )
        for name, panel in whole.items()
        for said in [no_grades if name == "compiled_loo" else ""]
    }


def adjudicator_notes(experts: Experts) -> tuple[str, ...]:
    """Note on annotators that were left out of the ceiling, if any were."""
    if not experts.adjudicators:
        return ()
    return (ADJUDICATORS.format(names=", ".join(experts.adjudicators)),)


def expert_ratings(
    experts: Experts,
    scale: Scale,
    *,
    accept_only: bool,
    aspect: int | None = None,
) -> dict[str, GradePairs]:
    """Each annotator, adjudicators too, beside the consensus of the others, where there are others."""
    values = np.array(scale.values)
    own = (
        _as_judgments(grade, accept, values) for grade, accept in zip(experts.grade_by, experts.accept_by, strict=True)
    )
    return dict(_beside_others(experts, own, scale, accept_only, aspect))


def expert_panel(
    experts: Experts,
    scale: Scale,
    *,
    accept_only: bool,
    aspect: int | None = None,
) -> list[GradePairs]:
    """Each annotator but adjudicators beside the consensus of the others; empty when no item has two annotators.

    Args:
        experts: The labels.
        scale: Their scale.
        accept_only: Compare accepts.
        aspect: Position of the one aspect to keep; None flattens all of them.
    """
    everybody = expert_ratings(experts, scale, accept_only=accept_only, aspect=aspect)
    return [ratings for name, ratings in everybody.items() if name not in experts.adjudicators]


def judge_panel(
    experts: Experts,
    judgments: Judgments,
    scale: Scale,
    *,
    accept_only: bool,
    aspect: int | None = None,
) -> list[GradePairs]:
    """The judge beside the same leave-one-out consensuses, on the same items: comparable with the ceiling."""
    copies = (judgments for _ in experts.annotators)
    everybody = _beside_others(experts, copies, scale, accept_only, aspect)
    return [ratings for name, ratings in everybody if name not in experts.adjudicators]


def _beside_others(
    experts: Experts,
    graders: Iterable[Judgments],
    scale: Scale,
    accept_only: bool,
    aspect: int | None,
) -> Iterable[tuple[str, GradePairs]]:
    """By annotator the ratings of a grader against the others' consensus, where that annotator graded too."""
    for number, (name, grader) in enumerate(zip(experts.annotators, graders, strict=True)):
        by = [np.where(one[number] >= 0, one, UNLABELLED) for one in (experts.grade_by, experts.accept_by)]
        for one in by:
            one[number] = UNLABELLED
        against = replace(
            experts,
            target=consensus_of(by[0], scale, experts.draws),
            target_accept=consensus_of(by[1], None, experts.draws),
            grade_by=by[0],
            accept_by=by[1],
        )
        ratings = pair(against, grader, scale, accept_only=accept_only, aspect=aspect)
        if len(ratings.judge):
            yield name, ratings


def _as_judgments(grade: IntArray, accept: IntArray, values: np.ndarray) -> Judgments:
    """An annotator's labels in the form of a judge's."""
    score = np.where(grade >= 0, values[np.maximum(grade, 0)], np.where(accept >= 0, accept, np.nan))
    nobody = Judgments.blank([""] * len(grade), [""] * grade.shape[1], len(values))
    return replace(nobody, grade=grade, score=score, accept=accept)
