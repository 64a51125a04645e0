"""Reads the free reply to a prompt that somebody else wrote: one grade on the scale or one preferred answer, or none.

Such prompts ask for one of a few forms. The first form that states anything counts; two different verdicts in it are
none, since one of them may be quoted.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from judgec.judges.reading import WHOLE, UnreadableReplyError, read_between, read_fields, read_grade
from judgec.judges.refusals import takes_back
from judgec.records.scale import Scale
from judgec.tasks.preference import SPELLINGS
from judgec.tasks.registry import plain

BRACKETED = re.compile(r"\[\[([^\[\]]{1,40})\]\]")
KIND = r"(?:scor(?:e|es|ed|ing)|grade|rating|relevance)"
NUMBER = r"([-+]?\d+(?:\.\d+)?)(?!\d|\.\d|\s*[-–]\s*\d|\s+to\s+\d)"  # not the beginning of a range
STATED = rf"{KIND}(?:\s*\([^)]{{0,40}}\))?\W{{0,6}}(?:(?:is|of|a)\W{{1,4}}){{0,2}}{NUMBER}"
FINAL = re.compile(rf"\b(?:final|overall)\s+{STATED}", re.IGNORECASE)
LABELLED = re.compile(rf"\b{STATED}", re.IGNORECASE)
OUT_OF = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)\s*(?:out\s+of|/)\s*(\d+)(?![\d.]*\d)", re.IGNORECASE)
STARS = re.compile(r"(?<![\d.-])(\d+(?:\.\d+)?)\s+stars?\b", re.IGNORECASE)
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
IN_WORDS = re.compile(rf"\b({'|'.join(WORDS)})(?=\s+(?:stars?\b|out\s+of\b))", re.IGNORECASE)
NAMES = ("grade", "score", "rating", "relevance", "label", "answer", "verdict")  # of a JSON object's field
COMMENTED = r"\]*\s*(?:\(|:\s|[-–—]\s)\s*([^\W\d][^\d\n]{0,200})"  # what explains the grade before it
LONGEST_WORDS = 60  # of a side of a pair, in words
LONGEST = 20_000  # characters of a reply that are looked through

CHOICE = r"(?:verdict|winner|preference|preferred|choice|decision|judge?ment|better)"
CHOSEN = rf"{CHOICE}(?:\s+(?:answer|response|assistant))?\W{{0,6}}(?:is\W{{1,4}})?([^\n.,;]{{1,40}})"
FINALLY = re.compile(rf"\b(?:final|overall)\s+{CHOSEN}", re.IGNORECASE)
CALLED = re.compile(rf"(?:^|\n)\W{{0,6}}{CHOSEN}", re.IGNORECASE)
CHOICES = ("preference", "preferred", "winner", "better", "choice", "decision", "judgment", "judgement", *NAMES)
SIDE = re.compile(
    r"(?:the_)?(?:(?:assistant|answer|response|model|system|output|candidate)_?(?P<named>[ab12])|(?P<bare>[ab]))"
    r"(?:_(?:is|was)(?:_(?:the|clearly|slightly|much|far|overall))*_(?:better|best|preferred|winner)|_wins)?"
    r"(?:_(?:answer|response|one))?"
)
MORE = re.compile(r"\s*([ab])\s*([<>]{1,3}|[=~≈]{1,2})\s*([ab])\s*", re.IGNORECASE)
TIE, THIRD = "tie", "c"  # of three choices, as MT-Bench's prompts have it
SIDES = {"a": "a", "b": "b", "1": "a", "2": "b"}


def grade_text(reply: str, scale: Scale, finish: str = WHOLE) -> str:
    """The one grade that a free reply states, as it is written.

    In this order: the whole reply, what stands in double brackets, a field of a JSON object, ``Final score: 3``,
    ``Score: 3``, ``3 out of 5`` of the highest grade, ``3 stars``, the last or the first line. Two different ones in
    the form that counts are none, and one that the comment behind it takes back is none.

    Args:
        reply: The text.
        scale: The judge's.
        finish: Why the reply ended. Of one that was cut, the last line counts only for what it has in brackets.

    Raises:
        UnreadableReplyError: There is none.
    """
    whole = IN_WORDS.sub(lambda word: str(WORDS.index(word[1].lower())), reply.strip()[:LONGEST])
    text = _uncut(whole, finish)

    def states(part: str) -> bool:
        return read_grade(part, scale) is not None or read_between(part, scale) is not None

    lines = [line.strip() for line in text.splitlines() if line.strip()]
    forms: list[list[str]] = [
        [text],
        BRACKETED.findall(whole),
        _fields(text),
        FINAL.findall(text),
        LABELLED.findall(text),
        [grade for grade, most in OUT_OF.findall(text) if float(most) == scale.values[-1]],
        STARS.findall(text),
        lines[-1:],
        lines[:1],
    ]
    stated = _first_form(forms, lambda part: part.strip() if states(part) else None, whole)
    comments = re.findall(rf"(?<![\d.]){re.escape(stated)}{COMMENTED}", whole)
    if any(map(takes_back, comments)):
        raise UnreadableReplyError(f"malformed reply: {stated} is taken back: {comments[0][:60]}")
    return stated


def preference_text(reply: str, finish: str = WHOLE) -> str:
    """Which answer a free reply prefers: ``a``, ``b`` or ``tie``.

    In this order: the whole reply, what stands in double brackets (``[[A]]``, of three choices ``[[C]]`` for a tie,
    ``[[A>>B]]``), a field of a JSON object, ``Final verdict: B``, ``Winner: A`` at the beginning of a line, the first
    and the last line. Two different ones in the form that counts are none. Of ``1`` and ``2`` alone nobody knows what
    they number; with ``Response 1`` they are the sides.

    Args:
        reply: The text.
        finish: As in ``grade_text``.

    Raises:
        UnreadableReplyError: There is none.
    """
    whole = reply.strip()[:LONGEST]
    text = _uncut(whole, finish)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    forms = [
        [text],
        BRACKETED.findall(whole),
        _fields(text, CHOICES),
        FINALLY.findall(text),
        CALLED.findall(text),
        [*lines[:1], *lines[-1:]],
    ]
    return _first_form(forms, _side, whole)


def _uncut(text: str, finish: str) -> str:
    """What of a reply was ended by whoever wrote it.

    Raises:
        UnreadableReplyError: There is nothing to read.
    """
    if not text:
        raise UnreadableReplyError("empty reply")
    if finish == WHOLE:
        return text
    ended = text.rpartition("\n")[0].strip()
    if not ended and not BRACKETED.search(text):
        raise UnreadableReplyError(f"malformed reply: it was cut ({finish}) in its first line")
    return ended


def _side(part: str) -> str | None:
    """The preference that a few words state, or None."""
    compared = MORE.fullmatch(part)
    if compared is not None:
        left, sign, right = (one.casefold() for one in compared.groups())
        if left == right:
            return None
        return TIE if sign[0] in "=~≈" else left if sign[0] == ">" else right
    words = plain(part) if len(part) <= LONGEST_WORDS else ""
    if words in {TIE, THIRD} or SPELLINGS.get(words) == TIE:
        return TIE
    side = SIDE.fullmatch(words)
    if side is None:
        return SPELLINGS.get(words)
    return SIDES[side["named"] or side["bare"]]


def _first_form(forms: Sequence[Sequence[str]], read: Callable[[str], str | None], text: str) -> str:
    """What the first form states that states anything.

    Raises:
        UnreadableReplyError: None does, or it states two different verdicts.
    """
    for found in forms:
        stated = {one for part in found if (one := read(part)) is not None}
        if len(stated) > 1:
            raise UnreadableReplyError(f"malformed reply: it states {' and '.join(sorted(stated))}")
        if stated:
            return stated.pop()
    raise UnreadableReplyError(f"malformed reply: {' '.join(text.split())[:60]}")


def _fields(text: str, names: Sequence[str] = NAMES) -> list[str]:
    if "{" not in text:
        return []
    try:
        found = read_fields(text[text.index("{") : text.rindex("}") + 1], _no_form)
    except (UnreadableReplyError, ValueError):
        return []
    return [str(value) for name, value in found.items() if name.casefold() in names]


def _no_form(_: str) -> Mapping[str, object]:
    raise ValueError("read by hand")
