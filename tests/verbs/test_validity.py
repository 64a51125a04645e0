"""What was measured of a judge is said of no items that lack what it was measured with: every verb, one check."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import judgec
from judgec.connect.tracking.traces import NewTraces, WantedTraces
from judgec.errors import UserError
from judgec.rag.probes.judging.panel import ReplyPanel
from judgec.raters import programs
from judgec.raters.asked_judges import AskedJudge, AskedJudges
from judgec.raters.judge import load_judge
from judgec.records.label import InputCounts, Item
from judgec.records.scenario.schema import Question
from judgec.verbs import watch as watching
from judgec.verbs.mlflow_scorer import NOTES
from judgec.verbs.probe import DataSet, _with_inputs
from judgec.verbs.validity import MORE, require_inputs, validity_of
from tests.compile.small import write
from tests.service.fake_openai import FakeOpenAI
from tests.service.planted_judge import leaning, planted, rows

FIELDS = ("reference", "contexts")


class Planted:
    """A home with the judge ``lean``, compiled with one field, and the server that answers for it."""

    def __init__(self, home: Path, server: FakeOpenAI, field: str) -> None:
        self.home, self.server, self.field = home, server, field
        self.asks: dict[str, Any] = {"judge": "lean@1", "home": home, "api_base": server.base_url}
        self.full = write(home / "full.jsonl", rows(30, "f", field))
        self.bare = write(home / "bare.jsonl", rows(30, "f", field, without=True))
        self.some = write(home / "some.jsonl", [*rows(30, "f", field), *rows(2, "g", field, without=True)])


@pytest.fixture(scope="module", params=FIELDS)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    home = tmp_path_factory.mktemp(f"lean-{request.param}")
    with FakeOpenAI(leaning) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "test")
        planted(home, server.base_url, request.param)
        yield Planted(home, server, request.param)


def card_with(missing: dict[str, float], home: Path) -> Any:  # a card
    return programs.load(home, "lean@1").card.model_copy(update={"missing": missing})


@given(items=st.integers(1, 300), lacking=st.integers(0, 300), usual=st.integers(0, 100))
def test_an_input_is_missing_beyond_the_share_of_the_labels_and_five_points(
    world: Planted, items: int, lacking: int, usual: int
) -> None:
    lacking = min(lacking, items)
    card = card_with({world.field: usual / 100}, world.home)
    counts = InputCounts(items)
    counts.given.update({"query": items, "answer": items, world.field: items - lacking})
    found = validity_of(card, counts)
    exactly = lacking * 100 > (usual + 5) * items  # in whole numbers
    assert bool(found.refused()) == exactly
    assert set(found.lacking) == ({world.field} if exactly else set())


def test_card_says_how_many_labels_lacked_an_input_and_answers_are_never_missing(world: Planted) -> None:
    card = programs.load(world.home, "lean@1").card
    assert card.missing == {}
    assert MORE == 0.05
    empty = [Item("a", "a", {"query": "q", "answer": "", world.field: "there"})]
    assert not validity_of(card, empty).refused()
    blank = [Item("a", "a", {"query": "q", "answer": "a", world.field: (" ", "")})]
    assert world.field in validity_of(card, blank).lacking


def test_judge_stops_before_the_first_call_and_goes_on_without_it(world: Planted, tmp_path: Path) -> None:
    full = judgec.judge_file(world.full, out=tmp_path / "full.jsonl", **world.asks)
    assert full.report["missing_inputs"] == {}
    calls = world.server.calls
    for file, share in (
        (world.bare, f"{world.field}, which these items lack .none has it"),
        (world.some, "6.2 % of these items lack"),
    ):
        with pytest.raises(UserError, match=f"{share}.*--map COLUMN={world.field}.*--without {world.field}"):
            judgec.judge_file(file, out=tmp_path / "no.jsonl", **world.asks)
    assert (world.server.calls, (tmp_path / "no.jsonl").exists()) == (calls, False)
    some: Any = judgec.judge_file(world.some, out=tmp_path / "some.jsonl", without=[world.field], **world.asks)
    assert some.report["missing_inputs"] == {world.field: {"items": 4 / 64, "labels": 0.0}}
    rows_of = some.frame()
    assert set(rows_of["judge_without"]) == {world.field}  # the file has a column grade
    assert rows_of["judge_confidence"].isna().all()
    assert rows_of["judge_grade"].notna().all()
    with pytest.raises(UserError, match=f"no input that the judge learned with; {world.field} is valid"):
        judgec.judge_file(world.bare, out=tmp_path / "no.jsonl", without=["answer"], **world.asks)


def test_python_stops_before_the_first_call_on_rows_and_on_one_item(world: Planted) -> None:
    judge = judgec.load_judge("lean@1", home=world.home, api_base=world.server.base_url)
    calls = world.server.calls
    bare = [{name: value for name, value in row.items() if name != "grade"} for row in rows(3, "f", without=True)]
    for judged in (
        lambda: judge(pd.DataFrame(bare)),
        lambda: judge.rows(bare),
        lambda: judge(query="Which?", answer="Red."),
    ):
        with pytest.raises(UserError, match=f"compiled with {world.field}, which these items lack"):
            judged()
    assert world.server.calls == calls


def test_nothing_stops_where_the_share_was_not_kept_or_a_single_item_has_none(world: Planted) -> None:
    bare = [Item(str(n), str(n), {"query": "q", "answer": "a"}) for n in range(3)]
    card = programs.load(world.home, "lean@1").card
    unkept = type(card).model_validate(card.model_dump(exclude={"missing"}))
    require_inputs([unkept], bare)
    assert "nobody kept how many" in validity_of(unkept, bare).refused()
    some = card_with({world.field: 0.3}, world.home)
    require_inputs([some], bare[:1])
    with pytest.raises(UserError, match=r"30\.0 % of its labels lack it"):
        require_inputs([some], bare)
    require_inputs([card], [], "traces")


def test_probe_stops_before_a_system_is_asked(world: Planted) -> None:
    program = programs.load(world.home, "lean@1")
    ask = mock.Mock(side_effect=AssertionError("asked"))
    jury = AskedJudges((AskedJudge("lean@1", load_judge(program), ask, program.card),))
    bare = Question(query_id="q", scenario="S1", query="Which?", metrics=("correctness", "judge:lean"))
    full = bare.model_copy(update={"reference": "Red.", "passages": ("Red.",)})
    panel = ReplyPanel(criteria=jury)
    assert _with_inputs(panel, [DataSet("d", None, (full,) * 3)])
    with pytest.raises(UserError, match=f"compiled with {world.field}, which these questions lack"):
        _with_inputs(panel, [DataSet("d", None, (bare,) * 3)])
    own = ReplyPanel(further={"judge:lean": jury})
    ((_, items),) = own.asked([bare])
    assert "contexts" in items[0].given  # what a system retrieves is its own doing


def test_estimate_stops_before_the_first_call(world: Planted) -> None:
    labels = pd.DataFrame(rows(30, "f", world.field))
    known = judgec.estimate(world.full, labels=labels, **world.asks)
    assert known.value == pytest.approx(0.5, abs=0.1)
    calls = world.server.calls
    with pytest.raises(UserError, match=f"compiled with {world.field}, which these items lack"):
        judgec.estimate(world.bare, labels=labels, **world.asks)
    assert world.server.calls == calls


def test_audit_of_labels_without_it_is_not_shown_and_not_on_the_card(world: Planted) -> None:
    before = world.server.calls
    found = judgec.audit(labels=world.bare, only=["length"], **world.asks)
    assert (found.verdict, list(found.findings.index)) == ("not shown", [])
    assert world.field in found.sentence
    assert programs.load(world.home, "lean@1").card.audit is None
    assert world.server.calls == before


def test_evaluate_stops_where_the_tables_lack_it(world: Planted, tmp_path: Path) -> None:
    table = [{**row, "agent": "ab"[str(row["item_id"]).endswith("/1")]} for row in rows(8, "f", world.field)]
    queries: list[dict[str, object]] = [
        {name: row[name] for name in ("query_id", "query", "reference") if name in row} for row in table[::2]
    ]
    answers: list[dict[str, object]] = [
        {name: row[name] for name in ("query_id", "agent", "answer", "contexts") if name in row} for row in table
    ]
    asked = {**world.asks, "unproven": True, "tracking_uri": f"sqlite:///{tmp_path}/m.db"}
    full: Any = judgec.evaluate(queries=queries, answers=answers, out=tmp_path / "full", **asked)
    assert full.report["judge"]["tau_b"]["value"] is not None
    assert full.report["judge"]["unmeasured"] is None
    partly = [row if row["agent"] == "a" else {**row, "contexts": []} for row in answers]
    if world.field == "contexts":  # what one agent did not retrieve is its own doing
        one: Any = judgec.evaluate(queries=queries, answers=partly, out=tmp_path / "one", **asked)
        assert "contexts" in one.report["judge"]["unmeasured"]
    for some in (queries, answers):
        for row in some:
            row.pop(world.field, None)
    calls = world.server.calls
    with pytest.raises(UserError, match=f"compiled with {world.field}, which these answers lack"):
        judgec.evaluate(queries=queries, answers=answers, out=tmp_path / "bare", **asked)
    assert world.server.calls == calls


@pytest.mark.parametrize("world", ["reference"], indirect=True)
def test_a_model_that_nobody_has_called_yet_gets_no_call_either(world: Planted, tmp_path: Path) -> None:
    with FakeOpenAI(leaning) as server:
        asked: Any = {"home": world.home, "api_base": server.base_url, "unproven": True, "lm": "openai/other"}
        table = [{**row, "agent": "ab"[n % 2]} for n, row in enumerate(rows(20, "f", without=True))]
        texts = [{**row, "contexts": ["It is red."]} for row in table]
        about: Any = {"answers": texts, "judge": "lean@1", "relevance_judge": "zero-shot", "out": tmp_path / "out"}
        (tmp_path / "f0.md").write_text("The flag of f0 is red.", encoding="utf-8")
        index = judgec.index(tmp_path / "f0.md", out=tmp_path / "index")
        plain = [{"query_id": str(n), "query": f"Which colour has {n}?"} for n in range(40)]
        probed = [{**one, "metrics": ["judge:lean"], "scenario": "S1"} for one in plain]
        own: Any = {"questions": probed, "system": "rag-bm25", "index": index, "out": tmp_path / "probe"}
        for verb, given in (
            (judgec.evaluate, about),
            (judgec.probe, own),
            (judgec.compile_agent, {"agent": "rag-bm25", "index": index, "queries": plain, "judge": "lean@1"}),
        ):
            with pytest.raises(UserError, match=r"reference, which these \w+ lack \(none has it"):
                verb(**given, **asked)
        assert server.calls == 0
        known = [dict(row) for row in rows(20, "f")]
        known[0].pop("reference")
        known[1].pop("reference")  # 1 query of 20: five points, and more of the first batch of an adaptive tournament
        table = [{**row, "agent": "ab"[n % 2]} for n, row in enumerate(known)]
        about = {"answers": table, "judge": "lean@1", "out": tmp_path / "out", "adaptive": True}
        judgec.evaluate(**about, **{**asked, "lm": None})


def test_mlflow_scorer_refuses_the_row(world: Planted) -> None:
    scorer = judgec.load_judge("lean@1", home=world.home, api_base=world.server.base_url).as_mlflow_scorer()

    def said(row: dict[str, Any]) -> Any:
        inputs: dict[str, object] = {name: row[name] for name in ("query", "contexts") if name in row}
        expectations = {"reference": row["reference"]} if "reference" in row else {}
        return scorer(inputs=inputs, outputs=row["answer"], expectations=expectations)

    found = said(rows(1, "f", world.field)[0])
    assert world.field not in (found[0].metadata or {}).get(NOTES, "")
    calls = world.server.calls
    with pytest.raises(UserError, match=f"compiled with {world.field}, which these rows lack"):
        said(rows(1, "f", world.field, without=True)[0])
    assert world.server.calls == calls


class Traces:
    """Traces of an application, in place of those in MLflow."""

    def __init__(self, made: list[dict[str, object]]) -> None:
        self.made = made
        self.logged: dict[tuple[str, str], int] = {}
        self.labels: dict[str, dict[str, object]] = {}

    def new(self, store: object, wanted: WantedTraces, environ: object) -> NewTraces:
        fresh = [row for row in self.made if str(row["item_id"]) not in wanted.judged]
        plain = [{name: value for name, value in row.items() if name != "grade"} for row in fresh]
        Path(wanted.file).write_text("".join(json.dumps(row) + "\n" for row in plain), encoding="utf-8")
        return {str(row["item_id"]): "" for row in fresh}, self.labels, 0

    def log(self, store: object, feedback: list[dict[str, object]], environ: object) -> None:
        for one in feedback:
            key = str(one["trace_id"]), str(one["name"])
            self.logged[key] = self.logged.get(key, 0) + 1


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch, world: Planted) -> Iterator[Traces]:
    made = Traces([])
    monkeypatch.setattr(watching, "new_traces", made.new)
    monkeypatch.setattr(watching, "log_verdicts", made.log)
    yield made
    for file in (world.home / ".judgec" / "watch").glob("*"):
        file.unlink()


def seen(world: Planted, **options: Any) -> Any:
    return judgec.watch(source="mlflow:bot", rate=1.0, **{**world.asks, **options})


def labelled(traces: Traces, count: int) -> None:
    """A person labels the first traces."""
    traces.labels = {str(row["item_id"]): {"ann": row["grade"]} for row in traces.made[:count]}


def test_watch_of_traces_without_it_judges_and_keeps_nothing(world: Planted, traces: Traces) -> None:
    traces.made = rows(30, "t", world.field, without=True)
    calls = world.server.calls
    with pytest.raises(UserError, match=f"compiled with {world.field}, which these traces lack.*compile the judge"):
        seen(world, alert=["accept<.05", "raw>.9"])
    assert (world.server.calls, traces.logged) == (calls, {})
    traces.made = rows(30, "t", world.field)
    assert seen(world).asked == 60
    traces.made = [*traces.made, *rows(1, "u", world.field, without=True)]
    found = seen(world)  # two of 62 are no larger share than chance
    assert (found.asked, found.missing_inputs) == (2, {})


def test_watch_of_traces_with_it_corrects_from_ten_labels_on(world: Planted, traces: Traces) -> None:
    traces.made = rows(30, "t", world.field)
    labelled(traces, 9)
    few = seen(world).to_json()
    assert (few["accept"]["value"], few["labelled"], few["labels_missing"]) == (None, 9, 1)
    labelled(traces, 20)
    found = seen(world)
    assert found.value == pytest.approx(0.5, abs=0.1)
    assert (found.sampled, found.asked, found.spent.calls) == (60, 0, 0)
    assert set(traces.logged.values()) == {1}
