"""Labels that use a part of a judge's scale: every command that holds a judge against them reads the judge's scale."""

from pathlib import Path

import pytest

import judgec
from judgec.errors import UserError
from tests.compile.small import compiled_from, write

WORDS = ("red", "green", "blue", "white")


def rows(queries: int, name: str) -> list[dict[str, object]]:
    """Two answers a query on the scale 0-2, graded by how many of four words are right; experts err now and then."""
    made: list[dict[str, object]] = []
    for q in range(queries):
        for k, quality in enumerate((q % 3, (q // 3 + 1) % 3)):
            words = [word if i < 2 * quality else f"something{i}" for i, word in enumerate(WORDS)]
            inputs = {"query": f"Which colours has flag {name}{q}?", "answer": " ".join(words)}
            grade = quality if (2 * q + k) % 7 else (quality + 1) % 3
            made.append(
                {
                    "item_id": f"{name}{q}/{k}",
                    "query_id": f"{name}{q}",
                    **inputs,
                    "reference": " ".join(WORDS),
                    "grade": grade,
                }
            )
    return made


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions of a judge of grades 0, 1, 2, accepted from 1; labels of new queries, none of them a 2."""
    home = tmp_path_factory.mktemp("part of the scale")
    for seed in (0, 1):
        compiled_from(home, rows(60, "c"), name="e", accept_at="1", seed=seed, lm="embedded")
    few = [row for row in rows(60, "f") if row["grade"] != 2]
    write(home / "few.jsonl", few)
    bare = [{name: value for name, value in row.items() if name != "grade"} for row in few]
    accepts = [{**row, "accept": given["grade"] != 0} for row, given in zip(bare, few, strict=True)]
    write(home / "accepts.jsonl", accepts)
    write(home / "items.jsonl", bare)
    raters = [{**row, "ann": given["grade"], "bo": given["grade"]} for row, given in zip(bare, few, strict=True)]
    write(home / "raters.jsonl", raters)
    write(home / "three.jsonl", [{**row, "grade": i % 4} for i, row in enumerate(few)])
    return home


def test_compare_reads_labels_without_the_best_grade_on_the_judges_scale(home: Path) -> None:
    report = judgec.compare("e@1", "e@2", labels=home / "few.jsonl", home=home).report
    test = report["test"]
    assert isinstance(test, dict)
    assert test["a"]["n"] == len((home / "few.jsonl").read_text().splitlines())
    assert test["a"]["accept_agreement"]["value"] is not None  # with the judge's threshold


def test_compare_takes_accepts_alone(home: Path) -> None:
    report = judgec.compare("e@1", "e@2", labels=home / "accepts.jsonl", home=home).report
    test = report["test"]
    assert isinstance(test, dict)
    assert test["a"]["accept_agreement"]["value"] is not None


def test_audit_reads_the_same_labels(home: Path) -> None:
    found = judgec.audit("e@1", labels=home / "few.jsonl", only=["length"], home=home)
    assert found.report["items"]


def test_grade_off_the_judges_scale_is_an_error_that_says_what_to_do(home: Path) -> None:
    with pytest.raises(UserError, match=r"grade 3 is not on scale grade \(0, 1, 2\)\. .*name a judge of their scale"):
        judgec.compare("e@1", "e@2", labels=home / "three.jsonl", home=home)


def test_estimate_takes_one_column_a_rater_on_the_judges_scale(home: Path) -> None:
    found = judgec.estimate(
        str(home / "items.jsonl"), judge="e@1", labels=str(home / "raters.jsonl"), annotators=("ann", "bo"), home=home
    )
    (rate,) = found.aspects.values()
    assert found.labelled == rate.n
    assert found.value is not None or found.refused
