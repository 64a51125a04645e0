"""Chooses the parser of a file and reads it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from judgec.rag.retrieval.parsing.document import Document, UnreadableError

TABLES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
TEXTS = (".txt", ".text", ".rst", ".adoc")
MARKDOWN = (".md", ".markdown")
PAGES = (".html", ".htm", ".xhtml")
KINDS = (*MARKDOWN, *PAGES, ".pdf", ".docx", *TEXTS, *TABLES)


def read_documents(path: Path, rename: Mapping[str, str]) -> tuple[list[Document], list[str]]:
    """The documents of a file, and the faults of rows and pages that are left out.

    Parsers are imported on first use: a corpus of Markdown opens no PDF library.

    Raises:
        UnreadableError: When the file cannot be read or holds nothing.
    """
    kind = path.suffix.lower()
    if kind in TABLES:
        from judgec.rag.retrieval.parsing.rows import read_rows

        documents, faults = read_rows(path, rename)
    else:
        try:
            documents = _reader(kind)(path)
            faults = [f"{path}: {fault}" for document in documents for fault in document.faults]
        except OSError as error:
            raise UnreadableError(f"{error.strerror}; check the file's rights") from None
        except UnreadableError:
            raise
        except Exception as error:  # noqa: BLE001 - one broken file must not end the reading of the others
            said = f"{type(error).__name__}: {str(error)[:120]}"
            raise UnreadableError(f"its parser failed ({said}); save it anew, or as plain text") from None
    documents = [document for document in documents if not document.blank]
    if not documents:
        raise UnreadableError("it holds no text")
    return documents, faults


def _reader(kind: str) -> Callable[[Path], list[Document]]:
    if kind == ".pdf":
        from judgec.rag.retrieval.parsing.pdf import read_pdf

        return read_pdf
    if kind == ".docx":
        from judgec.rag.retrieval.parsing.docx import read_docx

        return read_docx
    if kind in PAGES:
        from judgec.rag.retrieval.parsing.html import read_html

        return read_html
    from judgec.rag.retrieval.parsing.markdown import read_markdown, read_plain

    return read_markdown if kind in MARKDOWN else read_plain
