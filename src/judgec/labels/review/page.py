"""Serves the review page's HTML: nothing is loaded from elsewhere, and its script puts every text in as text."""

from functools import cache
from importlib.resources import files


def page(nonce: str) -> str:
    """The page.

    Args:
        nonce: Of this reply; the policy lets nothing run and nothing style the page without it.
    """
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'><title>Labels</title>"
        f"<style nonce={nonce}>{_part('css')}</style></head><body>{_part('html')}"
        f"<script nonce={nonce}>{_part('js')}</script></body></html>"
    )


@cache
def _part(kind: str) -> str:
    return files(__package__).joinpath(f"page.{kind}").read_text(encoding="utf-8")
