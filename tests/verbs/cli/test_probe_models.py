"""Queries and probes with language models: several that write, one that judges, through a real endpoint."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from judgec.errors import UserError
from judgec.rag.probes.judging.panel import ReplyPanel
from judgec.rag.queries.scenarios import SHIPPED
from judgec.verbs import probe as probe_module
from judgec.verbs.generate_queries import generate_queries
from judgec.verbs.probe import probe
from tests.prompts import unquote
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Text, answer, digest
from tests.verbs.cli.process import ROOT

CATALOGUE = str(ROOT / "trainsets" / "sensors" / "catalogue")
EXPERTS = str(ROOT / "trainsets" / "sensors" / "expert_queries.csv")


def writer(call: Call) -> Text:
    """Asks for the longest line of its passage; the model ``odd`` says nothing that can be read every other time."""
    inputs = call.prompt.inputs
    passages = unquote(inputs.get("passage", inputs.get("passages", "")))
    if call.body["model"] == "odd" and digest("\n".join(passages)) % 2:
        return Text("Let me think about that.")
    words, each = longest("\n".join(passages)), [longest(passage) for passage in passages]
    said = {
        "questions": "\n".join(f"What is meant by {' '.join(one)}?" for one in each),
        "answers": "\n".join(" ".join(one) for one in each),
        "queries": "\n".join(f"{call.body['model']} {k}: what is meant by {' '.join(words[k:])}?" for k in range(3)),
        "question": f"What is meant by {' '.join(words)}?",
        "answer": " ".join(words),
    }
    return answer(call, said)


def longest(passage: str) -> list[str]:
    """The first words of the longest line with a figure."""
    lines = [line for line in passage.splitlines() if re.search(r"\d", line) and not line.startswith("|")]
    return max(lines or ["the sensor 5"], key=len).split()[:12]


def generate(home: Path, server: FakeOpenAI, **wanted: Any) -> dict[str, object]:
    given = {
        "index": CATALOGUE, "experts": EXPERTS, "lm": "openai/first,openai/odd", "per_passage": 3,
        "out": home / "q.jsonl", "reliability": "none", "api_base": server.base_url, "home": home,
    }  # fmt: skip
    return dict(generate_queries(**{**given, **wanted}).report)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_generate_queries_of_two_models_samples_each_and_resumes_for_nothing(home: Path) -> None:
    with FakeOpenAI(writer) as server:
        report = generate(home, server, sample="first=20,odd=6")
        first = server.calls
        again = generate(home, server, sample="first=20,odd=6")
        rows = [json.loads(line) for line in (home / "q.jsonl").read_text().splitlines()]
        assert [row["lm"] for row in rows] == ["openai/first"] * 20 + ["openai/odd"] * 6
        assert server.calls == first  # every reply was in the journal
        assert again["lm_calls"] == 0
        assert report["models"] == again["models"]
        with pytest.raises(UserError) as error:
            generate(home, server, sample="first=20,odd=600", out=home / "short.jsonl")
    assert "--sample openai/odd=600: " in str(error.value)
    assert re.search(r"\d+ malformed reply", str(error.value))
    assert not (home / "short.jsonl").exists()


@pytest.mark.parametrize(
    ("judge", "rejection_judge", "by_rules"),
    [
        (None, None, "answers and refusals"),
        ("grader@1", None, "refusals"),
        (None, "refuser@1", "answers"),
        ("grader@1", "refuser@1", None),
    ],
)
def test_probe_says_of_what_the_rules_judged_and_of_nothing_else(
    home: Path, monkeypatch: pytest.MonkeyPatch, judge: str | None, rejection_judge: str | None, by_rules: str | None
) -> None:
    (home / "systems_of_rules.py").write_text("def talks(query):\n    return 'It is 4711.'\n")
    monkeypatch.setattr(probe_module, "open_panel", lambda *_: ReplyPanel())  # who judges is not what is tested
    probe(
        system="python:systems_of_rules:talks", out=home / "out", home=home, scenarios="S1", index=CATALOGUE, n=2,
        judge=judge, rejection_judge=rejection_judge,
    )  # fmt: skip
    notes = json.loads((home / "out" / "report.json").read_text())["notes"]
    said = f"{by_rules} judged by rules, without a model: a baseline"
    assert [one for one in notes if "judged by rules" in one] == ([said] if by_rules else [])


@pytest.mark.full
def test_probe_with_models_that_write_and_one_that_judges(home: Path) -> None:
    shipped = (SHIPPED / "S1.yaml").read_text(encoding="utf-8")
    (home / "mine.yaml").write_text(re.sub(r"^id: S1$", "id: mine\nlm: openai/other", shipped, flags=re.MULTILINE))
    (home / "systems_of_models.py").write_text("def talks(query):\n    return 'It is 4711.'\n")
    with FakeOpenAI(writer) as server:
        probe(
            system="python:systems_of_models:talks", out=home / "out", home=home, index=CATALOGUE, n=4,
            scenarios=f"S1,S4,{home / 'mine.yaml'}", lm="openai/judge", api_base=server.base_url,
        )  # fmt: skip
    report = json.loads((home / "out" / "report.json").read_text())
    assert report["judge"] == "openai/judge (uncompiled)"
    assert {cell["scenario"]: cell["n"] for cell in report["results"]} == {"S1": 4, "S4": 4, "mine": 4}
    questions = [json.loads(line) for line in (home / "out" / "questions.jsonl").read_text().splitlines()]
    written = {("S1", "openai/judge"), ("S4", "openai/judge"), ("mine", "openai/other")}
    assert {(row["scenario"], row["lm"]) for row in questions} == written
    assert {len(row["parts"]) for row in questions if row["scenario"] == "S4"} == {3}
    assert "sk-canary" not in "".join(path.read_text(errors="ignore") for path in (home / "out").iterdir())
