"""Registers the optimizers: one visible dict, and plugins of the entry point group ``judgec.optimizers``."""

from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Protocol

from judgec.compile.search.auto import Auto
from judgec.compile.search.candidates import Candidate
from judgec.compile.search.demonstrations import BOOTSTRAPPED, LABELLED, Demonstrations
from judgec.compile.search.mipro import Mipro
from judgec.compile.search.reflection import Gepa
from judgec.compile.search.task import Effort, Sizes, Task
from judgec.errors import UserError

ENTRY_POINTS = "judgec.optimizers"


class Optimizer(Protocol):
    """Proposes prompts; the race on dev chooses among them and the uncompiled judge.

    It calls models through ``task.judge``, ``task.lm`` and ``task.reflection`` alone, so that every call is journaled
    and counted, and draws random numbers from ``task.seed`` alone, so that a killed run can be repeated.
    """

    @property
    def needs_reflection(self) -> bool:
        """True if it cannot work without a model that rewrites prompts."""
        ...

    def effort(self, sizes: Sizes) -> Effort:
        """The most that ``search`` will do; within ``sizes.room`` where that is a number."""
        ...

    def search(self, task: Task) -> Sequence[Candidate]:
        """The prompts to choose among, in order of preference, with the train queries that each has seen.

        A cap that is met ends the search: what was found is returned.
        """
        ...


OPTIMIZERS: dict[str, Optimizer] = {
    "auto": Auto(),
    "bootstrap": Demonstrations((LABELLED, BOOTSTRAPPED)),
    "gepa": Gepa(),
    "labeled": Demonstrations((LABELLED,)),
    "mipro": Mipro(),
}


def find_optimizer(name: str, *, reflection: bool, no_reflection: str = "") -> Optimizer:
    """The optimizer with this name; a plugin cannot replace a built-in one.

    Args:
        name: A key of ``OPTIMIZERS`` or the name of a plugin, whose entry point is a class without arguments.
        reflection: Whether there is a model that rewrites prompts.
        no_reflection: Why there is none.

    Raises:
        UserError: When nothing has this name, or it needs a reflection model and there is none.
    """
    found = OPTIMIZERS.get(name)
    if found is None:
        plugins = {plugin.name: plugin for plugin in entry_points(group=ENTRY_POINTS)}
        if name not in plugins:
            known = ", ".join(sorted({*OPTIMIZERS, *plugins}))
            raise UserError(f"--optimizer: there is no {name!r}; there are {known}. Name one of these.")
        plugin: Optimizer = plugins[name].load()()
        found = plugin
    if found.needs_reflection and not reflection:
        raise UserError(
            f"--optimizer {name}: it rewrites instructions, and {no_reflection or 'there is no reflection model'}; "
            "bootstrap and labeled need none. Name one of these, or give --lm a language model."
        )
    return found
