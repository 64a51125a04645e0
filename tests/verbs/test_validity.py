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
from judgec.connect.tracking.traces import NewTraces, WantedTraces
from judgec.errors import UserError
from judgec.raters import programs
from judgec.records.label import InputCounts, Item
from judgec.verbs import watch as watching
from judgec.verbs.mlflow_scorer import NOTES
from judgec.verbs.validity import MORE, validity_of
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


def test_watch_of_traces_without_it_corrects_nothing_and_alerts(world: Planted, traces: Traces) -> None:
    traces.made = rows(30, "t", world.field, without=True)
    labelled(traces, 20)
    found = seen(world, alert=["accept<.05", "raw>.9"])
    report = found.to_json()
    assert report["accept"]["value"] is None
    assert world.field in report["accept"]["note"]
    assert report["raw"]["value"] == 0.0
    assert report["missing_inputs"] == {world.field: {"items": 1.0, "labels": 0.0}}
    fired = {name: one["fired"] for name, one in report["alerts"].items()}
    assert fired == {"accept<.05": True, "raw>.9": False}
    assert all(world.field in why for why in found.fired)
    assert any(f"compiled with {world.field}" in note and "compile the judge" in note for note in found.notes)


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
