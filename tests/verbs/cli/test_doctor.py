"""``judgec doctor`` as a process, and its checks."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from judgec.errors import ServiceError, UserError
from judgec.verbs.cli import doctor

ROOT = Path(__file__).parents[3]


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.endswith(("_API_KEY", "_URI"))}
    return subprocess.run(
        [sys.executable, str(ROOT / "cli.py"), "doctor", *arguments],
        capture_output=True,
        text=True,
        env={**clean, **environ},
        check=False,
    )


def status(ran: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return {check["name"]: check["status"] for check in json.loads(ran.stdout)["checks"]}


def test_doctor_fresh_folder_is_fine_quickly_and_leaves_nothing(tmp_path: Path) -> None:
    before = os.times()
    ran = run("--home", str(tmp_path / "new"))
    after = os.times()  # CPU: a busy machine's clock says nothing
    assert after.children_user + after.children_system - before.children_user - before.children_system < 3
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"mlflow {__import__('importlib.metadata').metadata.version('mlflow')}" in ran.stdout
    assert {line.split()[0] for line in ran.stdout.splitlines()} == {"ok"}
    assert list(tmp_path.iterdir()) == []


def test_doctor_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys; from judgec.verbs.cli.app import app\n"
        f"app(['doctor', '--home', {str(tmp_path)!r}], standalone_mode=False)\n"
        "print([m for m in ('mlflow', 'dspy', 'pandas', 'scipy', 'numpy') if m in sys.modules])"
    )
    path = os.pathsep.join(entry for entry in sys.path if entry)
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert ran.stdout.splitlines()[-1] == "[]"


def test_doctor_home_under_a_file_fails_with_the_fix(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ran = run("--home", str(tmp_path / "file"), "--json")
    assert ran.returncode == 2
    assert [name for name, seen in status(ran).items() if seen == "fail"] == [
        "programs",
        "mlruns",
        ".judgec",
    ]
    assert "choose another with --home" in ran.stdout
    assert "->" in run("--home", str(tmp_path / "file")).stdout


def test_doctor_keys_are_named_and_never_printed(tmp_path: Path) -> None:
    ran = run("--home", str(tmp_path), OPENAI_API_KEY="sk-very-secret")
    assert "OPENAI_API_KEY set" in ran.stdout
    assert "secret" not in ran.stdout + ran.stderr


def test_doctor_damaged_journal_fails(tmp_path: Path) -> None:
    (tmp_path / ".judgec").mkdir(exist_ok=True)
    (tmp_path / ".judgec" / "journal.db").write_bytes(b"x" * 4096)
    ran = run("--home", str(tmp_path), "--json")
    assert (ran.returncode, status(ran)["journal"]) == (2, "fail")


def test_doctor_dead_tracking_server_exits_3(tmp_path: Path) -> None:
    ran = run("--home", str(tmp_path), "--tracking-uri", "http://127.0.0.1:9", "--json")
    assert (ran.returncode, status(ran)["tracking"]) == (3, "fail")
    assert json.loads(ran.stdout)["ok"] is False


def test_doctor_tracking_folder_exits_2(tmp_path: Path) -> None:
    ran = run("--home", str(tmp_path), "--json", MLFLOW_TRACKING_URI="./mlruns")
    assert (ran.returncode, status(ran)["tracking"]) == (2, "fail")


def test_check_lm_answer_and_failure_become_lines() -> None:
    asked: list[tuple[str, str | None]] = []

    def answers(model: str, api_base: str | None) -> str:
        asked.append((model, api_base))
        return "gpt-4o-mini answered in 0.4 s"

    def refuses(model: str, api_base: str | None) -> str:
        raise ServiceError("openai/x: 401 unauthorized; a valid key is needed. Check OPENAI_API_KEY.")

    assert doctor.check_lm("m", "http://h", answers).status == "ok"
    assert asked == [("m", "http://h")]
    failed = doctor.check_lm("openai/x", None, refuses)
    assert (failed.status, failed.service) == ("fail", True)
    assert failed.fix == "Check OPENAI_API_KEY."
    assert failed.detail == "openai/x: 401 unauthorized; a valid key is needed"


def test_check_lm_unknown_model_is_the_users_to_mend() -> None:
    def unknown(model: str, api_base: str | None) -> str:
        raise UserError("--lm: x is unknown.")

    assert doctor.check_lm("x", None, unknown).service is False


@pytest.mark.parametrize(
    ("lm", "api_base", "environ", "expected"),
    [
        ("openai/gpt-4o-mini", None, {}, "fail"),
        ("openai/gpt-4o-mini", None, {"OPENAI_API_KEY": "x"}, "ok"),
        ("openai/gpt-4o-mini", None, {"ANTHROPIC_API_KEY": "x"}, "fail"),
        ("openai/local", "http://127.0.0.1:8000/v1", {}, "ok"),
        ("ollama_chat/llama3", None, {}, "ok"),
        ("embedded", None, {}, "ok"),
        (None, None, {}, "ok"),
    ],
)
def test_check_keys_only_the_named_models_key_is_needed(
    lm: str | None, api_base: str | None, environ: dict[str, str], expected: str
) -> None:
    assert doctor.check_keys(environ, lm, api_base).status == expected


def test_check_journal_in_use_is_a_warning(tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    assert doctor.check_journal(journal).status == "ok"
    with closing(sqlite3.connect(journal, isolation_level=None)) as other:
        other.execute("CREATE TABLE replies (key)")
        assert doctor.check_journal(journal).status == "ok"
        other.execute("BEGIN EXCLUSIVE")
        assert doctor.check_journal(journal).status == "warn"


def test_check_python_old_version_fails() -> None:
    assert doctor.check_python((3, 10, 14)).status == "fail"
    assert doctor.check_python((3, 11, 0)).status == "ok"


@pytest.mark.parametrize(("free", "expected"), [(5e9, "ok"), (5e8, "warn"), (5e7, "fail")])
def test_check_disk_little_space_warns_then_fails(
    free: float, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    usage = shutil.disk_usage(tmp_path)._replace(free=int(free))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert doctor.check_disk(tmp_path / "new").status == expected
