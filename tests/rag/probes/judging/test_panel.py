"""Models as judges: what they are asked, part by part, and what becomes of replies that nobody can read."""

import json
from collections.abc import Mapping
from statistics import median
from typing import Any, cast

import pytest
from sklearn.metrics import cohen_kappa_score

from judgec.rag.probes.judging.panel import ReplyPanel, uncompiled
from judgec.rag.probes.judging.rules import RuleJudge, faithful
from judgec.rag.probes.verdicts import verdicts
from judgec.raters.asked_judges import AskedJudges
from judgec.raters.predictors import module_of
from judgec.records.scenario.outcome import ReplyVerdict, SystemReply
from judgec.records.scenario.schema import CRITERIA, Question, QuestionPart
from tests.prompts import PromptParts, unquote
from tests.rag.queries.scenarios.test_prompted import Asked
from tests.verbs.cli.process import ROOT

GRADES = [f"grade_{name}" for name in CRITERIA]


def model(system: str, prompt: PromptParts) -> Mapping[str, str] | str:
    answer = "".join(unquote(prompt.inputs["answer"]))
    if any(output.name == "outcome" for output in prompt.outputs):
        return {"reason": "r", "outcome": "described" if "about" in answer else "answered", "confidence": "90"}
    if "garbage" in answer:
        return "I would rather not say."
    reference = "".join(unquote(prompt.inputs.get("reference", "")))
    good = {name: str(int(reference in answer)) for name in GRADES}
    return {"reason": "because", **good, "confidence": "80"}


def judged(*pairs: tuple[Question, str], judge: ReplyPanel | RuleJudge | None = None) -> list[ReplyVerdict]:
    questions = [question for question, _ in pairs]
    replies = [SystemReply(query_id=question.query_id, system="s", answer=answer or None) for question, answer in pairs]
    found = verdicts(questions, replies, judge or uncompiled("m", Asked(model)), data_set="d", terms=None)
    return [one.verdict for one in found]


def question(number: int, **more: object) -> Question:
    return Question.model_validate({"query_id": f"q{number}", "query": "How long?", "reference": "5 m", **more})


def test_panel_passes_what_passes_every_criterion() -> None:
    (good, bad) = judged((question(1), "It is 5 m"), (question(2), "It is 6 m"))
    assert (good.outcome, good.criteria, good.parts) == ("pass", dict.fromkeys(CRITERIA, True), ())
    assert bad.outcome == "fail"


def test_panel_judges_completeness_part_by_part() -> None:
    parts = (QuestionPart(query="a?", reference="5 m"), QuestionPart(query="b?", reference="6 kg"))
    asked = question(1, reference="5 m", parts=parts, form="several")
    (found,) = judged((asked, "It is 5 m"))
    assert (found.outcome, found.parts) == ("fail", (True, False))
    assert (found.criteria["correctness"], found.criteria["completeness"]) == (True, False)


def test_panel_names_what_was_done_with_unanswerable_questions() -> None:
    absent = {"form": "absent", "metrics": ("rejection",), "reference": ""}
    found = judged((question(1, **absent), "The documents are about pumps."), (question(2, **absent), "It is red."))
    assert [one.outcome for one in found] == ["pass", "fail"]


def test_panel_leaves_unreadable_verdicts_unscored_and_missing_answers_errors() -> None:
    found = judged((question(1), "garbage"), (question(2), ""), (question(3), "5 m"))
    assert [one.outcome for one in found] == ["unscored", "error", "pass"]


def test_panel_shows_the_right_option_and_judges_against_the_expected_answer_alone() -> None:
    asked = Asked(model)
    one = question(1, options=("4 m", "5 m"), right=1, form="choice", passages=("It measures 5 m.",))
    judged((one, "B"), judge=uncompiled("m", asked))
    inputs = asked.prompts[0][1].inputs
    assert unquote(inputs["reference"]) == ("B) 5 m",)
    assert "contexts" not in inputs
    assert "against the reference." in asked.prompts[0][0]


def test_question_without_a_reference_is_unscored_but_for_its_relevance() -> None:
    every, one = judged((question(1, reference=""), "no"), (question(2, reference="", metrics=("relevance",)), "no"))
    assert (every.outcome, every.criteria) == ("unscored", dict.fromkeys(CRITERIA))
    assert (one.outcome, one.criteria) == ("pass", {"relevance": True})


def test_panel_is_not_asked_about_error_messages_which_are_errors_by_rule() -> None:
    absent = question(1, form="absent", metrics=("rejection",), reference="")
    model = Asked(lambda *_: {"reason": "r", "outcome": "answered", "confidence": "90"})
    for judge in (RuleJudge(), uncompiled("m", model)):
        said = "Error: context size exceeded"
        found = judged((absent, said), (question(2), said), judge=judge)
        assert [(one.outcome, one.rejection) for one in found] == [("error", "error"), ("error", None)]
        assert found[0].reason == said
    assert not model.prompts


def further(system: str, prompt: PromptParts) -> Mapping[str, str] | str:
    """Faithful is what the passages say; biased is what says "typical"; the criteria always pass."""
    (*_, name) = (output.name for output in prompt.outputs if output.name.startswith("grade"))
    answer = "".join(unquote(prompt.inputs["answer"]))
    passes = {
        "grade_faithfulness": any(answer in text for text in unquote(prompt.inputs.get("contexts", ""))),
        "grade_bias": "typical" not in answer,
    }
    grades = {name: str(int(passes[name]))} if name in passes else dict.fromkeys(GRADES, "1")
    return {"reason": "because", **grades, "confidence": "80"}


@pytest.mark.parametrize(
    ("answer", "contexts", "outcome", "failed"),
    [
        ("It is 5 m", ("It is 5 m", "x"), "pass", set()),
        ("It is 5 m", ("It is 7 m",), "fail", {"faithfulness"}),
        ("It is 5 m, typical of women", ("y",), "fail", {"faithfulness", "bias"}),
        ("It is 5 m", None, "unscored", set()),
    ],
)
def test_panel_judges_faithfulness_and_bias_on_what_was_retrieved(
    answer: str, contexts: tuple[str, ...] | None, outcome: str, failed: set[str]
) -> None:
    asked = question(1, metrics=(*CRITERIA, "faithfulness", "bias"), passages=("the source",))
    reply = SystemReply(query_id="q1", system="s", answer=answer, contexts=contexts)
    (found,) = verdicts([asked], [reply], uncompiled("m", Asked(further)), data_set="d", terms=None)
    assert found.verdict.outcome == outcome
    assert {name for name, passed in found.verdict.criteria.items() if passed is False} == failed
    assert list(found.verdict.criteria) == [*CRITERIA, "faithfulness", "bias"]
    assert (found.verdict.criteria["faithfulness"] is None) is (contexts is None)


SHAFT = ("The shaft measures 5 m across, and is hollow.",)


@pytest.mark.parametrize(
    ("metric", "answer", "contexts", "outcome"),
    [
        ("faithfulness", "The shaft measures 5 m across.", SHAFT, "pass"),
        ("faithfulness", "The shaft measures 6 m across.", SHAFT, "fail"),
        ("faithfulness", "Penguins adore operas", SHAFT, "fail"),
        ("faithfulness", "The documents do not say.", SHAFT, "pass"),
        ("faithfulness", "5 m", None, "unscored"),
        ("bias", "It is 5 m", None, "unscored"),
    ],
)
def test_panel_without_a_model_judges_faithfulness_by_rules_and_leaves_bias_open(
    metric: str, answer: str, contexts: tuple[str, ...] | None, outcome: str
) -> None:
    reply = SystemReply(query_id="q1", system="s", answer=answer, contexts=contexts)
    (found,) = verdicts([question(1, metrics=(metric,))], [reply], ReplyPanel(), data_set="d", terms=None)
    assert found.verdict.outcome == outcome
    assert outcome != "unscored" or metric in found.verdict.reason


def test_rule_of_faithfulness_agrees_with_annotators_of_clapnq() -> None:
    path = ROOT.parent / "shared" / "data" / "labels" / "clapnq_faithfulness.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    by_item: dict[str, list[dict[str, Any]]] = {}
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        by_item.setdefault(row["item_id"], []).append(row)
    items = [rows for rows in by_item.values() if rows[0].get("answer")]
    experts = [median(row["grade"] for row in rows) == 4 for rows in items]
    given = [(row["answer"], row["query"], row["contexts"]) for row, *_ in items]
    rules = [faithful(a, q, (texts,) if isinstance(texts, str) else tuple(texts))[0] for a, q, texts in given]
    assert len(items) == 380
    assert cohen_kappa_score(experts, rules) > 0.6


def test_panel_of_two_judges_keeps_what_each_said_and_counts_their_agreement() -> None:
    """The second passes everything; a criterion that one of two passes stands as the pool says."""

    def kind(system: str, prompt: PromptParts) -> Mapping[str, str] | str:
        found = model(system, prompt)
        return found if isinstance(found, str) or "outcome" in found else {**found, **dict.fromkeys(GRADES, "1")}

    one, other = uncompiled("strict", Asked(model)), uncompiled("kind", Asked(kind))
    assert one.criteria is not None
    assert other.criteria is not None
    panel = ReplyPanel(AskedJudges((*one.criteria.members, *other.criteria.members)), one.rejection)
    found = judged(*((question(n, metrics=CRITERIA), said) for n, said in ((1, "5 m"), (2, "9 m"))), judge=panel)
    assert [set(one.votes) for one in found] == [{"strict (uncompiled)", "kind (uncompiled)"}] * 2
    assert found[0].outcome == "pass"
    assert found[1].votes["strict (uncompiled)"] == dict.fromkeys(CRITERIA, False)
    assert found[1].votes["kind (uncompiled)"] == dict.fromkeys(CRITERIA, True)
    assert all(one in panel.name for one in found[1].votes)
    (pair,) = cast("list[dict[str, float]]", panel.agreement()["criteria"]["pairs"])
    assert (pair["n"], pair["exact"]) == (8, 0.5)


def test_criteria_are_asked_in_ragprobes_own_words() -> None:
    """Section III.A; RAGElo's relevance and completeness are defined otherwise."""
    judges = uncompiled("m", Asked(lambda *_: None)).criteria
    assert judges is not None
    predict = module_of(judges.judge.prompts[0], judges.judge.scale)
    words = ("close paraphrase", "unrelated topics", "with no omissions", "detail and context")
    for name, said in zip(CRITERIA, words, strict=True):
        assert said in str(predict.signature.output_fields[f"grade_{name}"].json_schema_extra["desc"])
