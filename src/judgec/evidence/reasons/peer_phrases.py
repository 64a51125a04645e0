"""The phrase about what other systems answered to the same query."""

from collections.abc import Sequence

from judgec.evidence.peer_features import agreeing
from judgec.evidence.reasons.phrases import BAD, EITHER, FEW, GOOD, MOST, Phrases
from judgec.evidence.reasons.templates import ReasonTemplate
from judgec.evidence.text import Library, StemmedText

ENGLISH = "{} of {} other systems say the same"


def peer_phrases(
    reply: StemmedText,
    question: StemmedText,
    peers: Sequence[str],
    library: Library,
    telling: ReasonTemplate | None = None,
) -> Phrases:
    """A phrase of the topic ``peers``; nothing of an answer without words, or where no peer says a word.

    Args:
        reply: The answer.
        question: What was asked.
        peers: What the others answered.
        library: Where texts are read.
        telling: In another language than English.
    """
    same, whole = agreeing(reply, question, peers, library) if reply.stems else (0, 0)
    if not whole:
        return {}
    code = GOOD if same >= MOST * whole else BAD if same <= FEW * whole else EITHER
    return {"peers": (code, (ENGLISH if telling is None else telling.phrases["peers"]).format(same, whole))}
