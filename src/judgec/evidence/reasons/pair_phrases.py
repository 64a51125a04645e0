"""Findings of two answers as phrases that compare them, one a topic, each with the answer that it speaks for."""

from collections.abc import Callable

from judgec.evidence.reasons.findings import AgainstContexts, AgainstReference, Findings, Share
from judgec.evidence.reasons.phrases import ASIDE, BAD, EITHER, FAULT, FEW, GOOD, MERIT, Phrases, listed, which
from judgec.records.counts import plural

FOR_A, FOR_B = GOOD, BAD  # the first answer is what the score goes up with
CLEAR = 0.1  # difference of two shares that is worth a phrase

_Part = Callable[[Findings], Share | None]


def _of_reference(pick: Callable[[AgainstReference], Share]) -> _Part:
    return lambda found: None if found.reference is None else pick(found.reference)


def _of_contexts(pick: Callable[[AgainstContexts], Share]) -> _Part:
    return lambda found: None if found.contexts is None else pick(found.contexts)


_WANTED: tuple[tuple[str, str, _Part], ...] = (
    ("question", "main word{} of the question", lambda found: found.question),
    ("recall", "word{} of the reference", _of_reference(lambda found: found.recall)),
    ("numbers", "number{} of the reference", _of_reference(lambda found: found.numbers)),
    ("names", "name{} of the reference", _of_reference(lambda found: found.names)),
)
_OWN: tuple[tuple[str, str, _Part], ...] = (
    ("precision", "the reference", _of_reference(lambda found: found.precision)),
    ("support", "the contexts", _of_contexts(lambda found: found.support)),
)


def pair_phrases(a: Findings, b: Findings) -> Phrases:
    """Phrases of two answers to one question."""
    if not a.words or not b.words:
        return _empty(a, b)
    phrases = _form(a, b)
    for topic, things, part in _WANTED:
        one, other = part(a), part(b)
        if one is not None and other is not None and one.whole:
            phrases[topic] = _wanted(one, other, things)
    for topic, place, part in _OWN:
        one, other = part(a), part(b)
        if one is not None and other is not None:
            lead = one.value - other.value
            shares = f"{100 * one.value:.0f} % of answer a's and {100 * other.value:.0f} % of answer b's"
            said = f"of the words that they add, {shares}"
            phrases[topic] = (_side(lead) if abs(lead) >= CLEAR else EITHER, f"{said} are in {place}")
    if a.refusal or b.refusal:
        phrases["refusal"] = _refusal(a, b)
    if a.contexts is not None and b.contexts is not None:
        phrases |= _contexts(a.contexts, b.contexts)
    return phrases


def _side(lead: float, least: float = 0.0) -> int:
    return FOR_A if lead > least else FOR_B if lead < -least else EITHER


def _empty(a: Findings, b: Findings) -> Phrases:
    if not a.words and not b.words:
        return {"texts": (EITHER, "both answers are empty")}
    return {"texts": (MERIT, "answer b is empty") if a.words else (FAULT, "answer a is empty")}


def _wanted(one: Share, other: Share, things: str) -> tuple[int, str]:
    """Some words that an answer should have."""
    nouns = things.format("" if one.whole == 1 else "s")
    if one.found == other.found:
        both = "both answers have" if one.found else "neither answer has any of"
        count = f"{len(one.found)} of the {one.whole}" if one.found else f"the {one.whole}"
        return EITHER, f"{both} {count} {nouns}"
    said = f"of {one.whole} {nouns} answer a has {len(one.found)} and answer b {len(other.found)}"
    alone = [
        f"only {name}: {listed(words)}" for name, words in (("a", _only(one, other)), ("b", _only(other, one))) if words
    ]
    return _side(len(one.found) - len(other.found)), f"{said} ({'; '.join(alone)})"


def _only(one: Share, other: Share) -> list[str]:
    return [word for word in one.found if word not in other.found]


def _form(a: Findings, b: Findings) -> Phrases:
    """Phrases on the lengths, and on what each says that the other does not."""
    phrases: Phrases = {"form": (EITHER, f"answer a has {plural(a.words, 'word')} and answer b {b.words}")}
    for name, side, one, other in (("a", ASIDE, a, b), ("b", -ASIDE, b, a)):
        alone = [word for key, word in one.content.items() if key not in other.content]
        if alone:
            phrases[f"only_{name}"] = (side, f"only answer {name} says {listed(alone)}")
    return phrases


def _refusal(a: Findings, b: Findings) -> tuple[int, str]:
    if a.refusal and b.refusal:
        return EITHER, "both answers say that they do not know"
    name, quote = ("a", a.refusal) if a.refusal else ("b", b.refusal)
    said = f'answer {name} says that it does not know ("{quote}")'
    if (reference := a.reference) is None:
        return (BAD if a.refusal else GOOD), said
    if reference.refuses:
        return (GOOD if a.refusal else BAD), f"{said}, as the reference does"
    return (FAULT if a.refusal else MERIT), f"{said} although the reference has an answer"


def _contexts(a: AgainstContexts, b: AgainstContexts) -> Phrases:
    phrases: Phrases = {}
    if a.worst is not None and b.worst is not None:
        lead = a.worst.share.value - b.worst.share.value
        name, worst = ("a", a.worst) if lead < 0 else ("b", b.worst)
        if abs(lead) >= CLEAR:
            has = "no" if not worst.share.found else "little"
            said = f'in answer {name} {which(worst)} has {has} support in the contexts ("{worst.quote}")'
            glaring = worst.share.value < FEW
            phrases["sentences"] = ((FAULT if lead < 0 else MERIT) if glaring else _side(lead), said)
    lead = len(b.strangers) - len(a.strangers)
    if lead:
        name, strangers = ("a", a.strangers) if lead < 0 else ("b", b.strangers)
        does = "does" if len(strangers) == 1 else "do"
        phrases["strangers"] = (_side(lead), f"{listed(strangers)} of answer {name} {does} not occur in the contexts")
    return phrases
