"""Reads replies to a prompt that asks for fields: behind markers, in JSON, or in lines that begin with their names."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from judgec.raters.decision import stated_grades
from judgec.raters.replies.grades import Grades
from judgec.raters.replies.objects import few, objects_in, pairs_of
from judgec.raters.replies.said import CUT, REFUSES, WHOLE, WRAPPING, UnreadableReplyError, no_verdict, said, short
from judgec.raters.replies.statements import TAKEN_BACK, led, stated
from judgec.raters.signatures import CONFIDENCE, REASON, REASONS
from judgec.records.label import FloatArray
from judgec.records.scale import Scale

PROSE = {*REASONS, "completed"}  # what stands in these fields is no verdict
HEADER = re.compile(
    r"(?P<line>^[ \t*_]{0,8})?\[\[ {0,2}#{1,3} {0,2}(?P<name>\w{1,60}) {0,2}#{1,3} {0,2}\]\]", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One reply.

    Args:
        positions: The stated grade of each aspect, as positions on the scale.
        probabilities: Of each grade, shape (n_aspects, n_grades); rows sum to 1.
        confidence: The stated confidence, 0-1; NaN when none was stated.
        reason: The stated reason.
    """

    positions: tuple[int, ...]
    probabilities: FloatArray
    confidence: float
    reason: str


def read_fields(text: str, finish: str = WHOLE, names: Sequence[str] = ()) -> dict[str, object]:
    """The output fields of a reply, wherever they stand.

    Args:
        text: The reply.
        finish: Why it ended. In one that was cut, a field that nothing follows may lack its end.
        names: The fields of the grades: their markers count within a line, too.

    Raises:
        UnreadableReplyError: When there is no field in the reply at all, or a field has two different values, or the
            reply was cut within a field that is no prose.
    """
    rest = said(text)
    known = {*names, *PROSE, CONFIDENCE} if names else set[str]()
    heads = [one for one in HEADER.finditer(rest) if one["line"] is not None or one["name"].casefold() in known]
    marked = [(head["name"].casefold(), value) for head, value in _behind(heads, rest)]
    wanted = {name for name, _ in marked if name in names or not names}
    if finish in CUT and marked:
        fields, last = _once(marked), marked[-1][0]
        if last == CONFIDENCE:
            del fields[last]
        elif last not in PROSE or not wanted:
            within = f"within {last}" if last in PROSE else f"before {last} ended"
            raise UnreadableReplyError(f"cut reply: it was cut ({finish}) {within}", final=True)
        return fields
    given = [] if wanted and not rest.startswith("{") else _given(rest, names)
    fields = _once([*given, *marked])
    if names and not set(names) & fields.keys():
        lines = _lines(rest, names)
        if marked or {name for name, _ in lines} - PROSE:  # "SCORE: 5", "REASON: ...": no form of this judge's
            fields = _once([*marked, *lines]) or fields
    if not fields:
        raise no_verdict(text, rest, finish)
    return fields


def _given(text: str, names: Sequence[str]) -> list[tuple[str, object]]:
    """Fields of the objects of JSON in a reply, in a block of code or not; none where the rest of it refuses."""
    spans = list(few(objects_in(text)))
    found = [(name.casefold(), value) for start, end in spans for name, value in pairs_of(text[start:end], nested=True)]
    if names and not {name for name, _ in found} & {*names}:
        return []
    if spans and (REFUSES.search(text[: spans[0][0]]) or REFUSES.search(text[spans[-1][1] :])):
        raise UnreadableReplyError(f"refusal: {short(text)}")
    return found


def _lines(text: str, names: Sequence[str]) -> list[tuple[str, object]]:
    """Fields in lines that begin with their names, or below them: ``grade: 4``, ``## grade``."""
    known = {re.sub(r"[ _-]", "_", name.casefold()): name for name in (*names, *REASONS, CONFIDENCE)}
    listed = "|".join(re.escape(name).replace("_", "[ _-]") for name in known.values())
    pattern = re.compile(rf"^[ \t#*_>-]{{0,8}}({listed})[*_ \t]{{0,4}}(?:[:：=]|$)", re.IGNORECASE | re.MULTILINE)
    heads = list(pattern.finditer(text))
    return [(known[re.sub(r"[ _-]", "_", head[1].casefold())], value) for head, value in _behind(heads, text)]


def _behind(heads: Sequence[re.Match[str]], text: str) -> list[tuple[re.Match[str], str]]:
    """The text behind each head, up to the next one."""
    ends = [*(one.start() for one in heads[1:]), len(text)]
    return [(one, text[one.end() : end].strip(" \t\r\n")) for one, end in zip(heads, ends, strict=False)]


def _once(stated_fields: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Each field with its value; of prose, the first one.

    Raises:
        UnreadableReplyError: For two different values: one of them may be a forged verdict that the reason quotes.
    """
    seen: dict[str, object] = {}
    for name, value in stated_fields:
        first = seen.setdefault(name, value)
        if name not in PROSE and str(first).strip(WRAPPING) != str(value).strip(WRAPPING):
            raise UnreadableReplyError(f"malformed reply: {short(name)} stated twice, differently")
    return seen


def read_form(
    text: str,
    names: Sequence[str],
    scale: Scale,
    distributions: Mapping[str, FloatArray],
    finish: str = WHOLE,
    *,
    texts: Callable[[], Sequence[str]] | None = None,
    form: str | None = None,
) -> Verdict:
    """The verdict in a reply to a prompt that asks for fields; of one grade alone in whatever form it comes.

    Args:
        text: The reply.
        names: The grade field of each aspect.
        scale: The judge's scale.
        distributions: As ``read_verdict``.
        finish: Why it ended.
        texts: As ``stated``.
        form: The verdict's own, as ``stated``: it and the fields are read, and no other statement.

    Raises:
        UnreadableReplyError: There is none.
    """
    if form is not None:
        with suppress(UnreadableReplyError):
            grade = stated(text, scale, finish, texts=texts, form=form)
            return read_verdict({REASON: said(text), names[0]: grade}, names, scale, distributions)
        return read_verdict(read_fields(text, finish, names), names, scale, distributions)
    try:
        fields: Mapping[str, object] = read_fields(text, finish, names)
    except UnreadableReplyError as error:
        if (
            len(names) > 1
            or not str(error).startswith(("malformed reply: ", "cut reply: it ended"))
            or "twice" in str(error)
        ):
            raise
        fields = {names[0]: stated(text, scale, finish, names=names, texts=texts), REASON: said(text)}
    if len(names) == 1 and not {*names, *REASONS} & fields.keys():  # of another form
        with suppress(UnreadableReplyError):
            grade = stated(text, scale, finish, names=names, texts=texts)
            fields = {REASON: said(text), **fields, names[0]: grade}
    return read_verdict(fields, names, scale, distributions)


def read_verdict(
    fields: Mapping[str, object], names: Sequence[str], scale: Scale, distributions: Mapping[str, FloatArray]
) -> Verdict:
    """The verdict in the fields of a reply.

    Args:
        fields: From ``read_fields``.
        names: The grade field of each aspect.
        scale: The judge's scale.
        distributions: From log-probabilities, keyed by grade field, shape (n_grades,). A grade without one
            has probability 1: a stated confidence is none until experts' labels say what it is worth.

    Raises:
        UnreadableReplyError: When a grade is missing or off the scale.
    """
    positions = []
    probabilities = np.zeros((len(names), len(scale.grades)))
    for row, name in enumerate(names):
        if name not in fields:
            raise UnreadableReplyError(f"malformed reply: no {name}; got {', '.join(fields)}")
        stands = positions_in(fields[name], scale)
        if not stands:
            raise UnreadableReplyError(f"off-scale grade: {name} {short(str(fields[name]))!r}")
        probabilities[row, list(stands)] = 1 / len(stands)
        positions.append(stands[0] if len(stands) == 1 else int(stated_grades(probabilities[row : row + 1], scale)[0]))
        if len(stands) == 1 and name in distributions:
            probabilities[row] = distributions[name]
    return Verdict(
        positions=tuple(positions),
        probabilities=probabilities,
        confidence=read_confidence(fields.get(CONFIDENCE)),
        reason=str(next((fields[name] for name in REASONS if name in fields), "")).strip(" \t\r\n*"),
    )


def read_grade(value: object, scale: Scale) -> int | None:
    """Position of the grade that a field or a cell states, or None when it is not on the scale."""
    found = positions_in(value, scale)
    return found[0] if len(found) == 1 else None


def positions_in(value: object, scale: Scale) -> tuple[int, ...]:
    """The same; the two neighbours where it lies half way between them.

    A grade alone, a grade with a comment, or a whole reply that stands there.
    """
    if value is None or isinstance(value, bool):
        return ()
    grades, text = Grades(scale), said(str(value))
    grade = grades.alone(text) or led(text, grades, TAKEN_BACK)
    if grade is None and isinstance(value, str):
        try:
            grade = stated(value, scale)
        except UnreadableReplyError:
            return ()
    return () if grade is None else grades.places(grade)


def read_confidence(value: object) -> float:
    """A stated confidence of 0-100 as 0-1; NaN when it is missing or anything else.

    Between 0 and 1 it may be a percentage or a fraction, so it counts as not stated.
    """
    written = re.fullmatch(r"\d+(\.\d+)?", str(value).strip(WRAPPING + "%"))
    percent = float(written.group()) if written else math.nan
    return percent / 100 if percent == 0 or 1 <= percent <= 100 else math.nan
