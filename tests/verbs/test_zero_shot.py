"""``judge --judge zero-shot``: the papers' prompts before there is any label, never promoted."""

from pathlib import Path
from typing import Any

import pytest

import judgec
from judgec.errors import UserError
from tests.compile.small import write
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, answer
from tests.verbs.cli.judging import KEY

QUERY = {"query": "How wide is the range?"}
ANSWER = {**QUERY, "answer": "0.6 to 70 m3/h", "contexts": ["The range is 0.6 to 70 m3/h."]}


def best(call: Call) -> Outcome:
    return answer(call, {one.name: one.labels[-1] for one in call.prompt.outputs if one.labels})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return tmp_path


def judged(home: Path, server: FakeOpenAI, rows: list[dict[str, object]], name: str, **options: object) -> Any:
    given: dict[str, object] = {"lm": "openai/gpt-4o-mini", "api_base": server.base_url, "progress": False}
    return judgec.judge_file(
        write(home / "items.jsonl", rows),
        judge=name,
        home=home,
        out=home / "out.jsonl",
        **(given | options),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("name", "row", "key", "grade"),
    [
        ("zero-shot", ANSWER, "grade", 5),
        ("zero-shot:grade", {"user_input": "How?", "response": "So."}, "grade", 5),
        ("zero-shot", {**QUERY, "document": "The range is 0.6 to 70 m3/h."}, "grade", 2),
        ("zero-shot:relevance", {**QUERY, "document": "The range."}, "grade", 2),
        ("zero-shot:umbrela", {**QUERY, "document": "The range."}, "grade", 3),
        ("zero-shot:answer", ANSWER, "grades", {"relevance": 2, "accuracy": 2, "completeness": 2, "precision": 2}),
        ("zero-shot:rejection", {**QUERY, "answer": "I cannot say."}, "grade", "refused"),
    ],
)
def test_every_task_has_a_judge_without_labels(
    home: Path, name: str, row: dict[str, object], key: str, grade: object
) -> None:
    with FakeOpenAI(best) as server:
        found = judged(home, server, [{**row, "item_id": "a"}], name)
        assert found.frame()[key].iloc[0] == grade
        assert any("nobody knows how far" in note for note in found.report["notes"])
        sent = str([body["messages"] for body in server.bodies])
        assert ("0.6 to 70 m3/h." in sent) == ("contexts" in row or "0.6" in str(row.get("document")))
        assert not (home / "programs").exists()


def test_a_pair_is_asked_in_both_orders(home: Path) -> None:
    row: dict[str, object] = {**QUERY, "answer_a": "0.6 to 70", "answer_b": "Wide.", "item_id": "a"}
    with FakeOpenAI(best) as server:
        found = judged(home, server, [row], "zero-shot")
        assert found.frame()["grade"].iloc[0] == "tie"
        assert sum("Wide." in str(body["messages"]) for body in server.bodies) == 2


@pytest.mark.parametrize(
    ("name", "row", "options", "said"),
    [
        ("zero-shot", ANSWER, {"lm": None}, r"--judge zero-shot: it has no model of its own; --lm MODEL is needed"),
        ("zero-shot:nope", ANSWER, {}, r"task 'nope' is not known; valid are"),
        ("zero-shot", {"farbe": "blau"}, {}, r"the columns farbe, item_id tell no task; zero-shot:TASK"),
    ],
)
def test_what_cannot_be_judged_so_is_refused_before_anything_is_asked(
    home: Path, name: str, row: dict[str, object], options: dict[str, object], said: str
) -> None:
    with FakeOpenAI(best) as server:
        with pytest.raises(UserError, match=said):
            judged(home, server, [{**row, "item_id": "a"}], name, **options)
        assert server.calls == 0
