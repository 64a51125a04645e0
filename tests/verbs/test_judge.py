"""From a DataFrame to a measured judge to graded rows, in Python alone."""

import asyncio
import json
from pathlib import Path

import pandas as pd
import pytest

import judgec
from judgec.errors import InputError, UserError

WORDS = ("red", "green", "blue", "black", "white")


def rows(queries: int) -> pd.DataFrame:
    """Two answers a query, graded by how many of four words are those of the reference."""
    made = []
    for q in range(queries):
        right = [WORDS[(q + i) % 5] for i in range(4)]
        for k, quality in enumerate((q % 5, (q // 2 + 3) % 5)):
            words = [word if i < quality else f"something{i}" for i, word in enumerate(right)]
            made.append(
                {
                    "Frage": f"Which colours has flag {q}?", "answer": " ".join([*words, f"pole{k}"]),
                    "reference": " ".join(right), "ann": 1 + quality, "bob": 1 + max(0, quality - (q + k) % 2),
                }
            )  # fmt: skip
    return pd.DataFrame(made)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> judgec.Compilation:
    labels = judgec.read_labels(rows(50), annotators=["ann", "bob"], columns={"Frage": "query"}, accept_at=4, best=5)
    assert repr(labels) == "<Labels grade: 100 items of 50 queries, 2 annotators, 1 / 2 / 3 / 4 / 5>"
    return judgec.compile_judge(labels, name="flags", home=tmp_path_factory.mktemp("api"))


def test_compile_judge_from_a_frame_gives_table_judge_and_report(found: judgec.Compilation) -> None:
    assert found.name == "flags@1"
    assert found.report_path.is_file()
    compiled = found.table.loc["compiled"].to_dict()
    assert compiled["tau_b.low"] < compiled["tau_b"] < compiled["tau_b.high"]
    assert compiled["tau_b"] > 0.6
    assert {"majority", "uncompiled", "compiled", "ceiling"} <= set(found.table.index)
    assert found.verdict in repr(found)
    assert "<table" in found._repr_html_()
    assert found.report["split"]["test"] > 0


def test_judge_of_a_frame_keeps_rows_order_index_and_columns(found: judgec.Compilation) -> None:
    judge = judgec.load_judge("flags@latest", home=found.home)
    frame = rows(6).iloc[[3, 1, 1, 8]].set_index(pd.Index(["d", "b", "b", "z"], name="id"))
    graded = judge(frame, columns={"Frage": "query"})
    assert graded.index.tolist() == ["d", "b", "b", "z"]
    assert graded.columns.tolist() == [
        *frame.columns,
        *("grade", "score", "accept", "confidence", "rationale", "unscored", "probabilities", "stated_confidence"),
    ]
    pd.testing.assert_frame_equal(graded[frame.columns], frame)
    assert graded["grade"].iloc[1] == graded["grade"].iloc[2]
    assert graded["unscored"].isna().all()
    assert sum(json.loads(graded["probabilities"].iloc[0]).values()) == pytest.approx(1)
    assert graded["rationale"].str.len().min() > 0
    one = judge(query="Which colours has flag 3?", answer="black white red green", reference="black white red green")
    assert isinstance(one, judgec.Judgment)
    assert one.grade in {4, 5}
    assert one.accept is True
    listed = judge([{"query": "Which?", "answer": "red", "reference": "red"}])
    assert len(listed) == 1


def test_judge_of_rows_that_have_a_grade_prefixes_all_names(found: judgec.Compilation) -> None:
    frame = rows(2).rename(columns={"Frage": "query", "ann": "grade"})
    graded = found.judge(frame)
    assert graded["grade"].tolist() == frame["grade"].tolist()
    assert [name for name in graded.columns if name.startswith("judge_")] == [
        *(f"judge_{name}" for name in ("grade", "score", "accept", "confidence", "rationale")),
        *(f"judge_{name}" for name in ("unscored", "probabilities", "stated_confidence")),
    ]


def test_judge_inside_a_running_event_loop(found: judgec.Compilation) -> None:
    async def both() -> tuple[object, object]:
        inside = found.judge(query="Which?", answer="red", reference="red")
        return inside, await found.judge.acall(query="Which?", answer="red", reference="red")

    inside, awaited = asyncio.run(both())
    assert inside == awaited


def test_judge_of_faulty_input_says_what_is_valid(found: judgec.Compilation) -> None:
    with pytest.raises(InputError, match="no query"):
        found.judge([{"query": None, "answer": "a", "reference": "a"}])
    with pytest.raises(UserError, match="reads query, answer"):
        found.judge(query="q", anwser="a")
    with pytest.raises(UserError, match="nothing to judge"):
        found.judge()
    with pytest.raises(UserError, match="a DataFrame, a list of dicts"):
        judgec.read_labels(7)  # type: ignore[arg-type]  # what is refused


def test_judges_of_a_list_are_columns_beside_the_labels(
    tmp_path: Path,
) -> None:
    grades = [1 + (7 * n) % 5 for n in range(60)]
    said = [min(5, grade + (n % 4 == 0)) for n, grade in enumerate(grades)]
    frame = pd.DataFrame(
        {
            "question": [f"How is device number {n} reset?" for n in range(60)],
            "answer": [f"Hold the button for {n % 9} seconds, then wait." for n in range(60)],
            "human": grades,
            "GPT-4 Judge": said,
        }
    )
    found = judgec.compile_judge(
        frame,
        columns={"question": "query"},
        annotators=["human"],
        judges=["GPT-4 Judge"],
        home=tmp_path,
        evidence=False,
        best=5,
    )
    assert found.report["split"] == {"train": 0, "dev": 0, "test": 60, "folds": 5}
    shown = found._repr_html_()
    assert "GPT-4 Judge as it was" in shown
    assert "&lt;" not in shown  # no markup is shown as text
    assert "<svg" in shown
    assert "data:image/png" not in shown
    beside = judgec.compare_judges(frame, annotators="human", judges=["GPT-4 Judge"], best=5)
    assert beside.agreement.estimates["exact"].value == pytest.approx(
        sum(one == other for one, other in zip(grades, said, strict=True)) / 60
    )
    assert "<svg" in beside._repr_html_()
