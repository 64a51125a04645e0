"""A text as normalized stems, analysed once and shared between the items that quote it."""

import re
import unicodedata
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import chain, filterfalse, pairwise
from string import ascii_letters
from threading import Lock
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
import snowballstemmer
from numpy.typing import NDArray

from judgec.evidence.numerals import MONTH_ORDER, MONTHS, NUMBER_WORDS, fold_number_words, is_number, number_runs, roman
from judgec.evidence.quantities import Quantity, may_begin_unit, quantity, ratios, same, same_ratio, unit_after
from judgec.records.label import IntArray
from judgec.records.language import ENGLISH, LANGUAGES

# Scripts written without spaces: each character is a word of its own.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u31ff\u3400-\u9fff\uf900-\ufaff"
_LETTER, _SIGN = rf"[^\W\d_{UNSPACED}]", rf"[^\W_{UNSPACED}]"
_WORD = re.compile(
    rf"{_LETTER}{_SIGN}*(?:['’](?=[^\W\d_]){_SIGN}*)*"
    r"|\d+(?:\.\d+)*(?:(?:st|nd|rd|th|s)(?![^\W_]))?"  # 1990s, 21st and 3.5 are one word each
    rf"|[{UNSPACED}]"
)
_ASCII_WORD = re.compile(  # the same for a text of ASCII alone, in half the time
    r"[A-Za-z][A-Za-z0-9]*(?:'(?=[A-Za-z])[A-Za-z0-9]*)*|[0-9]+(?:\.[0-9]+)*(?:(?:st|nd|rd|th|s)(?![A-Za-z0-9]))?"
)
_LETTERS = bytes(  # of ASCII letters as they are, 0 for what else may stand in a word, a space for anything else
    byte if chr(byte) in ascii_letters else ord("0" if chr(byte) in "0123456789'" else " ") for byte in range(256)
)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])|\n+")
_SPACED_SENTENCE_END = re.compile(r"\s(?:(?<=[.!?;]\s)\s*|(?<=\n)\n*)")  # the same where none of 。！？ stands
_UNSPACED_END = re.compile("[。！？]")
_MARKS = re.compile("[\u0300-\u036f]+")  # accents of Latin, Greek and Cyrillic; marks of other scripts are letters
_MOJIBAKE = re.compile("Â(?![^\\W\\d_])|â€.?")  # UTF-8 punctuation that was read as Latin-1
# Patterns that begin with a character as it is are found far faster than such that look back first.
_GROUPED = re.compile(r",(?<=\d,)(?=\d{3}(?!\d))")
_DOTTED = re.compile(r"(?<![^\W_])(?:[^\W\d_]\.){2,}")
_DOTTED_INSIDE = re.compile(r"\.[^\W\d_]\.")  # stands in each of them
_ISO_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_ISO_DATE_INSIDE = re.compile(r"-\d\d-\d\d")
_OTHER_SIGNS = str.maketrans({"%": " percent ", "&": " ", "’": "'", "`": " "})
# Where a comma makes decimals, dots group digits and dates begin with the day.
_POINTED = re.compile(r"(?<=\d)\.(?=\d{3}(?!\d))")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})([./])(\d{1,2})\2(\d{4})(?!\d)")
_NARROW = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")  # spaces that group digits
_DEGREE = re.compile("[°‰%]")  # units that are no words
_MINUS = re.compile(r"(?:^|(?<![^\s(]))[-−]$")  # before a number, and after nothing else
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
"""The closed-class words of English; ``records.language`` has those of other languages."""

_POINT, _TWO_POINTS = np.uint64(21), np.uint64(42)  # bits of a character's number in Unicode, and of two

MAX_WORDS_CACHED = 400_000  # words with their stems; about 60 MB

Value = TypeVar("Value")


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the name in the third-party class


class _WordTable(dict[str, Value]):
    """Cache of a function of words: filled on first sight, emptied when it grows too big.

    Args:
        find: The function; what it finds for a word never changes.
    """

    def __init__(self, find: Callable[[str], Value]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, word: str) -> Value:
        if len(self) > MAX_WORDS_CACHED:
            self.clear()
        value = self[word] = self._find(word)
        return value


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


class Reader:
    """Reads the texts of one language: its words folded, its stems and function words.

    Args:
        language: A name of ``records.language``.
    """

    def __init__(self, language: str) -> None:
        known, english = LANGUAGES[language], language == ENGLISH
        self.language = language
        self._elided = re.compile(known.elided) if known.elided else None
        self._plural_s = known.plural_s
        self._stemmer: _Stemmer | None = snowballstemmer.stemmer(language) if known.stems else None
        self.folds = _WordTable(_fold if english else self._fold_other)
        """A word as written -> its folded, normalized form."""
        self.stems = _WordTable(self._stem)
        """A folded word -> its stem; without a stemmer the word itself, without accents."""
        self.named = _WordTable(self._name)
        """A word as written -> its stem where a capital makes it a name; empty for any other."""
        self.figures = _WordTable(is_number)
        """A stem -> whether it is a figure."""
        self._normalized = _WordTable(self._normalize)
        self.function_stems = self.stems_of(FUNCTION_WORDS if english else known.words)
        """Stems of the words that say nothing by themselves."""

    def _fold_other(self, word: str) -> str:
        numeral = roman(word)
        if numeral is not None:
            return numeral
        folded = word.lower()
        if is_number(folded):
            return folded
        if "'" in folded:
            bare = folded if self._elided is None else self._elided.sub("", folded, count=1)
            folded = bare.replace("'", "") or folded
        return folded

    def _stem(self, word: str) -> str:
        english = self.language == ENGLISH
        keep = is_number(word) or word in _MONTH_NAMES or len(word) > 40 or (english and not word.isascii())
        stem = word if keep or self._stemmer is None else self._stemmer.stemWord(word)
        if not english and not stem.isascii():  # stemmers need accents, people leave them out
            stem = _unmarked(stem.casefold())
        if self._plural_s and not keep and len(stem) > 3:
            stem = stem.removesuffix("s")
        return stem

    def _normalize(self, word: str) -> str:
        """The stem of a word as written; empty for a word that may be part of a number in words."""
        folded = self.folds[word]
        return "" if self.language == ENGLISH and folded in NUMBER_WORDS else self.stems[folded]

    def _name(self, word: str) -> str:
        stem = self.stem(word) if word[0].isupper() else ""
        return "" if stem in self.function_stems or is_number(stem) else stem

    def stem(self, word: str) -> str:
        """The normalized stem of one word as written."""
        return self.stems[self.folds[word]]

    def stems_of(self, words: Iterable[str]) -> frozenset[str]:
        """The stems of some words."""
        return frozenset(map(self.stem, words))

    def folded(self, words: Sequence[str]) -> list[str]:
        """The stems of a sentence's words, numbers in words as figures."""
        stems = list(map(self._normalized.__getitem__, words))
        if all(stems):
            return stems
        return list(map(self.stems.__getitem__, fold_number_words(list(map(self.folds.__getitem__, words)))))

    def written_stems(self, words: Sequence[str]) -> list[str]:
        """The stem of each of some words."""
        stems = list(map(self._normalized.__getitem__, words))
        if all(stems):
            return stems
        return [one or self.stem(word) for one, word in zip(stems, words, strict=True)]

    def quantities(self, line: str) -> Iterator[tuple[str, Quantity]]:
        """The figures of a sentence that a unit follows, with what they amount to, in order."""
        words = list(_WORD.finditer(line))
        folded = [self.folds[word.group()] for word in words]
        runs = number_runs(folded) if self.language == ENGLISH else zip(folded, range(1, len(folded) + 1), strict=True)
        start = 0
        for figure, end in runs:
            first, start = words[start].start(), end
            if not is_number(figure) or (unit := unit_after(line, words[end - 1].end())) is None:
                continue
            one = quantity(figure, unit, negative=_MINUS.search(line, max(0, first - 2), first) is not None)
            if one is not None:
                yield figure, one

    def may_have_quantities(self, line: str, words: Sequence[str]) -> bool:
        """True if a word that may begin a unit follows a figure: far cheaper than to read them."""
        if _DEGREE.search(line) is not None:
            return True
        figure = False
        for word, one in zip(words, map(self._normalized.__getitem__, words), strict=True):
            if figure and may_begin_unit(word):
                return True
            figure = not one or is_number(one)
        return False

    def lines(self, text: str) -> list[tuple[str, tuple[str, ...]]]:
        """Sentences with a word in them, and their words."""
        text = clean(text) if self.language == ENGLISH else self._clean(text)
        plain = text.isascii()
        ends = _SENTENCE_END
        if plain or _UNSPACED_END.search(text) is None:
            ends = _SPACED_SENTENCE_END
        words_of = _ascii_words if plain else _WORD.findall
        return [(part, tuple(words)) for part in ends.split(text) if (words := words_of(part))]

    def _clean(self, text: str) -> str:
        """As ``clean``, with the accents that stemmers need, and figures as this language writes them."""
        if not text.isascii():
            text = _NARROW.sub("", text)
            text = unicodedata.normalize("NFC", _MOJIBAKE.sub(" ", unicodedata.normalize("NFKC", text)))
        text = text.translate(_OTHER_SIGNS)
        if LANGUAGES[self.language].comma:
            text = _DAY_FIRST.sub(_spell_day_first, text)
            text = _DECIMAL_COMMA.sub(lambda match: match.group().replace(",", "."), _POINTED.sub("", text))
        elif "," in text:
            text = _GROUPED.sub("", text)
        return _without_dots(text)


@cache
def reader_of(language: str) -> Reader:
    """The one reader of a language: what it has seen is shared."""
    return Reader(language)


_ENGLISH = reader_of(ENGLISH)


def stem(word: str) -> str:
    """The normalized stem of one English word as written."""
    return _ENGLISH.stem(word)


FUNCTION_STEMS = _ENGLISH.function_stems
"""Those of English."""


def _ascii_words(line: str) -> list[str]:
    """The words of a line of ASCII alone: without figures and apostrophes they are its runs of letters."""
    letters = line.encode().translate(_LETTERS)
    return _ASCII_WORD.findall(line) if b"0" in letters else letters.decode().split()


def _unmarked(text: str) -> str:
    text = unicodedata.normalize("NFKD", text)
    encoded = text.encode("utf-8", "surrogatepass")
    if b"\xcc" in encoded or b"\xcd" in encoded:  # each of the accents begins so, which is found far faster
        text = _MARKS.sub("", text)
    return unicodedata.normalize("NFC", text)


def clean(text: str) -> str:
    """English ``text`` in one Unicode form, grouped digits, dotted abbreviations and ISO dates rewritten; keeps
    case.
    """
    if not text.isascii():
        text = _MOJIBAKE.sub(" ", unicodedata.normalize("NFKC", text))
        text = _unmarked(text)
    text = text.replace("%", " percent ").replace("&", " and ").replace("’", "'").replace("`", " ")
    if "," in text:
        text = _GROUPED.sub("", text)
    text = _without_dots(text)
    if "United " in text:
        for name, short in _NAMES:
            text = text.replace(name, short)
    return text


def _without_dots(text: str) -> str:
    """``text`` with dotted abbreviations as one word and ISO dates in words."""
    if _DOTTED_INSIDE.search(text) is not None:
        text = _DOTTED.sub(lambda match: match.group().replace(".", ""), text)
    if _ISO_DATE_INSIDE.search(text) is not None:
        text = _ISO_DATE.sub(_spell_date, text)
    return text


def _spell_date(match: re.Match[str]) -> str:
    year, month, day = map(int, match.groups())
    return f"{day} {MONTH_ORDER[month - 1].title()} {year}" if 1 <= month <= 12 else match.group()


def _spell_day_first(match: re.Match[str]) -> str:
    day, _, month, year = match.groups()
    return f"{day} {MONTH_ORDER[int(month) - 1]} {year}" if 1 <= int(month) <= 12 else match.group()


LONG = 2_000  # stems from which a text's masks are made one by one, when asked for: all of them grow with its square


class _Masks(dict[str, int]):
    """For a stem the bits of the positions where it stands; 0 for any other stem."""

    def __init__(self, stems: list[str]) -> None:
        super().__init__()
        self._places: dict[str, list[int]] = {}
        if len(stems) < LONG:
            self.update(dict.fromkeys(stems, 0))
            bit = 1
            for word in stems:
                self[word] |= bit
                bit += bit
            return
        for position, word in enumerate(stems):
            self._places.setdefault(word, []).append(position)

    def __missing__(self, word: str) -> int:
        places = self._places.get(word)
        if places is None:
            self[word] = 0
            return 0
        bits = bytearray(places[-1] // 8 + 1)
        for position in places:
            bits[position >> 3] |= 1 << (position & 7)
        mask = self[word] = int.from_bytes(bits, "little")
        return mask


class once(cached_property[Value]):  # noqa: N801 - named as what it extends
    """As ``cached_property``, which takes a lock in Python 3.11: two threads may compute the same value twice."""

    def __get__(self, instance: object, owner: type | None = None) -> Value:  # type: ignore[override]  # of instances
        """The value, computed now and kept."""
        value = instance.__dict__[self.func.__name__] = self.func(instance)
        return value


class Trigrams(NamedTuple):
    """The character trigrams of a text.

    Args:
        codes: Each as one number, ascending.
        counts: How often it occurs.
    """

    codes: NDArray[np.uint64]
    counts: IntArray

    @classmethod
    def of(cls, line: str) -> Self:
        """Those of ``line``."""
        points = np.frombuffer(line.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
        codes = points[:-2] << _TWO_POINTS | points[1:-1] << _POINT | points[2:]
        codes.sort()
        if not len(codes):
            return cls(codes, np.zeros(0, dtype=np.int64))
        new = (codes[1:] != codes[:-1]).nonzero()[0]
        edges = np.zeros(len(new) + 2, dtype=np.int64)
        np.add(new, 1, out=edges[1:-1])
        edges[-1] = len(codes)
        return cls(codes[edges[:-1]], edges[1:] - edges[:-1])

    def within(self, other: "Trigrams") -> IntArray:
        """Number of times that each of these occurs in another text."""
        if not len(other.codes):
            return np.zeros(len(self.codes), dtype=np.int64)
        places = other.codes.searchsorted(self.codes)
        np.minimum(places, len(other.codes) - 1, out=places)
        found: IntArray = other.counts[places] * (other.codes[places] == self.codes)
        return found


class StemmedText:
    """One text, or several joined, as stems; what is costly is computed once, on first use.

    Args:
        lines: Each sentence with a word in it: its lower-case text, and its words as written.
        size: Characters of the source, for the cache's budget.
        quotes: Each of these sentences as written, for whoever wants to quote one.
        reader: Of its language.
        sentences: Their stems, where somebody has them already.
    """

    def __init__(
        self,
        lines: Iterable[tuple[str, tuple[str, ...]]],
        size: int,
        quotes: Iterable[str] = (),
        reader: Reader = _ENGLISH,
        *,
        sentences: Iterable[list[str]] | None = None,
    ) -> None:
        self.reader = reader
        self.lines = tuple(lines)
        self.size = size
        self.quotes = tuple(quotes)
        known = [reader.folded(words) for _, words in self.lines] if sentences is None else sentences
        self.sentences: tuple[list[str], ...] = tuple(known)
        self.stems: list[str] = list(chain.from_iterable(self.sentences))
        self.nearest: dict[str, float] = {}
        """For a stem that is not here how much the most similar one resembles it, as far as somebody has asked."""
        self.refusing: tuple[bool, ...] | None = None
        """For each sentence whether it refuses, once somebody has asked."""

    @once
    def vocabulary(self) -> dict[str, int]:
        """Each stem with its count, in order of first use (a set's order would change between processes)."""
        return dict(Counter(self.stems))

    @property
    def function_stems(self) -> frozenset[str]:
        """Stems of its language's function words."""
        return self.reader.function_stems

    @once
    def content(self) -> dict[str, None]:
        """Stems that are not function words, in order of first use."""
        empty = self.function_stems
        return dict.fromkeys(filterfalse(empty.__contains__, self.vocabulary))

    @once
    def numbers(self) -> dict[str, None]:
        """The figures, in order of first use."""
        return dict.fromkeys(filter(self.reader.figures.__getitem__, self.vocabulary))

    @once
    def quantities(self) -> dict[str, tuple[Quantity, ...]]:
        """Of each figure that a unit follows what it amounts to, everywhere that it does."""
        found: dict[str, tuple[Quantity, ...]] = {}
        if not self.numbers:
            return found
        reader, texts = self.reader, self.quotes or tuple(line for line, _ in self.lines)
        for text, (_, words), stems in zip(texts, self.lines, self.sentences, strict=True):
            if self.numbers.keys().isdisjoint(stems) or not reader.may_have_quantities(text, words):
                continue
            for figure, one in reader.quantities(text):
                if one not in found.get(figure, ()):
                    found[figure] = (*found.get(figure, ()), one)
        return found

    def gives(self, number: str, of: "StemmedText") -> bool:
        """True if a figure of another text is here: the same, or the same quantity in another unit.

        A figure with a unit is not the same figure with a unit of something else, or with another one of the same; one
        without a unit is whatever has its digits, and the share of a hundred that it is.

        Args:
            number: One of the other text's ``numbers``.
            of: The other text.
        """
        here, theirs = number in self.numbers, of.quantities.get(number, ())
        if here and not theirs:
            return True
        mine = self.quantities
        if here and not mine.get(number):
            return True
        if any(same(one, other) for one in theirs for found in mine.values() for other in found):
            return True
        if theirs:
            return any(same_ratio(one, figure) for one in theirs for figure in self.numbers if figure not in mine)
        return any(same_ratio(one, number) for one in ratios(mine))

    @once
    def months(self) -> dict[str, None]:
        """The months, in order of first use."""
        months = self.vocabulary.keys() & _MONTH_NAMES
        return {word: None for word in self.vocabulary if word in months} if months else {}

    @once
    def names(self) -> dict[str, None]:
        """Stems of words written with a capital, a sentence's first word and function words aside."""
        words = chain.from_iterable([words[1:] for _, words in self.lines])
        return dict.fromkeys(filter(None, map(self.reader.named.__getitem__, words)))

    @once
    def written(self) -> dict[str, str]:
        """For each stem the word as first written; a number that was written in words has none."""
        words = list(chain.from_iterable([words for _, words in self.lines]))
        stems = self.reader.written_stems(words)
        return dict(zip(reversed(stems), reversed(words), strict=True))  # what is written first is put in last

    @once
    def masks(self) -> dict[str, int]:
        """For each stem the bits of its positions, for bit-parallel comparison; index, do not iterate."""
        return _Masks(self.stems)

    @once
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Each two stems that stand beside one another."""
        return frozenset(pairwise(self.stems))

    @once
    def where(self) -> dict[str, tuple[int, ...]]:
        """For each stem the sentences that contain it, ascending."""
        found: dict[str, tuple[int, ...]] = {}
        for number, sentence in enumerate(self.sentences):
            here = (number,)  # one for all that stand nowhere else
            for word in dict.fromkeys(sentence):
                found[word] = found.get(word, ()) + here
        return found

    @once
    def by_prefix(self) -> dict[str, str]:
        """Stems by their first two characters, spaces between them: unlike lists they cost no search for cycles."""
        index: dict[str, str] = {}
        for word in self.vocabulary:
            prefix = word[:2]
            index[prefix] = f"{index[prefix]} {word}" if prefix in index else word
        return index

    def near(self, stem: str) -> list[str]:
        """The stems that begin as one of another text does: the candidates of a soft match; none for a short one."""
        found = self.by_prefix.get(stem[:2]) if len(stem) > 3 else None
        return [] if found is None else found.split(" ")

    @once
    def compact(self) -> str:
        """The stems written together, for matches across different spacing."""
        return "".join(self.stems)

    @once
    def character_trigrams(self) -> Trigrams:
        """Character trigrams over the stems with single spaces."""
        return Trigrams.of(f" {' '.join(self.stems)} ")


VERSION = 4  # of the features' definitions: raised whenever a number changes for the same item


class Library:
    """Texts already analysed, bounded by their characters, the least recently used leaving first;
    thread-safe.

    Args:
        budget: Characters of source text kept; a character costs about 150 bytes once analysed.
        language: Of the texts.
    """

    def __init__(self, budget: int = 400_000, *, language: str = ENGLISH) -> None:
        self.budget = budget
        self.reader = reader_of(language)
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
        passage = read(text, self.reader) if isinstance(text, str) else self._join(text)
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
        quotes = chain.from_iterable([part.quotes for part in parts])
        lines = chain.from_iterable([part.lines for part in parts])
        sentences = chain.from_iterable([part.sentences for part in parts])
        size = sum(part.size for part in parts)
        return StemmedText(lines, size, quotes, self.reader, sentences=sentences)


@lru_cache(maxsize=4)
def library_of(language: str) -> Library:
    """The one library of a language in this process: texts that come again in later items are known."""
    return Library(language=language)


def read(text: str, reader: Reader = _ENGLISH) -> StemmedText:
    """``text`` analysed, without keeping it."""
    known = reader.lines(text)
    lines = [(part.lower(), words) for part, words in known]
    return StemmedText(lines, len(text) + 1, [part for part, _ in known], reader)
