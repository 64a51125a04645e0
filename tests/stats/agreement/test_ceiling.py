"""The experts' ceiling and the judge beside it, on labels that can be worked out with a pencil."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from judgec.labels.experts import experts_of
from judgec.labels.labels import read_labels
from judgec.labels.reading import as_reading
from judgec.records.agreement import Agreement
from judgec.records.judgment import Judgments
from judgec.records.label import LabelSet
from judgec.stats.agreement.ceiling import adjudicator_notes, ceiling, expert_panel, judge_panel
from judgec.stats.agreement.measure import measure
from tests.compile.small import write
from tests.verbs.cli.process import ROOT

NQ301 = ROOT.parent / "shared" / "data" / "labels" / "nq301_accept.jsonl"

LABELS = {  # item: grades 1-3 by annotator; others always agree or are alone, so that no pick decides
    "i1": {"ann": 1, "bob": 2},
    "i2": {"ann": 3, "bob": 3},
    "i3": {"bob": 1, "cem": 3},
    "i4": {"ann": 2, "cem": 1},
    "i5": {"ann": 3, "bob": 3, "cem": 3},
    "i6": {"cem": 2},  # nobody to compare cem with
}
JUDGE = [1, 2, 0, 1, 2, 0]  # positions


def both(folder: Path, judge: list[int], *, as_accepts: bool = False) -> tuple[Agreement, Agreement]:
    rows = [
        {"item_id": item, "query_id": item, "query": item, "answer": "a", "annotator": name}
        | ({"accept": grade > 1} if as_accepts else {"grade": grade})
        for item, by in LABELS.items()
        for name, grade in by.items()
    ]
    labels = read_labels(
        str(write(folder / "l.jsonl", rows)), as_reading(annotators=["*"], accept_at=None if as_accepts else "2")
    )
    experts, scale = experts_of(labels), labels.scale
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
    found = ceiling(experts, scale, labels.aspects, accept_only=labels.accept_only, judgments=judged)
    assert list(found) == ["compiled_loo", "ceiling"]
    return found["ceiling"], found["compiled_loo"]


def test_ceiling_is_the_mean_over_annotators_of_their_agreement_with_the_others_by_shared_items(tmp_path: Path) -> None:
    ceiling, _ = both(tmp_path, JUDGE)
    # ann: i1 1/2, i2 3/3, i4 2/1, i5 3/3; bob: i1 2/1, i2 3/3, i3 1/3, i5 3/3; cem: i3 3/1, i4 1/2, i5 3/3
    # shared items: ann 4, bob 4, cem 3 (i6 is cem's alone)
    assert ceiling.estimates["exact"].value == pytest.approx((4 * 2 / 4 + 4 * 2 / 4 + 3 * 1 / 3) / 11)
    # accepted from 2: ann i1 0/1, i4 1/0; bob i1 1/0, i3 0/1; cem i3 1/0, i4 0/1
    assert ceiling.estimates["accept_agreement"].value == pytest.approx((4 * 2 / 4 + 4 * 2 / 4 + 3 * 1 / 3) / 11)
    # ann (-1, 0, 1, 0), bob (1, 0, -2, 0), cem (2, -1, 0): means 0, -1/4, 1/3
    assert ceiling.bland_altman.bias == pytest.approx((4 * 0 - 4 * 1 / 4 + 3 * 1 / 3) / 11)
    taus = [
        kendalltau([2, 3, 1, 3], [1, 3, 2, 3]).statistic,
        kendalltau([1, 3, 3, 3], [2, 3, 1, 3]).statistic,
        kendalltau([1, 2, 3], [3, 1, 3]).statistic,
    ]
    assert ceiling.estimates["tau_b"].value == pytest.approx(np.average(taus, weights=[4, 4, 3]))
    assert (ceiling.n, ceiling.n_clusters, ceiling.unscored) == (11, 5, 0)  # pairs of annotator and item


def test_ceiling_without_a_judge_is_that_beside_a_judge_whose_statistics_are_defined(tmp_path: Path) -> None:
    beside, _ = both(tmp_path, JUDGE)
    labels = read_labels(str(tmp_path / "l.jsonl"), as_reading(annotators=["*"], accept_at="2"))
    experts = experts_of(labels)
    alone = ceiling(experts, labels.scale, labels.aspects, accept_only=False)
    assert alone == {"ceiling": beside}


def test_judge_is_measured_against_the_same_leave_one_out_consensuses(tmp_path: Path) -> None:
    ceiling, loo = both(tmp_path, JUDGE)
    # without ann i1 2=2, i2 =, i4 2/1, i5 =; without bob i1 2/1, i2 =, i3 1/3, i5 =; without cem i3 =, i4 =, i5 =
    assert loo.estimates["exact"].value == pytest.approx((4 * 3 / 4 + 4 * 2 / 4 + 3 * 3 / 3) / 11)
    assert loo.bland_altman.bias == pytest.approx((4 * 1 / 4 + 4 * (1 - 2) / 4 + 3 * 0) / 11)
    assert (loo.n, loo.n_clusters) == (ceiling.n, ceiling.n_clusters)


def test_unscored_item_leaves_the_judges_panel_counted_and_the_ceiling_as_it_was(tmp_path: Path) -> None:
    ceiling, loo = both(tmp_path, [1, 2, 0, 1, -1, 0])  # i5, which all three graded
    assert loo.estimates["exact"].value == pytest.approx((4 * 2 / 3 + 4 * 1 / 3 + 3 * 2 / 2) / 11)
    assert (loo.n, loo.unscored) == (8, 3)
    assert (ceiling.n, ceiling.unscored) == (11, 0)


def test_accept_only_labels_are_compared_as_accepts(tmp_path: Path) -> None:
    ceiling, loo = both(tmp_path, [1, 1, 0, 1, 1, 0], as_accepts=True)
    assert ceiling.estimates["exact"].value == pytest.approx((4 * 2 / 4 + 4 * 2 / 4 + 3 * 1 / 3) / 11)
    assert ceiling.estimates["accept_agreement"].value == ceiling.estimates["exact"].value
    assert loo.estimates["exact"].value == pytest.approx((4 * 3 / 4 + 4 * 2 / 4 + 3 * 3 / 3) / 11)


def test_one_annotator_an_item_gives_no_panel(tmp_path: Path) -> None:
    rows = [
        {"item_id": i, "query": i, "answer": "a", "annotator": "ab"[k % 2], "grade": 1 + k % 3}
        for k, i in enumerate("uvwxyz")
    ]
    labels = read_labels(str(write(tmp_path / "l.jsonl", rows)), as_reading(annotators=["*"]))
    experts = experts_of(labels)
    assert expert_panel(experts, labels.scale, accept_only=False) == []


def graded(folder: Path, labels: dict[str, dict[str, int]]) -> LabelSet:
    rows = [
        {"item_id": item, "query_id": item, "query": item, "answer": "a", "annotator": name, "grade": grade}
        for item, by in labels.items()
        for name, grade in by.items()
    ]
    return read_labels(str(write(folder / "l.jsonl", rows)), as_reading(annotators=["*"], accept_at="2"))


def plain_and_disputed(plain: int, disputed: int) -> dict[str, dict[str, int]]:
    """Ann and bob agree on the plain items; of the disputed ones ann says 3 and bob 1."""
    agreed = {f"p{k}": {"ann": 1 + k % 3, "bob": 1 + k % 3} for k in range(plain)}
    return agreed | {f"d{k}": {"ann": 3, "bob": 1} for k in range(disputed)}


def test_adjudicator_is_left_out_of_both_columns_and_named_while_the_consensus_keeps_the_vote(tmp_path: Path) -> None:
    by = plain_and_disputed(16, 4)
    for k in range(4):
        by[f"d{k}"]["cem"] = 3
    labels = graded(tmp_path, by)
    experts = experts_of(labels)
    assert experts.adjudicators == ("cem",)
    assert adjudicator_notes(experts)[0].startswith("cem: ")
    assert (experts.target[16:] == 2).all()  # two of three say 3
    found = ceiling(experts, labels.scale, labels.aspects, accept_only=False)["ceiling"]
    # bob stands alone against ann and cem on 4 of 20; ann against bob's 1 and cem's 3, which share the item
    assert found.estimates["exact"].value == pytest.approx((16 + 4 / 2 + 16) / 40)
    assert found.n == 40


def test_adjudicator_of_the_whole_file_is_one_in_every_part_of_it(tmp_path: Path) -> None:
    by = plain_and_disputed(16, 4)
    for k in range(4):
        by[f"d{k}"]["cem"] = 3
    assert experts_of(graded(tmp_path, by)).rows([16, 17, 18, 19]).adjudicators == ("cem",)


@pytest.mark.parametrize(
    ("by", "why"),
    [
        ({k: {**v, "cem": 2} for k, v in plain_and_disputed(0, 20).items()}, "all items are disputed, all see all"),
        ({k: {**v, "cem": 4} for k, v in plain_and_disputed(20, 0).items()}, "cem makes the disputes"),
        ({**plain_and_disputed(20, 0), "d": {"ann": 3, "bob": 1, "cem": 3}, "e": {"cem": 1}}, "one item is chance"),
        (plain_and_disputed(2, 38), "with two annotators nobody can be called in"),
        (
            {
                k: {**v, **({"cem": 2} if k in {"p1", "p2", "d1", "d2", "d3", "d4"} else {})}
                for k, v in plain_and_disputed(16, 4).items()
            },
            "a third of cem's items are plain",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_who_was_not_called_to_disputes_is_no_adjudicator(
    tmp_path: Path, by: dict[str, dict[str, int]], why: str
) -> None:
    assert experts_of(graded(tmp_path, by)).adjudicators == (), why


def test_annotator_without_a_defined_statistic_is_in_neither_mean(tmp_path: Path) -> None:
    # cem gives one grade only: kappa of cem is undefined where the others do, too, and so cem is left out of the judge
    by = {f"i{k}": {"ann": 1 + k % 3, "bob": 1 + (k + (k % 4 == 0)) % 3} for k in range(12)}
    by |= {f"c{k}": {"ann": 2, "cem": 2} for k in range(6)}
    labels = graded(tmp_path, by)
    experts = experts_of(labels)
    grade = np.array([(k * k) % 3 for k in range(18)], dtype=np.int64)[:, None]
    judged = Judgments(
        item_ids=tuple(by),
        aspects=("grade",),
        probabilities=np.full((18, 1, 3), np.nan),
        grade=grade,
        score=grade.astype(float),
        accept=(grade >= 1).astype(np.int64),
        confidence=np.full((18, 1), np.nan),
        rationale=("",) * 18,
        unscored=(None,) * 18,
    )
    found = ceiling(experts, labels.scale, labels.aspects, accept_only=False, judgments=judged)
    own = expert_panel(experts, labels.scale, accept_only=False)
    loo = judge_panel(experts, judged, labels.scale, accept_only=False)
    assert measure(own[2]).estimates["kappa"].value is None
    weights = [18, 12]  # of ann and bob
    for name, panel in (("ceiling", own), ("compiled_loo", loo)):
        two = [measure(one).estimates["kappa"].value or 0.0 for one in panel[:2]]
        assert found[name].estimates["kappa"].value == pytest.approx(np.average(two, weights=weights))


@pytest.mark.skipif(not NQ301.exists(), reason=f"{NQ301} is not here: the ceiling of real labels is NOT checked")
def test_ceiling_of_real_labels_with_an_adjudicator_is_what_its_two_annotators_reach() -> None:
    labels = read_labels(str(NQ301))
    experts = experts_of(labels)
    panel = expert_panel(experts, labels.scale, accept_only=True)
    kappas = [measure(one).estimates["kappa"].value for one in panel]
    assert experts.adjudicators == ("annotator3",)
    assert kappas == pytest.approx([0.810, 0.768], abs=0.002)
    assert [len(one.judge) for one in panel] == [1490, 1483]
    found = ceiling(experts, labels.scale, labels.aspects, accept_only=True)["ceiling"]
    assert found.estimates["kappa"].value == pytest.approx(0.789, abs=0.002)
