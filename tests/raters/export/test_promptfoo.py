"""A judge as an assertion of promptfoo: it says what the judge says, in the tool's own words."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from judgec.errors import UserError
from judgec.lm.executor import Reply, Request
from judgec.raters.calibrator import Source
from judgec.raters.export.promptfoo import ASSERTION, CONFIG, promptfoo_files
from judgec.raters.judge import JudgeTree
from tests.raters.export.test_python import items, program_of
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Status

ACCEPT_FROM = 0.29  # of these judges about half of the answers reach it
PROMPTFOO = shutil.which("promptfoo")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    sys.modules.pop("judge", None)
    yield
    sys.modules.pop("judge", None)


def ask(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
    raise AssertionError("evidence asks nobody")


def written(folder: Path, source: Source, model: str) -> tuple[JudgeTree, ModuleType]:
    judge, program = program_of(source, model, ACCEPT_FROM)
    for path, text in promptfoo_files(program, judge).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    spec = spec_from_file_location("assert_judge", folder / ASSERTION)
    assert spec is not None
    assert spec.loader is not None
    face = module_from_spec(spec)
    spec.loader.exec_module(face)
    return judge, face


def test_pass_score_and_reason_are_the_judges(tmp_path: Path) -> None:
    judge, face = written(tmp_path, "evidence", "openai/fake")
    some = items(30)
    wanted = list(judge.judge(some, ask).rows(judge.scale))
    assert len({row["accept"] for row in wanted}) == 2
    for item, row in zip(some, wanted, strict=True):
        texts = {**item.inputs, "contexts": list(item.inputs["contexts"])}
        found = face.get_assert(texts.pop("answer"), {"vars": texts, "prompt": "not read"})
        assert (found["pass"], found["reason"]) == (row["accept"], row["rationale"])
        assert found["score"] == pytest.approx((float(str(row["score"])) - 1) / 4)
        assert found["namedScores"] == {}


def test_variables_are_found_by_usual_names_by_config_and_the_prompt_is_the_question(tmp_path: Path) -> None:
    _, face = written(tmp_path, "evidence", "openai/fake")
    given = {"question": "How wide?", "ground_truth": "70 mm", "customer": "not read"}
    assert face.item_of("70", {"vars": given}) == {"query": "How wide?", "reference": "70 mm", "answer": "70"}
    mapped = face.item_of({"a": 1}, {"vars": given, "config": {"query": "customer"}})
    assert (mapped["query"], mapped["answer"]) == ("not read", '{"a": 1}')
    assert face.item_of("70", {"vars": {}, "prompt": "How wide is it?"})["query"] == "How wide is it?"
    with pytest.raises(ValueError, match=r"config query: no variable 'client'; the test has question, "):
        face.item_of("70", {"vars": given, "config": {"query": "client"}})


def test_a_judge_that_asks_is_given_its_model_and_no_verdict_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, face = written(tmp_path, "both", "openai/fake")
    item = items(1)[0]
    context = {"vars": {**item.inputs, "contexts": list(item.inputs["contexts"])}}
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with FakeOpenAI("teachable") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        found = face.get_assert("70 mm", context)
        assert server.calls == 1
        assert server.bodies[0]["model"] == "fake"
    assert 0 <= found["score"] <= 1
    with FakeOpenAI(lambda call: Status(302, headers={"Location": "http://127.0.0.1:1/"})) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with pytest.raises(RuntimeError, match="HTTP 302; set OPENAI_BASE_URL"):  # the prompt goes nowhere else
            face.get_assert("70 mm", context)
    monkeypatch.setattr(face, "complete", lambda messages: "no idea")
    with pytest.raises(RuntimeError, match="no verdict: "):
        face.get_assert("70 mm", context)


def test_judges_of_pairs_and_of_failure_modes_are_refused() -> None:
    judge, program = program_of("evidence", "openai/fake")
    pairs, modes = ({"task": task} for task in ("preference", "modes"))
    with pytest.raises(UserError, match="compares two answers"):
        promptfoo_files(replace(program, card=program.card.model_copy(update=pairs)), judge)
    with pytest.raises(UserError, match="failure modes"):
        promptfoo_files(replace(program, card=program.card.model_copy(update=modes)), judge)


def test_configuration_is_what_the_tool_reads(tmp_path: Path) -> None:
    written(tmp_path, "evidence", "openai/fake")
    config = yaml.safe_load((tmp_path / CONFIG).read_text(encoding="utf-8"))
    assert config["prompts"] == ["{{query}}"]
    assert config["defaultTest"]["options"] == {"disableVarExpansion": True}
    (one,) = config["defaultTest"]["assert"]
    assert one == {"type": "python", "value": f"file://{ASSERTION}", "metric": "j-evidence"}
    assert set(config["tests"][0]["vars"]) == {"query", "contexts", "reference"}


@pytest.mark.full
@pytest.mark.skipif(PROMPTFOO is None, reason="NO PROMPTFOO: npm install --global promptfoo")
def test_promptfoo_itself_runs_it(tmp_path: Path) -> None:
    assert PROMPTFOO is not None
    judge, _ = written(tmp_path, "evidence", "openai/fake")
    some = items(6)
    config = yaml.safe_load((tmp_path / CONFIG).read_text(encoding="utf-8"))
    config["prompts"] = ["{{answer}}"]  # echo says it back
    texts = [{**item.inputs, "contexts": list(item.inputs["contexts"])} for item in some]
    config["tests"] = [{"vars": one} for one in texts]
    (tmp_path / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": str(tmp_path)}
    subprocess.run(
        [PROMPTFOO, "eval", "-c", CONFIG, "--no-cache", "--output", "out.json"],
        cwd=tmp_path,
        env={**os.environ, **quiet, "PROMPTFOO_PYTHON": sys.executable},
        capture_output=True,
        check=False,
        timeout=280,
    )
    results = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["results"]["results"]
    wanted = {str(one["answer"]): row for one, row in zip(texts, judge.judge(some, ask).rows(judge.scale), strict=True)}
    assert len(results) == len(some)
    for result in results:
        row = wanted[result["response"]["output"]]
        assert result["success"] == row["accept"]
        assert result["score"] == pytest.approx((float(str(row["score"])) - 1) / 4)
        assert result["gradingResult"]["componentResults"][0]["reason"] == row["rationale"]
