"""``compile-judge --adapter terse``: every prompt of the compile, of the saved judge and of its exports is terse."""

import json
import re
import runpy
from pathlib import Path

import pytest

import judgec
from judgec.errors import UserError
from tests.compile.small import write
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, Text
from tests.verbs.cli.judging import KEY

LABELS: list[dict[str, object]] = [
    {"query": f"What is thing {n}?", "answer": f"Thing {n}: {'good ' * (n % 5)}", "grade": n % 5 + 1} for n in range(60)
]


def counted(call: Call) -> Outcome:
    """Grades by the count of a word in the item, in the form that a terse prompt asks for."""
    messages = call.body["messages"]
    assert isinstance(messages, list)
    found = re.search(r"answer:\n(.*?)\n\n", str(messages[-1]["content"]), re.DOTALL)
    if found is None:
        return Text("ready")
    return Text(json.dumps({"reason": "Seen.", "grade": found[1].count("good") + 1, "confidence": 70}))


def test_terse_judge_compiles_loads_and_leaves_with_the_same_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    file, out = write(tmp_path / "labels.jsonl", LABELS), tmp_path / "out"
    with FakeOpenAI(counted) as server:
        judgec.compile_judge(
            str(file), lm="openai/gpt-4o-mini", api_base=server.base_url, home=tmp_path, name="short",
            adapter="terse", optimizer="labeled", evidence=False, progress=False,
        )  # fmt: skip
        judge = judgec.load_judge("short@1", home=tmp_path, api_base=server.base_url)
        assert judge.card.settings["adapter"] == "terse"
        assert judge(query="What is it?", answer="It: good good").grade == 3
        asked = [str(body["messages"]) for body in server.bodies if "ready" not in str(body)]
    assert asked
    assert not any("[[ ##" in prompt for prompt in asked)
    assert all("Reply with one JSON object" in prompt for prompt in asked)
    judgec.export("short@1", to="python", out=out, home=tmp_path)
    monkeypatch.syspath_prepend(str(out))
    sent: list[str] = []

    def complete(turns: object) -> str:
        sent.append(str(turns))
        return '{"reason": "Seen.", "grade": 3, "confidence": 70}'

    grade = runpy.run_path(str(out / "judge.py"))["grade"]
    assert grade({"query": "What?", "answer": "It."}, complete=complete)["grade"] == 3
    assert "Reply with one JSON object" in sent[0]


def test_adapter_and_effort_need_a_model_that_takes_them(tmp_path: Path) -> None:
    file = write(tmp_path / "labels.jsonl", LABELS)
    for options, said in (
        ({"adapter": "terse"}, "--adapter terse: no model is named"),
        ({"optimizer": "gepa"}, "--optimizer gepa: no model is named"),
        ({"reasoning_effort": "low"}, "--reasoning-effort low: embedded does not take it"),
    ):
        with pytest.raises(UserError, match=said):
            judgec.compile_judge(str(file), home=tmp_path, progress=False, **options)  # type: ignore[arg-type]
