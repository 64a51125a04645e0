"""What was measured of a judge is said of no items that lack what it was measured with: every verb, one check."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import judgec
from judgec.connect.tracking.watched_traces import SampledTrace, TraceLook, TracesSeen
from judgec.errors import GateError, UserError
from judgec.raters import programs
from judgec.records.label import InputCounts, Item
from judgec.verbs import watch as watching
from judgec.verbs.cli.watch import keep_looking
from judgec.verbs.mlflow_scorer import NOTES
from judgec.verbs.options.watch import WatchOptions
from judgec.verbs.validity import MORE, validity_of
from tests.compile.small import write
from tests.service.fake_openai import FakeOpenAI
from tests.service.planted_judge import leaning, lowest, planted, rows

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


def test_judge_names_the_field_and_counts_it(world: Planted, tmp_path: Path) -> None:
    full = judgec.judge_file(world.full, out=tmp_path / "full.jsonl", **world.asks)
    assert full.report["missing_inputs"] == {}
    bare: Any = judgec.judge_file(world.bare, out=tmp_path / "bare.jsonl", **world.asks)
    assert bare.report["missing_inputs"] == {world.field: {"items": 1.0, "labels": 0.0}}
    assert any(f"no item has {world.field}" in note and "--map" in note for note in bare.report["notes"])
    some = judgec.judge_file(world.some, out=tmp_path / "some.jsonl", **world.asks)
    assert some.report["missing_inputs"] == {world.field: {"items": 4 / 64, "labels": 0.0}}


def test_estimate_gives_no_corrected_rate(world: Planted) -> None:
    labels = pd.DataFrame(rows(30, "f", world.field))
    known = judgec.estimate(world.full, labels=labels, **world.asks)
    assert known.value == pytest.approx(0.5, abs=0.1)
    for given_labels in (labels, labels.drop(columns=world.field)):
        blind = judgec.estimate(world.bare, labels=given_labels, **world.asks)
        assert blind.value is None
        assert world.field in blind.refused
        assert blind.raw.value == 0.0
        assert blind.to_json()["missing_inputs"] == {world.field: {"items": 1.0, "labels": 0.0}}
        with pytest.raises(UserError, match=f"Give {world.field} of the items"):
            blind.require()


def test_audit_of_labels_without_it_is_not_shown_and_not_on_the_card(world: Planted) -> None:
    before = world.server.calls
    found = judgec.audit(labels=world.bare, only=["length"], **world.asks)
    assert (found.verdict, list(found.findings.index)) == ("not shown", [])
    assert world.field in found.sentence
    assert programs.load(world.home, "lean@1").card.audit is None
    assert world.server.calls == before


def test_evaluate_prints_no_known_agreement(world: Planted, tmp_path: Path) -> None:
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
    for some in (queries, answers):
        for row in some:
            row.pop(world.field, None)
    bare: Any = judgec.evaluate(queries=queries, answers=answers, out=tmp_path / "bare", **asked)
    assert bare.report["judge"]["tau_b"]["value"] is None
    assert world.field in bare.report["judge"]["unmeasured"]
    assert any(f"compiled with {world.field}, which these answers lack" in note for note in bare.report["notes"])
    assert "No known agreement" in (tmp_path / "bare" / "report.html").read_text(encoding="utf-8")


def test_mlflow_scorer_says_it_of_the_row(world: Planted) -> None:
    scorer = judgec.load_judge("lean@1", home=world.home, api_base=world.server.base_url).as_mlflow_scorer()
    (full, bare) = (rows(1, "f", world.field)[0], rows(1, "f", world.field, without=True)[0])
    said = [
        scorer(
            inputs={name: row[name] for name in ("query", "contexts") if name in row},
            outputs=row["answer"],
            expectations={"reference": row["reference"]} if "reference" in row else {},
        )
        for row in (full, bare)
    ]
    notes = [(one[0].metadata or {}).get(NOTES, "") for one in said]
    assert world.field not in notes[0]
    assert f"compiled with {world.field}" in notes[1]


class Traces:
    """Traces of an application, in place of those in MLflow."""

    def __init__(self, made: list[dict[str, object]]) -> None:
        self.made, self.sent = made, 0
        self.logged: dict[str, int] = {}

    def look(self, store: object, look: TraceLook, environ: object) -> TracesSeen:
        fresh = [row for row in self.made if str(row["item_id"]) not in look.known]
        plain = [{name: value for name, value in row.items() if name != "grade"} for row in fresh]
        Path(look.file).write_text("".join(json.dumps(row) + "\n" for row in plain), encoding="utf-8")
        sampled = tuple(SampledTrace(str(row["item_id"]), 1, "", feedback=False) for row in fresh)
        return TracesSeen({str(row["item_id"]): 1 for row in self.made}, 0, 0, sampled, ())

    def log(self, store: object, feedback: list[dict[str, object]], tags: object, environ: object) -> None:
        for one in feedback:
            self.logged[str(one["trace_id"])] = self.logged.get(str(one["trace_id"]), 0) + 1


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch, world: Planted) -> Iterator[Traces]:
    made = Traces([])
    monkeypatch.setattr(watching, "look_at_traces", made.look)
    monkeypatch.setattr(watching, "log_judged", made.log)
    yield made
    for file in (world.home / ".judgec" / "watch").glob("*"):
        file.unlink()


def seen(world: Planted, **options: Any) -> Any:
    return judgec.watch(source="mlflow:bot", rate=1.0, **{**world.asks, **options})


def test_watch_of_traces_without_it_corrects_nothing_tests_no_drift_and_alerts(world: Planted, traces: Traces) -> None:
    traces.made = rows(60, "t", world.field, without=True)
    found = seen(world, alert=["accept<.05", "drift", "raw>.9"])
    report = found.to_json()
    assert report["accept"]["value"] is None
    assert world.field in report["accept"]["note"]
    assert report["raw"]["value"] == 0.0
    assert report["drift"] | {"fires_at": 0} == {"fired": False, "log_evidence": None, "fires_at": 0, "tested": False}
    assert report["missing_inputs"] == {world.field: {"items": 1.0, "labels": 0.0}}
    fired = {name: one["fired"] for name, one in report["alerts"].items()}
    assert fired == {"accept<.05": True, "drift": True, "raw>.9": False}
    assert all(world.field in why for why in found.fired)
    assert any(f"compiled with {world.field}" in note and "compile the judge" in note for note in found.notes)
    with pytest.raises(GateError, match="cannot be told"):
        keep_looking(
            WatchOptions(source="mlflow:bot", rate=1.0, alert=("accept<.05",), **world.asks),
            seconds=1,
            once=True,
            json=True,
            wait=lambda _: None,
        )


def test_watch_of_traces_with_it_corrects_and_goes_back_to_it_without_drift(world: Planted, traces: Traces) -> None:
    traces.made = rows(20, "t", world.field, without=True)
    assert seen(world, window=40).rate.corrected.value is None
    traces.made = [*traces.made, *rows(60, "u", world.field)]
    found = seen(world, window=40, alert=["drift"])
    assert (found.rate.drift, found.rate.unmeasured, found.fired) == (False, "", ())
    assert found.rate.corrected.value == pytest.approx(0.5, abs=0.2)
    assert set(traces.logged.values()) == {1}


def test_watch_rechecks_labelled_items_and_says_that_the_model_answers_otherwise(
    world: Planted, traces: Traces
) -> None:
    traces.made = rows(2, "t", world.field)
    seen(world)
    same = seen(world, recheck=8)
    assert same.to_json()["recheck"] == {"items": 8, "otherwise": 0, "moved": 0.0}
    assert same.spent.calls == 8

    usual, world.server.policy = world.server.policy, lowest
    try:
        other = seen(world, recheck=8)
    finally:
        world.server.policy = usual
    assert other.rechecked is not None
    assert other.rechecked.otherwise > 0
    assert other.notes[0].startswith(f"recheck: {other.rechecked.otherwise} of 8 known items")


def test_watch_of_another_model_samples_or_host_begins_the_next_epoch(world: Planted, traces: Traces) -> None:
    traces.made = rows(20, "t", world.field)
    first = seen(world)
    assert (first.counts["sampled"], first.rate.raw.n) == (40, 40)
    same = seen(world)
    assert (same.spent.calls, same.rate.raw.n) == (0, 40)
    sampled = 40
    with FakeOpenAI(leaning) as other:
        elsewhere = ("api_base", other.base_url)
        changes: tuple[tuple[str, Any], ...] = (
            ("lm", "openai/gpt-4o"),
            ("samples", 2),
            elsewhere,
            ("temperature", 0.5),
        )
        for number, change in enumerate(changes):
            traces.made = [*traces.made, *rows(6, f"n{number}", world.field)]
            found = seen(world, **dict([change]))
            assert found.rate.raw.n == 12, change  # what the earlier one said left the window
            assert any(f"the first {sampled} sampled traces" in note for note in found.notes)
            assert found.counts["new_sampled"] == 12
            assert found.spent.calls >= 12  # and the test items, measured anew
            sampled += 12
        assert other.calls > 24
    assert set(traces.logged.values()) == {1}


def test_watch_file_from_before_the_model_was_kept_begins_the_next_epoch(world: Planted, traces: Traces) -> None:
    import sqlite3
    from contextlib import closing

    traces.made = rows(20, "t", world.field)
    seen(world)
    (file,) = (world.home / ".judgec" / "watch").glob("*.db")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DELETE FROM facts WHERE name IN ('asked', 'on_test')")
        connection.execute("ALTER TABLE verdicts DROP COLUMN given")
    traces.made = [*traces.made, *rows(6, "n", world.field)]
    found = seen(world)
    assert (found.rate.raw.n, found.counts["sampled"]) == (12, 52)
    assert found.rate.assumes.startswith("the correction assumes that the judge's error rates are those on its")
