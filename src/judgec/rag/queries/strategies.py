"""The order in which documents and chunks are taken to make questions from."""

import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from judgec.errors import UserError
from judgec.rag.functions import PYTHON, python_function

T = TypeVar("T")
THIRDS = 3  # strata where nothing else tells documents or chunks apart


def arranged(
    strategy: str, things: Sequence[T], rng: random.Random, strata: Callable[[Sequence[T]], Sequence[Hashable]]
) -> list[T]:
    """Documents, or the chunks of one document, in the order in which they are taken.

    Args:
        strategy: ``random``; ``iterate``, as they come; ``stratified``, one of each stratum in turn, at random within
            it; or ``python:module:function``, called with the things and ``rng``, which returns those to take.
        things: All there are.
        rng: Decides what is random.
        strata: The stratum of each.

    Raises:
        UserError: When a function cannot be imported, fails, or returns something else than some of the things.
    """
    if strategy == "iterate":
        return list(things)
    if strategy.startswith(PYTHON):
        return _by_function(strategy, things, rng)
    mixed = list(things)
    rng.shuffle(mixed)
    if strategy == "random":
        return mixed
    of = {id(thing): stratum for thing, stratum in zip(things, strata(things), strict=True)}
    groups: dict[Hashable, list[T]] = {stratum: [] for stratum in of.values()}
    for thing in mixed:
        groups[of[id(thing)]].append(thing)
    order = list(groups.values())
    rng.shuffle(order)  # else the first stratum had one more than the last wherever they do not come out even
    return [thing for turn in zip_longest(*order) for thing in turn if thing is not None]


def folders(names: Iterable[str], sizes: Sequence[int]) -> Sequence[Hashable]:
    """Strata of documents: their folders; where all are in one, the shortest, the middle and the longest third."""
    found = [name.rpartition("/")[0] for name in names]
    if len(set(found)) > 1:
        return found
    rank = {at: place for place, at in enumerate(sorted(range(len(sizes)), key=lambda at: sizes[at]))}
    return [THIRDS * rank[at] // len(sizes) for at in range(len(sizes))]


def places(n: int) -> Sequence[Hashable]:
    """Strata of the chunks of a document: its beginning, its middle and its end."""
    return [THIRDS * at // n for at in range(n)]


def _by_function(reference: str, things: Sequence[T], rng: random.Random) -> list[T]:
    function = python_function(reference, Path(), "strategy")
    try:
        given = list(function(list(things), rng))
    except Exception as error:
        said = f"{type(error).__name__}: {str(error)[:200]}"
        raise UserError(f"strategy {reference}: {said}; a list of what it was given is needed. Mend it.") from error
    known = {id(thing) for thing in things}
    strange = next((thing for thing in given if id(thing) not in known), None)
    if strange is not None:
        raise UserError(
            f"strategy {reference}: it returned {str(strange)[:80]!r}; documents or chunks that it was given "
            "are valid. Mend it."
        )
    return given
