from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from judgec.lm.executor import Reply, Request
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.rag.agents.bulk import answer_queries, timed
from judgec.rag.agents.rag import RAG, AgentSettings, Call, RAGFusion, Steps
from tests.rag.agents.world import FACTS, Shelf, scripted
from tests.service.fake_openai import FakeOpenAI

QUERIES = [("q1", "Bell sensor"), ("q2", "Ada sensor"), ("q3", "unheard of")]


def session(home: Path, server: FakeOpenAI) -> Session:
    spec = LMSpec.parse("openai/gpt-4o-mini", api_base=server.base_url)
    return Session(spec, home, environ={"OPENAI_API_KEY": "test"})


def test_many_queries_go_through_the_executor_and_a_second_run_is_free(tmp_path: Path) -> None:
    with FakeOpenAI(scripted) as server:
        for run in range(2):
            with session(tmp_path, server) as open_session:
                agent = RAGFusion(Shelf(), AgentSettings(k=2, variations=2))
                stopwatch = timed(open_session.lm)
                answers = answer_queries(agent, "fusion", QUERIES, ask=open_session.ask, stopwatch=stopwatch)
            # each query varies once and answers once: "unheard of" too, its variations find something
            assert server.calls == 6
            assert [answer.query_id for answer in answers] == ["q1", "q2", "q3"]
            assert answers[0].text == f"{FACTS['bell']} [1] [9]"
            assert answers[0].cited == (0,)
            assert answers[0].searched == ("cables two metres", "Bell needs 24 V")
            assert (answers[0].input_tokens or 0) > 100
            assert (answers[0].usd or 0) > 0
            assert all((answer.seconds is None) == (run == 1) for answer in answers)


def test_failed_and_malformed_replies_become_errors_of_their_query_alone() -> None:
    seen: list[tuple[str | int, int | None]] = []

    def ask(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        for request in requests:
            seen.append((request.key, request.rollout))
            if request.key == 0:
                yield Reply(request.key, None, error="boom")
            elif request.key == 1 and not request.rollout:
                yield Reply(request.key, "prose without a field", input_tokens=5, output_tokens=1)
            else:
                yield Reply(request.key, "[[ ## answer ## ]]\nfine", input_tokens=7, output_tokens=2, usd=0.5)

    queries = [("q1", "Bell sensor"), ("q2", "Ada sensor"), ("q3", "Cray sensor")]
    one, two, three = answer_queries(RAG(Shelf(), AgentSettings()), "rag", queries, ask=ask)
    assert (one.text, one.error) == (None, "service error: boom")
    assert two.text == "fine"
    assert (two.input_tokens, two.output_tokens, two.usd) == (12, 3, None)
    assert (three.text, three.usd) == ("fine", 0.5)
    assert seen == [(0, None), (1, None), (2, None), (1, 1)]


def test_reply_that_stays_malformed_is_an_error_after_two_attempts() -> None:
    def ask(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        return (Reply(request.key, "I'm sorry, I can't help.") for request in requests)

    (answer,) = answer_queries(RAG(Shelf(), AgentSettings()), "rag", [("q", "Bell sensor")], ask=ask)
    assert answer.text is None
    assert (answer.error or "").startswith("refusal")


@pytest.mark.parametrize("kind", [RAG, RAGFusion])
def test_rules_answer_without_a_model_and_cost_nothing(kind: type[RAG]) -> None:
    agent = kind(Shelf(), AgentSettings(feedback=True))
    first, *others = answer_queries(agent, "rag", QUERIES, ask=None)
    assert first.text == "The Bell sensor measures up to 90 bar. [1]"
    assert all((one.usd, one.input_tokens, one.error) == (0.0, 0, None) for one in (first, *others))
    assert first.seconds is not None


def test_what_no_rule_writes_is_an_error_of_the_query() -> None:
    class Asking(RAG):
        def steps(self, query: str) -> Steps:
            yield Call("translate", {"query": query})
            raise AssertionError

    (answer,) = answer_queries(Asking(Shelf(), AgentSettings()), "own", QUERIES[:1], ask=None)
    assert answer.text is None
    assert "translate" in (answer.error or "")
    assert "--lm" in (answer.error or "")
