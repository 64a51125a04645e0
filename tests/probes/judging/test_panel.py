"""Models as judges: what they are asked, part by part, and what becomes of replies that nobody can read."""

from collections.abc import Mapping

from judgec.lm.embedded.prompt import Prompt, unquote
from judgec.probes.judging.panel import uncompiled
from judgec.probes.judging.rules import RuleJudge
from judgec.probes.verdicts import verdicts
from judgec.records.scenario.outcome import SystemReply
from judgec.records.scenario.schema import CRITERIA, Question, QuestionPart
from tests.queries.scenarios.test_prompted import Asked

GRADES = [f"grade_{name}" for name in CRITERIA]


def model(system: str, prompt: Prompt) -> Mapping[str, str] | str:
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


def test_panel_shows_the_right_option_and_the_source_passage() -> None:
    asked = Asked(model)
    one = question(1, options=("4 m", "5 m"), right=1, form="choice", passages=("It measures 5 m.",))
    verdicts(
        [one], [SystemReply(query_id="q1", system="s", answer="B")], uncompiled("m", asked), data_set="d", terms=None
    )
    inputs = asked.prompts[0][1].inputs
    assert unquote(inputs["reference"]) == ("B) 5 m",)
    assert unquote(inputs["contexts"]) == ("It measures 5 m.",)


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
