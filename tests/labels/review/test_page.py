"""The page in a real browser, by keyboard alone."""

import json
from pathlib import Path

import pytest

from judgec.labels.review.desk import Desk
from judgec.labels.review.server import serving
from judgec.labels.review.sheet import open_sheet
from tests.labels.review.browser import CHROMIUM, Browser

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
ROWS = [
    {"item_id": f"i{n}", "query": f"Q{n} {HOSTILE}", "answer": HOSTILE, "contexts": [HOSTILE, ""]} for n in range(3)
]


IN_A_BROWSER = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: the page is NOT checked in a browser")
SLOW_ITEMS = """(() => { const real = window.fetch; window.fetch = async (path, options) => {
  if (path.startsWith('/api/item')) await new Promise(done => setTimeout(done, 400));
  return real(path, options); }; })()"""
BROKEN = """(() => { window.real = window.fetch; window.fetch = async (path, options) => path === '/api/label'
  ? new Response('{"error": "the disk is full"}', {status: 500}) : window.real(path, options); })()"""


def begun(browser: Browser, url: str, name: str = "ann") -> None:
    browser.open(url)
    browser.until("document.activeElement && document.activeElement.id === 'name'")
    browser.type(name)
    browser.press("Enter")
    browser.until("document.getElementById('place').textContent.startsWith('item ')")


def sheet(folder: Path) -> Path:
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def said(path: Path) -> list[tuple[object, object]]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [(row.get("annotator"), row.get("grade")) for row in rows]


@pytest.mark.full
@IN_A_BROWSER
def test_grade_that_is_typed_before_its_item_is_there_goes_to_that_item(tmp_path: Path) -> None:
    path = sheet(tmp_path)
    with serving(Desk(open_sheet(str(path))[0])) as server, Browser(tmp_path / "profile") as browser:
        begun(browser, server.url)
        browser.run(SLOW_ITEMS)
        for key in ("4", "1", "Enter", "3"):  # faster than items come; Enter leaves no item without a grade
            browser.press(key)
        browser.until("document.getElementById('done').textContent === '3 of 3 graded'")
        browser.until("document.getElementById('saved').textContent === 'saved'")
    assert said(path) == [("ann", 4), ("ann", 1), ("ann", 3)]


@pytest.mark.full
@IN_A_BROWSER
def test_grade_that_could_not_be_saved_is_named_until_it_is_and_saved_with_the_next_one(tmp_path: Path) -> None:
    path = sheet(tmp_path)
    with serving(Desk(open_sheet(str(path))[0])) as server, Browser(tmp_path / "profile") as browser:
        begun(browser, server.url)
        browser.run(BROKEN)
        browser.press("4")
        browser.until("document.getElementById('fault').textContent === 'Not saved: item 1: the disk is full'")
        browser.until("document.getElementById('place').textContent === 'item 2 of 3'")
        assert browser.run("document.getElementById('fault').textContent").startswith("Not saved: item 1")
        assert said(path)[0] == (None, None)
        browser.run("window.fetch = window.real")
        browser.press("2")
        browser.until("document.getElementById('saved').textContent === 'saved'")
        assert browser.run("document.getElementById('fault').textContent") == ""
    assert said(path) == [("ann", 4), ("ann", 2), (None, None)]


@pytest.mark.full
@IN_A_BROWSER
def test_two_experts_at_once_each_find_their_own_grades(tmp_path: Path) -> None:
    path = sheet(tmp_path)
    with (
        serving(Desk(open_sheet(str(path))[0])) as server,
        Browser(tmp_path / "one") as ann,
        Browser(tmp_path / "other") as bob,
    ):
        begun(ann, server.url)
        begun(bob, server.url, "bob")
        for number in range(3):
            for browser, key in ((ann, "4"), (bob, "2")):
                browser.until(f"document.getElementById('place').textContent === 'item {number + 1} of 3'")
                browser.press(key)
        for browser in (ann, bob):
            browser.until("document.getElementById('done').textContent === '3 of 3 graded'")
            browser.until("unsaved.size === 0 && waiting === 0")
        bob.open(server.url)  # a page that is loaded again knows him and his grades
        bob.until("document.getElementById('done')?.textContent === '3 of 3 graded'")
        bob.until("document.querySelector('input:checked ~ b')?.textContent === '2'")
    assert sorted(said(path), key=str) == [("ann", 4)] * 3 + [("bob", 2)] * 3


@pytest.mark.full
@IN_A_BROWSER
def test_expert_grades_every_item_by_keyboard_and_nothing_in_the_texts_runs(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    with serving(Desk(open_sheet(str(path))[0])) as server, Browser(tmp_path / "profile") as browser:
        browser.open(server.url)
        browser.until("document.activeElement && document.activeElement.id === 'name'")
        browser.type("ann")
        browser.press("Enter")
        browser.until("document.getElementById('place').textContent === 'item 1 of 3'")
        assert browser.run("document.querySelectorAll('#item img, #item script').length") == 0
        for number, key in enumerate("413"):
            browser.until(f"document.getElementById('place').textContent === 'item {number + 1} of 3'")
            if number == 1:
                browser.press("r")
                browser.type("4 is too much <b>")
                browser.press("Escape")
            browser.press(key)  # and the next item comes
            browser.until(f"document.getElementById('done').textContent === '{number + 1} of 3 graded'")
        browser.until("document.getElementById('saved').textContent === 'all items are graded'")
        browser.press("p")
        browser.until("document.getElementById('place').textContent === 'item 2 of 3'")
        assert browser.run("document.getElementById('why').value") == "4 is too much <b>"
        browser.press("x")
        browser.until("document.getElementById('done').textContent === '2 of 3 graded'")
        browser.until("document.getElementById('saved').textContent === 'saved'")
        assert browser.run("document.title") == "items.jsonl: grade"
        assert browser.run("document.getElementById('fault').textContent") == ""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row.get("annotator"), row.get("grade")) for row in rows] == [("ann", 4), (None, None), ("ann", 3)]


@pytest.mark.full
@IN_A_BROWSER
def test_u_takes_the_last_grade_back_and_known_names_are_chosen(tmp_path: Path) -> None:
    path = sheet(tmp_path)
    with serving(Desk(open_sheet(str(path))[0], ("ann", "bob"))) as server, Browser(tmp_path / "profile") as browser:
        browser.open(server.url)
        browser.until("document.activeElement?.textContent === 'ann'")
        assert browser.run("getComputedStyle(document.getElementById('other')).display") == "none"
        browser.run("[...document.querySelectorAll('#known button')].find(one => one.textContent === 'bob').click()")
        browser.until("document.getElementById('place').textContent === 'item 1 of 3'")
        browser.press("4")
        browser.until("document.getElementById('place').textContent === 'item 2 of 3'")
        browser.press("2")
        browser.until("document.getElementById('place').textContent === 'item 3 of 3'")
        browser.press("u")
        browser.until("document.getElementById('place').textContent === 'item 2 of 3'")
        browser.until("document.getElementById('done').textContent === '1 of 3 graded'")
        browser.press("5")
        browser.until("document.getElementById('place').textContent === 'item 3 of 3'")
        browser.until("unsaved.size === 0 && waiting === 0")
    assert said(path) == [("bob", 4), ("bob", 5), (None, None)]


@pytest.mark.full
@IN_A_BROWSER
def test_what_the_server_did_not_hear_is_sent_when_the_page_is_opened_again(tmp_path: Path) -> None:
    path = sheet(tmp_path)
    with serving(Desk(open_sheet(str(path))[0])) as server, Browser(tmp_path / "profile") as browser:
        begun(browser, server.url)
        browser.run(BROKEN)
        browser.press("4")
        browser.until("document.getElementById('fault').textContent.startsWith('Not saved: item 1')")
        assert said(path)[0] == (None, None)
        browser.open(server.url)  # the tab was closed; the page knows who works in it
        browser.until("document.getElementById('place')?.textContent === 'item 2 of 3'")
        browser.until("unsaved.size === 0 && waiting === 0")
        assert said(path)[0] == ("ann", 4)
        browser.press("r")
        browser.type("no grade yet")
        browser.open(server.url)
        browser.until("document.getElementById('why')?.value === 'no grade yet'")
    assert said(path) == [("ann", 4), (None, None), (None, None)]


def test_a_file_has_a_port_of_its_own_because_browsers_keep_drafts_by_port(tmp_path: Path) -> None:
    desk = Desk(open_sheet(str(sheet(tmp_path)))[0])
    with serving(desk) as server:
        first = server.server_port
        with serving(desk) as other:  # taken: any other
            assert other.server_port != first
    with serving(desk) as server:
        assert server.server_port == first
