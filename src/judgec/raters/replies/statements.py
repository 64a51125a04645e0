"""Finds the one verdict that a reply states, in English or in a form; what is in doubt stays unread."""

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from judgec.raters.replies.grades import LONGEST as LONGEST_WORDS
from judgec.raters.replies.grades import NUMBER, SPELT, Grades, folded, narrow
from judgec.raters.replies.objects import few, objects_in, pairs_of
from judgec.raters.replies.said import (
    CUT,
    LONGEST,
    REFUSES,
    WHOLE,
    WRAPPING,
    UnreadableReplyError,
    no_verdict,
    quoted_in,
    said,
    short,
)
from judgec.records.scale import Scale

AROUND = 300  # characters behind a value in which another one makes it doubtful
MOST_LED = 2000  # characters of a reply that may begin with its grade
HIDDEN = "\ue000"  # stands for each character that is only quoted

# ---- Names: English whatever language the labels have; aspects and the scale's name are known beside them ----


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FIELDS = _words(
    "score grade rating mark verdict judgment judgement label classification assessment winner preference preferred"
    " choice better best"
)
ANSWERS = frozenset({"final answer", "result", "conclusion", "decision", "overall", "final"})  # texts have these, too
_NAMES = "|".join([r"(?:better|best) (?:answer|response|reply|output)", *sorted({*FIELDS, *ANSWERS}, key=len)[::-1]])
_LEAD = (
    r"(?:(?:so|thus|therefore|hence|my|the|your|an?|final|overall|total|revised|corrected|updated|new|numeric(?:al)?|answer"
    r"|response|quality|relevance|evaluation|llm|judge(?:'s)?|final[ -]?answer|is|here|as|such|i|would|give|assign|in"
    r"|on reflection|conclusion|summary)[ ,:]{1,2}){0,6}"
)
FINAL = re.compile(r"(?i)\b(?:final|overall|total)\b")
REVISED = re.compile(r"(?i)\b(?:revised|corrected|updated)\b")
OWNERS = _words(  # before a name: it is somebody else's
    "previous prior old example sample human expert reference gold target baseline min minimum max maximum mean average"
    " other user student"
)
_JUDGED = (
    r"(?:answer|response|reply|output|summary|document|passage|claim|statement|text|submission|prediction|translation)"
)

# ---- What makes a statement doubtful ----

_TAKEN_BACK = (
    rf"{REFUSES.pattern}|\b(?:not|wrong) (?:an? |the |my |its )?(?:grade|rating|score|verdict)\b"
    r"|\bnot (?:this|that) (?:one|grade|score)|\b(?:scratch|strike|ignore|disregard) (?:that|this|it)\b|\bnever ?mind\b"
    r"|\bon second thoughts?\b|\b(?:take|took) (?:that|it) back\b|\b(?:wait|hold on|hmm+|actually|correction|kidding"
    r"|joking)\b|\bchanged my mind\b|\bi didn['’]t mean\b"
    r"|\A\W*(?:no|nope|not|none|never|n/?a|null|wrong|false|not really)\W*\Z"
    r"|\b(?:says?|said|claims?|claimed|asks?|asked|wrote|writes|concludes?|concluded|states?|stated|according to"
    r"|opinion|tells?|told)\b"
)
TAKEN_BACK = re.compile(_TAKEN_BACK, re.IGNORECASE)
DOUBT = re.compile(
    rf"(?i){_TAKEN_BACK}|\?|\bi (?:deduct|lower|raise|reduce|subtract)\b|\bpart(?:ly|ially|ial)?\b|\bonly in\b"
    r"|\bbut\b|\bminus\b|\bexcept\b|\bwith (?:\w+ )?(?:reservation|caveat|exception|limitation)s?\b"
    r"|\b(?:had|were) (?:it|this|they|the)\b"
)
MAY_FOLLOW = re.compile(
    r"(?i)[\s*_`\"'”)\]}>|$]{0,6}(?:\Z|[.;,:(\[|–—-]\s|\(|\[|<|[.!]\Z|,\s|[.;!]\s|\\\)"
    r"|(?:because|since|as|for|in terms of|on|to)\b)"
)
SENTENCE_ENDS = re.compile(r"(?i)(?<!e\.g)(?<!i\.e)[.!]\s")
COUNTED = re.compile(  # a number that counts something (2 of 3 valves), or that the grade is said not to be
    r"(?i)\b(?:confidence|certainty|weight|page|section|line)\b\W{0,3}\d+(?:\.\d+)?%?|\[\d+\]"
    r"|\d+(?:\.\d+)?(?:/\d+| of (?:the )?\d+)? (?!(?:for|and|but|out|stars?|points?|marks?|pts)\b)[a-z]{3,}"
    r"|\b(?:not|rather than|instead of|short of|below)\s(?:an?\s|the\s)?\d+(?:/\d+)?"
)
MOST_OF = re.compile(r"(?i)\(?\b(?:max\w*|out of|scale|range)\b[^\d\n]{0,12}(?:\d{1,3}\s?(?:-|–|to)\s?)?(\d{1,9})")
ANNOUNCED = re.compile(  # "Good, let me see"
    r"(?i)\W{0,4}(?:let me|let['’]s|i (?:can|could|will|understand|see)\b|i['’](?:ll|m|d)\b|here\b|please|sure|thank"
    r"|understood|happy to|now\b)"
)

# ---- Forms ----

FENCE = re.compile(r"```(?:[^\n`]*\n)?(.*?)(?:```|\Z)", re.DOTALL)
STRUCK = re.compile(r"~~[^~\n]{1,400}~~")
QUOTED = re.compile(  # code, echoes of the item in tags or on a line, block quotes, quotation marks
    r"```(?:[^\n`]*\n)?(?P<code>(?s:.*?))(?:```|\Z)|`(?P<inline>[^`\n]{1,1000})`"
    r"|<(?P<tag>query|question|prompt|answer|response|reference|contexts?|passage|document|quote|example|item|input)>"
    r"(?P<tagged>(?s:.{0,5000}?))</(?P=tag)>|^[ \t]{0,3}(?:>|&gt;)[^\n]*|(?<=\n\n)(?:(?: {4}|\t)[^\n]*(?:\n|\Z))+"
    r"|^[ \t*_#>-]{0,8}(?:(?:the|user|candidate|student|model|assistant|reference|expected|generated|given)(?:'s)?"
    r"\s){0,2}"
    r"(?:answer|response|reply|question|query|prompt|reference|contexts?|passage|document|claim|quote|example)(?:\s[ab12])?"
    r"[ \t*_]{0,4}:(?P<echo>[^\n]*\S[^\n]*)"
    r"|(?<!\w)\"(?=\S)(?P<a>[^\"]{1,1000})\"(?!\w)|“(?P<b>[^”]{1,1000})”|«(?P<c>[^»]{1,1000})»|(?<!\w)[\"“](?=\S)[^\"\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
BOX = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]|\\boxed\{(?:\\text(?:bf)?\{)?([^{}\n]{1,40})\}{1,2}")
TAG = re.compile(r"(?i)<(?P<tag>[a-z_]{3,30})>\s{0,9}(?P<value>[^<>\n]{1,80}?)\s{0,9}</(?P=tag)>")
RESULT = re.compile(r"(?i)\[(?:result|score|grade|verdict|rating)\][\s:*_(\[]{0,6}")
ANSWER = re.compile(r"(?i)\A(?:(?:final|my|the)\s)*answer\s?:[\s*]{1,4}(?=\S+\Z)")
SO = re.compile(r"(?i)\A\s*(?:#{1,6}\s+|[-*•→]\s+(?=\S))?(?:(?:so|thus|therefore|hence|overall)[,:]?\s(?:an?\s)?)?")
_OF = r"(?:an?\s|the\s)?(?:(?:overall|final|\w+)\s)?(?:score|rating|grade|mark)\s(?:of|is)\s"
TELLS = re.compile(  # "I give it a", "it deserves a score of", "the answer is"
    rf"(?i)[\s*_#>-]{{0,6}}(?:(?:overall|so|thus|therefore|hence|in conclusion),?\s)?(?:"
    rf"(?:i|we)(?:['’]d|['’]ll| would| will| must)?\s(?:therefore\s|still\s)?"
    rf"(?:give|rate|score|grade|assign|award|label|prefer)\s(?:(?:(?:this|the)(?:\s(?:given|candidate))?\s{_JUDGED}|it|this|that)\s)?(?:as\s|with\s)?(?:{_OF})?(?:an?\s)?"
    rf"(?:(?:solid|strong|weak|clear)\s)?"
    rf"|(?:(?:this|the)\s{_JUDGED}|it|this)\s(?:therefore\s|only\s)?(?:deserves|merits|earns|gets|receives)\s(?:{_OF})?(?:an?\s)?"
    rf"|(?P<word>(?:this|the)\s{_JUDGED}\sis)\s(?:therefore\s)?)[*_`\"]{{0,3}}"
)
RESULTING = re.compile(
    rf"(?i)\b(?:resulting in|earning|meriting|deserving|warranting|receiving|hence|therefore|so)"
    rf"\s(?:it\s\w+\s)?{_OF}[*_`]{{0,3}}"
)
OUT_OF = re.compile(rf"(?i)(?<![\w.,/])(?P<number>\d(?:\.\d)?|{'|'.join(SPELT)})\s?(?:/|out of)\s?\w+")
ON_IT = re.compile(  # how a sentence on what is judged begins
    r"(?i)\W*(?:(?:overall|so|therefore|thus|hence|reason|based on [^,]{1,40}|in conclusion)[,:]?\s)*"
    rf"(?:(?:the|this)\s(?:\w+\s)?{_JUDGED}\b|(?:i|we|it)\b)(?!.{{0,20}}\b(?:says?|states?|claims?|reports?)\s(?:that|how))"
)
SCORING = re.compile(
    r"(?i)\b(?:scor|rat|grad|deserv|earn|merit|receiv|giv|assign|award)\w*\b|\bis an?\s(?:\w+\s)?\Z|[,;]\s\Z"
)
DENIED = re.compile(
    r"(?i)\b(?:says?|states?|claims?|reports?|tells?|asks?|mentions?|covers?|contains?|includes?|lists?|names?"
    r"|than|at least|almost|nearly|not|never|if|(?<!i )would|could|might|instead|from|perhaps|maybe)\b"
    r"[^,]{0,60}\Z"
)
LATER = re.compile(
    rf"(?i)\b(?:edit|update):\s|\b(?:deserves|merits|earns|gets|give it|rate it|lower it|make it)\s(?:an?\s)?"
    rf"|\b(?:{_NAMES})\b[\s*_]{{0,4}}(?:\([^()\n]{{0,40}}\))?[\s*_]{{0,4}}(?::|=|\bis\b|\bof\b|\bto\b)[\s*_`\"(\[]{{0,6}}"
    rf"(?:an?\s|now\s)?"
)

DECLARED, STATED, SENTENCE, LED = 3, 2, 1, 0


class Statement(NamedTuple):
    """A place that states a verdict; without a grade, something in the place of one that is none."""

    start: int
    end: int
    grade: str | None
    strength: int
    final: int = 0  # 1: introduced as final, 2: as revised
    whole: bool = False  # nothing else was said
    doubted: bool = False  # what follows takes the grade away
    closed: bool = False  # it has its own end: also in a reply that was cut


class Content:
    """The content of a reply: all of it, and ``open`` with what is only quoted hidden, in lines that say something.

    Args:
        text: From ``said``.
        grades: Of the scale.
        names: What else the verdict is called: aspects, the scale.
    """

    def __init__(self, text: str, grades: Grades, names: Sequence[str] = ()) -> None:
        text = STRUCK.sub(lambda gone: " " * len(gone[0]), narrow(text[-LONGEST:])).strip()
        fence = FENCE.fullmatch(text)
        self.text = fence[1].strip() if fence and "```" not in fence[1] else text
        self.grades, self.own = grades, {folded(name) for name in names if name}
        self._kept: dict[str, bool] = {}
        self.open = QUOTED.sub(self._hide, self.text)
        starts = [0, *(one.end() for one in re.finditer("\n", self.open))]
        lines = zip(starts, self.open.split("\n"), strict=True)
        self.lines = [(at, line) for at, line in lines if line.strip(HIDDEN + " \t\r")]
        own = [re.escape(name).replace(r"\ ", "[ _-]") for name in sorted(self.own, key=len, reverse=True)]
        listed = "|".join([*own, _NAMES])
        self.label = re.compile(
            rf"(?i)(?P<lead>[\s#*_>|-]{{0,8}}(?:\d[.)]\s)?{_LEAD}[*_]{{0,3}})(?P<name>{listed})\b"
            rf"(?P<paren>[ \t]{{0,3}}[(\[][^()\[\]\n]{{0,40}}[)\]])?[\s*_\"'\])]{{0,6}}"
            rf"(?:\s(?:given|final|awarded|obtained)\b)?(?:\s(?:for|of) (?:this|the) {_JUDGED})?[\s*_]{{0,4}}"
            rf"(?P<join>[:=]{{1,2}}|->|→|=>|[-–—](?=\s)|\bis\b:?|\||(?=\s\d)|[ \t:]*(?=\n))[\s*_`\"'(\[$]{{0,8}}"
            rf"(?:(?:an?|now|therefore|is)\s(?=[*_]{{0,3}}\d))?(?:\\(?:boxed|text)\{{|\\\()?"
        )

    def _hide(self, found: re.Match[str]) -> str:
        inside = next((one for one in found.group("code", "inline", "tagged", "echo", "a", "b", "c") if one), None)
        if inside is not None and inside not in self._kept:  # a hostile reply quotes one text ten thousand times
            self._kept[inside] = self.grades.alone(inside) is not None
        kept = inside is not None and self._kept[inside]
        return found[0] if kept else re.sub(r"[^\n]", HIDDEN, found[0])

    def rest(self, end: int) -> str:
        """The part of a line behind a place."""
        return self.open[end : end + AROUND].partition("\n")[0]

    def alone(self, end: int) -> bool:
        """True if nothing follows in a line."""
        return not self.rest(end).strip(WRAPPING + ".)]}|!")

    def doubted(self, grade: str, end: int, doubt: re.Pattern[str] = DOUBT) -> bool:
        """True if the rest of its line makes a value doubtful: words of doubt, another number, another grade."""
        rest = self.rest(end)
        sentence = SENTENCE_ENDS.split(rest + " ", maxsplit=1)[0].strip(" .,;:()[]-–—*_|")
        if (
            (self.open[end - 1 : end] not in "]}" and not MAY_FOLLOW.match(rest) and rest.strip(WRAPPING + ".)]}|$\\"))
            or doubt.match(rest.lstrip(WRAPPING + " .,;:()!-–—*"))
            or doubt.search(sentence)
            or re.search(
                rf"\b(?:not|below|almost|nearly|than) (?:an? |quite )?{re.escape(grade)}\b", rest, re.IGNORECASE
            )
            or (
                grade == "yes" and re.match(r"[*_\s]{0,3}[,;:(–—-]\s{0,2}(?!(?:it|the|this|all|every|because)\b)", rest)
            )
        ):
            return True
        if not self.grades.numeric:
            others = [word for word, other in self.grades.words.items() if other != grade and len(word) > 1]
            return any(re.search(rf"\b{re.escape(word)}\b", rest, re.IGNORECASE) for word in others)
        return self._other_number(Decimal(grade), COUNTED.sub("", rest))

    def _other_number(self, grade: Decimal, rest: str) -> bool:
        most = self.grades.most
        numbers = {Decimal(one) for one in re.findall(r"(?<![\d/.\w])\d{1,9}(?:\.\d+)?(?!\d)", rest)}
        scale_ends = {Decimal(one[1]) for one in MOST_OF.finditer(rest)}
        shares = {Decimal(one) for one in re.findall(r"(\d{1,3}(?:\.\d+)?)\s?%", rest)}
        if most and all(one == grade / most * 100 for one in shares):
            numbers -= shares
        return bool(numbers - {grade, *({most} & scale_ends)}) or bool(scale_ends - {most, grade})

    def statement(
        self, start: int, end: int, grade: str | None, strength: int, final: int = 0, doubt: re.Pattern[str] = DOUBT
    ) -> Statement:
        """A statement, once what follows it has been read."""
        doubted = grade is not None and self.doubted(grade, end, doubt)
        return Statement(start, end, None if doubted else grade, strength, final, doubted=doubted)


def whole(reply: Content) -> Iterator[Statement]:
    """The reply is a grade: ``4``, ``**4/5**``, ``[4]``, ``Answer: 4``."""
    if (grade := reply.grades.alone(ANSWER.sub("", reply.text.strip(WRAPPING)))) is not None:
        yield Statement(0, len(reply.text), grade, DECLARED, whole=True)


def marked(reply: Content) -> Iterator[Statement]:
    r"""``[[4]]``, ``\boxed{4}``, ``<score>4</score>``, ``[RESULT] 4``."""
    for found in few(BOX.finditer(reply.open)):
        line = reply.open[max(0, found.start() - AROUND) : found.start()].rpartition("\n")[2]
        grade = reply.grades.alone(found[1] or found[2])
        if grade is None or DOUBT.search(line) or any(one.endswith(("'s", "’s")) for one in line.split()):
            continue  # none, or somebody else's
        last = reply.alone(found.end()) and not line.strip(WRAPPING + "#>-([$")
        strength = DECLARED if last or line.rstrip(" *$").endswith((":", " is", "=")) else STATED
        yield reply.statement(*found.span(), grade, strength, 2 if REVISED.search(line) else 0)
    for found in few(TAG.finditer(reply.open)):
        names, grade = {*found["tag"].casefold().split("_")}, reply.grades.alone(found["value"])
        last = not reply.open[found.end() :].strip() and names <= {"answer", "output", "result"}
        if grade is not None and (last or names & {*FIELDS, *ANSWERS, *reply.own}) and not names & OWNERS:
            yield Statement(*found.span(), grade, DECLARED, closed=True)
    for found in few(RESULT.finditer(reply.open)):
        if value := reply.grades.value(reply.open, found.end()):
            yield reply.statement(found.start(), value[1], value[0], DECLARED)


def objects(reply: Content) -> Iterator[Statement]:
    """``{"score": 4}`` where it begins or ends the reply, or in a block of code."""
    fences = [found.span() for found in FENCE.finditer(reply.text)]
    for start, end in few(objects_in(reply.text)):
        fenced = any(first <= start < last for first, last in fences)
        before, behind = reply.text[:start].rpartition("\n")[2], reply.text[end:].partition("\n")[0]
        if not fenced and (before.rstrip(" [")[-1:] not in {"", ":", ".", "!"} or behind.strip("] .")):
            continue  # "The answer ends with"
        edge = not reply.text[:start].strip("[ \n") or not reply.text[end:].strip("] \n")
        for grade in _stated_in(reply.text[start:end], reply) if fenced or edge else ():
            yield Statement(start, end, grade, DECLARED if edge and not fenced else STATED, closed=True)


def _stated_in(body: str, reply: Content) -> set[str | None]:
    """The grades in the fields of an object that are called a grade; of several the one that is for all."""
    most, wanted, named = reply.grades.most, {*FIELDS, *reply.own}, list[tuple[str, str]]()
    for written, value in pairs_of(body):
        name = re.sub(r"(?<=[a-z\d])(?=[A-Z])|[ -]", "_", written).casefold()
        parts = {*name.split("_")}
        if "max" in name or "out_of" in name:
            if reply.grades.numeric and str(value).replace(".", "").isdigit() and Decimal(str(value)) != most:
                return {None}
        elif parts & OWNERS and parts <= OWNERS | wanted:
            continue  # the previous score
        elif value is not None and (
            name in reply.own or parts & wanted or name in {"overall", "final", "answer", "result"}
        ):
            named += [(name, str(value))]
    if not {name for name, _ in named} & wanted:
        named = [(name, value) for name, value in named if FINAL.search(name.replace("_", " "))] or named
    return {grade for _, value in named if (grade := reply.grades.alone(value)) is not None}


def labelled(reply: Content) -> Iterator[Statement]:
    """``Score: 4`` at the beginning of a line or sentence; ``### Score`` above ``4``."""
    for at, line in reply.lines:
        for begin in [0, *(one.end() for one in re.finditer(r"[.!]\s+(?=[\w*_])", line))]:
            if found := reply.label.match(reply.open, at + begin):
                yield from _behind(reply, found)


def _foreign(reply: Content, paren: str | None) -> bool:
    """True if a label says that the scale is another one: ``Score (1-10)``."""
    numbers = re.findall(r"\d+", paren or "")
    return bool(numbers) and Decimal(numbers[-1]) != reply.grades.most


def _behind(reply: Content, found: re.Match[str]) -> Iterator[Statement]:
    """The statement of a label."""
    value = reply.grades.value(reply.open, found.end())
    below = "\n" in found[0]
    if value is None or (
        below and not re.match(r"[*_ ]{0,3}(?:[.!)\]]?[*_ ]{0,3}(?:\n|\Z)|[-–—(,:])", reply.open[value[1] :])
    ):
        return
    (grade, end), name, join = value, folded(found["name"]), found["join"].strip(": ").casefold()
    alone, last = reply.alone(end), not reply.open[end : end + AROUND].strip(WRAPPING + ".)]}|!")
    told = last or re.search(r"/\s?\d", reply.open[found.end() : end]) or (alone and name in {"final", "overall"})
    if (name in ANSWERS and (join == "is" or not told)) or not (found["join"].strip() or below or alone):
        return
    final = 2 if REVISED.search(lead := found["lead"] + found["name"]) else 1 if FINAL.search(lead) else 0
    strength = DECLARED if final else SENTENCE if join == "is" else STATED
    yield reply.statement(found.start(), end, None if _foreign(reply, found["paren"]) else grade, strength, final)


def edges(reply: Content) -> Iterator[Statement]:
    """The last line, or the first, is a grade and nothing else; the first begins with one and explains it."""
    if not reply.lines:
        return
    for nth in dict.fromkeys((len(reply.lines) - 1, 0)):
        at, line = reply.lines[nth]
        grade = reply.grades.alone(SO.sub("", line))
        numbered = nth == 0 and len(reply.lines) > 1 and re.match(r"\s*\d+[.)]\s*\Z", line)
        if grade is None or numbered or line.strip()[0] in "\"'`“«{":
            continue
        head = reply.lines[nth - 1][1] if nth else ""
        foreign = len(head) < LONGEST_WORDS and any(
            Decimal(one[1]) != reply.grades.most for one in MOST_OF.finditer(head)
        )
        if (nth < 2 or reply.grades.alone(head) in {None, grade}) and not foreign:  # no column of numbers
            yield reply.statement(at, at + len(line), grade, STATED)
    at, line = reply.lines[0]
    leading = [led(one, reply.grades) for _, one in reply.lines[:8]]
    if leading[0] not in {None, "yes"} and {*leading} <= {None, leading[0]} and not re.match(r"\s*\d+[.)]\s", line):
        yield Statement(at, at + len(line), leading[0], LED, closed=True)


def led(text: str, grades: Grades, doubt: re.Pattern[str] = DOUBT) -> str | None:
    """The grade that a text begins with and explains: ``4 (good)``, ``4 - 2 of 3 valves``, ``Four stars. It``."""
    text = narrow(text).strip(WRAPPING)
    grade, end = (None if grades.pairs or len(text) > MOST_LED else grades.value(text)) or (None, 0)
    behind = re.match(r"[*_]{0,3}(?:\s{0,2}(?:[,;:(–—-]|because\b|since\b)|\.(?!\s))", text[end:])
    stop = re.match(r"\.\s", text[end:]) if not text[:end].isdigit() else None
    found = behind or stop
    if grade is None or found is None or ANNOUNCED.match(text[end + found.end() :]):
        return None
    if stop and grades.numeric:
        others = [one for one in NUMBER.finditer(text, end) if one["unit"] or one["most"]]
        return None if others or doubt.match(text[end + 2 :]) else grade
    return None if Content(text, grades).doubted(grade, end, doubt) else grade


def told(reply: Content) -> Iterator[Statement]:
    """A sentence: ``I give it a 4.``, ``..., resulting in a score of 2.``, ``I score the coherence as 4 out of 5.``"""
    grades, only = reply.grades, {found["number"] for found in few(OUT_OF.finditer(reply.open))}
    for at, line in reply.lines:
        number = next((one.start() for one in re.finditer(r"\d", line)), len(line))  # "It is a 2, so I give it a 4"
        clauses = re.finditer(r"(?P<end>[.!;])\s+(?=\S)|,\s(?:so|and|therefore|thus|hence)\s", line)
        for begin in [0, *(one.end() for one in clauses if one["end"] or one.end() <= number)]:
            begun = TELLS.match(line, begin)
            begun = None if begun and begun["word"] and grades.numeric else begun  # "The answer is 4."
            value = grades.value(reply.open, at + begun.end()) if begun else None
            if value and value[0] not in {"yes", "no"}:
                yield reply.statement(at + begin, value[1], value[0], SENTENCE)
        for found in (
            [*RESULTING.finditer(line), *(OUT_OF.finditer(line) if len(only) == 1 else ())] if grades.numeric else ()
        ):
            lead = SENTENCE_ENDS.split(line[max(0, found.start() - 3 * AROUND) : found.start()])[-1]
            value = grades.value(reply.open, at + (found.end() if found.re is RESULTING else found.start()))
            if (
                value
                and ON_IT.match(lead)
                and (found.re is RESULTING or SCORING.search(lead))
                and not DENIED.search(lead)
            ):
                yield reply.statement(at + found.start(), value[1], value[0], SENTENCE, doubt=TAKEN_BACK)
    at, line = reply.lines[-1] if reply.lines else (0, "")
    if grades.pairs and " " in line.strip() and len(re.findall(r"\bbetter\b", reply.open)) < 2:
        first = re.split(r"\s(?:because|since|as)\s|[.!]", line.strip(WRAPPING), maxsplit=1)[0]
        if (grade := grades.word(first)) is not None:
            yield reply.statement(at, at + len(line), grade, SENTENCE)


def declared(reply: Content, form: str) -> Iterator[Statement]:
    """The form that a prompt asked for: ``Puntuación: {v}``; bold marks and spaces in it are free."""
    before, behind = (r"[\s*_`]{0,4}".join(map(re.escape, re.findall(r"\w+|[^\w\s]", one))) for one in _parts(form))
    end = rf"[\s*_`]{{0,4}}{behind}" if behind else r"(?=\n|\Z)"
    for found in few(re.finditer(rf"(?i)(?<!\w){before}[\s*_`]{{0,4}}(?P<v>[^\n]{{1,{AROUND}}}?){end}", reply.open)):
        grade = reply.grades.alone(found["v"]) or led(found["v"], reply.grades)
        closed = bool(behind) or found.end() < len(reply.open)
        yield Statement(*found.span(), grade, DECLARED, closed=closed)


def _parts(form: str) -> list[str]:
    return narrow(form).split("{v}")


def is_form(form: str) -> bool:
    """True for a text with ``{v}`` once, in the place of the grade."""
    return len(parts := _parts(form)) == 2 and any(re.search(r"\S", one) for one in parts) and "\n" not in form.strip()


FORMS: tuple[Callable[[Content], Iterator[Statement]], ...] = (whole, marked, objects, labelled, edges, told)
"""What may state a verdict; the strongest that states anything counts, wherever it stands."""


def stated(
    text: str,
    scale: Scale,
    finish: str = WHOLE,
    *,
    names: Sequence[str] = (),
    texts: Callable[[], Sequence[str]] | None = None,
    form: str | None = None,
) -> str:
    """The one verdict that a reply states, as the scale writes it (or a number half way between two grades).

    Args:
        text: The reply.
        scale: The judge's.
        finish: Why it ended. Of one that was cut, its last line counts only for what has an end of its own.
        names: What the verdict may be called beside "score" and the like.
        texts: The item's own: a statement that stands in one of them is no verdict.
        form: That the prompt asked for, with ``{v}`` in the place of the grade: then it alone is read.

    Raises:
        UnreadableReplyError: There is none.
    """
    rest = said(text)
    reply = Content(rest, Grades(scale), [scale.name, *names])
    kinds = FORMS if form is None else (partial(declared, form=form),)
    found = [one for kind in kinds for one in kind(reply)] if reply.text else []
    if finish in CUT:
        last = reply.text.rfind("\n")
        ended = [one for one in found if one.end <= last and one.strength > SENTENCE and not one.whole]
        found = [one for one in found if one.closed or BOX.match(reply.text, one.start) or one in ended]
    if found and texts is not None and not any(one.whole for one in found):
        quoted = quoted_in(texts())
        found = [one for one in found if not quoted(reply.text[one.start : one.end])]
    if not found:
        raise no_verdict(text, rest, finish)
    strongest = max(one.strength for one in found)
    counting = _final([one for one in found if one.strength == strongest])
    grades = {one.grade for one in counting}
    grades |= _later(reply, max(one.end for one in counting)) if form is None else set()
    if strongest == LED and FINAL.search(reply.text) and REVISED.search(reply.text):
        grades |= {None}
    if len(grades) > 1:
        raise UnreadableReplyError(f"malformed reply: two verdicts: {', '.join(sorted(map(str, grades)))}")
    (grade,) = grades
    if grade is None:
        kind = "malformed reply: in doubt" if any(one.doubted for one in counting) else "off-scale grade"
        raise UnreadableReplyError(f"{kind}: {short(reply.text[counting[0].start :])}")
    return grade


def _final(equals: list[Statement]) -> list[Statement]:
    """Of statements of one strength those introduced as revised, else as final, where the others come before."""
    for level in (2, 1):
        final = [one for one in equals if one.final >= level]
        if final and all(one.end <= max(two.start for two in final) for one in equals if one.grade != final[0].grade):
            return final
    return equals


def _later(reply: Content, since: int) -> set[str | None]:
    """The grades that a reply states in whatever way behind a place: who says another one later has two."""
    found: set[str | None] = set()
    for one in LATER.finditer(reply.open, since):
        value = reply.grades.value(reply.open, one.end())
        found |= {value[0]} if value and value[0] else set()
    return found
