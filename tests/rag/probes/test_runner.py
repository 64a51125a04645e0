"""Asking systems: HTTP pages, hangs, missing fields, storms of errors; nothing lost, and resumed."""

import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from judgec.errors import InputError, UserError
from judgec.lm.spec import LMSpec
from judgec.rag.agents.external import ExternalReply, SystemFailedError
from judgec.rag.agents.rag import AgentSettings
from judgec.rag.probes.folder import answered
from judgec.rag.probes.runner import Limits, Running, run_system
from judgec.rag.probes.systems import External, HttpProbe, asked, open_system
from judgec.rag.retrieval.build import build_index
from judgec.rag.retrieval.index import Index, open_index
from judgec.records.scenario.outcome import SystemReply
from judgec.records.scenario.schema import Question, Turn
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import always
from tests.service.replies import Raw

QUESTIONS = [(f"q{n}", f"question {n}") for n in range(6)]
FAST = Running(back_off=0.001)


class Function:
    identity = "v1"

    def __init__(self, function: Callable[[str, int], str], name: str = "f") -> None:
        self.name = name
        self.calls: list[str] = []
        self._function = function

    def ask(self, query: str) -> ExternalReply:
        self.calls.append(query)
        return ExternalReply(self._function(query, len(self.calls)))


def fail(message: str) -> str:
    raise SystemFailedError(message)


def run(system: Function, **limits: object) -> list[SystemReply]:
    return run_system(system, QUESTIONS, Limits(**limits), FAST, lambda reply: None)  # type: ignore[arg-type]  # by name


def test_run_system_keeps_the_order_of_the_questions() -> None:
    found = run(Function(lambda query, call: f"about {query}"), in_flight=3)
    assert [(one.query_id, one.answer) for one in found] == [(key, f"about {text}") for key, text in QUESTIONS]


@pytest.mark.parametrize(
    ("message", "passes_after", "attempts"),
    [
        ("HTTP 503: busy", 2, 3),
        ("HTTP 429: slow down", 99, 3),  # given up
        ("its reply is not JSON: '<html>'", 99, 1),  # what will stay wrong is not repeated
        ("no text at answer in its reply: {}", 99, 1),
        ("HTTP 404: x", 99, 1),
    ],
)
def test_run_system_repeats_what_may_pass_and_keeps_the_reason(message: str, passes_after: int, attempts: int) -> None:
    system = Function(lambda query, call: fail(message) if call <= passes_after else "fine")
    (found,) = run_system(system, QUESTIONS[:1], Limits(retries=2), FAST, lambda reply: None)
    assert (found.answer, found.error) == (("fine", None) if passes_after == 2 else (None, message))
    assert len(system.calls) == found.attempts == attempts


def test_run_system_leaves_a_hanging_call_behind() -> None:
    release = threading.Event()
    system = Function(lambda query, call: str(release.wait(280)) if query == "question 1" else "fine")
    kept: list[SystemReply] = []

    def clock() -> float:  # time passes when all the others are answered, however busy the machine is
        return 500.0 if len(kept) == len(QUESTIONS) - 1 else 0.0

    found = run_system(system, QUESTIONS, Limits(in_flight=2, deadline=30.5, retries=0), Running(clock), kept.append)
    release.set()
    assert [one.answer for one in found] == ["fine", None, "fine", "fine", "fine", "fine"]
    assert "30.5 s" in str(found[1].error)


def test_run_system_turns_any_exception_and_an_empty_answer_into_an_error() -> None:
    found = run(Function(lambda query, call: str(1 // 0) if query == "question 0" else " "), in_flight=1)
    assert str(found[0].error).startswith("ZeroDivisionError: ")
    assert found[1].error == "empty answer"


def test_run_system_keeps_to_the_rate() -> None:
    now = [0.0]
    begun: list[float] = []

    def clock() -> float:
        for thread in threading.enumerate():
            if thread.name == "judgec-probe":
                thread.join(60)  # what was started has read the time by then
        now[0] += 0.001  # every look at the clock takes a millisecond
        return now[0]

    def answer(query: str, call: int) -> str:
        begun.append(now[0])
        return query

    system = Function(answer)
    run_system(system, QUESTIONS, Limits(in_flight=6, rate=20.0), Running(clock, 0.001), lambda reply: None)
    assert all(later - sooner > 0.04 for sooner, later in pairwise(begun))


def test_run_system_never_asks_more_at_once_than_allowed() -> None:
    lock, running, most, two = threading.Lock(), [0], [0], threading.Barrier(2)

    def answer(query: str, call: int) -> str:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        two.wait(60)  # six questions, two by two
        with lock:
            running[0] -= 1
        return "x"

    run(Function(answer), in_flight=2)
    assert most[0] == 2


ASKED = [Question(query_id=key, query=text) for key, text in QUESTIONS]


def replied(
    home: Path, system: Function, asked: Sequence[Question] = ASKED, notes: list[str] | None = None
) -> list[SystemReply]:
    return answered(home, "set", External(system, Limits(), FAST), asked, notes)


def says(text: str, name: str = "f") -> Function:
    return Function(lambda query, call: text, name)


def test_answered_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    broken = Function(lambda query, call: "fine" if query in {"question 0", "question 3"} else fail("HTTP 404"))
    assert [one.answer for one in replied(tmp_path, broken)].count("fine") == 2
    mended = says("now")
    assert [one.answer for one in replied(tmp_path, mended)] == ["fine", "now", "now", "fine", "now", "now"]
    assert len(mended.calls) == 4


def test_answered_survives_a_line_that_was_cut(tmp_path: Path) -> None:
    replied(tmp_path, says("fine"))
    path = tmp_path / "replies.jsonl"
    path.write_text(path.read_text()[:-40])
    assert sorted(one.answer or "" for one in replied(tmp_path, says("again"))) == ["again", *["fine"] * 5]
    assert "third" not in {one.answer for one in replied(tmp_path, says("third"))}


def test_answered_asks_another_system_and_another_question_anew(tmp_path: Path) -> None:
    replied(tmp_path, says("old"))
    assert {one.answer for one in replied(tmp_path, says("new", "g"))} == {"new"}
    changed = [one.model_copy(update={"query": f"{one.query}!"}) for one in ASKED]
    assert {one.answer for one in replied(tmp_path, says("mine"), changed)} == {"mine"}


def test_asked_puts_the_conversation_before_the_question() -> None:
    turns = (Turn(role="user", content="Hello"), Turn(role="assistant", content="Hi"))
    assert asked(Question(query_id="q", query="And?", history=turns)) == "User: Hello\nAssistant: Hi\nUser: And?"


def system_file(tmp_path: Path, url: str, more: str = "") -> Path:
    path = tmp_path / "http.yaml"
    path.write_text(
        f"url: {url}\nheaders: {{Authorization: 'Bearer $RAG_KEY'}}\nbody: {{question: '{{query}}'}}\n"
        f"answer: data.text\ncontexts: data.sources.*.text\nretries: 1\n{more}"
    )
    return path


def over_http(tmp_path: Path, reply: Raw) -> tuple[list[SystemReply], FakeOpenAI]:
    with FakeOpenAI(always(reply)) as server:
        system = HttpProbe(system_file(tmp_path, server.base_url), {"RAG_KEY": "sk-canary"})
        found = run_system(system, QUESTIONS[:2], system.limits, FAST, lambda reply: None)
        system._client.close()
    return found, server


def test_http_system_sends_the_key_and_maps_the_fields(tmp_path: Path) -> None:
    found, server = over_http(tmp_path, Raw(b'{"data": {"text": "5 ms", "sources": [{"text": "it takes 5 ms"}]}}'))
    assert [one.answer for one in found] == ["5 ms", "5 ms"]
    assert found[0].contexts == ("it takes 5 ms",)
    assert server.keys == {"Bearer sk-canary"}
    assert sorted(map(str, server.bodies)) == ["{'question': 'question 0'}", "{'question': 'question 1'}"]


@pytest.mark.parametrize(
    ("status", "text", "said", "calls"),
    [
        (200, b"<html>Sign in</html>", "not JSON", 2),
        (200, b'{"data": {}}', "data.text", 2),
        (500, b"sk-canary was here", "HTTP 500", 4),
    ],
)
def test_http_system_that_misbehaves_says_why(tmp_path: Path, status: int, text: bytes, said: str, calls: int) -> None:
    found, server = over_http(tmp_path, Raw(text, {"Content-Type": "text/html"}, status))
    assert all(one.answer is None and one.error is not None and said in one.error for one in found)
    assert server.calls == calls


def test_http_file_with_a_fault_is_refused(tmp_path: Path) -> None:
    path = system_file(tmp_path, "http://127.0.0.1:9/x", "speed: 3\n")
    with pytest.raises(InputError, match="speed: Extra inputs"):
        HttpProbe(path, {"RAG_KEY": "k"})
    with pytest.raises(UserError, match=r"\$RAG_KEY"):
        HttpProbe(system_file(tmp_path, "http://127.0.0.1:9/x"), {})
    with pytest.raises(InputError, match="no such file"):
        HttpProbe(tmp_path / "none.yaml", {})


def test_http_file_whose_aliases_stand_for_millions_or_whose_date_is_none_is_refused(tmp_path: Path) -> None:
    laughs = "".join(f", a{n}: &a{n} [{', '.join([f'*a{n - 1}' if n else 'x'] * 10)}]" for n in range(7))
    path = tmp_path / "laughs.yaml"
    path.write_text(f"url: http://127.0.0.1:9/x\nbody: {{question: '{{query}}'{laughs}}}\n")
    with pytest.raises(InputError, match="more than 100000 values"):
        HttpProbe(path, {})
    path.write_text("url: http://127.0.0.1:9/x\nname: 2026-99-99\n")
    with pytest.raises(InputError, match="not YAML"):
        HttpProbe(path, {})


def test_answered_keeps_any_character_and_says_what_is_from_before(tmp_path: Path) -> None:
    odd = Function(lambda query, call: f"a\u2028b\x85c \ud83d {query}")
    first = replied(tmp_path, odd)
    assert first[0].answer == "a\u2028b\x85c ? question 0"
    notes: list[str] = []
    again = says("again")
    assert replied(tmp_path, again, notes=notes) == first
    assert not again.calls
    assert [" 6 of 6 " in note for note in notes] == [True]


def test_system_of_changed_code_or_documents_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def identity(name: str, index: Index | None, model: str = "embedded") -> str:
        spec = LMSpec(model=model)
        return open_system(name, index, AgentSettings(), spec, lambda *_: [], FAST, {}).identity  # type: ignore[arg-type]  # never asked

    monkeypatch.chdir(tmp_path)
    code = tmp_path / "under_review.py"
    code.write_text("def f(query): return 'one'\n")
    old = identity("python:under_review:f", None)
    code.write_text("def f(query): return 'two'\n")
    assert identity("python:under_review:f", None) != old

    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Alpha\n\nThe Alpha mast is 20 m tall when it is fully extended.\n")
    build_index([str(docs)], tmp_path / "index", seed=0)
    index = open_index(tmp_path / "index")
    before = {name: identity(name, index) for name in ("rag-bm25", "broken")}
    assert identity("rag-bm25", index, "openai/x") != before["rag-bm25"]
    assert identity("rag-bm25", index) == before["rag-bm25"]
    (docs / "a.md").write_text("# Alpha\n\nThe Alpha mast is 30 m tall when it is fully extended.\n")
    build_index([str(docs)], tmp_path / "index", seed=0)
    index = open_index(tmp_path / "index")
    assert all(identity(name, index) != before[name] for name in before)
