"""An API key that is sent with every call, and found nowhere else: no file, no log, no message."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from dspy import lm15

from judgec import judge_file
from judgec.errors import ServiceError
from judgec.lm.backend import first_line
from tests.compile.small import compiled_from, write
from tests.service import grading_world
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import Policy
from tests.service.replies import Call, Outcome, Status
from tests.verbs.cli.process import CANARY, Shared, judgec


def holding(folder: Path, secret: str) -> Iterator[Path]:
    """Files that hold the secret in any of the usual encodings; databases and their write-ahead logs included."""
    forms = [secret.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be")]
    for path in folder.rglob("*"):
        if path.is_file() and any(form in path.read_bytes() for form in forms):
            yield path


def echoing(call: Call) -> Outcome:
    """An endpoint that refuses every item, and repeats the key while it does."""
    if not call.prompt.outputs:
        return grading_world.teachable(call)
    return Status(400, f"Bad request with API key: {CANARY}; Authorization: Bearer {CANARY}", "invalid_request_error")


def unauthorized(call: Call) -> Outcome:
    return Status(
        401, f"Incorrect API key provided: {CANARY}. You can find your key in your account.", "invalid_api_key"
    )


def test_search_finds_a_secret_in_a_database(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as database, database:
        database.execute("CREATE TABLE t (v TEXT)")
        database.execute("INSERT INTO t VALUES (?)", (f"before {CANARY} after",))
    assert list(holding(tmp_path, CANARY)) == [tmp_path / "x.db"]


@pytest.mark.full
def test_key_is_sent_and_written_nowhere(shared: Shared, tmp_path: Path) -> None:
    """Compile, judge, audit, evaluate, agreement: everything that they print and write."""
    rows = grading_world.rows(12, seed=3, per_query=2)
    items = write(tmp_path / "items.jsonl", [{k: v for k, v in row.items() if k != "grade"} for row in rows])
    queries = write(tmp_path / "q.jsonl", [{"query_id": row["query_id"], "query": row["query"]} for row in rows[::2]])
    answers = write(
        tmp_path / "a.jsonl",
        [
            {name: r[name] for name in ("query_id", "answer", "contexts")} | {"agent": "xy"[n % 2]}
            for n, r in enumerate(rows)
        ],
    )
    with FakeOpenAI("teachable") as server:
        common = ["--judge", "world", "--home", shared.home, "--api-base", server.base_url]
        said = [
            judgec(tmp_path, *command, *common, OPENAI_API_KEY=CANARY)
            for command in (
                ["judge", items, "--out", tmp_path / "out.jsonl"],
                ["audit", "--labels", shared.labels, "--only", "length", "--items", "6"],
                ["evaluate", "--queries", queries, "--answers", answers, "--out", tmp_path / "run", "--unproven"],
            )
        ]
        assert server.keys == {f"Bearer {CANARY}"}
    assert (tmp_path / "run" / "report.html").is_file()
    assert not list(holding(tmp_path, CANARY))
    assert not list(holding(shared.folder, CANARY))
    assert (shared.home / ".judgec" / "journal.db").is_file()
    assert (shared.home / "mlruns" / "mlflow.db").is_file()
    spoken = [shared.first["stdout"], shared.first["stderr"], *(done.stdout + done.stderr for done in said)]
    assert not [text for text in spoken if CANARY in text]


@pytest.mark.parametrize("policy", [echoing, unauthorized])
def test_key_that_an_endpoint_repeats_is_not_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: Policy
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    with FakeOpenAI("teachable") as server:
        compiled_from(tmp_path, grading_world.rows(60), lm="openai/fake", api_base=server.base_url, name="w")
    rows = [{k: v for k, v in row.items() if k != "grade"} for row in grading_world.rows(3, seed=4)]
    out = tmp_path / "out.jsonl"
    with FakeOpenAI(policy) as server, pytest.raises(ServiceError) as raised:
        judge_file(
            write(tmp_path / "items.jsonl", rows), judge="w@latest", out=out, api_base=server.base_url, in_flight=2,
            home=tmp_path,
        )  # fmt: skip
    assert CANARY not in str(raised.value)
    assert "***" in (out.read_text() if out.exists() else str(raised.value))
    assert not list(holding(tmp_path, CANARY))


@pytest.mark.parametrize(
    "secret",
    ["sk-proj-abcDEF123456", "hf_abcdefghijkl", "AIzaSyA1234567890", "gsk_abc12345678", "AKIAIOSFODNN7EXAMPLE"],
)
def test_first_line_hides_what_looks_like_a_key(secret: str) -> None:
    for text in (f"refused {secret}", f"header Authorization: Bearer {secret}!", f"api_key={secret}&x=1"):
        assert secret not in first_line(lm15.InvalidRequestError(text))


def test_first_line_hides_unknown_keys_by_what_stands_before_them_and_leaves_other_text() -> None:
    assert first_line(ValueError("Incorrect API key provided: 0123456789abcdef.")) == "Incorrect API key provided: ***"
    assert first_line(ValueError("Bearer t0psecretvalue was refused")) == "Bearer *** was refused"
    plain = "the skyscraper model gpt-4o-mini does not exist (error 404); key fields: query, answer"
    assert first_line(ValueError(plain)) == plain


@pytest.mark.full
def test_password_of_the_tracking_store_is_not_shown(tmp_path: Path) -> None:
    uri = "postgresql://user:s3cr3t-canary@127.0.0.1:9/db"
    write(tmp_path / "labels.jsonl", grading_world.rows(60))
    command = ["compile-judge", "labels.jsonl", "--lm", "embedded", "--name", "x", "--tracking-uri", uri, "--json"]
    done = judgec(tmp_path, *command, code=None)
    assert done.returncode != 0
    assert "s3cr3t-canary" not in done.stdout + done.stderr
    assert not list(holding(tmp_path, "s3cr3t-canary"))
