"""The documents that ship, as tests use them."""

from functools import cache
from pathlib import Path

from judgec.rag.queries.corpus import Corpus, open_corpus

CATALOGUE = Path(__file__).parents[3] / "trainsets" / "sensors" / "catalogue"


@cache
def catalogue() -> Corpus:
    return open_corpus(str(CATALOGUE))
