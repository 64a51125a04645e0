"""Small files of every kind, written as bytes, so that no test depends on the library that reads them."""

import zlib
from pathlib import Path

import docx

BOX = "/MediaBox [0 0 600 800]"


def pdf(path: Path, pages: list[str], title: str = "") -> Path:
    """A PDF whose pages hold one line of text each."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    font = 3 + 2 * len(pages)
    resources = f"<< /Font << /F1 {font} 0 R >> >>"
    for number, text in enumerate(pages):
        page, content = 3 + 2 * number, 4 + 2 * number
        kids.append(f"{page} 0 R")
        stream = f"BT /F1 12 Tf 50 700 Td ({text}) Tj ET" if text else ""
        objects += [
            f"<< /Type /Page /Parent 2 0 R {BOX} /Contents {content} 0 R /Resources {resources} >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(pages)} >>"
    objects += ["<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", f"<< /Title ({title}) >>"]
    body, places = "%PDF-1.4\n", []
    for number, written in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{written}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    tail = f"trailer << /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\nstartxref\n{len(body)}\n%%EOF"
    path.write_bytes(f"{body}xref\n0 {size}\n0000000000 65535 f \n{table}{tail}".encode())
    return path


def placed(lines: list[tuple[int, int, str]]) -> str:
    """A page of ``pdf`` with texts at places (points from the left and from the bottom), in this order."""
    return ") Tj ET BT /F1 10 Tf ".join(["", *(f"{x} {y} Td ({text}" for x, y, text in lines)]).replace(
        ") Tj ET BT", " ) Tj ET BT", 1
    )


def word(path: Path, title: str, blocks: list[tuple[str, str]], rows: list[list[str]]) -> Path:
    """A .docx of (style, text) paragraphs and a table after them."""
    made = docx.Document()
    made.core_properties.title = title
    for style, text in blocks:
        made.add_paragraph(text, style=style or None)
    table = made.add_table(len(rows), len(rows[0]))
    for row, cells in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    made.save(str(path))
    return path


def broken_pdf(path: Path) -> Path:
    """Begins like a PDF and is none."""
    path.write_bytes(b"%PDF-1.7\n" + zlib.compress(b"nothing that a reader could use" * 20))
    return path
