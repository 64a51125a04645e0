"""``make docs``: every document and every public name has its place, and no link leads nowhere."""

import re
import runpy
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, documents
from tests.report.page.html import Page

SITE = runpy.run_path(str(ROOT / "docs" / "make_site.py"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    assert SITE["main"](out) == len(list(out.rglob("*.html")))
    return out


def test_every_document_is_a_page_whose_links_lead_to_pages(site: Path) -> None:
    for path in documents():
        page = site / path.relative_to(ROOT).with_suffix(".html")
        for target in re.findall(r'(?:href|src)=["\']([^"\'#]+)', page.read_text(encoding="utf-8")):
            if not target.startswith("https://"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_reference_holds_every_public_function_and_class_with_its_docstring(site: Path) -> None:
    page = Page((site / "reference.html").read_text(encoding="utf-8"))
    assert page.faults == []
    anchors = [str(attributes["id"]) for tag, attributes in page.tags if "id" in attributes]
    assert len(anchors) > 500
    assert {
        "judgec.stats.agreement.statistic.table_statistic",
        "judgec.judges.judge.CompiledJudge.judge",
        "judgec.errors.UserError",
    } <= set(anchors)
    assert "Chance-corrected" in page.text or "chance" in page.text
    assert not [anchor for anchor in anchors if "._" in anchor]
