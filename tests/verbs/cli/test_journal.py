"""``judgec journal`` as a user runs it: the command line in this process."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgec.errors import UserError
from judgec.lm.journal.facts import Facts
from judgec.lm.journal.journal import Journal
from judgec.verbs.cli.app import app
from tests.lm.journal.test_batches import CALLS, batches
from tests.lm.journal.test_journal import REPLY, key

RUNNER = CliRunner()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with Journal(tmp_path / ".judgec" / "journal.db") as journal:
        journal.put_many((key(n % 40), REPLY) for n in range(50))
        Facts(journal, "verdicts", b"d", "mine@1, openai/m").put_many([(key(1), b"v" * 9)])
    return tmp_path


def invoke(*arguments: str) -> str:
    ran = RUNNER.invoke(app, ["journal", *arguments], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def test_stats_counts_replies_money_and_facts(home: Path) -> None:
    report = json.loads(invoke("stats", "--home", str(home), "--json"))
    (model,), (fact,) = report["models"], report["facts"]
    assert (model["model"], model["replies"], model["superseded"], model["usd"]) == ("openai/m", 50, 10, 25.0)
    assert fact == {"kind": "verdicts", "name": "mine@1, openai/m", "facts": 1, "bytes": 9}
    assert report["bytes"] > 4096
    assert "openai/m" in invoke("stats", "--home", str(home))


def test_stats_names_batches_that_are_not_read(home: Path) -> None:
    assert json.loads(invoke("stats", "--home", str(home), "--json"))["batches"] == []
    with Journal(home / ".judgec" / "journal.db") as journal:
        waiting, read = batches(journal), batches(journal)
        row = waiting.intend("n", CALLS, made=1_790_000_000.0, since=0.0).row
        waiting.created(row, "batch_7")
        read.read(read.intend("m", CALLS, made=2.0, since=0.0).row)
    (batch,) = json.loads(invoke("stats", "--home", str(home), "--json"))["batches"]
    assert (batch["batch"], batch["model"], batch["calls"]) == ("batch_7", "openai/m", 3)
    shown = invoke("stats", "--home", str(home))
    assert "the command that sent one reads it" in " ".join(shown.split())
    assert "2026-09-21" in shown


def test_export_writes_the_newest_replies_as_json_lines(home: Path) -> None:
    out = home / "replies.jsonl"
    assert json.loads(invoke("export", "--out", str(out), "--home", str(home), "--json"))["replies"] == 40
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len({row["call"] for row in rows}) == 40
    assert rows[0]["text"] == REPLY.text


def test_prune_says_what_went(home: Path) -> None:
    report = json.loads(invoke("prune", "--facts", "--home", str(home), "--json"))
    assert report["deleted"] == {"superseded": 10, "facts": 1}
    assert report["bytes_after"] <= report["bytes_before"]
    assert json.loads(invoke("stats", "--home", str(home), "--json"))["models"][0]["replies"] == 40


def test_prune_of_replies_younger_than_now_is_refused(home: Path) -> None:
    ran = RUNNER.invoke(app, ["journal", "prune", "--older-than", "-1", "--home", str(home)])
    assert ran.exit_code == 2
    assert json.loads(invoke("stats", "--home", str(home), "--json"))["models"][0]["replies"] == 50


@pytest.mark.parametrize("arguments", [["stats"], ["export", "--out", "x.jsonl"], ["prune"]])
def test_journal_that_is_not_there_is_not_made(tmp_path: Path, arguments: list[str]) -> None:
    with pytest.raises(UserError, match="no journal"):
        invoke(*arguments, "--home", str(tmp_path))
    assert list(tmp_path.iterdir()) == []
