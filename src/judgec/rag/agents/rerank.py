"""Opens rerankers by name: the lexical one, cross-encoders of sentence-transformers, functions of the user."""

import importlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from judgec.errors import UserError
from judgec.evidence.text import read
from judgec.rag.functions import PYTHON, python_function
from judgec.rag.retrieval.passages import Hit
from judgec.rag.retrieval.retrievers import Reranker

LEXICAL = "lexical"
PHRASE_WEIGHT = 0.5  # two words of the query beside each other, against the words themselves
Score = Callable[[str, Sequence[str]], Sequence[float]]


def open_reranker(name: str, folder: Path) -> Reranker:
    """The reranker called ``name``.

    Args:
        name: ``lexical``, ``ORGANISATION/MODEL`` of a cross-encoder, or ``python:module:function``.
        folder: Looked in for a module of the user's.

    Raises:
        UserError: When there is none of that name, or sentence-transformers is not installed.
    """
    if name == LEXICAL:
        return _ordered(lexical_scores, name)
    if name.startswith(PYTHON):
        return python_reranker(name, folder)
    if "/" in name:
        return _ordered(_cross_encoder(name), name)
    raise UserError(
        f"--rerank {name}: not known; valid are {LEXICAL}, ORGANISATION/MODEL of a sentence-transformers cross-encoder "
        "and python:module:function. Correct the name."
    )


def lexical_scores(query: str, texts: Sequence[str]) -> list[float]:
    """Scores of texts by the query's words in each: shares of its words, the rarer among the texts the weightier.

    Pairs of words that the query has beside each other count ``PHRASE_WEIGHT`` of their words where a text has them so.
    """
    asked = list(dict.fromkeys(read(query).content))
    read_texts = [read(text).content for text in texts]
    frequency = Counter(word for words in read_texts for word in set(words))
    weight = {word: math.log(1.0 + len(texts) / (0.5 + frequency[word])) for word in asked}
    phrases = {(one, two): PHRASE_WEIGHT * (weight[one] + weight[two]) / 2.0 for one, two in pairwise(asked)}
    most = sum(weight.values()) + sum(phrases.values())
    scores = []
    for words in read_texts:
        beside = set(pairwise(words))
        said = sum(weight[word] for word in weight.keys() & set(words))
        scores.append((said + sum(worth for pair, worth in phrases.items() if pair in beside)) / most if most else 0.0)
    return scores


def _cross_encoder(name: str) -> Score:
    try:
        model = importlib.import_module("sentence_transformers").CrossEncoder(name)
    except ImportError:
        raise UserError(
            f"--rerank {name}: a cross-encoder needs sentence-transformers. pip install sentence-transformers, or use "
            f"--rerank {LEXICAL}."
        ) from None
    except Exception as error:
        said = f"{type(error).__name__}: {str(error)[:200]}"
        raise UserError(f"--rerank {name}: {said}; a cross-encoder's name is needed. Check it.") from error
    return lambda query, texts: [float(one) for one in model.predict([(query, text) for text in texts])]


def python_reranker(reference: str, folder: Path) -> Reranker:
    """``python:module:function`` as a reranker; the function is given a query and texts and returns their scores.

    Args:
        reference: As typed.
        folder: Looked in for the module beside the installed ones.

    Raises:
        UserError: When there is no such function.
    """
    return _ordered(python_function(reference, folder, "--rerank"), reference)


def _ordered(score: Score, name: str) -> Reranker:
    """Hits by their scores, equal ones in the order in which they were found."""

    def rerank(query: str, hits: Sequence[Hit]) -> list[Hit]:
        try:
            scores = [float(value) for value in score(query, [hit.passage.text for hit in hits])]
        except Exception as error:
            said = f"{type(error).__name__}: {str(error)[:200]}"
            raise UserError(f"--rerank {name}: {said}; a number for each text is needed. Mend it.") from error
        if any(map(math.isnan, scores)):
            raise UserError(f"--rerank {name}: a score is NaN; a number for each text is needed. Mend it.")
        if len(scores) != len(hits):
            raise UserError(f"--rerank {name}: {len(scores)} scores for {len(hits)} texts; one each is needed.")
        pairs = sorted(zip(hits, scores, strict=True), key=lambda pair: -pair[1])
        return [Hit(hit.passage, value) for hit, value in pairs]

    return rerank
