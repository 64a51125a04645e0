"""Counts the options that a newcomer meets on the help screens.

    python -m tests.architecture.count_options

An option slot is one option of one command, ``--help`` left out; arguments are none. The words below ``labels`` are no
click commands, so their options are counted apart and added.
"""

from typing import Any

from typer.main import get_command

from judgec.verbs.cli.app import app
from judgec.verbs.cli.labels import WORDS

MOST = 562  # may only fall


def option_slots() -> dict[str, int]:
    """The number of options by command."""
    found: dict[str, int] = {}
    for group, before in ((get_command(app), ""), (get_command(WORDS), "labels ")):
        _count(group, before, found)
    return found


def _count(group: Any, before: str, found: dict[str, int]) -> None:  # Any: click's groups, which typer does not export
    for name, command in group.commands.items():
        options = [one for one in command.params if one.param_type_name == "option" and "--help" not in one.opts]
        found[f"{before}{name}"] = len(options)
        if hasattr(command, "commands"):
            _count(command, f"{before}{name} ", found)


if __name__ == "__main__":
    slots = option_slots()
    for name, number in slots.items():
        print(f"{number:4d} {name}")
    print(f"{sum(slots.values()):4d} option slots in all; {len(slots)} commands and words")
