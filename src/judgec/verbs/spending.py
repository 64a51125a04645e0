"""Opens the sessions of a verb: the one place where its options become caps, so that none can be forgotten."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from judgec.lm.functions import Function
from judgec.lm.journal.journal import Journal
from judgec.lm.max_wait import MaxWait
from judgec.lm.session import Batched, Session
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Account, Budget
from judgec.lm.watch import Watch
from judgec.rag.functions import PYTHON, python_function


class Capped(Protocol):
    """Something with caps of its own, such as a judge that was loaded with some."""

    @property
    def budget(self) -> int | None:
        """Most calls."""

    @property
    def max_cost(self) -> float | None:
        """Most US dollars."""


class Spends(Capped, Protocol):
    """Options of a verb that asks a model."""

    @property
    def max_wait(self) -> float:
        """Seconds that a call waits for a busy endpoint, in all."""

    @property
    def in_flight(self) -> int | None:
        """Most calls at once; None means as many as suit this process, or the cluster."""

    @property
    def functions(self) -> Mapping[str, object]:
        """Functions that are called where a judge asks a Python function, by name."""


def account_for(options: Spends, *judges: Capped | str | None, count_journaled: bool = True) -> Account:
    """Account of what a verb may spend, to be shared by all its sessions: the options' caps.

    Where they say nothing, the lowest of those that its judges were loaded with.

    Args:
        options: The verb's.
        judges: That it was given; a name has no caps of its own.
        count_journaled: As for ``Budget``.
    """
    loaded = [one for one in judges if one is not None and not isinstance(one, str)]
    calls, usd = options.budget, options.max_cost
    if calls is None:
        calls = min((one.budget for one in loaded if one.budget is not None), default=None)
    if usd is None:
        usd = min((one.max_cost for one in loaded if one.max_cost is not None), default=None)
    return Account(Budget(calls=calls, usd=usd, count_journaled=count_journaled))


def session_for(
    options: Spends,
    spec: LMSpec | None,
    home: Path,
    watch: Watch,
    *,
    account: Account | None = None,
    reflection: LMSpec | None = None,
    batched: Batched = "everything",
    journal: Journal | None = None,
    ray: bool = False,
    ray_address: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Session:
    """A session under the caps of a verb's options.

    Args:
        options: The verb's; ``batch`` is one that it may have.
        spec: The model that is asked; None where each judge brings its own.
        home: Whose journal keeps the calls.
        watch: Told of progress, and of calls that wait.
        account: From ``account_for``, where the verb has several sessions, or a judge with caps of its own.
        reflection: The model that rewrites prompts.
        batched: What goes in batches where the options ask for them.
        journal: Another than the home's; it is closed with the session.
        ray: Workers on a Ray cluster make the calls.
        ray_address: Of that cluster.
        environ: Where keys are looked up.

    Raises:
        UserError: Dollars are capped and the model has no list price.
        ServiceError: No cluster answers.
    """
    account = account or account_for(options)
    return Session(
        spec,
        home,
        reflection=reflection,
        caps=account.caps,
        usage=account.usage,
        journal=journal,
        in_flight=options.in_flight,
        spread=ray,
        ray_address=ray_address,
        environ=environ,
        on_done=watch.progress,
        max_wait=MaxWait(options.max_wait, watch.waiting),
        batch=batched if getattr(options, "batch", False) else "nothing",
        functions={name: function_of(name, one) for name, one in options.functions.items()},
    )


def function_of(name: str, given: object) -> Function:
    """Returns what a user calls a function: the function itself, or where it is.

    Args:
        name: What it is called among judges.
        given: ``Function``, something that can be called, or ``module:function``.

    Raises:
        UserError: There is no such function.
    """
    if isinstance(given, Function):
        return replace(given, name=name)
    if isinstance(given, str):
        given = python_function(f"{PYTHON}{given.removeprefix(PYTHON)}", Path(), "--function")
    return Function(name, given)  # type: ignore[arg-type]  # what cannot be called is refused there
