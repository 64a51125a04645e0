"""Columns that look like people's labels and are a judge's, and words that nobody knows."""

from pathlib import Path

import pandas as pd
import pytest

import judgec
from judgec.errors import UserError
from tests.verbs.cli.process import judgec_here

N = 12


def test_a_word_of_preferences_that_nobody_knows_is_asked_for_and_no_order_of_grades(tmp_path: Path) -> None:
    rows = [
        {"Question": f"q{n}", "Answer A": f"a{n}", "Answer B": f"b{n}", "Ann": ["A", "B", "equi"][n % 3]}
        for n in range(N)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "pairs.csv", index=False)
    with pytest.raises(AssertionError, match="--winner-words 'equi=SIDE'"):
        judgec_here(tmp_path, "init", "pairs.csv", "--yes")


def test_what_a_judge_wrote_is_no_label(tmp_path: Path) -> None:
    rows = [{"query": f"q{n}", "answer": f"a{n}", "grade": 1 + n % 5, "judged_by": "graded@1"} for n in range(N)]
    frame = pd.DataFrame(rows)
    with pytest.raises(UserError, match="graded@1"):
        judgec.read_labels(frame)
    theirs = frame.rename(columns={"grade": "judge_grade", "judged_by": "judge_judged_by"})
    assert len(judgec.read_labels(theirs.assign(grade=[1, 2, 3, 4] * 3))) == N
