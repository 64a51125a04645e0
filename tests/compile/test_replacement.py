"""May a compiled judge replace an annotator: on the test items alone, in the report and on the page."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgec.compile.replacement import replacement
from judgec.raters.programs import page_path
from judgec.records.judgment import Judgments
from judgec.report.replacement_table import outcome_sentences
from tests.compile.small import Outcome, compiled_from
from tests.report.page.html import Page
from tests.service import grading_world

NAMES = ("ann", "bob", "cem")


def rows(n: int, names: tuple[str, ...] = NAMES) -> list[dict[str, object]]:
    chance = random.Random(7)
    return [
        {**row, "annotator": name, "grade": min(5, max(1, int(str(row["grade"])) + chance.choice([0, 0, 0, 1, -1])))}
        for row in grading_world.rows(n, per_query=2)
        for name in names
    ]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return compiled_from(tmp_path_factory.mktemp("home"), rows(180))


def test_report_and_page_have_the_test_of_the_test_items_alone(outcome: Outcome) -> None:
    found = outcome.saved.report["alt_test"]
    assert isinstance(found, dict)
    test = outcome.compiled.dataset.test
    assert [one["annotator"] for one in found["annotators"]] == list(NAMES)
    assert {one["items"] for one in found["annotators"]} == {len(test)}
    assert {one["queries"] for one in found["annotators"]} == {test.n_queries}
    assert (found["epsilon"], found["clustered_by"], found["alignment"]) == (0.2, "query", "negative RMSE")
    assert found["omega"] == np.mean([one["wins"] for one in found["annotators"]])
    assert set(found["majority"]) == {"omega", "rho"}
    page = Page(page_path(outcome.settings.home, outcome.saved.card).read_text(encoding="utf-8"))
    assert page.faults == []
    again = replacement(outcome.compiled.dataset, outcome.compiled.verification.judgments)
    assert again is not None
    assert outcome_sentences(again)[0] in " ".join(page.text.split())


def test_judge_that_says_what_annotators_say_passes_and_noise_fails(outcome: Outcome) -> None:
    dataset, judged = outcome.compiled.dataset, outcome.compiled.verification.judgments["compiled"]
    near = _graded(judged, dataset.test.experts.target[..., 0])
    noise = _graded(judged, np.random.default_rng(0).integers(5, size=judged.grade.shape))
    passed, failed = (replacement(dataset, {"compiled": one}) for one in (near, noise))
    assert passed is not None
    assert failed is not None
    assert (passed.omega, failed.omega) == (1.0, 0.0)
    assert passed.majority_omega is None  # nobody gave the majority's judgments


@pytest.mark.parametrize(("names", "shown"), [(NAMES, "May it replace an annotator? Not tested"), (("ann",), "")])
def test_too_few_items_are_said_on_the_page_and_of_one_annotator_there_is_none(
    tmp_path: Path, names: tuple[str, ...], shown: str
) -> None:
    small = compiled_from(tmp_path, rows(40, names))
    found: Any = small.saved.report.get("alt_test", {})
    assert found.get("omega") is None
    assert bool(found) == ("3 annotators with 30 labels" in str(found.get("note"))) == bool(shown)
    text = " ".join(Page(page_path(tmp_path, small.saved.card).read_text(encoding="utf-8")).text.split())
    assert ("May it replace" in text) == bool(shown)
    assert shown in text


def _graded(judged: Judgments, grade: np.ndarray) -> Judgments:
    return replace(judged, grade=grade.astype(np.int64))
