"""The Alternative Annotator Test of a compiled judge: on its test items, which it has not learned from."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from judgec.compile.dataset import Dataset
from judgec.records.alternative_annotator import AltTest
from judgec.records.judgment import Judgments
from judgec.records.label import Experts, LabelSet
from judgec.stats.agreement.alternative_annotator import EXPERTS, alternative_annotator_test

OF = ("compiled", "majority")


def replacement(dataset: Dataset, judgments: Mapping[str, Judgments]) -> AltTest | None:
    """Tests whether the judge may replace one of the annotators; None where a single one labelled the test items.

    Grades with an order are aligned by negative RMSE, classes and accepts by accuracy; all aspects together, each label
    a member of its query, and each aspect by itself. Where nearly all labels are alike anything passes, so the most
    frequent grade is tested, too.

    Args:
        dataset: Labels and split.
        judgments: Of the test items, by ``compiled`` and ``majority``; those that a recorded judge was not asked about
            are left out of both.
    """
    asked = np.flatnonzero(judgments["compiled"].asked).tolist()
    if len(asked) < len(dataset.test):
        dataset = replace(dataset, test=dataset.test.rows(asked))
        judgments = {name: one.subset(asked) for name, one in judgments.items()}
    tested = {
        name: replaces(dataset.labels, dataset.test.experts, one) for name, one in judgments.items() if name in OF
    }
    found, constant = tested["compiled"], tested.get("majority")
    if found is None or constant is None or found.omega is None:
        return found
    aspects = {name: _beside(one, constant.aspects[name]) for name, one in found.aspects.items()}
    return replace(_beside(found, constant), aspects=aspects)


def _beside(found: AltTest, constant: AltTest) -> AltTest:
    """The test beside that of the most frequent grade."""
    return replace(found, majority_omega=constant.omega, majority_rho=constant.rho)


def replaces(labels: LabelSet, experts: Experts, judged: Judgments, epsilon: float = EXPERTS) -> AltTest | None:
    """Tests whether a judge may replace one of the annotators; None where a single one labelled, or there is no item.

    Args:
        labels: What scale and aspects they are of.
        experts: The labels of the items.
        judged: Of the same items, none of which the judge has learned from.
        epsilon: By how much it may be worse.
    """
    by = experts.accept_by if labels.accept_only else experts.grade_by
    if len(experts.annotators) < 2 or not len(judged.item_ids):
        return None
    by_accuracy = labels.accept_only or labels.scale.level == "nominal" or len(labels.scale.grades) == 2
    return alternative_annotator_test(
        judged.accept if labels.accept_only else judged.grade,
        by,
        experts.annotators,
        values=None if by_accuracy else labels.scale.values,
        cluster=experts.cluster,
        epsilon=epsilon,
        adjudicators=experts.adjudicators,
        aspects=labels.aspects,
    )
