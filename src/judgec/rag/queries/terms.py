"""Finds the chunks of a whole corpus that hold given words: to show that nothing answers a question."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from judgec.evidence.text import FUNCTION_STEMS, clean, stem
from judgec.rag.retrieval.passages import Passage
from judgec.records.label import FloatArray, IntArray

_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
HALF = 0.5  # of the weight of what is asked and of what it is asked about


class TermIndex:
    """An inverted index of stems.

    Args:
        chunks: The corpus; their positions are the answers' positions.
    """

    def __init__(self, chunks: Sequence[Passage]) -> None:
        self.chunks = tuple(chunks)
        where: dict[str, list[int]] = {}
        for number, chunk in enumerate(self.chunks):
            for word in content(f"{chunk.title}\n{chunk.text}"):
                where.setdefault(word, []).append(number)
        self._where: dict[str, IntArray] = {word: np.array(numbers, dtype=np.int64) for word, numbers in where.items()}

    def coverage(self, stems: Iterable[str]) -> FloatArray:
        """Share of the IDF weight of ``stems`` that each chunk holds, shape (n_chunks,); zeros without stems."""
        share = np.zeros(len(self.chunks))
        whole = 0.0
        for word in stems:
            numbers = self._where.get(word)
            weight = self._weight(0 if numbers is None else numbers.size)
            whole += weight
            if numbers is not None:
                share[numbers] += weight
        return share / whole if whole else share

    def answered(self, focus: Iterable[str], subject: Iterable[str]) -> bool:
        """True when one chunk holds half the weight of what is asked and of what it is asked about.

        Args:
            focus: Stems of what is asked; without any, the question counts as answered.
            subject: Stems of what it is asked about; without any, the focus decides alone.
        """
        asked, about = list(focus), list(subject)
        if not asked:
            return True
        found = self.coverage(asked) >= HALF
        return bool((found & (self.coverage(about) >= HALF)).any() if about else found.any())

    def best(self, stems: Iterable[str], k: int) -> list[int]:
        """Positions of the ``k`` chunks that hold most of ``stems``, the best first; ties by position."""
        share = self.coverage(stems)
        return [int(i) for i in np.argsort(-share, kind="stable")[:k] if share[i] > 0]

    def __contains__(self, word: str) -> bool:
        """True when any chunk holds the stem."""
        return word in self._where

    def _weight(self, count: int) -> float:
        return float(np.log1p((self.n + 1) / (count + 1)))

    @cached_property
    def n(self) -> int:
        """Chunks."""
        return len(self.chunks)


def content(text: str) -> dict[str, None]:
    """Stems of a text that are not function words, in order of first use."""
    found = dict.fromkeys(stem(word) for word in _WORD.findall(clean(text)))
    return {word: None for word in found if word not in FUNCTION_STEMS}


def words_in(text: str, stems: Iterable[str]) -> str:
    """The words of a text whose stems are given, as written, joined by spaces."""
    wanted = set(stems)
    return " ".join(word for word in _WORD.findall(clean(text)) if stem(word) in wanted)
