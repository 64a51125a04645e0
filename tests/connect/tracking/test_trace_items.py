"""Traces that MLflow wrote become items: a store on disk, written by MLflow, read by a process of its own."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import judgec
from judgec.connect.tracking.store import TrackingStore
from judgec.connect.tracking.traces import save_traces
from judgec.errors import InputError
from judgec.table.tables import read_table
from tests.connect.tracking.feedback import environment
from tests.fake_lm import FAKE
from tests.verbs.cli.judging import save_judge

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's imports warn; they are not ours to mend


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrackingStore]:
    with environment():
        import mlflow
        from mlflow.entities import AssessmentSource, SpanType

        uri = f"sqlite:///{tmp_path_factory.mktemp('items') / 'mlflow.db'}"
        mlflow.set_tracking_uri(uri)
        mlflow.set_experiment("empty")
        mlflow.set_experiment("shop bot")
        for number, (question, answer) in enumerate([("How wide?", "5 m."), ("And how long?", "7 m.")]):
            with mlflow.start_span("bot", span_type=SpanType.CHAIN) as root:
                mlflow.update_current_trace(metadata={"mlflow.trace.session": "s1"})
                root.set_inputs({"question": question})
                with mlflow.start_span("search", span_type=SpanType.RETRIEVER) as search:
                    search.set_outputs([{"page_content": f"Page {number}.", "metadata": {"doc_uri": "d"}}])
                with mlflow.start_span("ruler", span_type=SpanType.TOOL) as tool:
                    tool.set_inputs({"unit": "m"})
                    tool.set_outputs({"value": 5 + 2 * number})
                with mlflow.start_span("chat", span_type=SpanType.CHAT_MODEL) as chat:
                    chat.set_inputs({"messages": [{"role": "system", "content": "Be brief."}, said(question)]})
                    chat.set_outputs({"choices": [{"message": {"role": "assistant", "content": answer}}]})
                    chat.set_attribute("mlflow.chat.tokenUsage", {"input_tokens": 11, "output_tokens": 3})
                root.set_outputs(answer)
        source = AssessmentSource("HUMAN", "carol")
        mlflow.log_expectation(trace_id=root.trace_id, name="expected", value="Seven metres.", source=source)
        with mlflow.start_span("broken") as broken:
            broken.set_inputs({"question": "Why?"})
            broken.record_exception(ValueError("out of order"))
        for number in range(120):  # more than a page
            with mlflow.start_span("plain") as span:
                span.set_inputs({"question": f"What is {number}?"})
                span.set_outputs({"answer": f"It is {number}."})
        yield TrackingStore(uri, None)


def said(question: str) -> dict[str, str]:
    return {"role": "user", "content": question}


def test_traces_become_rows_with_documents_tools_tokens_and_sessions(store: TrackingStore, tmp_path: Path) -> None:
    save_traces(store, "shop bot", tmp_path / "traces.jsonl", os.environ)
    table = read_table(str(tmp_path / "traces.jsonl"))
    assert len(table.rows) == 122
    first, second = table.rows[:2]
    assert (first["query"], first["answer"], first["contexts"]) == ("How wide?", "5 m.", ["Page 0."])
    assert (first["input_tokens"], first["output_tokens"]) == (11, 3)
    assert first["tool_calls"] == [{"name": "ruler", "arguments": {"unit": "m"}, "result": {"value": 5}}]
    assert str(first["item_id"]).startswith("tr-")
    assert first["query_id"] == second["query_id"] == "s1"
    assert (second["reference"], second["answer"]) == ("Seven metres.", "7 m.")
    turns = second["conversation"]
    assert isinstance(turns, list)
    assert [turn["content"] for turn in turns if turn["role"] != "system"] == [
        "How wide?", "5 m.", "And how long?", "7 m."
    ]  # fmt: skip
    assert (table.rows[-1]["query"], table.rows[-1]["answer"]) == ("What is 119?", "It is 119.")
    assert "MLflow in 2" in table.notes[0]
    assert table.notes[1].startswith("1 of them")  # the broken one has no answer
    assert not list(tmp_path.glob("*.part"))


def test_no_experiment_or_one_without_traces_is_said_and_nothing_is_written(
    store: TrackingStore, tmp_path: Path
) -> None:
    for name, said in (("none", r"mlflow:none: .* Default, empty, shop bot\."), ("empty", "mlflow:empty: .* traces")):
        with pytest.raises(InputError, match=said):
            save_traces(store, name, tmp_path / "t.jsonl", os.environ)
    assert not list(tmp_path.iterdir())


def test_judge_of_an_experiment_judges_its_traces_and_a_rerun_asks_nothing_new(
    store: TrackingStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_judge(tmp_path, "brief", lm={"model": FAKE})
    done = judgec.judge_file("mlflow:shop bot", judge="brief@latest", home=tmp_path, tracking_uri=store.uri)
    assert done.path == Path("shop-bot.judged.jsonl")
    rows = [json.loads(line) for line in done.path.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 122
    assert {row["grade"] is not None for row in rows} == {True}
    assert rows[0]["item_id"].startswith("tr-")
    again = judgec.judge_file("mlflow:shop bot", judge="brief@latest", home=tmp_path, tracking_uri=store.uri)
    assert again.report["lm_calls"] == 0
