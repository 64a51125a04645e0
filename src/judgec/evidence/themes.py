"""Themes: what a document is about, told by which words stand together in documents, so that it can be near a query.

A document that says "boundary layer" is near a query about "skin friction" where documents that say the one often say
the other. Each word has a place, fitted on the training documents (``fit_themes``); the place of a text is the weighted
sum of its words', and two texts are as near as the cosine of theirs.

Source: Deerwester, Dumais, Furnas, Landauer, Harshman (1990), Indexing by latent semantic analysis, JASIS 41.
"""

from base64 import b64decode
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt
from typing import Any

import numpy as np

from judgec.evidence.overlap import Weight, total
from judgec.evidence.text import StemmedText
from judgec.records.label import IntArray

UNIT = 1024  # of a word's mass: places are sums of whole numbers, which are the same in every order

THEME_NAMES = ("near",)  # cosine of the places of query and document


@dataclass(frozen=True)
class Themes:
    """Places of words.

    Args:
        words: Stems.
        packed: Their places, a signed byte a theme, word by word, in base64.
        scales: What 1 is worth in each theme.
    """

    words: tuple[str, ...]
    packed: str
    scales: tuple[float, ...]

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def _places(self) -> IntArray:
        flat = np.frombuffer(b64decode(self.packed), dtype=np.int8)
        return flat.reshape(len(self.words), len(self.scales)).astype(np.int64)

    @property
    def sound(self) -> bool:
        """True if every word has a place."""
        return len(b64decode(self.packed)) == len(self.words) * len(self.scales) > 0

    def features(self, query: StemmedText, document: StemmedText, weight: Weight) -> tuple[float, ...]:
        """The numbers of ``THEME_NAMES``, or an empty tuple where no word of one of the texts has a place."""
        one, other = self._place(query, weight), self._place(document, weight)
        norms = sqrt(total(x * x for x in one)) * sqrt(total(x * x for x in other))
        return (total(x * y for x, y in zip(one, other, strict=True)) / norms,) if norms > 0.0 else ()

    def _place(self, text: StemmedText, weight: Weight) -> list[float]:
        numbers: list[int] = []
        masses: list[int] = []
        known = self._number
        for stem, count in text.vocabulary.items():
            number = known.get(stem)
            if number is not None:
                numbers.append(number)
                masses.append(mass(stem, count, weight))
        whole = np.array(masses, dtype=np.int64) @ self._places[numbers]
        return [value * scale for value, scale in zip(whole.tolist(), self.scales, strict=True)]

    def to_state(self) -> dict[str, Any]:
        """The state that JSON keeps."""
        return {"words": self.words, "places": self.packed, "scales": self.scales}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Themes":
        """As ``to_state`` gave it."""
        return cls(tuple(map(str, state["words"])), str(state["places"]), tuple(map(float, state["scales"])))


def mass(stem: str, count: int, weight: Weight) -> int:
    """Weight of a word that stands ``count`` times in a text."""
    return round(UNIT * weight(stem) * (1.0 + log(count)))
