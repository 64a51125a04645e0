"""The options of the commands: one meaning each, wherever they are."""

import inspect
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from judgec.errors import UserError
from judgec.lm.watch import Silent, Watch
from judgec.verbs.cli.app import app, main
from judgec.verbs.cli.shell import JsonOption, command_of
from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import Columns, Seed
from judgec.verbs.verb import verb

LEAST = {"--budget": 1, "--max-cost": 0, "--seed": 0, "--k": 1, "--in-flight": 1}
OWN_MEANING = {  # options whose name two commands use for different things
    *("--out", "--labels", "--judge", "--name", "--index", "--lm", "--optimizer", "--experts", "--k", "--sample"),
    *("--jury", "--metric"),
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


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("labels", "x.csv", "--round", "bogus"), "error: --round bogus: nearest is valid."),
        (("agreement", "x.csv", "--orders=it's"), "error: --orders it's: as-shown, mapped are valid."),
        *(((one, "--budget", "0"), "'--budget': Input should be greater") for one in options()["--budget"]),
    ],
)
def test_value_that_is_not_valid_is_refused_with_what_is(
    typed: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["judgec", *typed])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert said in capsys.readouterr().err


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Inherited options."""

    seed: Seed = 0
    columns: Columns = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Asked(Shared):
    """Own ones: the only place where they are declared."""

    files: Annotated[tuple[str, ...], Option("What is read.", positional=True)]
    out: Annotated[Path, Option("Where it goes.")]
    limit: Annotated[float | None, Option("No more than that.", least=0, most=9)] = None


@verb(Asked)
def ask(options: Asked, watch: Watch) -> Asked:
    """Give back what was asked.

    Raises:
        UserError: Never.
    """
    assert isinstance(watch, Silent)
    return options


def _typed(*arguments: str) -> tuple[list[tuple[Asked, bool]], str]:
    seen: list[tuple[Asked, bool]] = []
    made = typer.Typer()

    @made.command()
    @command_of(Asked)
    def ask_on_screen(options: Asked, *, json: JsonOption = False) -> None:
        seen.append((options, json))

    done = CliRunner().invoke(made, list(arguments))
    return seen, done.output


def test_option_declared_once_is_an_option_of_the_command_and_a_parameter_of_the_function() -> None:
    typed, _ = _typed("a", "b", "--out", "o", "--map", "x=y", "--map", "z=w", "--json", "--limit", "0")
    wanted = Asked(files=("a", "b"), out=Path("o"), columns={"x": "y", "z": "w"}, limit=0.0)
    assert typed == [(wanted, True)]
    assert ask(["a", "b"], out="o", columns={"x": "y", "z": "w"}, limit=0, progress=False) == wanted


def test_what_is_not_given_has_the_one_default() -> None:
    assert _typed("a", "--out", "o")[0] == [(ask("a", out="o", progress=False), False)]


def test_help_and_range_are_those_that_were_declared() -> None:
    _, help_text = _typed("--help")
    assert "No more than that." in help_text
    assert "limit: No more than that." in str(ask.__doc__)
    assert _typed("a", "--out", "o", "--limit", "9")[0]
    assert not _typed("a", "--out", "o", "--limit", "10")[0]
    with pytest.raises(UserError, match="ask: limit=10; a number of at least 0 and at most 9 is valid"):
        ask("a", out="o", limit=10)


def test_own_options_come_before_inherited_ones() -> None:
    assert list(inspect.signature(ask).parameters) == ["files", "out", "limit", "seed", "columns", "progress"]


def test_unknown_or_missing_option_is_a_type_error_that_names_it() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'limits'"):
        ask("a", out="o", limits=3)
    with pytest.raises(TypeError, match=r"missing a required.*'out'"):
        ask("a")
