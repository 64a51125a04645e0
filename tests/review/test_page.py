"""The page in a real browser, by keyboard alone."""

import json
from pathlib import Path

import pytest

from judgec.review.desk import Desk
from judgec.review.server import serving
from judgec.store.review.sheet import open_sheet
from tests.review.browser import CHROMIUM, Browser

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
ROWS = [
    {"item_id": f"i{n}", "query": f"Q{n} {HOSTILE}", "answer": HOSTILE, "contexts": [HOSTILE, ""]} for n in range(3)
]


@pytest.mark.full
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: the page is NOT checked in a browser")
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
            browser.press(key)
            browser.until(f"document.getElementById('done').textContent === '{number + 1} of 3 graded'")
            if number == 1:
                browser.press("r")
                browser.type("4 is too much <b>")
                browser.press("Escape")
            browser.press("Enter")
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
