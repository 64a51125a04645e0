"""The pictures of the documents: made of today's pages, in a real browser.

A picture carries the words of the page that it shows, and fails here when today's page says others.
``PICTURES=write pytest -m full tests/docs/test_pictures.py`` makes them again.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

import judgec
from tests.labels.review.browser import CHROMIUM, Browser
from tests.service.mlflow_server import mlflow_server, side_by_side
from tests.verbs.cli.warm import ROOT

IMAGES = ROOT / "docs" / "images"
OTHER = 0.03  # of the words at most are in one of the two alone
WORD = re.compile(r"\b[A-Za-z][a-z_.]{2,}\b")  # no ids, dates and figures, which each compile has of its own
METRICS = "[...document.querySelectorAll('.ReactVirtualized__Grid')]"  # MLflow draws only the rows in view

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(CHROMIUM is None, reason="NO CHROMIUM: the pictures of the documents were not looked at"),
]


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with Browser(tmp_path / "profile") as one:
        yield one


def hold(browser: Browser, name: str, tmp_path: Path) -> None:
    """The page says what it said when the picture of this name was made, or gives a new one."""
    kept, now = IMAGES / name, tmp_path / name
    words = sorted(set(WORD.findall(browser.run("document.body.innerText"))))
    browser.screenshot(now)
    with Image.open(now) as taken:
        assert len(set(taken.convert("L").getdata())) > 50, "an empty page"
        if os.environ.get("PICTURES") == "write":
            about = PngInfo()
            about.add_text("words", " ".join(words), zip=True)
            taken.save(kept, pnginfo=about, optimize=True)
    with Image.open(kept) as picture:
        other = set(str(picture.info["words"]).split()).symmetric_difference(words)
    assert len(other) <= OTHER * len(words), f"{name} shows another page; write it again: {sorted(other)}"


def test_picture_of_the_report_is_the_demonstrations(browser: Browser, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "cli.py"), "demo", "--home", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    page = tmp_path / "programs" / "hanna-demo-1" / "0001" / "report.html"
    browser.resize(1160, 1130)
    browser.open(page.as_uri())
    browser.until("document.readyState === 'complete' && document.querySelectorAll('td').length > 9")
    hold(browser, "report.png", tmp_path)


def test_picture_of_two_compiles_side_by_side(browser: Browser, tmp_path: Path) -> None:
    labels = ROOT / "trainsets" / "sensors" / "labels.jsonl"
    for objective in ("tau_b", "tau_b+kappa"):
        judgec.compile_judge(str(labels), name="sensors", objective=objective, home=tmp_path, progress=False)
    database = tmp_path / "mlruns" / "mlflow.db"
    with mlflow_server(f"sqlite:///{database}", tmp_path) as url:
        browser.resize(1300, 1960)
        browser.open(side_by_side(url, database))
        browser.until(f"{METRICS}.length > 1")
        browser.run("document.querySelectorAll('button[aria-label*=\"lose\"]').forEach(one => one.click())")
        browser.until("document.body.innerText.includes('sensors 0002') && !!document.querySelector('.main-svg')")
        for above in (2, 1, 0):  # names follow the values by one turn of the wheel
            browser.run(f"{METRICS}.forEach(one => one.scrollTop = one.scrollHeight - one.clientHeight - {above})")
            time.sleep(1)  # MLflow draws what came into view
        browser.until("['test.objective', 'test.tau_b'].every(one => document.body.innerText.includes(one))")
        hold(browser, "mlflow-compare.png", tmp_path)
