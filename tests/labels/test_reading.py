import re
from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.labels.labels import read_label_file
from judgec.labels.reading import read_datasheet
from judgec.labels.review.sheet import open_sheet
from judgec.records.scale import Scale

SHEET = """task = "relevance"
[scale]
name = "fit"
grades = [0, 1, 2]
meanings = ["no", "some", "full"]
accept_at = 1
[source]
labels = "constructed"
year = 2024
"""


def sheet_for(folder: Path, content: str, name: str = "t.datasheet.toml") -> str:
    (folder / name).write_text(content)
    return str(folder / "t.csv")


def test_datasheet_beside_the_file_gives_task_scale_and_source(tmp_path: Path) -> None:
    sheet = read_datasheet(sheet_for(tmp_path, SHEET))
    assert sheet.scale == Scale(name="fit", grades=(0, 1, 2), accept_at=1, meanings=("no", "some", "full"))
    source = {"labels": "constructed", "year": "2024"}
    assert (sheet.task, sheet.source, sheet.notes) == ("relevance", source, ())
    (note,) = read_datasheet(sheet_for(tmp_path, 'licence = "MIT"\n')).notes
    assert "licence" in note


def test_own_datasheet_beats_the_folder_one(tmp_path: Path) -> None:
    sheet = read_datasheet(str(tmp_path / "t.csv"))
    assert (sheet.task, sheet.scale, sheet.path, read_datasheet("hf:a/b@train").path) == (None, None, "", "")
    sheet_for(tmp_path, 'task = "answer"', "datasheet.toml")
    assert read_datasheet(str(tmp_path / "t.csv")).task == "answer"
    assert read_datasheet(str(tmp_path)).task == "answer"
    assert read_datasheet(sheet_for(tmp_path, 'task = "grade"')).task == "grade"


@pytest.mark.parametrize(
    ("content", "line", "seen"),
    [
        ('task = "grade"\n[scale\n', 2, "not TOML"),
        ('task = "grades"\n', 1, "task is 'grades'; trajectory_modes, trajectory, preference"),
        ('\n[scale]\nname = "x"\n', 2, "grades: Field required"),
        ("[scale]\ngrades = [1]\n", 1, "at least two distinct grades"),
        ("[scale]\ngrades = [2, 1]\n", 1, "not in rising order"),
        ("[scale]\ngrades = [1, 2]\n\naccept_at = 7\n", 1, "accept_at 7 is not a grade; the grades are 1, 2"),
        ('[scale]\ngrades = [1, 2]\nmeanings = ["one"]\n', 1, "1 meanings for 2 grades"),
        ('[scale]\ngrades = [1, 2]\nlevel = "ratio"\n', 3, "level"),
        ("[scale]\ngrades = [1, 2]\naccept-at = 2\n", 3, "[scale] has no 'accept-at'; valid are name, level"),
        ("scale = 5\n", 1, "a table [scale]"),
        ('source = "me"\n', 1, "a table [source]"),
    ],
)
def test_faulty_datasheet_is_refused_with_its_line(tmp_path: Path, content: str, line: int, seen: str) -> None:
    with pytest.raises(InputError) as caught:
        read_datasheet(sheet_for(tmp_path, content))
    (fault,) = [fault for fault in caught.value.faults if seen in fault]
    assert f"t.datasheet.toml:{line}:" in fault


def test_datasheet_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.datasheet.toml").write_bytes(b'task = "grade"\n# caf\xe9\n')
    with pytest.raises(InputError, match=r"t.datasheet.toml:2: not UTF-8"):
        read_datasheet(str(tmp_path / "t.csv"))


ASPECTS = """[aspects.Tone]
asks = "would a customer feel welcome"
meanings = ["rude", "neutral", "warm"]
"""


@pytest.fixture
def two_aspects(tmp_path: Path) -> str:
    file = tmp_path / "t.csv"
    file.write_text("query,answer,grade.tone,grade.accuracy\nq1,a,0,2\nq2,b,2,1\nq3,c,1,0\n")
    return str(file)


def test_described_aspects_go_to_judges_and_to_people_and_into_the_sheet_they_leave(
    tmp_path: Path, two_aspects: str
) -> None:
    sheet_for(tmp_path, ASPECTS)
    scale = read_label_file(two_aspects).labels.scale
    assert scale.grades == (0, 1, 2)  # which nobody declared
    assert scale.aspect("tone").meanings == ("rude", "neutral", "warm")
    assert scale.aspect("accuracy").meanings == ()
    sheet, _ = open_sheet(two_aspects)
    assert sheet.form.scale.aspect("tone").asks == "would a customer feel welcome"
    assert read_datasheet(str(sheet.path)).aspects["Tone"].meanings == ("rude", "neutral", "warm")


def test_an_aspect_that_no_column_has_is_named(tmp_path: Path, two_aspects: str) -> None:
    sheet_for(tmp_path, ASPECTS.replace("Tone", "tome"))
    notes = read_label_file(two_aspects).labels.notes
    assert any("tome; " in note and "tone, accuracy" in note for note in notes), notes


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        ('[aspects.tone]\nmeanings = ["rude", "warm"]\n', "aspects.tone: 2 meanings for the 3 grades"),
        ('[aspects.tone]\nmeaning = ["rude"]\n', ":1: [aspects.tone] 'meaning'; a table [aspects.NAME]"),
        ('aspects = ["tone"]\n', ":1: aspects is ['tone']; a table [aspects.NAME]"),
        ('[aspects]\ntone = "kind"\n', "[aspects.tone] 'kind'; a table [aspects.NAME]"),
    ],
)
def test_faulty_aspects_are_refused(tmp_path: Path, two_aspects: str, content: str, seen: str) -> None:
    sheet_for(tmp_path, content)
    with pytest.raises(InputError, match=re.escape(seen)):
        read_label_file(two_aspects)
