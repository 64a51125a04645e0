"""Reads any reply: a grade on the scale, or the reason why there is none.

One set of rules for every task (numbers, words, a / b / tie) and every path: the compiled form, JSON, ``--live``,
exported judges, cells of a file. Reasoning goes first, then what is only quoted. Of what remains ``FORMS`` says in
which order statements count; a grade is never guessed: two that differ, another scale's ``4/10``, a grade that its
comment takes back (``refusals.TABLE``) are none. Windows and repetitions are bounded, so that reading takes time by
the reply's length, whatever it holds.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from judgec.judges.decision import stated_grades
from judgec.judges.refusals import refuses, takes_back
from judgec.judges.signatures import CONFIDENCE, GRADE, REASON, REASONS
from judgec.records.label import FloatArray
from judgec.records.scale import Scale
from judgec.tasks.preference import SPELLINGS
from judgec.tasks.registry import plain
from judgec.tasks.spec import PAIR_GRADES

WHOLE = "stop"  # why a reply ended that says all that it was to say
CUT = {"length", "max_tokens", "model_length"}  # why one ended that does not
LONGEST = 1 << 20  # characters that are read, from the end
LONGEST_VALUE = 200  # characters of a grade with a comment; more is an essay
SHOWN = 60  # characters of a bad reply in the reason
AROUND = 160  # characters before and behind a statement that may belong to it
MOST_PLACES = 2_000  # where a verdict may be stated, of one form
MOST_SPANS = 200  # different statements that are looked up in the item's texts
PROSE = {*REASONS, "completed"}  # what stands in these fields is no verdict

OFF_SCALE = "recorded grade off the scale"
UNREAD = ("malformed reply", "off-scale grade", OFF_SCALE)  # how reasons begin of verdicts that are there, and not read

INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\ufeff"
UNSEEN = re.compile(f"[{INVISIBLE}]")
WRAPPING = " \t\r\n\u00a0\"'`*_$“”„«»「」" + INVISIBLE
FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0x2212: 0x2D}
HIDDEN = "\ue000"  # stands for each character that is only quoted


def is_unread(reason: str) -> bool:
    """Whether an unscored row has a verdict that could not be read, rather than none: no refusal and no failure."""
    return reason.startswith(UNREAD)


class UnreadableReplyError(Exception):
    """A reply without a verdict; the message becomes the reason of an unscored row.

    Args:
        message: Its kind, a colon, what was seen.
        final: Asking again is of no use.
    """

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


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


# ---- What is no part of a reply: reasoning, marks of its end ----

_THINK = r"(?:seed:)?(?:think|thinking|thoughts?)"
_ASIDE = r"reasoning|reflection|scratchpad|analysis|inner_monologue"
# A model's own marks: all before the last closing one is reasoning, also where the template ate the opening one.
CLOSED = re.compile(
    rf"</{_THINK}>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|/think|END_THINKING)\|>|<\|END_THINKING\|>", re.IGNORECASE
)
OPENED = re.compile(rf"<{_THINK}>|\[THINK\]|◁think▷|<\|(?:begin_of_thought|think|START_THINKING)\|>", re.IGNORECASE)
ASIDE_CLOSED = re.compile(rf"</(?:{_ASIDE})>", re.IGNORECASE)
ASIDE_OPENED = re.compile(rf"<(?:{_ASIDE})>", re.IGNORECASE)
CHANNEL = re.compile(r"<\|channel\|>\s{0,3}(\w{1,20})[^<\n]{0,40}<\|message\|>")
LEAKED = re.compile(r"\A\s{0,9}analysis(?=[A-Z\s])")  # the same where the server dropped the marks
LEAKED_FINAL = "assistantfinal"
_MARK = (
    r"<[|｜][^<>|｜\n]{1,40}[|｜]>|</?s>|<eot>|<eos>|<bos>|<pad>|<(?:start|end)_of_turn>|<turn\|>"
    r"|\[/?INST\]|\[EO[ST]\]|\[gMASK\]|<sop>|<eop>"
)
EDGE = rf"(?:\s|[{INVISIBLE}]|{_MARK})"
BEGINS, MARKED = re.compile(rf"\A{EDGE}{{1,64}}"), re.compile(_MARK)
END_OF_TURN = re.compile(
    r"<[|｜](?:im_end|eot_id|end|endoftext|end_of_text|eom_id|return|call|end▁of▁sentence|im_start|user|endofturn"
    r"|END_OF_TURN_TOKEN)[|｜]>|<eot>|<eos>|<end_of_turn>|<turn\|>"
)
STRUCK = re.compile(r"~~[^~\n]{1,400}~~|<(del|strike)>[^<\n]{0,400}</\1>|<s>[^<\n]{1,400}</s>(?=\s*\S)", re.IGNORECASE)


def said(text: str) -> str:
    """What a reply says: without its reasoning, marks of its end, and what is invisible at its edges.

    Empty where there is reasoning alone.
    """
    channels = list(CHANNEL.finditer(text))
    if channels:
        last = next((one for one in reversed(channels) if one[1] == "final"), None)
        text = "" if last is None else text[last.end() :]
    elif LEAKED.match(text) and LEAKED_FINAL in text:
        text = text[text.rindex(LEAKED_FINAL) + len(LEAKED_FINAL) :]
    text = _spoken(text)
    opened = BEGINS.match(text)
    text = text[opened.end() :] if opened else text
    turn = END_OF_TURN.search(text)
    text = text[: turn.start()] if turn else text
    text = text.rstrip(INVISIBLE + " \t\r\n\u00a0")
    while (mark := MARKED.search(text, max(0, len(text) - 60))) and mark.end() == len(text):
        text = text[: mark.start()].rstrip(INVISIBLE + " \t\r\n\u00a0")
    return text


def _spoken(text: str) -> str:
    """A text without reasoning in tags."""
    closings, opening = list(CLOSED.finditer(text)), OPENED.search(text)
    if closings:
        before = text[: opening.start()] if opening and opening.start() < closings[-1].start() else ""
        rest = text[closings[-1].end() :]
        again = OPENED.search(rest)
        rest = rest[: again.start()] if again else rest
        text = rest if rest.strip() else before
    elif opening:
        text = text[: opening.start()]
    asides, first = list(ASIDE_CLOSED.finditer(text)), ASIDE_OPENED.search(text)
    if asides:
        before = text[: first.start()] if first and first.start() < asides[-1].start() else ""
        return before + text[asides[-1].end() :]
    return text[: first.start()] if first and text[: first.start()].strip() else text


# ---- A grade as it is written ----

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = rf"(?P<number>[-+]?\d{{1,30}}(?:[.,]\d{{1,30}})?|\b(?:{'|'.join(WORDS)})\b)"
_WHOLE = r"(?:a\s{1,3})?(?:possible\s{1,3}|maximum\s{1,3}(?:of\s{1,3})?)?(?P<most>\d{1,9}(?:\.0{1,9})?)(?![\d.]*\d)"
_WRAP = r"[\s*_`)\"'”]{0,4}"
_OF = rf"(?:{_WRAP}(?:/|\bout\s{{1,3}}of\b|\b(?:of|von|sur|sobre|de|su|van|av|z|из)\b)\s{{0,3}}[*_`(]{{0,3}}{_WHOLE})"
_PERCENT = r"(?P<percent>\s{0,2}(?:%|percent\b|per\s?cent\b|Prozent\b|por\s?ciento\b|pour\s?cent\b))"
_UNIT = (
    r"(?P<unit>[\s-]{0,2}(?:stars?|points?|pts?|marks?|Punkten?|Sternen?|puntos|points|punti|pontos)\b|[分点점]|つ?星)"
)
VALUE = re.compile(
    rf"(?<![\w.,/])(?<!\d\s[-–]){_NUMBER}(?![A-Za-z0-9_²³¹¼-¾⅐-⅞])(?:{_OF}|{_PERCENT})?{_UNIT}?", re.IGNORECASE
)
MORE_NUMBER = re.compile(
    r"[.,]\d|[ \t]{0,2}[-–—~][ \t]{0,2}\d|[ \t]{1,3}(?:to|or|bis|oder|and|und|à|ou|o|y|et|a)[ \t]{1,3}\d|/\d"
    r"|[ \t]{0,2}[/&;][ \t]{0,2}\d",
    re.IGNORECASE,
)
# "4 (good)", "4: good", "4 - good".
COMMENT = re.compile(r"\s{0,3}(?:\(|[:：;,]\s|[-–—]\s)\s{0,3}(?P<comment>[^\W\d].*)", re.DOTALL)
# A number in a comment that counts something (2 of 3 valves) is no second grade.
COUNTED = re.compile(
    r"\d{1,9}(?:[.,]\d{1,9})?(?:\s{0,2}(?:/|of|out of)\s{0,2}(?:the\s)?\d{1,9})?%?\s{1,2}(?!(?:or|to|and|but|is|was"
    r"|would|rather|instead|"
    r"points?|stars?|marks?|because|since|seems?|may|might|could|should|then|if|max)\b)[^\W\d_]"
    r"|[^\W\d_]\s{0,2}[:=]\s{0,2}\d{1,9}(?:/\d{1,9}|%)?"
    r"|\[\d{1,4}\]",
    re.IGNORECASE,
)
LABELLED_ON = re.compile(r"[:=]\s{0,3}[*_]{0,3}\d|\[\[")  # a further statement follows in the line
LITERAL = re.compile(r"Literal\[\s{0,3}([^\[\]]{1,60}?)\s{0,3}\]")
OTHER_SCALE = re.compile(
    r"\b(?:scale|range|skala|escala|échelle)\b[^\d\n]{0,12}\d{1,4}\s{0,3}(?:-|–|—|to|bis|a|à|through"
    r"|\.\.)\s{0,3}(\d{1,9})"
    r"|\bout\s{1,3}of\s{1,3}(?:a\s{1,3})?(?:possible\s{1,3}|maximum\s{1,3}"
    r"|total\s{1,3})?(?:of\s{1,3})?(\d{1,9})(?!\s{0,2}[\w%])"
    r"|\((?:from\s{1,3})?\d{1,4}\s{0,3}(?:-|–|to|bis)\s{0,3}(\d{1,9})\)|\(/?(?:max\.?|of|von)?\s{0,2}(\d{1,9})\)",
    re.IGNORECASE,
)

SIDE = re.compile(
    r"(?:the_)?(?:(?:assistant|answer|response|model|system|output|candidate|option|antwort|respuesta"
    r"|reponse)_?(?P<named>[ab12])"
    r"|(?P<bare>[ab]))"
    r"(?:_(?:is|was)(?:_(?:the|clearly|slightly|much|far|overall|a|bit|marginally|significantly))*_(?:better|best"
    r"|preferred|winner)"
    r"|_wins)?(?:_(?:answer|response|one))?"
    r"(?:_than_(?:the_)?(?:(?:assistant|answer|response|model|system|output|candidate|option)_?)?[ab12])?"
)
MORE = re.compile(r"\s*(?:\w{1,12}\s)?([ab])\s*([<>≫≪]{1,3}|[=~≈]{1,2})\s*(?:\w{1,12}\s)?([ab])\s*", re.IGNORECASE)
TIE, THIRD = "tie", "c"  # of three choices, as MT-Bench's prompts have it
SIDES = {"a": "a", "b": "b", "1": "a", "2": "b"}
LONGEST_SIDE = 60  # characters of a side of a pair, in words
LONGEST_HEAD = 40  # characters of a meaning that may stand for its grade


class _Read(NamedTuple):
    """What a piece of text states: a grade as the scale writes it (or half way between two), or why it is none."""

    grade: str | None
    fault: str = ""
    marked: bool = False  # with its denominator or unit: no number of a list


class _Grades:
    """How the grades of one scale are written."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self.pairs = set(scale.grades) == set(PAIR_GRADES)  # in whatever order a datasheet has them
        self.numeric = not any(isinstance(grade, str) for grade in scale.grades)
        self.most = Decimal(repr(scale.values[-1]))

    @cached_property
    def words(self) -> dict[str, str]:
        """Words of the scale, and of its meanings where no two grades share them, to the grade."""
        found: dict[str, str] = {}
        for grade, meaning in zip(self.scale.grades, self.scale.meanings, strict=False):
            heads = {_folded(meaning), _folded(re.split(r"[:;,.(]|\s[-–—]\s", meaning, maxsplit=1)[0])}
            for head in heads:
                if head and len(head) <= LONGEST_HEAD and not head.isdigit():
                    found[head] = "" if head in found and found[head] != str(grade) else str(grade)
        found |= {_folded(str(grade)): str(grade) for grade in self.scale.grades if isinstance(grade, str)}
        return {word: grade for word, grade in found.items() if grade}

    def number(self, match: re.Match[str]) -> _Read:
        """The grade of a match of ``VALUE``."""
        written = match["number"].casefold()
        marked = bool(match["most"] or match["unit"])
        number = Decimal(WORDS.index(written) if written in WORDS else written.replace(",", "."))
        if match["most"] is not None and Decimal(match["most"]) != self.most:
            return _Read(None, f"off-scale grade: {_short(match[0])} on a scale up to {float(self.most):g}")
        if match["percent"] is not None:
            if self.scale.as_percent:
                number = number * self.most / 100
            elif self.most != 100:
                return _Read(None, f"off-scale grade: {_short(match[0])} on a scale up to {float(self.most):g}")
        at = self.position(number)
        if at is not None:
            return _Read(str(self.scale.grades[at]), marked=marked)
        if self.between(number) is not None:
            return _Read(f"{number.normalize():f}", marked=marked)
        return _Read(None, f"off-scale grade: {_short(match[0])}")

    def position(self, number: Decimal) -> int | None:
        """Of a number on the scale; as a float, 5.00000000000000000001 would be 5."""
        if not self.numeric:
            return None
        return next((at for at, one in enumerate(self.scale.values) if Decimal(repr(one)) == number), None)

    def between(self, number: Decimal) -> tuple[int, int] | None:
        """Positions of the two neighbouring grades that a number lies exactly half way between, or None."""
        for low, (worse, better) in enumerate(pairwise(self.scale.values if self.numeric else ())):
            if number * 2 == Decimal(repr(worse)) + Decimal(repr(better)):
                return low, low + 1
        return None

    def alone(self, text: str) -> _Read | None:
        """What a text states that is a grade and nothing else but a comment on it; None when it is something else."""
        written = text.translate(FULL_WIDTH).strip(WRAPPING)
        literal = LITERAL.fullmatch(written)
        written = literal[1].strip(WRAPPING) if literal else written
        for part in (written, written.rstrip(".!。")):
            if self.pairs and (side := _side(part)) is not None:
                return _Read(side)
            if (word := self.words.get(_folded(part))) is not None:
                return _Read(word)
        written = written.rstrip(".!。")
        match = VALUE.match(written) if self.numeric else None
        if match is not None and match.end() == len(written):
            return self.number(match)
        if len(written) > LONGEST_VALUE or self.pairs:
            return None
        if match is not None:
            if MORE_NUMBER.match(written, match.end()):
                return _Read(None, f"off-scale grade: {_short(written)}")
            rest = written[match.end() :].lstrip(WRAPPING)
            return self._commented(self.number(match), COMMENT.fullmatch(rest), written)
        for word, grade in sorted(self.words.items(), key=lambda one: -len(one[0])):
            if _folded(written).startswith(word):
                rest = written[len(word) :].lstrip(WRAPPING)
                comment = COMMENT.fullmatch(rest)
                if comment is not None:
                    return self._commented(_Read(grade), comment, written)
        return None

    def _commented(self, read: _Read, comment: re.Match[str] | None, written: str) -> _Read | None:
        """A grade with what is said of it, or None where that is no comment."""
        if comment is None:
            return None
        if read.grade is None:
            return read
        if takes_back(comment["comment"]) or self.contradicts(read.grade, comment["comment"]):
            return _Read(None, f"malformed reply: {read.grade} is taken back: {_short(written)}")
        return read

    def contradicts(self, grade: str, comment: str) -> bool:
        """Whether a comment names another grade."""
        word = self.words.get(_folded(re.sub(r"\A(?:but|and|or|also)\s", "", comment.strip(WRAPPING + "().,"))))
        return (word is not None and word != grade) or bool(_numbers(comment) - {grade})

    def foreign(self, text: str) -> bool:
        """Whether a text says that the scale is another one."""
        return self.numeric and any(
            Decimal(next(filter(None, found.groups()))) != self.most for found in OTHER_SCALE.finditer(text)
        )


def _numbers(comment: str) -> set[str]:
    """The numbers in a comment that count nothing: they may be second grades."""
    return set(re.findall(r"\d+(?:\.\d+)?", COUNTED.sub("", comment)))


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("_", " ").split())


def _side(part: str) -> str | None:
    """The preference that a few words state, or None."""
    compared = MORE.fullmatch(part)
    if compared is not None:
        left, sign, right = (one.casefold() for one in compared.groups())
        if left == right:
            return None
        return TIE if sign[0] in "=~≈" else left if sign[0] in ">≫" else right
    words = plain(part) if len(part) <= LONGEST_SIDE else ""
    if words in {TIE, THIRD} or SPELLINGS.get(words) == TIE:
        return TIE
    side = SIDE.fullmatch(words)
    if side is None:
        return SPELLINGS.get(words)
    return SIDES[side["named"] or side["bare"]]


# ---- What is only quoted ----

FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)
INLINE_CODE = re.compile(r"(`{1,2})([^`\n]{1,1000})\1")
BLOCK_QUOTE = re.compile(r"^[ \t]{0,3}(?:>|&gt;|\|\s{0,2}>)[^\n]*", re.MULTILINE)
INDENTED = re.compile(r"(?:(?<=\n\n)|(?<=\n \n))(?:(?: {4}|\t)[^\n]*(?:\n|\Z))+")
# What a reply repeats of the item; "Answer: B" states one.
ECHO = re.compile(
    r"^[ \t*_#>-]{0,8}(?:(?:the|user|candidate|student|model|assistant|reference|gold|expected|generated|given"
    r"|submitted)(?:'s)?[ \t]{1,3})?"
    r"(?:answer|response|reply|question|query|prompt|reference|context|contexts|passage|document|claim|quote|excerpt"
    r"|example|user|student"
    r"|assistant|antwort|frage|respuesta|pregunta|réponse)(?:[ \t]{1,3}[ab12])?[ \t*_]{0,4}[:：](?P<rest>[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
ECHO_TAGS = re.compile(
    r"<(query|question|prompt|answer|response|reference|context|contexts|passage|document|quote|blockquote|q|code"
    r"|pre|candidate|"
    r"example|user|item|input)(?: [^<>\n]{0,60})?>",
    re.IGNORECASE,
)
CLOSERS = {
    '"': '"',
    "“": '”“"',
    "”": "”",
    "„": '“”"',
    "«": "»",
    "»": "«",
    "「": "」",
    "『": "』",
    "《": "》",
    "‹": "›",
    "‘": "’",
    "'": "'",
}
CLOSER = {mark: re.compile(f"[{closers}]") for mark, closers in CLOSERS.items()}
SINGLE, LONGEST_SINGLE = "'‘’", 1000
QUOTE = re.compile(f"[{''.join(CLOSERS)}]")
BLANK_LINE = re.compile(r"\n[ \t]*\n")


def _hide(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with the characters of some spans, in rising order, hidden; lines stay lines."""
    parts, at = [], 0
    for start, end in spans:
        if end <= at:
            continue
        begin = max(start, at)
        parts += [text[at:begin], re.sub(r"[^\n]", HIDDEN, text[begin:end])]
        at = end
    return "".join([*parts, text[at:]])


def _fences(text: str) -> list[tuple[int, int, int, int]]:
    """Begin and end of each block of code, and of what is in it."""
    found, opened = [], None
    for line in FENCE.finditer(text):
        if opened is None:
            opened = line
        elif line[1].startswith(opened[1]) and not line[2].strip():
            found.append((opened.start(), line.end(), opened.end(), line.start()))
            opened = None
    if opened is not None:
        found.append((opened.start(), len(text), opened.end(), len(text)))
    return found


def _echoes(text: str, bare: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Where a reply repeats what it judges under its name, in tags or on a line."""
    spans = [
        (line.start("rest"), line.end())
        for line in ECHO.finditer(text)
        if line["rest"].strip(WRAPPING) and not bare(line["rest"])
    ]
    at, lower = 0, text.lower()
    missing: set[str] = set()
    while (tag := ECHO_TAGS.search(text, at)) is not None:
        name, at = tag[1].lower(), tag.end()
        end = -1 if name in missing else lower.find(f"</{name}>", at)
        if end < 0:
            missing.add(name)
        elif not bare(text[at:end][: LONGEST_VALUE + 1]):
            spans.append((at, end))
            at = end
    yield from sorted(spans)


def _quotations(text: str, bare: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """What stands in quotation marks, but for a grade alone; one that nothing closes ends with its paragraph."""
    at, never = 0, set[str]()
    while (mark := QUOTE.search(text, at)) is not None:
        start, at = mark.start(), mark.end()
        before, behind = text[start - 1 : start], text[at : at + 1]
        if before.isalnum() or not behind.strip() or behind == HIDDEN:  # an apostrophe, an inch, a closing mark
            continue
        end = -1 if mark[0] in never else _closing(text, at, mark[0])
        if end < 0:
            if mark[0] in SINGLE:
                continue
            never.add(mark[0])
            paragraph = BLANK_LINE.search(text, at)
            end = paragraph.start() if paragraph else len(text)
        if not bare(text[at:end][: LONGEST_VALUE + 1]):
            yield start, end
        at = end + 1


def _closing(text: str, at: int, mark: str) -> int:
    """Where a quotation ends, or -1; one in single marks ends on its line."""
    stop = len(text)
    if mark in SINGLE:
        line = text.find("\n", at, at + LONGEST_SINGLE)
        stop = line if line >= 0 else at + LONGEST_SINGLE
    closer = CLOSER[mark].search(text, at, stop)
    while closer is not None:
        end = closer.start()
        if not (text[end - 1 : end].isspace() or text[end + 1 : end + 2].isalnum()):
            return end
        closer = CLOSER[mark].search(text, end + 1, stop)
    return -1


# ---- What states a verdict ----

_GENERIC = {
    "english": "score grade rating mark",
    "german": "Bewertung Punktzahl Gesamtbewertung Gesamtnote Endnote Endbewertung Gesamtpunktzahl Schulnote Wertung",
    "spanish": "puntuación puntuacion puntaje calificación calificacion valoración",
    "french": "notation évaluation appréciation",
    "italian": "punteggio voto valutazione",
    "portuguese": "pontuação pontuacao avaliação classificação",
    "dutch": "cijfer beoordeling eindcijfer",
    "swedish": "betyg poäng",
    "danish": "karakter bedømmelse vurdering",
    "norwegian": "karakteren poengsum",
    "finnish": "arvosana pisteet",
    "polish": "ocena",
    "czech": "hodnocení známka",
    "romanian": "scor punctaj",
    "hungarian": "pontszám értékelés",
    "turkish": "puan",
    "russian": "оценка балл",
    "greek": "βαθμολογία",
    "ukrainian": "оцінка",
    "vietnamese": "điểm",
    "chinese": "评分 得分 分数 評分 得分 分數 评级",
    "japanese": "スコア 評価 評点 点数 得点 採点",
    "korean": "점수 평점",
    "arabic": "الدرجة التقييم",
    "hebrew": "ציון",
    "hindi": "अंक स्कोर",
    "thai": "คะแนน",
}
_LOOSE = (
    "verdict judgment judgement label evaluation assessment decision result relevance relevancy conclusion"
    " classification category class "
    "Urteil Ergebnis Entscheidung veredicto verdict verdetto veredito oordeel 判定 判断 结论 結論"
)
_CHOICE = (
    "verdict winner preference preferred choice decision judgment judgement better best pick result "
    "Gewinner Sieger ganador gagnant"
)
_NOTES = "note nota"  # German, French; Spanish, Italian, Portuguese: and in English the beginning of a remark
_FINAL = (
    "final finally overall total definitive ultimate concluding endgültige endgültig finale finaal global globale"
    " definitiva definitivo "
    "最终 最終 总 総合 综合 最终的"
)
_REVISED = (
    "revised corrected updated adjusted amended reconsidered re-evaluated changed "
    "korrigierte überarbeitete revisada corrigée"
)
# What may stand before a label in its sentence; of "Maximum score: 5" nobody knows whose it is.
_LEAD = (
    "my the a an our i so thus therefore hence and then as with is would be it this that gets assign give answer"
    " response answer's "
    "numeric numerical resulting assigned given proposed recommended suggested judge's judge quality llm evaluation"
    " relevance "
    "here here's in conclusion summary short accordingly consequently based on above at last also meine die der das"
    " ist la el le les ma mi "
    "su una un e il lo o a minha"
)
_LABELS = {word.casefold() for words in _GENERIC.values() for word in words.split()}
STRICT = _LABELS - {"evaluation", "assessment"}
LOOSE = {word.casefold() for word in _LOOSE.split()}
CHOICE = {word.casefold() for word in _CHOICE.split()}
NOTES, FINAL, REVISED = set(_NOTES.split()), set(_FINAL.casefold().split()), set(_REVISED.casefold().split())
GERMAN_FINAL = ("gesamt", "end")  # written together: Gesamtnote
LEAD = set(_LEAD.split()) | FINAL | REVISED
JSON_FIRST = ("score", "grade", "rating", "relevance", *sorted(STRICT))
JSON_THEN = ("verdict", "label", "answer", "result", "judgment", "judgement", "decision", "classification", "category")
JSON_CHOICE = (
    "preference",
    "preferred",
    "winner",
    "better",
    "choice",
    "decision",
    "judgment",
    "judgement",
    *JSON_FIRST,
    *JSON_THEN,
)
JSON_MOST = ("max_score", "maxscore", "max", "maximum", "out_of", "total", "scale_max", "max_grade", "max_rating")

_FOR = (
    r"(?:\s{1,2}(?:for|of|to)\s{1,2}(?:this|the)"
    r"(?:\s{1,2}(?:given|candidate|generated|submitted|system's|assistant's))?"
    r"\s{1,2}(?:answer|response|item|reply|document|passage|summary|text))?"
)
_AFTER = (
    r"(?:[ \t]{1,2}(?P<after>final|finale|globale?|totale?|geral|complessivo|général|générale|obtenida|is|of|was))?"
)
JOINED = re.compile(
    rf"s?(?P<paren>[ \t]{{0,3}}[(\[（][^()\[\]\n（）]{{0,40}}[)\]）])?{_FOR}"
    rf"(?:{_AFTER}[\s*_\"'\])]{{0,6}}(?P<colon>[:：=＝]|->|→|=>|⇒|[-–—](?=\s))"
    r"|[\s*_]{1,4}(?P<is>is|of|remains|stays|equals|ist|es|est|è|é|was|would\s{1,2}be|will\s{1,2}be|should\s{1,2}be"
    r"|comes\s{1,2}to)(?=[\s:])[:]?"
    r"|はです?|は|：)"
    r"[\s*_`\"'“(\[$<]{0,8}(?:(?:(?-i:an?)(?=[ \t]{1,3}[*_`\"'“(\[]{0,5}(?:\d|score|solid|strong))|is|are|of"
    r"|a\s{1,2}score\s{1,2}of|therefore|now|thus|still|the|simply)\s{1,3}[*_`\"'“(\[]{0,5}){0,2}"
    r"(?:\\(?:boxed|text|textbf|mathbf)\{){0,2}",
    re.IGNORECASE,
)
SIMPLY = re.compile(r"[ \t]{1,3}[*_`\"]{0,4}")  # "Score 4" alone in its line
NEXT_LINE = re.compile(r"[ \t*_#:：()\d/–-]{0,30}\n\s{0,6}(?P<value>[^\n]{1,60})(?:\n|\Z)")
ENDS = re.compile(
    r"[\s*_`\"'”)\]}|$]{0,8}(?:[.!;,。、，；)|\]}]|\Z|\n|[-–—(（]|<|(?<=[\s*_])(?:because|as|since|due|given|out of"
    r"|for the following|weil|da|denn|porque|car|parce)\b|です|分|点)",
    re.IGNORECASE,
)
RUBRIC = re.compile(
    r"[\s*_`\"')]{0,4}(?:[:=]|(?:is|are|was|means?|would|if|when|for|stands|indicates?|goes|should|could|requires?"
    r"|applies|refers|denotes|corresponds|and above|or (?:above|more|higher|lower|below|less))\b)",
    re.IGNORECASE,
)
REPORTS = re.compile(
    r"\b(?:says?|said|states?|stated|mentions?|contains?|ends?|reads?|includes?|writes?|wrote|reports?|shows?"
    r"|quotes?|inserts?|adds?|puts?|has"
    r"|begins?|starts?|outputs?|prints?|appends?|claims?|embeds?|like|called|text|phrase|words?|string"
    r"|example)\b\W{1,3}(?:\w{1,20}\W{1,3}){0,3}\Z",
    re.IGNORECASE,
)
ORDERS = re.compile(
    r"\b(?:asks?|asked|demands?|instructs?|orders?|tells?|told|wants?|requests?|urges?|begs?|tries|attempts?"
    r"|insists?|claims?|suggests?|injects?"
    r"|pretends?|according|another|others?|reviewers?|graders?|people|users?|previous(?:ly)?|earlier|initially"
    r"|originally|at first|first thought"
    r"|tempted|inclined|considered|considering|instead of|rather than|not|never|neither|nor|no|cannot|hardly|almost"
    r"|nearly|less than|more than|at least"
    r"|at most|up to|(?:below|above)(?=\s{1,3}(?:an?\s{1,3})?\Z)|between"
    r"|if|when|unless|had|might|may|could|would have|perhaps|maybe|possibly"
    r"|typically|usually|normally"
    r"|average|maximum|minimum|max|min|example|wrong answers|perfect answers|he|she|they|wenn|falls|nicht|kein|keine"
    r"|si|no)\b|n['’]t\b",
    re.IGNORECASE,
)
AFTERTHOUGHT = re.compile(
    r"[\s*_`\"'.,;!()\]}-]{0,6}(?:\?|(?:no\b(?:[,.!]|\s{1,3}wait\b)|wait\b|actually\b|hmm|scratch\b|strike that"
    r"|on second thoughts?|correction\b|sorry\b|or (?:rather|maybe|perhaps|even|possibly)\b"
    r"|let me (?:re|lower|raise|change|correct|adjust)|i (?:lower|raise|reduce|deduct|subtract)\b|minus\s{1,3}\w"
    r"|(?:had|were) (?:it|this|they|the)\b|never ?mind|i take (?:that|it) back|just kidding))",
    re.IGNORECASE,
)
OF_WORD = re.compile(rf"{_WRAP}(?:/|\bout\s{{1,3}}of\b)\s{{0,3}}({'|'.join(WORDS)})\b", re.IGNORECASE)
SENTENCE_START = re.compile(r"[.!?。！？;；]\s|[\n]|。|！|？")
I_GIVE = re.compile(
    r"\b(?:i|we)(?:['’](?:d|ll)|\s{1,2}(?:would|will|must|have\s{1,2}to))?(?:\s{1,2}(?:therefore|thus|still|only"
    r"|also|do|then|hereby|\w{2,12}ly))?\s{1,2}"
    r"(?:gave|give|rate|rated|score|scored|grade|graded|assign|assigned|award|awarded|judge|mark|settle"
    r"|say)\b(?P<object>(?:\s{1,2}[\w'’-]{1,20}){0,9}?)\s{1,2}[*_`\"(]{0,4}(?=[\d-]|(?:" + "|".join(WORDS) + r")\b)",
    re.IGNORECASE,
)
IT_DESERVES = re.compile(
    r"\b(?:it|this|that|(?:this|the)\s{1,2}(?:answer|response|reply|output|summary|text|document"
    r"|passage))(?:\s{1,2}(?:therefore|thus|clearly|only|still))?\s{1,2}"
    r"(?:(?:deserves|merits|earns|warrants|gets|receives)\s{1,2}(?:a|an)\s{1,2}(?:(?:\w{1,12}\s{1,2})?(?:score|grade"
    r"|rating|mark)\s{1,2}of\s{1,2})?"
    r"|scores\s{1,2}(?:a\s{1,2})?|is\s{1,2}(?:rated|graded|scored)\s{1,2}(?:a\s{1,2}|as\s{1,2})?)[*_`\"]{0,4}(?=\d)",
    re.IGNORECASE,
)
SCORING = re.compile(
    r"\b(?:scoring|an?(?:\s{1,2}(?:clear|solid|strong|weak|fair|full|perfect|firm))?)\s{1,2}[*_]{0,4}(?=\d)",
    re.IGNORECASE,
)
IT_IS = re.compile(
    r"(?:(?<=[\n.!?:,] )|(?<=\n)|\A)[*_ ]{0,4}(?:overall,?\s|so,?\s|therefore,?\s|thus,?\s|hence,?\s"
    r"|in conclusion,?\s)?(?:the|this)\s{1,2}(?:given\s)?(?:answer|response|reply|document|passage|claim"
    r"|text)\s{1,2}is\s{1,2}(?:therefore\s|thus\s|clearly\s)?[*_`\"]{0,4}",
    re.IGNORECASE,
)
BRACKETS = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]|\\boxed\{(?:\\text(?:bf)?\{)?([^{}\n]{1,40})\}{1,2}")
RESULT = re.compile(r"\[(?:RESULT|SCORE|RATING|GRADE|VERDICT|FINAL|DECISION)\][\s:]{0,4}([^\n]{1,60})", re.IGNORECASE)
TAG = re.compile(r"<(?P<tag>[a-z_]{3,30})>\s{0,9}(?P<value>[^<>]{1,200}?)\s{0,9}</(?P=tag)>", re.IGNORECASE)
ENGLISH = re.compile(r"\b(?:the|is|are|and|of|that|this|it|not|with|answer)\b", re.IGNORECASE)
STRING_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\Z|\\\Z)|,(?=\s*[}\]])', re.DOTALL)
STRING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\Z|\\\Z)|[{}]', re.DOTALL)
LINE_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\Z|\\\Z)|//[^\n]*', re.DOTALL)
LOOSE_PAIR = re.compile(
    r"""["'](\w{1,40})["']\s{0,5}:\s{0,5}"""
    r"""("(?:[^"\\\n]|\\.){0,200}"|'[^'\n]{0,200}'|[-+]?[\d.]{1,40}|true|false|null)(?=\s{0,5}[,}\n/])"""
)

DECLARED, STATED, SENTENCE, NOTED = 3, 2, 1, 0


class _Statement(NamedTuple):
    """A place in a reply that states a verdict, or something in its place that is none."""

    start: int
    end: int
    read: _Read
    strength: int = STATED
    final: bool = False
    revised: bool = False
    closed: bool = False  # it has its own end: also in a reply that was cut
    whole: bool = False  # nothing else was said


class _Reply:
    """What a reply says, prepared for the forms.

    Args:
        text: From ``said``.
        grades: Of the scale.
        names: What else the verdict is called: aspects, the scale.
        finish: Why it ended.
    """

    def __init__(self, text: str, grades: _Grades, names: Sequence[str], finish: str) -> None:
        text = text[-LONGEST:]
        text = text if text.isascii() else UNSEEN.sub("", text.translate(FULL_WIDTH))
        self.text = _unwrapped(STRUCK.sub(lambda gone: " " * len(gone[0]), text)).strip()
        self.grades, self.cut = grades, finish in CUT
        own = {part for name in names for part in (_folded(name), name.casefold())} - {GRADE, ""}
        self.strict = STRICT | own
        self.labels = self.strict | LOOSE | (CHOICE if grades.pairs else set())
        self.json_names = JSON_CHOICE if grades.pairs else (*own, *JSON_FIRST)
        self.json_then = () if grades.pairs else JSON_THEN
        self.ended = len(self.text) if not self.cut else max(self.text.rfind("\n"), 0)
        self._seen: dict[str, bool] = {}
        bare = self._bare
        fences = _fences(self.text)
        blocks = [(start, end) for start, end, _, _ in fences]
        text = _hide(self.text, blocks)
        quoted = [found.span() for pattern in (BLOCK_QUOTE, INDENTED) for found in pattern.finditer(text)]
        text = _hide(text, sorted(quoted))
        code = [found.span() for found in INLINE_CODE.finditer(text) if not bare(found[2])]
        self.objects = _hide(text, code)  # where objects of JSON, which are full of quotation marks, are looked for
        text = _hide(self.objects, _echoes(self.objects, bare))
        self.open = _hide(text, _quotations(text, bare))
        self.fenced = [(start, self.text[inner:outer]) for start, _, inner, outer in fences]

    def _bare(self, text: str) -> bool:
        if text not in self._seen:
            self._seen[text] = len(text) <= LONGEST_SIDE and self.grades.alone(text) is not None
        return self._seen[text]

    def lead(self, start: int) -> str:
        """What of a statement's own sentence stands before it."""
        before = self.open[max(0, start - AROUND) : start]
        cuts = [found.end() for found in SENTENCE_START.finditer(before)]
        return before[cuts[-1] :] if cuts else before

    def line(self, start: int) -> str:
        """What of a statement's line stands before it."""
        return self.open[max(0, start - AROUND) : start].rpartition("\n")[2]

    def rest(self, end: int) -> str:
        """What of a statement's line stands behind it."""
        return self.open[end : end + AROUND].partition("\n")[0]

    def value(self, at: int) -> tuple[_Read | None, int]:
        """What a label's value at a place states, and where it ends."""
        if self.grades.numeric:
            match = VALUE.match(self.open, at)
            if match is None:
                word, end = self._word(at)
                return word, end
            if MORE_NUMBER.match(self.open, match.end()):
                return _Read(None, f"malformed reply: two verdicts: {_short(self.rest(match.start()))}"), match.end()
            return self.grades.number(match), match.end()
        return self._word(at)

    def _word(self, at: int) -> tuple[_Read | None, int]:
        """The same in words: the longest that are a grade, up to where a comment may begin."""
        line = self.open[at : at + LONGEST_SIDE].partition("\n")[0]
        stops = [
            found.start() for found in re.finditer(r"[.,;:(<\]}*_`\"!]|\s[-–—]\s|\s(?:because|since|as)\s|\Z", line)
        ]
        for stop in sorted({*stops, len(line)}, reverse=True):
            part = line[:stop]
            read = _Read(side) if self.grades.pairs and (side := _side(part.strip(WRAPPING))) else None
            word = self.grades.words.get(_folded(part.strip(WRAPPING)))
            if read is not None or word is not None:
                return read or _Read(word), at + len(part.rstrip())
        return None, at

    def checked(self, read: _Read, start: int, end: int) -> _Read:
        """What a statement states once its sentence has been read to the end."""
        if read.grade is None:
            return read
        rest = self.rest(end)
        sentence = rest[: (stop.start() if (stop := re.search(r"[.!?;]\s|[.!?;]\Z", rest)) else len(rest))]
        comment = sentence.lstrip(WRAPPING + ",;:()[]}-–—")
        if AFTERTHOUGHT.match(self.open, end) or takes_back(comment):
            return _Read(None, f"malformed reply: {read.grade} is taken back: {_short(self.open[start:end] + rest)}")
        above = OF_WORD.match(self.open, end) if self.grades.numeric else None
        if above is not None and WORDS.index(above[1].casefold()) != self.grades.most:
            return _Read(None, f"off-scale grade: {_short(self.open[start:end] + rest)}")
        if self.grades.foreign(self.lead(start)[-AROUND:] + " " + sentence):
            return _Read(None, f"off-scale grade: {_short(self.open[start:end] + rest)}")
        if _numbers(comment.partition("|")[0]) - {read.grade} and not LABELLED_ON.search(comment):
            return _Read(None, f"malformed reply: two verdicts: {_short(self.open[start:end] + rest)}")
        return read


def _unwrapped(text: str) -> str:
    """What is in a reply that is a single block of code, or in quotation marks as a whole."""
    text = text.strip()
    fences = _fences(text)
    if len(fences) == 1 and fences[0][:2] == (0, len(text)):
        text = text[fences[0][2] : fences[0][3]].strip()
    if (
        len(text) > 1
        and text[0] in "\"'“"
        and text[-1] in CLOSERS[text[0]]
        and not set(text[1:-1]) & {text[0], text[-1]}
    ):
        text = text[1:-1].strip()
    return text


def _whole(reply: _Reply) -> Iterator[_Statement]:
    """``4``, ``**4/5**``, ``Tie``: nothing else is said."""
    read = reply.grades.alone(reply.text)
    if read is not None:
        yield _Statement(0, len(reply.text), read, DECLARED, whole=True)


def _bracketed(reply: _Reply) -> Iterator[_Statement]:
    """``[[4]]``, ``[RESULT] 4``, LaTeX's box: declared in a line of its own or behind a label, else one of others."""
    for found in _few(BRACKETS.finditer(reply.open)):
        read = reply.grades.alone(found[1] or found[2])
        if read is None:
            continue
        line, rest = (
            reply.line(found.start()).strip(WRAPPING + "#>-([$"),
            reply.rest(found.end()).strip(WRAPPING + ".)]$"),
        )
        words = set(re.findall(r"\w+", line.casefold()))
        labelled = bool(words & (reply.labels | FINAL)) and (line.endswith((":", "is", "=")) or len(words) < 5)
        lead = set(re.findall(r"[\w'’]+", reply.lead(found.start()).casefold()))
        another = found[2] and any(one.endswith(("'s", "’s")) for one in lead - LEAD)  # the student's \\boxed{3}
        if another or _reported(reply, found.start()):
            continue
        yield _said(
            reply, found.start(), found.end(), read, DECLARED if labelled or not (line or rest) else STATED, closed=True
        )
    for found in _few(RESULT.finditer(reply.open)):
        read, end = reply.value(found.start(1))
        if read is not None and not _reported(reply, found.start()):
            yield _said(reply, found.start(), end, read, DECLARED)


def _tagged(reply: _Reply) -> Iterator[_Statement]:
    """``<score>4</score>``."""
    names = {*reply.json_names, *reply.json_then, *reply.labels}
    for found in _few(TAG.finditer(reply.open)):
        name = found["tag"].casefold()
        read = reply.grades.alone(found["value"]) if {name, name.rpartition("_")[2]} & names else None
        if read is not None and not _reported(reply, found.start()):
            yield _Statement(*found.span(), read, DECLARED, closed=True)


def _json(reply: _Reply) -> Iterator[_Statement]:
    """``{"score": 4}``: declared where it begins or ends the reply; in a block of code one among others."""
    first = len(reply.objects) - len(reply.objects.lstrip("[ \n"))
    last = len(reply.objects.rstrip("] \n"))
    for start, end in _objects(reply.objects):
        found = _stated_in(reply.text[start:end], reply) if ":" in reply.text[start:end] else []
        edge = start <= first or end >= last
        if found and (edge or not _reported(reply, start)):
            yield from (_Statement(start, end, read, DECLARED if edge else STATED, closed=True) for read in found)
    for start, inside in reply.fenced:
        if inside.lstrip()[:1] in {"{", "["}:
            for read in [one for first, last in _objects(inside) for one in _stated_in(inside[first:last], reply)]:
                yield _Statement(start, start + len(inside), read, STATED, closed=True)


def _stated_in(body: str, reply: _Reply) -> list[_Read]:
    fields = [(name.casefold(), value) for name, value in _pairs_of(body)]
    most = next((value for name, value in fields if name in JSON_MOST and str(value).replace(".", "").isdigit()), None)
    foreign = most is not None and reply.grades.numeric and Decimal(str(most)) != reply.grades.most
    for names in (reply.json_names, reply.json_then):
        given = [
            value for name, value in fields if {name, name.rpartition("_")[2]} & set(names) and name not in JSON_MOST
        ]
        found = [
            one
            for value in given
            if value is not None and not isinstance(value, bool) and (one := reply.grades.alone(str(value))) is not None
        ]
        if found:
            return [_Read(None, f"off-scale grade: {found[0].grade} of {most}")] if foreign else found
    return []


def _labelled(reply: _Reply) -> Iterator[_Statement]:
    """``Score: 4``, ``**Rating:** 4/5``, ``Bewertung: 4``, ``### Score`` above ``4``; declared: ``Final score: 4``."""
    ascii_only = reply.open.replace(HIDDEN, "").isascii()
    words = {one for one in (*reply.labels, *FINAL, *NOTES) if one.isascii() or not ascii_only}
    listed = "|".join(re.escape(one).replace(r"\ ", "[ _-]") for one in sorted(words, key=len, reverse=True))
    # As small letters where that moves nothing: without the flag the search is several times as fast.
    text, flags = (reply.open.lower(), 0) if ascii_only else (reply.open, re.IGNORECASE)
    for label in _few(re.finditer(listed, text, flags)):
        before, behind = text[label.start() - 1 : label.start()], text[label.end() : label.end() + 1]
        if label[0] >= "\u0900" or not (before.isalnum() or (behind.isalnum() and behind != "s")):
            yield from _after_label(reply, label)


def _after_label(reply: _Reply, label: re.Match[str]) -> Iterator[_Statement]:
    name = _folded(label[0])
    joined = JOINED.match(reply.open, label.end(), label.end() + AROUND)
    if joined is None:
        yield from _below_label(reply, label, name)
        return
    read, end = reply.value(joined.end())
    strict = name in reply.strict
    if read is not None and "<" in joined[0] and reply.open[end : end + 1] != ">":
        read = _Read(None, f"malformed reply: {_short(label[0] + reply.rest(label.end()))}")
    if read is None:
        if "\n" not in joined[0] and re.match(
            r"(?:not|neither|n[o']t)\b", reply.open[joined.end() : joined.end() + 8], re.IGNORECASE
        ):
            read = _Read(None, f"malformed reply: {_short(label[0] + reply.rest(label.end()))}")
        else:
            return
    sentence = joined["is"] is not None
    lead = reply.lead(label.start())
    final, revised = _introduced(lead, name, joined["after"] or "")
    if name in FINAL and sentence:
        return
    alone = not reply.rest(end).strip(WRAPPING + ".)]}")
    if not _belongs(lead) or ("\n" in joined[0] and not alone):
        return
    if joined["paren"] and reply.grades.foreign(joined["paren"].strip()):
        read = _Read(None, f"off-scale grade: {_short(label[0] + joined[0])}{read.grade or ''}")
    if name in NOTES:
        if alone and len(ENGLISH.findall(reply.open[:2000])) < 3 and not lead.strip(WRAPPING + "#->"):
            yield _Statement(label.start(), end, read, STATED, final, revised)
        return
    if not ENDS.match(reply.open, end):
        back = takes_back(reply.rest(end).lstrip(WRAPPING + ":"))
        if not back and (RUBRIC.match(reply.open, end) or not strict or sentence):
            return
        read = (
            _Read(None, f"malformed reply: {read.grade} is taken back")
            if back
            else _Read(None, f"malformed reply: {_short(label[0] + reply.rest(label.end()))}")
        )
    elif re.match(r"\s{0,2}=|\s{0,2}[-–—]\s\D{1,60}[,;]\s\d\s{0,2}[=–-]", reply.open[end : end + 80]):
        return
    strength = DECLARED if final or revised else SENTENCE if sentence else STATED
    yield _said(reply, label.start(), end, read, strength, final=final, revised=revised)


def _below_label(reply: _Reply, label: re.Match[str], name: str) -> Iterator[_Statement]:
    """A label that is a heading, or that its value follows in a line of their own."""
    if reply.line(label.start()).strip(WRAPPING + "#->0123456789.") and not _belongs(reply.lead(label.start())):
        return
    if name in NOTES or (name in FINAL and name != "final"):
        return
    final, revised = _introduced(reply.lead(label.start()), name, "")
    strength = DECLARED if final or revised else STATED
    below = NEXT_LINE.match(reply.open, label.end())
    if below is not None:
        read = reply.grades.alone(below["value"])
        if read is not None and not reply.grades.foreign(below[0]):
            yield _said(reply, label.start(), below.end("value"), read, strength, final=final, revised=revised)
        return
    simply = SIMPLY.match(reply.open, label.end())
    if simply is not None and reply.line(label.start()).strip(WRAPPING + "#->") in {
        "",
        "Final",
        "Overall",
        "final",
        "overall",
    }:
        read, end = reply.value(simply.end())
        if read is not None and not reply.rest(end).strip(WRAPPING + "."):
            yield _said(reply, label.start(), end, read, strength, final=final, revised=revised)


def _introduced(lead: str, name: str, after: str) -> tuple[bool, bool]:
    """Whether a statement is introduced as final, and as revised."""
    words = {*re.findall(r"[^\W\d_]+", lead.casefold()), name, after.casefold()}
    final = (
        bool(words & FINAL)
        or name.startswith(GERMAN_FINAL)
        or any(one in lead for one in ("最终", "最終", "総合", "综合"))
    )
    return final or after.casefold() in {"finale", "global", "globale", "totale", "geral"}, bool(words & REVISED)


def _belongs(lead: str) -> bool:
    """Whether what stands before a label makes it somebody else's, or of something else."""
    words = re.findall(r"[\w'’]+", lead.casefold())
    if ORDERS.search(lead) or REPORTS.search(lead) or HIDDEN in lead[-3:].strip():
        return False
    if all(word in LEAD or word.isdigit() for word in words) or set(words) & REVISED:
        return True
    clause = re.split(r"[,:：;–—|(]", lead)
    return len(clause) > 1 and all(word in LEAD for word in re.findall(r"[\w'’]+", clause[-1].casefold()))


def _reported(reply: _Reply, start: int) -> bool:
    """Whether somebody else says what stands at a place."""
    lead = reply.lead(start)
    return bool(lead.strip(WRAPPING + "#-.")) and bool(REPORTS.search(lead) or ORDERS.search(lead))


def _few(found: Iterator[re.Match[str]]) -> Iterator[re.Match[str]]:
    """Matches, no more than anybody writes: a model that repeats itself for ever says nothing.

    Raises:
        UnreadableReplyError: There are more.
    """
    for n, one in enumerate(found):
        if n >= MOST_PLACES:
            raise UnreadableReplyError(f"malformed reply: more than {MOST_PLACES:,} verdicts")
        yield one


def _said(
    reply: _Reply,
    start: int,
    end: int,
    read: _Read,
    strength: int,
    *,
    final: bool = False,
    revised: bool = False,
    closed: bool = False,
) -> _Statement:
    if not (final or revised):
        final, revised = _introduced(reply.lead(start), "", "")
    return _Statement(start, end, reply.checked(read, start, end), strength, final, revised, closed)


def _alone(reply: _Reply) -> Iterator[_Statement]:
    """A first or last line that is a grade and nothing else; ``1.`` may number what follows."""
    lines = [(found.start(), found[0]) for found in re.finditer(r"[^\n]*\S[^\n]*", reply.open[: reply.ended])]
    if not lines:
        return
    for which, (start, line) in enumerate([lines[0]] if reply.cut else [lines[0], lines[-1]]):
        if (
            len(line) > LONGEST_VALUE
            or line.strip()[0] in "\"'`“„«「{"
            or (which == 0 and re.match(r"\s*\d+[.)]\s*$", line))
        ):
            continue
        read = reply.grades.alone(re.sub(r"\A[\s#]*(?:[-*•–]\s+(?=\S))?", "", line))
        if read is not None and which == 1 and len(lines) > 2 and read.grade and read.grade.isdigit():
            above = reply.grades.alone(lines[-2][1])
            if above is not None and above.grade not in {None, read.grade}:  # a column of numbers
                continue
        if read is not None and not (
            which == 0 and len(lines) > 1 and ":" in line and not read.marked and read.grade is None
        ):
            stars = not read.marked or not re.search(r"\d\D*\d.*\w{4}", line)
            yield _Statement(start, start + len(line), reply.checked(read, start, start + len(line)) if stars else read)
    first = re.match(r"\s*[*_]{0,3}[^.\n:]{1,30}?(?=[.:]\s(?!\s*\d))", reply.open)
    if first is not None and len(lines[0][1]) > first.end():
        read = reply.grades.alone(first[0])
        if read is not None and (read.marked or not reply.grades.numeric):
            yield _Statement(0, first.end(), read)


def _sentences(reply: _Reply) -> Iterator[_Statement]:
    """``I would give it a 4``, ``it deserves a score of 4``, ``a clear 4 out of 5``, ``the answer is incorrect.``"""
    for pattern in (I_GIVE, IT_DESERVES, SCORING) if reply.grades.numeric else ():
        for found in _few(pattern.finditer(reply.open)):
            lead = reply.lead(found.start())
            about = lead + (found["object"] if "object" in pattern.groupindex else "")
            match = VALUE.match(reply.open, found.end())
            if match is None or ORDERS.search(about) or REPORTS.search(lead) or not ENDS.match(reply.open, match.end()):
                continue
            if pattern is SCORING and not match["most"] and not found[0].lower().startswith("scoring"):
                continue
            if MORE_NUMBER.match(reply.open, match.end()) or RUBRIC.match(reply.open, match.end()):
                continue
            yield _said(reply, found.start(), match.end(), reply.grades.number(match), SENTENCE)
    for found in IT_IS.finditer(reply.open) if not reply.grades.numeric and not reply.grades.pairs else ():
        read, end = reply.value(found.end())
        if read is not None and re.match(r"[*_`\"]{0,4}\s{0,2}(?:[.!]|\n|\Z)", reply.open[end : end + 8]):
            yield _said(reply, found.start(), end, read, SENTENCE)


FORMS: tuple[Callable[[_Reply], Iterator[_Statement]], ...] = (
    _whole,  # DECLARED: nothing else is said
    _bracketed,  # DECLARED in a line of its own, [RESULT] always; else STATED
    _tagged,  # DECLARED
    _json,  # DECLARED at the edges of the reply; else STATED
    _labelled,  # DECLARED as final or revised; STATED with a colon; SENTENCE as "the score is 4"
    _alone,  # STATED: the first or last line
    _sentences,  # SENTENCE
)
"""What may state a verdict; the strongest that states anything counts, wherever it stands."""


def stated(
    text: str,
    scale: Scale,
    finish: str = WHOLE,
    *,
    names: Sequence[str] = (),
    texts: Callable[[], Sequence[str]] | None = None,
) -> str:
    """The one verdict that a reply states, as the scale writes it (or a number half way between two grades).

    Args:
        text: The reply.
        scale: The judge's.
        finish: Why it ended. Of one that was cut, its last line counts only for what has an end of its own.
        names: What the verdict may be called beside "score" and the like.
        texts: The item's own: a statement that stands in one of them is no verdict.

    Raises:
        UnreadableReplyError: There is none.
    """
    rest = said(text)
    reply = _Reply(rest, _Grades(scale), [scale.name, *names], finish)
    if not reply.text:
        raise _nothing(text, rest, finish)
    found = [one for form in FORMS for one in form(reply)]
    if reply.cut:
        found = [
            one for one in found if one.closed or (one.end <= reply.ended and one.strength > SENTENCE and not one.whole)
        ]
    if found and texts is not None and not any(one.whole for one in found):
        found = _own(found, reply.text, texts())
    for strength in (DECLARED, STATED, SENTENCE):
        if equals := [one for one in found if one.strength == strength]:
            return _one_of(equals)
    raise _nothing(text, rest, finish)


def _one_of(equals: Sequence[_Statement]) -> str:
    """The verdict of statements of the same strength.

    Raises:
        UnreadableReplyError: Two differ, and neither is introduced as final after the other; or it is off the scale.
    """
    whole = [one for one in equals if one.whole]
    equals = whole or equals
    last = max(equals, key=lambda one: one.end)
    for mark in ("revised", "final"):
        marked = [one for one in equals if getattr(one, mark)]
        if marked and len({one.read for one in marked}) == 1:
            since = max(one.start for one in marked)
            if all(one.end <= since for one in equals if one.read.grade != marked[0].read.grade):
                last, equals = marked[-1], marked
                break
    if len({one.read.grade for one in equals}) > 1:
        grades = dict.fromkeys(one.read.grade or "?" for one in sorted(equals))
        raise UnreadableReplyError(f"malformed reply: two verdicts: {', '.join(grades)}")
    if last.read.grade is None:
        raise UnreadableReplyError(last.read.fault)
    return last.read.grade


def _own(found: Sequence[_Statement], text: str, texts: Sequence[str]) -> list[_Statement]:
    """The statements that do not stand in the item's own texts; a line that is a grade alone stands everywhere."""
    known = [_plain(one) for one in texts]
    looked: dict[str, bool] = {}
    kept = []
    for one in found:
        span = _plain(text[one.start : one.end])
        if span not in looked and len(looked) < MOST_SPANS:
            looked[span] = len(span) > 3 and any(_holds(each, span) for each in known)
        if span not in looked:
            raise UnreadableReplyError(f"malformed reply: more than {MOST_SPANS} different verdicts")
        if not looked[span] or not re.search(r"[^\W\d]|\[\[", span):
            kept.append(one)
    return kept


def _holds(text: str, span: str) -> bool:
    at = text.find(span)
    while at >= 0:
        if not (span[-1].isdigit() and text[at + len(span) : at + len(span) + 1].isdigit()):
            return True
        at = text.find(span, at + 1)
    return False


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[*_`\"'#>~]", "", text).casefold().split())


def _nothing(text: str, rest: str, finish: str) -> UnreadableReplyError:
    """The error of a reply without a verdict."""
    if finish in CUT:
        return UnreadableReplyError(
            f"cut reply: it ended ({finish}) before its verdict: {_short(text)}".rstrip(": "), final=True
        )
    if not text.strip(INVISIBLE + " \t\r\n"):
        return UnreadableReplyError("empty reply")
    if not rest.strip():
        return UnreadableReplyError(f"malformed reply: reasoning without a verdict: {_short(text)}")
    return UnreadableReplyError(f"{'refusal' if refuses(rest[-LONGEST:]) else 'malformed reply'}: {_short(rest)}")


# ---- JSON ----


def _objects(text: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each outermost object; one that is not closed ends with the last bracket."""
    if "{" not in text:
        return
    depth, start = 0, 0
    at = text.index("{")
    for found in STRING.finditer(text, at):
        if found[0] == "{":
            start = found.start() if not depth else start
            depth += 1
        elif found[0] == "}" and depth:
            depth -= 1
            if not depth:
                yield start, found.end()
    if depth and (last := text.rfind("}")) > start:
        yield start, last + 1


def _pairs_of(body: str) -> list[tuple[str, object]]:
    """Names and values of an object, of objects in it, too; of one that is broken what stands between its marks."""
    try:
        given = _load(body)
        if given is None:
            bare = LINE_COMMENT.sub(lambda part: part[0] if part[0][0] == '"' else "", body)
            given = _load(STRING_OR_COMMA.sub(lambda part: part[0] if part[0] != "," else "", bare))
    except RecursionError:
        return []
    if given is not None:
        return list(_flat(given))
    return [(found[1], found[2].strip("\"'")) for found in LOOSE_PAIR.finditer(body)]


def _flat(given: "_Object") -> Iterator[tuple[str, object]]:
    for name, value in given.pairs:
        if isinstance(value, _Object):
            yield from _flat(value)
        elif isinstance(value, str | int | float) or value is None:
            yield name, value
        else:
            yield name, str(value)


@dataclass(frozen=True, slots=True)
class _Object:
    """Every pair of a JSON object: a name may stand in it twice."""

    pairs: list[tuple[str, object]]


def _load(body: str) -> _Object | None:
    """A number with a point stays as it is written: 5.00000000000000000001 is not 5."""
    try:
        given = json.loads(body, strict=False, object_pairs_hook=_Object, parse_float=str, parse_constant=str)
    except ValueError:
        return None
    return given if isinstance(given, _Object) else None


# ---- Forms of reply with fields ----

HEADER = re.compile(
    r"(?P<line>^[ \t*_]{0,8})?\[\[ {0,2}#{1,3} {0,2}(?P<name>\w{1,60}) {0,2}#{1,3} {0,2}\]\]", re.MULTILINE
)


def read_fields(text: str, finish: str = WHOLE, names: Sequence[str] = ()) -> dict[str, object]:
    """The output fields of a reply, wherever they stand: behind markers, in JSON, or in lines that begin with their"
    " names.

    Args:
        text: The reply.
        finish: Why it ended. In one that was cut, a field that nothing follows may lack its end.
        names: The fields of the grades: their markers count within a line, too.

    Raises:
        UnreadableReplyError: When there is no field in the reply at all, or a field has two different values, or the
            reply was cut within a field that is no prose.
    """
    rest = said(text)
    marked = _marked(rest, names)
    wanted = set(names) & {name for name, _ in marked} if names else {name for name, _ in marked}
    if finish in CUT and marked:
        fields = _once(marked)
        last = marked[-1][0]
        if last == CONFIDENCE:
            del fields[last]
        elif last not in PROSE:
            raise UnreadableReplyError(f"cut reply: it was cut ({finish}) before {last} ended", final=True)
        elif not wanted:
            raise UnreadableReplyError(f"cut reply: it was cut ({finish}) within {last}", final=True)
        return fields
    given = [] if wanted and not rest.startswith("{") else _given(rest, names)
    fields = _once([*given, *marked])
    if names and not set(names) & fields.keys():
        fields = _once([*marked, *_lines(rest, names)]) or fields
    if not fields:
        raise _nothing(text, rest, finish)
    return fields


def _marked(text: str, names: Sequence[str]) -> list[tuple[str, object]]:
    """Fields behind markers."""
    known = {*names, *PROSE, CONFIDENCE} if names else set[str]()
    headers = [one for one in HEADER.finditer(text) if one["line"] is not None or one["name"].casefold() in known]
    ends = [*(one.start() for one in headers[1:]), len(text)]
    return [
        (one["name"].casefold(), text[one.end() : end].strip(" \t\r\n"))
        for one, end in zip(headers, ends, strict=False)
    ]


def _given(text: str, names: Sequence[str]) -> list[tuple[str, object]]:
    """Fields of the objects of JSON in a reply, in a block of code or not; none where the rest of it refuses."""
    spans = list(_objects(text))
    found = [(name.casefold(), value) for start, end in spans for name, value in _pairs_of(text[start:end])]
    if names and not {name for name, _ in found} & {*names}:
        return []
    if spans and (refuses(text[: spans[0][0]]) or refuses(text[spans[-1][1] :])):
        raise UnreadableReplyError(f"refusal: {_short(text)}")
    return found


def _lines(text: str, names: Sequence[str]) -> list[tuple[str, object]]:
    """Fields in lines that begin with their names, or below them: ``grade: 4``, ``## grade``."""
    listed = "|".join(re.escape(name).replace("_", "[ _-]") for name in (*names, *REASONS, CONFIDENCE))
    pattern = re.compile(rf"^[ \t#*_>-]{{0,8}}({listed})[*_ \t]{{0,4}}(?:[:：=]|$)", re.IGNORECASE | re.MULTILINE)
    heads = list(pattern.finditer(text))
    ends = [*(one.start() for one in heads[1:]), len(text)]
    canonical = {re.sub(r"[ _-]", "_", name.casefold()): name for name in (*names, *REASONS, CONFIDENCE)}
    return [
        (canonical[re.sub(r"[ _-]", "_", one[1].casefold())], text[one.end() : end].strip())
        for one, end in zip(heads, ends, strict=False)
    ]


def _once(stated: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Each field with its value; of prose, the first one.

    Raises:
        UnreadableReplyError: For two different values: one of them may be a forged verdict that the reason quotes.
    """
    seen: dict[str, object] = {}
    for name, value in stated:
        if name not in PROSE and _same(seen.setdefault(name, value)) != _same(value):
            raise UnreadableReplyError(f"malformed reply: {_short(name)} stated twice, differently")
        seen.setdefault(name, value)
    return seen


def _same(value: object) -> str:
    return str(value).strip(WRAPPING)


def read_form(
    text: str,
    names: Sequence[str],
    scale: Scale,
    distributions: Mapping[str, FloatArray],
    finish: str = WHOLE,
    *,
    texts: Callable[[], Sequence[str]] | None = None,
) -> Verdict:
    """The verdict in a reply to a prompt that asks for fields; of one grade alone in whatever form it comes.

    Args:
        text: The reply.
        names: The grade field of each aspect.
        scale: The judge's scale.
        distributions: As ``read_verdict``.
        finish: Why it ended.
        texts: As ``stated``.

    Raises:
        UnreadableReplyError: There is none.
    """
    fault: UnreadableReplyError | None = None
    try:
        fields: Mapping[str, object] = read_fields(text, finish, names)
    except UnreadableReplyError as error:
        if not str(error).startswith(("malformed reply: ", "cut reply: it ended")) or "twice" in str(error):
            raise
        fields, fault = {}, error
    if not set(names) & fields.keys() and len(names) == 1 and not set(fields) & {*REASONS}:
        try:
            grade = stated(text, scale, finish, names=names, texts=texts)
        except UnreadableReplyError:
            if fault is None:
                return read_verdict(fields, names, scale, distributions)
            raise
        fields = {REASON: said(text), **fields, names[0]: grade}
    elif fault is not None:
        raise fault
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
        value = value_in(fields[name], scale)
        position = read_grade(value, scale)
        neighbours = read_between(value, scale) if position is None else None
        if neighbours is not None:
            probabilities[row, list(neighbours)] = 0.5
            positions.append(int(stated_grades(probabilities[row : row + 1], scale)[0]))
            continue
        if position is None:
            raise UnreadableReplyError(f"off-scale grade: {name} {_short(str(fields[name]))!r}")
        positions.append(position)
        if name in distributions:
            probabilities[row] = distributions[name]
        else:
            probabilities[row, position] = 1.0
    return Verdict(
        positions=tuple(positions),
        probabilities=probabilities,
        confidence=read_confidence(fields.get(CONFIDENCE)),
        reason=str(next((fields[name] for name in REASONS if name in fields), "")).strip(" \t\r\n*"),
    )


def value_in(value: object, scale: Scale) -> object:
    """What a field or a cell states: a grade with a comment as it is, else the verdict of a reply that stands there."""
    if not isinstance(value, str) or _Grades(scale).alone(said(value)) is not None:
        return value
    try:
        return stated(value, scale)
    except UnreadableReplyError:
        return value


def read_grade(value: object, scale: Scale) -> int | None:
    """Position of the grade that a value states, or None when it is not on the scale."""
    grade = _alone_in(value, scale)
    return None if grade is None else next((at for at, one in enumerate(scale.grades) if str(one) == grade), None)


def read_between(value: object, scale: Scale) -> tuple[int, int] | None:
    """Positions of the two neighbouring grades that a number lies exactly half way between, or None."""
    grade = _alone_in(value, scale)
    numeric = not any(isinstance(one, str) for one in scale.grades)
    return _Grades(scale).between(Decimal(grade)) if grade is not None and numeric else None


def _alone_in(value: object, scale: Scale) -> str | None:
    if isinstance(value, bool) or value is None:
        return None
    read = _Grades(scale).alone(said(str(value)))
    return None if read is None else read.grade


def read_confidence(value: object) -> float:
    """A stated confidence of 0-100 as 0-1; NaN when it is missing or anything else.

    Between 0 and 1 it may be a percentage or a fraction, so it counts as not stated.
    """
    written = re.fullmatch(r"\d+(\.\d+)?", str(value).strip(WRAPPING + "%"))
    percent = float(written.group()) if written else math.nan
    return percent / 100 if percent == 0 or 1 <= percent <= 100 else math.nan


def _short(text: str) -> str:
    line = " ".join(text[: 10 * SHOWN].split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
