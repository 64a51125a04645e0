"""Commands as a user runs them, in processes of their own, and one compiled judge that the tests of a run share."""

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from typer.main import get_command

from judgec.connect.tracking import background
from judgec.verbs.cli.app import app, main

ROOT = Path(__file__).parents[3]
CANARY = "sk-canary-7f3a9c"  # an API key that must be sent and never be written anywhere


def following(said: str) -> Iterator[str]:
    """The commands behind ``Next:``, one a line."""
    inside = False
    for line in said.splitlines():
        inside = line.startswith("Next: ") or (inside and line.startswith("      "))
        if inside:
            yield line.removeprefix("Next: ").strip()


@cache
def _commands() -> dict[str, Any]:  # typer does not publish the type of its commands
    group: Any = get_command(app)
    return dict(group.commands)


def assert_following_are_commands(said: str) -> None:
    """Fail unless each command of judgec behind ``Next:`` has the options that are typed there."""
    for line in following(said):
        program, *words = shlex.split(line)
        if Path(program).name == "judgec":
            assert _commands()[words[0]].make_context(words[0], words[1:])


def judgec(
    folder: Path, *arguments: object, code: int | None = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``python cli.py ARGUMENTS`` in ``folder``; it must end with ``code`` and without a traceback.

    What it says to type next has to be commands with options that they have.
    """
    kept = {name: value for name, value in os.environ.items() if name not in {"MLFLOW_TRACKING_URI", "OPENAI_API_KEY"}}
    said = subprocess.run(
        [background.PYTHON, str(ROOT / "cli.py"), *map(str, arguments)],
        cwd=folder,
        env={**kept, "COLUMNS": "100", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=800,
        check=False,
    )
    texts = [stream.decode().replace("\r\n", "\n") for stream in (said.stdout, said.stderr)]
    done = subprocess.CompletedProcess(said.args, said.returncode, *texts)
    assert code is None or done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert_following_are_commands(f"{done.stdout}\n{done.stderr}")
    return done


def judgec_here(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The same command line in this process, which spares a start: for a further case of what a process has shown."""
    out, error, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", ["judgec", *map(str, arguments)]),
        mock.patch.dict(os.environ, {"COLUMNS": "100"}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(error),
    ):
        for name in ("MLFLOW_TRACKING_URI", "OPENAI_API_KEY"):
            os.environ.pop(name, None)
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    assert code == 0, error.getvalue()
    assert_following_are_commands(f"{out.getvalue()}\n{error.getvalue()}")
    return subprocess.CompletedProcess(["judgec", *map(str, arguments)], code, out.getvalue(), error.getvalue())


@dataclass(frozen=True)
class Shared:
    """Two compiles of one label file through a teachable server, and everything that they wrote.

    Args:
        folder: Where the commands ran; it holds the label file and the home.
        home: ``--home``.
        labels: The label file.
        first: ``compile-judge --json``.
        again: The same once more, with ``--require-promotion``.
        server: What the server saw: calls of each compile, and whether each carried the key.
    """

    folder: Path
    home: Path
    labels: Path
    first: Mapping[str, Any]  # code, stdout, stderr of the process
    again: Mapping[str, Any]
    server: Mapping[str, Any]

    @property
    def report(self) -> dict[str, Any]:
        """What the first compile printed."""
        report: dict[str, Any] = json.loads(self.first["stdout"])
        return report


def spoken(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    """A finished process as JSON."""
    return {"code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
