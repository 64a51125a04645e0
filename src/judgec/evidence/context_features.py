"""Support of an answer in its contexts: what it adds to the question must stand in the passages."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import log1p
from typing import NamedTuple

from judgec.evidence.answer_features import JudgedAnswer
from judgec.evidence.overlap import Weight, fragments, gram_orders, lcs, likeliest, ratio, support, total
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
    stems = reply.stems
    words = _words(reply, question, contexts, weight)
    kinds = _kinds(reply, question, contexts, reference, weight)
    grams = _grams(reply, question, contexts)
    best = _best_sentences(reply, contexts, weight, {})
    claims = (words.new, grams[0], min(words.shares), total(best) / len(best))
    return (
        words.new,
        words.all,
        kinds.all,
        words.content,
        kinds.content,
        kinds.soft,
        kinds.trusted,
        *grams,
        lcs(stems, contexts) / len(stems),
        *_copied(stems, contexts),
        *_spread(words.shares),
        words.shares[-1],
        sum([share < WEAK for share in words.shares]) / len(words.shares),
        *_spread(best),
        *_unsupported(reply.names, question, known.__contains__),
        *_unsupported(reply.numbers, question, lambda number: contexts.gives(number, reply)),
        log1p(total(kinds.missing)),
        max(kinds.missing, default=0.0),
        log1p(words.gap),
        support(question.content, known, weight, NEUTRAL),
        len(known.keys() & reply.vocabulary.keys()) / len(known),
        log1p(len(contexts.stems)),
        *(claims if answer.claims is reply else _claims(answer, question, contexts, weight, best)),
    )


def _spread(shares: Sequence[float]) -> tuple[float, float, float]:
    """Mean, least and most."""
    return total(shares) / len(shares), min(shares), max(shares)


class _Words(NamedTuple):
    """Matches of an answer's words in the contexts, word by word.

    Args:
        new: IDF share of the words that are not in the question.
        all: IDF share of all words.
        content: Share of the new words that are no function words.
        shares: IDF share of the new words of each sentence.
        gap: The most content words between two that the contexts contain.
    """

    new: float
    all: float
    content: float
    shares: list[float]
    gap: int


def _words(reply: StemmedText, question: StemmedText, contexts: StemmedText, weight: Weight) -> _Words:
    """One pass over an answer with at least one word: each sum has its terms in the order of the words."""
    asked, known, empty = question.vocabulary, contexts.vocabulary, reply.function_stems
    all_found = all_whole = new_found = new_whole = 0.0
    content_found = content = longest = length = 0
    shares: list[float] = []
    for sentence in reply.sentences:
        found = whole = 0.0
        for stem in sentence:
            mass = weight(stem)
            all_whole += mass
            new = stem not in asked
            if stem in known:
                all_found += mass
                length = 0
                if new:
                    new_whole += mass
                    new_found += mass
                    whole += mass
                    found += mass
                    if stem not in empty:
                        content += 1
                        content_found += 1
                continue
            if new:
                new_whole += mass
                whole += mass
            if stem not in empty:
                content += new
                length += 1
                if length > longest:  # noqa: PLR1730 - a call costs more
                    longest = length
        shares.append(ratio(found, whole, 1.0))
    return _Words(
        new=ratio(new_found, new_whole, NEUTRAL),
        all=ratio(all_found, all_whole, NEUTRAL),
        content=ratio(content_found, content, NEUTRAL),
        shares=shares,
        gap=longest,
    )


class _Kinds(NamedTuple):
    """Matches of an answer's distinct words in the contexts, those of the question aside.

    Args:
        all: IDF share of all.
        content: The same, function words aside.
        soft: A missing one counts as much as its most similar one resembles it.
        trusted: Of contexts and reference together.
        missing: Weights of those that they do not have.
    """

    all: float
    content: float
    soft: float
    trusted: float
    missing: list[float]


def _kinds(
    reply: StemmedText, question: StemmedText, contexts: StemmedText, reference: StemmedText, weight: Weight
) -> _Kinds:
    asked, known, given, empty = question.vocabulary, contexts.vocabulary, reference.vocabulary, reply.function_stems
    found = whole = content_found = content = soft = trusted = 0.0
    missing: list[float] = []
    nearest = contexts.nearest
    for stem in reply.vocabulary:
        if stem in asked:
            continue
        mass = weight(stem)
        whole += mass
        full = stem not in empty
        if full:
            content += mass
        if stem in known:
            found += mass
            soft += mass
            trusted += mass
            if full:
                content_found += mass
            continue
        missing.append(mass)
        likeness = nearest.get(stem)
        if likeness is None:
            likeness = likeliest(stem, contexts)
        if likeness:
            soft += mass * likeness
        if stem in given:
            trusted += mass
    return _Kinds(
        all=ratio(found, whole, NEUTRAL),
        content=ratio(content_found, content, NEUTRAL),
        soft=ratio(soft, whole, NEUTRAL),
        trusted=ratio(trusted, whole, NEUTRAL),
        missing=missing,
    )


def _grams(reply: StemmedText, question: StemmedText, contexts: StemmedText) -> tuple[float, float, float, float]:
    """Share of the answer's bigrams, of those not in the question, of its trigrams and 4-grams in the
    contexts.
    """
    orders = gram_orders(reply.stems, contexts)[1:]
    asked = list(map(question.pairs.__contains__, pairwise(reply.stems)))
    fresh = [order for order, old in zip(orders, asked, strict=True) if not old] if any(asked) else orders
    threes, fours, pairs = orders.count(3), orders.count(4), len(orders)
    return (
        ratio(orders.count(2) + threes + fours, pairs, NEUTRAL),
        ratio(sum([order >= 2 for order in fresh]), len(fresh), NEUTRAL),
        ratio(threes + fours, pairs - 1, NEUTRAL),
        ratio(fours, pairs - 2, NEUTRAL),
    )


def _copied(stems: list[str], contexts: StemmedText) -> tuple[float, float]:
    lengths = fragments(stems, contexts)
    density = sum(length * length for length in lengths) / len(stems)
    return max(lengths, default=0) / len(stems), log1p(density)


def _best_sentences(
    reply: StemmedText, contexts: StemmedText, weight: Weight, before: Mapping[tuple[str, ...], float]
) -> list[float]:
    """For each sentence the IDF share that the one sentence of the contexts has which has most of it.

    Args:
        reply: The sentences.
        contexts: With at least one.
        weight: IDF of a stem.
        before: By its words the share of a sentence that is known already.
    """
    where = contexts.where
    best: list[float] = []
    for (_, words), sentence in zip(reply.lines, reply.sentences, strict=True):
        if words in before:
            best.append(before[words])
            continue
        found, whole = [0.0] * len(contexts.sentences), 0.0
        for stem in dict.fromkeys(sentence):
            mass = weight(stem)
            whole += mass
            for number in where.get(stem, ()):
                found[number] += mass
        best.append(ratio(max(found), whole))
    return best


def _unsupported(
    things: dict[str, None], question: StemmedText, supported: Callable[[str], bool]
) -> tuple[float, float]:
    fresh = [thing for thing in things if thing not in question.vocabulary]
    lost = sum(1 for thing in fresh if not supported(thing))
    return ratio(lost, len(fresh)), log1p(lost)


def _claims(
    answer: JudgedAnswer, question: StemmedText, contexts: StemmedText, weight: Weight, best: list[float]
) -> tuple[float, float, float, float]:
    claims = answer.claims
    if not claims.stems:
        return NEUTRAL, NEUTRAL, NEUTRAL, NEUTRAL
    words, orders = _words(claims, question, contexts, weight), gram_orders(claims.stems, contexts)[1:]
    before = dict(zip((written for _, written in answer.passage.lines), best, strict=True))
    own = _best_sentences(claims, contexts, weight, before)
    return (
        words.new,
        ratio(sum([order >= 2 for order in orders]), len(orders), NEUTRAL),
        min(words.shares),
        total(own) / len(own),
    )
