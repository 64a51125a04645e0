"""A text as normalized stems, analysed once and shared between the items that quote it."""

import re
import unicodedata
from collections import Counter, OrderedDict
from collections.abc import Iterable
from functools import cached_property
from threading import Lock
from typing import Protocol

import snowballstemmer

from judgec.evidence.numerals import MONTH_ORDER, MONTHS, fold_number_words, is_number, roman

# Scripts written without spaces: each character is a word of its own.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u31ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(
    r"\d+(?:\.\d+)*(?:(?:st|nd|rd|th|s)(?![^\W_]))?"  # 1990s, 21st and 3.5 are one word each
    rf"|[{_UNSPACED}]|[^\W\d_{_UNSPACED}](?:[^\W_{_UNSPACED}]|['’](?=[^\W\d_]))*"
)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])|\n+")
_MARKS = re.compile("[\u0300-\u036f]+")  # accents of Latin, Greek and Cyrillic; marks of other scripts are letters
_MOJIBAKE = re.compile("Â(?![^\\W\\d_])|â€.?")  # UTF-8 punctuation that was read as Latin-1
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DOTTED = re.compile(r"(?<![^\W_])(?:[^\W\d_]\.){2,}")
_ISO_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_SIGNS = str.maketrans({"%": " percent ", "&": " and ", "’": "'", "`": " "})
_NAMES = (("United States of America", "US"), ("United States", "US"), ("United Kingdom", "UK"))
_ABBREVIATIONS = {
    "usa": "us",
    "dr": "doctor",
    "mr": "mister",
    "st": "saint",
    "mt": "mount",
    "ft": "foot",
    "feet": "foot",
    "vs": "versus",
    "dept": "department",
    "govt": "government",
    "corp": "corporation",
    "inc": "corporation",
    "jr": "junior",
    "approx": "approximately",
    "km": "kilometer",
    "kg": "kilogram",
    "cm": "centimeter",
    "mm": "millimeter",
    "lb": "pound",
    "lbs": "pound",
    "hr": "hour",
    "hrs": "hour",
    "min": "minute",
    "mins": "minute",
    "sec": "second",
    "tv": "television",
    "ny": "york",
    "kilometre": "kilometer",
    "metre": "meter",
}
_MONTH_NAMES = frozenset(MONTH_ORDER)
_CLOSED_CLASS = """a an the and or but nor so yet if then than that this these those there here it its he
him his she
her hers they them their theirs we us our you your i me my mine who whom whose which what when where why
how is are was
were be been being am do does did doing done have has had having will would shall should can could may
might must of in
on at by for with from to into onto about as over under after before between through during against
within without up
down out off again further once not no only own same such too very just also any all both each few more
most other some
s t ll re ve d m"""
FUNCTION_WORDS = frozenset(_CLOSED_CLASS.split())
"""The closed-class words of English; in other languages nothing is in the list and every word counts."""

MAX_WORDS_CACHED = 400_000  # words with their stems; about 60 MB


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the name in the third-party class


class _Stems(dict[str, str]):
    """Word as written -> its folded, normalized form; filled on first sight and emptied when it grows
    too big.
    """

    def __missing__(self, word: str) -> str:
        if len(self) > MAX_WORDS_CACHED:
            self.clear()
        folded = _fold(word)
        self[word] = folded
        return folded


class _Stemmed(dict[str, str]):
    """Folded word -> its stem, kept like ``_Stems``."""

    def __init__(self) -> None:
        super().__init__()
        self._stemmer: _Stemmer = snowballstemmer.stemmer("english")

    def __missing__(self, word: str) -> str:
        if len(self) > MAX_WORDS_CACHED:
            self.clear()
        keep = is_number(word) or word in _MONTH_NAMES or len(word) > 40 or not word.isascii()
        stem = word if keep else self._stemmer.stemWord(word)
        self[word] = stem
        return stem


def _fold(word: str) -> str:
    numeral = roman(word)
    if numeral is not None:
        return numeral
    folded = word.casefold()
    if is_number(folded):
        return folded.rstrip("stndrh") if folded.isascii() else folded
    if "'" in folded:
        folded = folded.removesuffix("'s").replace("'", "")
    folded = MONTHS.get(folded, folded)
    return _ABBREVIATIONS.get(folded, folded)


_folds = _Stems()
_stems = _Stemmed()


def stem(word: str) -> str:
    """The normalized stem of one word as written."""
    return _stems[_folds[word]]


FUNCTION_STEMS = frozenset(map(stem, FUNCTION_WORDS))


def clean(text: str) -> str:
    """``text`` in one Unicode form, grouped digits, dotted abbreviations and ISO dates rewritten; keeps
    case.
    """
    if not text.isascii():
        text = _MOJIBAKE.sub(" ", unicodedata.normalize("NFKC", text))
        text = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text)))
    text = text.translate(_SIGNS)
    if "," in text:
        text = _GROUPED.sub("", text)
    if "." in text:
        text = _DOTTED.sub(lambda match: match.group().replace(".", ""), text)
    if "-" in text:
        text = _ISO_DATE.sub(_spell_date, text)
    if "United " in text:
        for name, short in _NAMES:
            text = text.replace(name, short)
    return text


def _spell_date(match: re.Match[str]) -> str:
    year, month, day = map(int, match.groups())
    return f"{day} {MONTH_ORDER[month - 1].title()} {year}" if 1 <= month <= 12 else match.group()


class _Masks(dict[str, int]):
    """For a stem the bits of the positions where it stands, made when first asked for; 0 for any other
    stem.
    """

    def __init__(self, stems: list[str]) -> None:
        super().__init__()
        self._places: dict[str, list[int]] = {}
        for position, word in enumerate(stems):
            self._places.setdefault(word, []).append(position)

    def __missing__(self, word: str) -> int:
        places = self._places.get(word)
        if places is None:
            return 0
        bits = bytearray(places[-1] // 8 + 1)
        for position in places:
            bits[position >> 3] |= 1 << (position & 7)
        mask = self[word] = int.from_bytes(bits, "little")
        return mask


class StemmedText:
    """One text, or several joined, as stems; what is costly is computed once, on first use.

    Args:
        lines: Each sentence with a word in it: its lower-case text, and its words as written.
        size: Characters of the source, for the cache's budget.
        quotes: Each of these sentences as written, for whoever wants to quote one.
    """

    def __init__(self, lines: Iterable[tuple[str, tuple[str, ...]]], size: int, quotes: Iterable[str] = ()) -> None:
        self.lines = tuple(lines)
        self.size = size
        self.quotes = tuple(quotes)
        self.sentences: tuple[list[str], ...] = tuple(
            [_stems[word] for word in fold_number_words([_folds[word] for word in words])] for _, words in self.lines
        )
        self.stems: list[str] = [word for sentence in self.sentences for word in sentence]

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """Each stem with its count, in order of first use (a set's order would change between processes)."""
        return dict(Counter(self.stems))

    @cached_property
    def content(self) -> dict[str, None]:
        """Stems that are not function words, in order of first use."""
        return {word: None for word in self.vocabulary if word not in FUNCTION_STEMS}

    @cached_property
    def numbers(self) -> dict[str, None]:
        """The figures, in order of first use."""
        return {word: None for word in self.vocabulary if is_number(word)}

    @cached_property
    def months(self) -> dict[str, None]:
        """The months, in order of first use."""
        return {word: None for word in self.vocabulary if word in _MONTH_NAMES}

    @cached_property
    def names(self) -> dict[str, None]:
        """Stems of words written with a capital, a sentence's first word and function words aside."""
        written = (word for _, words in self.lines for word in words[1:] if word[0].isupper())
        return {name: None for name in map(stem, written) if name not in FUNCTION_STEMS and not is_number(name)}

    @cached_property
    def written(self) -> dict[str, str]:
        """For each stem the word as first written; a number that was written in words has none."""
        found: dict[str, str] = {}
        for _, words in self.lines:
            for word in words:
                found.setdefault(_stems[_folds[word]], word)
        return found

    @cached_property
    def masks(self) -> dict[str, int]:
        """For each stem the bits of its positions, for bit-parallel comparison; index, do not iterate."""
        return _Masks(self.stems)

    @cached_property
    def where(self) -> dict[str, list[int]]:
        """For each stem the sentences that contain it, ascending."""
        found: dict[str, list[int]] = {}
        for number, sentence in enumerate(self.sentences):
            for word in dict.fromkeys(sentence):
                found.setdefault(word, []).append(number)
        return found

    @cached_property
    def by_prefix(self) -> dict[str, list[str]]:
        """Stems by their first two characters: the candidates of a soft match."""
        index: dict[str, list[str]] = {}
        for word in self.vocabulary:
            index.setdefault(word[:2], []).append(word)
        return index

    @cached_property
    def compact(self) -> str:
        """The stems written together, for matches across different spacing."""
        return "".join(self.stems)

    @cached_property
    def character_trigrams(self) -> dict[str, int]:
        """Counts of character trigrams over the stems with single spaces."""
        line = f" {' '.join(self.stems)} "
        return dict(Counter(line[start : start + 3] for start in range(len(line) - 2)))


VERSION = 2  # of the features' definitions: raised whenever a number changes for the same item
"""1: refusals that name their writer's papers ("nothing in the pages I was shown") counted as claims."""


class Library:
    """Texts already analysed, bounded by their characters, the least recently used leaving first;
    thread-safe.

    Args:
        budget: Characters of source text kept; a character costs about 150 bytes once analysed.
        definitions: Version of the features' definitions that the texts are read for.
    """

    def __init__(self, budget: int = 400_000, *, definitions: int = VERSION) -> None:
        self.budget = budget
        self.definitions = definitions
        self._kept: OrderedDict[str | tuple[str, ...], StemmedText] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def read(self, text: str | tuple[str, ...]) -> StemmedText:
        """The analysed text; several texts are read as one, sentence after sentence."""
        with self._lock:
            known = self._kept.get(text)
            if known is not None:
                self._kept.move_to_end(text)
                return known
        passage = read(text) if isinstance(text, str) else self._join(text)
        with self._lock:
            replaced = self._kept.pop(text, None)
            self._size += passage.size - (0 if replaced is None else replaced.size)
            self._kept[text] = passage
            while self._size > self.budget and len(self._kept) > 1:
                self._size -= self._kept.popitem(last=False)[1].size
        return passage

    def _join(self, texts: tuple[str, ...]) -> StemmedText:
        parts = [self.read(text) for text in texts]
        if len(parts) == 1:
            return parts[0]
        quotes = (quote for part in parts for quote in part.quotes)
        return StemmedText((line for part in parts for line in part.lines), sum(part.size for part in parts), quotes)


def read(text: str) -> StemmedText:
    """``text`` analysed, without keeping it."""
    lines = ((part, tuple(_WORD.findall(part))) for part in _SENTENCE_END.split(clean(text)))
    known = [line for line in lines if line[1]]
    return StemmedText(((part.lower(), words) for part, words in known), len(text) + 1, (part for part, _ in known))
