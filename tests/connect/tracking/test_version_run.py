"""A tournament, an audit and a probe logged beside the compile of a judge, read back from the database."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.runs import AuditRun, ProbeRun, TournamentRun
from judgec.connect.tracking.store import tracking_store
from judgec.records.estimate import Estimate
from tests.connect.tracking.examples import STARTED, compile_run


def tournament(folder: Path, judge: str, version: int) -> TournamentRun:
    (folder / "report.html").write_text("<p>report", encoding="utf-8")
    return TournamentRun(
        name="league",
        params={"program": judge, "version": f"{version:04d}"},
        metrics={"rating.agent+v2": Estimate(value=1032.5, low=1000.0), "test.tau_b": Estimate(value=0.5)},
        artifacts={"report.html": folder / "report.html"},
        started=STARTED,
        ended=STARTED + 5,
        judge=judge,
        judge_version=version,
        version_tags={"rating.agent+v2": "1032.5"},
        rated={"rating.agent+v2": 1032.5, "elo.agent+v2": 1010.0},
        played="0a1b",
    )


def audit(judge: str, version: int) -> AuditRun:
    return AuditRun(
        name="audit of sensors",
        params={"items": 30},
        metrics={"audit.position": 0.25},
        started=STARTED,
        ended=STARTED + 5,
        judge=judge,
        judge_version=version,
        version_tags={"audit": "passed"},
    )


PROBE = ProbeRun(name="probe", params={"judge": "rules"}, metrics={"n.S1.a": 8.0}, started=STARTED, ended=STARTED + 5)


def tracker_run(rows: sqlite3.Connection, name: str) -> str:
    """The id of the run with this name."""
    found = rows.execute("SELECT run_uuid FROM runs WHERE name = ?", [name]).fetchone()
    return str(found[0])


def test_tournament_is_a_run_of_its_own_and_tags_the_version_that_judged(tmp_path: Path) -> None:
    compiled = compile_run(tmp_path, 1, 0.5).model_copy(update={"params": {"version": "0001"}})
    with Tracker(tracking_store(tmp_path, None, {}), os.environ) as tracker:
        tracker.log_compile(compiled)
        logged = tracker.log_tournament(tournament(tmp_path, "sensors", 1))
        later = {"rated": {"elo.agent+v2": 990.0}, "played": "2c3d"}
        tracker.log_tournament(tournament(tmp_path, "sensors", 1).model_copy(update=later))
        stranger = tracker.log_tournament(tournament(tmp_path, "unknown", 3))
        audited = tracker.log_audit(audit("sensors", 1))
        probed = tracker.log_alone(PROBE)
    assert logged.model_version == 1
    assert stranger.model_version is None
    assert audited.model_version == 1
    assert probed.model_version is None
    with closing(sqlite3.connect(tmp_path / "mlruns" / "mlflow.db")) as rows:
        metrics = dict(rows.execute("SELECT key, value FROM latest_metrics WHERE run_uuid = ?", [logged.run_id]))
        tags = dict(rows.execute("SELECT key, value FROM tags WHERE run_uuid = ?", [logged.run_id]))
        kinds = dict(rows.execute("SELECT run_uuid, value FROM tags WHERE key = 'judgec.kind'"))
        sources = dict(rows.execute("SELECT run_uuid, value FROM tags WHERE key = 'mlflow.source.name'"))
        judged = tracker_run(rows, compiled.name)
        steps = list(rows.execute("SELECT key, step, value FROM metrics WHERE run_uuid = ? AND step > 0", [judged]))
        params = dict(rows.execute("SELECT key, value FROM params WHERE run_uuid = ?", [judged]))
        on_version = dict(rows.execute("SELECT key, value FROM model_version_tags WHERE version = 1"))
    assert metrics == {"rating.agent_2Bv2": 1032.5, "rating.agent_2Bv2.low": 1000.0, "test.tau_b": 0.5}
    assert (tags["judgec.kind"], tags["mlflow.source.name"]) == ("tournament", "judgec evaluate")
    assert on_version["rating.agent_2Bv2"] == "1032.5"
    assert sorted(steps) == [
        ("elo.agent_2Bv2", 1, 1010.0),
        ("elo.agent_2Bv2", 2, 990.0),
        ("rating.agent_2Bv2", 1, 1032.5),
    ]
    assert (params["tournament.played.001"], params["tournament.played.002"]) == ("0a1b", "2c3d")
    assert on_version["tournament.played"] == "2c3d"
    assert on_version["tournament.run_id"] not in {"", logged.run_id}  # the newest
    assert (kinds[audited.run_id], sources[audited.run_id]) == ("audit", "judgec audit")
    assert (kinds[probed.run_id], sources[probed.run_id]) == ("probe", "judgec probe")
    assert (on_version["audit"], on_version["audit.run_id"]) == ("passed", audited.run_id)
    assert not [name for name in on_version if name.startswith("probe")]
