"""Relevance of a document to a query, from the words they share."""

from math import log1p

import numpy as np

from judgec.evidence.overlap import Weight, gram_orders, lcs, ratio, soft_support, support, total
from judgec.evidence.text import StemmedText

BM25_K1 = 1.2  # saturation of a term's count; Robertson et al., TREC-3
BM25_B = 0.75  # length normalization; the same source

DOCUMENT_NAMES = (
    "recall",  # IDF share of the query's stems in the document
    "recall_soft",
    "recall_content",
    "matched_count",
    "bm25",
    "bm25_share",
    "bigrams",
    "lcs",
    "best_sentence",
    "best_sentence_position",
    "first_sentence",
    "mean_sentence",
    "top_terms",
    "rarest_matched",
    "rarest_missing",
    "density",
    "proximity",
    "trigram_precision",
    "length",
    "query_length",
)


def document_features(
    query: StemmedText, document: StemmedText, weight: Weight, mean_length: float
) -> tuple[float, ...]:
    """The numbers of ``DOCUMENT_NAMES`` for a non-empty query and document.

    Args:
        query: The query.
        document: The document.
        weight: IDF of a stem.
        mean_length: Mean stems of a training document, for BM25.
    """
    terms, counts = list(query.content) or list(query.vocabulary), document.vocabulary
    matched = [term for term in terms if term in counts]
    norm = BM25_K1 * (1 - BM25_B + BM25_B * len(document.stems) / mean_length)
    bm25 = total(weight(t) * counts[t] * (BM25_K1 + 1) / (counts[t] + norm) for t in matched)
    top = sorted(terms, key=lambda term: (-weight(term), term))[:3]
    pairs = gram_orders(query.stems, document)[1:]
    return (
        support(terms, counts, weight, 0.0),
        soft_support(terms, document, weight, 0.0),
        len(matched) / len(terms),
        log1p(len(matched)),
        bm25,
        ratio(bm25, total(map(weight, terms)) * (BM25_K1 + 1)),
        ratio(sum([order >= 2 for order in pairs]), len(pairs)),
        lcs(query.stems, document) / len(query.stems),
        *_sentences(terms, document, weight),
        support(top, counts, weight, 0.0),
        max((weight(term) for term in matched), default=0.0),
        max((weight(term) for term in terms if term not in counts), default=0.0),
        sum(counts[term] for term in matched) / len(document.stems),
        _proximity(matched, document),
        _characters(query, document),
        log1p(len(document.stems)),
        log1p(len(query.stems)),
    )


def _sentences(terms: list[str], document: StemmedText, weight: Weight) -> tuple[float, float, float, float]:
    shares = [support(terms, frozenset(sentence), weight, 0.0) for sentence in document.sentences]
    best = max(range(len(shares)), key=lambda number: (shares[number], -number))
    return shares[best], best / len(shares), shares[0], total(shares) / len(shares)


def _proximity(matched: list[str], document: StemmedText) -> float:
    """Matched terms of the query within the best window of 20 stems, as a share of all matched."""
    wanted = frozenset(matched)
    places = [(place, stem) for place, stem in enumerate(document.stems) if stem in wanted]
    best = 0
    for start, (place, _) in enumerate(places):
        window = {stem for other, stem in places[start : start + 20] if other < place + 20}
        best = max(best, len(window))
    return ratio(best, len(wanted))


def _characters(query: StemmedText, document: StemmedText) -> float:
    grams = query.character_trigrams
    return ratio(int(np.count_nonzero(grams.within(document.character_trigrams))), len(grams.codes))
