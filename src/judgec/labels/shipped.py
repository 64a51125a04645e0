"""Finds the labels that ship with judgec: those of the checkout, or the copy inside an installed wheel."""

from pathlib import Path

import judgec

TRAINSETS = Path("trainsets")


def shipped(name: str) -> Path:
    """The folder ``trainsets/NAME``."""
    package = Path(judgec.__file__).parent
    inside = package / TRAINSETS / name  # put there when the wheel was built (setup.py)
    return inside if inside.is_dir() else package.parents[1] / TRAINSETS / name
