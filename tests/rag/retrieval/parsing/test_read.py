import time
import zlib
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from docx import Document as OpenWord
from docx.document import Document as Word
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement, parse_xml

from judgec.rag.retrieval.parsing import docx
from judgec.rag.retrieval.parsing import pdf as pdf_parsing
from judgec.rag.retrieval.parsing.document import UnreadableError
from judgec.rag.retrieval.parsing.read import read_documents
from tests.rag.retrieval.parsing.files import broken_pdf, pdf, placed, word

SPACES = " ".join(
    f'xmlns:{name}="http://schemas.{space}"'
    for name, space in {
        "w": "openxmlformats.org/wordprocessingml/2006/main",
        "mc": "openxmlformats.org/markup-compatibility/2006",
        "wps": "microsoft.com/office/word/2010/wordprocessingShape",
    }.items()
)
BOX = (
    "<mc:AlternateContent><mc:Choice Requires='wps'><wps:txbx><w:txbxContent><w:p><w:r><w:t>{text}</w:t></w:r></w:p>"
    "</w:txbxContent></wps:txbx></mc:Choice><mc:Fallback><w:pict><w:txbxContent><w:p><w:r><w:t>{text}</w:t></w:r></w:p>"
    "</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent>"
)


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


LAUGHS = [f"a{n}: &a{n} [{', '.join(['x' if n == 0 else f'*a{n - 1}'] * 10)}]" for n in range(10)]


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.md", "\n".join(["---", *LAUGHS, "title: *a9", "---", "# One", "x"]), "One"),  # it stands for billions
        ("a.html", "<h1>Rill<br>M50</h1><p>text</p>", "Rill M50"),
    ],
)
def test_title_is_taken_from_the_heading(tmp_path: Path, name: str, text: str, title: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert sections(path)[0] == title


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


def test_pdf_in_two_columns_is_read_column_by_column(tmp_path: Path) -> None:
    left = [(50, 700 - 14 * n, f"left line {n} goes") for n in range(6)]  # as TeX sets them: a column after the other
    right = [(320, 700 - 14 * n, f"right line {n} follows") for n in range(6)]
    (document,), _ = read_documents(pdf(tmp_path / "a.pdf", [placed([*left, *right])]), {})
    words = document.sections[0].text.split()
    assert " ".join(words).index("left line 5") < " ".join(words).index("right line 0")
    assert [words[i + 2] for i, word in enumerate(words) if word == "left"] == list("012345")


def test_pdf_with_a_table_keeps_each_row_together(tmp_path: Path) -> None:
    rows = [("Model", "Range", "Accuracy"), ("M50", "0.6 to 70", "0.4 %"), ("M80", "2 to 180", "0.5 %")]
    cells = [(60 + 150 * c, 600 - 20 * r, text) for r, row in enumerate(rows) for c, text in enumerate(row)]
    (document,), _ = read_documents(pdf(tmp_path / "a.pdf", [placed(cells)]), {})
    lines = [" ".join(line.split()) for line in document.sections[0].text.splitlines()]
    assert "M50 0.6 to 70 0.4 %" in " ".join(lines)
    assert "M80 2 to 180 0.5 %" in " ".join(lines)


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


def edited(path: Path, out: Path, edit: Callable[[bytes], bytes]) -> Path:
    """A copy of a .docx whose text was changed as bytes."""
    with ZipFile(path) as old, ZipFile(out, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, edit(data) if name == "word/document.xml" else data)
    return out


def test_docx_that_unpacks_to_much_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = word(tmp_path / "a.docx", "", [("", "long " * 100_000)], [["Supply", "24 V"]])
    assert path.stat().st_size < 100_000
    read_documents(path, {})
    monkeypatch.setattr(docx, "MOST_BYTES", 400_000)
    with pytest.raises(UnreadableError, match="at most 400000 are"):
        read_documents(path, {})


def test_docx_of_very_many_elements_is_refused_before_they_are_built(tmp_path: Path) -> None:
    path = word(tmp_path / "a.docx", "", [("", "x")], [["a"]])
    more = b"<w:body>" + b"<w:p/>" * 3_000_000
    bomb = edited(path, tmp_path / "b.docx", lambda data: data.replace(b"<w:body>", more))
    assert bomb.stat().st_size < 200_000
    with pytest.raises(UnreadableError, match="at most 1000000 are"):
        read_documents(bomb, {})


def test_docx_with_entities_that_grow_stays_small(tmp_path: Path) -> None:
    path = word(tmp_path / "a.docx", "", [("", "LAUGH text")], [["a"]])
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha" * 10}">' for n in range(9)).encode()

    def grown(data: bytes) -> bytes:
        return data.replace(b"?>", b"?><!DOCTYPE w [" + entities + b"]>", 1).replace(b"LAUGH", b"&e8;")

    try:
        found, _ = read_documents(edited(path, tmp_path / "b.docx", grown), {})
    except UnreadableError:
        return
    assert sum(len(section.text) for document in found for section in document.sections) < 10_000


PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Resources<</Font<</F1 4 0 R>>>>/Contents "


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("(anonymous)", ""),
        ("untitled", ""),
        ("Untitled Document 2", ""),
        ("Anonymous letters", "Anonymous letters"),
        ("Microsoft Word - Leave policy", "Leave policy"),
    ],
)
def test_pdf_has_no_title_that_a_program_wrote_for_want_of_one(tmp_path: Path, said: str, title: str) -> None:
    (document,), _ = read_documents(pdf(tmp_path / "a.pdf", ["A page says this."], said), {})
    assert document.title == title


def pdf_bomb(path: Path, kids: bytes, contents: bytes, stream: bytes) -> Path:
    """A small PDF that stands for much."""
    packed = zlib.compress(stream, 9)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (kids.count(b"R"), kids),
        PAGE + contents + b">>",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Length %d/Filter/FlateDecode>>\nstream\n%s\nendstream" % (len(packed), packed),
    ]
    body, places = b"%PDF-1.7\n", []
    for number, written in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, written)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    tail = b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(body)
    body += b"xref\n0 6\n0000000000 65535 f \n" + table + tail
    path.write_bytes(body)
    return path


WORDS = b"BT /F1 9 Tf 0 0 Td (abc) Tj ET\n"


@pytest.mark.parametrize(
    ("kids", "repeated", "times"),
    [(b"3 0 R", b"\0", 200_000_000), (b"3 0 R", b"[", 5_000_000), (b"2 0 R 3 0 R", WORDS, 1)],
    ids=["unpacks to much", "nested without end", "pages in a circle"],
)
def test_pdf_that_stands_for_much_is_refused_soon(tmp_path: Path, kids: bytes, repeated: bytes, times: int) -> None:
    path = pdf_bomb(tmp_path / "a.pdf", kids, b"5 0 R", repeated * times)
    assert path.stat().st_size < 250_000
    begun = time.thread_time()
    with pytest.raises(UnreadableError):
        read_documents(path, {})
    assert time.thread_time() - begun < 20


def test_pdf_that_takes_too_long_for_its_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pdf_bomb(tmp_path / "a.pdf", b"3 0 R " * 20_000, b"5 0 R", WORDS * 500)  # one page, 20,000 times
    monkeypatch.setattr(pdf_parsing, "SECONDS", 0.5)
    monkeypatch.setattr(pdf_parsing, "SECONDS_A_MEGABYTE", 0.5)
    with pytest.raises(UnreadableError, match="too long"):
        read_documents(path, {})


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
        ("a.html", b"1 < 2", "no HTML tag"),
        ("a.html", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR<p>\0\1\2", "binary data"),
        ("a.html", zlib.compress(bytes(range(256)) * 8) + b"<p>text</p>" * 20, "binary data"),
        ("a.csv", b"doc_id,text\n", "header without rows"),
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


def test_docx_keeps_equal_cells_nested_tables_and_content_controls(tmp_path: Path) -> None:
    path = word(
        tmp_path / "a.docx", "", [("", "Controlled.")], [["low", "mid", "high"], ["0", "0", "5"], ["m", "", "n"]]
    )
    made = OpenWord(str(path))
    table = made.tables[0]
    table.cell(2, 0).merge(table.cell(2, 1))
    table.cell(2, 2).add_table(1, 1).cell(0, 0).text = "inner"
    paragraph = made.paragraphs[0]._p
    control, content = OxmlElement("w:sdt"), OxmlElement("w:sdtContent")
    paragraph.addprevious(control)
    control.append(content)
    content.append(paragraph)
    made.save(str(path))
    assert sections(path) == ("", [("", "Controlled.\nlow | mid | high\n0 | 0 | 5\nm | n inner", None)])


def test_docx_with_broken_xml_is_unreadable(tmp_path: Path) -> None:
    path = word(tmp_path / "a.docx", "", [("", "Text.")], [["a"]])
    with pytest.raises(UnreadableError, match=r"not a readable \.docx"):
        read_documents(edited(path, tmp_path / "b.docx", lambda data: data[:200]), {})


def test_front_matter_with_a_date_that_is_none_is_text(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("---\ntitle: T\ndate: 2024-13-45\n---\n# Head\ntext\n")
    _, found = sections(path)
    said = "\n".join(text for _, text, _ in found)
    assert all(words in said for words in ("title: T", "2024-13-45", "# Head\ntext"))


def test_pdf_pages_that_are_damaged_are_faults(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", ["First page.", "Second page."])
    path.write_bytes(path.read_bytes().replace(b"5 0 obj", b"x 0 obj"))
    (document,), faults = read_documents(path, {})
    assert [section.text for section in document.sections] == ["First page."]
    assert [fault.startswith(f"{path}: 1 of 2 pages") for fault in faults] == [True]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "iso2022_jp", "shift_jis"])
def test_html_in_other_encodings_is_no_binary_data(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.html"
    charset = "utf-16le" if encoding == "utf-16" else "utf-8" if encoding == "utf-8-sig" else encoding.replace("_", "-")
    charset = charset.replace("iso2022", "iso-2022")
    path.write_bytes(
        f"<html><head><meta charset={charset}></head><body><p>距離は三米</p></body></html>".encode(encoding)
    )
    assert sections(path) == ("", [("", "距離は三米", None)])


def test_docx_keeps_text_boxes_once_and_notes_where_they_are_referred_to(tmp_path: Path) -> None:
    path = word(tmp_path / "a.docx", "", [("", "Range."), ("", "Supply."), ("", "Last.")], [["Output", "4-20 mA"]])
    made = OpenWord(str(path))
    range_, supply = made.paragraphs[0]._p, made.paragraphs[1]._p
    boxes = "".join(BOX.format(text=text) for text in ("First box.", "Second box."))
    range_.append(parse_xml(f"<w:r {SPACES}>{boxes}</w:r>"))
    supply.append(parse_xml(f'<w:r {SPACES}><w:footnoteReference w:id="2"/><w:endnoteReference w:id="7"/></w:r>'))
    supply.append(parse_xml(f'<w:fldSimple {SPACES} w:instr="REF x"><w:r><w:t> Field.</w:t></w:r></w:fldSimple>'))
    cell = made.tables[0].cell(0, 1).paragraphs[0]._p
    cell.append(parse_xml(f'<w:r {SPACES}><w:footnoteReference w:id="3"/></w:r>'))
    add_notes(made, "footnote", {0: "separator", 2: "At most 30 V.", 3: "Into 500 ohm."})
    add_notes(made, "endnote", {7: "See the manual."})
    made.save(str(path))
    (_, (whole,)) = sections(path)
    assert whole[1] == (
        "Range.\nFirst box.\nSecond box.\nSupply. Field.\nAt most 30 V.\nSee the manual.\nLast.\n"
        "Output | 4-20 mA Into 500 ohm."
    )


def add_notes(made: Word, kind: str, notes: dict[int, str]) -> None:
    """A part of notes, as Word writes one."""
    said = "".join(
        f'<w:{kind} w:id="{n}"><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:{kind}>' for n, text in notes.items()
    )
    blob = f"<w:{kind}s {SPACES}>{said}</w:{kind}s>".encode()
    content = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{kind}s+xml"
    part = Part(PackURI(f"/word/{kind}s.xml"), content, blob, made.part.package)
    made.part.relate_to(part, f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}s")
