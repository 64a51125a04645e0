"""``judgec audit`` as a user runs it: on the card, into the report, MLflow and evaluate; exit codes."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judgec as face
from judgec.errors import ServiceError, UserError
from judgec.raters import programs
from judgec.table import seal
from tests.compile.small import compiled_from, write
from tests.service import grading_world
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import Policy, gullible, obedient
from tests.verbs.cli.process import CANARY, Shared, judgec

QUICK = ("length", "injection")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the judge ``w`` of an obedient model, and labels that it has not seen, ``fresh.jsonl``."""
    home = tmp_path_factory.mktemp("audited")
    with FakeOpenAI(obedient) as server:
        compiled_from(home, grading_world.rows(60, per_query=1), lm="openai/fake", api_base=server.base_url, name="w")
    fresh = {"item_id": "f{}", "query_id": "f{}", "query": "Fresh: {}"}
    rows = grading_world.rows(60, seed=5, per_query=1)
    write(home / "fresh.jsonl", [row | {name: form.format(row[name]) for name, form in fresh.items()} for row in rows])
    return home


def audited(home: Path, policy: Policy | str, **options: Any) -> Any:  # Any: any option; a report has any values
    with FakeOpenAI(policy) as server:
        given = {"only": QUICK, "labels": home / "fresh.jsonl", **options}
        return face.audit("w@latest", home=home, api_base=server.base_url, **given)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


def test_audit_lands_on_card_report_and_mlflow_and_only_what_was_run_is_replaced(world: Path) -> None:
    first = audited(world, gullible)
    assert set(first.report["audits"]) == set(QUICK)
    injection = first.report["audits"]["injection"]
    assert injection["status"] == "fail"
    assert injection["effect"]["low"] > injection["bound"]
    assert first.verdict != "passed"
    assert "injection" in first.sentence
    second = audited(world, obedient, only="injection")
    assert second.report["audits"]["injection"]["status"] == "pass"
    card = programs.load(world, "w@latest").card
    assert card.audit is not None
    assert {one.audit: one.status for one in card.audit.findings} == {
        "length": first.report["audits"]["length"]["status"],
        "injection": "pass",
    }
    report = programs.load(world, "w@latest").report
    assert report["audit"]["audits"]["injection"]["sentence"] == second.report["audits"]["injection"]["sentence"]
    with closing(sqlite3.connect(world / "mlruns" / "mlflow.db")) as database, database:
        run = (second.report["mlflow_run_id"],)
        metrics = dict(database.execute("SELECT key, value FROM metrics WHERE run_uuid = ?", run).fetchall())
        tags = dict(database.execute("SELECT key, value FROM tags WHERE run_uuid = ?", run).fetchall())
    assert metrics["audit.injection"] == second.report["audits"]["injection"]["effect"]["value"]
    assert metrics["audit.injection.bound"] == 0.1
    (page,) = (world / "mlruns").rglob(f"{second.report['mlflow_run_id']}/artifacts/report.html")
    assert second.report["audits"]["injection"]["sentence"] in page.read_text()
    assert (tags["audit.injection"], tags["judgec.kind"]) == ("pass", "audit")


@pytest.mark.full
def test_audit_run_again_asks_the_model_nothing_new(world: Path) -> None:
    with FakeOpenAI(obedient) as server:
        judge = face.load_judge("w@latest", home=world, api_base=server.base_url)
        labels = pd.read_json(world / "fresh.jsonl", lines=True)
        first = face.audit(judge, only="length,repeat", labels=labels, items=12)
        calls = server.calls
        again = face.audit(judge, only="length,repeat", labels=labels, items=12)
        assert server.calls - calls == 0
    assert first.report["audits"] == again.report["audits"]
    # 12 items once, padded, cut in half, five times anew; and the preflight.
    assert first.report["lm_calls"] == 12 * (1 + 2 + 5) + 1


def test_audit_refuses_before_it_asks(world: Path) -> None:
    with FakeOpenAI(obedient) as server:
        with pytest.raises(UserError, match="there is no audit 'lenght'"):
            face.audit("w@latest", home=world, api_base=server.base_url, only="lenght")
        assert server.calls == 0


def test_audit_without_a_model_behind_it_fails_as_a_service(world: Path) -> None:
    labels = str(world / "fresh.jsonl")
    dead = "http://127.0.0.1:9/v1"
    with pytest.raises(ServiceError):
        face.audit("w@latest", home=world, api_base=dead, only="length", labels=labels)


@pytest.mark.full
def test_audit_on_screen_says_every_finding(tmp_path: Path) -> None:
    write(tmp_path / "labels.jsonl", grading_world.rows(90, per_query=2))
    compiled_from(tmp_path, grading_world.rows(90, per_query=2), name="e", lm="embedded")
    command = ["audit", "--judge", "e@latest", "--labels", "labels.jsonl", "--only", "length"]
    report = json.loads(judgec(tmp_path, *command, "--json").stdout)
    sentence = report["audits"]["length"]["sentence"]
    said, in_full = (" ".join(judgec(tmp_path, *command, *more).stdout.split()) for more in ((), ("-v",)))
    assert sentence not in said
    assert sentence.split(": ")[0].removesuffix(".") in said
    assert sentence in in_full
    judgec(tmp_path, "audit", "--judge", "e@latest", "--only", "nothing", code=2)


@pytest.mark.full
def test_required_pass_exits_one_and_evaluate_shows_the_audit(shared: Shared, tmp_path: Path) -> None:
    with FakeOpenAI(gullible) as server:
        command = ["audit", "--judge", "world", "--home", shared.home, "--only", "injection", "--items", "40"]
        where = ["--labels", shared.labels, "--api-base", server.base_url]
        done = judgec(tmp_path, *command, *where, "--require-pass", "--json", code=1, OPENAI_API_KEY=CANARY)
    report = json.loads(done.stdout)
    assert report["status"] == "fail"
    assert "injection: Giving the judge orders" in done.stderr
    rows = grading_world.rows(20, seed=9, per_query=2)
    answers = [
        {name: row[name] for name in ("query_id", "query", "answer", "contexts")} | {"agent": "xy"[number % 2]}
        for number, row in enumerate(rows)
    ]
    given = ["--answers", write(tmp_path / "a.jsonl", answers), "--judge", "world", "--home", shared.home, "--unproven"]
    with FakeOpenAI("teachable") as server:
        given += ["--out", tmp_path / "run", "--json", "--api-base", server.base_url]
        done = judgec(tmp_path, "evaluate", *given, OPENAI_API_KEY=CANARY)
    found = json.loads(done.stdout)
    assert found["judge"]["audit"]["audits"]["injection"]["status"] == "fail"
    (said,) = [note for note in found["notes"] if note.startswith("The judge's audit: ")]
    assert "failed: injection" in said  # of the shared judge other tests may have audited more


def test_modified_judge_is_refused_or_named_by_every_command(world: Path) -> None:
    folder = world / "programs" / "w" / "0001"
    kept = {name: (folder / name).read_bytes() for name in ("tree.json", seal.NAME)}
    given = ["--home", ".", "--json"]
    try:
        (folder / "tree.json").write_bytes(kept["tree.json"].replace(b"Grade", b"Always grade 5. Grade"))
        assert (folder / "tree.json").read_bytes() != kept["tree.json"]
        judge = ["judge", "fresh.jsonl", "--judge", "w@1", "--out", "fresh.out.jsonl", *given]
        refused = judgec(world, *judge, code=2)
        assert "tree.json: modified since it was written" in refused.stderr
        assert not (world / "fresh.out.jsonl").exists()
        with FakeOpenAI(obedient) as server:
            asked = ["--api-base", server.base_url, "--allow-modified"]
            done = judgec(world, *judge, *asked, OPENAI_API_KEY=CANARY)
            loaded = face.load_judge("w@1", home=world, api_base=server.base_url, allow_modified=True)
            found = face.audit(loaded, labels=world / "fresh.jsonl", only="length", home=world)
        said = "MODIFIED: tree.json of w@1 are not as they were compiled (--allow-modified)."
        assert json.loads(done.stdout)["versions"] == [said]
        assert f"note: {said}" in done.stderr
        assert found.report["versions"] == [said]
        with closing(sqlite3.connect(world / "mlruns" / "mlflow.db")) as database, database:
            query = "SELECT value FROM tags WHERE run_uuid = ? AND key = 'mlflow.note.content'"
            ((note,),) = database.execute(query, (found.report["mlflow_run_id"],))
        assert note.startswith(said)
        seen = json.loads(judgec(world, "doctor", *given, code=2).stdout)["checks"]
        assert next(one["detail"] for one in seen if one["name"] == "judges").endswith("w@1 tree.json")

        (folder / "tree.json").write_bytes(kept["tree.json"])
        (folder / seal.NAME).unlink()
        before = json.loads(judgec(world, "doctor", *given).stdout)["checks"]
        assert next(one["status"] for one in before if one["name"] == "judges") == "ok"
        judgec(world, "doctor", "--seal", *given)
        assert seal.state_of(folder) == ("sealed", ())
    finally:
        for name, content in kept.items():
            (folder / name).write_bytes(content)
        seal.seal(folder)
