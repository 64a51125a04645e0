"""``judgec.agreement`` of failure modes: a table with both sides, what ``judge`` wrote, and recorded judges."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, precision_score, recall_score

import judgec
from judgec.errors import InputError, UserError
from judgec.report.modes_table import TITLE
from judgec.verbs.agreement import agreement_report

MODES = ("hallucination", "off_topic")
Row = dict[str, object]


def table(n: int = 120) -> list[Row]:
    rng = np.random.default_rng(4)
    rows: list[Row] = []
    for number in range(n):
        row: Row = {"item_id": f"i{number}", "query": f"q{number // 2}", "answer": f"a{number}"}
        for mode, rate in zip(MODES, (0.4, 0.2), strict=True):
            there = int(rng.random() < rate)
            row |= {f"mode.{mode}": there, f"grade.{mode}": there if rng.random() < 0.8 else 1 - there}
        rows.append(row)
    return rows


def test_table_of_both_sides_equals_scikit_learn_by_mode() -> None:
    frame = pd.DataFrame(table())
    found = judgec.agreement(frame, judges="grade", cluster="query")
    modes = found.modes["grade"]
    for mode in MODES:
        sides = frame[f"mode.{mode}"], frame[f"grade.{mode}"]
        one = modes.modes[mode]
        assert one.kappa.value == pytest.approx(cohen_kappa_score(*sides))
        assert one.precision.value == pytest.approx(precision_score(*sides))
        assert one.recall.value == pytest.approx(recall_score(*sides))
        assert one.kappa.n_clusters == 60
    assert found.agreement.aspects["off_topic"].estimates["kappa"].value == modes.modes["off_topic"].kappa.value
    report = found.report["judges"]["grade"]  # type: ignore[index]  # mappings
    assert set(report["modes"]) == set(MODES)
    assert report["macro"]["recall"]["modes"] == list(MODES)
    assert set(report) >= {"micro", "macro", "modes", "aspects"}
    assert TITLE in [one.title for one in agreement_report(found).tables]


def test_objects_and_lists_and_words_say_the_same() -> None:
    alone = [
        {name: cell for name, cell in row.items() if name.partition(".")[0] in {"mode", "grade"}} for row in table()
    ]
    plain = judgec.agreement(alone, judges="grade").modes["grade"]
    rows: list[Row] = [
        {
            "modes": [mode for mode in MODES if row[f"mode.{mode}"]],
            "grades": {mode: ("yes" if row[f"grade.{mode}"] else "no") for mode in MODES},
        }
        for row in table()
    ]
    other = judgec.agreement(rows, judges="grades").modes["grades"]
    assert other.to_json()["micro"] == plain.to_json()["micro"]
    assert {mode: one.recall.value for mode, one in other.modes.items()} == {
        mode: one.recall.value for mode, one in plain.modes.items()
    }


def test_empty_cells_are_no_label_and_no_judgment() -> None:
    rows = table()
    rows[0]["mode.off_topic"] = None
    rows[1]["grade.off_topic"] = ""
    found = judgec.agreement(rows, judges="grade").modes["grade"].modes
    assert [(one.n, one.unscored) for one in found.values()] == [
        (119, 1),
        (118, 1),
    ]  # unscored in all aspects


def test_what_cannot_be_compared_is_refused() -> None:
    rows = table()
    with pytest.raises(UserError, match="--judges said: no such column"):
        judgec.agreement(rows, judges="said")
    rows[3]["mode.off_topic"] = 3
    with pytest.raises(InputError, match=r"mode.off_topic 3 is not on scale"):
        judgec.agreement(rows, judges="grade")


def test_recorded_judges_have_their_modes(tmp_path: Path) -> None:
    labels = [{name: value for name, value in row.items() if not name.startswith("grade.")} for row in table()]
    verdicts = [
        {"item_id": row["item_id"], "judge": "j", "aspect": mode, "grade": row[f"grade.{mode}"]}
        for row in table()
        for mode in MODES
    ]
    report = judgec.agreement(verdicts, labels=labels, home=tmp_path).report
    modes = report["judges"]["j"]["modes"]  # type: ignore[index]  # mappings
    flat = pd.DataFrame(table())
    for mode in MODES:
        expected = recall_score(flat[f"mode.{mode}"], flat[f"grade.{mode}"])
        assert modes[mode]["recall"]["value"] == pytest.approx(expected)
