"""Citations by number in an answer, such as ``[2]``: found, and written anew where documents get other numbers.

Read are ``[1]``, ``[1, 3]``, ``[1][3]``, ``[1-3]``, ``[1]-[3]``, ``[see 2, p. 5]``, ``【1†source】``, ``[doc 2]``,
``(doc 2)``, ``(sources 1 and 3)`` and footnotes ``[^2]`` without a text of their own; of an agent that declares another
form, that form alone. Code, formulas, indices (``a[1]``), intervals (``x ∈ [1, 2]``) and years are no citations.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

NUMBER_HERE = "{n}"  # in a declared form: where the number stands
MISSING, NOT_SHOWN = "missing", "not shown"

_WORDS = r"(?:documents?|docs?|sources?|passages?|contexts?|chunks?|refs?|dokumente?|quellen?)"
_GAP = r"\s{0,3}"  # bounded, like all below that a text could make long
_NUMBER = r"\d{1,3}(?!\d)"
_JOINT = rf"{_GAP}(?:[,;](?:{_GAP}(?:and\b|und\b|&))?|[–—‐‑-]|&|\band\b|\bund\b){_GAP}"
_WORD = rf"{_WORDS}\.?{_GAP}[#:]?{_GAP}"
_ONE = rf"(?:{_WORD})?{_NUMBER}"
_APART = r"\][–—‐‑-]\["  # a span of two marks
_LIST = rf"{_ONE}(?:(?:{_JOINT}|{_APART}){_ONE})*"
_LEAD = r"(?:(?:see|cf\.?|e\.g\.?,?|from|siehe|vgl\.?|source:|quelle:)\s{1,3})?"
_PAGE = rf"{_GAP}[,:]{_GAP}(?:pp?|pages?|seiten?|s|§|sec|sections?|ch|chapters?)\b\.?{_GAP}[\w.–-]{{1,12}}"
_PLACE = rf"(?:{_PAGE}|†[\w.–-]{{1,20}})?"
_MARK = re.compile(
    rf"""
    (?P<other>                                                # code and formulas, as far as they go
        ^[ \t]*(?P<fence>`{{3,}}|~{{3,}})[^\n]*$ .*? (?:^[ \t]*(?P=fence)|\Z)
      | (?<!`)(?P<tick>`+)(?!`)(?:(?!\n[ \t]*\n).){{1,2000}}?(?<!`)(?P=tick)(?!`)
      | <(?P<tag>code|pre|math|kbd|script)\b.{{0,4000}}?<\/(?P=tag)\s*>
      | \$\$.{{1,2000}}?\$\$
      | \\\[(?!{_GAP}\d[\d,;\s–-]{{0,40}}\\?\]).{{1,2000}}?\\\]
      | \\\(.{{1,1000}}?\\\)
      | \\begin\{{(?P<begun>[\w*]{{1,20}})\}}.{{0,4000}}?\\end\{{(?P=begun)\}}
      | (?<![\\\w$])\$(?![\s$]|\^\{{?\[\d)(?:[^$\n\\]|\\.|\n(?!\s*\n)){{1,500}}?(?<!\s)\$(?![\d$])
    )
    | (?P<note>\[\^)(?P<footnote>{_NUMBER})\](?P<text>:)?
    | (?P<square>\\?\[|【){_GAP}(?P<lead>{_LEAD})(?P<cited>{_LIST})(?P<place>{_PLACE}){_GAP}(?P<squared>\\?\]|】)
    | (?P<round>\(){_GAP}(?P<lead_>{_LEAD})(?={_WORDS})(?P<cited_>{_LIST})(?P<place_>{_PLACE}){_GAP}(?P<rounded>\))
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_DEFINED = re.compile(r"^[ \t]*\[\^(\d{1,3})\]:", re.MULTILINE)
_WORD_BEFORE = re.compile(_WORD, re.IGNORECASE)
_SPAN = re.compile(rf"({_NUMBER})(?:{_APART}|{_GAP}[–—‐‑-]{_GAP}(?:{_WORD})?)({_NUMBER})", re.IGNORECASE)
_OWN_NUMBER = re.compile(r"\s*\[(\d{1,3})\]\s")

# What makes brackets an index, an image or a set of numbers; a name that is no more than a word is the text's.
_NEAR = 40  # characters before brackets that are looked at
_NAME = re.compile(r"(?:(?<=\\)|(?<![\w.\\]))[A-Za-z\u0370-\u03ff_$][\w$]*(?:\.[A-Za-z_]\w*)*\Z")
_INDEXED = re.compile(r"[a-z\u03b1-\u03c9]\d*\Z|.*[_$]|(?:arr|args|argv|vec|tmp|idx|ptr|buf)\d*\Z")
_CALL = re.compile(r"(?<!\w)[a-z_]\w*\((?!e?s\))[^()\s]*\)\Z")
_USED = re.compile(r"\s{0,3}(?:[-+*/]?=|[<>]=?\s?\d|[≤≥≠]|!=)|\.[a-z_]\w*[\[(=]")
_SET_BEFORE = re.compile(r"(?:[∈∉=×∪∩⊂⊆≤≥≈±]|\\[a-zA-Z]+|[\"']\w+[\"']\s?:)\s?\Z")
_SET_WORD = re.compile(r"\b(?:interval|range|domain|intervall|bereich)s?(?:\s(?:of|from|is|von))?\s?\Z", re.IGNORECASE)
_SET_BEHIND = re.compile(r"\s?[×∪∩⊂⊆∈]|\^[\w{]")


class Cited(NamedTuple):
    """The document that a number cites.

    Args:
        number: Its number where the answer is shown.
        shown: False for one that is known and left out there.
    """

    number: int
    shown: bool = True


@dataclass(frozen=True, slots=True)
class CitationMark:
    """One mark in an answer, such as ``[1, 3]``.

    Args:
        start: Where it begins.
        end: Where it ends.
        numbers: What it cites, in its order, each once.
        form: The mark with ``{n}`` for its numbers.
        place: The part of ``form`` that is about the first of several marks alone: a page.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    form: str
    place: str = ""


def marks(answer: str, form: str = "") -> Iterator[CitationMark]:
    """The marks that may cite, in order; whether there is such a document is not asked.

    Args:
        answer: The text.
        form: In which its agent says that it cites, with ``{n}`` for the number; empty for the usual ones.
    """
    if form:
        yield from _declared(answer, form)
        return
    if not any(sign in answer for sign in "[(【"):
        return
    defined = {int(one[1]) for one in _DEFINED.finditer(answer)} if "[^" in answer else set()
    index_end = -1
    for found in _MARK.finditer(answer):
        if found["other"] is not None:
            continue
        if found["note"] is not None:
            if found["text"] is None and int(found["footnote"]) not in defined:
                yield CitationMark(found.start(), found.end(), (int(found["footnote"]),), f"[^{NUMBER_HERE}]")
            continue
        kind = "" if found["square"] is not None else "_"
        if not kind and (found.start() == index_end or _no_citation(answer, found.start(), found.end())):
            index_end = found.end()
            continue
        cited = found[f"cited{kind}"]
        if numbers := _numbers(cited):
            word = _WORD_BEFORE.match(cited)
            head = (found["square"] or found["round"]) + found[f"lead{kind}"] + (word[0] if word else "")
            tail = found["squared"] or found["rounded"]
            place = found[f"place{kind}"]
            yield CitationMark(found.start(), found.end(), numbers, f"{head}{NUMBER_HERE}{place}{tail}", place)


def renumbered(answer: str, documents: Mapping[int, Cited], form: str = "") -> str:
    """The answer with its citations by other numbers.

    ``[1, 3]`` becomes ``[2, 5]``. A document that is left out is cited as ``[6: not shown]``; a number without a
    document stays and is called missing, ``[9: missing]``, so that it cites no other one. 0 is a number of documents
    only where one has it.

    Args:
        answer: As its agent wrote it.
        documents: What each of the agent's own numbers cites.
        form: As in ``marks``.
    """
    parts, end = [], 0
    for mark in marks(answer, form):
        if 0 in mark.numbers and 0 not in documents:
            continue
        parts += [answer[end : mark.start], _anew(mark, answer[mark.start : mark.end], documents)]
        end = mark.end
    return "".join([*parts, answer[end:]])


def own_numbers(documents: Sequence[str]) -> list[int] | None:
    """The numbers at the beginning of the documents, ``[7] text``; None where one has none or two have the same."""
    own = [_OWN_NUMBER.match(text) for text in documents]
    numbers = [int(one[1]) for one in own if one is not None]
    return numbers if documents and len(set(numbers)) == len(documents) else None


def numbers_of(documents: Sequence[str]) -> list[int]:
    """The number that cites each document: that at their beginning where all have one, else their place."""
    return own_numbers(documents) or list(range(1, len(documents) + 1))


def without_number(document: str) -> str:
    """The document without the number at its beginning."""
    return _OWN_NUMBER.sub("", document, count=1) if _OWN_NUMBER.match(document) else document


def _anew(mark: CitationMark, text: str, documents: Mapping[int, Cited]) -> str:
    known = [documents[number] for number in mark.numbers if number in documents]
    missing = [number for number in mark.numbers if number not in documents]
    if not missing and [one.number for one in known] == list(mark.numbers) and all(one.shown for one in known):
        return text
    shown = list(dict.fromkeys(str(one.number) for one in known if one.shown))
    hidden = list(dict.fromkeys(f"{one.number}: {NOT_SHOWN}" for one in known if not one.shown))
    lost = [f"{said}: {MISSING}" for said in _spans(missing)]
    first, *others = [*([", ".join(shown)] if shown else []), *hidden, *lost]
    bare = mark.form.replace(mark.place, "", 1) if mark.place else mark.form
    return mark.form.replace(NUMBER_HERE, first, 1) + "".join(bare.replace(NUMBER_HERE, one, 1) for one in others)


def _spans(numbers: Sequence[int]) -> list[str]:
    """Numbers in words, three and more in a row as a span."""
    rows: list[list[int]] = []
    for number in numbers:
        if rows and number == rows[-1][-1] + 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    return [said for row in rows for said in ([f"{row[0]}-{row[-1]}"] if len(row) > 2 else map(str, row))]


def _numbers(said: str) -> tuple[int, ...]:
    """In the order of the text, each once; empty where a span runs backwards or a number is of no document."""
    numbers: list[int] = []
    end = 0
    for span in (*_SPAN.finditer(said), None):
        numbers += map(int, re.findall(r"\d+", said[end : len(said) if span is None else span.start()]))
        if span is not None:
            low, high, end = int(span[1]), int(span[2]), span.end()
            if low > high:
                return ()
            numbers += range(low, high + 1)
    return tuple(dict.fromkeys(numbers))


def _no_citation(answer: str, start: int, end: int) -> bool:
    """True if the brackets there are an index, an image or a set of numbers."""
    before = answer[max(0, start - _NEAR) : start]
    if before.endswith("!") and answer.startswith("(", end):
        return True
    if name := _NAME.search(before):
        leading = before[: name.start()]
        if leading.endswith("\\") or _INDEXED.match(name[0]) or leading.rstrip().endswith("="):
            return True
        return _USED.match(answer, end) is not None
    several = any(sign in answer[start:end] for sign in ",;-–")
    is_set = _SET_BEFORE.search(before) or _SET_BEHIND.match(answer, end) or (several and _SET_WORD.search(before))
    return bool(is_set or _CALL.search(before))


def _declared(answer: str, form: str) -> Iterator[CitationMark]:
    head, _, tail = form.partition(NUMBER_HERE)
    several = rf"{_NUMBER}(?:{_JOINT}{_NUMBER})*" if tail else _NUMBER  # without an end a list would go on in the text
    before, behind = (_GAP.join(map(re.escape, part.split())) for part in (head, tail))
    edge = r"(?<!\w)" if (head or NUMBER_HERE)[0].isalnum() or not head else ""
    for found in re.finditer(rf"{edge}{before}{_GAP}({several}){_GAP}{behind}", answer, re.IGNORECASE):
        if numbers := _numbers(found[1]):
            around = found[0].partition(found[1])
            yield CitationMark(found.start(), found.end(), numbers, f"{around[0]}{NUMBER_HERE}{around[2]}")
