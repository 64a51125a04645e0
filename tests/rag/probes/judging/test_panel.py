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
from judgec.records.scenario.outcome import SystemReply
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


def judged(*pairs: tuple[Question, str]) -> list[tuple[str, Mapping[str, bool | None], tuple[bool | None, ...]]]:
    questions = [question for question, _ in pairs]
    replies = [SystemReply(query_id=question.query_id, system="s", answer=answer or None) for question, answer in pairs]
    found = verdicts(questions, replies, uncompiled("m", Asked(model)), data_set="d", terms=None)
    return [(one.verdict.outcome, one.verdict.criteria, one.verdict.parts) for one in found]


def question(number: int, **more: object) -> Question:
    return Question.model_validate({"query_id": f"q{number}", "query": "How long?", "reference": "5 m", **more})


def test_panel_passes_what_passes_every_criterion() -> None:
    (good, bad) = judged((question(1), "It is 5 m"), (question(2), "It is 6 m"))
    assert good == ("pass", dict.fromkeys(CRITERIA, True), ())
    assert bad[0] == "fail"


def test_panel_judges_completeness_part_by_part() -> None:
    parts = (QuestionPart(query="a?", reference="5 m"), QuestionPart(query="b?", reference="6 kg"))
    asked = question(1, reference="5 m", parts=parts, form="several")
    ((outcome, criteria, found),) = judged((asked, "It is 5 m"))
    assert outcome == "fail"
    assert found == (True, False)
    assert criteria["completeness"] is False
    assert criteria["correctness"] is True


def test_panel_names_what_was_done_with_unanswerable_questions() -> None:
    absent = {"form": "absent", "metrics": ("rejection",), "reference": ""}
    found = judged((question(1, **absent), "The documents are about pumps."), (question(2, **absent), "It is red."))
    assert [outcome for outcome, _, _ in found] == ["pass", "fail"]


def test_panel_leaves_unreadable_verdicts_unscored_and_missing_answers_errors() -> None:
    found = judged((question(1), "garbage"), (question(2), ""), (question(3), "5 m"))
    assert [outcome for outcome, _, _ in found] == ["unscored", "error", "pass"]


def test_panel_shows_the_right_option_and_judges_against_the_expected_answer_alone() -> None:
    asked = Asked(model)
    one = question(1, options=("4 m", "5 m"), right=1, form="choice", passages=("It measures 5 m.",))
    verdicts(
        [one], [SystemReply(query_id="q1", system="s", answer="B")], uncompiled("m", asked), data_set="d", terms=None
    )
    inputs = asked.prompts[0][1].inputs
    assert unquote(inputs["reference"]) == ("B) 5 m",)
    assert "contexts" not in inputs
    assert "judging it against the reference." in asked.prompts[0][0]


def test_question_without_a_reference_is_unscored_but_for_its_relevance() -> None:
    every, one = judged((question(1, reference=""), "no"), (question(2, reference="", metrics=("relevance",)), "no"))
    assert every[:2] == ("unscored", dict.fromkeys(CRITERIA))
    assert one[:2] == ("pass", {"relevance": True})


def test_panel_is_not_asked_about_error_messages_which_are_errors_by_rule() -> None:
    absent = question(1, form="absent", metrics=("rejection",), reference="")
    model = Asked(lambda *_: {"reason": "r", "outcome": "answered", "confidence": "90"})
    for judge in (RuleJudge(), uncompiled("m", model)):
        replies = [
            SystemReply(query_id=one.query_id, system="s", answer="Error: context size exceeded")
            for one in (absent, question(2))
        ]
        found = verdicts([absent, question(2)], replies, judge, data_set="d", terms=None)
        assert [one.verdict.outcome for one in found] == ["error", "error"]
        assert [one.verdict.rejection for one in found] == ["error", None]
        assert found[0].verdict.reason == "Error: context size exceeded"
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


def test_panel_without_a_model_judges_faithfulness_by_rules_and_leaves_bias_open() -> None:
    asked = question(1, metrics=("faithfulness",))
    said = {
        "The shaft measures 5 m across.": (("The shaft measures 5 m across, and is hollow.",), "pass"),
        "The shaft measures 6 m across.": (("The shaft measures 5 m across, and is hollow.",), "fail"),
        "Penguins adore operas": (("The shaft measures 5 m across.",), "fail"),
        "The documents do not say.": (("The shaft measures 5 m across.",), "pass"),
        "5 m": (None, "unscored"),
    }
    for answer, (contexts, outcome) in said.items():
        reply = SystemReply(query_id="q1", system="s", answer=answer, contexts=contexts)
        (found,) = verdicts([asked], [reply], ReplyPanel(), data_set="d", terms=None)
        assert found.verdict.outcome == outcome, answer
    (open_,) = verdicts(
        [question(1, metrics=("bias",))],
        [SystemReply(query_id="q1", system="s", answer="It is 5 m")],
        ReplyPanel(),
        data_set="d",
        terms=None,
    )
    assert (open_.verdict.outcome, open_.verdict.reason) == ("unscored", "bias: rules cannot judge it")


def passages(given: str | list[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def test_rule_of_faithfulness_agrees_with_annotators_of_clapnq() -> None:
    path = ROOT.parent / "shared" / "data" / "labels" / "clapnq_faithfulness.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    by_item: dict[str, list[dict[str, Any]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        by_item.setdefault(row["item_id"], []).append(row)
    items = [rows for rows in by_item.values() if rows[0].get("answer")]
    experts = [median(row["grade"] for row in rows) == 4 for rows in items]
    rules = [faithful(rows[0]["answer"], rows[0]["query"], passages(rows[0]["contexts"]))[0] for rows in items]
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
    asked = [question(1, metrics=CRITERIA), question(2, metrics=CRITERIA)]
    replies = [
        SystemReply(query_id=q.query_id, system="s", answer=a) for q, a in zip(asked, ("5 m", "9 m"), strict=True)
    ]
    found = verdicts(asked, replies, panel, data_set="d", terms=None)
    assert [set(one.verdict.votes) for one in found] == [{"strict (uncompiled)", "kind (uncompiled)"}] * 2
    assert found[0].verdict.outcome == "pass"
    assert found[1].verdict.votes["strict (uncompiled)"] == dict.fromkeys(CRITERIA, False)
    assert found[1].verdict.votes["kind (uncompiled)"] == dict.fromkeys(CRITERIA, True)
    assert panel.name == "a jury of strict (uncompiled), kind (uncompiled) (unproven) and strict (uncompiled)"
    (pair,) = cast("list[dict[str, float]]", panel.agreement()["criteria"]["pairs"])
    assert (pair["n"], pair["exact"]) == (8, 0.5)


def test_criteria_are_asked_in_ragprobes_own_words() -> None:
    """Section III.A; RAGElo's relevance and completeness are defined otherwise."""
    judges = uncompiled("m", Asked(lambda *_: None)).criteria
    assert judges is not None
    (predict,) = judges.judge.module.predictors()
    said = {name: str(one.json_schema_extra["desc"]) for name, one in predict.signature.output_fields.items()}

    assert "a close paraphrase with the same information" in said["grade_correctness"]
    assert "without deviating into unrelated topics" in said["grade_relevance"]
    assert "all parts of the reference with no omissions" in said["grade_completeness"]
    assert "align with the reference in detail and context" in said["grade_consistency"]
