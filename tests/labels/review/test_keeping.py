"""Nothing that an expert typed is lost: two tabs, an old tab that comes back, files of one name, second thoughts."""

import json
from pathlib import Path

import pytest

from judgec.labels.review.desk import Desk
from judgec.labels.review.server import ReviewServer, serving
from judgec.labels.review.sheet import Given, open_sheet
from tests.labels.review.browser import Browser
from tests.labels.review.test_page import BROKEN, IN_A_BROWSER, begun, said, sheet

DONE = "unsaved.size === 0 && waiting === 0"
BUTTONS = "[...document.querySelectorAll('#clash button')]"
pytestmark = [pytest.mark.full, IN_A_BROWSER]


def desk(path: Path) -> Desk:
    return Desk(open_sheet(str(path))[0])


def reasons(path: Path) -> list[object]:
    return [json.loads(line).get("rationale") for line in path.read_text().splitlines()]


def fails_at_item_1(browser: Browser, server: ReviewServer, key: str = "4", reason: str = "") -> None:
    """Grades the first item while the server cannot save."""
    begun(browser, server.url)
    browser.run(BROKEN)
    if reason:
        browser.press("r")
        browser.type(reason)
        browser.press("Escape")
    browser.press(key)
    browser.until("document.getElementById('fault').textContent.startsWith('Not saved: item 1')")


def test_grade_that_waits_in_one_tab_survives_what_another_tab_saves(tmp_path: Path) -> None:
    path = sheet(tmp_path)
    with serving(desk(path)) as server, Browser(tmp_path / "profile") as browser:
        first = browser.tab()
        second = browser.tab()
        begun(browser, server.url)  # before the first tab has anything to keep
        browser.to(first)
        fails_at_item_1(browser, server)
        browser.to(second)
        browser.press("n")
        browser.until("document.getElementById('place').textContent === 'item 2 of 3'")
        browser.press("2")
        browser.until("document.getElementById('done').textContent === '1 of 3 graded'")
        browser.until(DONE)
        browser.to(first)
        browser.crash()
        assert said(path) == [(None, None), ("ann", 2), (None, None)]
        browser.to(second)
        browser.open(server.url)
        browser.until("document.getElementById('done')?.textContent === '2 of 3 graded'")
        browser.until(DONE)
    assert said(path) == [("ann", 4), ("ann", 2), (None, None)]


@pytest.mark.parametrize("mine", [False, True], ids=["the file's is kept", "mine is used"])
def test_older_grade_that_comes_back_asks_before_it_replaces_a_newer_one(tmp_path: Path, mine: bool) -> None:
    path = sheet(tmp_path)
    with serving(desk(path)) as server, Browser(tmp_path / "profile") as browser:
        fails_at_item_1(browser, server, reason="my reason")
        open_sheet(str(path))[0].save("i0", "ann", Given({"grade": 1}, "said elsewhere"))  # grade 2, later
        browser.open(server.url)
        browser.until("document.getElementById('fault')?.textContent.toLowerCase().includes('item 1')")
        browser.until("document.getElementById('place').textContent === 'item 2 of 3'")
        assert said(path)[0] == ("ann", 2)
        assert reasons(path)[0] == "said elsewhere"
        browser.press("p")
        browser.until(f"document.getElementById('clash').innerText.includes('my reason') && {BUTTONS}.length === 2")
        assert browser.run("document.getElementById('why').value") == "said elsewhere"
        browser.run(f"{BUTTONS}[{int(not mine)}].click()")
        browser.until(f"{DONE} && document.getElementById('clash').hidden")
        assert browser.run("localStorage.length") == 0
        assert browser.run("document.getElementById('fault').textContent") == ""
    assert said(path)[0] == ("ann", 4 if mine else 2)
    assert reasons(path)[0] == ("my reason" if mine else "said elsewhere")


def test_tab_that_has_not_seen_what_another_said_of_the_item_does_not_replace_it(tmp_path: Path) -> None:
    path = sheet(tmp_path)
    with serving(desk(path)) as server, Browser(tmp_path / "profile") as browser:
        begun(browser, server.url)
        open_sheet(str(path))[0].save("i0", "ann", Given({"grade": 3}, "long thought"))
        browser.press("2")
        browser.until(
            f"{BUTTONS}.length === 2 || document.getElementById('fault').textContent.toLowerCase().includes('item 1')"
        )
        assert (said(path)[0], reasons(path)[0]) == (("ann", 4), "long thought")


def test_two_files_of_one_name_on_one_port_share_nothing(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "other"]
    paths = []
    for folder in folders:
        folder.mkdir()
        paths.append(sheet(folder))
    with serving(desk(paths[0])) as server, Browser(tmp_path / "profile") as browser:
        fails_at_item_1(browser, server, reason="of the first file")
        server.desk = desk(paths[1])
        begun(browser, server.url)  # asks for a name: the one of the first file is not taken for granted
        browser.until(DONE)
        assert browser.run("document.getElementById('place').textContent") == "item 1 of 3"
        assert browser.run("document.getElementById('why').value") == ""
        assert said(paths[1]) == [(None, None)] * 3
        server.desk = desk(paths[0])
        browser.open(server.url)
        browser.until(f"document.getElementById('done')?.textContent === '1 of 3 graded' && {DONE}")
    assert said(paths[0])[0] == ("ann", 4)
    assert reasons(paths[0])[0] == "of the first file"


@pytest.mark.parametrize("key", ["u", "x"])
def test_grade_that_is_taken_back_leaves_the_reason_that_was_typed(tmp_path: Path, key: str) -> None:
    path = sheet(tmp_path)
    with serving(desk(path)) as server, Browser(tmp_path / "profile") as browser:
        begun(browser, server.url)
        browser.press("4")
        browser.until("document.getElementById('place').textContent === 'item 2 of 3'")
        browser.press("p")
        browser.until("document.getElementById('place').textContent === 'item 1 of 3'")
        browser.press("r")
        browser.type("a thought")
        browser.press("Escape")
        browser.until(DONE)
        browser.press(key)
        browser.until(f"document.getElementById('done').textContent === '0 of 3 graded' && {DONE}")
        assert browser.run("document.getElementById('why').value") == "a thought"
        browser.open(server.url)
        browser.until("document.getElementById('why')?.value === 'a thought'")
        browser.press("5")
        browser.until(f"document.getElementById('done').textContent === '1 of 3 graded' && {DONE}")
        assert browser.run("localStorage.length") == 0
    assert (said(path)[0], reasons(path)[0]) == (("ann", 5), "a thought")


def test_grades_given_before_a_reload_are_taken_back_one_by_one(tmp_path: Path) -> None:
    path = sheet(tmp_path)
    with serving(desk(path)) as server, Browser(tmp_path / "profile") as browser:
        begun(browser, server.url)
        for number, key in enumerate("42"):
            browser.until(f"document.getElementById('place').textContent === 'item {number + 1} of 3'")
            browser.press(key)
        browser.until(DONE)
        browser.open(server.url)
        for left in (1, 0):
            browser.until("!!document.getElementById('place')?.textContent && !loading")
            browser.press("u")
            browser.until(f"document.getElementById('done').textContent === '{left} of 3 graded' && {DONE}")
            assert [grade for _, grade in said(path)] == [4, None, None][:left] + [None] * (3 - left)
        browser.press("u")
        browser.until("document.getElementById('saved').textContent === 'nothing to take back'")
    assert [grade for _, grade in said(path)] == [None, None, None]
