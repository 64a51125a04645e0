"""Instructions of an agent rewritten by a model that reads what its answers were worth."""

from pathlib import Path

from judgec.compile.agents.compile import AgentCompile
from judgec.rag.agents.answer import REFUSAL
from judgec.rag.agents.rag import AgentSettings, RAGFusion
from judgec.rag.agents.signatures import CITING
from tests.compile.agents.test_compile import run
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


def test_rewritten_instructions_win_and_keep_what_every_answer_must_do(tmp_path: Path) -> None:
    settings = AgentSettings(k=2, variations=1)
    how = AgentCompile("ag", tmp_path, "rag-fusion-bm25", settings, optimizer="gepa", resamples=200)
    with FakeOpenAI(coachable) as server:
        found = run(RAGFusion(Shelf(), settings), how, server, rewrites=True)
    assert found.chosen.name.startswith("gepa-")
    instructions = found.chosen.module.answer.signature.instructions
    assert MAGIC in instructions
    assert REFUSAL in instructions
    assert CITING in instructions
    assert found.verdict.promoted, found.verdict.reason
