"""``judgec agreement``."""


def agreement() -> None:
    """Agreement."""
    raise SystemExit(2)
