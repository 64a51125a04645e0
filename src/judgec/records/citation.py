"""Citations in an answer: in the form that its agent declares, written anew by the names of documents in a prompt.

A form has one of ``{n}`` (a number from 1), ``{n0}`` (from 0) and ``{id}`` (a document's), ``{*}`` for what varies, and
begins and ends with a sign: ``[{n}]``, ``[^{n}]``, ``【{*}:{n0}†{*}】``, ``[{id}]``. In the place of one there may be
several: ``[1, 3]``, of numbers also spans, ``[1-3]``. Nothing in fenced code or back-ticks is a citation.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

SQUARE = "[{n}]"  # the form of judgec's own agents, and of --has-citations
FROM_0, BY_ID, VARIED = "{n0}", "{id}", "{*}"
NOT_SHOWN, NO_DOCUMENT = "not shown", "no such document"
MOST_IN_SPAN = 50  # of one mark: [1-999] is no citation of them all

_NUMBER = r"\d{1,3}(?!\d)"
_NUMBERS = rf"{_NUMBER}(?:\s{{0,3}}[,;–-]\s{{0,3}}{_NUMBER}){{0,199}}"
_SQUARE = re.compile(rf"\[\s*({_NUMBERS})\s*\]")
_SPAN = re.compile(r"(\d+)\s*[–-]\s*(\d+)|(\d+)")
_PLACE = re.compile(r"(\{n0?\}|\{id\})")
_CODE = r"""(?mxs:
    ^[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*$
        .*? (?:^[ \t>]*(?P=fence)[`~]*[ \t\r]*$|\Z)
  | (?<!`)(?P<tick>`+)(?!`)(?:(?!\n[ \t\r]*\n).){1,2000}?(?<!`)(?P=tick)(?!`)
)"""
_OURS = re.compile(r"([\[【])(?=\\*\s*(?:P\s*\d|not\s+shown|no\s+such\s+document))", re.IGNORECASE)
_LEFT = re.compile(r"[\[【]\^?(?:[^\W\d_]|[\s.†#:])*\d{1,3}(?:[^\W\d_]|[\s.†#:])*[\]】]")
_OWN_NUMBER = re.compile(r"\s*\[(\d{1,3})\]\s")


def form_fault(form: str) -> str:
    """Says what is wrong with a declared form; empty for a valid one."""
    parts = _PLACE.split(form)
    if len(parts) == 3 and all(map(str.strip, parts)) and not (form.startswith(VARIED) or form.endswith(VARIED)):
        return ""
    return (
        f"{form!r}; valid is one of {{n}} (a number from 1), {FROM_0} (from 0) and {BY_ID} (in passage_ids), with "
        f"{VARIED} for what varies, and a sign at both ends, such as {SQUARE} or 【{VARIED}:{FROM_0}†{VARIED}】"
    )


def marks(answer: str, form: str, known: Mapping[str, object]) -> Iterator[tuple[int, int, list[str]]]:
    """Beginning and end of each mark, and the numbers or ids that it says, each once; of code none.

    Args:
        answer: As its agent wrote it.
        form: In which it cites.
        known: By the number or id of each of the agent's documents. An id of none of them is read as one where it has
            a figure and no white space, so that ``[sic]`` is none.
    """
    head, place, tail = _PLACE.split(form)
    ends = re.escape(re.sub(r"\w", "", form[0] + form[-1]))
    varied = f"[^\n{ends}]{{0,80}}?"
    fixed = (r"\s{0,3}".join(map(re.escape, part.split())) for part in (head, tail))
    before, behind = (f"(?i:{part.replace(re.escape(VARIED), varied)})" for part in fixed)
    ids = [*map(re.escape, sorted(filter(None, known), key=len, reverse=True))]
    year = "" if any(map(str.isdecimal, known)) else rf"(?!\d+(?![^\s,;{ends}]))"  # (1998) is none where ids are words
    one = "|".join([*ids, rf"{year}(?=[^\s,;{ends}]{{0,200}}\d)[^\s,;{ends}]{{1,200}}"])
    whole = rf"(?>(?:{one})(?=\s{{0,3}}(?:[,;]|{behind})))"  # taken once, or a long list would be read in 2^n ways
    several = rf"{whole}(?:\s{{0,3}}[,;]\s{{0,3}}{whole}){{0,199}}" if place == BY_ID else _NUMBERS
    edge, cut = r"(?<!\w)" if head[0].isalnum() else "", r"(?<!\d)" if head.endswith(VARIED) else ""
    for found in re.finditer(rf"{_CODE}|{edge}{before}\s{{0,3}}{cut}(?P<said>{several})\s{{0,3}}{behind}", answer):
        said = found["said"] or ""
        numbers = re.findall(rf"(?:{one})(?=\s*(?:[,;]|\Z))", said) if place == BY_ID else [*map(str, _numbers(said))]
        if not said or (numbers and (place != "{n}" or "0" not in numbers or "0" in known)):
            yield found.start(), found.end(), list(dict.fromkeys(numbers))


def renamed(answer: str, form: str, names: Mapping[str, Sequence[str]]) -> str:
    """The answer with its marks by the names that documents have where it is shown.

    Args:
        answer: As its agent wrote it.
        form: In which it cites.
        names: Of the agent's documents, by the number or id that cites them; ``NOT_SHOWN`` for what is left out.
    """
    parts, end = [], 0
    for start, behind, said in marks(answer, form, names):
        if said:
            anew = dict.fromkeys(name for one in said for name in names.get(one, (NO_DOCUMENT,)))
            parts += [armed(answer[end:start]), *(f"[{name}]" for name in anew)]
            end = behind
    return "".join([*parts, armed(answer[end:])])


def armed(text: str) -> str:
    r"""The text with what looks like a name of ours, ``[P1]``, written ``[\P1]``."""
    return _OURS.sub(r"\1\\", text)


def unread(answer: str, form: str, known: Mapping[str, object]) -> list[str]:
    """Brackets with a number and beside it nothing but words that are no mark of the form."""
    read = [(0, 0), *((start, end) for start, end, _ in marks(answer, form, known)), (len(answer), 0)]
    return [one for (_, end), (start, _) in pairwise(read) for one in _LEFT.findall(answer, end, start)]


def cited_numbers(text: str) -> list[int]:
    """All numbers that marks such as ``[1, 3]`` of a text cite, ascending."""
    return sorted({number for mark in _SQUARE.finditer(text) for number in _numbers(mark[1])})


def _numbers(said: str) -> list[int]:
    """In the order of the text; none where a span runs backwards."""
    spans = [(int(low or alone), int(high or alone)) for low, high, alone in _SPAN.findall(said)]
    forwards = all(low <= high for low, high in spans)
    return [n for low, high in spans for n in range(low, min(high, low + MOST_IN_SPAN) + 1) if forwards]


def own_numbers(documents: Sequence[str]) -> list[int] | None:
    """The numbers at the beginning of the documents, ``[7] text``; None where one has none or two have the same."""
    own = [_OWN_NUMBER.match(text) for text in documents]
    numbers = [int(one[1]) for one in own if one is not None]
    return numbers if documents and len(set(numbers)) == len(documents) else None


def numbers_of(documents: Sequence[str]) -> list[int]:
    """The number that cites each document: that at their beginning where all have one, else their place."""
    return own_numbers(documents) or list(range(1, len(documents) + 1))
