"""Pipes in the place of files, and a judge that is removed in mid-run: one line each, and no verb waits for ever."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from judgec.verbs import watch as watching
from judgec.verbs.cli import watch as watch_command
from judgec.verbs.cli.app import main
from tests.compile.small import write
from tests.service.fake_openai import FakeOpenAI
from tests.service.planted_judge import MODEL, leaning, planted, rows
from tests.verbs.test_validity import Traces

BAD_INPUT = 2  # exit code of errors that the user can mend
PIPES = ("pipe.jsonl", "pipe.csv", "pipe.json", "pipe.yaml", "pipe.txt", "pipe.md", "pipe.xlsx", "pipe.eval", "pipe")
JUDGE = "--judge lean@1 --home home --api-base URL"
PLAY = f"evaluate --unproven {JUDGE} --out out"
ANSWER = "answer --out answers.jsonl"
COMPILE = f"compile-judge labels.jsonl --lm {MODEL} --api-base URL"
COMMANDS = (
    "labels pipe.xlsx",
    "init pipe.csv",
    "labels import labels.jsonl pipe.csv",
    "labels import new.jsonl langfuse:pipe.json",
    "labels import new.jsonl promptfoo:pipe.jsonl",
    "compile-judge pipe.jsonl",
    f"{COMPILE} --instructions pipe.txt",
    f"{COMPILE} --candidate prompt:pipe.txt@{MODEL}",
    "compile-judge labels.jsonl --candidate recorded:pipe.jsonl",
    f"judge pipe.jsonl {JUDGE} --out out.jsonl",
    f"judge items.jsonl {JUDGE} --out pipe.jsonl",
    "compare lean@1 lean@1 --home home --api-base URL --labels pipe.jsonl",
    f"audit {JUDGE} --labels pipe.jsonl",
    "agreement pipe.csv --expert a --judge b",
    "export lean@1 --home home --to sft --labels pipe.jsonl --out made",
    "watch --source mlflow:bot --once --judge lean@1 --home pipe",
    f"{PLAY} --queries labels.jsonl --answers pipe.jsonl",
    f"{PLAY} --queries pipe.csv --answers items.jsonl",
    f"{PLAY} pipe.yaml",
    "rank pipe.csv",
    "index pipe.md --out made",
    f"{ANSWER} --queries pipe.csv --index docs --agents rag-bm25",
    f"{ANSWER} --queries items.jsonl --index pipe.md --agents rag-bm25",
    "generate-queries --index pipe.md",
    "generate-queries --index docs --experts pipe.csv",
    "generate-queries --index docs --out pipe.jsonl",
    "compile-queries --index pipe.md --experts items.jsonl --home home",
    "probe --scenarios pipe.yaml --index docs --system rag-bm25",
    "probe --scenarios S1 --index pipe.md --system rag-bm25",
    "probe --scenarios S1 --index docs --system pipe.yaml",
    "probe --questions pipe.jsonl --index docs --system rag-bm25",
)


@pytest.fixture(scope="module")
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(leaning) as running:
        yield running


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, server: FakeOpenAI) -> Path:
    """A folder with a judge, files of labels and items, documents, and pipes that nobody writes into."""
    folder = tmp_path_factory.mktemp("pipes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "test")
        (folder / "home").mkdir()
        planted(folder / "home", server.base_url)
    write(folder / "items.jsonl", rows(4, "i"))
    write(folder / "labels.jsonl", rows(12, "f"))
    (folder / "docs").mkdir()
    (folder / "docs" / "pump.md").write_text("# Pump\nThe pump runs at 3 bar; section 4 of this manual says when.\n")
    for name in (*PIPES, "docs/pipe.md"):
        os.mkfifo(folder / name)
    return folder


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    monkeypatch.setattr(sys, "argv", ["judgec", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.mark.timeout(60)
@pytest.mark.parametrize("command", COMMANDS)
def test_pipe_as_a_file_is_refused_in_one_line_that_names_it(
    command: str,
    made: Path,
    server: FakeOpenAI,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(made)
    assert run(monkeypatch, *command.replace("URL", server.base_url).split()) == BAD_INPUT
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    assert "pipe" in errors[0]
    assert "no such file" not in errors[0]
    assert all((made / name).is_fifo() for name in PIPES)


@pytest.mark.timeout(60)
def test_watch_ends_in_one_line_when_the_programs_are_removed_between_two_looks(
    made: Path,
    server: FakeOpenAI,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(made / "home", tmp_path / "home")
    traces = Traces(rows(4, "t"))
    monkeypatch.setattr(watching, "look_at_traces", traces.look)
    monkeypatch.setattr(watching, "log_judged", traces.log)
    waited: list[float] = []

    def removed(seconds: float) -> None:
        waited.append(seconds)
        shutil.rmtree(tmp_path / "home" / "programs")

    monkeypatch.setattr(watch_command, "time", SimpleNamespace(sleep=removed))
    monkeypatch.chdir(tmp_path)
    watch = ["watch", "--source", "mlflow:bot", "--every", "1s", "--rate", "1", "--json"]
    assert run(monkeypatch, *watch, *JUDGE.replace("URL", server.base_url).split()) == BAD_INPUT
    assert waited == [1.0]
    assert len(traces.logged) == 8
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 1  # what the first look found
    errors = said.err.splitlines()
    assert [line.partition(":")[0] for line in errors] == ["error"]
    assert "programs" in errors[0]
