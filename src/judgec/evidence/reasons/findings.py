"""Finds what an answer has in common with its question, reference and contexts: counts, words, short quotes.

They come from the same analysed texts as the features and are what a reason points at.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from judgec.evidence.answer_features import JudgedAnswer, refusing
from judgec.evidence.overlap import contains_run, resemblance
from judgec.evidence.text import StemmedText

LONGEST_QUOTE = 80  # characters
SHORT = 4  # words up to which every capital counts as a name, the first one's too


class Share(NamedTuple):
    """The part of some things that was found, as written."""

    found: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def whole(self) -> int:
        """Number of all of them."""
        return len(self.found) + len(self.missing)

    @property
    def value(self) -> float:
        """The share that was found; 1 of nothing."""
        found, missing = len(self.found), len(self.missing)
        return found / (found + missing) if found or missing else 1.0


@dataclass(frozen=True, slots=True)
class Worst:
    """The sentence of which the least was found.

    Args:
        number: Its place, from 0.
        count: How many sentences there are.
        share: Its words that were found.
        quote: Its beginning.
    """

    number: int
    count: int
    share: Share
    quote: str


class AgainstReference(NamedTuple):
    """An answer beside the alternative of its reference that it comes closest to.

    Args:
        verbatim: The alternative stands in the answer word for word.
        refuses: The reference itself says that there is no answer.
        recall: Its words, those of the question aside, in the answer.
        precision: The answer's words, those of the question aside, in the reference.
        numbers: Its numbers and months in the answer.
        other_numbers: The answer's numbers and months that it does not have.
        names: Its names in the answer.
        other_names: The answer's names that it does not have.
        worst: Its sentence that the answer has least of; None when it has one sentence only.
    """

    verbatim: bool
    refuses: bool
    recall: Share
    precision: Share
    numbers: Share
    other_numbers: tuple[str, ...]
    names: Share
    other_names: tuple[str, ...]
    worst: Worst | None


class AgainstContexts(NamedTuple):
    """An answer beside its contexts.

    Args:
        support: The answer's words, those of the question aside, in the contexts.
        worst: Its sentence that the contexts have least of; None when no sentence claims anything.
        strangers: Its names and numbers that neither question nor contexts have.
        known: How many of its names and numbers the contexts have.
        question: The question's words in the contexts.
    """

    support: Share
    worst: Worst | None
    strangers: tuple[str, ...]
    known: int
    question: Share


class Findings(NamedTuple):
    """Findings in one answer.

    Args:
        words: How many it has; 0 for an empty answer.
        refusal: Its first sentence that says that the answer is not known, or empty.
        refused: Share of its sentences that say so.
        question: The question's words in it.
        content: Its own words, those of the question aside, by stem; empty unless they were wanted.
        reference: None without reference.
        contexts: None without contexts.
    """

    words: int
    refusal: str
    refused: float
    question: Share
    content: dict[str, str]
    reference: AgainstReference | None = None
    contexts: AgainstContexts | None = None


def shorten(text: str) -> str:
    """The beginning of a text on one line, cut between words."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_QUOTE:
        return line
    cut = line[:LONGEST_QUOTE]
    return f"{cut.rpartition(' ')[0] or cut} ..."


def share(stems: Iterable[str], known: Collection[str], written: dict[str, str]) -> Share:
    """Finds which of ``stems`` are ``known``."""
    found: list[str] = []
    missing: list[str] = []
    as_written = written.get
    for one in stems:
        if one in known:
            found.append(as_written(one, one))
        else:
            missing.append(as_written(one, one))
    return Share(tuple(found), tuple(missing))


def content_of(passage: StemmedText, asked: Collection[str]) -> list[str]:
    """The words that count, those of the question aside; with them where nothing else is there."""
    return [one for one in passage.content if one not in asked] or list(passage.content) or list(passage.vocabulary)


def names_of(passage: StemmedText) -> list[str]:
    """Names; in a text of a few words the first word too."""
    names = passage.names
    if len(passage.stems) <= SHORT:
        capitals = [word for _, line in passage.lines for word in line if word[0].isupper()]
        names = {
            one: None
            for one in map(passage.reader.stem, capitals)
            if one not in passage.function_stems and not one[0].isdigit()
        }
    return [one for one in names if one not in passage.months]


def against_reference(answer: JudgedAnswer, question: StemmedText, wanted: StemmedText) -> AgainstReference:
    """Findings beside one alternative of a reference with at least one word.

    Args:
        answer: With at least one word.
        question: What was asked.
        wanted: The alternative.
    """
    reply, asked = answer.passage, question.vocabulary
    said = reply.vocabulary
    figures = [one for one in (*wanted.numbers, *wanted.months) if one not in asked]
    told = [one for one in (*reply.numbers, *reply.months) if one not in asked]
    found = {one for one in figures if (reply.gives(one, wanted) if one in wanted.numbers else one in said)}
    ours, theirs = names_of(wanted), names_of(reply)
    return AgainstReference(
        verbatim=contains_run(wanted.stems, reply),
        refuses=any(refusing(wanted)),
        recall=share(content_of(wanted, asked), said, wanted.written),
        precision=share(content_of(reply, asked), wanted.vocabulary, reply.written),
        numbers=share(figures, found, wanted.written),
        other_numbers=tuple(
            [
                reply.written.get(one, one)
                for one in told
                if not (wanted.gives(one, reply) if one in reply.numbers else one in figures)
            ]
        ),
        names=share([one for one in ours if one not in asked], _alike(ours, said, reply), wanted.written),
        other_names=tuple(
            [reply.written.get(one, one) for one in theirs if one not in asked and one not in wanted.vocabulary]
        ),
        worst=_worst(wanted, wanted, said, asked) if len(wanted.sentences) > 1 else None,
    )


def _alike(names: Iterable[str], said: dict[str, int], reply: StemmedText) -> set[str]:
    """The names that occur, spelling aside."""
    found = set()
    for name in names:
        if name in said or any(resemblance(name, other) for other in reply.near(name)):
            found.add(name)
    return found


def against_contexts(answer: JudgedAnswer, question: StemmedText, contexts: StemmedText) -> AgainstContexts:
    """Findings beside contexts, all with at least one word."""
    reply, asked, known = answer.passage, question.vocabulary, contexts.vocabulary
    claims = answer.claims
    things = [one for one in (*reply.numbers, *reply.names) if one not in asked]
    given = {one for one in reply.numbers if contexts.gives(one, reply)}
    strangers = tuple(
        [reply.written.get(one, one) for one in things if one not in (given if one in reply.numbers else known)]
    )
    return AgainstContexts(
        support=share(content_of(reply, asked), known, reply.written),
        worst=_worst(claims, reply, known, asked) if claims.stems else None,
        strangers=strangers,
        known=len(things) - len(strangers),
        question=share(question.content, known, question.written),
    )


def _worst(passage: StemmedText, whole: StemmedText, known: Collection[str], asked: Collection[str]) -> Worst | None:
    """The sentence with the least share of its content words ``known``, of two the first.

    Args:
        passage: The sentences.
        whole: All of the text, where it is counted which one it is.
        known: Stems.
        asked: Stems that do not count.
    """
    best: tuple[float, int, list[str]] | None = None
    empty = passage.function_stems
    for number, sentence in enumerate(passage.sentences):
        words = [one for one in dict.fromkeys(sentence) if one not in empty and one not in asked]
        if not words:
            continue
        found = sum(map(known.__contains__, words)) / len(words)
        if best is None or found < best[0]:
            best = (found, number, words)
    if best is None:
        return None
    _, number, words = best
    quote = passage.quotes[number]
    place = whole.quotes.index(quote) if quote in whole.quotes else number
    return Worst(place, len(whole.quotes), share(words, known, passage.written), shorten(quote))


def findings(
    answer: JudgedAnswer,
    question: StemmedText,
    reference: AgainstReference | None,
    contexts: AgainstContexts | None,
    *,
    own: bool = False,
) -> Findings:
    """Findings of an answer by itself and beside its question.

    Args:
        answer: The answer.
        question: What was asked.
        reference: What was found beside the reference.
        contexts: What was found beside the contexts.
        own: Whether its own words are wanted.
    """
    reply, asked = answer.passage, question.vocabulary
    refusal = reply.quotes[answer.refused.index(True)] if any(answer.refused) else ""
    return Findings(
        words=len(reply.stems),
        refusal=shorten(refusal),
        refused=answer.refusal,
        question=share(question.content, reply.vocabulary, question.written),
        content={one: reply.written.get(one, one) for one in reply.content if one not in asked} if own else {},
        reference=reference,
        contexts=contexts,
    )
