"""The experts' ceiling and the judge beside it, on labels that can be worked out with a pencil."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from judgec.agreement.ceiling import expert_panel, judge_panel
from judgec.agreement.measure import Resampling, measure
from judgec.records.agreement import Agreement
from judgec.records.judgment import Judgments
from judgec.store.experts import experts_of, leave_one_out
from judgec.store.labels import read_labels
from tests.compiler.small import write

LABELS = {  # item: grades 1-3 by annotator; others always agree or are alone, so that no pick decides
    "i1": {"ann": 1, "bob": 2},
    "i2": {"ann": 3, "bob": 3},
    "i3": {"bob": 1, "cem": 3},
    "i4": {"ann": 2, "cem": 1},
    "i5": {"ann": 3, "bob": 3, "cem": 3},
    "i6": {"cem": 2},  # nobody to compare cem with
}
JUDGE = [1, 2, 0, 1, 2, 0]  # positions
HOW = Resampling(resamples=100)


def both(folder: Path, judge: list[int], *, as_accepts: bool = False) -> tuple[Agreement, Agreement]:
    rows = [
        {"item_id": item, "query_id": item, "query": item, "answer": "a", "annotator": name}
        | ({"accept": grade > 1} if as_accepts else {"grade": grade})
        for item, by in LABELS.items()
        for name, grade in by.items()
    ]
    labels = read_labels(str(write(folder / "l.jsonl", rows)), accept_at=None if as_accepts else "2")
    experts, scale = experts_of(labels), labels.scale
    others = leave_one_out(labels, experts)
    grade = np.array(judge, dtype=np.int64)[:, None]
    judged = Judgments(
        item_ids=tuple(LABELS),
        aspects=("grade",),
        probabilities=np.full((6, 1, len(scale.grades)), np.nan),
        grade=grade,
        score=np.where(grade < 0, np.nan, grade.astype(float)),
        accept=np.where(grade < 0, -1, (grade >= 1).astype(np.int64)),
        confidence=np.full((6, 1), np.nan),
        rationale=("",) * 6,
        unscored=tuple("no reply" if position < 0 else None for position in judge),
    )
    panels = (
        expert_panel(experts, others, scale, accept_only=labels.accept_only),
        judge_panel(experts, others, judged, scale, accept_only=labels.accept_only),
    )
    ceiling, loo = (measure(panel, HOW) for panel in panels)
    return ceiling, loo


def test_ceiling_is_the_mean_over_annotators_of_their_agreement_with_the_others(tmp_path: Path) -> None:
    ceiling, _ = both(tmp_path, JUDGE)
    # ann: i1 1/2, i2 3/3, i4 2/1, i5 3/3; bob: i1 2/1, i2 3/3, i3 1/3, i5 3/3; cem: i3 3/1, i4 1/2, i5 3/3
    assert ceiling.estimates["exact"].value == pytest.approx((2 / 4 + 2 / 4 + 1 / 3) / 3)
    # accepted from 2: ann i1 0/1, i4 1/0; bob i1 1/0, i3 0/1; cem i3 1/0, i4 0/1
    assert ceiling.estimates["accept_agreement"].value == pytest.approx((2 / 4 + 2 / 4 + 1 / 3) / 3)
    # ann (-1, 0, 1, 0), bob (1, 0, -2, 0), cem (2, -1, 0): means 0, -1/4, 1/3
    assert ceiling.bland_altman.bias == pytest.approx((0 - 1 / 4 + 1 / 3) / 3)
    taus = [
        kendalltau([2, 3, 1, 3], [1, 3, 2, 3]).statistic,
        kendalltau([1, 3, 3, 3], [2, 3, 1, 3]).statistic,
        kendalltau([1, 2, 3], [3, 1, 3]).statistic,
    ]
    assert ceiling.estimates["tau_b"].value == pytest.approx(np.mean(taus))
    assert (ceiling.n, ceiling.n_clusters, ceiling.unscored) == (11, 5, 0)  # pairs of annotator and item


def test_judge_is_measured_against_the_same_leave_one_out_consensuses(tmp_path: Path) -> None:
    ceiling, loo = both(tmp_path, JUDGE)
    # without ann i1 2=2, i2 =, i4 2/1, i5 =; without bob i1 2/1, i2 =, i3 1/3, i5 =; without cem i3 =, i4 =, i5 =
    assert loo.estimates["exact"].value == pytest.approx((3 / 4 + 2 / 4 + 3 / 3) / 3)
    assert loo.bland_altman.bias == pytest.approx((1 / 4 + (1 - 2) / 4 + 0) / 3)
    assert (loo.n, loo.n_clusters) == (ceiling.n, ceiling.n_clusters)


def test_unscored_item_leaves_the_judges_panel_counted_and_the_ceiling_as_it_was(tmp_path: Path) -> None:
    ceiling, loo = both(tmp_path, [1, 2, 0, 1, -1, 0])  # i5, which all three graded
    assert loo.estimates["exact"].value == pytest.approx((2 / 3 + 1 / 3 + 2 / 2) / 3)
    assert (loo.n, loo.unscored) == (8, 3)
    assert (ceiling.n, ceiling.unscored) == (11, 0)


def test_accept_only_labels_are_compared_as_accepts(tmp_path: Path) -> None:
    ceiling, loo = both(tmp_path, [1, 1, 0, 1, 1, 0], as_accepts=True)
    assert ceiling.estimates["exact"].value == pytest.approx((2 / 4 + 2 / 4 + 1 / 3) / 3)
    assert ceiling.estimates["accept_agreement"].value == ceiling.estimates["exact"].value
    assert loo.estimates["exact"].value == pytest.approx((3 / 4 + 2 / 4 + 3 / 3) / 3)


def test_one_annotator_an_item_gives_no_panel(tmp_path: Path) -> None:
    rows = [
        {"item_id": i, "query": i, "answer": "a", "annotator": "ab"[k % 2], "grade": 1 + k % 3}
        for k, i in enumerate("uvwxyz")
    ]
    labels = read_labels(str(write(tmp_path / "l.jsonl", rows)))
    experts = experts_of(labels)
    assert expert_panel(experts, leave_one_out(labels, experts), labels.scale, accept_only=False) == []
