"""Words for who won a comparison of two answers: one table for games, labels and recorded verdicts."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from judgec.errors import UserError
from judgec.records.scale import Grade
from judgec.records.tasks.preference import SPELLINGS
from judgec.records.tasks.registry import plain
from judgec.records.tasks.spec import PAIR_GRADES

UNSCORED = "unscored"  # what a word may mean beside the sides: nobody decided
OPTION = "--winner-words"
SHOWN = 8  # unknown words that a message lists
WORDS: Mapping[str, str] = MappingProxyType(
    {
        **{grade: grade for grade in PAIR_GRADES},
        **SPELLINGS,
        **{  # as the answers' heads are numbered from 1; where one is numbered 0, its word is unknown
            f"{what}_{number}": side
            for what in ("answer", "response", "reply", "output")
            for number, side in (("1", "a"), ("2", "b"), ("a", "a"), ("b", "b"))
        },
        "c": "tie",  # Arena's and RAGElo's third letter
        **dict.fromkeys(("ties", "tied", "a_tie"), "tie"),
        **dict.fromkeys(("win", "wins", "won"), "a"),  # of the one that stands first
        **dict.fromkeys(("loss", "lose", "loses", "lost"), "b"),
        **dict.fromkeys(("both_equal", "equally", "equivalent"), "tie"),
    }
)
"""Sides by the words of a column that says who won, as ``plain`` has them; a reply's words alone are ``SPELLINGS``."""

_COMPARED = re.compile(r"\[*\s*([ab])\s*(>{1,3}|<{1,3}|=)\s*([ab])\s*\]*")
_DENIED = re.compile(r"[!~?¬≠]")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)")


def winner_of(word: Grade, said: Mapping[str, str] = MappingProxyType({})) -> str | None:
    """``a``, ``b`` or ``tie`` for a cell that says who won; ``unscored`` only where somebody said so; else None.

    Numbers mean one thing here and another there (1 is A, and it is the second of 0 and 1), so they are read only as
    somebody said.

    Args:
        word: As ``table.rows.cells.as_grade`` reads the cell.
        said: What words mean in this file, as ``winner_words`` makes it.
    """
    key = _key(word)
    if key in said:
        return said[key]
    if _NUMBER.fullmatch(key):
        return None
    compared = _COMPARED.fullmatch(key)
    if compared is None:
        return None if _DENIED.search(key) else WORDS.get(plain(str(word)))  # which sees camel case
    left, sign, right = compared.groups()
    return None if left == right else "tie" if sign == "=" else left if sign[0] == ">" else right


def winner_words(said: Mapping[str, str | Mapping[str, str]], where: str = OPTION) -> dict[str, str]:
    """Meanings of words for all graders, ready for ``winner_of``.

    Args:
        said: Sides by words, as somebody typed them.
        where: Who says so, for messages.

    Raises:
        UserError: A word that would mean something else than a side.
    """
    valid = (*PAIR_GRADES, UNSCORED)
    found = {}
    for word, side in said.items():
        if isinstance(side, Mapping):
            continue
        meant = str(side).strip().casefold()
        if meant not in valid or not str(word).strip():
            raise UserError(f"{where} {word}={side}: {', '.join(valid)} are valid behind the =. Correct it.")
        found[_key(str(word))] = meant
    return found


def sides_said(text: str, seen: Iterable[str] = ()) -> dict[str, str]:
    """Sides by word as somebody types them: ``-2 -1: first, 0: tie, 1 2: second``, or ``1=a,2=b``.

    Args:
        text: Words, a colon or an equals sign, and what they mean.
        seen: Words that may hold spaces.

    Raises:
        UserError: A part without a side.
    """
    found: dict[str, str] = {}
    whole = {word.casefold() for word in seen}
    for part in filter(None, map(str.strip, text.split(","))):
        words, mark, side = part.rpartition(":" if ":" in part else "=")
        own = [words.strip()] if not mark or words.strip().casefold() in whole else words.split()
        meant = side.strip().casefold()
        found |= dict.fromkeys(own, (winner_of(meant) or meant) if mark else "")
    return winner_words(found)


def words_by_grader(said: Mapping[str, str | Mapping[str, str]], graders: Iterable[str]) -> dict[str, dict[str, str]]:
    """Meanings of words that single graders use in a sense of their own, by grader.

    Args:
        said: Sides by word, by ``GRADER:word``, or by grader and word.
        graders: Names that may stand before the colon.
    """
    found = {name: winner_words(own) for name, own in said.items() if isinstance(own, Mapping)}
    for name in graders:
        at = len(name) + 1
        own = {word[at:]: side for word, side in said.items() if word[:at].casefold() == f"{name}:".casefold()}
        if flat := {word: side for word, side in own.items() if isinstance(side, str) and word.strip()}:
            found[name] = {**found.get(name, {}), **winner_words(flat)}
    return found


def flat_words(said: Mapping[str, str | Mapping[str, str]]) -> dict[str, str]:
    """Meanings as an option takes them: those of a single grader by ``GRADER:word``."""
    return {
        word: side
        for name, own in said.items()
        for word, side in (
            {name: own} if isinstance(own, str) else {f"{name}:{word}": side for word, side in own.items()}
        ).items()
    }


def strength_dropped(sides: Mapping[Grade, str | None]) -> str:
    """A sentence on numbers that say by how much an answer won, which is not kept; empty where none do.

    Args:
        sides: By word, what it means.
    """
    alike = {
        side: sorted(
            (str(word) for word, own in sides.items() if own == side and _NUMBER.fullmatch(_key(word))), key=float
        )
        for side in ("a", "b")
    }
    said = [f"{' and '.join(words)} are {side}" for side, words in alike.items() if len(words) > 1]
    return f"{', '.join(said)}: by how much an answer won is not kept." if said else ""


def unknown_words(words: Iterable[object]) -> str:
    """Message on words that mean nothing: which, what is valid, and what to type.

    Args:
        words: The cells, one a row.
    """
    counts = Counter(str(word).strip()[:40] for word in words)
    seen = [f"{word!r} ({count})" if count > 1 else repr(word) for word, count in counts.items()]
    listed = ", ".join(seen[:SHOWN]) + (f" and {len(seen) - SHOWN} others" if len(seen) > SHOWN else "")
    typed = ",".join(f"{word}=?" for word in [*counts][:SHOWN])
    return (
        f"unknown words for the winner: {listed}; a, b, tie, A>B, model_a, left, draw and the like are valid, empty is "
        f"unscored. Say what they mean: {OPTION} {typed!r} ({', '.join((*PAIR_GRADES, UNSCORED))} are valid behind "
        "each =)."
    )


def _key(word: Grade) -> str:
    """Equal for 1, "1" and 1.0, for .5 and "0.5", and for words that differ in case and spaces alone."""
    text = " ".join(str(word).split()).casefold()
    return f"{float(text):g}" if _NUMBER.fullmatch(text) else text
