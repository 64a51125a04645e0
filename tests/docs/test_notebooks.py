"""The notebooks run from the first cell to the last."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SECONDS = 900


@pytest.mark.full
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook_runs_and_shows_what_it_made(path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="make test-full installs nbclient and ipykernel")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    ran = nbclient.NotebookClient(
        notebook, timeout=SECONDS, resources={"metadata": {"path": str(path.parent)}}
    ).execute()
    shown = [set(output.get("data", {})) for cell in ran.cells for output in cell.get("outputs", [])]
    assert sum("text/html" in kinds for kinds in shown) >= 5  # labels, the verdict, its table, judgments, ratings
    assert any("image/png" in kinds for kinds in shown)
