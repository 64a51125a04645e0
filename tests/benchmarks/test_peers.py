"""Peers of the benchmarks: the endpoint answers each in its own form, and one that fails gives no figure."""

import asyncio
import logging
from collections.abc import Iterator
from types import SimpleNamespace

import openai
import pytest
from benchmarks.figures import all_done
from pydantic import BaseModel

from benchmarks import judging_world as world
from benchmarks import planted, throughput
from judgec.raters.judge import JudgeTree
from judgec.raters.registry import judge_module
from judgec.records.label import Item
from judgec.records.scale import Scale
from tests.raters.trees import judge_of

SCALE = Scale(grades=(1, 2, 3, 4), accept_at=3)
ITEMS = [Item(f"{n}", "q", {"query": "How far?", "answer": f"{n} km", "contexts": ("It is 5 km.",)}) for n in range(3)]


class RagElo(BaseModel):
    """What ragelo's evaluators ask the Responses API for."""

    reasoning: str
    score: int


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with world.server() as started:
        yield started


@pytest.fixture(scope="module")
def judge() -> JudgeTree:
    return judge_of(judge_module("grade", SCALE, ("grade",), world.FIELDS), SCALE, ("grade",))


@pytest.mark.parametrize("way", ["Evaluate", "Parallel"])
def test_dspy_succeeds_with_every_item(url: str, judge: JudgeTree, way: str) -> None:
    assert throughput.by_dspy(url, ITEMS, judge, way) == len(ITEMS)


def test_judgec_and_a_bare_loop_succeed_with_every_item(url: str, judge: JudgeTree) -> None:
    assert throughput.ours(url, ITEMS, judge, 2) == len(ITEMS)
    chats = [[{"role": "user", "content": "Grade this."}]] * 3
    assert asyncio.run(throughput.bare_aiohttp(url, chats, 2)) == 3


def test_ragelos_form_is_answered_in_the_responses_api(url: str) -> None:
    with openai.OpenAI(api_key="none", base_url=url) as client:
        said = client.responses.parse(model="instant", input="Grade this.", text_format=RagElo)
    assert said.output_parsed == RagElo(reasoning="3", score=1)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # as the script does
def test_mlflow_succeeds_with_every_item_and_stops_the_part_where_it_does_not(
    url: str, judge: JudgeTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert throughput.by_mlflow(url, ITEMS, judge).judged == len(ITEMS)
    monkeypatch.setattr(throughput, "HOST_KEY", "")  # which MLflow refuses
    with pytest.raises(SystemExit, match=r"mlflow\.genai\.evaluate: 0 of 3"):
        throughput.by_mlflow(url, ITEMS, judge)


def test_part_whose_peer_fails_stops() -> None:
    assert all_done("ragelo", 40, 40) == 40
    with pytest.raises(SystemExit, match="ragelo: 0 of 40"):
        all_done("ragelo", 0, 40)
    with pytest.raises(SystemExit, match="mlflow: 39 of 40"):
        throughput.paid_for("mlflow", lambda: 39, 40)


@planted.reported("some")
def swallowing(level: int) -> None:
    """What an optimizer does that logs an error and goes on."""
    logging.getLogger("dspy.utils.parallelizer").log(level, "no argument named trace")


def test_optimizer_that_goes_on_after_errors_stops_the_run() -> None:
    swallowing(logging.WARNING)
    with pytest.raises(SystemExit, match="some: 1 errors"):
        swallowing(logging.ERROR)


def test_planted_lm_observes_what_reasons_mention_where_no_grade_is_asked_for() -> None:
    one = planted.CASES.criteria[0]
    output = SimpleNamespace(name="observations", labels=(), kind="str")
    prompt = SimpleNamespace(outputs=[output], wants_json=False)
    call = SimpleNamespace(prompt=prompt, body={"messages": [{"role": "user", "content": one.reasons[0]}]})
    assert one.rule in planted.CASES.reply(call)  # type: ignore[arg-type]  # as much of a call as is read
