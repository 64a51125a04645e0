"""Defines what a gate says: passed, failed, or not shown; every gate of the project uses these words."""

from collections.abc import Iterable
from typing import Literal

GateVerdict = Literal["passed", "failed", "not shown"]
"""``passed``: what was demanded is shown; ``failed``: the contrary is; ``not shown``: neither. Only the first opens."""

WORST_FIRST: tuple[GateVerdict, ...] = ("failed", "not shown", "passed")


def announced(verdict: GateVerdict, sentence: str) -> str:
    """The sentence after the verdict in capitals, so that nobody overlooks it in a log: ``GATE NOT SHOWN: ...``."""
    return f"GATE {verdict.upper()}: {sentence}"


def worst(verdicts: Iterable[GateVerdict]) -> GateVerdict:
    """That of several demands of one gate; a gate without a demand has passed."""
    return min(verdicts, key=WORST_FIRST.index, default="passed")
