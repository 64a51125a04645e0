"""The newest page of a name is found, and who has none is told what there is."""

import os
from pathlib import Path

import pytest

from judgec.errors import UserError
from judgec.report.pages import known_pages, newest_page
from tests.verbs.cli.process import judgec


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A judge of three versions, of which the newest has no page, and a tournament."""
    for folder in ("programs/j/0001", "programs/j/0002", "programs/j/0003", "programs/bare/0001", "cup"):
        (tmp_path / folder).mkdir(parents=True)
    for place, folder in enumerate(("programs/j/0001", "programs/j/0002", "cup")):
        page = tmp_path / folder / "report.html"
        page.write_text("page", encoding="utf-8")
        os.utime(page, (1000 + place, 1000 + place))
    return tmp_path


def test_newest_page_is_that_of_the_newest_version_that_has_one_or_of_the_folder(home: Path) -> None:
    assert newest_page(home, "j") == home / "programs/j/0002/report.html"
    assert newest_page(home, "cup") == home / "cup/report.html"
    assert newest_page(home, str(home / "cup")) == home / "cup/report.html"


@pytest.mark.parametrize("name", ["other", "bare", "", "../cup/none"])
def test_a_name_without_a_page_is_an_error_with_the_known_names(home: Path, name: str) -> None:
    assert known_pages(home) == ("j", "cup")
    with pytest.raises(UserError, match=r"there are j, cup\. Name one of these\."):
        newest_page(home, name)


def test_an_empty_home_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is none yet"):
        newest_page(tmp_path, "j")


def test_open_prints_the_path_alone_and_opens_nothing_over_ssh(home: Path) -> None:
    path = f"{home.resolve() / 'programs/j/0002/report.html'}\n"
    assert judgec(home, "open", "j", "--print").stdout == path
    told = judgec(home, "open", "j", SSH_CONNECTION="1 2 3 4", BROWSER="touch opened %s")
    assert told.stdout == path
    assert not (home / "opened").exists()
    assert judgec(home, "open", "cap", code=2).stderr.strip().endswith("Name one of these.")


def test_open_hands_the_page_to_the_browser(home: Path) -> None:
    kept = home / "seen"
    browser = home / "browser.sh"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {kept}\n', encoding="utf-8")
    browser.chmod(0o755)
    judgec(home, "open", "cup", BROWSER=f"{browser} %s", SSH_CONNECTION="")
    assert kept.read_text(encoding="utf-8") == (home / "cup/report.html").resolve().as_uri()
