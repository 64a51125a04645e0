"""Findings as phrases, one a topic, each with what it speaks for."""

from collections.abc import Sequence

from judgec.evidence.context_features import WEAK
from judgec.evidence.reasons.findings import SHORT, AgainstContexts, AgainstReference, Findings, Share, Worst
from judgec.evidence.text import StemmedText
from judgec.records.counts import plural

FAULT, BAD, EITHER, GOOD, MERIT = -2, -1, 0, 1, 2
"""What a phrase speaks for; a fault or merit is named whether or not it moved the score much."""
ASIDE = 3  # what an answer has of its own: named after what moved the score, on the winner's side
PLAIN = 4  # named all the same, on the side to which it moved the score
SILENT = 9  # nothing to say

Phrases = dict[str, tuple[int, str]]
"""By topic."""

MOST = 0.67  # share from which something counts as given
FEW = 0.34  # share below which it counts as lacking
LISTED = 4  # words in a phrase
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def listed(words: Sequence[str]) -> str:
    """A few words, each in quotes; how many more there are."""
    shown = ", ".join(f'"{word}"' for word in words[:LISTED])
    return shown if len(words) <= LISTED else f"{shown} and {len(words) - LISTED} more"


def which(worst: Worst) -> str:
    """The sentence's name: "the second sentence"."""
    if worst.count == 1:
        return "the only sentence"
    if worst.number + 1 == worst.count:
        return "the last sentence"
    return f"the {_ORDINALS[worst.number]} sentence" if worst.number < 10 else f"sentence {worst.number + 1}"


def counted(part: Share, things: str) -> str:
    """Counts how many of some things occur, and names those that do not.

    Args:
        part: The things.
        things: What they are, with ``{}`` for the plural's s.
    """
    if part.whole == 1:
        one = listed(part.found or part.missing)
        return f"the only {things.format('')}, {one}, {'occurs' if part.found else 'does not occur'}"
    if not part.missing:
        return f"all {part.whole} {things.format('s')} occur"
    return f"{_some(part, things)} (not: {listed(part.missing)})"


def _some(part: Share, things: str) -> str:
    return f"{len(part.found) or 'none'} of {part.whole} {things.format('s')} {_occur(len(part.found))}"


def _occur(count: int) -> str:
    return "occurs" if count == 1 else "occur"


def by_share(value: float) -> int:
    """Direction of a share: for or against."""
    return GOOD if value >= MOST else BAD if value <= 0.5 else EITHER


def answer_phrases(found: Findings, asked_for: tuple[str, float] | None) -> Phrases:
    """Phrases of one answer.

    Args:
        found: Of the answer.
        asked_for: What the question asks for, and 1 where the answer gives it, -1 where it does not; or None.
    """
    if not found.words:
        return {"texts": (FAULT, "the answer is empty")}
    phrases: Phrases = {
        "refusal": _refusal(found),
        "question": _question(found),
        "form": (EITHER, f"the answer has {plural(found.words, 'word')}"),
    }
    if asked_for is not None:
        noun, given = asked_for
        does = "gives" if given > 0 else "does not give"
        phrases["given"] = (GOOD if given > 0 else BAD, f"the question asks for {noun} and the answer {does} one")
    if found.reference is not None:
        phrases |= _reference(found.reference)
    if found.contexts is not None:
        phrases |= _contexts(found.contexts)
    if phrases["refusal"][0] in {FAULT, PLAIN}:
        _follow(phrases, "recall", "numbers", "names", "sentences", "strangers", "question")
    elif phrases["question"][0] == FAULT:
        _follow(phrases, "recall", "numbers", "names")
    return phrases


def _follow(phrases: Phrases, *topics: str) -> None:
    """Drops what follows from another fault, which need not be named beside it."""
    for topic in topics:
        code, said = phrases.get(topic, (SILENT, ""))
        phrases[topic] = (max(code, BAD), said)


def _refusal(found: Findings) -> tuple[int, str]:
    if not found.refusal:
        if found.reference is not None and found.reference.refuses:
            return FAULT, "the reference says that there is no answer and the answer gives one"
        return GOOD, "the answer does not refuse"
    says = f'the answer says that it does not know ("{found.refusal}")'
    outright = found.refused >= WEAK
    if found.reference is None:
        return PLAIN if outright else EITHER, says
    if found.reference.refuses:
        return GOOD, f"{says}, as the reference does"
    return FAULT if outright else BAD, f"{says} although the reference has an answer"


def _question(found: Findings) -> tuple[int, str]:
    part = found.question
    if not part.whole:
        return SILENT, ""
    if part.whole > 1 and part.missing:
        said = f"{_some(part, 'main word{} of the question')} in the answer (not: {listed(part.missing)})"
    else:
        said = counted(part, "main word{} of the question") + " in the answer"
    if part.value < FEW and part.whole > 1 and found.words > SHORT and not found.refusal and _apart(found):
        return FAULT, f"the answer is about something else: {said}"
    return GOOD if part.value >= 0.5 else BAD if part.value < FEW else EITHER, said


def _apart(found: Findings) -> bool:
    """True if the answer shares little with the reference, or without one with the contexts: a right answer may
    well repeat nothing of the question.
    """
    if found.reference is not None:
        return found.reference.recall.value < FEW and found.reference.precision.value < FEW
    return found.contexts is not None and found.contexts.support.value <= WEAK


def _reference(found: AgainstReference) -> Phrases:
    if found.refuses:  # its words say only that there is no answer
        return {}
    phrases: Phrases = {"recall": _recall(found)}
    own = found.precision
    share = f"{len(own.found)} of {plural(own.whole, 'word')} that the answer adds to the question"
    verb = "is" if len(own.found) == 1 else "are"
    phrases["precision"] = (
        GOOD if own.value >= MOST else BAD if own.value < FEW else EITHER,
        f"{share} {verb} in the reference",
    )
    if found.numbers.whole:
        phrases["numbers"] = _things(found.numbers, found.other_numbers, "number{} of the reference")
    elif found.other_numbers:
        phrases["numbers"] = (
            EITHER,
            f"the answer has numbers that the reference has not: {listed(found.other_numbers)}",
        )
    if found.names.whole:
        phrases["names"] = _things(found.names, found.other_names, "name{} of the reference")
    return phrases


def _recall(found: AgainstReference) -> tuple[int, str]:
    if found.verbatim:
        return GOOD, "the answer has the reference word for word"
    part, worst = found.recall, found.worst
    said = counted(part, "word{} of the reference")
    if part.value < MOST or (worst is not None and worst.share.value < FEW):
        if worst is not None and worst.share.value < FEW and worst.share.whole > 1:
            said += f'; the answer lacks {which(worst)} of the reference ("{worst.quote}")'
            return FAULT, said
        return FAULT if part.value <= 0.6 else BAD, said
    return by_share(part.value), said


def _things(part: Share, others: Sequence[str], things: str) -> tuple[int, str]:
    if not part.missing:
        said = counted(part, things)
        return (EITHER, f"{said}, and the answer has {listed(others)} too") if others else (GOOD, said)
    if others:
        one = len(part.missing) == 1
        does = "does" if one else "do"
        lost = f"{listed(part.missing)} of the reference {does} not occur, the answer has {listed(others)}"
        rest = f"{_some(part, things)}; " if part.found else ""
        return FAULT, rest + lost
    return BAD, counted(part, things)


def _contexts(found: AgainstContexts) -> Phrases:
    part = found.support
    phrases: Phrases = {}
    share = f"{len(part.found)} of {plural(part.whole, 'word')} that the answer adds to the question"
    phrases["support"] = by_share(part.value), f"{share} {'is' if len(part.found) == 1 else 'are'} in the contexts"
    if found.worst is not None:
        phrases["sentences"] = _support(found.worst)
    if found.strangers:
        things = f"{listed(found.strangers)} {'does' if len(found.strangers) == 1 else 'do'} not occur in the contexts"
        figures = any(one[0].isdigit() for one in found.strangers)
        phrases["strangers"] = (FAULT if figures else BAD, things)
    elif found.known:
        phrases["strangers"] = (GOOD, "the contexts have all names and numbers of the answer")
    if found.question.whole:
        asked = f"{len(found.question.found)} of {plural(found.question.whole, 'main word')} of the question"
        phrases["passages"] = (EITHER, f"the contexts have {asked}")
    return phrases


def _support(worst: Worst) -> tuple[int, str]:
    part = worst.share
    if part.value >= MOST:
        said = "the only sentence is" if worst.count == 1 else f"each of the {worst.count} sentences is"
        return GOOD, f"{said} supported by the contexts"
    if not part.found:
        return FAULT, f'{which(worst)} has no support in the contexts ("{worst.quote}")'
    said = f"{which(worst)} has little support in the contexts: {len(part.found)} of {part.whole} words"
    said += f' ("{worst.quote}")'
    return FAULT if part.value < FEW and part.whole > 1 else BAD if part.value < WEAK else EITHER, said


def document_phrases(words: Share, best: Share, quote: str, place: str, document: StemmedText) -> Phrases:
    """Phrases of a document beside a query.

    Args:
        words: The query's words in the document.
        best: Those in the sentence that has most of them.
        quote: That sentence.
        place: Its name.
        document: With at least one word.
    """
    if not words.found:
        said = f"none of the {words.whole} words of the query occurs in the document ({listed(words.missing)})"
        if words.whole == 1:
            said = f"the query's word {listed(words.missing)} does not occur in the document"
        return {"query": (FAULT, said), "form": _size(document)}
    if not words.missing:
        said = f"all {words.whole} words of the query occur ({listed(words.found)})"
        if words.whole == 1:
            said = f"the query's word {listed(words.found)} occurs in the document"
    else:
        said = f"{_some(words, 'word{} of the query')} ({listed(words.found)}; not: {listed(words.missing)})"
    speaks = MERIT if words.value >= MOST else FAULT if words.value < FEW else PLAIN
    phrases: Phrases = {"query": (speaks, said), "form": _size(document)}
    if words.whole > 1:
        close = f'{place} has {len(best.found)} of the {words.whole} words of the query ("{quote}")'
        phrases["together"] = (GOOD if best.value >= 0.5 else BAD if best.value < FEW else EITHER, close)
    return phrases


def _size(document: StemmedText) -> tuple[int, str]:
    return EITHER, f"the document has {plural(len(document.stems), 'word')}"
