"""Documents to chunks: cut at separators, at most so long, with overlap."""

import re
from collections.abc import Callable

from judgec.rag.retrieval.passages import Passage
from judgec.records.scenario.schema import PassageCut

WITHIN_FIGURES = frozenset(".,:")  # 9.30, 1,299 and 17:45 are not cut
_WORD = re.compile(r"\S+")


def cut(text: str, how: PassageCut) -> list[str]:
    """Chunks of ``text`` in order; every character but white space at the ends of a chunk is in one.

    A piece between two separators that is longer than a chunk is cut at spaces, a word that is longer anywhere.

    Args:
        text: The document.
        how: Separator, size, overlap and their unit.

    Returns:
        Chunks of at most ``how.size``; each begins with whole pieces of at most ``how.overlap`` from the end of the
        one before it.
    """
    measure = len if how.unit == "characters" else words
    pieces = _pieces(text, how, measure)
    chunks: list[str] = []
    held: list[str] = []
    size = fresh = 0
    for piece in pieces:
        length = measure(piece)
        if size + length > how.size and fresh:
            chunks.append("".join(held))
            kept: list[str] = []
            size = fresh = 0
            for old in reversed(held):
                if size + measure(old) > min(how.overlap, how.size - length):
                    break
                kept.insert(0, old)
                size += measure(old)
            held = kept
        held.append(piece)
        size += length
        fresh += 1
    if fresh:
        chunks.append("".join(held))
    return [chunk for raw in chunks if (chunk := raw.strip())]


def words(text: str) -> int:
    """Words of a text: what stands between white space."""
    return len(_WORD.findall(text))


def chunks_of(doc_id: str, title: str, text: str, how: PassageCut) -> list[Passage]:
    """The chunks of a document, numbered from 0."""
    return [
        Passage(passage_id=f"{doc_id}#{number}", doc_id=doc_id, title=title, text=part)
        for number, part in enumerate(cut(text, how))
    ]


def _pieces(text: str, how: PassageCut, measure: Callable[[str], int]) -> list[str]:
    mark = re.escape(how.separator)
    within = rf"(?!(?<=\d{mark})\d)" if how.separator in WITHIN_FIGURES else ""
    whole = re.split(f"(?<={mark}){within}", text)
    pieces: list[str] = []
    for piece in whole:
        if measure(piece) <= how.size:
            pieces.append(piece)
            continue
        for word in re.findall(r"\s*\S+\s*", piece):
            if how.unit == "tokens" or len(word) <= how.size:
                pieces.append(word)
            else:
                pieces += [word[at : at + how.size] for at in range(0, len(word), how.size)]
    return [piece for piece in pieces if piece]
