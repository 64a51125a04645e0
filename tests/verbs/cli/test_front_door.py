"""What the bare command answers: its version, its help, completion for shells, and how it calls itself."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import judgec
from judgec.verbs.cli.app import app
from judgec.verbs.typed import command, judgec_here
from tests.verbs.cli.process import ROOT
from tests.verbs.cli.process import judgec as run


def commands(group: Any, *names: str) -> Iterator[tuple[str, ...]]:  # Any: typer's group, which has no public type
    """The words of every command, groups and the program itself included."""
    yield names
    for name, one in getattr(group, "commands", {}).items():
        yield from commands(one, *names, name)


EVERY = list(commands(typer.main.get_command(app)))


def test_every_command_is_known_here() -> None:
    assert {(), ("demo",), ("compile-judge",)} <= set(EVERY)


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_short_and_long_help_say_the_same(words: tuple[str, ...]) -> None:
    runner = CliRunner()
    short, long = (runner.invoke(app, [*words, option], prog_name="judgec") for option in ("-h", "--help"))
    assert short.exit_code == long.exit_code == 0
    assert short.stdout == long.stdout
    assert "-h, --help" in short.stdout
    assert " ".join(["Usage: judgec", *words]) in short.stdout


def test_version_is_that_of_the_package_and_of_what_is_built(tmp_path: Path) -> None:
    assert run(tmp_path, "--version").stdout == f"judgec {judgec.__version__}\n"
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["dynamic"]["version"]["attr"]
    module, _, name = built.rpartition(".")
    assert getattr(sys.modules[module], name) == judgec.__version__


def test_module_runs_as_the_command_does(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    asked = [sys.executable, "-m", "judgec", "--version"]
    done = subprocess.run(asked, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"judgec {judgec.__version__}\n"


def in_bash(home: Path, line: str) -> str:
    """What a bash of a user whose home is ``home`` prints; judgec is on its PATH (tests/conftest.py)."""
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT / "src")}
    typed = ["bash", "--norc", "-c", f"{line}; exit $?"]  # not the last command, so that bash stays its parent
    return subprocess.run(typed, cwd=home, env=environment, capture_output=True, text=True, check=True).stdout


def test_completion_of_the_shell_in_use_is_shown(tmp_path: Path) -> None:
    shown = in_bash(tmp_path, "judgec --show-completion")
    assert "_JUDGEC_COMPLETE=complete_bash" in shown
    assert "complete -o default -F _judgec_completion judgec" in shown
    assert not list(tmp_path.iterdir())


def test_installed_completion_completes_a_command_in_a_new_shell(tmp_path: Path) -> None:
    in_bash(tmp_path, "judgec --install-completion")
    line = "source .bashrc; COMP_WORDS=(judgec compile-j) COMP_CWORD=1; _judgec_completion judgec; echo ${COMPREPLY[@]}"
    assert in_bash(tmp_path, line).split() == ["compile-judge"]


def test_command_that_is_begun_is_completed() -> None:
    typed = {"_JUDGEC_COMPLETE": "complete_bash", "COMP_WORDS": "judgec compile-", "COMP_CWORD": "1"}
    done = CliRunner().invoke(app, [], prog_name="judgec", env=typed)
    assert done.stdout.split() == ["compile-judge", "compile-agent", "compile-queries"]


def test_next_command_begins_with_what_works_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program was called by ``.venv/bin/judgec`` of the current folder; the PATH holds no judgec."""
    script, other = tmp_path / "my project" / ".venv" / "bin" / "judgec", tmp_path / "bin" / "judgec"
    for path in (script, other):
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    monkeypatch.chdir(script.parents[2])
    monkeypatch.setattr("sys.argv", [str(script)])
    for folder, wanted in (
        (tmp_path, ".venv/bin/judgec"),
        (script.parent, "judgec"),
        (other.parent, ".venv/bin/judgec"),  # which is another one
    ):
        monkeypatch.setenv("PATH", str(folder))
        assert command("judge", "a b.csv", home=Path("my home")) == f"{wanted} judge 'a b.csv' --home 'my home'"
    assert command("ui", home=Path()) == ".venv/bin/judgec ui"
    other.unlink()
    other.symlink_to(script)  # as uv tool and pipx install
    assert judgec_here() == "judgec"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(other.parent)
    assert judgec_here() == f"'{script}'"
    monkeypatch.setattr("sys.argv", ["cli.py"])  # without a command of its own
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path / "nothing"))
    monkeypatch.setattr("sys.executable", "/opt/python3")
    assert judgec_here() == "/opt/python3 -m judgec"
