"""The GitHub Action and the Dockerfile: what they name exists, and their steps do what they say."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.docs.blocks import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def steps() -> list[dict[str, Any]]:  # Any: YAML
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    found: list[dict[str, Any]] = action["runs"]["steps"]
    return found


def gate(folder: Path, arguments: str) -> subprocess.CompletedProcess[str]:
    """The action's step of this name, whose judgec is this environment's."""
    tools = folder / "judgec" / "bin"
    tools.mkdir(parents=True)
    for name, rest in (("python", ""), ("judgec", f"{ROOT / 'cli.py'}")):
        (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable} {rest} "$@"\n')
        (tools / name).chmod(0o755)
    given = {"ARGUMENTS": arguments, "JUNIT": "gate.xml", "RUNNER_TEMP": str(folder)}
    given |= {"GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    (script,) = (step["run"] for step in steps() if step.get("name") == "Gate")
    bash = ["bash", "-eo", "pipefail", "-c", script]
    env = os.environ | given
    return subprocess.run(bash, cwd=folder, env=env, capture_output=True, text=True, timeout=600, check=False)


def test_arguments_that_no_shell_would_take_are_an_error_and_not_a_shut_gate(tmp_path: Path) -> None:
    done = gate(tmp_path, "labels 'x")
    assert done.returncode == 2
    assert done.stderr.startswith('arguments: "labels')


@pytest.mark.soak
@pytest.mark.parametrize(("option", "code", "said"), [(" --require-promotion", 1, "not shown"), ("", 2, "")])
def test_gate_step_of_the_action_writes_summary_and_junit_and_exits_as_the_gate_says(
    tmp_path: Path, option: str, code: int, said: str
) -> None:
    """A compile of few labels is not shown to be better."""
    rows = [
        {"item_id": f"i{n}", "query_id": f"q{n // 2}", "query": "which?", "answer": f"word{n}", "grade": 1 + n % 3}
        for n in range(40)
    ]
    (tmp_path / "my labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = gate(tmp_path, f"compile-judge 'my labels.jsonl' --name few{option}")
    assert done.returncode == code, done.stderr
    if not said:
        assert re.search("--junit gate.xml: .*--require-promotion", done.stderr)
        assert not (tmp_path / "programs").exists()
        return
    assert "not promoted" in done.stderr
    (case,) = ET.parse(tmp_path / "gate.xml").getroot().iter("testcase")  # noqa: S314  # our own
    assert [failure.attrib["type"] for failure in case] == [f"gate {said}"]
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith(f"## judgec compile-judge: ⚠️ {said}\n")
    assert "what you get" in summary


def test_no_input_of_the_action_is_pasted_into_a_script() -> None:
    assert not [step for step in steps() if "${{" in step.get("run", "")]
    assert all(step["shell"] == "bash" for step in steps() if "run" in step)


def test_image_has_two_stages_copies_what_is_there_and_runs_as_nobody_special() -> None:
    stages = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
    assert len(stages) == 2
    assert all(stage.startswith("python:3.11-slim") for stage in stages)
    copied = [
        name for line in re.findall(r"^COPY (?!--from)(.*)$", stages[0], re.MULTILINE) for name in line.split()[:-1]
    ]
    assert copied
    assert not [name for name in copied if not (ROOT / name).exists()]
    kept = (ROOT / ".dockerignore").read_text().split()
    assert not [name for name in copied if f"!{name}" not in kept]
    *_, user = re.findall(r"^USER (\S+)$", stages[1], re.MULTILINE)
    assert user not in {"root", "0"}
    assert f"--uid {user} " in re.findall(r"^RUN useradd .*\n", stages[1], re.MULTILINE)[0]


@pytest.mark.soak
def test_steps_of_the_image_run_in_a_plain_environment(tmp_path: Path) -> None:
    """Without docker: the build stage's RUN lines in a folder that holds only what is copied."""
    build, target = tmp_path / "build", tmp_path / "judgec"
    build.mkdir()
    stage = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1]
    for line in stage.replace("\\\n", " ").splitlines():
        if line.startswith("COPY "):
            *names, place = line.split()[1:]
            for name in names:
                copied = build / place / ("" if place == "./" else "..")
                copied.resolve().mkdir(parents=True, exist_ok=True)
                subprocess.run(["cp", "-r", str(ROOT / name), str(copied.resolve())], check=True)
        elif line.startswith("RUN "):
            step = (
                line.removeprefix("RUN ")
                .replace("/opt/judgec", str(target))
                .replace("python -m venv", f"{sys.executable} -m venv")
            )
            subprocess.run(["bash", "-c", step], cwd=build, check=True, timeout=1800)
    plain = {"PATH": f"{target / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(
        [str(target / "bin" / "judgec"), "demo"], cwd=tmp_path, env=plain, check=True, capture_output=True, text=True
    )
    assert "four models, compiled" in done.stdout
