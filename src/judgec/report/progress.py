"""Stages and a progress bar on stderr; silent for ``--json`` and when stderr is no terminal but the stages."""

import sys
import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

if TYPE_CHECKING:
    from judgec.lm.executor import Progress as Done


def on_screen() -> bool:
    """Somebody looks: stderr is a terminal, or this is a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class Bar:
    """Shows where a command is.

    Args:
        shown: False says nothing at all.
    """

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._console = Console(stderr=True)
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._since, self._before = 0.0, 0

    def stage(self, name: str, detail: str = "") -> None:
        """A stage begins: one line."""
        self.close()
        if self._shown:
            self._console.print(Text.assemble((f"{name:<12}", "bold"), detail), soft_wrap=True)

    def note(self, text: str) -> None:
        """Something that the user should know."""
        if self._shown:
            self._console.print(Text(f"{'':<12}{text}"), soft_wrap=True)

    def progress(self, progress: "Done") -> None:
        """Calls finished so far; a bar with rate, time left, unscored calls, tokens and dollars."""
        if not self._shown or not on_screen():
            return
        if self._bar is None or self._task is None:
            self._since, self._before = time.monotonic(), progress.done  # a rate of what came before means nothing
            self._bar = Progress(
                TextColumn("{task.description:>11}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[detail]}"),
                console=self._console,
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(progress.of, total=progress.total, detail="")
        if progress.of != "calls":
            self._bar.update(self._task, completed=progress.done, total=progress.total)
            return
        rate = (progress.done - self._before) / max(time.monotonic() - self._since, 1e-3)
        spent, known = progress.spent, "at least " * (progress.spent.unpriced > 0)
        detail = f"{rate:.0f}/s, {progress.unscored} unscored, {spent.tokens} tokens, {known}${spent.usd:.2f}"
        self._bar.update(self._task, completed=progress.done, total=progress.total, detail=detail)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = None
