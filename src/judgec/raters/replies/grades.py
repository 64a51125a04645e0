"""Grades as they are written: numbers and what they are out of, words of the user's own scale, the sides of a pair."""

import re
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from judgec.raters.replies.said import UNSEEN, WRAPPING
from judgec.records.scale import Scale
from judgec.records.tasks.spec import PAIR_GRADES

FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
SPELT = {word: n for n, word in enumerate(re.findall(r"\w+", "zero one two three four five six seven eight nine ten"))}
_SPELT = "|".join(SPELT)
_UNIT = r"(?:[ -]?(?:stars?|points?|pts?|marks?)\b)"
NUMBER = re.compile(
    rf"(?P<number>[-+]?\d{{1,12}}(?:\.\d{{1,30}})?(?![\w½¼¾])|(?:{_SPELT})(?={_UNIT}|\sout of\b))(?P<unit>{_UNIT})?"
    rf"(?:[\s*_)`]{{0,4}}(?:/|\bout of\b|\bof\b)\s{{0,2}}[*_`(]{{0,3}}(?:a possible )?"
    rf"(?P<most>\d{{1,9}}(?:\.0+)?|(?:{_SPELT})\b)"
    rf"|(?P<percent>\s?(?:%|percent\b)))?{_UNIT}?",
    re.IGNORECASE,
)
MORE_NUMBER = re.compile(r"[.,]\d|\s{0,2}[-–—~/&]\s{0,2}\d|\s{1,3}(?:to|or|and)\s{1,3}\d")
WORD_ENDS = re.compile(
    r"[.,;:(<\]}*_`\"!|)\[]|\s[-–—]\s|\s(?:because|since|as|than|over|wins?|is|for|in|to)\b|\Z", re.IGNORECASE
)
IN_BRACKETS = re.compile(r"[(\[{<]\s{0,3}([^()\[\]{}<>]{1,60}?)\s{0,3}[)\]}>]|Literal\[([^\[\]]{1,60})\]")
LONGEST = 60  # characters of a grade in words
LONGEST_HEAD = 40  # characters of a meaning that may stand for its grade

_NOUN = "(?:assistant|answer|response|reply|model|system|output|candidate|option)"
_BETTER = "(?:better|best|preferred|winner)"
SIDE = re.compile(
    rf"(?:the_)?(?:{_NOUN}_?(?P<named>[ab12])|(?P<bare>[ab])|(?P<nth>first|second)(?:_{_NOUN})?)"
    rf"(?:_is_(?:clearly_|slightly_|much_)?(?:the_)?{_BETTER}(?:_{_NOUN})?|_wins)?(?:_than_(?:the_)?(?:{_NOUN}_)?[ab12])?"
)
TIE = re.compile(
    rf"(?:it_i?s_)?(?:a_)?(?:tie|draw|same|no_preference)|c|both(?:_{_NOUN}s)?(?:_are)?(?:_equal\w*|_good|_bad)?|equal"
    rf"|tie_both_?bad|(?:{_NOUN}s|they)_are_(?:tied|equal)|neither(?:_{_NOUN})?(?:_is_better)?|equally_good"
)
COMPARED = re.compile(r"(?:\w{1,12}\s)?([ab])\s?([<>]{1,3}|[=~]{1,2})\s?(?:\w{1,12}\s)?([ab])", re.IGNORECASE)


class Grades:
    """Spellings of the grades of one scale.

    Args:
        scale: It.
    """

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self.pairs = set(scale.grades) == set(PAIR_GRADES)  # in whatever order a datasheet has them
        self.numeric = not any(isinstance(grade, str) for grade in scale.grades)
        self.most = Decimal(repr(scale.values[-1]))

    @cached_property
    def words(self) -> dict[str, str]:
        """Words of the scale, and of its meanings where no two grades share them, to the grade; longest first."""
        found = {word: str(n) for word, n in SPELT.items() if self.position(Decimal(n)) is not None}
        said: dict[str, str] = {}
        for grade, meaning in zip(self.scale.grades, self.scale.meanings, strict=False):
            for head in {folded(meaning), folded(re.split(r"[:;,.(]|\s[-–—]\s", meaning, maxsplit=1)[0])}:
                if head and len(head) <= LONGEST_HEAD and not head.isdigit():
                    said[head] = "" if said.get(head, str(grade)) != str(grade) else str(grade)
        found |= said | {folded(str(grade)): str(grade) for grade in self.scale.grades if isinstance(grade, str)}
        return {word: found[word] for word in sorted(found, key=len, reverse=True) if found[word]}

    def position(self, number: Decimal) -> int | None:
        """Of a number on the scale; as a float, 5.00000000000000000001 would be 5."""
        values = self.scale.values if self.numeric else ()
        return next((at for at, one in enumerate(values) if Decimal(repr(one)) == number), None)

    def between(self, number: Decimal) -> tuple[int, int] | None:
        """Positions of the two neighbouring grades that a number lies exactly half way between, or None."""
        for low, (worse, better) in enumerate(pairwise(self.scale.values if self.numeric else ())):
            if number * 2 == Decimal(repr(worse)) + Decimal(repr(better)):
                return low, low + 1
        return None

    def value(self, text: str, at: int = 0) -> tuple[str | None, int] | None:
        """The grade that begins at a place, and its end; None in its place for a number that is no grade.

        Args:
            text: From ``narrow``.
            at: The place.
        """
        match = NUMBER.match(text, at) if self.numeric else None
        if match:
            return self._number(match, text), match.end()
        line = text[at : at + LONGEST + 20].partition("\n")[0]
        for stop in sorted({one.start() for one in WORD_ENDS.finditer(line)}, reverse=True):
            if (grade := self.word(line[:stop])) is not None:
                return grade, at + len(line[:stop].rstrip())
        return None

    def _number(self, match: re.Match[str], text: str) -> str | None:
        number, most = (_decimal(match[name]) if match[name] else None for name in ("number", "most"))
        if number is None:
            return None
        foreign = (most is not None and most != self.most) or (
            match["percent"] and not self.scale.as_percent and self.most != 100
        )
        if foreign or MORE_NUMBER.match(text, match.end()):
            return None
        if match["percent"] and self.scale.as_percent:
            number = number * self.most / 100
        if (place := self.position(number)) is not None:
            return str(self.scale.grades[place])
        return None if self.between(number) is None else f"{number.normalize():f}"

    def word(self, text: str) -> str | None:
        """The grade that a few words are, or None."""
        text = text.strip(WRAPPING)
        return (_side(text) if self.pairs else None) or self.words.get(folded(text))

    def alone(self, text: str) -> str | None:
        """The grade that a text is, and nothing else: ``4``, ``**4/5**``, ``(4)``, ``Very good.``"""
        if len(text) > 10 * LONGEST:
            return None
        text = narrow(text).strip(WRAPPING).rstrip(".!" + WRAPPING)
        inside = IN_BRACKETS.fullmatch(text)
        text = (inside[1] or inside[2]).strip(WRAPPING) if inside else text
        text = text.strip("$" + WRAPPING) if text[:1] == "$" == text[-1:] else text  # $4 is a price
        found = self.value(text)
        return found[0] if found and found[0] is not None and found[1] == len(text) else self.word(text)

    def places(self, grade: str) -> tuple[int, ...]:
        """Positions of a grade as the scale writes it; the two neighbours of one half way between them."""
        written = [str(one) for one in self.scale.grades]
        return (written.index(grade),) if grade in written else self.between(Decimal(grade)) or ()


def narrow(text: str) -> str:
    """A text without what is invisible, its full-width signs as ASCII."""
    return text if text.isascii() else UNSEEN.sub("", text).translate(FULL_WIDTH)


def folded(text: str) -> str:
    """A text in small letters, with single spaces."""
    return " ".join(text.casefold().replace("_", " ").split())


def _decimal(written: str) -> Decimal:
    return Decimal(SPELT.get(written.casefold(), written))


def _side(text: str) -> str | None:
    """The preference that a few words state, or None."""
    if compared := COMPARED.fullmatch(text):
        left, sign, right = (one.casefold() for one in compared.groups())
        return None if left == right else "tie" if sign[0] in "=~" else left if sign[0] == ">" else right
    if len(text) > LONGEST or not text.isascii():
        return None
    words = re.sub(r"[\W_]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).casefold()).strip("_")
    if TIE.fullmatch(words):
        return "tie"
    side = SIDE.fullmatch(words)
    return (
        {"1": "a", "2": "b", "first": "a", "second": "b"}.get(
            which := side["named"] or side["bare"] or side["nth"], which
        )
        if side
        else None
    )
