from pathlib import Path

import pytest

from judgec.retrieval.parsing.document import UnreadableError
from judgec.retrieval.parsing.read import read_documents
from tests.retrieval.parsing.files import broken_pdf, pdf, word


def sections(path: Path) -> tuple[str, list[tuple[str, str, int | None]]]:
    (document,), faults = read_documents(path, {})
    assert not faults
    return document.title, [(s.heading, s.text.strip(), s.page) for s in document.sections]


def test_markdown_keeps_front_matter_title_headings_and_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(
        "---\ntitle: The Title\n---\nintro\n\n# One\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "```\n# no heading\n```\n\n## Deep\nx\n\n# Two\ny\n"
    )
    title, found = sections(path)
    assert title == "The Title"
    assert [heading for heading, _, _ in found] == ["", "One", "One > Deep", "Two"]
    assert "| 1 | 2 |" in found[1][1]
    assert "# no heading" in found[1][1]


def test_html_drops_scripts_and_keeps_headings_and_table_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(
        "<html><head><title>T &amp; U</title><style>x{}</style></head><body><nav>menu</nav><h1>Häuser</h1><p>First "
        "<b>bold</b> text.</p><script>alert(1)</script><table><tr><td>A</td><td>1</td></tr></table><h2>Sub</h2>"
        "<ul><li>one<li>two</ul><!-- hidden --></body></html>".encode("latin-1")
    )
    title, found = sections(path)
    assert title == "T & U"
    assert found == [
        ("Häuser", "Häuser\nFirst bold text.\nA | 1", None),
        ("Häuser > Sub", "Sub\none\ntwo", None),
    ]


def test_pdf_keeps_pages(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", ["First page says this.", "", "Third page says that."], "Manual")
    assert sections(path) == ("Manual", [("", "First page says this.", 1), ("", "Third page says that.", 3)])


def test_docx_keeps_headings_and_tables_in_order(tmp_path: Path) -> None:
    blocks = [("Title", "Guide"), ("", "Lead."), ("Heading 1", "Range"), ("", "Ten metres.")]
    path = word(tmp_path / "a.docx", "", blocks, [["Supply", "24 V"], ["Output", "4-20 mA"]])
    title, found = sections(path)
    assert title == "Guide"
    assert found == [
        ("Guide", "Guide\nLead.", None),
        ("Guide > Range", "Range\nTen metres.\nSupply | 24 V\nOutput | 4-20 mA", None),
    ]


def test_rows_are_documents_and_bad_rows_are_named(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("id,contents,title\n7,seven,T\n,nobody,\n8,,\n7,again,\n")
    documents, faults = read_documents(path, {})
    assert [(d.doc_id, d.title, d.sections[0].text) for d in documents] == [("7", "T", "seven")]
    assert [fault.split(":")[1] for fault in faults] == ["3", "4", "5"]


def test_columns_are_renamed_and_missing_ones_name_the_option(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"key": "1", "body": "text"}\n')
    documents, _ = read_documents(path, {"key": "doc_id", "body": "text"})
    assert documents[0].doc_id == "1"
    with pytest.raises(UnreadableError, match="--map"):
        read_documents(path, {})


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"caf\xe9", "not UTF-8"),
        ("a.txt", b"a\0b", "NUL"),
        ("a.txt", b"  \n", "no text"),
        ("a.md", b"", "no text"),
        ("a.html", b"plain", "no HTML tag"),
        ("a.docx", b"PK\x03\x04 no zip", "not a readable .docx"),
        ("a.pdf", b"", "not a readable PDF"),
        ("a.jsonl", b"{", "not JSON"),
    ],
)
def test_broken_file_says_what_is_wrong(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UnreadableError, match=said):
        read_documents(path, {})


def test_damaged_and_scanned_pdfs_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="not a readable PDF"):
        read_documents(broken_pdf(tmp_path / "b.pdf"), {})
    with pytest.raises(UnreadableError, match="OCR"):
        read_documents(pdf(tmp_path / "s.pdf", ["", ""]), {})
