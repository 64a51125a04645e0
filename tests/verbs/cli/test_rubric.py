"""Runs ``judgec rubric`` as a user does."""

import json
import tomllib
from pathlib import Path

import pytest

from judgec.raters.registry import judge_module
from tests.verbs.cli.judging import FIELDS, SCALE, save_judge
from tests.verbs.cli.process import judgec_here

OWN, _, MEANINGS = judge_module("grade", SCALE, ("grade",), FIELDS).signature.instructions.rpartition("\n\nGrades")
FOUND = "Name the source.", 'Quote "\\d" as it is.', "Be brief."
COMPILED = "\n".join([OWN, *FOUND])


def mined(home: Path) -> None:
    save_judge(home, instructions=f"{COMPILED}\n\nGrades{MEANINGS}")
    (home / "labels.jsonl").write_text("{}\n")


def told(home: Path) -> str:
    return str(tomllib.loads((home / "labels.datasheet.toml").read_text())["judge"]["instructions"])


def test_lines_that_the_prompt_adds_are_shown_and_nothing_is_written(tmp_path: Path) -> None:
    mined(tmp_path)
    report = json.loads(judgec_here(tmp_path, "rubric", "mine", "--json").stdout)
    assert (report["added"], report["dropped"], report["accepted"]) == ([*FOUND], [], [])
    judgec_here(tmp_path, "rubric", "mine", "--labels", "labels.jsonl")
    assert not (tmp_path / "labels.datasheet.toml").exists()


def test_accepted_and_edited_lines_join_the_datasheet_and_refused_ones_stay_out(tmp_path: Path) -> None:
    mined(tmp_path)
    (tmp_path / "labels.datasheet.toml").write_text('task = "grade"\n\n[source]\nby = "us"\n')
    where = ("rubric", "mine", "--labels", "labels.jsonl")
    report = json.loads(judgec_here(tmp_path, *where, "--accept", "2", "--edit", "3=Stay short.", "--json").stdout)
    assert report["accepted"] == [FOUND[1], "Stay short."]
    assert told(tmp_path) == "\n".join([OWN, FOUND[1], "Stay short."])
    read = tomllib.loads((tmp_path / "labels.datasheet.toml").read_text())
    assert (read["task"], read["source"]) == ("grade", {"by": "us"})
    report = json.loads(judgec_here(tmp_path, *where, "--json").stdout)
    assert report["added"] == [FOUND[0], FOUND[2]]
    assert report["dropped"] == ["Stay short."]
    judgec_here(tmp_path, *where, "--accept", "all")
    assert told(tmp_path) == COMPILED


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--accept", "4"), "1 to 3"),
        (("--edit", "2"), "N=TEXT"),
        (("--accept", "1"), "Name it with --labels"),
        (("--labels", "gone.jsonl"), "no such file"),
    ],
)
def test_what_cannot_be_taken_over_is_said(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    mined(tmp_path)
    with pytest.raises(AssertionError, match=said):
        judgec_here(tmp_path, "rubric", "mine", *arguments)
    assert not (tmp_path / "labels.datasheet.toml").exists()


def test_a_judgment_table_that_cannot_be_replaced_is_left(tmp_path: Path) -> None:
    mined(tmp_path)
    sheet = tmp_path / "labels.datasheet.toml"
    sheet.write_text('judge = {instructions = "Mine."}\n')
    with pytest.raises(AssertionError, match="cannot be replaced"):
        judgec_here(tmp_path, "rubric", "mine", "--labels", "labels.jsonl", "--accept", "1")
    assert sheet.read_text() == 'judge = {instructions = "Mine."}\n'
