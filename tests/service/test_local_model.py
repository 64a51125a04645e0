"""A real, tiny language model behind a real server: parsing, schemas, log-probabilities, recovery; never quality.

The model grades at chance.
"""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import dspy
import numpy as np
import pytest

from judgec.lm.client import client_of, open_lm, preflight
from judgec.lm.executor import Executor, Request
from judgec.lm.journal.journal import Journal
from judgec.lm.logprobs import label_probabilities
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from judgec.raters.known import KnownAnswers
from judgec.raters.piece import pieces_of
from judgec.raters.prompt import PromptRater
from judgec.raters.rate import rated
from judgec.raters.registry import judge_module
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale
from tests.docs.blocks import blocks
from tests.service.local_model import serving
from tests.verbs.cli.process import ROOT, judgec

pytestmark = [pytest.mark.soak, pytest.mark.local_lm]

SCALE = Scale(grades=(1, 2, 3, 4), accept_at=3)
LABELS = ["1", "2", "3", "4"]
ITEMS = tuple(Item(str(n), "q", {"query": f"What is {n} and {n}?", "answer": str(2 * n)}) for n in range(2))
TOKENS = 96  # enough for a short object; a model this small would go on for ever
WAIT = 600.0  # seconds: on two busy cores it speaks a word a second


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The server's base URL."""
    with serving() as address:
        yield address


def opened(
    url: str,
    model: str = "hosted_vllm/smollm",
    max_tokens: int = 12,
    journal: Journal | None = None,
    usage: Usage | None = None,
) -> dspy.LM:
    spec = LMSpec.parse(model, api_base=url, max_tokens=max_tokens, timeout=WAIT)
    return open_lm(spec, journal=journal, budget=Budget(), usage=usage or Usage(), environ={})


def judged(
    url: str, path: Path, *, structured: bool, usage: Usage | None = None, model: str = "hosted_vllm/smollm"
) -> Judgments:
    module = judge_module("grade", SCALE, ("grade",), ("query", "answer"))
    with Journal(path) as journal:
        lm = opened(url, model, TOKENS, journal, usage)
        known = KnownAnswers(journal, client_of(lm), "local")
        rater = PromptRater(module, scale=SCALE, aspects=("grade",), structured=structured, known=known)
        ((_, said),) = rated(rater, pieces_of(ITEMS), Executor(lm, in_flight=1).run)
    return said


def test_reply_under_a_schema_is_a_grade_with_the_models_own_probabilities(url: str, tmp_path: Path) -> None:
    usage = Usage()
    said = judged(url, tmp_path / "j.db", structured=True, usage=usage)
    scored = said.scored
    assert scored.any(), said.unscored  # one that talked beyond its tokens may have no grade
    assert set(said.grade[scored, 0].tolist()) <= {0, 1, 2, 3}
    spreads = said.probabilities[scored, 0]
    assert spreads.sum(axis=1) == pytest.approx(np.ones(len(spreads)))
    assert ((spreads > 0) & (spreads < 1)).any()  # a distribution, not a single verdict
    assert (spreads.argmax(axis=1) == said.grade[scored, 0]).any()
    assert usage.spent.output_tokens > 0
    with Journal(tmp_path / "j.db") as journal:
        ((text, logprobs),) = journal.select("SELECT text, logprobs FROM replies WHERE finish = 'stop' LIMIT 1")
    assert list(json.loads(text)) == ["reason", "grade", "confidence"]
    assert logprobs is not None


def test_ollamas_way_to_name_a_quantized_model_is_asked_at_the_same_endpoint(url: str, tmp_path: Path) -> None:
    usage = Usage()
    said = judged(url, tmp_path / "j.db", structured=True, usage=usage, model="ollama_chat/smollm2:135m-q8_0")
    assert said.scored.any(), said.unscored
    assert usage.spent.calls > 0
    assert usage.spent.usd == 0.0


def test_doctor_commands_of_the_how_to_reach_the_server(url: str, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "howto" / "local-models.md").read_text(encoding="utf-8")
    asked = [line for block in blocks(text) for line in block.text.splitlines() if line.startswith("judgec doctor")]
    assert len(asked) == 2
    for line in asked:
        _, *arguments = shlex.split(line.partition(" --api-base")[0])
        done = judgec(tmp_path, *arguments, "--api-base", url)
        assert f"{arguments[-1]} at {url.split('/')[2]} answered" in done.stdout


def test_second_run_asks_the_model_nothing(url: str, tmp_path: Path) -> None:
    first = judged(url, tmp_path / "j.db", structured=True)
    usage = Usage()
    second = judged(url, tmp_path / "j.db", structured=True, usage=usage)
    assert usage.spent.calls <= int((~first.scored).sum())  # what has no grade may be asked anew
    assert second.grade[first.scored].tolist() == first.grade[first.scored].tolist()


def test_log_probabilities_of_a_real_tokenizer_are_read_as_labels(url: str) -> None:
    lm = opened(url)
    preflight(lm)
    fields = {"properties": {"grade": {"type": "integer", "enum": [1, 2, 3, 4]}}, "required": ["grade"]}
    schema = json.dumps({"type": "object", "additionalProperties": False, **fields})
    messages = [{"role": "user", "content": "Grade the answer 4 to 2 + 2 from 1 to 4. Reply with JSON."}]
    (reply,) = Executor(lm).run([Request(0, messages, schema=schema)])
    assert reply.text is not None, reply.error
    spread = label_probabilities(reply.logprobs, "grade", LABELS)
    assert spread is not None
    assert sum(spread) == pytest.approx(1.0)
    assert json.loads(reply.text)["grade"] in {1, 2, 3, 4}


def test_prompt_that_is_too_long_is_one_failed_call_and_the_next_one_works(url: str) -> None:
    lm = opened(url, max_tokens=1)
    chats = ["short", "far too long " * 5000, "short again"]
    requests = [Request(n, [{"role": "user", "content": chat}]) for n, chat in enumerate(chats)]
    replies = {reply.key: reply for reply in Executor(lm, in_flight=1).run(requests)}
    assert [replies[n].text is None for n in range(3)] == [False, True, False]
    assert "exceeds" in str(replies[1].error) or "context" in str(replies[1].error)
