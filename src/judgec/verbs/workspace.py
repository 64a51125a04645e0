"""Holds the places that every verb works in: compiled programs, the journal of calls, and where runs are tracked."""

import os
from collections.abc import Mapping
from pathlib import Path

from judgec.connect.tracking.store import TrackingStore, tracking_store
from judgec.lm.executor import OnDone
from judgec.lm.functions import Function
from judgec.lm.journal.journal import Journal
from judgec.lm.max_wait import MaxWait
from judgec.lm.session import Batched, Session
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget
from judgec.raters import programs
from judgec.raters.programs import Program
from judgec.records.counts import plural


class Workspace:
    """A folder with programs/, mlruns/ and .judgec/, and what is opened there.

    Nothing is created or contacted before it is needed.

    Args:
        home: The folder; by default the current one.
        tracking_uri: An MLflow server or database; by default ``MLFLOW_TRACKING_URI``, else ``mlruns/mlflow.db``.
        environ: Where keys and ``MLFLOW_TRACKING_URI`` are looked up; by default the process's environment.

    Example:
        >>> workspace = judgec.Workspace()
        >>> "sensors" in workspace.names
        True
        >>> workspace.load("sensors@latest").card.task
        'grade'
    """

    def __init__(
        self, home: str | Path = ".", tracking_uri: str | None = None, *, environ: Mapping[str, str] | None = None
    ) -> None:
        self.home = Path(home)
        self.tracking_uri = tracking_uri
        self.environ: Mapping[str, str] = os.environ if environ is None else environ

    @property
    def names(self) -> tuple[str, ...]:
        """The compiled programs, in alphabetical order."""
        return programs.names(self.home)

    def versions(self, name: str) -> tuple[int, ...]:
        """The versions of a program, oldest first."""
        return programs.versions(self.home, name)

    def load(self, name: str) -> Program:
        """A version of a program: ``NAME`` or ``NAME@champion``, ``NAME@latest``, ``NAME@3``.

        Raises:
            UserError: There is no such program; says what there is.
            ArtifactError: A file of it is damaged.
        """
        return programs.load(self.home, name)

    @property
    def store(self) -> TrackingStore:
        """The store that tracks runs.

        Raises:
            UserError: When the URI is a folder.
        """
        return tracking_store(self.home, self.tracking_uri, self.environ)

    def journal(self) -> Journal:
        """The journal of all calls, which makes them resumable and free a second time; a context manager."""
        return Journal(self.home / ".judgec" / "journal.db")

    def session(
        self,
        spec: LMSpec | None = None,
        *,
        reflection: LMSpec | None = None,
        budget: int | None = None,
        max_cost: float | None = None,
        caps: Budget | None = None,
        journal: Journal | None = None,
        in_flight: int | None = None,
        spread: bool = False,
        ray_address: str | None = None,
        on_done: OnDone | None = None,
        max_wait: MaxWait | None = None,
        batch: Batched = "nothing",
        functions: Mapping[str, Function] | None = None,
    ) -> Session:
        """A way to language models through the journal, under caps; a context manager.

        Args:
            spec: The model that is asked; None where each judge brings its own.
            reflection: The model that rewrites prompts.
            budget: Most calls.
            max_cost: Most US dollars.
            caps: What several sessions may spend together, in place of both.
            journal: Another than that of the home; it is closed with the session.
            in_flight: Most calls at once.
            spread: Workers on a Ray cluster make the calls.
            ray_address: Of that cluster.
            on_done: Told of progress.
            max_wait: How long a call waits for an endpoint that asks for time, and who is told of it.
            batch: Which calls go in batches.
            functions: What is called where a model is ``function/NAME``, by name.

        Raises:
            UserError: Dollars are capped and the model has no list price.
        """
        return Session(
            spec,
            self.home,
            reflection=reflection,
            budget=budget,
            max_cost=max_cost,
            caps=caps,
            journal=journal,
            in_flight=in_flight,
            spread=spread,
            ray_address=ray_address,
            on_done=on_done,
            max_wait=max_wait,
            batch=batch,
            environ=self.environ,
            functions=functions,
        )

    def __repr__(self) -> str:
        found = f"{plural(len(self.names), 'program')}: {', '.join(self.names)}" if self.names else "no programs yet"
        return f"<Workspace {self.home}, {found}>"
