"""Traces of OpenTelemetry as items: each dialect, what a trace holds besides its texts, and what is refused."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from judgec.errors import InputError
from judgec.labels.bulk.items import open_items
from judgec.labels.rows.conversations import with_turns
from judgec.labels.rows.items import collect_items
from judgec.table.table import Table
from judgec.table.tables import read_table
from tests.table.traces.otlp import Json, attributes, export, span, value

ASKED, SAID = "How wide is the Rill M50?", "70 mm."
SAMPLES = Path(__file__).parents[3] / "../shared/data/exports"
SAMPLE = SAMPLES / "opentelemetry" / "otlp_agent_tools.json"


def read(folder: Path, *exports: Json, lines: bool = True) -> Table:
    path = folder / ("traces.jsonl" if lines else "traces.json")
    text = "".join(json.dumps(one) + "\n" for one in exports) if lines else json.dumps(exports[0], indent=2)
    path.write_text(text, encoding="utf-8")
    return read_table(str(path))


def message(role: str, text: str) -> Json:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


ROLES = {"user": ASKED, "assistant": SAID}
DIALECTS: dict[str, tuple[str, dict[str, Any], list[tuple[str, dict[str, Any]]]]] = {
    "attributes": (
        "GenAI attributes",
        {
            "gen_ai.input.messages": json.dumps([message("user", ASKED)]),
            "gen_ai.output.messages": [{**message("assistant", SAID), "finish_reason": "stop"}],
        },
        [],
    ),
    "details": (
        "GenAI attributes",
        {},
        [("gen_ai.client.inference.operation.details", {
            "gen_ai.input.messages": [message("user", ASKED)], "gen_ai.output.messages": [message("assistant", SAID)],
        })],
    ),
    "events": (
        "GenAI events",
        {},
        [
            ("gen_ai.user.message", {"content": ASKED}),
            ("gen_ai.choice", {"index": 0, "message": json.dumps({"content": SAID, "role": "assistant"})}),
            ("gen_ai.choice", {"index": 1, "message": json.dumps({"content": "another", "role": "assistant"})}),
        ],
    ),
    "content events": (
        "GenAI events",
        {},
        [
            ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps([{"role": "user", "content": ASKED}])}),
            ("gen_ai.content.completion", {"gen_ai.completion": json.dumps([{"role": "model", "content": SAID}])}),
        ],
    ),
    "numbered": (
        "OpenLLMetry",
        {
            f"gen_ai.{part}.0.{key}": value
            for part, role in (("prompt", "user"), ("completion", "assistant"))
            for key, value in (("role", role), ("content", ROLES[role]))
        },
        [],
    ),
    "openinference": (
        "OpenInference",
        {
            f"llm.{part}_messages.0.message.{key}": value
            for part, role in (("input", "user"), ("output", "assistant"))
            for key, value in (("role", role), ("content", ROLES[role]))
        },
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize("name", DIALECTS)
def test_question_and_answer_are_found_in_each_dialect_and_the_dialect_is_named(
    tmp_path: Path, name: str, lines: bool
) -> None:
    dialect, attributes, events = DIALECTS[name]
    table = read(tmp_path, export(span("t1", "chat", attributes, events=events)), lines=lines)
    (row,) = table.rows
    assert (row["item_id"], row["query"], row["answer"], row["agent"]) == ("t1", ASKED, SAID, "shop-bot")
    assert "conversation" not in row
    assert f"1 trace of 1 span; messages: {dialect} in 1." in table.notes


def test_a_run_of_a_retriever_and_a_model_has_its_documents_its_time_its_tokens_and_its_errors(tmp_path: Path) -> None:
    retrieved = {
        "openinference.span.kind": "RETRIEVER",
        "retrieval.documents.0.document.content": "The M50 is 70 mm wide.",
        "retrieval.documents.1.document.content": "The M80 is 90 mm wide.",
        "retrieval.documents.2.document.id": "no text in the trace",
    }
    chat = DIALECTS["openinference"][1] | {"llm.token_count.prompt": 40, "llm.token_count.completion": 2}
    spans = (
        span("t1", "chat", chat, at=2, took=3, parent="root"),
        span("t1", "answer", {"input.value": ASKED, "output.value": SAID}, span="root", took=6.5),
        span("t1", "retrieve", retrieved, at=1, parent="root"),
        span("t1", "log", {"error.type": "TimeoutError"}, at=5, parent="root", failed="too late"),
    )
    (row,) = read(tmp_path, export(*spans)).rows
    assert row["contexts"] == ["The M50 is 70 mm wide.", "The M80 is 90 mm wide."]
    assert (row["latency_seconds"], row["input_tokens"], row["output_tokens"]) == (6.5, 40, 2)
    assert row["errors"] == ["log: TimeoutError: too late"]
    assert row["started"] == "2023-11-14T22:13:20+00:00"
    assert not {"cost_usd", "tool_calls", "query_id"} & set(row)


def test_calls_that_repeat_the_history_and_calls_that_do_not_give_the_same_conversation(tmp_path: Path) -> None:
    call = {"type": "tool_call", "id": "1", "name": "search", "arguments": {"q": "M50"}}
    calling = {"role": "assistant", "parts": [call]}
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "M50: 70 mm"}]}
    asked, said = message("user", ASKED), message("assistant", SAID)

    def run(second: list[Json]) -> Table:
        first = {"gen_ai.input.messages": [asked], "gen_ai.output.messages": [calling]}
        last = {"gen_ai.input.messages": second, "gen_ai.output.messages": [said]}
        tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
        tool |= {"gen_ai.tool.call.arguments": json.dumps({"q": "M50"}), "gen_ai.tool.call.result": "M50: 70 mm"}
        spans = [span("t1", "chat", first), span("t1", "search", tool, at=1), span("t1", "chat", last, at=2)]
        return read(tmp_path, export(*spans))

    whole, new = run([asked, calling, result]), run([result])
    assert whole.rows == new.rows
    (row,) = whole.rows
    turns: Any = row["conversation"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "tool", "assistant"]
    assert turns[1]["tool_calls"] == [{"name": "search", "arguments": '{"q": "M50"}'}]
    assert row["tool_calls"] == [{"name": "search", "arguments": {"q": "M50"}, "result": "M50: 70 mm"}]
    (item,) = collect_items(with_turns(whole), "answer").items
    assert (item.inputs["query"], item.inputs["answer"]) == (ASKED, SAID)
    assert item.inputs["contexts"] == ("M50: 70 mm",)  # what a tool returned supports the answer


@pytest.mark.parametrize("history", [True, False])
def test_traces_of_a_session_are_turns_of_one_conversation(tmp_path: Path, history: bool) -> None:
    first, second = [message("user", ASKED), message("assistant", SAID)], message("user", "And the M80?")
    begin = {"gen_ai.input.messages": first[:1], "gen_ai.output.messages": first[1:], "gen_ai.conversation.id": "s"}
    asked = [*first, second] if history else [second]
    after = {"gen_ai.input.messages": asked, "gen_ai.output.messages": [message("assistant", "90 mm.")]}
    later = span("t2", "chat", after | {"session.id": "s"}, at=60)
    table = read(tmp_path, export(later), export(span("t1", "chat", begin)))  # exported out of order
    assert [row["item_id"] for row in table.rows] == ["t1", "t2"]
    assert [row["query_id"] for row in table.rows] == ["s", "s"]
    turns: Any = table.rows[1]["conversation"]
    assert [turn["content"] for turn in turns] == [ASKED, SAID, "And the M80?", "90 mm."]
    found = with_turns(table)
    assert [row["query"] for row in found.rows] == [ASKED, "And the M80?"]
    assert {row["query_id"] for row in found.rows} == {"s"}  # one cluster
    assert table.lines == (2, 1)


def test_log_records_with_the_messages_belong_to_their_span(tmp_path: Path) -> None:
    one = span("t1", "chat", {"gen_ai.operation.name": "chat"}, span="a")
    ids = {"traceId": "t1", "spanId": "a"}
    logs = [
        {**ids, "eventName": "gen_ai.user.message", "body": value({"content": ASKED})},
        {
            **ids,
            "attributes": attributes({"event.name": "gen_ai.choice"}),
            "body": value({"message": json.dumps({"content": SAID})}),
        },
    ]
    held = {"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]}
    (row,) = read(tmp_path, export(one), held).rows
    assert (row["query"], row["answer"]) == (ASKED, SAID)


def test_traces_without_texts_are_counted_and_without_any_the_error_names_the_option(tmp_path: Path) -> None:
    silent = span("t0", "chat", {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 3})
    with pytest.raises(InputError, match=r"1 trace of 1 span.*CAPTURE_MESSAGE_CONTENT=true.*TRACELOOP"):
        read(tmp_path, export(silent))
    table = read(tmp_path, export(silent, span("t1", "chat", DIALECTS["attributes"][1])))
    assert len(table.rows) == 1
    assert any(note.startswith("1 of them") for note in table.notes)
    with pytest.raises(InputError, match="without spans"):
        read(tmp_path, {"resourceSpans": []})


def test_broken_spans_are_named_with_their_place(tmp_path: Path) -> None:
    good = span("t1", "chat", DIALECTS["attributes"][1])
    late, nameless = good | {"startTimeUnixNano": "soon"}, good | {"spanId": ""}
    with pytest.raises(InputError) as error:
        read(tmp_path, export(good, late), export(nameless))
    places = [re.findall(r"traces.jsonl:(\d+).*span (\d+): .*(soon|spanId)", fault) for fault in error.value.faults]
    assert places == [[("1", "2", "soon")], [("2", "1", "spanId")]]
    deep: Json = {"stringValue": "x"}
    for _ in range(80):
        deep = {"arrayValue": {"values": [deep]}}
    with pytest.raises(InputError, match="64 objects"):
        read(tmp_path, export(good | {"attributes": [{"key": "a", "value": deep}]}))


def test_judging_in_bulk_reads_a_file_of_traces_and_what_they_took_is_no_rater(tmp_path: Path) -> None:
    chat = DIALECTS["attributes"][1] | {"gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 4}
    table = read(tmp_path, *(export(span(f"t{n}", "chat", chat, at=n)) for n in range(4)))
    found = open_items(table.path, task="answer")
    assert [item.item_id for item in found.items] == ["t0", "t1", "t2", "t3"]


@pytest.mark.skipif(not SAMPLE.is_file(), reason=f"NO REAL EXPORTS: {SAMPLES} is absent")
def test_an_agent_with_tools_that_its_own_exporter_wrote() -> None:
    table = read_table(str(SAMPLE))
    (row,) = table.rows
    assert str(row["query"]).startswith("Plan a trip to Barcelona.")
    assert str(row["answer"]).startswith("Based on the weather")
    tools: Any = row["tool_calls"]
    assert [tool["name"] for tool in tools] == ["get_weather", "search_attractions", "book_hotel"]
    assert [error.partition(": No ")[0] for error in row["errors"]] == ["book_hotel: BookingUnavailableError"]  # type: ignore[attr-defined]  # a list
    assert (row["latency_seconds"], row["input_tokens"], row["output_tokens"]) == (10.0, 3500, 470)
    (item,) = collect_items(with_turns(table), "answer").items
    assert '{"temp": 22, "condition": "sunny"}' in item.inputs["contexts"]
