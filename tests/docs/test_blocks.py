"""Every code block that users read is run, in order, in an empty folder beside the train sets."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml

from judgec.connect.tracking import background
from tests.docs.blocks import ROOT, Block, blocks, commands, documents, marks, numbers, printed
from tests.prompts import unquote
from tests.service.fake_batches import FakeBatches
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, Text, answer, digest

RUN = {"sh", "console", "python"}
PARSED: Mapping[str, Callable[[str], object]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
    "csv": lambda text: list(csv.reader(io.StringIO(text), strict=True)),
}
SHOWN = {"text"}


def knowing(call: Call) -> Outcome:
    """A grader that compares words with the reference, and errs now and then: what a model would be, roughly."""
    if not call.prompt.outputs:
        return Text("3")  # a prompt of the document's own, which asks for a grade in free text
    given = {name: " ".join(unquote(value)) for name, value in call.prompt.inputs.items()}
    said, right = (set(given.get(name, "").lower().split()) for name in ("answer", "reference"))
    share = len(said & right) / max(len(right), 1)
    grades = {}
    for output in call.prompt.outputs:
        if output.labels:
            top = len(output.labels) - 1
            slip = (digest(output.name, *sorted(given.values())) % 5) == 0
            grades[output.name] = output.labels[min(max(round(share * top) - slip, 0), top)]
    return answer(call, grades)


def prepared(folder: Path) -> dict[str, str]:
    """The folder that documents begin in, and the environment in which ``judgec`` and ``make`` are there."""
    (folder / "trainsets").symlink_to(ROOT / "trainsets")
    tools = folder / ".tools"
    tools.mkdir()
    for name, module in {
        "judgec": "-m tests.docs.shim judgec",
        "make": "-m tests.docs.shim make",
        "python": "",
    }.items():
        script = tools / name  # also for python: by a link it would not find the packages of its environment
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module} "$@"\n')
        script.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "OPENAI_"))}
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), *filter(None, [kept.get("PYTHONPATH")])])
    kept |= {"STARTED": str(Path(background.PYTHON).with_name("started")), "WARM_PYTHON": background.PYTHON}
    return {**kept, "PATH": f"{tools}{os.pathsep}{kept['PATH']}", "REAL_PATH": kept["PATH"], "PYTHONPATH": paths}


def run(block: Block, folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    if block.language == "python":
        command = [environment["WARM_PYTHON"], "-c", block.text]
    else:
        text = commands(block.text) if block.language == "console" else block.text
        command = ["bash", "-euo", "pipefail", "-c", text]
    done = subprocess.run(
        command, cwd=folder, env=dict(environment), capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, f"line {block.line}:\n{block.text}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    if block.language == "console":
        said = set(printed(f"{done.stdout}\n{done.stderr}".replace(f"{folder.resolve()}/", "")))
        assert [line for line in numbers(block) if line not in said] == [], f"line {block.line} shows other lines"
    return done


def _document(path: Path) -> object:
    soak = "soak" in marks(path.read_text(encoding="utf-8"))
    name = path.relative_to(ROOT).as_posix()
    return pytest.param(path, id=name, marks=pytest.mark.soak if soak else pytest.mark.full)


@pytest.mark.parametrize("path", map(_document, documents()))
def test_code_blocks_of_document_run(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = marks(text)
    needed = found.get("needs")
    if needed and f'"{needed}"' not in (ROOT / "src/judgec/verbs/cli/app.py").read_text(encoding="utf-8"):
        pytest.skip(f"{path.name}: there is no command judgec {needed} yet, so its blocks are NOT run")
    environment = prepared(tmp_path)
    servers = {"openai": FakeOpenAI, "batches": FakeBatches}
    with servers[found["lm"]](knowing) if "lm" in found else nullcontext() as server:
        if server is not None:
            environment |= {"FAKE_OPENAI": server.base_url, "OPENAI_API_KEY": "sk-test"}
        for block in blocks(text):
            if block.file:
                target = tmp_path / block.file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(block.text, encoding="utf-8")
            if block.language in PARSED:
                shown = PARSED[block.language](block.text)
                if block.written:
                    written = (tmp_path / block.written).read_text(encoding="utf-8")
                    assert PARSED[block.language](written) == shown, (
                        f"line {block.line}: not what is in {block.written}"
                    )
            elif block.language in RUN and not block.file:
                assert run(block, tmp_path, environment).returncode == 0


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_every_block_names_a_language_that_is_run_parsed_or_only_shown(path: Path) -> None:
    known = RUN | SHOWN | PARSED.keys()
    text = path.read_text(encoding="utf-8")
    assert not [f"{path.name}:{block.line} {block.language!r}" for block in blocks(text) if block.language not in known]
    for block in blocks(text):
        if block.language in PARSED:
            PARSED[block.language](block.text)
    commands_shown = re.compile(r"^(\$ |judgec |make |python )", re.MULTILINE)
    assert not [block.line for block in blocks(text) if block.language in SHOWN and commands_shown.search(block.text)]
    assert text.count("\n```") + text.startswith("```") == 2 * len(blocks(text))


def test_make_in_a_document_names_a_target_that_exists(tmp_path: Path) -> None:
    environment = prepared(tmp_path)
    run(Block("sh", "make demo\nmake docs  # as web pages\n", 1), tmp_path, environment)
    with pytest.raises(AssertionError, match="line 2"):
        run(Block("sh", "make nothing-of-the-kind\n", 2), tmp_path, environment)


def test_failing_block_fails(tmp_path: Path) -> None:
    environment = prepared(tmp_path)
    with pytest.raises(AssertionError, match="line 7"):
        run(Block("sh", "true\nfalse\ntrue\n", 7), tmp_path, environment)
    with pytest.raises(AssertionError, match="line 3"):
        run(Block("console", "$ judgec labels nowhere.csv\nsome output\n", 3), tmp_path, environment)


def test_console_that_shows_a_number_that_is_not_printed_fails(tmp_path: Path) -> None:
    environment = prepared(tmp_path)
    right = Block("console", "$ printf '1   b\\nc\\n' \\\n    ''\n1 b\n... 2 more\n", 1)
    run(right, tmp_path, environment)
    run(Block("console", "$ echo in words\nin other words\n", 3), tmp_path, environment)
    with pytest.raises(AssertionError, match="line 5 shows other lines"):
        run(Block("console", "$ echo a 1\na 2\n", 5), tmp_path, environment)


def test_console_shows_times_and_places_of_its_own(tmp_path: Path) -> None:
    environment = prepared(tmp_path)
    run(
        Block("console", "$ echo 1544 LM calls, 19.5 s, at $PWD/a.db\n1544 LM calls, 3 s, at a.db\n", 1),
        tmp_path,
        environment,
    )
    with pytest.raises(AssertionError, match="line 5 shows other lines"):
        run(Block("console", "$ echo 1544 LM calls, 19 s\n1545 LM calls, 19 s\n", 5), tmp_path, environment)


def test_commands_of_a_console_are_its_dollar_lines_with_their_continuations() -> None:
    assert commands("$ a \\\n    b\noutput\n$ c\n$5 is output\n") == "a \\\n    b\nc\n"


def test_links_between_documents_lead_somewhere() -> None:
    for path in documents():
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            if not target.startswith(("http://", "https://", "mailto:")):
                assert (path.parent / target).exists(), f"{path.name}: {target}"
