"""Support of an answer in its contexts: what it adds to the question must stand in the passages."""

from collections.abc import Callable
from math import log1p

from judgec.evidence.answer_features import JudgedAnswer
from judgec.evidence.overlap import Weight, fragments, gram_orders, lcs, ratio, soft_support, support
from judgec.evidence.text import StemmedText

NEUTRAL = 0.5  # a share of nothing: neither supported nor unsupported
WEAK = 0.5  # a sentence with less of its weight in the contexts is counted as weak

CONTEXT_NAMES = (
    "support_new",  # IDF share of the answer's stems that are not in the question
    "support_all",
    "support_new_types",
    "support_content",  # unweighted, function words aside
    "support_content_types",
    "support_soft",
    "support_trusted",  # contexts and reference together: an answer may know the reference's words too
    "bigrams",
    "bigrams_new",
    "trigrams",
    "fourgrams",
    "lcs",
    "copied_longest",
    "copied_density",
    "sentence_mean",
    "sentence_min",
    "sentence_max",
    "sentence_last",
    "sentences_weak",
    "best_sentence_mean",  # against the one context sentence that supports it best
    "best_sentence_min",
    "best_sentence_max",
    "names_unsupported",
    "names_unsupported_count",
    "numbers_unsupported",
    "numbers_unsupported_count",
    "mass_unsupported",
    "rarest_unsupported",
    "longest_unsupported",
    "question_support",
    "contexts_recall",
    "contexts_length",
    "claims_support",  # courtesies and refusing sentences aside
    "claims_bigrams",
    "claims_sentence_min",
    "claims_best_mean",
)


def context_features(
    answer: JudgedAnswer, question: StemmedText, contexts: StemmedText, reference: StemmedText, weight: Weight
) -> tuple[float, ...]:
    """The numbers of ``CONTEXT_NAMES`` for an answer and contexts with at least one word each.

    ``reference`` may be empty.
    """
    reply, known = answer.passage, contexts.vocabulary
    stems, empty = reply.stems, reply.function_stems
    new = _new(reply, question)
    types = dict.fromkeys(new)
    missing = [stem for stem in new if stem not in known]
    support_new = support(new, known, weight, NEUTRAL)
    grams = _grams(reply, question, contexts)
    by_sentence = _by_sentence(reply, question, contexts, weight)
    best = _best_sentences(reply, contexts, weight)
    claims = (support_new, grams[0], by_sentence[1], best[0])
    return (
        support_new,
        support(stems, known, weight, NEUTRAL),
        support(types, known, weight, NEUTRAL),
        support((stem for stem in new if stem not in empty), known, _one, NEUTRAL),
        support([stem for stem in types if stem not in empty], known, weight, NEUTRAL),
        soft_support(types, contexts, weight, NEUTRAL),
        support(types, known.keys() | reference.vocabulary.keys(), weight, NEUTRAL),
        *grams,
        lcs(stems, contexts) / len(stems),
        *_copied(stems, contexts),
        *by_sentence,
        *best,
        *_unsupported(reply.names, question, known.__contains__),
        *_unsupported(reply.numbers, question, lambda number: contexts.gives(number, reply)),
        log1p(sum([weight(stem) for stem in types if stem not in known])),
        max((weight(stem) for stem in missing), default=0.0),
        log1p(_longest_gap(stems, contexts)),
        support(question.content, known, weight, NEUTRAL),
        sum(1 for stem in known if stem in reply.vocabulary) / len(known),
        log1p(len(contexts.stems)),
        *(claims if answer.claims is reply else _claims(answer.claims, question, contexts, weight)),
    )


def _one(_stem: str) -> float:
    return 1.0


def _new(passage: StemmedText, question: StemmedText) -> list[str]:
    return [stem for stem in passage.stems if stem not in question.vocabulary]


def _grams(reply: StemmedText, question: StemmedText, contexts: StemmedText) -> tuple[float, float, float, float]:
    """Share of the answer's bigrams, of those not in the question, of its trigrams and 4-grams in the
    contexts.
    """
    orders = gram_orders(reply.stems, contexts)
    pairs = orders[1:]
    fresh = [order for order, old in zip(pairs, gram_orders(reply.stems, question)[1:], strict=True) if old < 2]
    return (
        ratio(sum([order >= 2 for order in pairs]), len(pairs), NEUTRAL),
        ratio(sum([order >= 2 for order in fresh]), len(fresh), NEUTRAL),
        ratio(sum([order >= 3 for order in pairs]), len(pairs) - 1, NEUTRAL),
        ratio(sum([order >= 4 for order in pairs]), len(pairs) - 2, NEUTRAL),
    )


def _copied(stems: list[str], contexts: StemmedText) -> tuple[float, float]:
    lengths = fragments(stems, contexts)
    density = sum(length * length for length in lengths) / len(stems)
    return max(lengths, default=0) / len(stems), log1p(density)


def _by_sentence(
    reply: StemmedText, question: StemmedText, contexts: StemmedText, weight: Weight
) -> tuple[float, float, float, float, float]:
    asked, known = question.vocabulary, contexts.vocabulary
    shares = [
        support([stem for stem in sentence if stem not in asked], known, weight, 1.0) for sentence in reply.sentences
    ]
    weak = sum(1 for share in shares if share < WEAK)
    return sum(shares) / len(shares), min(shares), max(shares), shares[-1], weak / len(shares)


def _best_sentences(reply: StemmedText, contexts: StemmedText, weight: Weight) -> tuple[float, float, float]:
    where, best = contexts.where, list[float]()
    for sentence in reply.sentences:
        found, whole = dict[int, float](), 0.0
        for stem in dict.fromkeys(sentence):
            mass = weight(stem)
            whole += mass
            for number in where.get(stem, ()):
                found[number] = found.get(number, 0.0) + mass
        best.append(ratio(max(found.values(), default=0.0), whole))
    return sum(best) / len(best), min(best), max(best)


def _unsupported(
    things: dict[str, None], question: StemmedText, supported: Callable[[str], bool]
) -> tuple[float, float]:
    fresh = [thing for thing in things if thing not in question.vocabulary]
    lost = sum(1 for thing in fresh if not supported(thing))
    return ratio(lost, len(fresh)), log1p(lost)


def _longest_gap(stems: list[str], contexts: StemmedText) -> int:
    """The most content words between two that the contexts contain."""
    longest = length = 0
    empty = contexts.function_stems
    for stem in stems:
        length = 0 if stem in contexts.vocabulary else length + (stem not in empty)
        longest = max(longest, length)
    return longest


def _claims(
    claims: StemmedText, question: StemmedText, contexts: StemmedText, weight: Weight
) -> tuple[float, float, float, float]:
    if not claims.stems:
        return NEUTRAL, NEUTRAL, NEUTRAL, NEUTRAL
    return (
        support(_new(claims, question), contexts.vocabulary, weight, NEUTRAL),
        _grams(claims, question, contexts)[0],
        _by_sentence(claims, question, contexts, weight)[1],
        _best_sentences(claims, contexts, weight)[0],
    )
