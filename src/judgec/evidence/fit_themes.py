"""Fits the themes of the training documents: a truncated singular value decomposition of which words they have."""

from base64 import b64encode
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds
from threadpoolctl import threadpool_limits

from judgec.evidence.overlap import Weight
from judgec.evidence.text import StemmedText
from judgec.evidence.themes import Themes, mass

THEMES = 16  # more tell the documents of one collection apart a little better, and other collections' worse
LEAST_DOCUMENTS = 200  # fewer do not show which words go together
MOST_WORDS = 8192  # the most frequent ones
NOTHING = 1e-9  # of the largest singular value: a theme below it is rounding


def fit_themes(documents: Sequence[StemmedText], weight: Weight) -> Themes | None:
    """Places of the words that several documents have; None of few documents or words.

    Args:
        documents: Distinct ones with a word each.
        weight: IDF of a stem.
    """
    held = dict[str, int]()
    for document in documents:
        for stem in document.vocabulary:
            held[stem] = held.get(stem, 0) + 1
    common = sorted((stem for stem, count in held.items() if count > 1), key=lambda stem: (-held[stem], stem))
    words = sorted(common[:MOST_WORDS])
    if len(documents) < LEAST_DOCUMENTS or len(words) <= THEMES:
        return None
    number = {word: i for i, word in enumerate(words)}
    rows, columns, masses = list[int](), list[int](), list[float]()
    for row, document in enumerate(documents):
        found = [(number[s], mass(s, count, weight)) for s, count in document.vocabulary.items() if s in number]
        length = sum(float(m) ** 2 for _, m in found) ** 0.5 or 1.0
        rows += [row] * len(found)
        columns += [column for column, _ in found]
        masses += [m / length for _, m in found]
    matrix = sparse.csr_matrix((masses, (rows, columns)), shape=(len(documents), len(words)))
    with threadpool_limits(limits=1, user_api="blas"):  # the same sums in the same order, every time
        _, strength, places = svds(matrix, k=THEMES, v0=np.ones(min(matrix.shape)))
    order = np.argsort(-strength)
    places = places[order] * (strength[order] > NOTHING * strength.max())[:, None]
    largest = np.abs(places).max(axis=1)
    sharp = np.rint(places / np.where(largest > 0, largest, 1.0)[:, None] * 127).astype(np.int8)
    scales = tuple(round(float(value) / 127, 9) for value in largest)
    return Themes(tuple(words), b64encode(np.ascontiguousarray(sharp.T).tobytes()).decode("ascii"), scales)
