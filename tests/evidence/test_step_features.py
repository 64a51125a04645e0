"""Evidence of the steps of a run, on runs that can be checked by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from judgec.evidence.model import EvidenceModel
from judgec.evidence.reasons.parts import said
from judgec.evidence.reasons.topics import TOPICS
from judgec.records.label import Item
from judgec.records.trajectory import MODEL, TOOL, Step, written_step

QUESTION = "How wide is the Rill M50?"
FOUND = Step(TOOL, "search", '{"q": "Rill M50"}', "The Rill M50 has a width of 70 mm.")
FAILED = Step(TOOL, "search", '{"q": "Rill M50"}', error="TimeoutError: no reply")
OTHER = Step(TOOL, "prices", '{"item": "bolt"}', "A bolt costs nine crowns in Bergen.")


def features(answer: str, steps: Sequence[Step]) -> dict[str, float]:
    items = [Item("1", "1", {"query": QUESTION, "answer": answer, "steps": tuple(map(written_step, steps))})]
    model = EvidenceModel.fit(items)
    row = model.transform(items)[0]
    assert np.isfinite(row).all()
    return {
        name.removeprefix("steps."): float(value)
        for name, value in zip(model.names, row, strict=True)
        if name.startswith("steps.")
    }


def phrases(answer: str, steps: Sequence[Step]) -> dict[str, str]:
    items = [Item("1", "1", {"query": QUESTION, "answer": answer, "steps": tuple(map(written_step, steps))})]
    (packed,) = EvidenceModel.fit(items).observe(items)[1]
    return {topic: text for topic, text in zip(TOPICS, said(packed), strict=True) if text}


def test_a_failed_call_counts_and_one_that_worked_later_is_recovered() -> None:
    one = features("It is 70 mm wide.", [FAILED, FOUND])
    assert (one["errors"], one["recovered"], one["error_last"]) == (0.5, 1.0, 0.0)
    assert (one["repeated"], one["repeated_after_error"]) == (0.5, 1.0)
    assert features("I do not know.", [FAILED])["error_last"] == 1.0
    assert features("I do not know.", [FAILED])["recovered"] == 0.0


def test_the_same_call_again_counts_and_other_arguments_do_not() -> None:
    again = features("It is 70 mm wide.", [FOUND, FOUND, FOUND])
    assert again["repeated"] == pytest.approx(2 / 3)
    assert again["repeated_run"] == pytest.approx(np.log1p(2))
    assert features("70 mm.", [FOUND, Step(TOOL, "search", '{"q": "M80"}', "90 mm")])["repeated"] == 0.0


def test_a_result_is_used_by_the_answer_or_by_the_arguments_of_a_later_call() -> None:
    assert features("The width is 70 mm.", [FOUND, OTHER])["unused"] == 0.5
    later = Step(TOOL, "convert", "crowns nine to euros, Bergen", "0.80 euros")
    assert features("The width is 70 mm, 0.80 euros.", [OTHER, later, FOUND])["unused"] == 0.0
    assert features("The width is 70 mm.", [FOUND])["unused"] == 0.0


def test_what_no_result_says_is_unsupported_in_any_unit() -> None:
    assert features("The width is 7 cm.", [FOUND])["numbers_unsupported"] == 0.0
    wrong = features("The width is 85 mm, made by Kestrel.", [FOUND])
    assert wrong["numbers_unsupported"] == 1.0
    assert wrong["names_unsupported"] == 1.0
    assert wrong["support"] < features("The width is 70 mm.", [FOUND])["support"]


def test_empty_results_empty_answers_and_runs_without_calls_are_no_error() -> None:
    assert features("", [FOUND])["count"] == pytest.approx(np.log1p(1))
    assert features("Nothing.", [Step(TOOL, "search", "x", "[]")])["empty"] == 1.0
    assert features("70 mm.", [Step(MODEL, result="I think so.")])["calls"] == pytest.approx(np.log1p(1))
    item = Item("1", "1", {"query": QUESTION, "answer": "70 mm."})
    with_steps = Item("2", "2", {"query": QUESTION, "answer": "70 mm.", "steps": (written_step(FOUND),)})
    model = EvidenceModel.fit([item, with_steps])
    absent = model.names.index("steps.absent")
    assert model.transform([item, with_steps])[:, absent].tolist() == [1.0, 0.0]


def test_reasons_name_the_step() -> None:
    assert phrases("It is 70 mm wide.", [FAILED, FOUND])["calls"] == "1 of 2 calls failed (search)"
    assert phrases("70 mm.", [FOUND, FOUND])["calls"] == "search was called again with the same arguments"
    assert phrases("The width is 70 mm.", [FOUND, OTHER])["results"] == "the result of prices is not used"
    unsupported = phrases("Kestrel forged it from ebony.", [FOUND])["found"]
    assert unsupported == 'no step found what the answer says ("Kestrel forged it from ebony.")'
