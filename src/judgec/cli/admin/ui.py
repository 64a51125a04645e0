"""``judgec ui``."""


def ui() -> None:
    """Ui."""
    raise SystemExit(2)
