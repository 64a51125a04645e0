"""Searches for a better agent: demonstrations of good answers, rewritten instructions, other settings."""

from collections.abc import Iterator, Sequence

from judgec.compile.agents.candidates import demonstrated
from judgec.compile.agents.compile import AgentContest
from judgec.compile.agents.knobs import shaped
from judgec.compile.agents.metric import AnswerTrace
from judgec.compile.agents.reflection import rewritten
from judgec.compile.search.candidates import Candidate
from judgec.errors import UserError
from judgec.labels.split.family import Split
from judgec.lm.session import Session
from judgec.lm.watch import Watch

OPTIMIZERS = ("auto", "labeled", "bootstrap", "settings", "gepa")


def proposed(contest: AgentContest, split: Split, traces: Sequence[AnswerTrace], watch: Watch) -> Iterator[Candidate]:
    """Yields what the optimizer of a compile tries; ``auto`` tries all that models and data allow."""
    asked = {*OPTIMIZERS} if contest.optimizer == OPTIMIZERS[0] else {contest.optimizer}
    if "labeled" in asked and contest.accepted and not contest.lm.no_model:
        yield from demonstrated(contest.start, traces, contest.accepted)
    if "bootstrap" in asked and not contest.lm.no_model:
        yield from demonstrated(contest.start, traces, {})
    if "gepa" in asked and contest.session.reflection is not None:
        yield from rewritten(contest, split, watch)
    if "settings" in asked:
        yield from shaped(contest, split, traces, watch)


def check_optimizer(name: str, session: Session) -> None:
    """Refuse an optimizer that there is not, or that cannot work with the models that are named.

    Raises:
        UserError: As said.
    """
    if name not in OPTIMIZERS:
        raise UserError(f"--optimizer: there is no {name!r}; there are {', '.join(OPTIMIZERS)}. Name one of these.")
    if session.spec.no_model and name not in {"auto", "settings"}:
        raise UserError(
            f"--optimizer {name}: searches prompts, and no model is named that reads one; settings is valid. "
            "Name a model with --lm, or settings."
        )
    if name == "gepa" and session.reflection is None:
        raise UserError(
            f"--optimizer {name}: it rewrites instructions, and there is no reflection model. "
            "Give --lm a language model, or --reflection-lm."
        )
