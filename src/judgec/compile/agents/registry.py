"""The optimizers of agents there are: one visible dict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judgec.compile.agents.candidates import AgentCandidate, AgentTask, demonstrated
from judgec.compile.agents.knobs import shaped
from judgec.compile.agents.metric import ScoredAnswer
from judgec.compile.agents.reflection import rewritten
from judgec.errors import UserError
from judgec.rag.agents.answer import Answer

Propose = Callable[[AgentTask, Sequence[Answer], Sequence[ScoredAnswer]], list[AgentCandidate]]
"""Prompts, from the uncompiled agent's answers to ``task.train`` and their scores; none where it cannot work."""


@dataclass(frozen=True, slots=True)
class AgentOptimizer:
    """Proposes prompts; dev chooses among them and the uncompiled agent.

    Args:
        proposals: What it tries, in this order.
        needs_reflection: Whether it cannot work without a model that rewrites prompts.
    """

    proposals: tuple[Propose, ...]
    needs_reflection: bool = False

    def search(
        self, task: AgentTask, answers: Sequence[Answer], scores: Sequence[ScoredAnswer]
    ) -> list[AgentCandidate]:
        """Every proposal."""
        return [candidate for propose in self.proposals for candidate in propose(task, answers, scores)]


def _labelled(task: AgentTask, answers: Sequence[Answer], scores: Sequence[ScoredAnswer]) -> list[AgentCandidate]:
    return demonstrated(task, answers, scores, accepted=True) if task.accepted else []


def _bootstrapped(task: AgentTask, answers: Sequence[Answer], scores: Sequence[ScoredAnswer]) -> list[AgentCandidate]:
    return demonstrated(task, answers, scores, accepted=False)


def _rewritten(task: AgentTask, *_: object) -> list[AgentCandidate]:
    if task.reflection is None:
        return []
    task.watch.stage("rewrite", "instructions")
    return rewritten(task)


OPTIMIZERS: dict[str, AgentOptimizer] = {
    "auto": AgentOptimizer((_labelled, _bootstrapped, _rewritten, shaped)),
    "labeled": AgentOptimizer((_labelled,)),
    "bootstrap": AgentOptimizer((_bootstrapped,)),
    "settings": AgentOptimizer((shaped,)),
    "gepa": AgentOptimizer((_rewritten,), needs_reflection=True),
}


def find_agent_optimizer(name: str, *, reflection: bool, model: bool = True) -> AgentOptimizer:
    """The optimizer with this name.

    Args:
        name: A key of ``OPTIMIZERS``.
        reflection: Whether there is a model that rewrites prompts.
        model: Whether there is one that reads them; without one settings alone are searched.

    Raises:
        UserError: When nothing has this name, or it needs a model and there is none.
    """
    if name not in OPTIMIZERS:
        raise UserError(f"--optimizer: there is no {name!r}; there are {', '.join(OPTIMIZERS)}. Name one of these.")
    if not model and name not in {"auto", "settings"}:
        raise UserError(
            f"--optimizer {name}: searches prompts, and no model is named that reads one; settings is valid. "
            "Name a model with --lm, or settings."
        )
    if OPTIMIZERS[name].needs_reflection and not reflection:
        raise UserError(
            f"--optimizer {name}: it rewrites instructions, and there is no reflection model. "
            "Give --lm a language model, or --reflection-lm."
        )
    return OPTIMIZERS[name]
