"""The judges of the table: what the majority says, and what there is when evidence is left out."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from judgec.compile.verify import NO_EVIDENCE, labelled, majority, verify
from judgec.raters import programs
from judgec.raters.judge import load_judge
from tests.compile.small import Outcome, compiled_from
from tests.service import grading_world

WORLD = grading_world.rows(60, per_query=2)


def test_majority_is_the_commonest_train_grade_and_its_accept_the_commonest_accept(tmp_path: Path) -> None:
    rows = [{**row, "accept": k % 3 == 0} for k, row in enumerate(WORLD)]  # accepts that contradict the grades
    dataset = compiled_from(tmp_path, rows).compiled.dataset
    train = [row for row in rows if row["item_id"] in {item.item_id for item in dataset.train.items}]
    grades = Counter(int(str(row["grade"])) for row in train)
    judged = majority(dataset, dataset.test, dataset.train.experts.target)
    commonest = min(grade for grade, count in grades.items() if count == max(grades.values()))
    assert (np.array(dataset.labels.scale.grades)[judged.grade] == commonest).all()
    assert (judged.score == commonest).all()
    assert (judged.accept == 0).all()
    assert judged.probabilities.sum() == len(dataset.test)
    assert set(judged.unscored) == {None}


def test_ceiling_and_compiled_loo_of_one_annotator_are_null_with_a_note(plain: Outcome) -> None:
    for name in ("ceiling", "compiled_loo"):
        agreement = plain.compiled.verification.agreements[name]
        assert {estimate.value for estimate in agreement.estimates.values()} == {None}
        assert "one annotator" in agreement.estimates["tau_b"].note
        assert agreement.n == 0


@pytest.mark.full
def test_without_evidence_its_judge_is_null_and_with_it_no_call_is_needed(plain: Outcome, tmp_path: Path) -> None:
    assert "evidence_only" not in plain.compiled.verification.judgments
    assert plain.compiled.verification.agreements["evidence_only"].estimates["tau_b"].note == NO_EVIDENCE
    assert load_judge(programs.load(plain.settings.home, "small@1")).evidence is None
    both = compiled_from(tmp_path, WORLD, evidence=True).compiled
    judged = both.verification.judgments["evidence_only"]
    assert set(judged.unscored) == {None}
    assert judged.probabilities.sum(axis=2) == pytest.approx(np.ones((len(both.dataset.test), 1)))


def test_all_judges_have_the_same_rows_and_the_same_resamples(plain: Outcome) -> None:
    found = plain.compiled
    one = next(iter(found.verification.ratings.values()))
    for ratings in found.verification.ratings.values():
        assert (ratings.target == one.target).all()
        assert (ratings.cluster == one.cluster).all()
    twice = [verify(found.dataset, found.verification.judgments).agreements for _ in range(2)]
    assert twice[0] == twice[1]


@pytest.mark.parametrize(("grades", "usable"), [([1, 1, -1], False), ([-1, -1, -1], False), ([0, 2, -1], True)])
def test_two_different_grades_are_needed_to_learn_from(plain: Outcome, grades: list[int], usable: bool) -> None:
    part = plain.compiled.dataset.train.rows([0, 1, 2])
    assert labelled(part, np.array(grades)[:, None]) is usable
