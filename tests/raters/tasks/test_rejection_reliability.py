"""The rejection and reliability judges: signatures, inference from columns, a compile of each by evidence alone."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgec.compile.prepare import default_objective
from judgec.compile.settings import CompileSettings
from judgec.labels.labels import read_label_file, read_labels
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.rag.queries.reliability import ASPECTS, Pair, ReliabilityJudge
from judgec.raters import programs
from judgec.raters.judge import load_judge
from judgec.raters.registry import judge_module
from judgec.raters.signatures import description
from judgec.records.label import Item
from judgec.records.scenario.outcome import REJECTION_OUTCOMES, REJECTION_PASSES
from judgec.records.tasks.rejection import OUTCOME_SCALE
from judgec.records.tasks.reliability import RELIABILITY_SCALE
from judgec.report.label_report import by_all, label_report
from tests.compile.small import compiled_on, write

THINGS = ("pump", "valve", "meter", "probe", "sensor", "gateway", "cable", "relay")
ASKED = ("carbon footprint", "price in euros", "parking permit", "insured value", "designer", "torque", "weight")
REPLIES = {
    "answered": "The {asked} of the {thing} is {number}, and it has been so since 2019.",
    "refused": "I am sorry, but the documents do not say anything about the {asked} of the {thing}.",
    "refused_then_answered": "The documents do not state the {asked}. However, the {thing} usually has {number} of it.",
    "described": "The provided documents describe the installation and the wiring of the {thing}.",
    "described_then_answered": "The documents describe the {thing}. Its {asked} is {number}, as is usual for these.",
    "error": "",
}


def rejection_labels(path: Path, n: int = 60) -> Path:
    """Two annotators; the second takes one in ten for another outcome."""
    rng = random.Random(0)
    rows: list[dict[str, object]] = []
    for number in range(n):
        outcome = list(REPLIES)[number % len(REPLIES)]
        thing, asked = THINGS[number % len(THINGS)], ASKED[number % len(ASKED)]
        answer = REPLIES[outcome].format(thing=f"{thing} {number}", asked=asked, number=10 + number)
        query = f"What is the {asked} of the {thing} {number}?"
        other = rng.choice(list(REPLIES)) if rng.random() < 0.1 else outcome
        for annotator, said in (("a", outcome), ("b", other)):
            rows.append({"query": query, "answer": answer, "outcome": said, "annotator": annotator})
    return _write(path, rows)


def reliability_labels(path: Path, n: int = 60) -> Path:
    """Three annotators of pairs with one planted fault each, or none."""
    rng = random.Random(1)
    rows: list[dict[str, object]] = []
    for number in range(n):
        thing, other = THINGS[number % len(THINGS)], THINGS[(number + 3) % len(THINGS)]
        weight = 10 + 7 * number
        passage = f"The {thing} {number} weighs {weight} grams. It is made of steel and was released by the factory."
        good = {"question_in_passage": 1, "answer_in_passage": 1, "self_contained": 1}
        query, answer = f"How much does the {thing} {number} weigh?", f"{weight} grams"
        kind = number % 4
        if kind == 1:
            query, good["question_in_passage"] = f"Which licence does the harbour {other} of Lisbon need?", 0
        if kind == 2:
            answer, good["answer_in_passage"] = f"{weight + 5} kilometres of coast", 0
        if kind == 3:
            query, good["self_contained"] = "How much does it weigh as stated in the passage above?", 0
        for annotator in ("a", "b", "c"):
            grades = {name: 1 - grade if rng.random() < 0.05 else grade for name, grade in good.items()}
            labels = {f"grade.{name}": grade for name, grade in grades.items()}
            row: dict[str, object] = {"query": query, "passage": passage, "answer": answer, "annotator": annotator}
            rows.append({**row, "query_id": f"p{number}", **labels})
    return _write(path, rows)


def _write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.with_name(f"{path.stem}.datasheet.toml").write_text('annotators = ["*"]\n[source]\nlabels = "constructed"\n')
    return write(path, rows)


def test_rejection_judge_names_one_of_the_six_outcomes() -> None:
    module = judge_module("rejection", OUTCOME_SCALE, ("grade",), ("query", "answer"))
    (predict,) = module.predictors()
    assert list(predict.signature.output_fields) == ["reason", "outcome", "confidence"]
    assert set(OUTCOME_SCALE.grades) == set(REJECTION_OUTCOMES)
    accepted = OUTCOME_SCALE.grades[OUTCOME_SCALE.accept_index or 0 :]
    assert set(accepted) == REJECTION_PASSES
    assert all(str(outcome) in predict.signature.instructions for outcome in OUTCOME_SCALE.grades)
    assert "sentence" in description(predict.signature.output_fields["reason"])  # how long a reason is, said once
    assert "sentence" not in predict.signature.instructions


def test_reliability_judge_grades_three_aspects() -> None:
    module = judge_module("reliability", RELIABILITY_SCALE, ASPECTS, ("query", "passage", "answer"))
    (predict,) = module.predictors()
    fields = list(predict.signature.output_fields)
    assert fields == ["reason", *(f"grade_{aspect}" for aspect in ASPECTS), "confidence"]
    assert list(predict.signature.input_fields) == ["query", "passage", "answer"]


def test_labels_are_recognized_by_their_columns(tmp_path: Path) -> None:
    rejection = read_labels(str(rejection_labels(tmp_path / "r.jsonl", 30)))
    assert (rejection.task, rejection.scale, default_objective(rejection)) == ("rejection", OUTCOME_SCALE, "kappa")
    reliability = read_labels(str(reliability_labels(tmp_path / "p.jsonl", 30)))
    assert (reliability.task, reliability.aspects) == ("reliability", ASPECTS)
    assert reliability.scale == RELIABILITY_SCALE
    assert reliability.source["labels"] == "constructed"


def test_annotators_of_pairs_have_a_fleiss_kappa_for_each_aspect(tmp_path: Path) -> None:
    report = label_report(read_label_file(str(reliability_labels(tmp_path / "p.jsonl"))), "p")
    kappas = [report["agreement"]["aspects"][aspect]["fleiss_kappa"] for aspect in ASPECTS]
    assert all(kappa is not None and 0.5 < kappa < 1 for kappa in kappas)


def test_pairs_that_all_three_annotators_call_reliable_are_counted_as_in_ragprobe(tmp_path: Path) -> None:
    """61 of 75 by all three (Sivasothy et al., section 5.4), with a Fleiss kappa near their .74."""
    yes = [(1, 1, 1)] * 61 + [(0, 0, 0)] * 8 + [(1, 0, 0)] * 3 + [(1, 1, 0)] * 3
    rows = [
        {"query_id": f"p{n}", "query": f"What is {n}?", "passage": f"It is {n}.", "answer": str(n), "annotator": who,
         "grade.question_in_passage": 1, "grade.answer_in_passage": said}
        for n, votes in enumerate(yes) for who, said in zip("abc", votes, strict=True)
    ]  # fmt: skip
    rows += [{**rows[0], "query": "Seen by one?", "query_id": "p99"}]
    found = label_report(read_label_file(str(_write(tmp_path / "pairs.jsonl", rows))), "p")["agreement"]
    counted = found["by_all"]
    assert counted is not None
    assert (counted["accepted"], counted["rejected"], counted["of"]) == (61, 8, 75)
    assert counted["share"]["value"] == pytest.approx(61 / 75)
    assert (counted["share"]["low"], counted["share"]["high"]) == pytest.approx((0.7066, 0.8940), abs=2e-3)
    assert 0.7 < (found["aspects"]["answer_in_passage"]["fleiss_kappa"] or 0.0) < 0.85
    of_questions = found["aspects"]["question_in_passage"]["by_all"]
    assert of_questions is not None
    assert (of_questions["accepted"], of_questions["rejected"]) == (75, 0)


def test_items_that_one_annotator_left_an_aspect_of_are_judged_by_the_others() -> None:
    accept_by = np.array([[[1, 1], [1, 0], [1, 1]], [[1, 1], [0, 1], [1, -1]], [[1, -1], [-1, -1], [-1, -1]]])
    counted = by_all(accept_by, np.arange(3))
    assert counted is not None
    assert (counted["accepted"], counted["rejected"], counted["of"]) == (1, 1, 2)  # both reject the second in an aspect
    assert by_all(np.full((3, 2, 1), -1), np.arange(2)) is None


def compiled(path: Path) -> tuple[Path, Any]:
    labels = read_labels(str(path))
    objective = default_objective(labels)
    settings = CompileSettings(path.stem, path.parent, LMSpec.parse("embedded"), objective)
    return path.parent, compiled_on(labels, settings).saved.report


def test_rejection_compiles_for_kappa_and_leaves_ordinal_statistics_null(tmp_path: Path) -> None:
    home, report = compiled(rejection_labels(tmp_path / "rejection.jsonl"))
    assert report["objective"] == "kappa"
    test = report["test"]["compiled"]
    assert test["kappa"]["value"] > 0.6
    for name in ("tau_b", "tau_b_score", "spearman", "qwk"):
        assert test[name]["value"] is None
        assert "no order" in test[name]["note"]
    assert any("constructed labels" in note for note in report["notes"])
    judge = load_judge(programs.load(home, "rejection@latest"))
    assert judge.scale.level == "nominal"


@pytest.mark.full
def test_reliability_compiles_and_filters_generated_pairs(tmp_path: Path) -> None:
    home, report = compiled(reliability_labels(tmp_path / "reliability.jsonl"))
    assert set(report["test"]["compiled"]["aspects"]) == set(ASPECTS)
    judge = load_judge(programs.load(home, "reliability@latest"))
    with Session(LMSpec.parse("embedded"), home) as session:
        passage = "The pump 3 weighs 31 grams. It is made of steel and was released by the factory."
        good = Pair("How much does the pump 3 weigh?", passage, "31 grams")
        asked = Pair("Which licence does the harbour relay of Lisbon need?", passage, good.answer)
        said = Pair(good.query, passage, "44 kilometres of coast")
        found = ReliabilityJudge("reliability@1", judge, session.ask).faults([good, asked, said])
        assert found[0] == ()
        assert "question_in_passage" in found[1]
        assert "answer_in_passage" in found[2]
        raw = judge.judge(
            [Item("1", "1", {"query": good.query, "passage": passage, "answer": "31 grams"})], session.ask
        )
    assert raw.aspects == ASPECTS


@pytest.mark.parametrize("task", ["rejection", "reliability"])
def test_prompt_tells_material_from_instructions(task: str) -> None:
    scale, aspects = (OUTCOME_SCALE, ("grade",)) if task == "rejection" else (RELIABILITY_SCALE, ASPECTS)
    module = judge_module(task, scale, aspects, ("query", "answer", "passage"))
    (predict,) = module.predictors()
    assert all("never an instruction" in str(f.json_schema_extra) for f in predict.signature.input_fields.values())
