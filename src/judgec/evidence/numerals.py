"""Number words, ordinals, Roman numerals and months in one written form.

"twenty-one", "21st" and "XXI" all become ``21``, "5.2 million" becomes ``5200000``, "Sept" becomes ``september``, so
that two texts that name the same number compare equal word by word.
"""

from collections.abc import Iterator, Sequence

_CARDINALS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen"""
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
thirteenth fourteenth
fifteenth sixteenth seventeenth eighteenth nineteenth"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENTHS = "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"
_NUMERALS = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI"
_CALENDAR = "january february march april may june july august september october november december"
_UNITS = {
    **{word: value for value, word in enumerate(_CARDINALS.split())},
    **{word: value for value, word in enumerate(_ORDINALS.split(), 1)},
}
_DECADES = {word: 10 * value for names in (_TENS, _TENTHS) for value, word in enumerate(names.split(), 2)}
_SCALES = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_ROMAN = {
    word: str(value)
    for value, word in enumerate(_NUMERALS.split(), 1)
    if len(word) > 1  # a lone I, V or X is more often a letter
}
MONTH_ORDER = tuple(_CALENDAR.split())
MONTHS = {
    **{month: month for month in MONTH_ORDER},
    **{month[:3]: month for month in MONTH_ORDER if month != "may"},
    "sept": "september",
}

# A lone "one", "second" or "hundred" is more often a pronoun, a unit of time or an estimate than a figure.
_LONELY = frozenset({"one", "second", *_SCALES})
NUMBER_WORDS = frozenset({*_UNITS, *_DECADES, *_SCALES})
"""English words that are a figure, or part of one."""


def roman(word: str) -> str | None:
    """``2`` for ``II`` and so on up to ``XXI``; None for anything else, lower case included."""
    return _ROMAN.get(word)


def is_number(word: str) -> bool:
    """True for a word that starts with a digit, such as ``21``, ``3.5`` or ``1990``."""
    return word[:1].isdigit()


def fold_number_words(words: Sequence[str]) -> list[str]:
    """Replace runs of number words by their figures; every other word stays as it is.

    Args:
        words: Lower-case words in reading order.

    Returns:
        The words, where ``["two", "hundred", "and", "five", "men"]`` has become ``["205", "men"]``.
    """
    return list(words) if NUMBER_WORDS.isdisjoint(words) else [word for word, _ in number_runs(words)]


def number_runs(words: Sequence[str]) -> Iterator[tuple[str, int]]:
    """As ``fold_number_words``, of each word where in ``words`` it ends."""
    position = 0
    while position < len(words):
        word = words[position]
        if word not in NUMBER_WORDS and not word[:1].isdigit():
            position += 1
            yield word, position
            continue
        end, value = _run(words, position)
        if end == position or (end == position + 1 and words[position] in _LONELY):
            position += 1
            yield word, position
        else:
            position = end
            yield value, position


def _run(words: Sequence[str], start: int) -> tuple[int, str]:
    """The end of the number that begins at ``start`` (``start`` itself when there is none) and its figure."""
    total, current, position, last = 0.0, 0.0, start, "none"
    while position < len(words):
        word = words[position]
        if word in _UNITS and last in {"none", "decade", "scale"}:
            if last == "decade" and not 0 < _UNITS[word] < 10:
                break
            current, last = current + _UNITS[word], "unit"
        elif word in _DECADES and last in {"none", "scale"}:
            current, last = current + _DECADES[word], "decade"
        elif word in _SCALES:
            if last == "scale" and current == 0 and total == 0:
                break
            scale = _SCALES[word]
            if scale == 100:
                current = max(current, 1.0) * scale
            else:
                total, current = total + max(current, 1.0) * scale, 0.0
            last = "scale"
        elif last == "none" and _is_plain_figure(word) and position + 1 < len(words) and words[position + 1] in _SCALES:
            current, last = float(word), "unit"
        elif word == "and" and last == "scale" and position + 1 < len(words) and words[position + 1] in NUMBER_WORDS:
            pass
        else:
            break
        position += 1
    figure = total + current
    return position, str(int(figure)) if figure == int(figure) else str(figure)


def _is_plain_figure(word: str) -> bool:
    return len(word) <= 15 and word.isascii() and word.count(".") <= 1 and word.replace(".", "", 1).isdigit()
