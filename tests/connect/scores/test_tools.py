"""Exports of label and trace tools: the shapes that they document, and real samples where these are at hand."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgec.connect.scores.registry import read_scores, tool_of
from judgec.connect.scores.table import As, ImportedScores, imported
from judgec.errors import InputError
from judgec.table.table import Row

SAMPLES = Path(__file__).parents[3] / "../shared/data/exports"


def read(tool: str, path: Path, unmarked: As | None = None, rename: Mapping[str, str] | None = None) -> ImportedScores:
    found = imported(read_scores(tool, str(path), rename or {}), str(path), rename or {}, unmarked)
    assert found.records == found.labels + len(found.verdicts) + found.texts + sum(found.skipped.values())
    assert sum(found.annotators.values()) == found.labels
    return found


def write(folder: Path, name: str, content: Sequence[object] | Mapping[str, object]) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(row) + "\n" for row in content)
    path.write_text(lines if name.endswith(".jsonl") else json.dumps(content), encoding="utf-8")
    return path


def picked(rows: Iterable[Mapping[str, object]], names: str) -> list[tuple[object, ...]]:
    """The fields of these names of each row."""
    return [tuple(row.get(name) for name in names.split()) for row in rows]


def counts(found: ImportedScores) -> tuple[int, int, int, int]:
    """Labels, verdicts, texts, what was skipped."""
    return found.labels, len(found.verdicts), found.texts, sum(found.skipped.values())


def score(name: str, value: object, source: str, **more: object) -> Row:
    return {"id": f"{name}-{source}", "name": name, "value": value, "source": source, "trace_id": "t1", **more}


MESSAGES = [{"role": "assistant", "content": "3 m"}]
TRACE = {"id": "t1", "input": '{"question": "Wie hoch?"}', "output": json.dumps(MESSAGES), "user_id": "u9"}
BY_ANNA = {"subject": {"kind": "trace", "id": "t1"}, "annotation": {"authorUserId": "anna"}, "source": "ANNOTATION"}


def test_langfuse_folder_of_scores_and_traces_makes_labels_of_annotations_alone(tmp_path: Path) -> None:
    anna = {"author_user_id": "anna", "timestamp": "2026-01-01 10:00:00.000000"}
    rows = [
        score("quality", 2, "ANNOTATION", **anna, comment="too short"),
        score("quality", 3, "ANNOTATION", **anna | {"timestamp": "2026-01-01 11:00:00.000000"}),
        score("quality", 1, "ANNOTATION", author_user_id="ben", queue_id="q7"),
        score("quality", 4, "EVAL", comment="fine"),
        score("quality", 4, "EVAL", session_id="s1") | {"trace_id": None},
    ]
    write(tmp_path, "export/scores/0.jsonl", rows)
    write(tmp_path, "export/traces/0.jsonl", [TRACE])
    found = read("langfuse", tmp_path / "export")
    wanted = [("ben", 1, "t1", "Wie hoch?", "3 m"), ("anna", 3, "t1", "Wie hoch?", "3 m")]
    assert picked(found.rows, "annotator grade item_id query answer") == wanted
    assert picked(found.rows, "trace.user_id score.queue_id")[0] == ("u9", "q7")  # nothing is lost
    assert picked(found.verdicts, "judge grade reply") == [("quality", 4, "fine")]
    assert (found.records, sum(found.skipped.values())) == (5, 2)  # replaced by anna, of a session


def test_langfuse_api_scores_are_refused_until_somebody_says_what_they_are(tmp_path: Path) -> None:
    path = write(tmp_path, "s.jsonl", [score("stars", 4, "API"), score("stars", 5, "ANNOTATION", author_user_id="a")])
    with pytest.raises(InputError, match=r"1 of 2 .*stars \(source API\).*--as labels"):
        read("langfuse", path)
    assert counts(read("langfuse", path, "labels"))[:2] == (2, 0)
    assert counts(read("langfuse", path, "verdicts"))[:2] == (1, 1)


def test_langfuse_values_are_read_by_their_data_type(tmp_path: Path) -> None:
    data = [
        {"id": "1", "name": "tone", "value": 2, "stringValue": "rude", "dataType": "CATEGORICAL", **BY_ANNA},
        {"id": "2", "name": "right", "value": 1, "dataType": "BOOLEAN", **BY_ANNA},
        {"id": "3", "name": "note", "value": 0, "stringValue": "see above", "dataType": "TEXT", **BY_ANNA},
    ]
    found = read("langfuse", write(tmp_path, "s.json", {"data": data, "meta": {"page": 1}}))
    assert found.columns == {"tone": "grade.tone", "right": "grade.right"}
    assert picked(found.rows, "grade.tone grade.right note") == [("rude", 1, "see above")]
    assert (found.labels, found.texts) == (2, 1)
    given = {"id": "s", "name": "output", "value": "3.1 m", "dataType": "CORRECTION", **BY_ANNA}  # of the newest API
    found = read("langfuse", write(tmp_path, "s.json", [TRACE, given]))
    assert picked(found.rows, "answer correction") == [("3 m", "3.1 m")]


def test_evaluators_of_several_labelled_metrics_are_one_judge_with_aspects(tmp_path: Path) -> None:
    people = [score(name, 2, "ANNOTATION", author_user_id="a") for name in ("tone", "truth")]
    machines = [score(name, 1, "EVAL") for name in ("tone", "truth", "length")]
    found = read("langfuse", write(tmp_path, "s.jsonl", [*people, *machines]))
    assert picked(found.verdicts, "judge aspect") == [("evaluators", name) for name in ("tone", "truth", "length")]


def test_langfuse_score_without_a_name_is_counted(tmp_path: Path) -> None:
    trace = {**TRACE, "scores": [{"value": 1}, score("q", 2, "ANNOTATION")]}
    found = read("langfuse", write(tmp_path, "t.json", [trace]))
    assert (found.labels, found.skipped) == (1, {"without a name": 1})


def test_langfuse_labels_without_annotator_on_one_trace_stay_two(tmp_path: Path) -> None:
    path = write(tmp_path, "s.jsonl", [score("q", 1, "ANNOTATION"), score("q", 2, "ANNOTATION")])
    found = read("langfuse", path)
    assert picked(found.rows, "annotator grade") == [("unknown", 1), ("unknown-2", 2)]
    assert any("no question" in note for note in found.notes)


def test_langsmith_joins_feedback_with_runs_and_the_documents_of_their_trace(tmp_path: Path) -> None:
    found = {"documents": [{"page_content": "passage one"}, {"page_content": "passage two"}]}
    run = {"trace_id": "r1", "inputs": {"question": "Q"}}
    runs = [
        {**run, "id": "r1", "run_type": "chain", "outputs": {"output": "A"}},
        {**run, "id": "r2", "parent_run_id": "r1", "run_type": "retriever", "outputs": found},
    ]
    by = {"run_id": "r1", "key": "ok", "feedback_source": {"type": "app", "user_name": "Ida", "user_id": "7"}}
    feedback = [
        {**by, "id": "f1", "score": True, "comment": "yes"},
        {**by, "id": "f2", "score": 0.2, "feedback_source": {"type": "model"}},
        {**by, "id": "f3", "score": 1, "comparative_experiment_id": "c"},
        {**by, "id": "f4", "score": 1, "run_id": None},
    ]
    write(tmp_path, "e/runs.jsonl", runs)
    write(tmp_path, "e/feedback.json", feedback)
    read_ = read("langsmith", tmp_path / "e")
    assert picked(read_.rows, "query answer contexts") == [("Q", "A", ["passage one", "passage two"])]
    assert picked(read_.rows, "annotator grade rationale") == [("Ida", True, "yes")]
    assert counts(read_) == (1, 1, 0, 2)


def test_phoenix_annotations_join_spans_and_otlp_lists(tmp_path: Path) -> None:
    asked = "attributes.llm.input_messages.0.message"
    span = {"name": "chat", "span_kind": "LLM", "context.span_id": "s1", "context.trace_id": "t1"}
    span |= {f"{asked}.role": "user", f"{asked}.content": "Q", "attributes.output.value": "A"}
    span |= {"attributes.retrieval.documents.0.document.content": "doc"}
    notes = [
        ("HUMAN", {"label": "good", "score": 1, "explanation": "ok"}, "quality", "u1"),
        ("LLM", {"label": "bad"}, "quality", None),
        ("HUMAN", {"explanation": "look again"}, "note", "u1"),
    ]
    annotations = [
        {"id": str(n), "span_id": "s1", "name": name, "annotator_kind": kind, "result": result, "user_id": user}
        for n, (kind, result, name, user) in enumerate(notes)
    ]
    annotations.append({**annotations[0], "id": "9", "document_position": 0})
    write(tmp_path, "e/spans.jsonl", [span])
    write(tmp_path, "e/annotations.json", {"data": annotations, "next_cursor": None})
    found = read("phoenix", tmp_path / "e")
    assert picked(found.rows, "query answer contexts grade") == [("Q", "A", ["doc"], "good")]
    assert picked(found.rows, "annotator rationale note score.score") == [("u1", "ok", "look again", 1)]
    assert counts(found) == (1, 1, 1, 1)


def test_phoenix_dataframe_in_parquet_reads_like_its_json(tmp_path: Path) -> None:
    row = {"span_id": "s1", "annotation_name": "q", "annotator_kind": "HUMAN", "user_id": "u", "result.score": 3.0}
    pq.write_table(pa.Table.from_pylist([{**row, "result.label": None}]), tmp_path / "a.parquet")
    assert picked(read("phoenix", tmp_path / "a.parquet").rows, "item_id annotator grade") == [("s1", "u", 3.0)]


def test_opik_scores_of_the_page_are_labels_those_of_the_sdk_unmarked(tmp_path: Path) -> None:
    scores = [
        {"name": "fit", "value": 1, "category_name": "poor", "source": "ui", "created_by": "anna", "reason": "no"},
        {"name": "fit", "value": 0.3, "source": "sdk"},
    ]
    trace = {"id": "t", "input": {"question": "Q"}, "output": {"answer": "A", "context": ["c"]}}
    path = write(tmp_path, "traces.json", [trace | {"feedback_scores": scores}])
    with pytest.raises(InputError, match="source sdk"):
        read("opik", path)
    rows = read("opik", path, "verdicts").rows
    assert picked(rows, "query answer contexts") == [("Q", "A", ["c"])]
    assert picked(rows, "grade annotator rationale score.value") == [("poor", "anna", "no", 1)]
    (tmp_path / "e.csv").write_text("dataset.question,dataset.expected,output,fit\nQ,E,A,0.5\n", encoding="utf-8")
    rows = read("opik", tmp_path / "e.csv", "labels").rows
    assert picked(rows, "query answer grade dataset.expected") == [("Q", "A", "0.5", "E")]


def marked(name: str, value: object, kind: str = "rating") -> Row:
    return {"type": kind, "from_name": name, "to_name": "x", "value": {kind: value}}


def test_label_studio_counts_what_people_skipped_and_takes_sides_of_pairs(tmp_path: Path) -> None:
    span = {"type": "labels", "from_name": "span", "value": {"start": 0, "end": 1, "labels": ["x"]}}
    task = {
        "id": 3,
        "data": {"query": "Q", "answer": "A"},
        "annotations": [
            {"completed_by": 1, "result": [marked("stars", 4)], "lead_time": 2.5},
            {"completed_by": {"id": 2, "email": "b@x"}, "result": [marked("stars", 2)]},
            {"completed_by": 3, "was_cancelled": True, "result": [marked("stars", 1)]},
            {"completed_by": 4, "result": [span]},
        ],
        "predictions": [{"model_version": "m1", "score": 0.9, "result": [marked("stars", 5)]}],
        "drafts": [{"result": []}],
    }
    found = read("label-studio", write(tmp_path, "t.json", [task]))
    assert picked(found.rows, "annotator grade") == [("1", 4), ("b@x", 2)]
    assert picked(found.verdicts, "judge grade") == [("m1", 5)]
    assert sorted(found.skipped.values()) == [1, 1, 1]
    pair = {"id": 1, "data": {"query": "Q", "answer_a": "A", "answer_b": "B"}}
    side = {"type": "pairwise", "from_name": "better", "to_name": "x", "value": {"selected": "right"}}
    found = read(
        "label-studio", write(tmp_path, "p.json", [{**pair, "annotations": [{"completed_by": 1, "result": [side]}]}])
    )
    assert picked(found.rows, "preference answer_b") == [("b", "B")]


def test_argilla_version_1_counts_submitted_responses_alone(tmp_path: Path) -> None:
    given = [{"user_id": "u1", "value": "4", "status": "submitted"}]
    given += [{"user_id": "u2", "value": "1", "status": "discarded"}]
    row = {"prompt": "Q", "response": "A", "quality": given, "external_id": "e1", "quality-suggestion": 3}
    row |= {"quality-suggestion-metadata": {"type": "model", "agent": "gpt", "score": 0.4}}
    found = read("argilla", write(tmp_path, "a.jsonl", [row]))
    assert picked(found.rows, "item_id query answer grade") == [("e1", "Q", "A", "4")]
    assert picked(found.verdicts, "judge grade") == [("gpt", 3)]
    assert found.skipped == {"responses not submitted (discarded)": 1}


def graded(**grading: object) -> Row:
    given = {"vars": {"question": "Q", "context": "C"}, "response": {"output": "A"}, "provider": {"id": "openai:x"}}
    return {"id": "r1", **given, "success": True, "promptIdx": 0, "gradingResult": grading}


def test_promptfoo_thumb_is_a_label_and_assertions_stay_verdicts(tmp_path: Path) -> None:
    rating = {"pass": False, "score": 0, "reason": "Manual result", "comment": "wrong", "assertion": {"type": "human"}}
    rubric = {"pass": True, "score": 0.8, "reason": "ok", "assertion": {"type": "llm-rubric", "value": "Be kind"}}
    result = graded(**{"pass": False, "score": 0, "reason": "Manual result", "componentResults": [rubric, rating]})
    document = {"evalId": "e", "results": {"version": 3, "timestamp": "2026-01-01T00:00:00Z", "results": [result]}}
    found = read("promptfoo", write(tmp_path, "r.json", document))
    assert picked(found.rows, "query contexts answer agent") == [("Q", ["C"], "A", "openai:x#0")]
    assert picked(found.rows, "grade rationale") == [(False, "wrong")]
    assert picked(found.verdicts, "judge grade reply") == [("llm-rubric: Be kind", 0.8, "ok")]


def test_promptfoo_score_typed_by_hand_is_known_by_its_reason(tmp_path: Path) -> None:
    reason = "Manual result (overrides all other grading results)"
    found = read("promptfoo", write(tmp_path, "r.json", {"results": {"results": [graded(score=0.4, reason=reason)]}}))
    assert [row["grade"] for row in found.rows] == [0.4]


def test_other_reads_any_fields_by_map_and_names_them_without(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", [{"io": {"ask": "Q", "reply": "A"}, "mark": 2, "by": "anna", "extra": 1}])
    with pytest.raises(InputError, match=r"io\.ask, io\.reply, mark, by, extra; .* grade"):
        read("other", path)
    names = {"io.ask": "query", "io.reply": "answer", "mark": "grade", "by": "annotator"}
    rows = read("other", path, "labels", names).rows
    assert picked(rows, "query answer grade annotator extra") == [("Q", "A", 2, "anna", 1)]
    with pytest.raises(InputError, match="no field wrong"):
        read("other", path, "labels", {**names, "wrong": "reference"})


def test_other_reads_lists_inside_a_document_and_objects_in_lists(tmp_path: Path) -> None:
    sample = {"input": "Q", "output": {"choices": [{"message": {"content": "A"}}]}, "scores": {"acc": {"value": "C"}}}
    path = write(tmp_path, "log.json", {"version": 2, "run": {"samples": [sample, sample]}})
    with pytest.raises(InputError, match=r"no such list; .* samples"):
        read("other", Path(f"{path}#run.wrong"))
    names = {"output.choices.0.message.content": "answer", "scores.acc.value": "grade"}
    found = read("other", Path(f"{path}#run.samples"), "verdicts", names)
    assert picked(found.rows, "query answer") == [("Q", "A")] * 2
    assert [verdict["grade"] for verdict in found.verdicts] == ["C", "C"]


def test_field_of_a_task_that_is_called_like_a_label_becomes_none(tmp_path: Path) -> None:
    machine = {"grade": 1, "accept": True, "annotator": "gpt", "grade.tone": 2}
    data = {"query": "Q", "answer": "A", **machine}
    person = {"completed_by": 1, "result": [marked("stars", 4)]}
    tasks = [{"id": 1, "data": data, "annotations": [person]}, {"id": 2, "data": data}]
    labelled, bare = read("label-studio", write(tmp_path, "t.json", tasks)).rows
    assert (labelled["grade"], labelled["annotator"]) == (4, "1")
    assert not set(machine) & set(bare)
    assert {f"data.{name}": value for name, value in machine.items()}.items() <= bare.items()


def test_score_without_a_value_is_no_label_and_its_comment_is_kept(tmp_path: Path) -> None:
    run = {"id": "r1", "run_type": "chain", "inputs": {"question": "Q"}, "outputs": {"output": "A"}}
    by = {"run_id": "r1", "key": "k", "feedback_source": {"type": "app", "user_id": "u"}}
    told = [
        {**by, "score": 1, "value": None, "created_at": "2026-01-01T10:00:00Z"},
        {**by, "score": None, "value": None, "created_at": "2026-01-01T11:00:00Z"},  # does not replace the first
        {**by, "score": None, "comment": "names no valve"},
        {**by, "score": 0.5, "value": {"a": 1}, "feedback_source": {"type": "app", "user_id": "v"}},
        {**by, "score": 1, "value": "good", "feedback_source": {"type": "app", "user_id": "w"}},
    ]
    found = read("langsmith", write(tmp_path, "f.json", [run, *told]))
    assert (found.labels, found.texts, found.skipped) == (3, 1, {"without a value": 1})
    assert {row["annotator"]: row["grade"] for row in found.rows} == {"u": 1, "v": 0.5, "w": "good"}
    by_name = {row["annotator"]: row for row in found.rows}
    assert by_name["u"]["k"] == "names no valve"
    assert (by_name["v"]["score.value"], by_name["w"]["score.score"]) == ({"a": 1}, 1)


def test_later_of_two_labels_is_told_across_time_zones(tmp_path: Path) -> None:
    times = ("2026-01-01T12:30:00+02:00", "2026-01-01T11:00:00Z", "2026-01-01T10:59:59.5Z")
    rows = [score("q", n, "ANNOTATION", author_user_id="a", timestamp=time) for n, time in enumerate(times, 1)]
    assert [row["grade"] for row in read("langfuse", write(tmp_path, "s.json", rows)).rows] == [2]


def test_phoenix_command_line_tells_traces_from_sessions(tmp_path: Path) -> None:
    span = {"context": {"trace_id": "T", "span_id": "s"}, "attributes": {"input.value": "Q", "output.value": "A"}}
    notes = [
        {"targetType": kind, "targetId": target, "name": "q", "label": "good", "annotatorKind": "HUMAN"}
        for kind, target in (("trace", "T"), ("span", "s"), ("session", "S"))
    ]
    found = read("phoenix", write(tmp_path, "p.json", [{"name": "x", **span}, *notes]))
    assert {row["item_id"] for row in found.rows} == {"s"}
    assert (found.labels, [reason.partition(",")[0] for reason in found.skipped]) == (2, ["of a session"])


def test_texts_of_people_take_no_column_of_the_item(tmp_path: Path) -> None:
    texts = {"answer": ["Better."], "place": ["a", "b"]}
    results = [{"from_name": name, "type": "textarea", "value": {"text": text}} for name, text in texts.items()]
    annotation = {"completed_by": 1, "lead_time": 9, "result": [*results, marked("grade", 4), marked("tone", 2)]}
    task = {"id": 1, "data": {"question": "Q", "answer": "A", "place": "Ulm"}, "annotations": [annotation]}
    found = read("label-studio", write(tmp_path, "t.json", [task]))
    assert picked(found.rows, "answer text.answer place text.place") == [("A", "Better.", "Ulm", "a\nb")]
    assert picked(found.rows, "grade.grade score.grade.lead_time grade.lead_time") == [(4, 9, None)]
    assert (found.labels, found.texts, found.skipped) == (2, 2, {})


def test_argilla_question_that_asks_for_a_text_gives_no_labels(tmp_path: Path) -> None:
    def response(value: object) -> list[Row]:
        return [{"value": value, "user_id": "u"}]

    why = "It names the valve,\nnot the room."
    records = [
        {"id": str(n), "fields": {"question": "Q", "answer": "A"}, "suggestions": {}, "metadata": {}}
        | {"responses": {"quality": response(n), "why": response(text), "hint": response("short")}}
        for n, text in enumerate(("no", why))
    ]
    path = write(tmp_path, "r.json", records)
    found = read("argilla", path)
    assert (found.columns, found.labels, found.texts) == ({"quality": "grade.quality", "hint": "grade.hint"}, 4, 2)
    found = read("argilla", path, rename={"hint": "rationale"})
    assert found.columns == {"quality": "grade"}
    assert picked(found.rows, "rationale why")[1] == ("short", why)


def test_odd_values_of_known_fields_cost_at_most_their_score(tmp_path: Path) -> None:
    odd = {"value": 1, "name": "q", "source": "EVAL", "subject": {"kind": ["trace"], "id": "t"}}
    found = read("langfuse", write(tmp_path, "l.json", [odd, score("q", 1, "EVAL")]))
    assert (len(found.verdicts), sum(found.skipped.values())) == (1, 1)
    part = {"pass": True, "score": [1], "assertion": {"type": "llm-rubric"}}
    found = read("promptfoo", write(tmp_path, "p.json", {"results": [graded(componentResults=[part])]}))
    assert [row["grade"] for row in found.verdicts] == [[1]]
    chat = marked("chat", {"role": "user"}, "chatmessage")
    task = {"id": 1, "data": {}, "annotations": [{"completed_by": 1, "result": [chat]}]}
    assert [row["query"] for row in read("label-studio", write(tmp_path, "c.json", [task])).rows] == [""]


def test_file_of_another_tool_names_its_fields(tmp_path: Path) -> None:
    path = write(tmp_path, "x.json", [{"foo": 1, "bar": 2}])
    for tool in ("langfuse", "langsmith", "phoenix", "opik", "promptfoo", "argilla", "label-studio"):
        with pytest.raises(InputError, match=r"foo, bar\. .*--map THEIRS=grade"):
            read(tool, path)
    found = read("opik", write(tmp_path, "y.json", [{"id": 1, "input": "Q", "output": "A", "marks": 3}]))
    assert "id, input, output, marks" in found.notes[0]
    assert "other:FILE --map FIELD=grade" in found.notes[0]
    assert (tool_of("mlflow:x"), tool_of("labels.csv"), tool_of("opik:a:b.json")) == (None, None, ("opik", "a:b.json"))


REAL = {  # by sample: records, labels, verdicts, texts
    "langfuse/trace_openai_agents_tools.json": (2, 0, 2, 0),
    "langfuse/trace_pydantic_ai_corrections.json": (1, 0, 0, 1),
    "langsmith/run_post_patch.json": (0, 0, 0, 0),
    "phoenix/openinference_spans.json": (0, 0, 0, 0),
    "label-studio/choices_history.json": (1, 1, 0, 0),
    "label-studio/choices.csv": (1, 1, 0, 0),
    "label-studio/escapes.json": (1, 1, 0, 0),
    "label-studio/chat.json": (4, 0, 0, 0),
    "label-studio/unknown_annotator.json": (1, 1, 0, 0),
    "argilla/records_flat.json": (6, 2, 2, 0),
    "argilla/records_nested.json": (6, 4, 2, 0),
    "promptfoo/results_v3.json": (8, 0, 0, 0),
    "promptfoo/results_v3_2025_trimmed.json": (4, 0, 4, 0),
}


@pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"NO REAL EXPORTS: {SAMPLES} is absent")
@pytest.mark.parametrize("sample", REAL)
def test_real_export_is_read_and_every_score_counted(sample: str) -> None:
    found = read(sample.partition("/")[0], SAMPLES / sample)
    assert (found.records, found.labels, len(found.verdicts), found.texts) == REAL[sample]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"NO REAL EXPORTS: {SAMPLES} is absent")
@pytest.mark.parametrize("sample", ["label-studio/import_mixed_traps.json", "promptfoo/results_v1.json"])
def test_real_export_without_a_mark_of_its_origin_is_refused(sample: str) -> None:
    with pytest.raises(InputError, match="--as labels"):
        read(sample.partition("/")[0], SAMPLES / sample)
    assert read(sample.partition("/")[0], SAMPLES / sample, "labels").labels == 4


DIALOGUES = Path(__file__).parents[3] / "../shared/data/recorded"


@pytest.mark.skipif(not DIALOGUES.is_dir(), reason=f"NO REAL VERDICTS: {DIALOGUES} is absent")
def test_real_labels_and_verdicts_through_an_export_keep_their_published_correlation(tmp_path: Path) -> None:
    """LLM-Rubric: the likeliest grade of GPT-3.5 and the human on q0 have Kendall's tau .081."""
    from scipy.stats import kendalltau

    from judgec.table.tables import read_table

    scores = [
        score("q0", row["grade.q0"], "ANNOTATION", trace_id=row["item_id"], author_user_id=row["annotator"])
        for row in map(json.loads, (DIALOGUES / "llmrubric_dialogue.jsonl").read_text(encoding="utf-8").splitlines())
    ]
    scores += [
        score("q0", row["grade"], "EVAL", trace_id=row["item_id"])
        for row in read_table(str(DIALOGUES / "llmrubric_dialogue.verdicts.parquet")).rows
        if row["aspect"] == "q0"
    ]
    found = read("langfuse", write(tmp_path, "scores.jsonl", scores))
    said = {row["item_id"]: row["grade"] for row in found.verdicts}
    pairs = [(row["grade"], said[row["item_id"]]) for row in found.rows]
    assert (found.labels, len(found.verdicts)) == (223, 223)
    assert kendalltau(*zip(*pairs, strict=True)).statistic == pytest.approx(0.081, abs=0.0005)
