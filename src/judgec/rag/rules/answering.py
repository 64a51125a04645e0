"""Writes by rule what agents ask where no model is named: search queries by rewriting, answers by quoting passages.

A baseline, and named as such wherever it is used.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from judgec.evidence.text import FUNCTION_STEMS, StemmedText, read, stem
from judgec.rag.agents.answer import REFUSAL
from judgec.rag.agents.rag import AgentSettings
from judgec.raters.fencing import unfence

MOST_SENTENCES = 3  # of an answer
LEAST_COVERED = 0.67  # share of the query's words that the passages must hold for an answer, beside all its names
PLACE_WEIGHT = 0.9  # a sentence of the next passage counts this much less
HEAD_WEIGHT = 0.5  # what only the headings above a sentence say, against what it says itself
LEAST_GAIN = 0.35  # a further sentence must add this share of what the first one said
_OPENING = re.compile(
    r"^(?:(?:please|can|could|would) you (?:tell|explain|give|show)\b(?: me)?|i (?:want|need|would like) to(?: know)?|"
    r"(?:what|which|who|whose|whom|when|where|why|how)(?:'s)?\b"
    r"(?: (?:much|many|long|often|far|large|accurate))?"
    r"|(?:is|are|was|were|do|does|did|can|could|may|must|should|will)\b)"
    r"(?:\s+(?:is|are|was|were|do|does|did|can|could|may|must|should|will|has|have|the|a|an|i|we|you|there|it))*\s+",
    re.IGNORECASE,
)
_ASKS_FIGURE = re.compile(
    r"\b(?:how (?:much|many|long|often|far|large|big|high|low|fast|accurate|old|hot|cold|deep|wide)|when|range|limit"
    r"|accuracy|voltage|pressure|temperature|price|cost|weight|length|current|speed|date|year)\b",
    re.IGNORECASE,
)
_RULE = re.compile(r"^[\s|:=\-–—_*#.]*$")
_SENTENCES = re.compile(  # "9 a.m. on Fridays", "approx. 12.5 kg" and "No. 5" go on
    r"(?<=[.!?])(?<![AaPp]\.[Mm]\.)(?<!\bapprox\.)(?<!\bca\.)(?<!\bNo\.)\s+(?=[^\W\d_]|\d|[\"'(])"
)
_OPTION = re.compile(r"^\s*\(?([A-Ha-h])[).:]\s+(\S.*)$", re.MULTILINE)
_WORDS = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


def reply_by_rule(predictor: str, inputs: Mapping[str, str], settings: AgentSettings) -> Mapping[str, str]:
    """The fields that an agent gets where it would ask a model.

    Args:
        predictor: Which of its predictors would be asked: ``answer``, ``grade`` or ``vary``.
        inputs: Query and passages, fenced.
        settings: Of the agent.

    Raises:
        KeyError: No rule writes what the predictor asks for.
    """
    query, passages = ("\n".join(_texts(inputs.get("query", ""))), _texts(inputs.get("passages", "")))
    written = {
        "vary": lambda: {"queries": "\n".join(vary(query, passages, settings.variations)) or query},
        "grade": lambda: {"grades": "\n".join(str(_helps(query, passage)) for passage in passages)},
        "answer": lambda: {"answer": extract(query, passages, REFUSAL, cite=settings.citations)},
    }
    return written[predictor]()


def _texts(fenced: str) -> tuple[str, ...]:
    texts = unfence(fenced)
    return (texts,) if isinstance(texts, str) and texts else tuple(texts)


def _helps(query: str, passage: str) -> int:
    """2 where a passage holds what ``extract`` would quote, 1 where it has a word of the query, else 0."""
    if extract(query, (passage,), "", cite=False):
        return 2
    return int(bool(set(read(query).content) & set(read(passage).content)))


def vary(query: str, passages: Sequence[str], count: int) -> list[str]:
    """Other queries for the same need: without the question's opening, its content words, with words of passages.

    Args:
        query: The user's.
        passages: What a first search found; may be empty.
        count: How many at most; fewer when there is nothing to vary with.
    """
    words = _WORDS.findall(query)
    content = [word for word in words if stem(word) not in FUNCTION_STEMS]
    plain = _OPENING.sub("", query.strip()).rstrip(" ?!.")
    more = _expansions(query, passages)
    candidates = [plain, " ".join(content)]
    pairs = (more[start : start + 2] for start in range(0, 2 * count, 2))
    candidates += [" ".join([*content, *pair]) for pair in pairs if pair]
    names = [word for word in content if word[0].isupper() or any(letter.isdigit() for letter in word)]
    if names and more:
        candidates.append(" ".join([*names, *more[:4]]))
    if len(content) > 2:
        candidates += [" ".join(content[: (len(content) + 1) // 2]), " ".join(content[len(content) // 2 :])]
    known = {query.casefold().strip()}
    varied = []
    for candidate in candidates:
        if candidate and candidate.casefold() not in known:
            known.add(candidate.casefold())
            varied.append(candidate)
    return varied[:count]


def _expansions(query: str, passages: Sequence[str]) -> list[str]:
    """Words that the passages share and the query lacks, as they stand there; most weight first.

    Source: the idea of pseudo-relevance feedback, Rocchio (1971); weights are counts over passages, damped.
    """
    asked = set(read(query).vocabulary)
    weight: Counter[str] = Counter()
    written: dict[str, str] = {}
    for place, passage in enumerate(passages):
        counts: Counter[str] = Counter()
        for word in _WORDS.findall(passage):
            root = stem(word)
            if root in asked or root in FUNCTION_STEMS or len(root) < 4 or root.isdigit():
                continue
            written.setdefault(root, word)
            counts[root] += 1
        for root, count in counts.items():
            weight[root] += int(1000 * (1 + math.log(count)) * PLACE_WEIGHT**place)
    return [written[root] for root in sorted(weight, key=lambda root: (-weight[root], root))]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence or a table row, with what the headings above it say."""

    passage: int
    place: int
    text: str
    stems: frozenset[str]
    above: frozenset[str]
    has_figure: bool


def extract(query: str, passages: Sequence[str], refusal: str, *, cite: bool, most: int = MOST_SENTENCES) -> str:
    """The sentences that say most of what the query asks about, quoted; or the refusal.

    Sentences are chosen one by one: each for the words of the query that it adds, weighted by their rarity among
    the passages' sentences. Where the passages lack a name of the query, or half of its words, nothing is answered.
    Of options with letters in the query the one is named that these sentences hold, with the sentence.

    Args:
        query: The user's.
        passages: Best first.
        refusal: What to say when the passages do not hold the answer.
        cite: Whether each sentence names its passage.
        most: Sentences.
    """
    question, options = _choices(query)
    if options:
        return _choose_option(question, options, passages, refusal, cite=cite)
    sentences = [sentence for number, text in enumerate(passages) for sentence in _sentences(number, text)]
    asked = list(read(query).content)
    if not sentences or not asked:
        return refusal
    weights = _weights(asked, sentences)
    held = set().union(*(sentence.stems | sentence.above for sentence in sentences))
    if not _named(query) <= held or sum(word in held for word in asked) < LEAST_COVERED * len(asked):
        return refusal
    chosen = _choose(sentences, weights, most, figure=_ASKS_FIGURE.search(query) is not None)
    if not chosen:
        return refusal
    chosen.sort(key=lambda sentence: (sentence.passage, sentence.place))
    return " ".join(f"{_finished(sentence.text)}{f' [{sentence.passage + 1}]' if cite else ''}" for sentence in chosen)


def _choices(query: str) -> tuple[str, list[tuple[str, str]]]:
    """The question of a query, and its options by letter where it has several."""
    found = list(_OPTION.finditer(query))
    in_order = [match[1].upper() for match in found] == [chr(ord("A") + place) for place in range(len(found))]
    if len(found) < 2 or not in_order:
        return query, []
    return query[: found[0].start()].strip(), [(match[1].upper(), match[2].strip()) for match in found]


def _choose_option(
    question: str, options: Sequence[tuple[str, str]], passages: Sequence[str], refusal: str, *, cite: bool
) -> str:
    """The option that stands in the sentence nearest to the question, with that sentence; or the refusal."""
    sentences = [sentence for number, text in enumerate(passages) for sentence in _sentences(number, text)]
    asked = list(read(question).content)
    weights = _weights(asked, sentences) if sentences and asked else {}
    best: tuple[float, float, str] | None = None
    for letter, option in options:
        stems = read(option).stems
        keys = {one for one in stems if one not in FUNCTION_STEMS} or {*stems}
        for one in sentences:
            held = _held(one, keys, option)
            near = sum(weights.get(word, 0.0) for word in {*asked} & (one.stems | one.above))
            if held and near and (best is None or (held, near) > best[:2]):
                quoted = f"{_finished(one.text)}{f' [{one.passage + 1}]' if cite else ''}"
                best = (held, near, f"{letter}) {option}: {quoted}")
    return refusal if best is None else best[2]


def _held(sentence: _Sentence, keys: set[str], option: str) -> float:
    """The share of an option that a sentence holds: as it is written, or all its figures and some of its words."""
    if re.search(rf"(?<![\w.,]){re.escape(option.casefold())}(?!\w|[.,]\d)", sentence.text.casefold()):
        return 2.0
    stems = {*read(sentence.text).stems}
    figures = {one for one in keys if any(map(str.isdigit, one))}
    share = sum(one in stems for one in keys) / len(keys) if keys else 0.0
    return share if figures <= stems and share >= LEAST_COVERED else 0.0


def _named(query: str) -> set[str]:
    """Words that the query is about: those with a capital that open no sentence, and those of letters and figures."""
    words = _WORDS.findall(query)
    mixed = {word for word in words if any(map(str.isdigit, word)) and any(map(str.isalpha, word))}
    return set(read(query).names) | {root for word in mixed for root in read(word).content}


def _weights(asked: Sequence[str], sentences: Sequence[_Sentence]) -> dict[str, float]:
    frequency = Counter(word for sentence in sentences for word in sentence.stems | sentence.above)
    return {word: math.log(1 + len(sentences) / (0.5 + frequency[word])) for word in asked}


def _choose(
    sentences: Sequence[_Sentence], weights: Mapping[str, float], most: int, *, figure: bool
) -> list[_Sentence]:
    chosen: list[_Sentence] = []
    left = dict(weights)
    first = 0.0
    while len(chosen) < most:
        best, gain = None, 0.0
        for sentence in sentences:
            if sentence in chosen:
                continue
            said = sum(left[word] for word in sentence.stems if word in left)
            said += HEAD_WEIGHT * sum(left[word] for word in sentence.above - sentence.stems if word in left)
            if figure and sentence.has_figure and said:
                said *= 1.3
            said *= PLACE_WEIGHT**sentence.passage
            if said > gain + 1e-12:
                best, gain = sentence, said
        if best is None or gain < LEAST_GAIN * first:
            break
        first = first or gain
        chosen.append(best)
        for word in best.stems:
            left.pop(word, None)
        for word in best.above:
            if word in left:
                left[word] *= 1 - HEAD_WEIGHT
    return chosen


def _sentences(passage: int, text: str) -> Iterator[_Sentence]:
    above: dict[int, frozenset[str]] = {}
    header: list[str] = []
    place = 0
    lines = [line.strip() for line in text.split("\n")]
    for number, line in enumerate(lines):
        if not line.startswith("|"):
            header = []
        if not line or _RULE.match(line):
            continue
        level = len(line) - len(line.lstrip("#"))
        if level or (number == 0 and len(line) < 120 and not line.endswith((".", "!", "?"))):
            above = {known: said for known, said in above.items() if known < level}
            above[level] = frozenset(read(line.lstrip("# ")).content)
            continue
        if line.startswith("|") and number + 1 < len(lines) and lines[number + 1] and _RULE.match(lines[number + 1]):
            header = _cells(line)
            continue
        heads = frozenset().union(*above.values(), read(" ".join(header)).content)
        for row in [_row(line, header)] if line.startswith("|") else _SENTENCES.split(line):
            analysed: StemmedText = read(row)
            if analysed.content:
                stems = frozenset(analysed.content)
                yield _Sentence(passage, place, row.strip(), stems, heads - stems, bool(analysed.numbers))
                place += 1


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _row(line: str, header: Sequence[str]) -> str:
    """A table row as a sentence; with more than two columns each cell says what it is."""
    first, *rest = _cells(line)
    if len(rest) > 1 and len(header) == len(rest) + 1:
        rest = [f"{name} {cell}" if name else cell for name, cell in zip(header[1:], rest, strict=True) if cell]
    return f"{first}: {', '.join(cell for cell in rest if cell)}"


def _finished(text: str) -> str:
    text = text.lstrip("-*• ").strip()
    return text if text.endswith((".", "!", "?", ":", ";")) else f"{text}."
