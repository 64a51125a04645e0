"""Measures how diverse generated queries are, and how close to the experts' in length, type and meaning."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

from judgec.rag.queries.pool import jaccard, shingles
from judgec.records.label import FloatArray

Embed = Callable[[Sequence[str]], FloatArray]
MOST_PAIRS = 400  # queries that are compared with each other; a seeded sample of more

TYPES = ("what", "which", "when", "where", "who", "why", "how many", "how", "yes or no", "request", "other")
_OPENINGS = (
    ("how many", re.compile(r"\bhow (?:many|much|long|often|far|old|fast|high|large|deep)\b")),
    *((word, re.compile(rf"\b{word}\b")) for word in ("which", "when", "where", "who", "why", "how", "what")),
)
_YES_NO = re.compile(r"^(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have|had)\b")
_REQUEST = re.compile(r"^(?:list|name|describe|explain|tell|give|compare|summari[sz]e|show|find)\b")
_WORD = re.compile(r"\w+")


def question_type(query: str) -> str:
    """One of ``TYPES``: by the last clause's opening, else by the first question word."""
    text = query.casefold().strip()
    if _YES_NO.match(text):
        return "yes or no"
    if _REQUEST.match(text):
        return "request"
    found = [(match.start(), name) for name, pattern in _OPENINGS if (match := pattern.search(text))]
    return min(found, key=lambda pair: pair[0])[1] if found else "other"


def diversity(queries: Sequence[str], experts: Sequence[str], embed: Embed, *, seed: int = 0) -> dict[str, object]:
    """The report.

    Args:
        queries: Generated.
        experts: The experts'; empty leaves the closeness null, with a note.
        embed: Texts to unit vectors, shape (n, d); zero vectors are similar to nothing.
        seed: Of the sample that is compared pair by pair.

    Returns:
        ``length`` (words: mean, sd, low and high decile), ``types`` (shares), ``type_entropy`` (bits), ``novelty``
        (mean 1 - Jaccard with the nearest other query), ``embedding_spread`` (mean cosine distance of pairs) of the
        queries; the same of the experts; and ``closeness``: see ``closeness``.
    """
    return {
        "queries": _profile(queries, embed, seed),
        "experts": _profile(experts, embed, seed) if experts else None,
        "closeness": closeness(queries, experts, embed),
    }


def closeness(queries: Sequence[str], experts: Sequence[str], embed: Embed) -> dict[str, object]:
    """Similarity of generated queries to the experts'.

    Returns:
        ``length_ks``: Kolmogorov-Smirnov distance of the lengths; ``type_jsd``: Jensen-Shannon divergence of the types
        (bits, 0-1); ``novelty``: mean 1 - Jaccard with the nearest expert query, 1 where nothing was copied;
        ``embedding_distance``: mean cosine distance to the nearest expert query; ``likeness``: mean of 1 - length_ks,
        1 - type_jsd and 1 - embedding_distance, 0-1. All null without queries of both.
    """
    names = ("length_ks", "type_jsd", "novelty", "embedding_distance", "likeness")
    if not queries or not experts:
        return {**dict.fromkeys(names), "note": "no expert queries to compare with" if queries else "no queries"}
    length = float(stats.ks_2samp(_lengths(queries), _lengths(experts), method="asymp").statistic)
    types = _jsd(_shares(queries), _shares(experts))
    theirs = [shingles(text) for text in experts]
    novelty = float(np.mean([1 - max(jaccard(shingles(text), other) for other in theirs) for text in queries]))
    nearest = (embed(queries) @ embed(experts).T).max(axis=1)
    distance = float(np.clip(1 - nearest, 0, 1).mean())
    likeness = ((1 - length) + (1 - types) + (1 - distance)) / 3
    return {**dict(zip(names, (length, types, novelty, distance, likeness), strict=True)), "note": ""}


def _profile(queries: Sequence[str], embed: Embed, seed: int) -> dict[str, object]:
    lengths = _lengths(queries)
    shares = _shares(queries)
    some = queries
    if len(queries) > MOST_PAIRS:
        chosen = np.random.default_rng(seed).choice(len(queries), MOST_PAIRS, replace=False)
        some = [queries[i] for i in sorted(chosen)]
    positive = shares[shares > 0]
    return {
        "n": len(queries),
        "length": {
            "mean": float(lengths.mean()),
            "sd": float(lengths.std(ddof=1)) if len(lengths) > 1 else None,
            "p10": float(np.quantile(lengths, 0.1)),
            "p90": float(np.quantile(lengths, 0.9)),
        },
        "types": {name: float(share) for name, share in zip(TYPES, shares, strict=True) if share},
        "type_entropy": float(-(positive * np.log2(positive)).sum()) + 0.0,
        "novelty": _novelty(some),
        "embedding_spread": _spread(some, embed),
    }


def _lengths(queries: Sequence[str]) -> FloatArray:
    return np.array([len(_WORD.findall(query)) for query in queries], dtype=np.float64)


def _shares(queries: Sequence[str]) -> FloatArray:
    counts = Counter(map(question_type, queries))
    return np.array([counts[name] for name in TYPES], dtype=np.float64) / len(queries)


def _novelty(queries: Sequence[str]) -> float | None:
    if len(queries) < 2:
        return None
    sets = [shingles(query) for query in queries]
    nearest = [max(jaccard(mine, other) for j, other in enumerate(sets) if i != j) for i, mine in enumerate(sets)]
    return float(1 - np.mean(nearest))


def _spread(queries: Sequence[str], embed: Embed) -> float | None:
    if len(queries) < 2:
        return None
    vectors = embed(queries)
    similar = (vectors @ vectors.T)[np.triu_indices(len(queries), 1)]
    return float(1 - similar.mean())


def _jsd(p: FloatArray, q: FloatArray) -> float:
    """Jensen-Shannon divergence in bits, 0 (equal) to 1 (disjoint). Source: Lin (1991), IEEE IT 37(1)."""
    middle = (p + q) / 2

    def divergence(a: FloatArray) -> float:
        present = a > 0
        return float((a[present] * np.log2(a[present] / middle[present])).sum())

    return (divergence(p) + divergence(q)) / 2
