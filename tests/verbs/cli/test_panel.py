"""``--panel`` as a user types it, on columns of the label file, and the judge that comes of it."""

import json
from pathlib import Path

import numpy as np
import pytest

import judgec as judgec_api
from judgec.errors import InputError
from tests.compile.recorded_world import Rows, labels
from tests.compile.small import write
from tests.compile.test_panels import THREE, verdicts
from tests.verbs.cli.process import judgec


def wide(rows: Rows, seed: int = 2) -> Rows:
    """One column a judge, as people have it."""
    cells: dict[object, dict[str, object]] = {}
    for one in verdicts(rows, THREE, seed=seed):
        cells.setdefault(one["item_id"], {})[str(one["judge"])] = one["grade"]
    return [{**row, **cells[row["item_id"]]} for row in rows]


def test_a_panel_of_columns_compiles_and_judges_items_with_the_same_columns(tmp_path: Path) -> None:
    write(tmp_path / "labels.jsonl", wide(labels(40, 5)))
    sheet = '[scale]\nname = "relevance"\nlevel = "ordinal"\ngrades = [0, 1, 2, 3]\naccept_at = 2\n'
    (tmp_path / "labels.datasheet.toml").write_text(sheet)
    done = judgec(
        tmp_path,
        "compile-judge",
        "labels.jsonl",
        "--verdicts",
        "a,b,c",
        "--panel",
        3,
        "--no-evidence",
        "--folds",
        1,
        "--objective",
        "qwk",
        "--name",
        "wide",
    )
    assert "Panel: " in done.stdout
    assert "judges in place of" in done.stderr
    assert "what you get" in done.stdout
    new = [{key: value for key, value in row.items() if key != "grade"} for row in wide(labels(8, 5), seed=7)]
    truth = [int(str(row["grade"])) for row in labels(8, 5)]
    new[0]["b"] = None  # b was not asked: the others speak
    write(tmp_path / "new.jsonl", new)
    out = tmp_path / "out.jsonl"
    done_file = judgec_api.judge_file(tmp_path / "new.jsonl", judge="wide@latest", out=out, home=tmp_path)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    grades = np.array([row["judge_grade"] if "judge_grade" in row else row["grade"] for row in rows], dtype=int)
    assert done_file.unscored == 0
    assert done_file.report["between_grades"] == 0  # a mean of two verdicts is no half grade that somebody gave
    single = np.array([row["a"] for row in new], dtype=int)
    assert np.abs(grades - truth).mean() < np.abs(single - truth).mean()
    write(tmp_path / "fewer.jsonl", [{key: value for key, value in row.items() if key != "c"} for row in new])
    with pytest.raises(InputError, match=r"fewer\.jsonl:1: no column c"):
        judgec_api.judge_file(tmp_path / "fewer.jsonl", judge="wide@latest", out=tmp_path / "o.jsonl", home=tmp_path)
