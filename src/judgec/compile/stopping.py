"""Records why a search ended early: libraries that drive one swallow what is raised in what they call."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from judgec.errors import BudgetError, ServiceError
from judgec.lm.watch import Watch


class Stop:
    """A reason to end a search early.

    Attributes:
        error: Why nothing more is asked, or None.
    """

    def __init__(self) -> None:
        self.error: ServiceError | None = None

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Ask a model; its failure is remembered, whatever the library does with it."""
        try:
            yield
        except ServiceError as error:
            self.error = error
            raise

    @contextmanager
    def ending(self, name: str, watch: Watch) -> Iterator[None]:
        """Let a library search: a cap ends the search with a note.

        Raises:
            ServiceError: When the LM cannot be reached, even where the library has swallowed that.
        """
        with suppress(ServiceError), self.noting():
            yield
        if isinstance(self.error, BudgetError):
            watch.note(f"{name} stopped early: {self.error}")
        elif self.error is not None:
            raise self.error
