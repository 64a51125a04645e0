"""Re-ranking hooks."""

import importlib
import sys
from collections.abc import Sequence
from math import isnan
from pathlib import Path

from judgec.errors import UserError
from judgec.retrieval.passages import Hit
from judgec.retrieval.retrievers import Reranker

PYTHON = "python:"


def python_reranker(reference: str, folder: Path) -> Reranker:
    """``python:module:function`` as a reranker; the function is given a query and texts and returns their scores.

    Args:
        reference: As typed.
        folder: Looked in for the module beside the installed ones.

    Raises:
        UserError: When there is no such function.
    """
    module, _, function = reference.removeprefix(PYTHON).partition(":")
    sys.path.insert(0, str(folder.resolve()))
    try:
        score = getattr(importlib.import_module(module), function, None) if module and function else None
    except Exception as error:
        raise UserError(f"--rerank {reference}: {error}; an importable module is needed. Check the name.") from error
    finally:
        sys.path.remove(str(folder.resolve()))
    if not callable(score):
        raise UserError(f"--rerank {reference}: no such function; python:module:function is valid. Check the name.")

    def rerank(query: str, hits: Sequence[Hit]) -> list[Hit]:
        try:
            scores = [float(value) for value in score(query, [hit.passage.text for hit in hits])]
        except Exception as error:
            said = f"{type(error).__name__}: {str(error)[:200]}"
            raise UserError(f"--rerank {reference}: {said}; a number for each text is needed. Mend it.") from error
        if any(map(isnan, scores)):
            raise UserError(f"--rerank {reference}: a score is NaN; a number for each text is needed. Mend it.")
        if len(scores) != len(hits):
            raise UserError(f"--rerank {reference}: {len(scores)} scores for {len(hits)} texts; one each is needed.")
        pairs = sorted(zip(hits, scores, strict=True), key=lambda pair: -pair[1])
        return [Hit(hit.passage, value) for hit, value in pairs]

    return rerank
