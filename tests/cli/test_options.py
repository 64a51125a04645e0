"""The options of the commands: one meaning each, wherever they are."""

import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from judgec.cli.app import app, main
from judgec.cli.options import JsonOption, MapOption, SeedOption, command_of

LEAST = {"--budget": 1, "--max-cost": 0, "--seed": 0, "--k": 1, "--in-flight": 1}
OWN_MEANING = {  # options whose name two commands use for different things
    *("--out", "--labels", "--judge", "--name", "--index", "--lm", "--optimizer", "--experts", "--k", "--sample"),
    *("--reliability", "--abstain-below", "--temperature", "--in-flight", "--port", "--queries", "--agents"),
}


def options() -> dict[str, dict[str, Any]]:  # Any: typer's option, which has no public type
    """The option behind each name, by command."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # it is a group
    for command, made in commands.items():
        for option in made.params:
            for name in option.opts:
                if name.startswith("--"):
                    found[name][command] = option
    return found


def test_option_of_one_name_means_the_same_in_every_command() -> None:
    for name, by_command in options().items():
        if name not in OWN_MEANING:
            said = {(one.help, one.min, one.max, one.metavar, one.nargs) for one in by_command.values()}
            assert len(said) == 1, (name, sorted(by_command))


@pytest.mark.parametrize(("name", "least"), LEAST.items())
def test_smallest_valid_number_is_that_of_every_command(name: str, least: int) -> None:
    own = {"rank"} if name == "--k" else set()  # its k is the K of Elo
    assert {one.min for command, one in options()[name].items() if command not in own} == {least}


def test_spending_nothing_at_all_is_refused_by_every_command_with_a_budget(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in options()["--budget"]:
        monkeypatch.setattr(sys, "argv", ["judgec", command, "--budget", "0"])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        assert "'--budget': Input should be greater than or equal to 1" in capsys.readouterr().err


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Inherited options."""

    seed: SeedOption = 0
    rename: MapOption = ()


@dataclass(frozen=True, kw_only=True)
class Asked(Shared):
    """Own ones."""

    files: Annotated[tuple[str, ...], typer.Argument()]
    out: Annotated[Path, typer.Option("--out")]
    limit: Annotated[float | None, typer.Option("--limit")] = None
    quiet: JsonOption = False


def test_request_has_what_was_typed_and_its_own_defaults_for_the_rest() -> None:
    seen: list[Asked] = []
    made = typer.Typer()
    made.command()(command_of(Asked)(seen.append))
    runner = CliRunner()
    assert runner.invoke(made, ["a", "b", "--out", "o"]).exit_code == 0
    more = ["--map", "x=y", "--map", "z=w", "--json", "--limit", "0"]
    assert runner.invoke(made, ["a", "--out", "o", *more]).exit_code == 0
    assert seen == [
        Asked(files=("a", "b"), out=Path("o")),
        Asked(files=("a",), out=Path("o"), rename=("x=y", "z=w"), quiet=True, limit=0.0),
    ]


def test_own_options_come_before_inherited_ones() -> None:
    made = typer.Typer()
    made.command()(command_of(Asked)(lambda _: None))
    names = [option.name for option in typer.main.get_command(made).params]
    assert names[:6] == ["files", "out", "limit", "quiet", "seed", "rename"]
