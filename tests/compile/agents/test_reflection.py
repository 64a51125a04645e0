"""Instructions of an agent rewritten by a model that reads what its answers were worth."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from judgec.compile.agents.metric import ScoredAnswer
from judgec.compile.agents.reflection import REFUSING, AgentAdapter
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.rag.agents.answer import REFUSAL, Answer
from judgec.rag.agents.rag import AgentSettings, RAGFusion
from judgec.rag.agents.signatures import CITING
from judgec.tournament.files.queries import Query
from tests.compile.agents.world import Found, compiled, contest_of
from tests.rag.agents.world import FACTS, Shelf
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, Text, answer

MAGIC = "Quote the sensor's passage word by word."


def coachable(call: Call) -> Outcome:
    """Answers fully once its instructions say the magic words, which the reflection model finds in its lessons."""
    outputs = [output.name for output in call.prompt.outputs]
    if outputs == ["queries"]:
        return Text("[[ ## queries ## ]]\ncables\n\n[[ ## completed ## ]]")
    if outputs == ["answer"]:
        asked = call.prompt.inputs["query"].lower()
        name = next(name for name in FACTS if name in asked)
        said = FACTS[name] if MAGIC in call.instructions else "A sensor."
        return Text(f"[[ ## answer ## ]]\n{said}\n\n[[ ## completed ## ]]")
    if outputs:  # the reflection model
        texts = " ".join(call.prompt.inputs.values())
        lessons = "An accepted answer:" in texts and "is worth" in texts
        return answer(call, {outputs[-1]: MAGIC if lessons else "Try."})
    return answer(call, {})


def rewritten(home: Path, policy: Callable[[Call], Outcome]) -> Found:
    agent = RAGFusion(Shelf(), AgentSettings(k=2, variations=1))
    with FakeOpenAI(policy) as server:
        return compiled(home, server, agent, agent="rag-fusion-bm25", optimizer="gepa", rewrites=True)


def test_rewritten_instructions_win_and_keep_what_every_answer_must_do(tmp_path: Path) -> None:
    found = rewritten(tmp_path, coachable)
    assert found.chosen.name.startswith("gepa-")
    instructions = found.chosen.module.answer.signature.instructions
    assert MAGIC in instructions
    assert REFUSAL in instructions
    assert CITING in instructions
    assert found.decision.promoted, found.decision.reason


def logged(seen: list[Call], rewrite: Callable[[Call], str] = lambda _: MAGIC) -> Callable[[Call], Outcome]:
    """As ``coachable``, with the calls of the reflection model kept."""

    def policy(call: Call) -> Outcome:
        if "new_instruction" not in {output.name for output in call.prompt.outputs}:
            return coachable(call)
        seen.append(call)
        return answer(call, {"new_instruction": rewrite(call)})

    return policy


def test_reflection_reads_fenced_passages_and_what_every_answer_must_do_as_fixed(tmp_path: Path) -> None:
    seen: list[Call] = []
    rewritten(tmp_path, logged(seen))
    wrote = {}
    for call in seen:
        for example in json.loads(call.prompt.inputs["examples_with_feedback"]):
            (name,) = example["Generated Outputs"]
            wrote[name] = call.prompt.inputs["fixed"], example
    fixed, example = wrote["answer"]
    assert REFUSAL in fixed
    assert CITING in fixed
    lines = example["Inputs"]["passages"].splitlines()
    assert lines[::2] == ["[1]", "[2]"]
    assert all(line.startswith("> ") for line in lines[1::2])
    assert example["Inputs"]["query"].startswith("> ")
    assert example["Generated Outputs"]["answer"].startswith("> ")
    assert example["Feedback"].startswith("The answer is worth ")
    fixed, example = wrote["vary"]
    assert REFUSAL not in fixed
    assert example["What came of it"]["answer"].startswith("> ")
    assert example["What came of it"]["beginnings of its passages"].startswith("[1]\n> ")


def test_reflection_reads_what_a_score_is_worth_and_every_sentence_that_stays(tmp_path: Path) -> None:
    with Session(LMSpec.parse("openai/fake"), tmp_path, environ={"OPENAI_API_KEY": "test"}) as session:
        adapter = AgentAdapter(contest_of(tmp_path, session, RAGFusion(Shelf(), AgentSettings())), ())
    answered = Answer(query_id="q", agent="rag", text="Ten metres.", contexts=())
    lesson = adapter.lesson("answer", (Query("q", "How far?"), answered, ScoredAnswer(0.41, "Half of it [1].")))
    assert lesson["Feedback"] == "The answer is worth 0.41 of 1. Half of it [1]."
    assert adapter.fixed("answer").split("\n\n")[1:] == [CITING, REFUSING]


@pytest.mark.parametrize("what", ["passages", "accepted answer"])
def test_rewrite_that_repeats_what_was_found_or_accepted_is_dropped_and_counted(tmp_path: Path, what: str) -> None:
    fact = FACTS["bell"]
    assert len(fact.split()) > 8

    def copied(call: Call) -> str:
        told = str(call.prompt.inputs)
        return fact if (fact in told if what == "passages" else f"An accepted answer: {fact}" in told) else MAGIC

    seen: list[Call] = []
    found = rewritten(tmp_path, logged(seen, copied))
    again = [call for call in seen if "repeated" in call.prompt.inputs]
    assert again
    assert any(note.startswith("gepa: ") and " dropped: 8 words" in note for note in found.notes)
    assert all(fact not in one.signature.instructions for one in found.chosen.module.predictors())
