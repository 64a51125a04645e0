"""``judgec doctor`` as a process, and its checks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from judgec.verbs.cli import doctor
from tests.service.fake_openai import FakeOpenAI

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


def test_doctor_dead_tracking_server_exits_3(tmp_path: Path) -> None:
    ran = run("--home", str(tmp_path), "--tracking-uri", "http://127.0.0.1:9", "--json")
    assert (ran.returncode, status(ran)["tracking"]) == (3, "fail")
    assert json.loads(ran.stdout)["ok"] is False


def test_doctor_tracking_folder_exits_2(tmp_path: Path) -> None:
    ran = run("--home", str(tmp_path), "--json", MLFLOW_TRACKING_URI="./mlruns")
    assert (ran.returncode, status(ran)["tracking"]) == (2, "fail")


def test_model_that_answers_and_one_that_does_not_become_lines() -> None:
    with FakeOpenAI("good") as server:
        assert doctor.answers("openai/x", server.base_url)["status"] == "ok"
    failed = doctor.answers("openai/x", "http://127.0.0.1:9")
    assert (failed["status"], failed["service"]) == ("fail", True)
    unknown = doctor.answers("x", None)
    assert (unknown["status"], unknown["service"]) == ("fail", False)
    assert doctor.answers("embedded", None)["status"] == "ok"


@pytest.mark.parametrize(
    ("lm", "api_base", "environ", "expected"),
    [
        ("openai/gpt-4o-mini", None, {}, "fail"),
        ("openai/gpt-4o-mini", None, {"OPENAI_API_KEY": "x"}, "ok"),
        ("openai/gpt-4o-mini", None, {"ANTHROPIC_API_KEY": "x"}, "fail"),
        ("together_ai/m", None, {}, "fail"),
        ("openai/local", "http://127.0.0.1:8000/v1", {}, "ok"),
        ("openai/local", None, {"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"}, "ok"),
        ("embedded", None, {}, "ok"),
        (None, None, {}, "ok"),
    ],
)
def test_missing_key_is_a_failure_for_the_model_that_needs_it(
    lm: str | None,
    api_base: str | None,
    environ: dict[str, str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [*os.environ]:
        if name.endswith(("_API_KEY", "_BASE_URL", "_API_BASE")):
            monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    found = doctor.examine(tmp_path, None, lm, api_base, sealing=False)
    assert next(one["status"] for one in found if one["name"] == "keys") == expected


def test_packages_say_which_is_missing_and_which_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "EXTRAS", {"rag": "json", "ray": "no_such_module"})
    found = doctor.packages()
    assert found["status"] == "ok"
    assert str(found["detail"]).endswith("without judgec[ray]")
    monkeypatch.setattr(doctor, "PACKAGES", ("no-such-package",))
    assert doctor.packages()["status"] == "fail"
