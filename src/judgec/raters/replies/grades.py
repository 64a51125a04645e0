"""Grades as they are written: numbers and what they are out of, stars, words of a scale, the sides of a pair."""

import re
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from judgec.raters.refusals import takes_back
from judgec.raters.replies.said import HIDDEN, INVISIBLE, LONGEST_BARE, WRAPPING, short
from judgec.records.scale import Scale
from judgec.records.tasks.preference import SPELLINGS
from judgec.records.tasks.registry import plain
from judgec.records.tasks.spec import PAIR_GRADES

UNSEEN = re.compile(f"[{INVISIBLE}]")
# Full-width signs as ASCII, and a number in a circle as a number.
NARROW = (
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
    | {0x3000: 0x20, 0x2212: 0x2D}
    | {0x245F + n: str(n) for n in range(1, 11)}
)
STARS = re.compile(r"(?<![★☆⭐½])([★⭐]{1,10})([☆✩]{0,9})(?![★☆⭐½✩])")
STARS_AT_MOST = 5  # what stars are out of where nobody says so
# "5点満点中4点", "5점 만점에 4점", "满分5分，得4分": what it is out of comes first.
OUT_OF_FIRST = re.compile(
    r"(?:(?P<most>\d{1,9})\s?(?:(?:点満点|段階)(?:中|で|のうち|評価で)?|점\s?만점\s?(?:에서|에|중)?)|[满滿]分(?:为|是)?\s?(?P<full>\d{1,9})\s?分)"
    r"[、,，]?\s?(?:我?[给給得打]|评|の)?\s?(?P<number>\d{1,9}(?:\.\d{1,3})?)(?:\s?[点점分]|(?![\d.]))"
)
POLITE = re.compile(r"(?:です|でした|だ|입니다|이다|점입니다)\Z")
_SPELT = """
zero one two three four five six seven eight nine ten
零 一 二 三 四 五 六 七 八 九 十
null eins zwei drei vier fünf sechs sieben acht neun zehn
cero uno dos tres cuatro cinco seis siete ocho nueve diez
zéro une deux trois quatre cinq six sept huit neuf dix
ноль один два три четыре пять шесть семь восемь девять десять
"""
WORDS = {word: n for line in _SPELT.strip().splitlines() for n, word in enumerate(line.split()) if word != "null"}
_WORD = (
    rf"\b(?:{'|'.join(word for word in WORDS if word < '一')})\b|[零一二三四五六七八九十](?![零一二三四五六七八九十百])"
)
_EAST = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"  # scripts that put no space between a word and a number
_MOST = (
    r"(?:(?:a|de|den|les|las|los)\s{1,3})?(?:possible\s{1,3}|maximum\s{1,3}(?:of\s{1,3})?)?"
    rf"(?P<most>\d{{1,9}}(?:\.0{{1,9}})?(?![\d.]*\d)|{_WORD})"
)
_OF = (
    r"[\s*_`)\"'”]{0,4}(?:/|\bout\s{1,3}of\b|\b(?:of|von|sur|sobre|de|su|van|av|z|из)\b)\s{0,3}[*_`(]{0,3}" + _MOST
)  # fmt: skip
_PERCENT = r"(?P<percent>\s{0,2}(?:%|percent\b|per\s?cent\b|Prozent\b|por\s?ciento\b|pour\s?cent\b))"
_UNIT = (
    r"[\s-]{0,2}(?:stars?|points?|pts?|marks?|Punkten?|Sternen?|puntos|punti|pontos)\b|[分点점]|つ?星"
    r"|\s?[★⭐](?![★☆⭐½✩])"
)
VALUE = re.compile(
    rf"(?:(?<![\w.,/])|(?<=[{_EAST}]))(?<!\d\s[-–])(?P<number>[-+]?\d{{1,30}}(?:[.,]\d{{1,30}})?|{_WORD})"
    rf"(?![A-Za-z0-9_²³¹¼-¾⅐-⅞])(?P<unit>{_UNIT})?(?:{_OF}|{_PERCENT})?(?P<points>{_UNIT})?",
    re.IGNORECASE,
)
MORE_NUMBER = re.compile(
    r"[.,]\d|[ \t]{0,2}[-–—~/&;][ \t]{0,2}\d|[ \t]{1,3}(?:to|or|bis|oder|and|und|à|ou|o|y|et|a)[ \t]{1,3}\d",
    re.IGNORECASE,
)
# "4 (good)", "4: good", "4 - good", "4 = good"; in brackets a number may repeat the grade: "four (4)".
COMMENT = re.compile(
    rf"\s{{0,3}}(?:\(\s{{0,3}}(?=\w)|(?:[:;,=]\s|[:,](?=[{_EAST}])|[-–—]\s)\s{{0,3}}(?=[^\W\d]))(?P<comment>.*)",
    re.DOTALL,
)
# A number in a comment that counts something (2 of 3 valves) is no second grade.
COUNTED = re.compile(
    r"\d{1,9}(?:[.,]\d{1,9})?(?:\s{0,2}(?:/|of|out of)\s{0,2}(?:the\s)?\d{1,9})?%?\s{1,2}(?!(?:or|to|and|but|is|was"
    r"|would|rather|instead|points?|stars?|marks?|because|since|seems?|may|might|could|should|then|if|max)\b)[^\W\d_]"
    r"|[^\W\d_]\s{0,2}[:=]\s{0,2}\d{1,9}(?:[.,]\d{1,9})?(?:/\d{1,9}|%)?|\[\d{1,4}\]"
    r"|\b(?:miss|omit|lack)[a-z]{0,4}\s(?:only\s)?\d{1,9}\s(?:out\s)?of\s(?:the\s)?\d{1,9}"
    r"|\b(?:confidence|certainty|weight|step|criterion|page|section|paragraph|passage|document|doc|line|fact|claim"
    r"|source|version|turn|round|sample|konfidenz|sicherheit|confianza|confiance)s?(?:\s(?:level|of|is))?\s#?\d{1,9}"
    r"(?:[.,]\d{1,9})?(?:/\d{1,9}|%)?|(?:置信度|信心|確信度|신뢰도)\D?\d{1,9}(?:\.\d{1,9})?%?",
    re.IGNORECASE,
)
# "4, not 5": a number that the grade is said not to be.
DENIED = re.compile(
    r"\b(?:not|rather than|instead of|short of|below|almost(?= an?\b)|nearly(?= an?\b)|nicht|statt|pas)"
    r"\s(?:an?\s|the\s|yet\s|quite\s|full\s){0,3}(\d{1,9}(?:\.\d{1,3})?)(?:/\d{1,9})?(?![\d.]*\d)",
    re.IGNORECASE,
)
PERCENT = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d{1,3})?)\s?%")
ROUNDED = Decimal("0.005")  # of a share with two decimals
# What makes less of the best grade in words: "correct, but only in part".
_BUT = (
    r"(?:but|though|although|however|except|unless|if|albeit|aber|jedoch|wenn|pero|aunque|mais|ma|mas|maar)\b"
    r"|但|ただし|하지만"
)
_PARTLY = (
    r"(?:only|in part|part(?:ly|ially|ial)|half|halfway|mostly|mainly|largely|somewhat|to (?:some|a|an)\b[\w ]{0,20}"
    r"(?:extent|degree)|(?:sort|kind) of|more or less|up to a point|for the most part|at least in part|not (?:entirely"
    r"|fully|completely|quite|wholly|totally|everything|all)|incomplete(?:ly)?|with (?:\w+ )?(?:reservation|caveat"
    r"|exception|limitation|qualification)s?|nur|teilweise|zum teil|größtenteils|nicht ganz|s[oó]lo|en parte"
    r"|parcialmente|seulement|en partie|partiellement|in parte|em parte|deels)\b|部分|一部|부분|(?:50|[1-4]?\d)\s?%"
)
_JOIN = r"[\s*_.,;:!()–—-]{0,8}"
PARTLY = re.compile(rf"{_JOIN}(?:(?:{_BUT}){_JOIN})?(?:{_PARTLY})", re.IGNORECASE)
BUT = re.compile(rf"[\s*_,;:()–—-]{{0,8}}(?:{_BUT})", re.IGNORECASE)
YES = {"yes", "ja", "oui", "sí", "si"}  # of which any "but" makes less
YES_NO = {
    "yes": "ja oui sí sì si sim да так tak evet igen kyllä 是 是的 はい 예 네 ναι نعم כן हाँ có",
    "no": "nein non não nao нет ні nie nee nej nei hayır nem ei 否 不是 いいえ 아니요 아니오 όχι لا לא नहीं không",
}  # where these two are the scale
SIDELINE = re.compile(r"\A(?:but|and|or|also)\s|\s(?:for|to|on|in|regarding)\s.*", re.IGNORECASE | re.DOTALL)
LITERAL = re.compile(r"Literal\[\s{0,3}([^\[\]]{1,60}?)\s{0,3}\]")
OTHER_SCALE = re.compile(
    r"\b(?:scale|range|skala|escala|échelle)\b[^\d\n]{0,12}\d{1,4}\s{0,3}(?:-|–|—|to|bis|a|à|through|\.\.)\s{0,3}"
    r"(\d{1,9})|\bout\s{1,3}of\s{1,3}(?:a\s{1,3})?(?:possible\s{1,3}|maximum\s{1,3}|total\s{1,3})?(?:of\s{1,3})?"
    r"(\d{1,9})(?!\s{0,2}[\w%])|\((?:from\s{1,3})?\d{1,4}\s{0,3}(?:-|–|to|bis)\s{0,3}(\d{1,9})\)"
    r"|\(/?(?:max\.?|of|von)?\s{0,2}(\d{1,9})\)|(?:满分|満点)\D{0,2}(\d{1,9})|(\d{1,9})\s?(?:点満点|점\s?만점|分[满滿]分)",
    re.IGNORECASE,
)

# Sides of a pair, as ``plain`` leaves them: "a", "assistant_b_is_better_than_assistant_a", "i_prefer_response_a".
_EQUALLY = "equally_(?:good|bad|strong|weak|poor|well|helpful|unhelpful|useful|valid|accurate|correct|incorrect|wrong)"
_NOUN = "(?:assistant|answer|response|reply|model|system|output|candidate|option|text|antwort|respuesta|reponse)"
_BETTER = "(?:better|best|preferred|preferable|winner|superior|besser|mejor|meilleure?)"
SIDE = re.compile(
    r"(?:(?:overall|therefore|so|thus|hence|but|however|in_conclusion|in_the_end|i_think|i_believe|i_would_say|i_d_say)"
    r"_(?:that_)?)*"
    rf"(?:(?P<i>(?:i|we)_(?:would_|d_)?(?:prefer|choose|pick|select|go_with)_)|the_{_BETTER}(?:_{_NOUN}|_one)?_(?:is|was)_)?"
    rf"(?:the_|la_|die_)?(?:{_NOUN}_?(?P<named>[ab12])|(?P<bare>[ab])|(?P<nth>first|second)_(?:{_NOUN}|one))"
    rf"(?:(?:_s)?_(?:{_NOUN}|one))?"
    r"(?:_(?:is|was|ist|es|est)(?:_(?:the|clearly|slightly|much|far|overall|a|bit|marginally|significantly))*"
    rf"_{_BETTER}|_wins(?:_by_a_\w+)?)?(?:_(?:{_NOUN}|one))?(?:_overall)?"
    rf"(?:_(?:than|(?(i)over|than)|(?(i)to|than))_(?:the_)?(?:{_NOUN}_?)?[ab12])?"
)
TIES = re.compile(
    rf"(?:it_?(?:i?s)_)?(?:a_)?(?:tie|draw)|c|both(?:_(?:the_)?{_NOUN}s)?(?:_are)?_(?:equal|{_EQUALLY})|empate|egalite|unentschieden|gleich"
    rf"|(?:the_|these_|the_two_)?(?:{_NOUN}s|they)_are_(?:tied|equal|{_EQUALLY})|neither(?:_{_NOUN})?_is_better"
)
EASTERN_SIDE = re.compile(r"(?:回答|答案|回复|助手|模型)?\s?([ab])\s?(?:更好|较好|更优|胜出|获胜)?", re.IGNORECASE)
EASTERN_TIES = {"平局", "平手", "引き分け", "同等", "무승부", "ничья"}
MORE = re.compile(r"\s*(?:\w{1,12}\s)?([ab])\s*([<>≫≪]{1,3}|[=~≈]{1,2})\s*(?:\w{1,12}\s)?([ab])\s*", re.IGNORECASE)
SIDES = {"a": "a", "b": "b", "1": "a", "2": "b", "first": "a", "second": "b"}
LONGEST_SIDE = 60  # characters of a side of a pair, in words
LONGEST_HEAD = 40  # characters of a meaning that may stand for its grade


class Read(NamedTuple):
    """The statement of a piece of text: a grade as the scale writes it (or half way between two), or why it is none."""

    grade: str | None
    fault: str = ""
    marked: bool = False  # with its denominator or unit: no number of a list
    commented: bool = False  # something is said of it, in which a clearer verdict may stand


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
        found: dict[str, str] = {}
        for grade, meaning in zip(self.scale.grades, self.scale.meanings, strict=False):
            for head in {folded(meaning), folded(re.split(r"[:;,.(]|\s[-–—]\s", meaning, maxsplit=1)[0])}:
                if head and len(head) <= LONGEST_HEAD and not head.isdigit():
                    found[head] = "" if head in found and found[head] != str(grade) else str(grade)
        own = {folded(str(grade)): str(grade) for grade in self.scale.grades if isinstance(grade, str)}
        if own.keys() == YES_NO.keys():
            found |= {word: own[grade] for grade, words in YES_NO.items() for word in words.split()}
        found |= own
        return {word: found[word] for word in sorted(found, key=len, reverse=True) if found[word]}

    def narrow(self, text: str) -> str:
        """A text in ASCII where it may be, without what is invisible; stars as a number."""
        if text.isascii():
            return text
        text = UNSEEN.sub("", text).translate(NARROW)
        if not self.numeric:
            return text
        text = OUT_OF_FIRST.sub(lambda found: f"{found['number']}/{found['most'] or found['full']}", text)
        return STARS.sub(self._stars, text)

    def _stars(self, match: re.Match[str]) -> str:
        """``4/5`` of four stars; without empty ones they are of five. One star at a number is its unit."""
        filled, total = len(match[1]), len(match[1]) + len(match[2])
        if total > self.most or self.most != (total if match[2] else STARS_AT_MOST):
            return match[0]
        text, (start, end) = match.string, match.span()
        numbered = text[max(0, start - 2) : start].strip()[-1:].isdigit()
        if total == 1 and (numbered or text[end : end + 3].lstrip(" (*")[:1].isdigit()):
            return match[0] if numbered else ""
        return f" ({filled}/{self.most:f})" if numbered else f"{filled}/{self.most:f}"

    def number(self, match: re.Match[str]) -> Read:
        """The grade of a match of ``VALUE``."""
        number, most = (_decimal(match[name]) if match[name] else None for name in ("number", "most"))
        if number is None or (most is not None and most != self.most):
            return Read(None, f"off-scale grade: {short(match[0])} on a scale up to {float(self.most):g}")
        if match["percent"] and self.scale.as_percent:
            number = number * self.most / 100
        elif match["percent"] and self.most != 100:
            return Read(None, f"off-scale grade: {short(match[0])} on a scale up to {float(self.most):g}")
        marked = bool(match["most"] or match["unit"] or match["points"])
        if (at := self.position(number)) is not None:
            return Read(str(self.scale.grades[at]), marked=marked)
        if self.between(number) is not None:
            return Read(f"{number.normalize():f}", marked=marked)
        return Read(None, f"off-scale grade: {short(match[0])}")

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

    def word(self, text: str) -> Read | None:
        """The grade that a few words are, or None."""
        text = text.strip(WRAPPING)
        grade = _side(text) if self.pairs and HIDDEN not in text else None
        grade = grade or self.words.get(folded(text))
        return Read(grade) if grade else None

    def alone(self, text: str) -> Read | None:
        """Reads a text that is a grade and nothing else but a comment on it; None when it is something else."""
        written = self.narrow(text).strip(WRAPPING)
        written = written.strip("$" + WRAPPING) if written[:1] == "$" == written[-1:] else written  # $4 is a price
        literal = LITERAL.fullmatch(written)
        written = literal[1].strip(WRAPPING) if literal else POLITE.sub("", written.rstrip("。"))
        read = self.word(written) or self.word(written.rstrip(".!。"))
        if read is not None:
            return read
        written = written.rstrip(".!。")
        match = VALUE.match(written) if self.numeric else None
        if match is not None and match.end() == len(written):
            return self.number(match)
        if len(written) > LONGEST_BARE or self.pairs:
            return None
        if match is not None:
            if MORE_NUMBER.match(written, match.end()):
                return Read(None, f"off-scale grade: {short(written)}")
            return self._commented(self.number(match), written, match.end())
        word = next((one for one in self.words if folded(written).startswith(one)), None)
        return self._commented(Read(self.words[word]), written, len(word)) if word is not None else None

    def _commented(self, read: Read, written: str, end: int) -> Read | None:
        """A grade with what is said of it, or None where that is no comment."""
        comment = COMMENT.fullmatch(written[end:].lstrip(WRAPPING))
        if comment is None:
            return None
        if read.grade is not None and (
            takes_back(comment["comment"])
            or self.contradicts(read, comment["comment"])
            or self.qualified(read, written[end:])
        ):
            return Read(None, f"malformed reply: {read.grade} is taken back: {short(written)}", commented=True)
        return read._replace(commented=True)

    def contradicts(self, read: Read, comment: str) -> bool:
        """True if a comment names another grade."""
        parts = re.split(r"[,;]", comment.strip(WRAPPING + "().,"))
        words = {self.words.get(folded(SIDELINE.sub("", one.strip()))) for one in parts}
        denied = any(found[1] == read.grade for found in DENIED.finditer(comment))
        return denied or bool(words - {None, read.grade}) or (self.numeric and self.others(read, comment))

    def others(self, read: Read, comment: str) -> bool:
        """True if a comment has a number that may be a second grade; ``0.6`` and ``60%`` say 3 of 5 anew."""
        if read.grade is None or not self.numeric:
            return bool(numbers_in(comment) - {read.grade})
        grade, least = Decimal(read.grade), Decimal(repr(self.scale.values[0]))
        shares = {grade / self.most, (grade - least) / (self.most - least)} if self.most > 0 else set()
        same = {grade, *({Decimal(one) for one in PERCENT.findall(comment)} & {share * 100 for share in shares})}
        found = {one: Decimal(one) for one in numbers_in(comment) if len(one) < LONGEST_HEAD}
        near = ROUNDED if len(self.scale.grades) > 2 else Decimal("0.5")  # of two grades it is a probability
        return any(
            number not in same
            and ("." not in one or (number >= least and min(abs(number - share) for share in shares) >= near))
            for one, number in found.items()
        )

    def qualified(self, read: Read, behind: str) -> bool:
        """True if what follows makes less of the best grade: ``Yes, but only in part``."""
        best = read.grade == str(self.scale.grades[-1]) and (len(self.scale.grades) == 2 or not self.numeric)
        if self.pairs or not (best or read.grade in YES):
            return False
        return PARTLY.match(behind) is not None or (read.grade in YES and BUT.match(behind) is not None)

    def foreign(self, text: str) -> bool:
        """True if a text says that the scale is another one."""
        return self.numeric and any(
            Decimal(next(filter(None, found.groups()))) != self.most for found in OTHER_SCALE.finditer(text)
        )


def numbers_in(comment: str) -> set[str]:
    """The numbers in a comment that count nothing, and are no scale's: they may be second grades."""
    comment = OTHER_SCALE.sub(lambda found: found[0] if found[3] or found[4] else "", comment)
    return set(re.findall(r"(?<![\d/.])\d+(?:\.\d+)?", COUNTED.sub("", DENIED.sub("", comment))))


def folded(text: str) -> str:
    """A text in small letters, with single spaces."""
    return " ".join(text.casefold().replace("_", " ").split())


def _decimal(written: str) -> Decimal:
    written = re.sub(r"(?<=^\d),(?=0{3}$)|(?<=[1-9]),(?=\d{3}$)", "", written.casefold())  # 1,000 is no 1
    return Decimal(WORDS.get(written, written.replace(",", ".")))


def _side(part: str) -> str | None:
    """The preference that a few words state, or None."""
    compared = MORE.fullmatch(part)
    if compared is not None:
        left, sign, right = (one.casefold() for one in compared.groups())
        if left == right:
            return None
        return "tie" if sign[0] in "=~≈" else left if sign[0] in ">≫" else right
    if len(part) > LONGEST_SIDE:
        return None
    if any(char.isalpha() and char >= "\u0400" for char in part):  # ``plain`` would drop what it says of them
        eastern = EASTERN_SIDE.fullmatch(part)
        return eastern[1].casefold() if eastern else "tie" if part.casefold() in EASTERN_TIES else None
    words = plain(part)
    if TIES.fullmatch(words):
        return "tie"
    side = SIDE.fullmatch(words)
    return SIDES[side["named"] or side["bare"] or side["nth"]] if side else SPELLINGS.get(words)
