"""Compiling a judge of preferences: what it has to beat, and what it is told to weigh."""

from pathlib import Path
from typing import Any

import pytest

import judgec
from judgec.compile.measured import Compiled
from judgec.compile.search.candidates import UNCOMPILED, Candidate, task_module
from judgec.compile.settings import CandidateSettings, CompileSettings
from judgec.errors import UserError
from judgec.labels.labels import read_labels
from judgec.lm.spec import LMSpec
from judgec.raters.tasks.preference import weighing
from tests.compile.small import unsaved, write
from tests.fake_lm import FAKE


def rows(queries: int) -> list[dict[str, object]]:
    """Experts who prefer the longer answer."""
    texts = ("short", "a little longer", "by far the longest of the answers", "tiny")
    made: list[dict[str, object]] = []
    for q in range(queries):
        a, b = texts[q % 4], texts[(q * 3 + q // 4) % 4]
        better = "a" if len(a) > len(b) else "b" if len(b) > len(a) else "tie"
        inputs = {"query": f"Question {q}?", "answer_a": f"{q}: {a}", "answer_b": f"{q}: {b}", "reference": "a longer"}
        made.append({"item_id": f"i{q}", "query_id": f"q{q}", **inputs, "preference": better})
    return made


def blind(queries: int, *, by_length: bool) -> list[dict[str, object]]:
    """Pairs without a reference; experts prefer the longer answer, or the one that repeats the question's number."""
    made: list[dict[str, object]] = []
    for q in range(queries):
        right, wrong = f"The valve of pump {q} opens at {q} bar.", "It depends on what one wants from it."
        right_first, right_longer = q % 2 == 0, q % 4 < 2
        padding = " In other words that is how it is, and nothing needs to be added to it here."
        right, wrong = (right + padding, wrong) if right_longer else (right, wrong + padding)
        a, b = (right, wrong) if right_first else (wrong, right)
        better = "a" if (len(a) > len(b) if by_length else right_first) else "b"
        inputs = {"query": f"When opens the valve of pump {q}?", "answer_a": a, "answer_b": b}
        made.append({"item_id": f"i{q}", "query_id": f"q{q}", **inputs, "preference": better})
    return made


@pytest.mark.parametrize("by_length", [True, False])
def test_judge_without_reference_is_said_to_follow_length_only_where_it_does(tmp_path: Path, by_length: bool) -> None:
    settings = CompileSettings("blind", tmp_path, LMSpec.parse("embedded"), "kappa")
    made = blind(160, by_length=by_length)  # 48 of them are tested, and 8 errors show the difference
    for row in made[::5]:  # experts err: otherwise nothing would tell length from what they said
        row["preference"] = "b" if row["preference"] == "a" else "a"
    labels = read_labels(str(write(tmp_path / "blind.jsonl", made)))
    outcome = unsaved(labels, settings)
    assert not outcome.decision.promoted
    reason = outcome.decision.reason
    assert reason.startswith("a preference judge needs")
    share = outcome.verification.agreements["compiled"].estimates["as_longest"].value
    assert share is not None
    assert ("it has learned length" in reason) is by_length, (reason, share)
    assert f"{100 * share:.0f} %" in reason if by_length else share < 0.7


def compiled(folder: Path, **weighs: Any) -> Compiled:
    labels = read_labels(str(write(folder / "pairs.jsonl", rows(80))))
    spec = LMSpec.parse(FAKE)
    those = CandidateSettings(own=Candidate(UNCOMPILED, weighing(task_module(labels), **weighs)))
    settings = CompileSettings("pairs", folder, spec, "kappa", candidates=those, evidence=False)
    return unsaved(labels, settings)


def test_judge_of_preferences_has_to_beat_the_longer_answer_and_is_told_what_to_weigh(tmp_path: Path) -> None:
    outcome = compiled(tmp_path, factors="brevity alone", citations=True)
    assert outcome.verification.agreements["longest"].estimates["exact"].value == 1.0
    assert outcome.decision.rival == "longest"
    assert "against longest" in outcome.decision.reason
    assert not outcome.decision.promoted
    prompt = outcome.shipped.module.predictors()[0].signature.instructions
    assert "Weigh brevity alone." in prompt
    assert "depth" not in prompt
    assert "cite the documents" in prompt


def test_factors_for_a_judge_of_single_answers_are_refused(tmp_path: Path) -> None:
    graded = [{"query": f"Question {q}?", "answer": str(q), "reference": "1", "grade": 1 + q % 3} for q in range(40)]
    with pytest.raises(UserError, match="only a judge of preference"):
        judgec.compile_judge(
            str(write(tmp_path / "graded.jsonl", graded)), lm=FAKE, factors="tone", accept_at="3", home=tmp_path
        )
