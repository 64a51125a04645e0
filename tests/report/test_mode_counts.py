"""Failure modes in labels: rates by annotator and which come together, counted by hand and in real labels."""

import json
from pathlib import Path

import pytest

from judgec.labels.labels import read_label_file
from judgec.labels.reading import as_reading
from judgec.report.label_report import label_report
from judgec.verbs.labels_report import label_tables


def report(folder: Path, rows: list[dict[str, object]]) -> dict[str, object]:
    path = folder / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return dict(label_report(read_label_file(str(path), as_reading(annotators=["*"])), "modes"))


def row(n: int, annotator: str, **modes: int | None) -> dict[str, object]:
    named: dict[str, object] = {f"mode.{name}": value for name, value in modes.items()}
    return {"item_id": f"i{n}", "query": f"q{n}", "answer": f"a{n}", "annotator": annotator, **named}


def test_rates_are_of_each_annotators_own_labels_and_pairs_of_the_consensus(tmp_path: Path) -> None:
    rows = [row(n, "ann", wrong=int(n < 4), rude=int(n < 2)) for n in range(10)]
    rows += [row(n, "bob", wrong=int(n < 4), rude=None) for n in range(5)]
    found = report(tmp_path, rows)["modes"]
    assert isinstance(found, dict)
    wrong, rude = found["rates"]
    assert (wrong["mode"], wrong["consensus"]["present"], wrong["consensus"]["of"]) == ("wrong", 4, 10)
    assert {name: (one["present"], one["of"]) for name, one in wrong["annotators"].items()} == {
        "ann": (4, 10),
        "bob": (4, 5),
    }
    assert wrong["consensus"]["rate"]["value"] == pytest.approx(0.4)
    assert wrong["consensus"]["rate"]["low"] < 0.4 < wrong["consensus"]["rate"]["high"]
    assert rude["annotators"]["bob"] == {"present": 0, "of": 0, "rate": rude["annotators"]["bob"]["rate"]}
    assert rude["annotators"]["bob"]["rate"]["value"] is None  # he said nothing of it
    assert found["together"] == [
        {"modes": ["wrong", "rude"], "both": 2, "first": 4, "second": 2, "of": 10, "lift": pytest.approx(2 * 10 / 8)}
    ]
    assert found["shown"] == {"0": 6, "1": 2, "2": 2}


def test_mode_that_nobody_saw_has_no_lift(tmp_path: Path) -> None:
    found = report(tmp_path, [row(n, "ann", wrong=n % 2, rude=0) for n in range(6)])["modes"]
    assert isinstance(found, dict)
    assert found["together"][0]["lift"] is None


def test_labels_of_other_tasks_have_no_modes(tmp_path: Path) -> None:
    graded: list[dict[str, object]] = [{"query": f"q{n}", "answer": "a", "grade": 1 + n % 5} for n in range(10)]
    assert "modes" not in report(tmp_path, graded)


def test_screen_has_a_row_a_mode_and_a_row_a_pair(tmp_path: Path) -> None:
    rows = [row(n, name, wrong=int(n < 4), rude=int(n < 2)) for n in range(10) for name in ("ann", "bob")]
    tables = label_tables(report(tmp_path, rows), "labels.jsonl")  # type: ignore[arg-type]  # a report
    seen, together = (table for table in tables if "ailure mode" in table.title)
    assert seen.heads == ("mode", "items", "consensus [95 %]", "ann", "bob")
    assert [(line[0], line[1], line[3], line[4]) for line in seen.rows] == [
        ("wrong", "4 of 10", "40", "40"),
        ("rude", "2 of 10", "20", "20"),
    ]
    assert together.rows == [("wrong + rude", "2", "4", "2", "10", "2.5")]
