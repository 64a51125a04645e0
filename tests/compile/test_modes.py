"""A judge of failure modes: on constructed labels it finds what is there, and its thresholds are what it goes by."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import precision_score, recall_score

import judgec
from judgec.compile.report import thresholds
from judgec.errors import UserError
from judgec.raters import programs
from tests.compile.small import Outcome, compiled_from

WORDS = ("alpha", "beta", "gamma", "delta")
RARE = 6  # of all items


def rows(n: int = 160) -> list[dict[str, object]]:
    """Long answers ramble, those that share no word with the question are off topic; both are seen now and then."""
    rng = np.random.default_rng(7)
    made: list[dict[str, object]] = []
    for number in range(n):
        long, off = rng.random() < 0.4, rng.random() < 0.3
        asked = f"{WORDS[number % 4]} {WORDS[(number + 1) % 4]}"
        said = "nothing of that kind" if off else f"{asked} is so"
        text = " ".join([said, *(f"and more words {k}" for k in range(20 if long else 0))])
        slip = rng.random(2) < 0.05
        modes = {"rambling": int(long != slip[0]), "off_topic": int(off != slip[1]), "rude": int(number < RARE)}
        named: dict[str, object] = {f"mode.{mode}": there for mode, there in modes.items()}
        made.append(
            {
                "item_id": f"i{number}",
                "query_id": f"q{number // 2}",
                "query": f"what is {asked}",
                "answer": text,
                **named,
            }
        )
    return made


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return compiled_from(tmp_path_factory.mktemp("home"), rows(), lm="embedded")


def test_each_mode_is_measured_on_the_test_items_as_scikit_learn_does(outcome: Outcome) -> None:
    compiled = outcome.compiled
    found = compiled.verification.modes
    assert found is not None
    assert tuple(found.modes) == ("rambling", "off_topic", "rude")
    expert = compiled.dataset.test.experts.target[..., 0]
    judge = compiled.verification.judgments["compiled"].grade
    for j, mode in enumerate(("rambling", "off_topic")):
        assert found.modes[mode].precision.value == pytest.approx(precision_score(expert[:, j], judge[:, j]))
        assert found.modes[mode].recall.value == pytest.approx(recall_score(expert[:, j], judge[:, j]))
        assert (found.modes[mode].kappa.value or 0) > 0.5
        assert (found.modes[mode].p_holm or 1) < 0.05
    assert found.modes["rude"].recall.value is None
    assert "to measure recall" in found.modes["rude"].recall.note


def test_flagged_is_what_reaches_the_threshold(outcome: Outcome) -> None:
    compiled = outcome.compiled
    cuts = thresholds(compiled.judge)
    judged = compiled.judge.graded(compiled.dataset.test.items, None)
    for j, mode in enumerate(judged.aspects):
        threshold = cuts[mode]
        chance = judged.probabilities[:, j, 1]
        assert ((chance >= threshold) == (judged.grade[:, j] == 1)).all()


def test_report_and_page_have_the_modes(outcome: Outcome) -> None:
    report: Any = outcome.saved.report
    assert set(report["modes"]) == {"modes", "micro", "macro"}
    one = report["modes"]["modes"]["rambling"]
    shares = {"kappa", "precision", "recall", "p", "p_holm"}
    assert set(one) == {*shares, "n", "present", "flagged", "unscored", "threshold"}
    assert report["modes"]["macro"]["recall"]["modes"] == ["rambling", "off_topic"]
    assert report["objective"] == "kappa"
    page = programs.page_path(outcome.settings.home, outcome.saved.card).read_text(encoding="utf-8")
    assert "mean of modes (macro)" in page
    assert "rude: " in page


def test_labels_of_grades_have_no_modes(plain: Outcome) -> None:
    assert "modes" not in plain.saved.report


def test_a_judge_of_modes_ranks_and_audits_nothing_since_its_higher_grade_is_the_worse_one(
    outcome: Outcome, tmp_path: Path
) -> None:
    home, name = outcome.settings.home, f"{outcome.settings.name}@1"
    answers = pd.DataFrame(
        [{"query_id": "q", "query": "what", "answer": text, "agent": text} for text in ("alpha", "beta")]
    )
    with pytest.raises(UserError, match="gives 1 to"):
        judgec.evaluate(judge=name, answers=[answers], home=home, out=tmp_path / "out", unproven=True)
    assert not (tmp_path / "out").exists()
    with pytest.raises(UserError, match=r"--judge .*@1: .* failure modes"):
        judgec.audit(name, home=home)
