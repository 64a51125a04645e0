"""Defines who is told how far long work is: a screen, nobody, or one who keeps the notes."""

from typing import Protocol

from judgec.lm.executor import Progress


class Watch(Protocol):
    """Told where long work is; screens draw a bar from it."""

    def stage(self, name: str, detail: str = "") -> None:
        """A stage begins."""

    def note(self, text: str) -> None:
        """Something that the user should know."""

    def waiting(self, text: str) -> None:
        """Calls wait for an endpoint, and until when."""

    def progress(self, progress: Progress) -> None:
        """Calls finished so far."""


class Noting:
    """A watch that passes stages on and keeps the notes for the report.

    Attributes:
        said: The notes, in order.
    """

    def __init__(self, watch: Watch) -> None:
        self.said: list[str] = []
        self._watch = watch

    def stage(self, name: str, detail: str = "") -> None:
        """Shown."""
        self._watch.stage(name, detail)

    def note(self, text: str) -> None:
        """Kept."""
        self.said.append(text)

    def waiting(self, text: str) -> None:
        """Shown."""
        self._watch.waiting(text)

    def progress(self, progress: Progress) -> None:
        """Shown."""
        self._watch.progress(progress)


class Silent:
    """A watch that says nothing."""

    def stage(self, name: str, detail: str = "") -> None:
        """Nothing is shown."""

    def note(self, text: str) -> None:
        """Nothing is shown."""

    def waiting(self, text: str) -> None:
        """Nothing is shown."""

    def progress(self, progress: Progress) -> None:
        """Nothing is shown."""
