"""Pipes in the place of files: one line each, and no verb waits for ever."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgec.verbs.cli.app import main
from tests.compile.small import write
from tests.service.fake_openai import FakeOpenAI
from tests.service.planted_judge import MODEL, leaning, planted, rows

BAD_INPUT = 2  # exit code of errors that the user can mend
PIPES = ("pipe.jsonl", "pipe.csv", "pipe.json", "pipe.yaml", "pipe.txt", "pipe.md", "pipe.xlsx", "pipe.eval", "pipe")
JUDGE = "--judge lean@1 --home home --api-base URL"
PLAY = f"evaluate --unproven {JUDGE} --out out"
ANSWER = "answer --out answers.jsonl"
COMPILE = f"compile-judge labels.jsonl --lm {MODEL} --api-base URL"
COMMANDS = (
    "labels pipe.xlsx", "init pipe.csv", "labels import labels.jsonl pipe.csv",
    "labels import new.jsonl langfuse:pipe.json", "labels import new.jsonl promptfoo:pipe.jsonl",
    "compile-judge pipe.jsonl", f"{COMPILE} --instructions pipe.txt", f"{COMPILE} --candidate prompt:pipe.txt@{MODEL}",
    "compile-judge labels.jsonl --candidate recorded:pipe.jsonl", f"judge pipe.jsonl {JUDGE} --out out.jsonl",
    f"judge items.jsonl {JUDGE} --out pipe.jsonl",
    "compare lean@1 lean@1 --home home --api-base URL --labels pipe.jsonl", f"audit {JUDGE} --labels pipe.jsonl",
    "agreement pipe.csv --annotators a --judges b", "watch --source mlflow:bot --judge lean@1 --home pipe",
    f"watch --source mlflow:bot {JUDGE} --labels pipe.jsonl", f"{PLAY} --queries labels.jsonl --answers pipe.jsonl",
    f"{PLAY} --queries pipe.csv --answers items.jsonl", f"{PLAY} pipe.yaml", "rank pipe.csv",
    "index pipe.md --out made", f"{ANSWER} --queries pipe.csv --index docs --agents rag-bm25",
    f"{ANSWER} --queries items.jsonl --index pipe.md --agents rag-bm25", "generate-queries --index pipe.md",
    "generate-queries --index docs --experts pipe.csv", "generate-queries --index docs --out pipe.jsonl",
    "compile-queries --index pipe.md --experts items.jsonl --home home",
    "probe --scenarios pipe.yaml --index docs --system rag-bm25",
    "probe --scenarios S1 --index pipe.md --system rag-bm25", "probe --scenarios S1 --index docs --system pipe.yaml",
    "probe --questions pipe.jsonl --index docs --system rag-bm25",
)  # fmt: skip


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
