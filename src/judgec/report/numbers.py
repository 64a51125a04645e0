"""Writes numbers for people, the same way on screens, on pages and in sentences.

Two decimals without the leading zero (``.59``, ``-.12``), intervals in brackets, ``-`` where there is no number,
thousands with a comma.
"""

import math

from judgec.records.estimate import Estimate
from judgec.stats.agreement.registry import KNOWN

UNKNOWN = "-"
NAMES = {name: one.label for name, one in KNOWN.items()} | {  # of statistics
    "accuracy_decided": "accuracy where experts chose",
    "flip_rate": "flips with order",
}


def statistic_name(key: str) -> str:
    """Name of a statistic for people: ``tau-b`` for ``tau_b``."""
    return NAMES.get(key, key.replace("_", " "))


def objective_name(key: str) -> str:
    """Name of an objective for people: ``tau-b+accept`` for ``tau_b+accept``."""
    return key.replace("tau_b", NAMES["tau_b"]).replace("_", " ")


def number(value: float | None, digits: int = 2) -> str:
    """``.64``: without the leading zero, as the field prints correlations; a dash for None and NaN."""
    return _written(value, f".{digits}f")


def signed(value: float | None, digits: int = 2) -> str:
    """``+.25``: a number whose sign matters, such as a difference; a dash for None and NaN."""
    return _written(value, f"+.{digits}f")


def short(value: float | None, *, sign: bool = False) -> str:
    """``.5``, ``2``, ``+.25``: as few digits as there are, for axes and bounds; a dash for None and NaN."""
    return _written(value, "+g" if sign else "g")


def brackets(low: float | None, high: float | None, digits: int = 2, *, sign: bool = False) -> str:
    """``[.57, .71]``; empty where a bound is unknown."""
    if not _known(low) or not _known(high):
        return ""
    write = signed if sign else number
    return f"[{write(low, digits)}, {write(high, digits)}]"


def show(estimate: Estimate | None, digits: int = 2, *, sign: bool = False) -> str:
    """``.64 [.57, .71]``; a dash where the number is undefined."""
    if estimate is None or estimate.value is None:
        return UNKNOWN
    value = signed(estimate.value, digits) if sign else number(estimate.value, digits)
    return f"{value} {brackets(estimate.low, estimate.high, digits, sign=sign)}".rstrip()


def rating(value: float | None) -> str:
    """``1043``: a rating in whole points; a dash for None and NaN."""
    return number(value, 0)


def between(low: float | None, high: float | None) -> str:
    """``980 .. 1043``: bounds of a rating, open ones in words."""
    if not _known(low):
        return f"below {rating(high)}" if _known(high) else UNKNOWN
    return f"{rating(low)} .. {rating(high)}" if _known(high) else f"above {rating(low)}"


def points(value: float | None, digits: int = 1) -> str:
    """``66.7``, ``0.0``: what is no share of 1, such as percent, keeps its zero; a dash for None and NaN."""
    return f"{value:.{digits}f}" if value is not None and _known(value) else UNKNOWN


def percent(value: float | None, digits: int = 0) -> str:
    """``45 %`` for .45; a dash for None and NaN."""
    return f"{points(100 * value, digits)} %" if value is not None and _known(value) else UNKNOWN


def show_percent(estimate: Estimate | None, digits: int = 0) -> str:
    """``45 % [30, 61]``; a dash where the share is undefined."""
    if estimate is None or estimate.value is None:
        return UNKNOWN
    low, high = (None if bound is None else 100 * bound for bound in (estimate.low, estimate.high))
    return f"{percent(estimate.value, digits)} {brackets(low, high, digits)}".rstrip()


def p_value(p: float | None) -> str:
    """``.042``, ``< .001``; a dash for None and NaN."""
    return "< .001" if p is not None and p < 0.001 else number(p, 3)


def count(value: int) -> str:
    """``12,345``."""
    return f"{value:,}"


def money(usd: float | None) -> str:
    """``0.0125``: dollars, which keep their zero; a dash for None."""
    return UNKNOWN if usd is None else f"{usd:.4f}"


def dollars(usd: float | None, unknown: str = "price unknown") -> str:
    """``$0.0125``; ``no cost`` where nothing was or will be paid."""
    return unknown if usd is None else f"${money(usd)}" if usd else "no cost"


def _written(value: float | None, form: str) -> str:
    if value is None or math.isnan(value):
        return UNKNOWN
    text = f"{value + 0.0:{form}}"  # -0.0 is 0; what is less than 0 keeps its sign, however little it is
    return text.replace("0.", ".", 1) if text.lstrip("+-").startswith("0.") else text


def _known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)
