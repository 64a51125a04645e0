"""Finds the labels that ship with judgec: those of the checkout, or the copy inside an installed wheel."""

from pathlib import Path

import judgec

SENSORS = Path("trainsets/sensors")


def sensors_labels() -> Path:
    """The constructed labels of ``trainsets/sensors``; its datasheet lies beside them."""
    package = Path(judgec.__file__).parent
    inside = package / SENSORS  # put there when the wheel was built (setup.py)
    return (inside if inside.is_dir() else package.parents[1] / SENSORS) / "labels.jsonl"
