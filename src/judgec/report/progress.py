"""Stages and a progress bar on stderr or in a notebook; stages alone where stderr is no terminal."""

import importlib
import sys
import time
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

if TYPE_CHECKING:
    from judgec.lm.executor import Progress as Done

EVERY = 0.2  # seconds between two drawings in a notebook: each is a message to the browser


def on_screen() -> bool:
    """Somebody looks: stderr is a terminal, or this is a notebook."""
    return sys.stderr.isatty() or in_notebook()


def in_notebook() -> bool:
    """Jupyter, VS Code or whatever else runs a kernel; a program that has merely imported one is none."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class _Drawn(Protocol):
    """A bar on the screen."""

    def show(self, done: int, total: int | None, detail: str) -> None:
        """Draw it anew."""

    def stop(self) -> None:
        """Take it away."""


class _TerminalBar:
    def __init__(self, console: Console, of: str, total: int | None) -> None:
        self._bar = Progress(
            TextColumn("{task.description:>11}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[detail]}"),
            console=console,
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(of, total=total, detail="")

    def show(self, done: int, total: int | None, detail: str) -> None:
        self._bar.update(self._task, completed=done, total=total, detail=detail)

    def stop(self) -> None:
        self._bar.stop()


class _NotebookBar:
    """Drawn by the browser; rich needs ipywidgets for a bar in a notebook, and warns at each step without."""

    def __init__(self, of: str) -> None:
        self._of, self._drawn = of, -EVERY
        self._display = importlib.import_module("IPython.display")
        self._handle = self._display.display(self._html(""), display_id=True)

    def show(self, done: int, total: int | None, detail: str) -> None:
        from judgec.report.kit import render

        now = time.monotonic()
        if done != total and now - self._drawn < EVERY:
            return
        self._drawn = now
        values = {"of": self._of, "done": done, "total": total, "detail": detail}
        self._handle.update(self._html(str(render("progress.html", values))))

    def stop(self) -> None:
        self._handle.update(self._html(""))

    def _html(self, text: str) -> object:
        return self._display.HTML(text)


class Bar:
    """Shows where a command is.

    Args:
        shown: False says nothing at all.
    """

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._console = Console(stderr=True)
        self._bar: _Drawn | None = None
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

    def waiting(self, text: str) -> None:
        """Calls wait for an endpoint: one line above the bar."""
        self.note(text)

    def progress(self, progress: "Done") -> None:
        """Calls finished so far; a bar with rate, time left, unscored calls, tokens and dollars."""
        if not self._shown or not on_screen():
            return
        if self._bar is None:
            self._since, self._before = time.monotonic(), progress.done  # a rate of what came before means nothing
            notebook = in_notebook()
            self._bar = (
                _NotebookBar(progress.of) if notebook else _TerminalBar(self._console, progress.of, progress.total)
            )
        if progress.of != "calls":
            self._bar.show(progress.done, progress.total, "")
            return
        rate = (progress.done - self._before) / max(time.monotonic() - self._since, 1e-3)
        spent, known = progress.spent, "at least " * (progress.spent.unpriced > 0)
        detail = f"{rate:.0f}/s, {progress.unscored} unscored, {spent.tokens} tokens, {known}${spent.usd:.2f}"
        self._bar.show(progress.done, progress.total, detail)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
        self._bar = None
