"""``make docs``: every document and every public name has its place, and no link leads nowhere."""

import json
import re
import runpy
import shutil
import subprocess
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
        "judgec.raters.judge.JudgeTree.judge",
        "judgec.errors.UserError",
    } <= set(anchors)
    assert "Chance-corrected" in page.text or "chance" in page.text
    assert not [anchor for anchor in anchors if "._" in anchor]


def test_sections_of_the_search_lead_to_headings(site: Path) -> None:
    page = (site / "search.html").read_text(encoding="utf-8")
    (data,) = re.findall(r"id=sections>(.*?)</script>", page, re.DOTALL)
    sections = json.loads(data)
    assert len(sections) > 1000
    for url, *_ in sections:
        name, _, anchor = url.partition("#")
        if anchor and not name.startswith("reference"):
            text = (site / name).read_text(encoding="utf-8")
            assert f'id="{anchor}"' in text, url


@pytest.mark.full
@pytest.mark.skipif(shutil.which("chromium") is None, reason="CHROMIUM IS NOT INSTALLED: the search is not tried")
def test_search_finds_a_section_in_a_browser(site: Path) -> None:
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", "--dump-dom"]
    address = (site / "search.html").as_uri() + "#forward%20selection%20panel"
    done = subprocess.run([*command, address], capture_output=True, text=True, timeout=300, check=True)
    found = re.findall(r'<li><a href="([^"]+)">', done.stdout)
    assert any(url.startswith("docs/design/several-judges.html") for url in found), found
    assert "sections</span>" in done.stdout
