"""Files as people and tools write them, one test a report; each input is made up and small."""

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judgec
from judgec.connect.scores.registry import read_scores
from judgec.connect.scores.table import As, ImportedScores, imported
from judgec.errors import InputError
from judgec.labels.bulk.items import open_items
from judgec.labels.labels import read_label_file
from judgec.labels.reading import as_reading
from judgec.records.label import LabelSet
from judgec.table.rows.cells import as_texts
from judgec.table.tables import read_table
from judgec.tournament.files.games import games_of
from judgec.verbs.options.audit import AuditOptions
from judgec.verbs.options.compare import CompareOptions
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from judgec.verbs.options.estimate import EstimateOptions
from judgec.verbs.options.evaluate import EvaluateOptions
from judgec.verbs.options.init import InitOptions

N = 24
Rows = list[dict[str, object]]


def lines(path: Path, rows: Sequence[object]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def exported(tool: str, path: Path, content: object, unmarked: As | None = None, **rename: str) -> ImportedScores:
    """What an export of a tool holds, which is JSON, or JSON lines where it is a list."""
    if isinstance(content, list):
        lines(path, content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return imported(read_scores(tool, str(path), rename), path.name, rename, unmarked)


def graders(labels: LabelSet) -> set[str]:
    return {label.annotator for label in labels.labels}


def test_contexts_of_a_csv_are_the_passages_that_pandas_printed(tmp_path: Path) -> None:
    """vibrantlabsai/ragas issues 191 and 414: contexts that came back from CSV are one text."""
    text = "question,answer,contexts,grade\n"
    text += "".join(f"""q{i}?,a{i},"['passage {i}', ""it's {i}""]",{i % 3}\n""" for i in range(N))
    (tmp_path / "t.csv").write_text(text)
    found = read_label_file(str(tmp_path / "t.csv"), as_reading(columns={"question": "query"}, best="2"))
    assert found.labels.items[3].inputs["contexts"] == ("passage 3", "it's 3")


def test_list_that_was_cut_is_said(tmp_path: Path) -> None:
    """numpy prints long arrays with three dots; such a cell cannot be taken apart."""
    rows = [{"query": f"q{i}", "answer": "a", "contexts": "['a' 'b' ... 'c']", "grade": i % 2 + 1} for i in range(4)]
    notes = read_label_file(lines(tmp_path / "t.jsonl", rows)).labels.notes
    assert any("one text each" in note and "4 cells" in note for note in notes)


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-16-le", "mac_roman", "utf-8-sig"])
def test_sheet_that_excel_saved_is_read(tmp_path: Path, encoding: str) -> None:
    """t-markmann/nc-userimporter issue 21, Safiullah-Rahu/CSV-AI issue 8: umlauts of a CSV that is not UTF-8."""
    text = "Frage;Antwort;Prüferin Mia\r\n" + "".join(f"Größe {i}?;{i},5 Meter;{i % 3}\r\n" for i in range(N))
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    table = read_table(str(tmp_path / "t.csv"))
    assert table.columns == ("Frage", "Antwort", "Prüferin Mia")
    assert table.rows[1]["Frage"] == "Größe 1?"
    assert len(table.notes) == (encoding != "utf-8-sig")


def test_file_of_two_encodings_is_refused(tmp_path: Path) -> None:
    """WheatonCS/Lexos issue 430: what was decoded once too often looks like two letters."""
    (tmp_path / "t.csv").write_bytes("q,a\nGröße,1\n".encode() + "Größe,2\n".encode("cp1252"))
    with pytest.raises(InputError, match=r"t.csv:3: byte 0xf6"):
        read_table(str(tmp_path / "t.csv"))


def test_lines_of_utf_16_that_were_joined_are_read(tmp_path: Path) -> None:
    """A second byte-order mark stands in the middle where two files of UTF-16 were put together."""
    row = json.dumps({"query": "q", "answer": "a"}) + "\n"
    (tmp_path / "t.jsonl").write_bytes(row.encode("utf-16") + row.encode("utf-16"))
    assert len(read_table(str(tmp_path / "t.jsonl")).rows) == 2


SHAPES: dict[str, Callable[[list[dict[str, object]]], object]] = {
    "wrapped": lambda rows: {"data": rows},
    "squad": lambda rows: {"version": "1.1", "data": rows},
    "datasets-server": lambda rows: {
        "features": [{"name": "query"}],
        "rows": [{"row_idx": i, "row": row, "truncated_cells": []} for i, row in enumerate(rows)],
        "num_rows_total": len(rows),
    },
    "row": lambda rows: {"rows": [{"row": row} for row in rows]},
    "airtable": lambda rows: {"records": [{"createdTime": "2026", "fields": row} for row in rows], "offset": "x"},
    "datasets.to_dict": lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
    "pandas.to_json": lambda rows: {name: {str(i): row[name] for i, row in enumerate(rows)} for name in rows[0]},
    "pandas split": lambda rows: {"columns": list(rows[0]), "data": [list(row.values()) for row in rows]},
    "array": lambda rows: rows,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("indent", [None, 1])
def test_json_of_another_shape_is_read(tmp_path: Path, shape: str, indent: int | None) -> None:
    """pandas, datasets and SQuAD each write a table as one JSON value of another shape."""
    rows: Rows = [{"query": f"q{i}", "answer": f"a{i}", "grade": i % 2} for i in range(N)]
    (tmp_path / "t.json").write_text(json.dumps(SHAPES[shape](rows), indent=indent))
    assert [dict(row) for row in read_table(str(tmp_path / "t.json")).rows] == rows


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"evalId": "e", "results": {"results": []}}, r"labels import OUT\.jsonl promptfoo:.*t\.json"),
        ({"train": [{"q": 1}], "test": [{"q": 2}]}, r"train \(1\), test \(1\).* OUT\.jsonl other:.*t\.json#train"),
    ],
)
def test_json_that_is_no_table_names_the_command(tmp_path: Path, value: object, says: str) -> None:
    """An export of a tool, or several lists, in place of rows."""
    (tmp_path / "t.json").write_text(json.dumps(value, indent=1))
    with pytest.raises(InputError, match=says):
        read_table(str(tmp_path / "t.json"))


def test_chat_log_with_nested_feedback_is_labels(tmp_path: Path) -> None:
    """OpenAI's chat messages with feedback and metadata as objects, as chat front ends log them."""
    rows = [
        {"messages": [{"role": "user", "content": f"q{i}?"}, {"role": "assistant", "content": f"a{i}"}]}
        | {"expected": f"e{i}", "meta": {"model": f"r{i % 2}"}, "feedback": {"score": i % 5 + 1, "by": "mia"}}
        for i in range(N)
    ]
    columns = {"expected": "reference", "feedback.by": "annotator", "feedback.score": "grade"}
    said: dict[str, Any] = {"columns": columns, "annotators": ("mia",), "best": "5"}
    labels = judgec.init(lines(tmp_path / "t.jsonl", rows), **said).labels
    assert [labels.items[1].inputs[name] for name in ("query", "answer", "reference")] == ["q1?", "a1", "e1"]
    assert (len(labels.items), graders(labels)) == (N, {"mia"})


def test_ragas_columns_are_named(tmp_path: Path) -> None:
    """vibrantlabsai/ragas: SingleTurnSample."""
    rows = [
        {"user_input": f"What is {i}?", "retrieved_contexts": [f"{i} is a number", "others"]}
        | {"response": f"It is the number {i}.", "reference": f"{i}", "label": i % 2}
        for i in range(N)
    ]
    columns = {"user_input": "query", "retrieved_contexts": "contexts", "response": "answer", "label": "grade"}
    labels = judgec.read_labels(lines(tmp_path / "t.jsonl", rows), columns=columns, best=1).label_set
    found = judgec.init(str(tmp_path / "t.jsonl"), columns=columns, best="1").labels
    assert (found.digest, len(found.labels)) == (labels.digest, N)
    assert found.items[0].inputs.keys() == {"query", "answer", "reference", "contexts"}


def dices(n: int, raters: int) -> Sequence[Mapping[str, object]]:
    """google-research-datasets/dices-dataset: a response to a context, a row an item and rater."""
    people: list[dict[str, object]] = [
        {"rater_id": i % raters, "rater_gender": ("Man", "Woman")[i % raters % 2], "item_id": i // raters}
        for i in range(raters * n)
    ]
    return [
        people[i]
        | {"context": f"USER: tell me about number {i // raters}", "response": f"Number {i // raters} is a fine one."}
        for i in range(raters * n)
    ]


def test_dices_columns_are_named(tmp_path: Path) -> None:
    rows: Rows = [{**row, "Q_overall": ("No", "Yes", "Unsure")[i % 3]} for i, row in enumerate(dices(N, 4))]
    ours = {"context": "query", "response": "answer", "rater_id": "annotator", "Q_overall": "grade"}
    said: dict[str, Any] = {"annotators": "*", "grades": ("No", "Unsure", "Yes")}
    found = judgec.init(lines(tmp_path / "t.jsonl", rows), columns=ours, **said)
    assert (found.labels.scale.grades, graders(found.labels)) == (("No", "Unsure", "Yes"), set("0123"))
    assert len(found.labels.items) == N
    assert found.project.columns == ours


JUDGE_BENCH = {"question": "q{}", "response_A": "one {}", "response_B": "two {}", "pair_id": "p{}"}  # ScalerLab
LLM_BAR = {"input": "q{}", "output_1": "one {}", "output_2": "two {}"}  # princeton-nlp
PAIR_INPUTS = ("answer_a", "answer_b")
PAIR = {"query": "q{}", "answer_a": "one {}", "answer_b": "two {}"}


def filled(cells: Mapping[str, object], i: int) -> dict[str, object]:
    """The number in each text."""
    return {
        name: cell.format(i) if isinstance(cell, str) else [one.format(i) for one in cell]  # type: ignore[attr-defined]  # a list
        for name, cell in cells.items()
    }


@pytest.mark.parametrize(
    ("row", "labels", "words"),
    [(JUDGE_BENCH, ("A>B", "B>A"), None), (LLM_BAR, (1, 2), {"1": "a", "2": "b"})],
    ids=["JudgeBench", "LLMBar"],
)
def test_pairs_of_benchmarks_need_at_most_one_flag(
    tmp_path: Path, row: dict[str, str], labels: tuple[object, object], words: dict[str, str] | None
) -> None:
    rows = [{**filled(row, i), "label": labels[i % 2]} for i in range(N)]
    columns = dict(zip(row, ("query", *PAIR_INPUTS), strict=False)) | {"label": "preference"}
    file = lines(tmp_path / "t.jsonl", rows)
    found = judgec.read_labels(file, winner_words=words, columns=columns).label_set
    assert [found.scale.grades[label.grades["grade"]] for label in found.labels[:2]] == ["a", "b"]


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv"])
@pytest.mark.parametrize(
    ("task", "row", "ours"),
    [
        (
            "grade",
            {"user_input": "What is {}?", "response": "It is {}.", "retrieved_contexts": ["on {}", "others"]},
            {"query": "What is {}?", "answer": "It is {}.", "contexts": ["on {}", "others"]},
        ),
        ("preference", JUDGE_BENCH, PAIR),
        ("preference", LLM_BAR, PAIR),
        (
            "grade",
            {"context": "USER: tell me {}", "response": "Number {} is fine.", "rater_gender": "Man"},
            {"query": "USER: tell me {}", "answer": "Number {} is fine."},
        ),
    ],
    ids=["ragas", "JudgeBench", "LLMBar", "DICES"],
)
def test_items_under_the_heads_of_other_tools_are_named(
    tmp_path: Path, task: str, row: Mapping[str, object], ours: Mapping[str, object], kind: str
) -> None:
    """The same heads as in labels, whether a file is read in pieces or as a whole."""
    frame = pd.DataFrame([filled(row, i) for i in range(N)])
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=kind == "jsonl")
    heads = dict(zip(row, ours, strict=False))
    found = open_items(str(path), task=task, rename=heads)
    items = [*found.items]
    read = [{k: list(v) if isinstance(v, tuple) else v for k, v in item.inputs.items()} for item in items]
    assert read == [filled(ours, i) for i in range(N)]


def test_words_that_are_missing_hold_in_every_verb_that_reads_labels_or_verdicts(tmp_path: Path) -> None:
    """Said once: as an option, or in judgec.toml beside the file."""
    rows = [{"item_id": f"i{i}", "query": f"q{i}", "answer": f"a{i}", "grade": i % 3 if i % 7 else "keine"}
            for i in range(3 * N)]  # fmt: skip
    said = [{"item_id": f"i{i}", "judge": "gpt", "grade": i % 3 if i % 5 else "nixda"} for i in range(3 * N)]
    labels, verdicts = (str(tmp_path / f"{name}.csv") for name in ("labels", "verdicts"))
    pd.DataFrame(rows).to_csv(labels, index=False)
    pd.DataFrame(said).to_csv(verdicts, index=False)
    words = ("keine", "nixda")
    for source in (labels, rows):
        assert judgec.read_labels(source, missing=words, best=2).label_set.scale.grades == (0, 1, 2)
    beside = [{**one, "llm": other["grade"]} for one, other in zip(rows, said, strict=True)]
    found = [judgec.agreement(beside, judges="llm", missing=words, best=2)]
    found.append(judgec.agreement(verdicts, labels=labels, missing=words, best=2))
    (tmp_path / "judgec.toml").write_text('missing = ["keine", "nixda"]')
    found.append(judgec.agreement(verdicts, labels=labels, best=2))
    assert [one.estimates["qwk"].value for one in found] == [1, 1, 1]
    pair = {"agent_a": "x", "agent_b": "y"}
    games = [{"query_id": f"q{i}", **pair, "winner": "a" if i % 4 else "nixda"} for i in range(N)]
    assert judgec.rank(games, missing=words).agents[0] == "x"
    verbs = (CompileJudgeOptions, EvaluateOptions, EstimateOptions, CompareOptions, AuditOptions, InitOptions)
    assert all("missing" in {one.name for one in fields(verb)} for verb in verbs)


def conversation(number: int, side: str) -> list[dict[str, str]]:
    return [
        {"role": role, "content": text}
        for at, question in enumerate((f"q{number}", f"and {number}?"), 1)
        for role, text in (("user", question), ("assistant", f"answer {at} to {number} by {side}"))
    ]


def mt_bench(people: Sequence[str] = ("expert_0", "author_1")) -> Rows:
    """lmsys/mt_bench_human_judgments: each pair in two turns, its conversations always whole, ``judge`` a person."""
    words = ("model_a", "model_b", "tie")
    return [
        {
            "question_id": i,
            "model_a": "alpaca",
            "model_b": "gpt",
            "winner": words[(i + turn + at * (i % 4 == 0)) % 3],
            "judge": judge,
        }
        | {"gpt4": words[(i + turn) % 3], "turn": turn}
        | {"conversation_a": conversation(i, "alpaca"), "conversation_b": conversation(i, "gpt")}
        for i in range(N)
        for turn in (1, 2)
        for at, judge in enumerate(people)
    ]


def test_mt_bench_columns_are_named(tmp_path: Path) -> None:
    """lmsys/mt_bench_human_judgments: two items a pair, one of each turn; both of one query."""
    columns = {"question_id": "query_id", "model_a": "agent_a", "model_b": "agent_b"}
    columns |= {"winner": "preference", "judge": "annotator"}
    said: dict[str, Any] = {"annotators": ("expert_0", "author_1"), "judges": ("gpt4",)}
    labels = judgec.init(lines(tmp_path / "t.jsonl", mt_bench()), columns=columns, **said).labels
    assert (labels.task, graders(labels)) == ("preference", {"expert_0", "author_1"})
    assert (len(labels.items), len({item.query_id for item in labels.items})) == (2 * N, N)
    answers = [item.inputs["answer_a"] for item in labels.items[:2]]
    assert answers == [f"answer {turn} to 0 by alpaca" for turn in (1, 2)]


def test_mt_bench_games_without_texts_are_measured_and_ranked(tmp_path: Path) -> None:
    """lmsys/mt_bench_human_judgments without its conversations; turns are compared apart, queries are known."""
    people = ("expert_0", "author_1", "mia@example.org")
    rows = [{k: v for k, v in row.items() if not k.startswith("conversation")} for row in mt_bench(people)]
    file = lines(tmp_path / "t.jsonl", rows)
    names = {"winner": "preference", "judge": "annotator", "question_id": "query_id"}
    columns = {**names, "model_a": "agent_a", "model_b": "agent_b"}
    found = judgec.agreement(file, annotators=people, judges="gpt4", columns=columns)
    assert found.agreement.n_clusters == N
    assert found.alt_test is not None
    assert {one.annotator for one in found.alt_test.contests} == set(people)
    assert not [note for note in found.notes if "repeat an annotator" in note or "judge an item otherwise" in note]
    assert len(games_of(read_table(file)).queries) == N


def test_promptfoo_error_is_no_verdict(tmp_path: Path) -> None:
    """promptfoo/promptfoo issue 827: a result without an answer has success false, and no grading."""
    graded = {"vars": {"question": "Q1"}, "response": {"output": "A"}, "success": True, "gradingResult": None}
    failed = {"vars": {"question": "Q2"}, "error": "429", "response": None, "success": False, "score": 0}
    no = {"pass": False, "score": 0}
    part = {**no, "reason": "API error: 429", "assertion": {"type": "llm-rubric", "value": "x"}}
    unjudged = {"vars": {"question": "Q3"}, "response": {"output": "C"}, "success": False}
    unjudged["gradingResult"] = {**no, "componentResults": [part]}
    results = {"evalId": "e", "results": {"results": [graded, failed, unjudged]}}
    found = exported("promptfoo", tmp_path / "p.json", results, "verdicts")
    assert [row["query"] for row in found.rows] == ["Q1", "Q3"]
    assert [verdict["grade"] for verdict in found.verdicts] == [True]
    assert sorted((reason[:10], n) for reason, n in found.skipped.items()) == [("the judge ", 1), ("the system", 1)]


def test_opik_reasons_are_reasons(tmp_path: Path) -> None:
    """comet-ml/opik: an experiment's CSV has NAME_reason beside each score."""
    heads = "dataset_item_id,input.question,output.answer,feedback_scores.correct,feedback_scores.correct_reason"
    found = exported("opik", tmp_path / "o.csv", f"{heads}\nd1,Q1,A1,1,fits\nd2,Q2,A2,0,2\n", "labels")
    read = [(row["query"], row["answer"], row["grade"], row["rationale"]) for row in found.rows]
    assert read == [("Q1", "A1", "1", "fits"), ("Q2", "A2", "0", "2")]


def test_deepeval_metric_that_failed_is_unscored(tmp_path: Path) -> None:
    """confident-ai/deepeval: ``metricsData`` has score, reason and error of each metric."""
    rows = [
        {"input": "Q1", "actualOutput": "A1", "metricsData": [{"score": 0.5, "reason": "half", "error": None}]},
        {"input": "Q2", "actualOutput": "A2", "metricsData": [{"score": 0, "reason": None, "error": "timeout"}]},
        {"input": "Q3", "actualOutput": None, "error": "500", "metricsData": [{"score": 0, "reason": "no answer"}]},
    ]
    rename = {"metricsData.0.score": "grade", "input": "query", "actualOutput": "answer"}
    found = exported("other", tmp_path / "d.jsonl", rows, "verdicts", **rename)
    assert [(verdict["grade"], verdict["reply"]) for verdict in found.verdicts] == [(0.5, "half")]
    assert sum(found.skipped.values()) == 2


def test_langfuse_trace_that_failed_is_left_out(tmp_path: Path) -> None:
    """langfuse/langfuse: an observation of level ERROR, and a score of the evaluator on nothing."""
    error = {"id": "o", "traceId": "t2", "type": "GENERATION", "level": "ERROR"}
    traces = [
        {"id": "t1", "input": "Q1", "output": "A1", "scores": [{"name": "s", "value": 1, "source": "EVAL"}]},
        {"id": "t2", "input": "Q2", "output": None, "scores": [{"name": "s", "value": 0, "source": "EVAL"}]}
        | {"observations": [error]},
        {"id": "t3", "input": "Q3", "output": None, "scores": [{"name": "s", "value": 0, "source": "EVAL"}]}
        | {"level": "ERROR"},  # on the trace itself
    ]
    found = exported("langfuse", tmp_path / "l.jsonl", traces)
    assert [row["query"] for row in found.rows] == ["Q1"]
    assert [verdict["grade"] for verdict in found.verdicts] == [1]
    assert sum(found.skipped.values()) == 2


def harness_log(name: str) -> dict[str, object]:
    """A log with one verdict, two samples that ended in an error behind an answer, and a judge's error."""
    if name == "deepeval":
        failed = [{"name": "m", "score": 0.0, "error": "TimeoutError"}, {"name": "m", "skipped": True}]
        cases = [
            {"input": "Q1", "actualOutput": "A1", "expectedOutput": "E1", "metricsData": [{"name": "m", "score": 0.5}]},
            {"input": "Q2", "actualOutput": None, "metricsData": [{"name": "m", "score": 0.0}]}
            | {"trace": {"status": "ERRORED"}},
            {"input": "Q3", "actualOutput": "A3", "metricsData": failed},
        ]
        return {"testCases": cases, "metricsScores": []}
    samples: list[dict[str, object]] = [
        {"id": n, "epoch": 1, "input": f"Q{n}", "target": f"E{n}", "scores": {"m": {"value": 0.5}}}
        | {"output": {"choices": [{"message": {"role": "assistant", "content": f"A{n}"}, "stop_reason": "stop"}]}}
        for n in (1, 2, 3, 4)
    ]
    samples[1]["error"] = {"message": "OOM", "traceback": "...", "traceback_ansi": ""}
    samples[2]["scores"] = {"m": {"value": float("nan"), "explanation": "the judge could not be parsed"}}
    samples[2]["output"] = {"completion": "A3"}
    samples[3]["error"] = {"message": "429"}  # without a traceback
    return {"version": 2, "status": "success", "eval": {"model": "openai/x"}, "samples": samples}


@pytest.mark.parametrize(("tool", "kind"), [("deepeval", "json"), ("inspect", "json"), ("inspect", "eval")])
def test_errored_samples_of_harnesses_are_no_verdicts(tmp_path: Path, tool: str, kind: str) -> None:
    """UKGovernmentBEIS/inspect_ai EvalSample.error; confident-ai/deepeval MetricData.error and trace.status."""
    log, file = harness_log(tool), tmp_path / f"log.{kind}"
    if kind == "eval":
        samples = log.pop("samples")
        assert isinstance(samples, list)
        with zipfile.ZipFile(file, "w") as held:
            held.writestr("header.json", json.dumps(log))
            for sample in samples:
                held.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        found = imported(read_scores("other", str(file), {}), str(file), {})
    else:
        found = exported("other", file, log)
    assert next((row["query"], row["answer"], row["reference"]) for row in found.rows) == ("Q1", "A1", "E1")
    assert [row["query"] for row in found.rows] == ["Q1", "Q3"]
    assert [(verdict["judge"], verdict["grade"]) for verdict in found.verdicts] == [("m", 0.5)]
    assert found.records == 1 + sum(found.skipped.values()) == 4
    assert found.skipped.get("no score", 0) == (tool == "inspect")


def test_langfuse_corrections_are_labels_of_who_corrected(tmp_path: Path) -> None:
    """langfuse/langfuse: a score of type CORRECTION, or called so; one of the answer itself stays a text."""
    machine = {"name": "correct", "value": 1, "dataType": "BOOLEAN", "source": "EVAL"}
    typed = {"name": "correct", "value": 0, "dataType": "CORRECTION", "source": "ANNOTATION", "authorUserId": "anna"}
    called = {"name": "Correction", "stringValue": "false", "value": 0, "source": "API", "authorUserId": "ben"}
    answer = typed | {"name": "output", "longStringValue": "yes"}
    traces = [
        {"id": f"t{n}", "input": f"Q{n}", "output": f"A{n}", "scores": scores, "corrections": corrections}
        for n, (scores, corrections) in enumerate([([machine, typed], []), ([machine, called], []), ([], [answer])])
    ]
    found = exported("langfuse", tmp_path / "l.jsonl", traces)
    read = [(row["annotator"], row.get("grade"), row.get("correction")) for row in found.rows]
    assert read == [("anna", 0, None), ("ben", "false", None), ("anna", None, "yes")]
    assert (dict(found.annotators), len(found.verdicts)) == ({"anna": 1, "ben": 1}, 2)


PRINTED = {
    "numpy": "['Water boils at a hundred degrees, as everybody knows. '\n 'Ice melts at zero degrees, or so. ']",
    "numpy of two lengths": "['one of them '\n 'another passage that is by far longer than the first one ']",
    "pprint": "['this is one text that was wrapped by the printer of '\n 'Python as it is longer than a line is ']",
    "array in a list": "[array(['a', 'b'], dtype=object)]",
    "encoded twice": json.dumps(json.dumps(["a", "b"])),
}


@pytest.mark.parametrize("name", PRINTED)
def test_printed_passages_are_told_apart(name: str) -> None:
    assert len(as_texts(PRINTED[name])[0]) == (1 if name == "pprint" else 2)


@pytest.mark.parametrize("cells", [("20%", "40%", "60%"), (0, 0.25, 0.5, 0.75, 1), ("0%", "50%", "100%", "25%")])
def test_shares_are_no_means_of_raters(tmp_path: Path, cells: tuple[object, ...]) -> None:
    rows = [{"query": f"q{i}", "answer": f"a{i}", "grade": cells[i % len(cells)]} for i in range(N)]
    any_number = {"level": "interval", "grades": [0, 1]}
    found = judgec.read_labels(lines(tmp_path / "t.jsonl", rows), scale=any_number).label_set
    assert "means of" not in " ".join(found.notes)


def test_numbers_for_a_winner_are_asked_about_by_agreement() -> None:
    rows = [{"preference": i % 3, "gpt4": (i + i % 2) % 3} for i in range(N)]
    with pytest.raises(InputError, match="--winner-words"):
        judgec.agreement(rows, judges="gpt4")
    assert judgec.agreement(rows, judges="gpt4", winner_words={"1": "a", "2": "b", "0": "tie"})


@pytest.mark.parametrize(
    ("tool", "export"),
    [
        ("promptfoo", {"results": {"version": 3, "results": [{"vars": {"q": "1"}, "success": True}]}}),
        ("other", {"version": 2, "eval": {"model": "m"}, "samples": [{"id": 1, "input": "q", "scores": {}}]}),
        ("other", {"testCases": [{"input": "q", "actualOutput": "a", "metricsData": []}]}),
        ("label-studio", [{"id": 1, "data": {"q": "1"}, "annotations": [{"result": []}]}]),
    ],
)
def test_an_export_of_a_tool_is_named_with_the_import_that_reads_it(tmp_path: Path, tool: str, export: object) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps(export), "utf-8")
    with pytest.raises(InputError, match=rf"labels import OUT\.jsonl {tool}:"):
        judgec.read_labels(str(path))
