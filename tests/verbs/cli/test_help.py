"""The help of every command: headings, at most ten options first, plain names of values, no sentence cut short."""

import re
from typing import Any, get_args

import pytest
import typer
from typer.testing import CliRunner

from judgec.verbs.cli.app import COMMANDS, app
from judgec.verbs.options.option import Panel

WORDED = ["review", "export", "import", "next"]  # what follows labels
NAMES = [name for named in COMMANDS.values() for name in named]
HEADINGS = [*get_args(Panel), "Other"]


def _help(*words: str) -> str:
    done = CliRunner().invoke(app, [*words, "--help"], prog_name="judgec")
    assert done.exit_code == 0, done.output
    return done.stdout


def _sections(text: str) -> dict[str, list[str]]:
    """The first lines of what stands under each heading."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if re.fullmatch(r"[A-Z][a-z]+:", line):
            found[line[:-1]] = []
        elif found and re.match(r"  \S", line):
            found[next(reversed(found))].append(line.strip())
    return found


@pytest.mark.parametrize("name", NAMES)
def test_options_stand_under_headings_with_at_most_ten_in_the_first(name: str) -> None:
    sections = _sections(_help(name))
    assert list(sections) == [one for one in HEADINGS if one in sections]
    options = [one for one in sections.get("What", []) if one.startswith("--")]
    assert len(options) <= 10
    group: Any = typer.main.get_command(app)  # Any: typer's group, which has no public type
    known = {flag for one in group.commands[name].params for flag in one.opts if flag.startswith("--")}
    shown = {word for lines in sections.values() for one in lines for word in re.findall(r"--[a-z][a-z-]*", one)}
    assert known <= shown


@pytest.mark.parametrize("name", NAMES)
def test_names_of_values_are_plain(name: str) -> None:
    text = _help(name)
    usage = text.split("\n\n")[0]
    assert not re.search(r"[{}<>]|\[\[", usage)
    starts = [one for lines in _sections(text).values() for one in lines]
    assert not [one for one in starts if "<" in one.split("  ")[0]]


def test_an_argument_that_can_be_left_out_stands_in_brackets() -> None:
    assert "evaluate [OPTIONS] [TOURNAMENT.yaml]" in _help("evaluate")
    assert "rank [OPTIONS] GAMES" in _help("rank")


def test_summaries_of_commands_are_whole_sentences() -> None:
    sections = _help().split("Options:")[1]
    assert "..." not in sections
    said = re.sub(r"\s+", " ", sections)
    for named in COMMANDS.values():
        for one in named.values():
            about = str(one.__doc__)
            first = re.sub(r"\s+", " ", about.split("\n\n", maxsplit=1)[0]).rstrip(".")
            assert first in said


@pytest.mark.parametrize("word", WORDED)
def test_help_of_what_follows_labels_has_an_example(word: str) -> None:
    said = _help("labels", word)
    assert f"Example: judgec labels {word} " in said
    assert said.index("Example:") < said.index("What:")


@pytest.mark.parametrize("name", NAMES)
def test_help_has_an_example_whose_options_there_are_with_all_that_are_needed(name: str) -> None:
    said = re.search(rf"Example: judgec {name}(?![\w-])(.*(?:\n  \S.*)*)", _help(name))
    assert said is not None
    words = said[1].split()
    group: Any = typer.main.get_command(app)  # Any: as above
    params = group.commands[name].params
    known = {flag for one in params for flag in (*one.opts, *one.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known
    needed = [one for one in params if one.required]
    assert all(set(one.opts) & set(words) for one in needed if one.param_type_name == "option")
    assert len([one for one in needed if one.param_type_name == "argument"]) <= len(words)
