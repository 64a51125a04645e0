"""The page of a command that prints tables: the sentence, the tables, the items, and nothing of a text runs."""

import json
from pathlib import Path

import pytest

from judgec.report.cases import BrowsedCase, CaseSide
from judgec.report.report import MUST_BE_SEEN, Report, items_path, write_page
from judgec.report.screen import TextTable
from tests.labels.review.browser import CHROMIUM, Browser
from tests.report.page.html import Page
from tests.verbs.cli.process import ROOT, judgec_here

EVIL = "<script>alert(1)</script>"
LONG = "word " * 80 + "unbroken" * 60


def made(path: Path) -> str:
    case = BrowsedCase("i1", "experts 1", EVIL, None, True, None, 2.0, [CaseSide("A", "1", {"answer": (LONG,)}, EVIL)])
    shown = Report(
        title=f"A against {EVIL}",
        facts="148 grades",
        verdict=["A agrees with the experts more than B."],
        standing="better",
        tables=[
            TextTable("numbers", ("", "A"), [("tau-b", ".68 [.57, .77]")], legend={"tau-b": f"the order {EVIL}"}),
            TextTable("words", ("group", "what"), [("a", LONG), (EVIL, "")]),
        ],
        steps=["Ship A.", EVIL],
        notes=["A note."],
        reading=["1 row left out as empty."],
        items=[case],
    )
    write_page(shown, path)
    return path.read_text(encoding="utf-8")


def test_page_opens_with_the_verdict_and_holds_tables_legend_steps_notes_and_items(tmp_path: Path) -> None:
    html = made(tmp_path / "page.html")
    assert Page(html).faults == []
    assert EVIL not in html
    asked = ("A agrees with", ".68 [.57, .77]", "the order", "Ship A.", "A note.")
    places = [html.index(text) for text in asked]
    assert places == sorted(places)
    assert "1 row left out" in html
    (line,) = items_path(tmp_path / "page.html").read_text().splitlines()
    assert json.loads(line)["sides"][0]["reason"] == EVIL
    assert items_path(tmp_path / "page.html").name == "page.items.jsonl"


def test_labels_have_a_page_and_other_ways_of_the_command_have_none(tmp_path: Path) -> None:
    labels = ROOT / "trainsets" / "sensors" / "labels.jsonl"
    done = judgec_here(tmp_path, "labels", labels, "--report", "labels.html")
    assert done.returncode == 0
    assert "report: labels.html" in done.stderr.splitlines()
    html = (tmp_path / "labels.html").read_text(encoding="utf-8")
    assert Page(html).faults == []
    assert "tau-b .892\u00a0[" in html  # a number and its interval stay on a line
    asked = ("CONSTRUCTED LABELS", "3 annotators agree", "Agents as people", "What to do next", "items-browser")
    places = [*(html.index(text) for text in (*asked, "Ceiling: each")), html.rindex("train / dev / test")]
    assert places == sorted(places)
    cases = [json.loads(line) for line in (tmp_path / "labels.items.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(cases) == len({json.loads(line)["item_id"] for line in labels.read_text(encoding="utf-8").splitlines()})
    differ = sum(case["differs"] for case in cases)
    assert 0 < differ < len(cases)
    assert f"the {differ} items" in html


@pytest.mark.full
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: pages of tables are NOT checked in a browser")
def test_nothing_is_clipped_at_three_widths(tmp_path: Path) -> None:
    made(tmp_path / "page.html")
    labels = ROOT / "trainsets" / "sensors" / "labels.jsonl"
    assert judgec_here(tmp_path, "labels", labels, "--report", "labels.html").returncode == 0
    asked = ("--index", ROOT / "trainsets" / "sensors" / "catalogue", "--passages", 6, "--out", "q.jsonl")
    assert judgec_here(tmp_path, "generate-queries", *asked, "--report", "queries.html").returncode == 0
    with Browser(tmp_path / "profile", (1400, 900)) as browser:
        for name in ("page", "labels", "queries"):
            browser.open((tmp_path / f"{name}.html").as_uri())
            browser.until(f"document.readyState === 'complete' && location.pathname.endsWith('{name}.html')")
            browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
            for width in (1400, 1024, 420):
                browser.resize(width, 900)
                assert browser.run("document.scrollingElement.scrollWidth <= document.documentElement.clientWidth"), (
                    name,
                    width,
                )
        shown = "document.querySelectorAll('#items-browser details').length"
        assert browser.run(shown) == len((tmp_path / "q.jsonl").read_text().splitlines())


def test_how_a_file_was_read_is_one_line_and_what_no_longer_counts_stays_by_kind() -> None:
    reading = [
        "2 rows left out as totals or means of others: a.csv:26 'Sum'; a.csv:27 'Mean'.",
        "1,001 rows left out as empty.",
        "Column Mia: 3 cells say nothing and are missing: n/a (3).",
        "Column 7: 24 cells are read as numbers: 0,5 is 0.5.",
        "gpt-4: no annotator, it is measured.",
    ]
    shown = Report(notes=["promoted by hand"], reading=reading, more="every statistic")
    *notes, rest = shown.below()
    assert notes == [f"note: {reading[4]}", "note: promoted by hand"]
    assert rest.startswith("every statistic, 4 notes ")
    assert rest.endswith("(1,003 rows left out, 3 cells missing): -v")
    assert shown.below(verbose=True) == [f"note: {note}" for note in [*reading, "promoted by hand"]]
    assert Report(reading=reading[2:3]).below() == [f"note: {reading[2]}"]  # shorter than a line about it


def test_what_a_screen_keeps_of_how_a_file_was_read_is_still_said_in_these_words() -> None:
    source = [path.read_text(encoding="utf-8") for path in (ROOT / "src" / "judgec").rglob("*.py")]
    said = "\n".join(text for text in source if MUST_BE_SEEN.pattern not in text)
    assert [phrase for phrase in MUST_BE_SEEN.pattern.split("|") if phrase not in said] == []
