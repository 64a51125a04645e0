"""A dozen features that need nothing fitted: what the embedded in-context engine can read from a prompt
alone.
"""

from functools import lru_cache
from math import log1p

from judgec.evidence.answer_features import read_answer, refuses
from judgec.evidence.overlap import contains_run, f1, gram_orders, lcs, ratio, soft_support, support
from judgec.evidence.reference_features import alternatives
from judgec.evidence.text import FUNCTION_STEMS, Library, StemmedText

QUICK_NAMES = (
    "context_support",
    "context_bigrams",
    "context_worst_sentence",
    "reference_recall",
    "reference_f1",
    "reference_contained",
    "number_conflict",
    "refusal",
    "refusal_unwarranted",
    "empty",
    "question_coverage",
    "document_support",
    "document_lcs",
    "length",
)
"""What each position of ``quick_features`` holds, all within 0..1."""

QUICK_PRIOR = (0.9, 0.2, 0.2, 0.7, 0.0, 0.2, -0.1, -0.2, -0.3, -0.5, 0.0, 1.0, 0.3, 0.0)
"""Prior mean of the slopes of a linear score on 0..1: support and reference recall carry it."""

QUICK_INTERCEPT = -0.2
"""Prior mean of the intercept: ``QUICK_INTERCEPT + features @ QUICK_PRIOR`` is the score without
demonstrations.

0 is bad and 1 good; it passes 1 where contexts and reference both agree. Clipping it before ranking
would make ties of the best answers and so flatter tau-b.
"""

FUNCTION_WORD_WEIGHT = 0.1  # of a content word: without a corpus there is no IDF

_library = Library()


@lru_cache(maxsize=20_000)
def quick_features(
    query: str, answer: str, reference: str = "", contexts: tuple[str, ...] = (), document: str = ""
) -> tuple[float, ...]:
    """Features of one item as in ``QUICK_NAMES``, without a fitted model; memoized.

    Args:
        query: The question, or empty.
        answer: The answer under judgment, or empty (relevance has none).
        reference: Reference answer, alternatives split by `` | ``; empty when there is none.
        contexts: Retrieved texts; an empty tuple when there are none.
        document: The document of a relevance item, or empty.

    Returns:
        One number in 0..1 a name; features of a missing field are 0.
    """
    question, reply = _library.read(query), _library.read(answer)
    new = [stem for stem in reply.stems if stem not in question.vocabulary]
    refusal = read_answer(answer, _library).refusal
    answerable = bool(reference.strip()) and not any(refuses(line) for line, _ in _library.read(reference).lines)
    return (
        *_context_part(new, reply, contexts),
        *_reference_part(question, reply, reference),
        refusal,
        refusal if answerable else 0.0,
        0.0 if reply.stems or document else 1.0,
        support(question.content, reply.vocabulary, _weight, 0.0),
        *_document_part(question, document),
        min(1.0, log1p(len(reply.stems)) / log1p(500)),
    )


def _weight(stem: str) -> float:
    return FUNCTION_WORD_WEIGHT if stem in FUNCTION_STEMS else 1.0


def _context_part(new: list[str], reply: StemmedText, contexts: tuple[str, ...]) -> tuple[float, float, float]:
    if not contexts or not reply.stems:
        return 0.0, 0.0, 0.0
    passage = _library.read(contexts)
    pairs = gram_orders(reply.stems, passage)[1:]
    shared = ratio(sum([order >= 2 for order in pairs]), len(pairs))
    worst = min(support(sentence, passage.vocabulary, _weight, 1.0) for sentence in reply.sentences)
    return support(new, passage.vocabulary, _weight, 1.0), shared, worst


def _reference_part(question: StemmedText, reply: StemmedText, reference: str) -> tuple[float, float, float, float]:
    best = (0.0, 0.0, 0.0, 0.0)
    for wanted in map(_library.read, alternatives(reference)) if reply.stems else ():
        if not wanted.stems:
            continue
        new = [stem for stem in wanted.stems if stem not in question.vocabulary] or wanted.stems
        common = lcs(wanted.stems, reply)
        conflict = wanted.numbers and reply.numbers and not any(reply.gives(n, wanted) for n in wanted.numbers)
        best = max(
            best,
            (
                soft_support(new, reply, _weight, 0.0),
                f1(ratio(common, len(reply.stems)), ratio(common, len(wanted.stems))),
                1.0 if contains_run(wanted.stems, reply) or contains_run(reply.stems, wanted) else 0.0,
                1.0 if conflict else 0.0,
            ),
        )
    return best


def _document_part(question: StemmedText, document: str) -> tuple[float, float]:
    if not document:
        return 0.0, 0.0
    passage = _library.read(document)
    asked = list(question.content) or question.stems
    return support(asked, passage.vocabulary, _weight, 0.0), ratio(lcs(question.stems, passage), len(question.stems))
