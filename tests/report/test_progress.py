import io
import sys
from types import SimpleNamespace

import pytest

from judgec.lm.executor import Progress
from judgec.lm.usage import Spent
from judgec.report.progress import Bar, in_notebook


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("unpriced", "dollars"), [(0, "$1.50"), (2, "at least $1.50")])
def test_progress_shows_how_far_how_fast_and_what_it_cost(
    monkeypatch: pytest.MonkeyPatch, unpriced: int, dollars: str
) -> None:
    terminal, seconds = Terminal(), iter([10.0, 10.0, 12.0])
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("judgec.report.progress.time", SimpleNamespace(monotonic=lambda: next(seconds)))
    bar = Bar(shown=True)
    bar.progress(Progress(500, 1000, 0, Spent()))  # from the journal, at once
    bar.progress(Progress(600, 1000, 3, Spent(calls=100, input_tokens=40, output_tokens=2, usd=1.5, unpriced=unpriced)))
    bar.close()
    said = terminal.getvalue()
    assert "600/1000" in said
    assert f"50/s, 3 unscored, 42 tokens, {dollars}" in said


def test_a_program_that_has_imported_a_kernel_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1)))
    assert in_notebook()
