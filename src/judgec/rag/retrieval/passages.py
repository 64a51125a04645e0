"""Defines passages, which say where they come from, and hits in order."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document that is indexed, retrieved and cited as one.

    Args:
        passage_id: The document's id where it is the only passage of its document, else ``doc_id#3``.
        doc_id: The row's own id in a table of passages; the path below the folder that was indexed for a file.
        text: As it stands in the document; headings included.
        title: Of the document; empty where it has none.
        page: Where it begins, from 1; None where the format has no pages.
        section: The headings above its beginning, joined by `` > ``; empty where there are none.
        source: The file that it was read from, as the manifest names it.
    """

    passage_id: str
    doc_id: str
    text: str
    title: str = ""
    page: int | None = None
    section: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage and the score it was ranked by; scores compare within one list of hits only.

    Args:
        passage: What was found.
        score: What it was ranked by.
    """

    passage: Passage
    score: float


Ranking: TypeAlias = list[tuple[int, float]]
"""Row ids with their scores, best first."""
