"""Finds what ships with judgec, labels and a notebook: that of the checkout, or the copy in an installed wheel."""

from pathlib import Path

import judgec

TRAINSETS = Path("trainsets")
NOTEBOOK = Path("docs/notebooks/compile.ipynb")


def shipped(name: str) -> Path:
    """The folder ``trainsets/NAME``."""
    return _found(TRAINSETS / name)


def shipped_notebook() -> Path:
    """The notebook that compiles a judge, judges and ranks."""
    return _found(NOTEBOOK)


def _found(path: Path) -> Path:
    package = Path(judgec.__file__).parent
    inside = package / path  # put there when the wheel was built (setup.py)
    return inside if inside.exists() else package.parents[1] / path
