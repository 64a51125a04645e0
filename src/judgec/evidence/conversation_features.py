"""An answer beside the turns before it: what it repeats, takes back, and whether it answers what was carried over."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import log, log1p

from judgec.evidence.answer_features import JudgedAnswer, read_answer
from judgec.evidence.overlap import Weight, contains_run, fragments, ratio, support, total
from judgec.evidence.quantities import same
from judgec.evidence.text import Library, Reader, StemmedText, stem
from judgec.records.conversation import ASSISTANT, USER, Message
from judgec.records.language import ENGLISH

CONVERSATION_NAMES = (
    "turns",
    "user_turns",
    "length",  # of all earlier turns
    "length_ratio",  # of the answer to the assistant's earlier turns
    "repeated",  # IDF share of what the answer adds to the question that the assistant had said before
    "repeated_run",  # the longest run of words from there
    "repeated_sentences",
    "from_users",  # the same of what users had said
    "contradictions",  # sentences that deny what the assistant had said, or the other way round
    "number_conflicts",  # sentences that give other figures than the assistant had
    "refers",  # the question speaks of something before it
    "carried",  # IDF share of the question, with what it refers to, that the answer speaks of
    "asked_again",  # how much of the question a user had asked before
    "complaints",  # share of the users' turns
    "thanks",
    "corrects",  # the answer takes something back
)
SAME = 0.6  # of two sentences' content: they speak of the same thing
LEAST = 2  # content words that they share at least
NEAR = 4  # words behind a negation of which it can deny the first
SENTENCE = 4  # stems of a sentence that can be repeated: shorter ones are courtesies

_NEGATIONS = frozenset(
    map(
        stem,
        [
            "not",
            "no",
            "never",
            "none",
            "neither",
            "nor",
            "cannot",
            "can't",
            "don't",
            "doesn't",
            "didn't",
            "isn't",
            "aren't",
            "wasn't",
            "weren't",
            "won't",
            "wouldn't",
            "shouldn't",
            "couldn't",
            "hasn't",
            "haven't",
            "hadn't",
            "without",
        ],
    )
)
_REFERENCES = frozenset(
    map(
        stem,
        [
            "it",
            "its",
            "they",
            "them",
            "their",
            "theirs",
            "this",
            "that",
            "these",
            "those",
            "he",
            "him",
            "his",
            "she",
            "her",
            "hers",
            "one",
            "ones",
            "there",
            "same",
            "former",
            "latter",
            "previous",
            "above",
            "earlier",
        ],
    )
)
_COMPLAINT = re.compile(
    r"\b(?:wrong|incorrect|not (?:what i|true|right|correct|helpful)|useless|are you sure|you (?:forgot|missed|already)"
    r"|i (?:already|just) (?:said|told|asked)|(?:did|does)(?:n't| not) (?:answer|help|work)|i meant|try again)\b|^no\b"
)
_THANKS = re.compile(r"\b(?:thanks?|thank you|thx|perfect|great|awesome|excellent)\b")
_TAKEN_BACK = re.compile(
    r"\b(?:sorry|apologi[sz]e|apologies|my mistake|i was wrong|i misspoke|correction|you(?:'re| are) right)\b"
)


@dataclass(frozen=True, slots=True)
class _Cues:
    """Cues of a language that are searched for in conversations; stems of words that deny, of words that
    say nothing by themselves, of words that refer.
    """

    negations: frozenset[str]
    empty: frozenset[str]
    references: frozenset[str]
    complaint: re.Pattern[str]
    thanks: re.Pattern[str]
    taken_back: re.Pattern[str]


@cache
def _cues(reader: Reader) -> _Cues:
    if reader.language == ENGLISH:
        return _Cues(_NEGATIONS, _NEGATIONS | reader.function_stems, _REFERENCES, _COMPLAINT, _THANKS, _TAKEN_BACK)
    cues = reader.cues
    negations = reader.stems_of(cues.negations)
    return _Cues(
        negations,
        negations | reader.function_stems,
        reader.stems_of(cues.references),
        cues.complaint or _COMPLAINT,
        cues.thanks or _THANKS,
        cues.taken_back or _TAKEN_BACK,
    )


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sentences of an assistant that cannot both be right.

    Args:
        now: The answer's.
        before: That of an earlier turn.
        numbers: They differ in figures; else one denies what the other says.
    """

    now: str
    before: str
    numbers: bool


def conversation_features(
    answer: JudgedAnswer, question: StemmedText, turns: Sequence[Message], library: Library, weight: Weight
) -> tuple[float, ...]:
    """The numbers of ``CONVERSATION_NAMES`` for an answer with at least one word.

    Args:
        answer: The answer.
        question: What it answers.
        turns: What was said before the question; at least one turn.
        library: Where texts are read.
        weight: Of stems.
    """
    before = _of(turns, ASSISTANT, library)
    users = [library.read(turn.content) for turn in turns if turn.role == USER]
    reply = answer.passage
    new = [one for one in reply.stems if one not in question.vocabulary]
    long = [sentence for sentence in reply.sentences if len(sentence) >= SENTENCE]
    spoken = [len(library.read(turn.content).stems) for turn in turns if turn.role == ASSISTANT]
    usual = ratio(sum(spoken), len(spoken))
    found, cues = conflicts(reply, before), _cues(library.reader)
    said = [*(_lower(user) for user in users), _lower(question)]
    return (
        log1p(len(turns)),
        log1p(len(users)),
        log1p(sum(len(library.read(turn.content).stems) for turn in turns)),
        log((1.0 + len(reply.stems)) / (1.0 + usual)) if spoken else 0.0,
        support(new, before.vocabulary, weight, 0.0),
        ratio(max(fragments(reply.stems, before), default=0), len(reply.stems)) if before.stems else 0.0,
        ratio(sum(contains_run(sentence, before) for sentence in long), len(long)),
        support(new, _of(turns, USER, library).vocabulary, weight, 0.0),
        ratio(sum(not one.numbers for one in found), len(reply.sentences)),
        ratio(sum(one.numbers for one in found), len(reply.sentences)),
        float(_refers(question)),
        support(_carried(question, turns, library), reply.vocabulary, weight, 0.0),
        max((support(question.content, user.vocabulary, weight, 0.0) for user in users), default=0.0),
        sum(cues.complaint.search(text) is not None for text in said) / len(said),
        sum(cues.thanks.search(text) is not None for text in said) / len(said),
        float(cues.taken_back.search(_lower(reply)) is not None),
    )


def dialogue_features(turns: Sequence[Message], library: Library, weight: Weight) -> tuple[float, ...]:
    """The mean of ``conversation_features`` over the answers of a dialogue; nothing where none has turns before."""
    rows = []
    for at, turn in enumerate(turns):
        asked = max((before for before in range(at) if turns[before].role == USER), default=None)
        if turn.role != ASSISTANT or asked is None or not asked:
            continue
        answer = read_answer(turn.content, library)
        if answer.passage.stems:
            question = library.read(turns[asked].content)
            rows.append(conversation_features(answer, question, turns[:asked], library, weight))
    return tuple(total(column) / len(rows) for column in zip(*rows, strict=True)) if rows else ()


def earlier(
    turns: Sequence[Message], reply: StemmedText, library: Library, *, whole: bool
) -> tuple[int, Conflict | None]:
    """Number of turns, and the first conflict of an answer with them, or within a whole dialogue."""
    if not whole:
        return len(turns), next(iter(conflicts(reply, _of(turns, ASSISTANT, library))), None)
    for at, turn in enumerate(turns):
        if turn.role == ASSISTANT and (
            found := conflicts(library.read(turn.content), _of(turns[:at], ASSISTANT, library))
        ):
            return len(turns), found[0]
    return len(turns), None


def conflicts(reply: StemmedText, before: StemmedText) -> list[Conflict]:
    """The reply's sentences that an earlier sentence of the same content denies, or gives other figures for."""
    found = []
    for number, sentence in enumerate(reply.sentences):
        content = _content(sentence, reply.reader)
        shared: dict[int, int] = {}
        for one in content:
            for place in before.where.get(one, ()):
                shared[place] = shared.get(place, 0) + 1
        for place, count in shared.items():
            other = before.sentences[place]
            if count < LEAST or count < SAME * max(len(content), len(_content(other, before.reader))):
                continue
            figures, others = _numbers(sentence), _numbers(other)
            numbers = bool(figures and others) and not any(_same_figure(reply, before, one, others) for one in figures)
            if numbers or _denies(sentence, reply.reader) != _denies(other, before.reader):
                found.append(Conflict(_quote(reply, number), _quote(before, place), numbers))
                break
    return found


def _of(turns: Sequence[Message], role: str, library: Library) -> StemmedText:
    return library.read(tuple(turn.content for turn in turns if turn.role == role))


def _content(sentence: Sequence[str], reader: Reader) -> set[str]:
    empty = _cues(reader).empty
    return {one for one in sentence if one not in empty and not one[:1].isdigit()}


def _numbers(sentence: Sequence[str]) -> set[str]:
    return {one for one in sentence if one[:1].isdigit()}


def _same_figure(reply: StemmedText, before: StemmedText, figure: str, others: set[str]) -> bool:
    """True if one of the other sentence's figures is this one, with its unit where both have one."""
    ours = reply.quantities.get(figure, ())
    theirs = [quantity for other in others for quantity in before.quantities.get(other, ())]
    if figure in others and not (ours and before.quantities.get(figure)):
        return True
    return any(same(one, other) for one in ours for other in theirs)


def _denies(sentence: Sequence[str], reader: Reader) -> bool:
    negations = _cues(reader).negations
    return sum(one in negations for one in sentence) % 2 == 1


def denied(sentence: Sequence[str], reader: Reader) -> frozenset[str]:
    """The words that a negation stands before: of each the next one that says something."""
    cues = _cues(reader)
    found: set[str] = set()
    for place, one in enumerate(sentence):
        if one in cues.negations:
            after = (word for word in sentence[place + 1 : place + 1 + NEAR] if word not in cues.empty)
            found.update([word] if (word := next(after, None)) is not None else [])
    return frozenset(found)


def _refers(question: StemmedText) -> bool:
    return not question.content or any(one in _cues(question.reader).references for one in question.vocabulary)


def _carried(question: StemmedText, turns: Sequence[Message], library: Library) -> dict[str, None]:
    """The question's content and, where it refers to something, the content of that.

    What is meant is what was named last: the names of the latest sentence that has some, going back turn by turn; where
    nothing has a name, the latest user's turn that refers to nothing itself.
    """
    own = dict(question.content)
    if not _refers(question):
        return own
    for turn in reversed(turns):
        read = library.read(turn.content)
        for number in reversed(range(len(read.sentences))):
            names = [one for one in dict.fromkeys(read.sentences[number]) if one in read.names and one not in own]
            if names:
                return own | dict.fromkeys(names)
    asked = [library.read(turn.content) for turn in reversed(turns) if turn.role == USER]
    return own | next((user.content for user in asked if not _refers(user)), {})


def _lower(text: StemmedText) -> str:
    return " ".join(line for line, _ in text.lines)


def _quote(text: StemmedText, number: int) -> str:
    return text.quotes[number] if number < len(text.quotes) else ""
