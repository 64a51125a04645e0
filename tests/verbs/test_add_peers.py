"""``labels --peers``: the same rows with what other systems answered, and what is refused."""

import json
from pathlib import Path

import pytest

from judgec.errors import UserError
from judgec.labels.labels import read_label_file
from judgec.verbs.add_peers import add_peers
from judgec.verbs.options.labels import LabelsOptions

CSV = """frage,answer,agent,annotator,accept
Who?,Ada,one,ann,1
Who?,Ada,one,bob,1
Who?,Bo,two,ann,0
When?,1912,one,ann,1
"""
SHEET = '[scale]\nname = "accept"\nlevel = "ordinal"\ngrades = [0, 1]\naccept_at = 1\n'


def labels(folder: Path) -> Path:
    file = folder / "labels.csv"
    file.write_text(CSV, encoding="utf-8")
    (folder / "labels.datasheet.toml").write_text(SHEET, encoding="utf-8")
    return file


def options(file: Path, out: Path) -> LabelsOptions:
    return LabelsOptions(file=str(file), peers=out, columns={"frage": "query"})


def test_every_row_is_kept_and_has_the_others_answers(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    added = add_peers(options(labels(tmp_path), out))
    assert added.to_json() == {
        "out": str(out),
        "datasheet": str(tmp_path / "out.datasheet.toml"),
        "rows": 4,
        "without_peers": 1,
        "most_peers": 1,
    }
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["peers"] for row in rows] == [["Bo"], ["Bo"], ["Ada"], []]
    read = read_label_file(str(out)).labels
    assert len(read.labels) == 4
    assert [item.texts("peers") for item in read.items] == [("Bo",), ("Ada",), ()]
    assert (tmp_path / "out.datasheet.toml").read_text(encoding="utf-8") == SHEET


@pytest.mark.parametrize(
    ("name", "said"),
    [("out.csv", "ends in .jsonl"), ("missing/out.jsonl", "no such folder"), ("there.jsonl", "is there; a new file")],
)
def test_a_target_that_cannot_be_written_is_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "there.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match=said):
        add_peers(options(labels(tmp_path), tmp_path / name))
    assert (tmp_path / "there.jsonl").read_text(encoding="utf-8") == ""


def test_a_file_that_has_peers_keeps_them(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text('{"query": "q", "answer": "a", "peers": ["b"], "accept": 1}\n', encoding="utf-8")
    with pytest.raises(UserError, match="column peers, which would be lost"):
        add_peers(LabelsOptions(file=str(file), peers=tmp_path / "out.jsonl"))
