"""Puts a count into words: ``1 row``, ``24 rows``."""


def plural(n: int | str, one: str, many: str = "", *, thousands: bool = False) -> str:
    """A count and what it counts.

    Args:
        n: How many; text where it is written already.
        one: What one of them is called; a verb may stand behind it: ``row has``.
        many: Several of them, where that is not ``one`` with the usual ending of a plural.
        thousands: Mark thousands: ``1,056 items``.
    """
    said = f"{n:,}" if thousands and isinstance(n, int) else str(n)
    return f"{said} {one if said == '1' else many or _several(one)}"


def _several(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def tidy(count: float) -> float:
    """A count of items that grades may share, as reports have it: whole where it is, else to one decimal."""
    rounded = round(count, 1)
    return int(rounded) if rounded == int(rounded) else rounded
