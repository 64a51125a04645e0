"""Every page that a command writes, in a real browser: width, order, drawings, the items by keyboard, and grading."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.labels.review.browser import CHROMIUM, Browser
from tests.service.mlflow_server import mlflow_server, side_by_side
from tests.verbs.cli.process import ROOT, judgec_here
from tests.verbs.cli.test_conversations import dialogues, write

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
TO_THE_END = """[...document.querySelectorAll('*')].filter(one => one.scrollHeight > one.clientHeight + 20)
  .forEach(one => { one.scrollTop = one.scrollHeight })"""  # tables draw the rows in view alone
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


@pytest.mark.parametrize(
    "make", [judge, labels, query_set, comparison, tournament, probe, agent], ids=lambda make: make.__name__
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
        work_through(browser)


def work_through(browser: Browser) -> None:
    """Searches, filters, sorts and follows a link, by keys and by choosing."""
    held = browser.run(f"JSON.parse({ITEMS}).items.map(one => one.item_id)")
    shown = f"[...{LINES}].map(one => decodeURIComponent(one.id).slice(5))"
    assert browser.run(shown) == held[:100]

    def choose(name: str, value: str) -> None:
        select = f"document.querySelector('select[name={name}]')"
        browser.run(f"{{ const s = {select}; s.value = '{value}'; s.dispatchEvent(new Event('change')) }}")

    choose("sort", "name")
    ordered = "((a, b) => a.localeCompare(b, undefined, {numeric: true}))"
    assert browser.run(f"JSON.stringify({shown}) === JSON.stringify({shown}.sort({ordered}))")
    choose("sort", "first")
    choose("show", "unscored")
    unscored = f"JSON.parse({ITEMS}).items.filter(one => one.unscored !== null).map(one => one.item_id)"
    assert browser.run(shown) == browser.run(unscored)[:100]
    choose("show", "differ")
    differing = browser.run(shown)
    assert set(differing) <= set(held)
    judged = f"JSON.parse({ITEMS}).items.filter(one => one.expert && !one.sides)"
    apart = "one => one.judge.grade !== null && one.expert.grade !== null && one.judge.grade !== one.expert.grade"
    if browser.run(f"{judged}.length") == len(held) and browser.run(f"{judged}.every(one => 'grade' in one.expert)"):
        assert 0 < len(differing) < len(held)
        assert differing == browser.run(f"{judged}.filter({apart}).map(one => one.item_id)")[:100]
    choose("show", "all")
    groups = browser.run(f"[...new Set(JSON.parse({ITEMS}).items.map(one => one.group).filter(Boolean))].sort()")
    for group in groups[:2] if len(groups) > 1 else []:
        choose("group", group)
        of_group = f"JSON.parse({ITEMS}).items.filter(one => one.group === {json.dumps(group)}).map(one => one.item_id)"
        assert browser.run(shown) == browser.run(of_group)[:100]
        choose("group", "")
    assert browser.run(shown) == held[:100]
    browser.run("document.activeElement.blur()")
    browser.press("/")
    assert browser.run("document.activeElement.type") == "search"
    word = browser.run(f"JSON.parse({ITEMS}).items[0].item_id")
    browser.type(word)
    found = browser.run(shown)
    assert word in found
    assert len(found) < max(len(held), 2)
    browser.press("Enter")
    assert browser.run("document.activeElement.tagName") == "SUMMARY"
    browser.run(f"document.querySelectorAll('#items-browser details')[{found.index(word)}].open = true")
    link = f"document.getElementById('item-' + encodeURIComponent({json.dumps(word)})).querySelector('.in a')"
    browser.until(f"!!{link}")
    browser.run(f"{link}.click()")
    assert browser.run("decodeURIComponent(location.hash)") == f"#item-{word}"


def test_mlflow_has_two_judges_side_by_side_with_their_elo_and_one_as_a_model(home: Path, browser: Browser) -> None:
    for name in ("first", "second"):
        judgec_here(home, "compile-judge", "labels.jsonl", "--name", name)
    asked = ("--agents", "rag-bm25,rag-knn", "--index", "index", "--out", "answers.jsonl")
    judgec_here(home, "answer", *asked, "--queries", "few.jsonl")
    given = ("--queries", "few.jsonl", "--answers", "answers.jsonl", "--judge", "first@latest")
    judgec_here(home, "evaluate", *given, "--unproven", "--out", "league")
    database = home / "mlruns" / "mlflow.db"
    browser.resize(1400, 4000)  # the page draws only the rows that are in view
    with mlflow_server(f"sqlite:///{database}", home) as url:
        browser.open(side_by_side(url, database))
        browser.until("['elo.rag-bm25', 'rating.rag-knn'].every(one => document.body?.innerText.includes(one))")
        text = browser.run("document.body.innerText")
        browser.until(f"({TO_THE_END}, ['test.tau_b', 'test.qwk'].every(one => document.body.innerText.includes(one)))")
        text += browser.run("document.body.innerText")
        for said in ("first 0001", "second 0001", "elo.rag-bm25", "rating.rag-knn", "test.accept_agreement"):
            assert said in text
        assert "undefined" not in text
        browser.open(f"{url}/#/models/first")
        browser.until("document.body?.innerText.includes('Version 1')")
    code = (
        "import mlflow, pandas; mlflow.set_tracking_uri('sqlite:///mlruns/mlflow.db')\n"
        "rows = pandas.DataFrame({'query': ['How wide?'], 'answer': ['5 m'], 'reference': ['5 m']})\n"
        "print(mlflow.pyfunc.load_model('models:/first/1').predict(rows).grade.item())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=home, capture_output=True, text=True, check=True)
    assert done.stdout.strip() in {"1", "2", "3", "4", "5"}


def test_turns_of_a_conversation_stand_below_each_other_with_who_spoke(tmp_path: Path, browser: Browser) -> None:
    write(tmp_path / "chats.jsonl", dialogues(80))
    judgec_here(tmp_path, "compile-judge", "chats.jsonl", "--name", "chats")
    page = tmp_path / "programs" / "chats" / "0001" / "report.html"
    browser.open(page.as_uri())
    browser.until(f"document.readyState === 'complete' && location.href.startsWith({json.dumps(page.as_uri())})")
    browser.run(f"{LINES}[0].open = true")
    turns = f"[...{LINES}[0].querySelectorAll('.turn')]"
    browser.until(f"{turns}.length === 2")
    assert browser.run(f"{turns}.map(one => one.querySelector('b').textContent)") == ["user", "assistant"]
    assert browser.run(f"{turns}[0].textContent").startswith("userOrder ")
    tops = browser.run(f"{turns}.map(one => one.getBoundingClientRect().top)")
    assert tops[0] < tops[1]


def test_ten_items_are_graded_by_keyboard_and_stand_on_disk(tmp_path: Path, browser: Browser) -> None:
    path = tmp_path / "items.jsonl"
    rows = map(json.loads, (SENSORS / "labels.jsonl").read_text(encoding="utf-8").splitlines())
    items = list({row["item_id"]: row for row in rows}.values())[:12]
    blank = [{name: row[name] for name in ("item_id", "query", "answer")} for row in items]
    path.write_text("".join(json.dumps(row) + "\n" for row in blank), encoding="utf-8")
    command = [sys.executable, str(ROOT / "cli.py"), "labels", "review", path.name, "--json"]
    with subprocess.Popen(
        [*command, "--annotators", "ann,bob"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stderr is not None
        url = next(found[1] for line in process.stderr if (found := re.search(r"open (http\S+)", line)))
        browser.open(url)
        browser.until("document.activeElement?.textContent === 'ann'")
        browser.press("Enter")  # chosen from the known names
        keys = "5142315421"
        for number, key in enumerate(keys):
            browser.until(f"document.getElementById('place').textContent === 'item {number + 1} of 12'")
            if number == 3:
                browser.press("r")
                browser.type("not what was asked")
                browser.press("Escape")
            browser.press(key)
        browser.until("document.getElementById('done').textContent === '10 of 12 graded'")
        browser.press("u")
        browser.until("document.getElementById('done').textContent === '9 of 12 graded'")
        browser.until("document.getElementById('place').textContent === 'item 10 of 12'")
        browser.press("3")
        browser.until("document.getElementById('done').textContent === '10 of 12 graded'")
        browser.until("unsaved.size === 0 && waiting === 0")
        browser.open("about:blank")
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert json.loads(process.stdout.read())["graded"] == {"ann": 10}
        assert process.wait(60) == 0
    graded = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row.get("grade") for row in graded] == [*map(int, keys[:9]), 3, None, None]
    assert graded[3]["rationale"] == "not what was asked"
    assert {row.get("annotator") for row in graded[:10]} == {"ann"}
