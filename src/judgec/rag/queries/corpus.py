"""The documents that questions are made from: of an index, or of files that nobody has indexed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from judgec.errors import UserError
from judgec.rag.queries.sampling import SampledDocument
from judgec.rag.queries.terms import TermIndex
from judgec.rag.retrieval.index import Index, open_index
from judgec.rag.retrieval.manifest import FILE
from judgec.rag.retrieval.parsing.document import UnreadableError
from judgec.rag.retrieval.parsing.read import KINDS, read_documents
from judgec.rag.retrieval.passages import Passage
from judgec.table.regular import seen_at

LONGEST_OVERLAP = 4000  # characters that two neighbouring passages may share


@dataclass(frozen=True)
class Corpus:
    """Documents, and the passages that a system would retrieve.

    Args:
        name: For reports: the folder's or file's name.
        location: As the user named it.
        passages: All of them.
        documents: All of them, whole.
        index: The open index, or None for files.
        notes: What was left out, a sentence each.
    """

    name: str
    location: str
    passages: tuple[Passage, ...]
    documents: tuple[SampledDocument, ...]
    index: Index | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def terms(self) -> TermIndex:
        """Index of the passages that hold each word."""
        return TermIndex(self.passages)


def open_corpus(location: str) -> Corpus:
    """The corpus in an index, a folder of files or one file.

    Raises:
        UserError: When nothing readable is there.
        ArtifactError: When an index is damaged.
    """
    path = Path(location)
    if location.startswith(("postgresql://", "postgres://")) or (path / FILE).is_file():
        index = open_index(location)
        passages = tuple(index.passages())
        return Corpus(path.name, location, passages, tuple(whole_documents(passages)), index)
    if not (path.is_dir() or path.is_file()):
        raise UserError(f"--index {location}: {seen_at(path, 'file or folder')}; an index, or documents, are needed.")
    inside = (file for file in path.rglob("*") if file.suffix.lower() in KINDS and not file.is_fifo())
    files = sorted(inside) if path.is_dir() else [path]
    documents: list[SampledDocument] = []
    notes: list[str] = []
    for file in files:
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        try:
            found, faults = read_documents(file, {})
        except UnreadableError as error:
            notes.append(f"{file}: left out: {error}.")
            continue
        notes += faults
        for number, one in enumerate(found):
            doc_id = one.doc_id or (name if len(found) == 1 else f"{name}#{number}")
            documents.append(SampledDocument(doc_id, one.title, "\n\n".join(section.text for section in one.sections)))
    if not documents:
        reasons = " ".join(notes[:3])
        raise UserError(f"--index {location}: no document that can be read; {', '.join(KINDS)} are valid. {reasons}")
    passages = tuple(Passage(one.doc_id, one.doc_id, one.text, one.title) for one in documents)
    return Corpus(path.name, location, passages, tuple(documents), None, tuple(notes))


def whole_documents(passages: Iterable[Passage]) -> Iterable[SampledDocument]:
    """Documents put together from their passages in order, what two neighbours share written once."""
    by: dict[str, list[Passage]] = {}
    for passage in passages:
        by.setdefault(passage.doc_id, []).append(passage)
    for doc_id, parts in by.items():
        yield SampledDocument(
            doc_id, next((part.title for part in parts if part.title), ""), joined([p.text for p in parts])
        )


def joined(texts: Sequence[str]) -> str:
    """Texts in order as one; where the next begins with the end of the one before, that stands once."""
    whole = texts[0] if texts else ""
    for text in texts[1:]:
        shared = _overlap(whole[-LONGEST_OVERLAP:], text)
        whole += text[shared:] if shared else f"\n\n{text}"
    return whole


def _overlap(before: str, after: str) -> int:
    """Longest overlap of the end of one text and the beginning of the other, in characters."""
    first = after[:12]  # a shorter overlap is chance
    at = before.find(first) if len(first) == 12 else -1
    while at >= 0:
        if after.startswith(before[at:]):
            return len(before) - at
        at = before.find(first, at + 1)
    return 0
