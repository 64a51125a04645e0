"""Columns of reasons, and whose they are."""

from dataclasses import replace
from pathlib import Path

import pytest

from judgec.labels.labels import read_label_file
from judgec.labels.reading import as_reading
from judgec.labels.rows.reasons import machine_columns, reason_in, reason_owners, with_reasons
from judgec.records.label import REASON_NAMES
from judgec.table.table import Row, Table

HEADS = (
    *("rationale", "reason", "comment", "Explanation", "notes", "feedback", "justification", "critique", "why"),
    *("Begründung", "Bemerkung", "Anmerkungen", "commentaire", "Explicación", "Reason for grade", "rater comments"),
)


def table(heads: str, rows: int = 9, **cells: str) -> Table:
    columns = tuple(heads.split(","))
    texts = ("query", "answer", *REASON_NAMES)
    filled: list[Row] = [
        {
            name: cells.get(name, f"some text {i}" if any(word in name.casefold() for word in texts) else i % 3)
            for name in columns
        }
        for i in range(rows)
    ]
    return Table("l.csv", columns, tuple(filled), tuple(range(1, rows + 1)))


@pytest.mark.parametrize("head", HEADS)
def test_read_label_file_takes_reasons_under_any_name_and_those_of_each_rater(tmp_path: Path, head: str) -> None:
    path = tmp_path / "l.csv"
    lines = [f"what is {i},it is {i},{i % 3},because {i}" for i in range(9)]
    path.write_text("\n".join([f"query,answer,grade,{head}", *lines]), encoding="utf-8")
    found = read_label_file(str(path)).labels
    assert [label.rationale for label in found.labels] == [f"because {i}" for i in range(9)]
    assert not any("nobody reads" in note for note in found.notes)
    lines = [f"what is {i},it is {i},{i % 3},mia {i},{(i + 1) % 3},noah {i}" for i in range(9)]
    path.write_text("\n".join([f"query,answer,mia,mia {head},noah,noah {head}", *lines]), encoding="utf-8")
    found = read_label_file(str(path), as_reading(annotators=("mia", "noah"))).labels
    assert all(label.rationale.startswith(f"{label.annotator} ") for label in found.labels)


@pytest.mark.parametrize(
    ("heads", "reasons"),
    [
        ("query,answer,grade,comment,gpt_score,reason", {"comment": "rationale"}),
        ("query,answer,grade,gpt_score,reason", {}),
        ("query,answer,gpt_score,gpt_reason,grade,comment", {"comment": "rationale"}),
        ("query,answer,grade,judge_score,judge_reason", {}),
        ("query,answer,grade,judge_reason", {}),
        ("query,answer,comment,grade", {"comment": "rationale"}),
        ("query,answer,grade,customer_feedback,context_notes", {}),
        ("query,answer,grade,comment,notes", {"comment": "rationale"}),
        ("query,answer,grade,rationale,comment", {"rationale": "rationale"}),
        ("query,answer,accept,reason for rejection", {"reason for rejection": "rationale"}),
        ("query,answer_a,answer_b,preference,explanation", {"explanation": "rationale"}),
    ],
)
def test_with_reasons_takes_those_that_stand_with_peoples_grades(heads: str, reasons: dict[str, str]) -> None:
    found = with_reasons(table(heads))
    assert found.columns == tuple(reasons.get(name, name) for name in heads.split(","))


@pytest.mark.parametrize(
    ("heads", "raters", "found"),
    [
        (
            "query,answer,mia,comment,noah,comment.1,AI grade,AI reason",
            ("mia", "noah"),
            "query,answer,mia,mia.rationale,noah,noah.rationale,AI grade,AI reason",
        ),
        (
            "query,answer,Rater 1,Rater 2,Comment 2,Comment 1",
            ("Rater 1", "Rater 2"),
            "query,answer,Rater 1,Rater 2,Rater 2.rationale,Rater 1.rationale",
        ),
        # nobody's more than anybody else's
        ("query,answer,mia,noah,comment", ("mia", "noah"), "query,answer,mia,noah,rationale"),
    ],
)
def test_with_reasons_of_raters_pairs_repeated_heads_and_leaves_the_machines(
    heads: str, raters: tuple[str, ...], found: str
) -> None:
    assert with_reasons(table(heads), raters).columns == tuple(found.split(","))


def test_with_reasons_with_gaps_behind_a_machines_scores_are_peoples() -> None:
    full = table("query,answer,grade,AI grade,Comment")
    assert "rationale" not in with_reasons(full).columns
    rows = tuple(row | {"Comment": "ask Jo" if at == 2 else ""} for at, row in enumerate(full.rows))
    assert with_reasons(replace(full, rows=rows)).columns[-1] == "rationale"  # a machine leaves none out


def test_with_reasons_of_several_aspects_says_of_which_each_is() -> None:
    found = with_reasons(table("query,answer,grade.style,style_reason,grade.tone,tone_reason", 1))
    assert str(found.rows[0]["rationale"]).splitlines() == ["style: some text 0", "tone: some text 0"]


def test_with_reasons_of_a_measured_judge_are_the_judges_and_thumbs_are_none() -> None:
    heads = "query,answer,grade,strict,reason"
    assert "rationale" in with_reasons(table(heads)).columns
    assert "rationale" not in with_reasons(table(heads), judges=("strict",)).columns
    assert "rationale" not in with_reasons(table("query,answer,grade,feedback", feedback="up")).columns


def test_reason_owners_names_those_of_machines_too() -> None:
    columns = ["grade", "gpt_score", "gpt_reason", "comment"]
    assert machine_columns(columns, table("grade,gpt_score,gpt_reason,comment").rows) == ["gpt_score"]
    assert reason_owners(columns, ["grade"], ["gpt_score"]) == {"gpt_reason": "gpt_score", "comment": "grade"}


def test_reason_in_a_row_prefers_judgecs_name_even_where_it_is_empty() -> None:
    assert reason_in({"Comment": "too long"}) == "too long"
    assert reason_in({"comment": "of the asker", "rationale": ""}) == ""


@pytest.mark.parametrize(
    ("judges", "left"), [((), "region, gpt_score, gpt_reason"), (("gpt_score",), "region, gpt_reason")]
)
def test_read_label_file_lists_the_columns_that_nobody_reads(
    tmp_path: Path, judges: tuple[str, ...], left: str
) -> None:
    path = tmp_path / "l.csv"
    lines = [f"what is {i},it is {i},{i % 3},x,2,it may be" for i in range(9)]
    path.write_text("\n".join(["query,answer,grade,region,gpt_score,gpt_reason", *lines]), encoding="utf-8")
    (note,) = [n for n in read_label_file(str(path), as_reading(judges=judges)).labels.notes if "nobody reads" in n]
    assert f": {left};" in note


@pytest.mark.parametrize(
    "heads",
    [
        *("A|Kommentar A|B|Kommentar B", "Sanne|Toelichting Sanne|Mehmet|Mehmet: opmerking"),
        *("Score Sanne (1-5)|Toelichting Sanne|Score Mehmet (1-5)|Toelichting Mehmet",),
        "Mia|Mia's comment|Noah|Noah\u2019s comment",
        *("Bewertung A|Begründung zu A|Bewertung B|Begründung zu B", "R1|Comments (R1)|R2|Comments (R2)"),
        *("Score (rater 1)|Comment (rater 1)|Score (rater 2)|Comment (rater 2)", "评分人1|评语1|评分人2|评语2"),
        *("Nota Ana|Comentário da Ana|Nota João|Comentário do João", "Ocena Ewa|Uwagi Ewy|Ocena Jan|Uwagi Jana"),
        *("Оценка Анна|Комментарий Анны|Оценка Иван|Комментарий Ивана", "Jan|Kommentar Jan|Jana|Kommentar Jana"),
    ],
)
def test_reasons_belong_to_the_person_whom_their_head_names(heads: str) -> None:
    first, reason, second, other = heads.split("|")
    for columns in ([first, reason, second, other], [first, second, reason, other], [other, second, first, reason]):
        assert reason_owners(columns, {first, second}, set()) == {reason: first, other: second}
    assert reason_owners([first, second, other], {first, second}, set()) == {other: second}
