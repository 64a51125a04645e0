"""Finds what a rewritten instruction repeats of the items that it was written from: it would know their labels."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from judgec.evidence.text import UNSPACED
from judgec.records.counts import plural

ASKED = 2  # most calls for one rewrite
RUN = 8  # words in a row that no two texts share by chance; of scripts without spaces twice as many characters
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")


def repeated(text: str, shown: object, allowed: Iterable[str]) -> str:
    """The first words in a row of a text that stand in one of the items and are nobody's to use; empty without any.

    Args:
        text: The new instruction.
        shown: What it was written from, texts within texts.
        allowed: What may be repeated: the instruction before it, what is fixed, reasons of experts.
    """
    words = _words(text)
    size = RUN if sum(map(len, words)) >= 2 * len(words) else 2 * RUN
    runs = set(_runs(words, size)).difference(*(_runs(_words(one), size) for one in allowed))
    found = (run for one in _texts(shown) for run in _runs(_words(one), size) if run in runs) if runs else iter(())
    return " ".join(next(found, ()))


def rewrite_without_repeats(
    ask: Callable[[str], str], shown: object, allowed: Sequence[str], repeats: list[str], most: int = ASKED
) -> str:
    """A rewrite that repeats no item, asked for once more where the first one does; empty where that one does, too.

    Args:
        ask: Asks for it; told what the attempt before repeats, or an empty text.
        shown: As for ``repeated``, and so is ``allowed``.
        allowed: What may be repeated.
        repeats: What each attempt that was dropped repeats is added to it.
        most: Calls that may be made.
    """
    again = ""
    for _ in range(min(ASKED, most)):
        text = ask(again)
        again = repeated(text, shown, allowed)
        if not again:
            return text
        repeats.append(again)
    return ""


def dropped(name: str, repeats: Sequence[str]) -> str:
    """A note on the rewrites of a search that were dropped."""
    return (
        f"{name}: {plural(len(repeats), 'rewritten instruction')} dropped: {RUN} words in a row or more are a train "
        f"item's; the first: {repeats[0]!r}"
    )


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, Mapping):
        value = value.values()
    if isinstance(value, str) or not isinstance(value, Iterable):
        yield str(value)
        return
    for one in value:
        yield from _texts(one)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _runs(words: Sequence[str], size: int) -> Iterable[tuple[str, ...]]:
    return zip(*(words[at:] for at in range(size)), strict=False)
