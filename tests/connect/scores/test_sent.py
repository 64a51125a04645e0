"""Judgments and labels on their way back: each tool's form, nothing lost unsaid, and the same again when read."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from judgec.connect.scores.sent import SENDERS
from judgec.errors import InputError, UserError
from judgec.table.table import Row
from judgec.verbs.export_scores import ExportedScores, export_scores
from judgec.verbs.import_labels import import_export
from judgec.verbs.options.labels import LabelExportOptions, LabelImportOptions


def judged(item: str, grade: object, **more: object) -> Row:
    row = {"item_id": item, "query": "Q", "answer": f"A of {item}", "judge_grade": grade, "judge_score": 1.7}
    return {**row, "judge_confidence": 0.8, "judge_rationale": "why", "judge_judged_by": "grader@3", **more}


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def export(folder: Path, tool: str, rows: Sequence[Row], name: str | None = None) -> tuple[ExportedScores, list[Row]]:
    out = folder / f"{tool}.jsonl"
    options = LabelExportOptions(file=write(folder / "judged.jsonl", rows), export=f"{tool}:{out}", name=name)
    found = export_scores(options)
    assert found.records == found.scores + sum(found.skipped.values())
    return found, [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


ROWS = [judged("i1", 2), judged("i1", 2), judged("i2", None, judge_unscored="refused"), judged("i3", "good")]


def test_langfuse_bodies_have_type_comment_and_an_id_that_stays(tmp_path: Path) -> None:
    found, bodies = export(tmp_path, "langfuse", [*ROWS, judged("o1", True, trace_id="t9")])
    assert found.skipped == {"without a grade": 1, "in rows that repeat an item": 1}
    assert [(one["traceId"], one["value"], one["dataType"]) for one in bodies] == [
        ("i1", 2, "NUMERIC"),
        ("i3", "good", "CATEGORICAL"),
        ("t9", 1, "BOOLEAN"),
    ]
    assert (bodies[2]["observationId"], "observationId" in bodies[0]) == ("o1", False)
    assert bodies[0]["metadata"] == {"judge": "grader@3", "score": 1.7, "confidence": 0.8}
    assert len({one["id"] for one in bodies}) == 3
    assert {one["source"] for one in bodies} == {"API"}


def test_langsmith_and_phoenix_tell_numbers_from_words_and_judges_from_people(tmp_path: Path) -> None:
    _, feedback = export(tmp_path, "langsmith", ROWS)
    assert [(one["run_id"], one.get("score"), one.get("value")) for one in feedback] == [
        ("i1", 2, None),
        ("i3", None, "good"),
    ]
    assert {one["feedback_source"]["type"] for one in feedback} == {"model"}  # type: ignore[index]  # JSON
    _, notes = export(tmp_path, "phoenix", ROWS, name="quality")
    assert [one["result"] for one in notes] == [
        {"score": 2, "explanation": "why"},
        {"label": "good", "explanation": "why"},
    ]
    assert {(one["name"], one["annotator_kind"], one["identifier"]) for one in notes} == {
        ("quality", "LLM", "grader@3")
    }
    (tmp_path / "phoenix.jsonl").unlink()
    _, notes = export(tmp_path, "phoenix", [{"item_id": "i", "annotator": "anna", "grade": 3}])
    assert [(one["annotator_kind"], one["identifier"], one["name"]) for one in notes] == [("HUMAN", "anna", "judged")]


def test_opik_takes_a_word_with_its_expected_score_and_leaves_one_without_out(tmp_path: Path) -> None:
    bare: Row = {"item_id": "i2", "judge_grade": "poor", "judge_judged_by": "grader@3"}
    rows = [judged("i1", "good"), bare]
    found, bodies = export(tmp_path, "opik", rows)
    assert [(one["value"], one["category_name"]) for one in bodies] == [(1.7, "good")]
    assert (found.scores, found.skipped) == (1, {"a word, where the tool takes numbers": 1})


def test_judge_of_several_aspects_gives_a_score_each_from_objects_and_from_columns(tmp_path: Path) -> None:
    objects: Row = {"grades": {"tone": 1, "truth": 2}, "scores": {"tone": 1.1, "truth": 2.2}, "judged_by": "j@1"}
    _, bodies = export(tmp_path, "langfuse", [{"item_id": "i", **objects}])
    (tmp_path / "langfuse.jsonl").unlink()
    columns: Row = {"grade.tone": "1", "grade.truth": "2", "score.tone": 1.1, "score.truth": 2.2, "judged_by": "j@1"}
    _, same = export(tmp_path, "langfuse", [{"item_id": "i", **columns}])
    assert bodies == same
    assert [(one["name"], one["value"]) for one in bodies] == [("j.tone", 1), ("j.truth", 2)]
    (tmp_path / "langfuse.jsonl").unlink()
    _, labels = export(tmp_path, "langfuse", [{"item_id": "i", "annotator": "anna", "grade.tone": 1, "grade.truth": 0}])
    assert [(one["name"], one["source"]) for one in labels] == [("tone", "ANNOTATION"), ("truth", "ANNOTATION")]


@pytest.mark.parametrize("tool", ["langfuse", "langsmith", "phoenix", "label-studio", "argilla"])
def test_what_went_out_is_read_back_as_verdicts_of_the_judge(tmp_path: Path, tool: str) -> None:
    rows = [judged("i1", 2), judged("i2", 1)]
    out, back = tmp_path / "out.json", tmp_path / "back.jsonl"
    export_scores(LabelExportOptions(file=write(tmp_path / "j.jsonl", rows), export=f"{tool}:{out}"))
    found = import_export(LabelImportOptions(file=str(back), import_=f"{tool}:{out}", as_="verdicts"))
    assert (found.labels, found.verdicts) == (0, 2)
    lines = (tmp_path / "back.verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    assert [float(json.loads(line)["grade"]) for line in lines] == [2, 1]


def test_labels_that_were_imported_go_back_and_come_again_the_same(tmp_path: Path) -> None:
    score = {"trace_id": "t", "name": "q", "value": 1, "data_type": "BOOLEAN", "source": "ANNOTATION", "comment": "so"}
    write(tmp_path / "a.jsonl", [score, {**score, "trace_id": "u", "value": 0}])
    import_export(LabelImportOptions(file=str(tmp_path / "l.jsonl"), import_=f"langfuse:{tmp_path / 'a.jsonl'}"))
    target = f"langfuse:{tmp_path / 'b.jsonl'}"
    export_scores(LabelExportOptions(file=str(tmp_path / "l.jsonl"), export=target, name="q"))
    import_export(LabelImportOptions(file=str(tmp_path / "again.jsonl"), import_=target))
    kept = ("item_id", "grade", "rationale")
    first, second = (
        [[row[name] for name in kept] for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())]
        for path in (tmp_path / "l.jsonl", tmp_path / "again.jsonl")
    )
    assert first == second == [["t", True, "so"], ["u", False, "so"]]


def test_judged_table_of_text_gives_ids_as_they_were_before_the_guard(tmp_path: Path) -> None:
    out = tmp_path / "judged.csv"
    out.write_text("item_id,answer,grade,rationale,judged_by\n'-abc,'=A,2,'@why,grader@3\n", encoding="utf-8")
    export_scores(LabelExportOptions(file=str(out), export=f"langfuse:{tmp_path / 'b.jsonl'}"))
    body = json.loads((tmp_path / "b.jsonl").read_text(encoding="utf-8"))
    assert (body["traceId"], body["comment"]) == ("-abc", "@why")


def test_whole_documents_have_the_key_that_the_tool_reads(tmp_path: Path) -> None:
    source = write(tmp_path / "j.jsonl", [judged("i1", 2)])
    for tool, sender in SENDERS.items():
        out = tmp_path / f"{tool}.json"
        export_scores(LabelExportOptions(file=source, export=f"{tool}:{out}"))
        document = json.loads(out.read_text(encoding="utf-8"))
        assert len(document[sender.envelope] if sender.envelope else document) == 1


def test_what_cannot_go_out_says_why(tmp_path: Path) -> None:
    source = write(tmp_path / "j.jsonl", [judged("i1", 2)])
    for target, seen in (
        ("promptfoo:x.json", "takes no scores"),
        ("opik:x.csv", "new file"),
        (f"opik:{source}", "new file"),
    ):
        with pytest.raises(UserError, match=seen):
            export_scores(LabelExportOptions(file=source, export=target))
    for rows, seen in (([{"grade": 1}], "item_id with the tool"), ([{**judged("", 1)}], "no item_id")):
        with pytest.raises(InputError, match=seen):
            export_scores(
                LabelExportOptions(file=write(tmp_path / "k.jsonl", rows), export=f"opik:{tmp_path / 'y.json'}")
            )
