"""Cases of a page: the most worth reading are embedded, and a browser shows them as text at every width."""

import json
from pathlib import Path

import pytest

from judgec.rag.probes.report.page import FILE, page
from judgec.rag.probes.report.summary import summarize
from judgec.report.cases import BrowsedCase, CaseNote, CaseSide
from judgec.report.items import embedded, item_lines
from tests.labels.review.browser import CHROMIUM, Browser
from tests.rag.probes.report.test_summary import PROBED, SCENARIOS, one
from tests.report.page.html import Page

EVIL = "</script><img src=x onerror=document.title='hit'>"
LONG = "averyveryverylongwordwithoutaspace" * 12


def case(n: int, *, differs: bool = False, unscored: str | None = None, text: str = "built in 1242") -> BrowsedCase:
    sides = [CaseSide("x", "4.0", {"answer": (text,), "contexts": ("The castle, built in 1242.",)}, "why")]
    notes = [CaseNote("x – y", "x wins")]
    return BrowsedCase(f"c{n}", "x 1, y 0", "Question?", None, differs, unscored, n / 10, sides, notes)


def test_embedded_cases_are_those_that_differ_then_unscored_then_far() -> None:
    held = json.loads(str(embedded([case(0), case(1), case(2, unscored="no reply"), case(3, differs=True)])["data"]))
    assert [found["item_id"] for found in held["items"]] == ["c3", "c2", "c1", "c0"]
    assert dict(held["items"][0]["sides"][0]["texts"])["contexts"] == [["The castle, ", "built in 1242", "."]]


def test_cases_beyond_the_room_are_counted_and_stand_whole_in_the_lines() -> None:
    cases = [case(n, text="<" * 9000) for n in range(200)]
    shown = embedded(cases)
    assert len(str(shown["data"]).encode()) < 1_600_000
    assert shown["left_out"] == 200 - int(str(shown["count"])) > 0
    whole = [json.loads(line) for line in item_lines(cases)]
    assert whole[7]["sides"][0]["texts"]["answer"] == ["<" * 9000]
    assert len(whole) == 200


@pytest.mark.full
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: pages with cases are NOT checked in a browser")
def test_cases_in_a_browser_fit_are_filtered_linked_and_stay_text(tmp_path: Path) -> None:
    probed = [*PROBED, one(11, "fail", query=f"{EVIL} {LONG}", component="generator")]
    html = page(summarize(probed, SCENARIOS, judge="j", writer="w"), [], probed, title="t", created="now")
    assert Page(html).faults == []
    assert FILE in html
    (tmp_path / "report.html").write_text(html, encoding="utf-8")
    shown = "document.querySelectorAll('#items-browser details').length"
    with Browser(tmp_path / "profile", (1400, 900)) as browser:
        browser.open((tmp_path / "report.html").as_uri())
        browser.until(f"document.readyState === 'complete' && {shown} === 11")
        browser.run("document.querySelectorAll('#items-browser details').forEach(one => one.open = true)")
        for width in (1400, 1024, 420):
            browser.resize(width, 900)
            assert browser.run("document.scrollingElement.scrollWidth <= document.documentElement.clientWidth"), width
            clipped = (
                "[...document.querySelectorAll('#items-browser article')].filter(a => a.scrollWidth > a.clientWidth)"
            )
            assert browser.run(f"{clipped}.length") == 0, width
        assert browser.run("document.title") == "t"
        assert browser.run("document.querySelectorAll('img').length") == 0
        for name, value, count in (("show", "differ", 4), ("rater", "y", 3), ("show", "all", 10)):
            choice = f"document.querySelector('select[name={name}]')"
            browser.run(f"{{ const s = {choice}; s.value = '{value}'; s.dispatchEvent(new Event('change')) }}")
            assert browser.run(shown) == count, (name, value)
        browser.run("location.hash = document.querySelector('#items-browser details').id")
        browser.until("document.activeElement.tagName === 'SUMMARY'")
        browser.run("document.querySelector('#items-browser a').click()")
        assert browser.run("decodeURIComponent(location.hash)").startswith("#item-docs/")
