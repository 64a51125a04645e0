"""Embeds texts: latent semantic analysis, any hosted model, a local sentence transformer."""

import os
import re
from collections.abc import Sequence
from random import Random

import dspy
import numpy as np
from sklearn.decomposition import TruncatedSVD

from judgec.errors import ServiceError, UserError
from judgec.lm.hosts import named_endpoint
from judgec.lm.redaction import clean_error
from judgec.rag.retrieval.latent import Embedder, LatentSemantics, Matrix, count, weighted

LOCAL = "sentence-transformers/"
_E5 = re.compile(r"(?:^|[-_])e5(?:[-_]|$)", re.IGNORECASE)  # multilingual-e5-base, e5-large-v2

DIMENSIONS = 256  # Landauer and Dumais (1997) found 200 to 400 best
MOST_TERMS = 50_000
MOST_FITTED = 30_000  # passages that the components are fitted on: a seeded sample of a larger corpus
REMOTE_BATCH = 128


def fit_latent(texts: Sequence[str], seed: int) -> tuple[LatentSemantics, Matrix | None]:
    """Latent semantics of a corpus: at most half as many dimensions as there are passages.

    Args:
        texts: All passages.
        seed: Of the sample and the randomized decomposition.

    Returns:
        The model, and the vectors of ``texts`` where it was fitted on all of them.
    """
    places = range(len(texts))
    whole = len(texts) <= MOST_FITTED
    counts, names = count([texts[i] for i in (places if whole else sorted(Random(seed).sample(places, MOST_FITTED)))])
    df = np.bincount(counts.indices, minlength=len(names))
    least = 2 if counts.shape[0] >= 1000 else 1  # a term of one passage relates it to no other
    kept = sorted(np.flatnonzero(df >= least).tolist(), key=lambda column: (-df[column], names[column]))[:MOST_TERMS]
    if not kept:
        return LatentSemantics(["-"], np.ones(1, np.float32), np.ones((1, 1), np.float32)), None
    idf = (1.0 + np.log((1.0 + counts.shape[0]) / (1.0 + df[kept]))).astype(np.float32)
    terms = [names[column] for column in kept]
    weights = weighted(counts[:, kept], idf)
    if min(weights.shape) <= 2:
        return LatentSemantics(terms, idf, np.eye(len(terms), dtype=np.float32)), None
    svd = TruncatedSVD(min(DIMENSIONS, max(2, len(texts) // 2), len(terms)), n_iter=4, random_state=seed)
    svd.fit(weights)
    model = LatentSemantics(terms, idf, np.ascontiguousarray(svd.components_.T, dtype=np.float32))
    return model, model.project(weights) if whole else None


def open_embedder(name: str, *, api_base: str | None = None) -> Embedder:
    """The embedder called ``name``, where it is not ``lsa``, which belongs to its index.

    Args:
        name: ``sentence-transformers/MODEL``, or ``provider/model`` as LiteLLM writes it.
        api_base: An OpenAI-compatible endpoint.

    Raises:
        UserError: When it names nothing, or what it needs is not installed.
    """
    if name.startswith(LOCAL):
        return SentenceEmbedder(name)
    if not all(name.partition("/")):
        raise UserError(
            f"--embedder: {name!r} names none; valid are lsa, provider/model such as openai/text-embedding-3-small, or "
            "sentence-transformers/MODEL. Correct it."
        )
    return HostedEmbedder(name, api_base)


class HostedEmbedder:
    """A hosted model through ``dspy.Embedder``; its key is found in the environment by LiteLLM.

    DSPy's cache is off: its key leaves out the endpoint. Vectors are kept in the index.
    """

    def __init__(self, name: str, api_base: str | None = None) -> None:
        self.name = name
        named = named_endpoint(name) if api_base is None else None
        base = api_base if named is None else named.url
        extra = {} if base is None else {"api_base": base}
        self._embed = dspy.Embedder(name, batch_size=REMOTE_BATCH, caching=False, **extra)

    def documents(self, texts: Sequence[str]) -> Matrix:
        """The vectors of passages.

        Raises:
            ServiceError: When the service fails.
        """
        if not texts:
            return np.zeros((0, 1), np.float32)
        try:
            vectors = np.asarray(self._embed(list(texts)), np.float32)
        except Exception as error:
            first = (clean_error(str(error)).strip().splitlines() or [""])[0][:200]
            raise ServiceError(
                f"--embedder {self.name}: the service failed ({type(error).__name__}: {first}). Check the model's "
                "name, its key in the environment and --api-base, and run again: what is embedded is kept."
            ) from error
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Matrix = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
        return unit

    def queries(self, texts: Sequence[str]) -> Matrix:
        """As ``documents``."""
        return self.documents(texts)


class SentenceEmbedder:
    """A local model of the ``sentence-transformers`` extra; E5 models are given the prefixes that they expect.

    Args:
        name: ``sentence-transformers/MODEL``: a model of the hub, or the folder of one.

    Raises:
        UserError: When the extra is not installed, or there is no such model.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise UserError(
                f"--embedder {name}: sentence-transformers is not installed. Install it: "
                "pip install 'judgec[sentence-transformers]'."
            ) from None
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            self._model = SentenceTransformer(name.removeprefix(LOCAL))
        except (OSError, ValueError) as error:
            first = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
            raise UserError(
                f"--embedder {name}: the model cannot be loaded ({first}); the name of one on the hub, or the folder "
                "of one, is needed. Check the name, and that the hub can be reached."
            ) from error
        self._prefixed = _E5.search(name.rstrip("/").rpartition("/")[2]) is not None

    def documents(self, texts: Sequence[str]) -> Matrix:
        """The vectors of passages."""
        return self._encode(texts, "passage: ")

    def queries(self, texts: Sequence[str]) -> Matrix:
        """The vectors of queries."""
        return self._encode(texts, "query: ")

    def _encode(self, texts: Sequence[str], prefix: str) -> Matrix:
        given = [prefix + text for text in texts] if self._prefixed else list(texts)
        vectors: Matrix = np.asarray(self._model.encode(given, normalize_embeddings=True), np.float32)
        return vectors
