"""Registers the optimizers in one visible dict."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from judgec.compile.search.auto import Auto
from judgec.compile.search.candidates import Candidate
from judgec.compile.search.demonstrations import Demonstrations
from judgec.compile.search.mipro import Mipro
from judgec.compile.search.reflection import Gepa
from judgec.compile.search.task import Effort, Sizes, Task
from judgec.errors import UserError

NONE = "none"  # on the card of a judge without a prompt, too


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


@dataclass(frozen=True, slots=True)
class NoSearch:
    """The optimizer ``none``: the prompt as it is, beside those of the user."""

    needs_reflection: bool = False

    def effort(self, sizes: Sizes) -> Effort:  # noqa: ARG002 - as optimizers are asked
        """Nothing is judged to propose nothing."""
        return Effort(0, 0, 0, demonstrates=False)

    def search(self, task: Task) -> Sequence[Candidate]:  # noqa: ARG002 - as optimizers are asked
        """No prompt."""
        return ()


OPTIMIZERS: dict[str, Optimizer] = {
    "auto": Auto(),
    "gepa": Gepa(),
    "labeled": Demonstrations(),
    "mipro": Mipro(),
    NONE: NoSearch(),
}


def find_optimizer(name: str, *, reflection: bool, no_reflection: str = "") -> Optimizer:
    """The optimizer with this name.

    Args:
        name: A key of ``OPTIMIZERS``.
        reflection: Whether there is a model that rewrites prompts.
        no_reflection: Why there is none.

    Raises:
        UserError: When nothing has this name, or it needs a reflection model and there is none.
    """
    found = OPTIMIZERS.get(name)
    if found is None:
        raise UserError(f"--optimizer: there is no {name!r}; there are {', '.join(OPTIMIZERS)}. Name one of these.")
    if found.needs_reflection and not reflection:
        raise UserError(
            f"--optimizer {name}: it rewrites instructions, and {no_reflection or 'there is no reflection model'}; "
            "labeled and none need none. Name one of these, or give --lm a language model."
        )
    return found
