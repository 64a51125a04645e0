"""Files as people and tools write them, one test a report; each input is made up and small."""

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pytest

import judgec
from judgec.connect.scores.registry import read_scores
from judgec.connect.scores.table import imported
from judgec.errors import InputError, UserError
from judgec.labels.labels import read_label_file
from judgec.labels.stream.pieces import open_items
from judgec.table.rows.cells import as_texts
from judgec.table.tables import read_table
from judgec.tournament.files.games import read_games
from judgec.verbs.options.audit import AuditOptions
from judgec.verbs.options.compare import CompareOptions
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from judgec.verbs.options.estimate import EstimateOptions
from judgec.verbs.options.evaluate import EvaluateOptions
from judgec.verbs.options.init import InitOptions

N = 24


def lines(path: Path, rows: Sequence[object]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_contexts_of_a_csv_are_the_passages_that_pandas_printed(tmp_path: Path) -> None:
    """vibrantlabsai/ragas issues 191 and 414: contexts that came back from CSV are one text."""
    text = "question,answer,contexts,grade\n"
    text += "".join(f"""q{i}?,a{i},"['passage {i}', ""it's {i}""]",{i % 3}\n""" for i in range(N))
    (tmp_path / "t.csv").write_text(text)
    found = read_label_file(str(tmp_path / "t.csv"), rename={"question": "query"})
    assert found.labels.items[3].inputs["contexts"] == ("passage 3", "it's 3")


def test_list_that_was_cut_is_said(tmp_path: Path) -> None:
    """numpy prints long arrays with three dots; such a cell cannot be taken apart."""
    rows = [{"query": f"q{i}", "answer": "a", "contexts": "['a' 'b' ... 'c']", "grade": i % 2 + 1} for i in range(4)]
    notes = read_label_file(lines(tmp_path / "t.jsonl", rows)).labels.notes
    assert any("read as one text each, in 4 cells" in note for note in notes)


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


@pytest.mark.parametrize(
    "shape",
    [
        lambda rows: {"data": rows},
        lambda rows: {"version": "1.1", "data": rows},
        lambda rows: {
            "features": [{"name": "query"}],
            "rows": [{"row_idx": i, "row": row, "truncated_cells": []} for i, row in enumerate(rows)],
            "num_rows_total": len(rows),
        },
        lambda rows: {"rows": [{"row": row} for row in rows]},
        lambda rows: {"records": [{"createdTime": "2026", "fields": row} for row in rows], "offset": "x"},
        lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
        lambda rows: {name: {str(i): row[name] for i, row in enumerate(rows)} for name in rows[0]},
        lambda rows: {"columns": list(rows[0]), "data": [list(row.values()) for row in rows]},
        lambda rows: rows,
    ],
    ids=[
        "wrapped",
        "squad",
        "datasets-server",
        "row",
        "airtable",
        "datasets.to_dict",
        "pandas.to_json",
        "pandas split",
        "array",
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_json_of_another_shape_is_read(tmp_path: Path, shape: object, indent: int | None) -> None:
    """pandas, datasets and SQuAD each write a table as one JSON value of another shape."""
    rows = [{"query": f"q{i}", "answer": f"a{i}", "grade": i % 2} for i in range(N)]
    assert callable(shape)
    (tmp_path / "t.json").write_text(json.dumps(shape(rows), indent=indent))
    assert [dict(row) for row in read_table(str(tmp_path / "t.json")).rows] == rows


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"evalId": "e", "results": {"results": []}}, r"labels import OUT\.jsonl promptfoo:.*t\.json"),
        (
            {"train": [{"q": 1}], "test": [{"q": 2}]},
            r"train \(1\), test \(1\).*labels import OUT\.jsonl other:.*t\.json#train",
        ),
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
        {
            "messages": [{"role": "user", "content": f"q{i}?"}, {"role": "assistant", "content": f"a{i}"}],
            "expected": f"e{i}",
            "meta": {"model": f"r{i % 2}"},
            "feedback": {"score": i % 5 + 1, "by": "mia"},
        }
        for i in range(N)
    ]
    labels = judgec.init(lines(tmp_path / "t.jsonl", rows)).labels
    assert [labels.items[1].inputs[name] for name in ("query", "answer", "reference")] == ["q1?", "a1", "e1"]
    assert labels.items[1].agent == "r1"
    assert {label.annotator for label in labels.labels} == {"mia"}


def test_ragas_columns_need_no_flag(tmp_path: Path) -> None:
    """vibrantlabsai/ragas: SingleTurnSample."""
    rows = [
        {
            "user_input": f"What is {i}?",
            "retrieved_contexts": [f"{i} is a number", "others"],
            "response": f"It is the number {i}.",
            "reference": f"{i}",
            "label": i % 2,
        }
        for i in range(N)
    ]
    labels = judgec.read_labels(lines(tmp_path / "t.jsonl", rows)).label_set
    found = judgec.init(str(tmp_path / "t.jsonl"))
    assert found.labels.digest == labels.digest
    assert found.labels.items[0].inputs.keys() == {"query", "answer", "reference", "contexts"}
    assert len(found.labels.labels) == N


def test_dices_columns_need_no_flag(tmp_path: Path) -> None:
    """google-research-datasets/dices-dataset: a response to a context, a row an item and rater."""
    rows = [
        {
            "rater_id": i % 4,
            "rater_gender": ("Man", "Woman")[i % 4 % 2],
            "item_id": i // 4,
            "context": f"USER: tell me about number {i // 4}",
            "response": f"Number {i // 4} is a fine one.",
            "Q_overall": ("No", "Yes", "Unsure")[i % 3],
        }
        for i in range(4 * N)
    ]
    labels = judgec.read_labels(lines(tmp_path / "t.jsonl", rows)).label_set
    assert labels.scale.grades == ("No", "Unsure", "Yes")
    assert {label.annotator for label in labels.labels} == set("0123")
    found = judgec.init(str(tmp_path / "t.jsonl"))
    assert found.labels.digest == labels.digest
    assert found.project.columns == {
        "context": "query",
        "response": "answer",
        "rater_id": "annotator",
        "Q_overall": "grade",
    }
    assert len(found.labels.items) == N


@pytest.mark.parametrize(
    ("row", "options"),
    [
        ({"question": "q{}", "response_A": "one {}", "response_B": "two {}", "pair_id": "p{}", "label": "A>B"}, {}),
        (
            {"input": "q{}", "output_1": "one {}", "output_2": "two {}", "label": 1},
            {"winner_words": {"1": "a", "2": "b"}},
        ),
    ],
    ids=["ScalerLab/JudgeBench", "princeton-nlp/LLMBar"],
)
def test_pairs_of_benchmarks_need_at_most_one_flag(
    tmp_path: Path, row: dict[str, object], options: dict[str, dict[str, str]]
) -> None:
    other = {"A>B": "B>A", 1: 2}
    rows = [
        {name: cell.format(i) if isinstance(cell, str) else cell for name, cell in row.items()}
        | ({"label": other[row["label"]]} if i % 2 else {})
        for i in range(N)
    ]
    labels = judgec.read_labels(lines(tmp_path / "t.jsonl", rows), winner_words=options.get("winner_words")).label_set
    assert [labels.scale.grades[label.grades["grade"]] for label in labels.labels[:2]] == ["a", "b"]


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv"])
@pytest.mark.parametrize(
    ("task", "row", "ours"),
    [
        (
            "grade",
            {"user_input": "What is {}?", "response": "It is {}.", "retrieved_contexts": ["on {}", "others"]},
            {"query": "What is {}?", "answer": "It is {}.", "contexts": ["on {}", "others"]},
        ),
        (
            "preference",
            {"question": "q{}", "response_A": "one {}", "response_B": "two {}", "pair_id": "p{}"},
            {"query": "q{}", "answer_a": "one {}", "answer_b": "two {}"},
        ),
        (
            "preference",
            {"input": "q{}", "output_1": "one {}", "output_2": "two {}"},
            {"query": "q{}", "answer_a": "one {}", "answer_b": "two {}"},
        ),
        (
            "grade",
            {"context": "USER: tell me {}", "response": "Number {} is fine.", "rater_gender": "Man"},
            {"query": "USER: tell me {}", "answer": "Number {} is fine."},
        ),
    ],
    ids=["ragas", "JudgeBench", "LLMBar", "DICES"],
)
def test_items_under_the_heads_of_other_tools_need_no_flag(
    tmp_path: Path, task: str, row: Mapping[str, object], ours: Mapping[str, object], kind: str
) -> None:
    """The same heads as in labels, whether a file is read in pieces or as a whole."""

    def filled(cells: Mapping[str, object], i: int) -> dict[str, object]:
        return {
            name: cell.format(i) if isinstance(cell, str) else [one.format(i) for one in cell]
            for name, cell in cells.items()
            if isinstance(cell, str | list)
        }

    frame = pd.DataFrame([filled(row, i) for i in range(N)])
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=kind == "jsonl")
    found = open_items(str(path), task=task)
    items = [item for piece in found.pieces() for item in piece.read()]
    read = [{k: list(v) if isinstance(v, tuple) else v for k, v in item.inputs.items()} for item in items]
    assert read == [filled(ours, i) for i in range(N)]
    assert any("--map" in note for note in found.notes)
    assert set(found.rename.values()) >= set(ours)


def test_words_that_are_missing_hold_in_every_verb_that_reads_labels_or_verdicts(tmp_path: Path) -> None:
    """Said once: as an option, or in judgec.toml beside the file."""
    rows = [{"item_id": f"i{i}", "query": f"q{i}", "answer": f"a{i}", "grade": i % 3 if i % 7 else "keine"}
            for i in range(3 * N)]  # fmt: skip
    said = [{"item_id": f"i{i}", "judge": "gpt", "grade": i % 3 if i % 5 else "nixda"} for i in range(3 * N)]
    labels, verdicts = (tmp_path / f"{name}.csv" for name in ("labels", "verdicts"))
    pd.DataFrame(rows).to_csv(labels, index=False)
    pd.DataFrame(said).to_csv(verdicts, index=False)
    words = ("keine", "nixda")
    assert judgec.read_labels(str(labels), missing=words).label_set.scale.grades == (0, 1, 2)
    assert judgec.read_labels(rows, missing=words).label_set.scale.grades == (0, 1, 2)
    beside = [{**one, "llm": other["grade"]} for one, other in zip(rows, said, strict=True)]
    assert judgec.agreement(beside, expert="grade", judge="llm", missing=words).estimates["qwk"].value == 1
    assert judgec.agreement(str(verdicts), labels=str(labels), missing=words).estimates["qwk"].value == 1
    (tmp_path / "judgec.toml").write_text('missing = ["keine", "nixda"]')
    assert judgec.agreement(str(verdicts), labels=str(labels)).estimates["qwk"].value == 1
    games = [
        {"query_id": f"q{i}", "agent_a": "x", "agent_b": "y", "winner": "a" if i % 4 else "nixda"} for i in range(N)
    ]
    assert judgec.rank(games, missing=words).agents[0] == "x"
    verbs = (CompileJudgeOptions, EvaluateOptions, EstimateOptions, CompareOptions, AuditOptions, InitOptions)
    assert all("missing" in {one.name for one in fields(verb)} for verb in verbs)


def test_pandalm_needs_one_flag(tmp_path: Path) -> None:
    """WeOpenML/PandaLM testset-v1.json: three annotators of two responses; the input may be empty."""
    rows = [
        {"idx": i, "instruction": f"Do {i}.", "input": "" if i % 2 else f"with {i}", "response1": f"one {i}"}
        | {"response2": f"two {i}", **{f"annotator{n}": (i + n) % 3 for n in (1, 2, 3)}}
        for i in range(N)
    ]
    (tmp_path / "t.json").write_text(json.dumps(rows, indent=1))
    with pytest.raises(InputError, match="--winner-words '1=a,2=b,0=tie'"):
        judgec.read_labels(str(tmp_path / "t.json"))
    words = {"0": "tie", "1": "a", "2": "b"}
    labels = judgec.read_labels(str(tmp_path / "t.json"), winner_words=words).label_set
    assert [item.inputs["query"] for item in labels.items[:2]] == ["Do 0.\n\nwith 0", "Do 1."]
    assert {label.annotator for label in labels.labels} == {"annotator1", "annotator2", "annotator3"}
    assert judgec.init(str(tmp_path / "t.json"), winner_words=words).labels.digest == labels.digest
    assert open_items(lines(tmp_path / "t.jsonl", rows), task="preference").items == N


def test_two_columns_that_may_be_the_label_are_asked_about(tmp_path: Path) -> None:
    rows = [{"question": f"q{i}", "response": f"a{i}", "rating": i % 5, "score": i % 4} for i in range(N)]
    file = lines(tmp_path / "t.jsonl", rows)
    with pytest.raises(UserError, match=r"score and rating may be the label.*--map rating=grade"):
        judgec.read_labels(file)
    assert len(judgec.read_labels(file, columns={"rating": "grade"})) == N


def conversation(number: int, side: str) -> list[dict[str, str]]:
    asked = (f"q{number}", f"and {number}?")
    return [
        {"role": role, "content": text}
        for at, question in enumerate(asked, 1)
        for role, text in (("user", question), ("assistant", f"answer {at} to {number} by {side}"))
    ]


def mt_bench(people: Sequence[str] = ("expert_0", "author_1")) -> list[dict[str, object]]:
    """lmsys/mt_bench_human_judgments: each pair in two turns, its conversations always whole, ``judge`` a person."""
    return [
        {
            "question_id": i,
            "model_a": "alpaca",
            "model_b": "gpt",
            "winner": ("model_a", "model_b", "tie")[(i + turn + at) % 3],
            "judge": judge,
            "gpt4": ("model_a", "model_b", "tie")[(i + turn) % 3],
            "conversation_a": conversation(i, "alpaca"),
            "conversation_b": conversation(i, "gpt"),
            "turn": turn,
        }
        for i in range(N)
        for turn in (1, 2)
        for at, judge in enumerate(people)
    ]


@pytest.mark.parametrize("read", [judgec.init, judgec.read_labels])
def test_mt_bench_columns_need_no_flag(tmp_path: Path, read: Callable[[str], object]) -> None:
    """lmsys/mt_bench_human_judgments: two items a pair, one of each turn; both of one query."""
    found = read(lines(tmp_path / "t.jsonl", mt_bench()))
    labels = found.label_set if isinstance(found, judgec.Labels) else found.labels  # type: ignore[attr-defined]
    assert labels.task == "preference"
    assert (len(labels.items), len({item.query_id for item in labels.items})) == (2 * N, N)
    assert {label.annotator for label in labels.labels} == {"expert_0", "author_1"}
    assert [item.inputs["answer_a"] for item in labels.items[:2]] == [
        f"answer {turn} to 0 by alpaca" for turn in (1, 2)
    ]


def test_mt_bench_games_without_texts_are_measured_and_ranked(tmp_path: Path) -> None:
    """lmsys/mt_bench_human_judgments without its conversations; turns are compared apart, queries are known."""
    people = ("expert_0", "author_1", "mia@example.org")
    rows = [{k: v for k, v in row.items() if not k.startswith("conversation")} for row in mt_bench(people)]
    file = lines(tmp_path / "t.jsonl", rows)
    found = judgec.agreement(file, expert="winner", judge="gpt4")
    assert found.alt_test is not None
    assert {one.annotator for one in found.alt_test.contests} == set(people)
    assert not [note for note in found.notes if "repeat an annotator" in note or "judge an item otherwise" in note]
    assert len(read_games(file).queries) == N


def test_column_judge_of_machines_or_verdicts_is_nobody(tmp_path: Path) -> None:
    """The names of models, prompts and versions, and grades under the head ``judge`` are no people."""
    for names in (
        ("gpt-4", "claude-3-opus"),
        ("strict", "lenient"),
        ("v1", "v2"),
        ("1", "2"),
        ("good", "bad"),
        ("a", "tie"),
    ):
        rows = [{"question": f"q{i}", "response": f"a{i}", "judge": names[i % 2], "label": i % 2} for i in range(N)]
        labels = judgec.read_labels(lines(tmp_path / "t.jsonl", rows)).label_set
        assert {label.annotator for label in labels.labels} == {"expert"}, names


def test_promptfoo_error_is_no_verdict(tmp_path: Path) -> None:
    """promptfoo/promptfoo issue 827: a result without an answer has success false, and no grading."""
    graded = {"vars": {"question": "Q1"}, "response": {"output": "A"}, "success": True, "gradingResult": None}
    failed = {"vars": {"question": "Q2"}, "error": "429", "response": None, "success": False, "score": 0}
    unjudged = {
        "vars": {"question": "Q3"},
        "response": {"output": "C"},
        "success": False,
        "gradingResult": {
            "pass": False,
            "score": 0,
            "componentResults": [
                {
                    "pass": False,
                    "score": 0,
                    "reason": "API error: 429",
                    "assertion": {"type": "llm-rubric", "value": "x"},
                }
            ],
        },
    }
    (tmp_path / "p.json").write_text(json.dumps({"evalId": "e", "results": {"results": [graded, failed, unjudged]}}))
    found = imported(read_scores("promptfoo", str(tmp_path / "p.json"), {}), "p.json", {}, "verdicts")
    assert [row["query"] for row in found.rows] == ["Q1", "Q3"]
    assert [verdict["grade"] for verdict in found.verdicts] == [True]
    assert dict(found.skipped) == {
        "the judge gave an error: unscored": 1,
        "the system gave an error and no answer": 1,
    }


def test_opik_reasons_are_reasons(tmp_path: Path) -> None:
    """comet-ml/opik: an experiment's CSV has NAME_reason beside each score."""
    (tmp_path / "o.csv").write_text(
        "dataset_item_id,input.question,output.answer,feedback_scores.correct,feedback_scores.correct_reason\n"
        "d1,Q1,A1,1,fits\nd2,Q2,A2,0,2\n"
    )
    found = imported(read_scores("opik", str(tmp_path / "o.csv"), {}), "o.csv", {}, "labels")
    assert [(row["query"], row["answer"], row["grade"], row["rationale"]) for row in found.rows] == [
        ("Q1", "A1", "1", "fits"),
        ("Q2", "A2", "0", "2"),
    ]


def test_deepeval_metric_that_failed_is_unscored(tmp_path: Path) -> None:
    """confident-ai/deepeval: ``metricsData`` has score, reason and error of each metric."""
    rows = [
        {"input": "Q1", "actualOutput": "A1", "metricsData": [{"score": 0.5, "reason": "half", "error": None}]},
        {"input": "Q2", "actualOutput": "A2", "metricsData": [{"score": 0, "reason": None, "error": "timeout"}]},
        {"input": "Q3", "actualOutput": None, "error": "500", "metricsData": [{"score": 0, "reason": "no answer"}]},
    ]
    rename = {"metricsData.0.score": "grade", "input": "query", "actualOutput": "answer"}
    found = imported(read_scores("other", lines(tmp_path / "d.jsonl", rows), rename), "d.jsonl", rename, "verdicts")
    assert [(verdict["grade"], verdict["reply"]) for verdict in found.verdicts] == [(0.5, "half")]
    assert sum(found.skipped.values()) == 2


def test_langfuse_trace_that_failed_is_left_out(tmp_path: Path) -> None:
    """langfuse/langfuse: an observation of level ERROR, and a score of the evaluator on nothing."""
    traces = [
        {"id": "t1", "input": "Q1", "output": "A1", "scores": [{"name": "s", "value": 1, "source": "EVAL"}]},
        {
            "id": "t2",
            "input": "Q2",
            "output": None,
            "scores": [{"name": "s", "value": 0, "source": "EVAL"}],
            "observations": [{"id": "o", "traceId": "t2", "type": "GENERATION", "level": "ERROR"}],
        },
    ]
    found = imported(read_scores("langfuse", lines(tmp_path / "l.jsonl", traces), {}), "l.jsonl", {})
    assert [row["query"] for row in found.rows] == ["Q1"]
    assert [verdict["grade"] for verdict in found.verdicts] == [1]
    assert sum(found.skipped.values()) == 1


def test_scores_of_several_raters_in_a_cell_are_raters(tmp_path: Path) -> None:
    """Crowd data sets keep the scores of an item in one list."""
    rows = [{"query": f"q{i}", "answer": f"a{i}", "scores": [i % 3 + 1, 2, 3]} for i in range(N)]
    found = read_label_file(lines(tmp_path / "t.jsonl", rows))
    assert len(found.labels.items) == N
    assert {label.annotator for label in found.labels.labels} == {"rater-1", "rater-2", "rater-3"}


def harness_rows(name: str) -> object:
    """A log with one verdict, a sample that ended in an error behind a partial answer, and a judge's error."""
    if name == "deepeval":
        cases = [
            {"input": "Q1", "actualOutput": "A1", "expectedOutput": "E1", "metricsData": [{"name": "m", "score": 0.5}]},
            {
                "input": "Q2",
                "actualOutput": None,
                "trace": {"status": "ERRORED"},
                "metricsData": [{"name": "m", "score": 0.0}],
            },
            {
                "input": "Q3",
                "actualOutput": "A3",
                "metricsData": [{"name": "m", "score": 0.0, "error": "TimeoutError"}, {"name": "m", "skipped": True}],
            },
        ]
        return {"testCases": cases, "metricsScores": []}
    said = [
        {"choices": [{"message": {"role": "assistant", "content": f"A{n}"}, "stop_reason": "stop"}]} for n in range(4)
    ]
    samples: list[dict[str, object]] = [
        {"id": n, "epoch": 1, "input": f"Q{n}", "target": f"E{n}", "output": said[n], "scores": {"m": {"value": 0.5}}}
        for n in (1, 2, 3)
    ]
    samples[1]["error"] = {"message": "OOM", "traceback": "...", "traceback_ansi": ""}
    samples[2]["scores"] = {"m": {"value": float("nan"), "explanation": "the judge could not be parsed"}}
    return {"version": 2, "status": "success", "eval": {"model": "openai/x"}, "samples": samples}


@pytest.mark.parametrize(("tool", "kind"), [("deepeval", "json"), ("inspect", "json"), ("inspect", "eval")])
def test_errored_samples_of_harnesses_are_no_verdicts(tmp_path: Path, tool: str, kind: str) -> None:
    """UKGovernmentBEIS/inspect_ai EvalSample.error; confident-ai/deepeval MetricData.error and trace.status."""
    log, file = harness_rows(tool), tmp_path / f"log.{kind}"
    if kind == "eval":
        assert isinstance(log, dict)
        with zipfile.ZipFile(file, "w") as held:
            held.writestr("header.json", json.dumps({k: v for k, v in log.items() if k != "samples"}))
            for sample in log["samples"]:
                held.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    else:
        file.write_text(json.dumps(log))
    found = imported(read_scores("other", str(file), {}), str(file), {})
    assert next((row["query"], row["answer"], row["reference"]) for row in found.rows) == ("Q1", "A1", "E1")
    assert [row["query"] for row in found.rows] == ["Q1", "Q3"]
    assert [(verdict["judge"], verdict["grade"]) for verdict in found.verdicts] == [("m", 0.5)]
    assert found.records == 1 + sum(found.skipped.values())
    assert sum(found.skipped.values()) == (3 if tool == "deepeval" else 2)
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
    found = imported(read_scores("langfuse", lines(tmp_path / "l.jsonl", traces), {}), "l.jsonl", {})
    assert [(row["annotator"], row.get("grade"), row.get("correction")) for row in found.rows] == [
        ("anna", 0, None),
        ("ben", "false", None),
        ("anna", None, "yes"),
    ]
    assert dict(found.annotators) == {"anna": 1, "ben": 1}
    assert len(found.verdicts) == 2


@pytest.mark.parametrize("gold", ["safety_gold", "Gold label"])
def test_gold_beside_raters_is_nobodys_label(tmp_path: Path, gold: str) -> None:
    """google-research-datasets/dices-dataset: ``safety_gold`` is the same for all raters of an item."""
    rows = [
        {
            "rater_id": i % 5,
            "rater_gender": ("Man", "Woman")[i % 2],
            "item_id": i // 5,
            "context": f"USER: tell me about number {i // 5}",
            "response": f"Number {i // 5} is a fine one.",
            "degree_of_harm": ("Benign", "Moderate", "Extreme")[i * i % 3],
            gold: ("Yes", "No")[i // 5 % 2],
            "Q_overall": ("No", "Yes", "Unsure")[i * 7 % 3],
        }
        for i in range(5 * N)
    ]
    file = lines(tmp_path / "t.jsonl", rows)
    found = judgec.init(file)
    assert found.project.columns["Q_overall"] == "grade"
    assert gold in found.proposal.why["labels"]
    assert judgec.read_labels(file).label_set.digest == found.labels.digest


@pytest.mark.parametrize(
    ("cell", "passages"),
    [
        ("['Water boils at a hundred degrees, as everybody knows. '\n 'Ice melts at zero degrees, or so. ']", 2),
        ("['one of them '\n 'another passage that is by far longer than the first one ']", 2),
        ("['this is one text that was wrapped by the printer of '\n 'Python because it is longer than a line is ']", 1),
        ("[array(['a', 'b'], dtype=object)]", 2),
        (json.dumps(json.dumps(["a", "b"])), 2),
    ],
    ids=["numpy", "numpy of two lengths", "pprint", "array in a list", "encoded twice"],
)
def test_printed_passages_are_told_apart(cell: str, passages: int) -> None:
    assert len(as_texts(cell)[0]) == passages


@pytest.mark.parametrize("cells", [("20%", "40%", "60%"), (0, 0.25, 0.5, 0.75, 1), ("0%", "50%", "100%", "25%")])
def test_shares_are_no_means_of_raters(tmp_path: Path, cells: tuple[object, ...]) -> None:
    rows = [{"query": f"q{i}", "answer": f"a{i}", "grade": cells[i % len(cells)]} for i in range(N)]
    assert "means of" not in " ".join(judgec.read_labels(lines(tmp_path / "t.jsonl", rows)).label_set.notes)


def test_numbers_for_a_winner_are_asked_about_by_agreement() -> None:
    rows = [{"winner": i % 3, "gpt4": (i + i % 2) % 3} for i in range(N)]
    with pytest.raises(InputError, match="--winner-words"):
        judgec.agreement(rows, expert="winner", judge="gpt4")
    assert judgec.agreement(rows, expert="winner", judge="gpt4", winner_words={"1": "a", "2": "b", "0": "tie"})


def test_samples_and_traces_that_ended_in_an_error_are_no_verdicts(tmp_path: Path) -> None:
    """Whatever form the error has: a message without a traceback, a level on the trace itself."""
    sample = {"input": "Q", "target": "T", "epoch": 1, "messages": []}
    scored = [
        {**sample, "id": n, "output": {"completion": "A"}, "scores": {"match": {"value": "I"}}, **more}
        for n, more in enumerate([{}, {"error": {"message": "429"}}])
    ]
    log = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": scored}
    (tmp_path / "in.json").write_text(json.dumps(log))
    found = read_scores("other", str(tmp_path / "in.json"), {})
    assert (len(found.items), found.skipped.total()) == (1, 1)
    score = {"name": "match", "value": 1, "source": "EVAL"}
    traces = [
        {"id": "t0", "input": "Q", "output": "A", "scores": [score]},
        {"id": "t1", "input": "Q", "output": None, "level": "ERROR", "scores": [score]},
    ]
    (tmp_path / "l.json").write_text(json.dumps(traces))
    kept = read_scores("langfuse", str(tmp_path / "l.json"), {})
    assert ({one.item for one in kept.scores}, kept.skipped.total()) == ({"t0"}, 1)


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
