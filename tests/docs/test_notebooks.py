"""The notebooks run from the first cell to the last."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SECONDS = 900


@pytest.mark.soak
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook_runs_and_shows_what_it_made(path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="make soak installs nbclient and ipykernel")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    ran = nbclient.NotebookClient(
        notebook, timeout=SECONDS, resources={"metadata": {"path": str(path.parent)}}
    ).execute()
    shown = [set(output.get("data", {})) for cell in ran.cells for output in cell.get("outputs", [])]
    assert sum("text/html" in kinds for kinds in shown) >= 5  # labels, the verdict, its table, judgments, ratings


CELLS = [
    """
from judgec.lm.executor import Progress
from judgec.lm.usage import Spent
from judgec.report.progress import Bar
bar = Bar(shown=True)
bar.progress(Progress(600, 1000, 3, Spent(calls=100, input_tokens=40, output_tokens=2, usd=1.5)))
""",
    "bar.close()",
]


@pytest.mark.soak
@pytest.mark.parametrize("closed", [False, True])
def test_a_notebook_without_widgets_draws_one_bar_and_no_warning(closed: bool) -> None:
    nbclient = pytest.importorskip("nbclient", reason="make soak installs nbclient and ipykernel")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in (CELLS if closed else CELLS[:1])]
    ran = nbclient.NotebookClient(notebook, timeout=SECONDS).execute()
    (shown,) = [output for cell in ran.cells for output in cell.outputs]
    drawn = shown["data"]["text/html"]
    assert ('<progress value="600" max="1000">' in drawn and "3 unscored, 42 tokens" in drawn) is not closed
    assert bool(drawn) is not closed
