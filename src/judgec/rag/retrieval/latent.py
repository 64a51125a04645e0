"""Latent semantic analysis: vectors of texts with no model to download, fitted on the corpus itself."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, Self
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from judgec.errors import ArtifactError
from judgec.evidence.text import FUNCTION_STEMS, read

Matrix = NDArray[np.float32]

LSA = "lsa"
MODEL_FILE = "lsa.npz"
BATCH = 4096  # texts weighed at once


class Embedder(Protocol):
    """Turns texts into vectors of length 1, shape (n_texts, dimensions); a zero vector is similar to nothing."""

    @property
    def name(self) -> str:
        """As ``--embedder`` reads it."""
        ...

    def documents(self, texts: Sequence[str]) -> Matrix:
        """The vectors of passages."""
        ...

    def queries(self, texts: Sequence[str]) -> Matrix:
        """The vectors of queries."""
        ...


class LatentSemantics:
    """Projects the TF-IDF weights of a text on the leading components of a corpus.

    Weights are ``(1 + ln tf) * (1 + ln((1 + n) / (1 + df)))``, as in scikit-learn with ``sublinear_tf``; rows have
    length 1. A text without a known term is the zero vector: it is similar to nothing.

    Args:
        terms: Stems, in the order of the columns.
        idf: Shape (n_terms,).
        components: Shape (n_terms, dimensions): the term side of the truncated SVD.

    Source: Deerwester et al. (1990), Indexing by latent semantic analysis, JASIS 41(6).
    """

    name = LSA

    def __init__(self, terms: Sequence[str], idf: Matrix, components: Matrix) -> None:
        self.terms = tuple(terms)
        self.idf = idf
        self.components = components
        self._column = {term: column for column, term in enumerate(self.terms)}

    def documents(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, shape (n_texts, dimensions)."""
        blocks = [
            self.project(weigh(texts[start : start + BATCH], self._column, self.idf))
            for start in range(0, len(texts), BATCH)
        ]
        return np.concatenate(blocks) if blocks else np.zeros((0, self.components.shape[1]), np.float32)

    def queries(self, texts: Sequence[str]) -> Matrix:
        """As ``documents``."""
        return self.documents(texts)

    def project(self, weights: csr_array) -> Matrix:
        """The vectors of weights that ``weigh`` gave."""
        return _unit(weights @ self.components)

    def dump(self) -> bytes:
        """Numbers and terms, nothing that could be executed."""
        blob = np.frombuffer("\n".join(self.terms).encode(), dtype=np.uint8)
        file = io.BytesIO()
        np.savez(file, terms=blob, idf=self.idf, components=self.components)
        return file.getvalue()

    @classmethod
    def load(cls, path: Path) -> Self:
        """Loads what ``dump`` gave, from a file.

        Raises:
            ArtifactError: When the file is missing or damaged.
        """
        try:
            return cls.parse(path.read_bytes(), str(path))
        except OSError as error:
            raise ArtifactError(f"{path}: cannot be read ({error}); build the index again with judgec index.") from None

    @classmethod
    def parse(cls, data: bytes, where: str) -> Self:
        """Parses what ``dump`` gave.

        Raises:
            ArtifactError: When it is damaged, or would unpack to more than it is.
        """
        try:
            _require_plain(data)
            with np.load(io.BytesIO(data), allow_pickle=False) as found:
                terms = bytes(found["terms"]).decode().split("\n")
                return cls(terms, found["idf"].astype(np.float32), found["components"].astype(np.float32))
        except (OSError, ValueError, KeyError, EOFError, MemoryError, BadZipFile) as error:
            raise ArtifactError(f"{where}: damaged ({error}); build the index again with judgec index.") from None


def _require_plain(data: bytes) -> None:
    with ZipFile(io.BytesIO(data)) as archive:
        if sum(part.file_size for part in archive.infolist()) > len(data):
            raise ValueError("it is compressed, which judgec never does")


def count(texts: Sequence[str], column: dict[str, int] | None = None) -> tuple[csr_array, list[str]]:
    """Counts how often each text holds each stem that is no function word.

    Args:
        texts: Any number.
        column: The stems that count, by column; None counts all, in order of first use.

    Returns:
        Counts, shape (n_texts, n_terms), and the stems of the columns.
    """
    known = {} if column is None else column
    data: list[int] = []
    columns: list[int] = []
    ends = [0]
    for text in texts:
        for term, times in read(text).vocabulary.items():
            place = known.get(term)
            if place is None:
                if column is not None or term in FUNCTION_STEMS:
                    continue
                place = known[term] = len(known)
            columns.append(place)
            data.append(times)
        ends.append(len(data))
    values = (np.array(data, np.float32), np.array(columns, np.int32), np.array(ends, np.int64))
    return csr_array(values, shape=(len(texts), len(known))), list(known)


def weighted(counts: csr_array, idf: Matrix) -> csr_array:
    """TF-IDF rows of length 1 from counts."""
    weights = counts.copy()
    weights.data = (1.0 + np.log(weights.data)) * idf[weights.indices]
    lengths = np.sqrt(weights.multiply(weights).sum(axis=1))
    weights.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(weights.indptr))
    return weights.astype(np.float32)


def weigh(texts: Sequence[str], column: dict[str, int], idf: Matrix) -> csr_array:
    """TF-IDF rows of length 1, shape (n_texts, n_terms)."""
    return weighted(count(texts, column)[0], idf)


def _unit(rows: Matrix) -> Matrix:
    """Rows of length 1; what has no length stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Matrix = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 1e-6).astype(np.float32)
    return unit
