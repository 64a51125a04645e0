"""Compiles on labels of real experts, without a model: what must be promoted and what must not."""

import json
from pathlib import Path

import pytest

from judgec.compile.verify import JUDGES
from tests.compile.small import Outcome, compiled_from

LABELS = Path("../shared/data/labels")

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not LABELS.exists(), reason=f"{LABELS} is absent: compiles on real labels are NOT checked"),
]


def compiled(home: Path, name: str) -> Outcome:
    rows = [json.loads(line) for line in (LABELS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    sheet = (LABELS / f"{name}.datasheet.toml").read_text(encoding="utf-8")
    (home / f"{name}.datasheet.toml").write_text(sheet, encoding="utf-8")
    return compiled_from(home, rows, name=name, lm="embedded")


def test_usefulness_that_no_evidence_shows_is_called_no_better_than_the_majority(tmp_path: Path) -> None:
    card = compiled(tmp_path, "expertqa_rand_val_usefulness").saved.card
    assert not card.promoted
    assert "the most frequent grade" in card.reason


def test_preference_without_model_and_reference_is_never_promoted(tmp_path: Path) -> None:
    outcome = compiled(tmp_path, "pandalm_preference")
    assert not outcome.saved.card.promoted
    assert "a preference judge needs" in outcome.saved.card.reason
    report = outcome.saved.report["test"]
    assert isinstance(report, dict)
    assert report["ceiling"]["kappa"]["value"] > 0.8  # published: .85, .86, .88 between pairs of annotators
    assert report["compiled"]["qwk"]["value"] is None


def test_accept_only_labels_are_compared_on_accepts(tmp_path: Path) -> None:
    outcome = compiled(tmp_path, "nq301_accept")
    agreements = outcome.compiled.verification.agreements
    assert outcome.saved.card.objective == "kappa"
    for name in JUDGES:
        estimates = agreements[name].estimates
        assert estimates["exact"].value == estimates["accept_agreement"].value
    assert (agreements["compiled"].estimates["kappa"].value or 0) > 0.45
    assert agreements["ceiling"].n == agreements["compiled_loo"].n > agreements["compiled"].n


def test_aspects_on_which_experts_do_not_agree_have_no_ceiling_to_speak_of(tmp_path: Path) -> None:
    outcome = compiled(tmp_path, "clapnq_aspects")
    ceiling = outcome.compiled.verification.agreements["ceiling"].aspects
    assert set(ceiling) == {"faithfulness", "answer_relevance", "fluency"}
    assert (ceiling["faithfulness"].estimates["qwk"].value or 0) > 0.35
    for name in ("answer_relevance", "fluency"):
        assert (ceiling[name].estimates["qwk"].value or 0) < 0.2
    found = outcome.compiled.verification.agreements["compiled"]
    assert found.n == 3 * len(outcome.compiled.dataset.test)
    assert (found.aspects["faithfulness"].estimates["tau_b"].value or 0) > 0.4
