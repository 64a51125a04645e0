"""PDF files."""

import logging
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from pypdf import PdfReader
from pypdf.errors import PyPdfError
from pypdf.generic import DictionaryObject

from judgec.rag.retrieval.parsing.document import Document, Section, UnreadableError

# pypdf logs each oddity of a file; what matters here is whether its text can be had.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


_NO_TITLE = re.compile(
    r"[\[(<]?(?:anonymous|untitled|unspecified|unknown|no title|none|null)(?: document)?[\])>]?[\s\d]*", re.IGNORECASE
)
_PRINTED = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ")
SECONDS, SECONDS_A_MEGABYTE = 30.0, 30.0  # of a processor; a megabyte of pages takes about one


def read_pdf(path: Path) -> list[Document]:
    """A PDF, a section a page.

    Raises:
        UnreadableError: When it is damaged, wants a password, holds no text (a scan), or takes longer than files of its
            size do: a page may be in it a million times. pypdf itself bounds what is unpacked.
    """
    try:
        reader = PdfReader(path)
        locked = reader.is_encrypted and not reader.decrypt("")
        texts = [] if locked else _texts(reader, path)
        faults = () if locked else _faults(reader, texts)
        title = "" if locked else _title(reader)
    except UnreadableError:
        raise
    except (PyPdfError, OSError) as error:
        raise UnreadableError(f"not a readable PDF ({_first(error)}); export it again") from None
    except Exception as error:  # noqa: BLE001 - a damaged PDF raises whatever its bytes lead to
        said = f"{type(error).__name__}: {_first(error)}"
        raise UnreadableError(f"not a readable PDF ({said}); export it again") from None
    if locked:
        raise UnreadableError("it wants a password; save it without one")
    if not any(text.strip() for text in texts):
        raise UnreadableError("no text in it, as in a scan; run text recognition (OCR) first")
    sections = (Section(text, page=number) for number, text in enumerate(texts, 1) if text.strip())
    return [Document(title, tuple(sections), faults=faults)]


def _title(reader: PdfReader) -> str:
    """The title that the file names, or an empty text; what programs write where nobody gave one is none."""
    said = str((reader.metadata.title if reader.metadata else None) or "").strip()
    return "" if _NO_TITLE.fullmatch(said) else _PRINTED.sub("", said)


def _texts(reader: PdfReader, path: Path) -> list[str]:
    """The text of each page."""
    most = SECONDS + SECONDS_A_MEGABYTE * path.stat().st_size / 1e6
    begun, texts = time.thread_time(), list[str]()
    for page in reader.pages:
        texts.append(page.extract_text())
        if time.thread_time() - begun > most:
            raise UnreadableError(f"{len(texts)} pages took {most:.0f} s, too long for its size; print it anew")
    return texts


def _faults(reader: PdfReader, texts: Sequence[str]) -> tuple[str, ...]:
    """Pages that are images without text, and pages that are gone; blank ones are none."""
    scans = [
        str(number)
        for number, (page, text) in enumerate(zip(reader.pages, texts, strict=True), 1)
        if not text.strip() and len(page.images)
    ]
    faults = [f"no text on page {', '.join(scans)}, only images; run text recognition (OCR) first."] if scans else []
    declared = cast("DictionaryObject", reader.root_object["/Pages"]).get("/Count", 0)
    if isinstance(declared, int) and declared > len(texts):
        faults.append(f"{declared - len(texts)} of {declared} pages are damaged and left out; export it again.")
    return tuple(faults)


def _first(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
