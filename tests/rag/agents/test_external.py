import gzip
import json
from pathlib import Path

import httpx
import pytest

from judgec.errors import InputError, UserError
from judgec.rag.agents.answer import Context
from judgec.rag.agents.external import PythonSystem, SystemFailedError, as_said, ask_system
from judgec.rag.agents.http import HttpSystem, look_up
from judgec.rag.agents.rerank import python_reranker
from judgec.rag.retrieval.passages import Hit, Passage
from tests.service import policies
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Raw

SYSTEM = """
name = "ours"
url = "http://127.0.0.1:9/ask?lang=en"
headers = { Authorization = "Bearer $RAG_KEY" }
body = { input = { question = "{query}" }, options = ["{query}", 3] }
answer = "result.text"
contexts = "result.sources.*.body"
"""


def http(tmp_path: Path, text: str, handler: httpx.MockTransport) -> HttpSystem:
    path = tmp_path / "system.toml"
    path.write_text(text)
    return HttpSystem(path, {"RAG_KEY": "s3cret"}, transport=handler)


def test_http_system_is_asked_and_read_as_its_file_says(tmp_path: Path) -> None:
    seen: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"result": {"text": "42", "sources": [{"body": "a"}, {}, {"body": "b"}]}})

    said = http(tmp_path, SYSTEM, httpx.MockTransport(reply)).ask('a "quoted" {query}?')
    assert (said.text, said.contexts) == ("42", (Context("a"), Context(""), Context("b")))  # [3] is b
    assert seen[0].headers["authorization"] == "Bearer s3cret"
    assert json.loads(seen[0].content)["input"]["question"] == 'a "quoted" {query}?'


@pytest.mark.parametrize(
    ("text", "query", "path", "params"),
    [
        ('url = "http://h/x?q={query}"', "a&b=c d", b"/x?q=a%26b%3Dc%20d", {"q": "a&b=c d"}),
        (
            'url = "http://h/ask/{query}?version=2"\nparams = { q = "{query}" }',
            "a b/c",
            b"/ask/a%20b%2Fc?",
            {"version": "2", "q": "a b/c"},
        ),
    ],
)
def test_query_in_a_url_is_escaped(tmp_path: Path, text: str, query: str, path: bytes, params: dict[str, str]) -> None:
    seen: list[httpx.URL] = []

    def reply(request: httpx.Request) -> httpx.Response:
        seen.append(request.url)
        return httpx.Response(200, text="plain")

    system = http(tmp_path, f'method = "GET"\nanswer = ""\n{text}\n', httpx.MockTransport(reply))
    assert system.ask(query).text == "plain"
    assert seen[0].raw_path.startswith(path)
    assert dict(seen[0].params) == params


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (httpx.Response(500, text="broken"), "HTTP 500"),
        (httpx.Response(302, headers={"location": "http://evil/"}), "HTTP 302"),
        (httpx.Response(200, text="<html>"), "not JSON"),
        (httpx.Response(200, json={"result": {}}), "no text at result.text"),
    ],
)
def test_failure_of_the_system_is_no_answer_nor_a_secret(tmp_path: Path, response: httpx.Response, said: str) -> None:
    system = http(tmp_path, SYSTEM, httpx.MockTransport(lambda _: response))
    (answer,) = ask_system(system, [("q", "text")], in_flight=1)
    assert answer.text is None
    assert said in (answer.error or "")
    assert "s3cret" not in (answer.error or "")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Raw(b'{"answer":' + b"[" * 200_000), "not JSON"),
        (Raw(gzip.compress(b" " * 40_000_000), {"Content-Encoding": "gzip"}), "more than 16,777,216 bytes"),
        (Raw(b"", drip_seconds=0.02), "Error: "),
    ],
    ids=["nested", "packed", "dripping"],
)
def test_reply_without_end_is_a_failure_of_its_query(tmp_path: Path, reply: Raw, said: str) -> None:
    file = tmp_path / "mine.toml"
    with FakeOpenAI(policies.always(reply)) as server:
        file.write_text(f'url = "{server.base_url}"\ntimeout = 0.2\nbody = {{ q = "{{query}}" }}\n')
        with pytest.raises(SystemFailedError, match=said):
            HttpSystem(file, {}).ask("why?")


def test_missing_variable_and_wrong_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "system.toml"
    path.write_text(SYSTEM)
    with pytest.raises(UserError, match=r"headers.Authorization: \$RAG_KEY"):
        HttpSystem(path, {})
    path.write_text('url = "ftp://h"\nanswr = "x"\n')
    with pytest.raises(InputError, match=r"answr[\s\S]*url|url[\s\S]*answr"):
        HttpSystem(path, {})
    with pytest.raises(InputError, match="no such file"):
        HttpSystem(tmp_path / "none.toml", {})


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("a.0.b", 1),
        ("a.*.b", [1, None, 2]),
        ("a.2", {"b": 2}),
        ("a.7.b", None),
        ("c.d", None),
        ("c.*", []),
        ("d.*.b", [3, 4]),
        ("e.*.f.*.b", [5, 6, None, 7]),
        ("e.0.f.*.b", [5, 6]),
    ],
)
def test_paths_find_what_is_there_and_nothing_else(path: str, wanted: object) -> None:
    found = {
        "a": [{"b": 1}, {}, {"b": 2}],
        "c": 5,
        "d": {"one": {"b": 3}, "two": {"b": 4}},
        "e": [{"f": [{"b": 5}, {"b": 6}]}, {"f": [{}, {"b": 7}]}],
    }
    assert look_up(found, path) == wanted


def test_path_that_finds_no_passage_in_any_element_is_a_failure(tmp_path: Path) -> None:
    body = {"result": {"text": "42", "sources": [{"txt": "a"}, {"txt": "b"}]}}
    with pytest.raises(SystemFailedError, match=r"result\.sources\.\*\.body"):
        http(tmp_path, SYSTEM, httpx.MockTransport(lambda _: httpx.Response(200, json=body))).ask("x")
    body = {"result": {"text": "I do not know.", "sources": []}}
    assert http(tmp_path, SYSTEM, httpx.MockTransport(lambda _: httpx.Response(200, json=body))).ask("x").contexts == ()


def test_python_function_is_a_system_and_its_exceptions_are_failures(tmp_path: Path) -> None:
    (tmp_path / "my_rag_under_test.py").write_text(
        "def ask(query):\n"
        "    if query == 'bad':\n        raise RuntimeError('down')\n"
        "    return {'answer': query.upper() + ' [1]', 'contexts': [{'id': 'd1', 'text': 'T'}]}\n"
    )
    system = PythonSystem("python:my_rag_under_test:ask", tmp_path)
    found = {answer.query_id: answer for answer in ask_system(system, [("1", "good"), ("2", "bad")], in_flight=2)}
    assert (found["1"].text, found["1"].contexts, found["1"].cited) == ("GOOD [1]", (Context("T", "d1"),), (0,))
    assert (found["2"].text, found["2"].error) == (None, "RuntimeError: down")


@pytest.mark.parametrize("reference", ["python:nowhere_at_all:f", "python:json:nothing", "python:json", "python::f"])
def test_function_that_is_not_there_is_refused(reference: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--agents"):
        PythonSystem(reference, tmp_path)


@pytest.mark.parametrize("found", [None, 3, {"text": "x"}, {"answer": 5}, ["x"]])
def test_reply_without_an_answer_is_a_failure(found: object) -> None:
    with pytest.raises(SystemFailedError, match="no answer"):
        as_said(found)


def test_half_a_surrogate_pair_becomes_a_question_mark_in_answers_passages_and_errors(tmp_path: Path) -> None:
    said = as_said({"answer": "a\ud800b", "contexts": [{"text": "c\udfff", "id": "d"}]})
    assert (said.text, said.contexts) == ("a?b", (Context("c?", "d"),))
    (tmp_path / "surrogate_under_test.py").write_text("def ask(query):\n    raise ValueError('no \\ud800')\n")
    (answer,) = ask_system(PythonSystem("python:surrogate_under_test:ask", tmp_path), [("q", "x")], in_flight=1)
    assert answer.error == "ValueError: no ?"


def test_passage_without_text_is_a_failure_and_an_empty_one_keeps_its_place() -> None:
    with pytest.raises(SystemFailedError, match="its keys are body"):
        as_said({"answer": "x", "contexts": [{"body": "b"}]})
    assert as_said({"answer": "x", "contexts": [None, "b"]}).contexts == (Context(""), Context("b"))


@pytest.mark.parametrize("text", ["def ask(:", "raise RuntimeError('no licence')"])
def test_module_that_cannot_be_imported_is_refused(text: str, tmp_path: Path) -> None:
    name = f"broken_module_{len(text)}"
    (tmp_path / f"{name}.py").write_text(text)
    with pytest.raises(UserError, match=r"--agents python.*importable"):
        PythonSystem(f"python:{name}:ask", tmp_path)
    with pytest.raises(UserError, match=r"--rerank .*importable"):
        python_reranker(f"python:{name}:ask", tmp_path)


@pytest.mark.parametrize("scores", ["[float('nan')]", "['high']", "[1, 2]", "1 / 0"])
def test_reranker_without_a_number_a_text_is_refused(scores: str, tmp_path: Path) -> None:
    name = f"scores_{len(scores)}"
    (tmp_path / f"{name}.py").write_text(f"def score(query, texts):\n    return {scores}\n")
    with pytest.raises(UserError, match=f"--rerank python:{name}:score: "):
        python_reranker(f"python:{name}:score", tmp_path)("q", [Hit(Passage("p", "p", "text"), 1.0)])
