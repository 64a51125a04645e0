"""Every page that a command writes, in a real browser: width, order, drawings, the items that are chosen."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.compile.small import write
from tests.labels.review.browser import CHROMIUM, Browser
from tests.verbs.cli.process import ROOT, judgec_here
from tests.verbs.test_systems import answers

SENSORS = ROOT / "trainsets" / "sensors"
WIDTHS = (1400, 1024, 420)
MOST_BYTES = 3_000_000
ITEMS = "document.getElementById('items-data').textContent"
LINES = "document.querySelectorAll('#items-browser details')"
# What ends outside its drawing, or lies beyond the window and cannot be scrolled to.
CLIPPED = """[...document.querySelectorAll('svg text')].filter(text => {
  const own = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
  return all.width && (own.left < all.left - 1 || own.right > all.right + 1 || own.bottom > all.bottom + 1);
}).map(text => text.textContent).concat([...document.querySelectorAll('main *')].filter(one => {
  const box = one.getBoundingClientRect();
  return box.width && box.right > innerWidth + 1 && !one.closest('.wide');
}).map(one => one.outerHTML.slice(0, 80)))"""
# What paper would cut off.
CUT_OFF = """[...document.querySelectorAll('main *')].filter(one => one.getBoundingClientRect().right > innerWidth + 1)
  .map(one => one.outerHTML.slice(0, 80))"""
# Tables with more beside them than a reader sees: of a phone's all that stack, of a small screen's that of the judges.
OUT_OF_SIGHT = """[...document.querySelectorAll('.wide')].filter(one => one.scrollWidth > one.clientWidth + 1
  && one.querySelector(innerWidth < 640 ? '.stack' : '.judges')).map(one => one.getAttribute('aria-label'))"""
PAPER = 703  # pixels of an A4 page within margins of 12 mm
# The verdict, then the first table of numbers, then what to do next.
ORDER = """(() => { const place = one => one ? one.getBoundingClientRect().top + scrollY : -1;
  return [document.querySelector('.verdict'), document.querySelector('table'),
    [...document.querySelectorAll('h2')].find(one => one.textContent === 'What to do next')].map(place); })()"""
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: pages are NOT checked in a browser"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index, a few questions and a judge that was compiled on a part of the labels."""
    folder = tmp_path_factory.mktemp("pages")
    rows = (SENSORS / "labels.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "labels.jsonl").write_text("".join(rows[:600]), encoding="utf-8")
    (folder / "datasheet.toml").write_bytes((SENSORS / "datasheet.toml").read_bytes())
    questions = (SENSORS / "queries.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "few.jsonl").write_text("".join(questions[-8:]), encoding="utf-8")
    judgec_here(folder, "index", SENSORS / "catalogue", "--out", "index")
    judgec_here(folder, "compile-judge", "labels.jsonl", "--name", "one")
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile"), (1400, 900)) as opened:
        yield opened


def judge(home: Path) -> Path:
    return home / "programs" / "one" / "0001" / "report.html"


def labels(home: Path) -> Path:
    judgec_here(home, "labels", "labels.jsonl", "--report", "labels.html")
    return home / "labels.html"


def query_set(home: Path) -> Path:
    asked = ("--index", SENSORS / "catalogue", "--passages", 6, "--out", "q.jsonl")
    judgec_here(home, "generate-queries", *asked, "--report", "queries.html")
    return home / "queries.html"


def comparison(home: Path) -> Path:
    if not (home / "programs" / "two").exists():
        judgec_here(home, "compile-judge", "labels.jsonl", "--name", "two", "--seed", "1")
    judgec_here(home, "compare", "one@latest", "two@latest", "--report", "compare.html")
    return home / "compare.html"


def tournament(home: Path) -> Path:
    asked = ("--agents", "rag-bm25,rag-knn", "--index", "index", "--out", "answers.jsonl")
    judgec_here(home, "answer", *asked, "--queries", "few.jsonl")
    given = ("--queries", "few.jsonl", "--answers", "answers.jsonl", "--judge", "one@latest")
    judgec_here(home, "evaluate", *given, "--unproven", "--out", "tournament")
    return home / "tournament" / "report.html"


def probe(home: Path) -> Path:
    systems = ("--system", "rag-bm25", "--system", "rag-knn")
    judgec_here(home, "probe", "--scenarios", "all", "--index", "index", "--n", 1, *systems, "--out", "probe")
    return home / "probe" / "report.html"


def agent(home: Path) -> Path:
    compiling = ("--queries", SENSORS / "queries.jsonl", "--judge", "one@latest", "--unproven")
    judgec_here(home, "compile-agent", "rag-bm25", "--index", "index", *compiling)
    return home / "programs" / "rag-bm25" / "0001" / "report.html"


def systems(home: Path) -> Path:
    write(home / "systems.jsonl", [{**row, "agent": f"system {row['agent']}, release of May"} for row in answers()])
    how = ("--annotators", "human", "--judges", "gpt", "--best", 1, "--accept-at", 1)
    judgec_here(home, "systems", "systems.jsonl", *how, "--report", "systems.html")
    return home / "systems.html"


def generator(home: Path) -> Path:
    experts = SENSORS / "expert_queries.csv"
    judgec_here(home, "compile-queries", "--index", "index", "--experts", experts, "--per-passage", 2)
    return home / "programs" / "queries" / "0001" / "report.html"


@pytest.mark.parametrize(
    "make",
    [judge, labels, query_set, comparison, tournament, probe, agent, generator, systems],
    ids=lambda make: make.__name__,
)
def test_page_says_verdict_table_and_next_step_fits_three_widths_and_is_worked_by_keyboard(
    home: Path, browser: Browser, make: Callable[[Path], Path]
) -> None:
    page = make(home)
    assert page.stat().st_size < MOST_BYTES
    browser.resize(WIDTHS[0], 900)
    browser.open(page.as_uri())
    browser.until(f"document.readyState === 'complete' && location.href.startsWith({json.dumps(page.as_uri())})")
    verdict, table, following = browser.run(ORDER)
    assert 0 < verdict < table < following
    assert verdict < 300  # on the first screen
    assert browser.run("document.querySelector('.verdict').textContent.trim().length") > 20
    browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    for width in WIDTHS:
        browser.resize(width, 900)
        for scheme in ("light", "dark"):
            browser.colours(scheme)
            assert browser.run("document.scrollingElement.scrollWidth <= document.documentElement.clientWidth"), (
                width,
                scheme,
            )
            assert browser.run(CLIPPED) == [], (width, scheme)
            assert browser.run(OUT_OF_SIGHT) == [], (width, scheme)
    shades = []
    for scheme in ("light", "dark"):
        browser.colours(scheme)
        shades.append(browser.run("getComputedStyle(document.body).backgroundColor"))
    assert shades[0] != shades[1]
    browser.resize(PAPER, 900)
    browser.print_media()
    assert browser.run(CUT_OFF) == []
    browser.print_media("screen")
    if browser.run("!!document.getElementById('items-data')"):
        filter_items(browser)


def filter_items(browser: Browser) -> None:
    """By group, by what is unscored, and all; searching, sorting and links: tests/compile/test_judge_page.py."""
    shown = f"[...{LINES}].map(one => decodeURIComponent(one.id).slice(5))"
    groups = browser.run(f"[...new Set(JSON.parse({ITEMS}).items.map(one => one.group).filter(Boolean))].sort()")
    chosen = [("show", "unscored", "one.unscored !== null"), ("show", "all", "true")]
    chosen += [("group", group, f"one.group === {json.dumps(group)}") for group in groups[:2] if len(groups) > 1]
    for name, value, kept in chosen:
        browser.run(
            f"{{ const s = document.querySelector('select[name={name}]'); s.value = {json.dumps(value)};"
            " s.dispatchEvent(new Event('change')) }"
        )
        wanted = browser.run(f"JSON.parse({ITEMS}).items.filter(one => {kept}).map(one => one.item_id)")
        assert browser.run(shown) == wanted[:100]
