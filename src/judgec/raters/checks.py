"""Reads what a language model said of an answer piece by piece, and makes the further columns of judged rows of it.

A model writes a line a claim: ``supported | the claim | the sentence that decides``. Each is looked up in the item's
texts, so that a row says where it stands; a sentence that stands in none of them is kept, without a source. Of nuggets
it writes ``given | 2 | the sentence of the answer``. Where its lines cannot be read, nothing is known of the claims.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from judgec.evidence.reference_features import alternatives
from judgec.records.citation import cited_numbers, numbers_of
from judgec.records.claim import (
    CONTRADICTED,
    NOT_FOUND,
    NUGGETS,
    PARTLY,
    SUPPORTED,
    VITAL,
    CheckedClaim,
    CheckedNugget,
    Found,
    as_nugget,
    recall,
)
from judgec.records.label import FloatArray, Item

CLAIMS, CITATIONS = "checked_claims", "checked_citations"  # outputs of prompts; the first word of each is the family
COLUMNS = {CLAIMS: ("claims", "found_nuggets", "vital_recall", "nugget_recall"), CITATIONS: ("claims",)}
BEHIND = 12  # characters behind a sentence in which its mark may stand
MOST_LINES = 200  # of a reply that are read

_WORDS: Mapping[str, Found] = {
    **dict.fromkeys(("supported", "fully supported", "support", "entailed"), SUPPORTED),
    **dict.fromkeys(("contradicted", "contradicts", "contradiction", "refuted"), CONTRADICTED),
    **dict.fromkeys(("not found", "not supported", "unsupported", "not mentioned", "unknown"), NOT_FOUND),
}
_NUGGET_WORDS: Mapping[str, Found] = {
    **dict.fromkeys(("given", "met", "fully met", "fully given"), SUPPORTED),
    **dict.fromkeys(("partly", "partly given", "partly met", "partially", "partially met", "partial"), PARTLY),
    **dict.fromkeys(("missing", "not given", "not met", "unmet"), NOT_FOUND),
    **dict.fromkeys(("denied", "violated"), CONTRADICTED),
}
_NUMBERED = re.compile(r"(?:nugget|criterion)?\s*#?(\d{1,3})\b", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•]\s+|\(?\d{1,3}[.):]\s+)*")
_WRAPPING = " \t\"'“”‘’`*_<>"
_NOTHING = {"", "-", "–", "—", "none", "nothing", "n/a", "null"}
_WORD = re.compile(r"\w+")
_LONGEST = 2000  # characters of a claim or sentence that are looked up


def read_lines(said: str, words: Mapping[str, Found] = _WORDS) -> list[tuple[Found, str, str]]:
    """Verdict, claim and deciding sentence of each line that begins with one of the words; other lines are none."""
    found = []
    for line in said.splitlines()[:MOST_LINES]:
        verdict, _, rest = _BULLET.sub("", line).strip().strip("|").partition("|")
        word = words.get(" ".join(verdict.strip(_WRAPPING).lower().replace("_", " ").split()))
        claim, _, sentence = rest.partition("|")
        claim, sentence = claim.strip(_WRAPPING), sentence.strip().strip("|").strip(_WRAPPING)
        if word is not None and claim:
            found.append((word, claim, "" if sentence.lower() in _NOTHING else sentence))
    return found


def checked_by(kind: str, item: Item, said: str) -> list[CheckedClaim]:
    """A model's checks of an item, each claim and sentence with the place where it stands; empty: nothing readable.

    Args:
        kind: ``CLAIMS`` or ``CITATIONS``.
        item: What was checked.
        said: The model's lines.
    """
    lines, found, next_at = read_lines(said), list[CheckedClaim](), 0
    texts = _texts(kind, item) if lines else []
    answer = item.text("answer")
    for verdict, claim, sentence in lines:
        start, end = _place(claim, answer, next_at)
        next_at = max(next_at, start)
        source, number = next(
            ((name, n) for name, n, text in texts if sentence and _place(sentence, text)[0] >= 0), ("", 0)
        )
        if kind == CITATIONS:
            source, number = _cited(claim, answer[end : end + BEHIND] if end >= 0 else "", source, number)
        found.append(
            CheckedClaim(answer[start:end] if start >= 0 else claim, verdict, sentence, source, number, start, end)
        )
    return found


def nuggets_by(item: Item, said: str) -> tuple[CheckedNugget, ...]:
    """An item's nuggets with what a model said of each by its number; empty unless it said something of every one."""
    nuggets, found = list(map(as_nugget, item.texts(NUGGETS))), dict[int, CheckedNugget]()
    for verdict, which, sentence in read_lines(said, _NUGGET_WORDS) if nuggets else ():
        number = _NUMBERED.match(which)
        if number is not None and 1 <= (n := int(number[1])) <= len(nuggets):
            found.setdefault(n, CheckedNugget(nuggets[n - 1], verdict, sentence))
    return tuple(found[n] for n in sorted(found)) if len(found) == len(nuggets) else ()


def told_of(kind: str, items: Sequence[Item], said: Sequence[str]) -> dict[str, FloatArray]:
    """The numbers of the families ``evidence.model.TOLD``, a row an item; NaN where a model said nothing readable.

    Args:
        kind: ``CLAIMS`` or ``CITATIONS``.
        items: What was checked.
        said: The model's lines, one text an item.
    """
    nuggets = [nuggets_by(item, one) for item, one in zip(items, said, strict=True)]
    return {
        "told": _told_of_claims(kind, items, said),
        "rubric": np.array([*map(_told_of_nuggets, nuggets)]).reshape(-1, 4),
    }


def _told_of_nuggets(nuggets: tuple[CheckedNugget, ...]) -> tuple[float, ...]:
    if not nuggets:
        return (np.nan,) * 4
    verdicts = [one.verdict for one in nuggets]
    shares = [0.5 if share is None else share for share in (recall(nuggets), recall(nuggets, VITAL))]
    return (*shares, *(verdicts.count(verdict) / len(nuggets) for verdict in (PARTLY, CONTRADICTED)))


def _told_of_claims(kind: str, items: Sequence[Item], said: Sequence[str]) -> FloatArray:
    rows = []
    for item, one in zip(items, said, strict=True):
        claims = checked_by(kind, item, one)
        n = len(claims)
        if not n:
            rows.append((np.nan,) * 5)
            continue
        verdicts = [claim.verdict for claim in claims]
        quoted = sum(bool(claim.source) for claim in claims if claim.verdict != NOT_FOUND)
        decided = n - verdicts.count(NOT_FOUND)
        shares = (verdicts.count(verdict) / n for verdict in (SUPPORTED, CONTRADICTED, NOT_FOUND))
        rows.append((np.log1p(n), *shares, quoted / decided if decided else 1.0))
    return np.array(rows, dtype=np.float64).reshape(len(items), 5)


def details_of(kind: str, items: Sequence[Item], said: Sequence[str]) -> list[dict[str, object]]:
    """The further columns of the rows of some items; of lines that cannot be read they are None.

    Args:
        kind: ``CLAIMS`` or ``CITATIONS``.
        items: What was judged.
        said: The model's lines, one text an item; empty where none was asked.
    """
    found = []
    for item, lines in zip(items, said, strict=True):
        claims, nuggets = checked_by(kind, item, lines), nuggets_by(item, lines) if kind == CLAIMS else ()
        empty = not item.text("answer").strip()  # claims nothing, and gives no nugget
        nothing = empty or bool(nuggets) or lines.strip(_WRAPPING + ".-").lower() in _NOTHING - {""}
        row: dict[str, object] = {"claims": [one.to_json() for one in claims] if claims or nothing else None}
        if kind == CLAIMS:
            if empty and not nuggets:
                nuggets = tuple(CheckedNugget(as_nugget(text), NOT_FOUND) for text in item.texts(NUGGETS))
            row["found_nuggets"] = [one.to_json() for one in nuggets] if nuggets else None
            row["vital_recall"], row["nugget_recall"] = recall(nuggets, VITAL), recall(nuggets)
        found.append(row)
    return found


def no_details(kind: str) -> dict[str, object]:
    """The further columns of an item without a judgment."""
    return dict.fromkeys(COLUMNS[kind])


def _cited(claim: str, behind: str, source: str, number: int) -> tuple[str, int]:
    """The document that a sentence cites: the only one, or the one of several that the deciding sentence stands in."""
    numbers = cited_numbers(claim) or cited_numbers(behind.partition("\n")[0])
    return ("contexts", numbers[0]) if len(numbers) == 1 else (source, number)


def _texts(kind: str, item: Item) -> list[tuple[str, int, str]]:
    """Texts in which sentences are looked up: name of the input, which of its texts, and the text."""
    contexts = item.texts("contexts")
    if kind == CITATIONS:
        return [("contexts", number, contexts[place]) for place, number in enumerate(numbers_of(contexts))]
    reference = [("reference", n, text) for n, text in enumerate(alternatives(item.text("reference")), 1)]
    return [*reference, *(("contexts", n, text) for n, text in enumerate(contexts, 1))]


def _place(words: str, text: str, after: int = 0) -> tuple[int, int]:
    """Place of words in a text, whatever is between them and however they are capitalized; -1, -1 for nowhere."""
    said = _WORD.findall(words[:_LONGEST])
    if not said:
        return -1, -1
    pattern = re.compile(r"\W+".join(map(re.escape, said)), re.IGNORECASE)
    found = pattern.search(text, after) or pattern.search(text)
    return (-1, -1) if found is None else found.span()
