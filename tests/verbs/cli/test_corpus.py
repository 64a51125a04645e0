"""Documents to a ranked list of agents, without a model; one command of each road as a real process."""

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

import judgec
from judgec.errors import UserError
from judgec.verbs.cli.app import main
from judgec.verbs.cli.commands import answer, compile_agent, index
from tests.compile.small import write
from tests.rag.retrieval.parsing.files import broken_pdf
from tests.verbs.cli.process import judgec as run
from tests.verbs.parts import QUERIES, make_parts

AGENTS = "rag-bm25,rag-fusion-hybrid"
Json = dict[str, Any]  # what a command printed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents, queries, a judge of answers, an index."""
    folder = make_parts(tmp_path_factory.mktemp("corpus é"))
    broken_pdf(folder / "docs" / "old.pdf")
    write(folder / "queries.jsonl", QUERIES)
    index(paths=[str(folder / "docs")], out=folder / "index")
    return folder


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, as the current one."""
    monkeypatch.chdir(folder)
    return folder


def answered(**changed: object) -> None:
    """``judgec answer --json``."""
    given = {"queries": "queries.jsonl", "agents": AGENTS, "out": Path("a.jsonl"), "index": "index", "json": True}
    answer(**{**given, **changed})


def rows_of(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_answers_cite_passages_and_carry_what_they_took(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answered(home=tmp_path)  # answers that another test has asked for are journaled in the folder, and took no time
    report = json.loads(capsys.readouterr().out)
    assert list(report["agents"]) == AGENTS.split(",")
    rows = rows_of(here / "a.jsonl")
    assert len(rows) == 2 * len(QUERIES)
    first = rows[0]
    assert first["answer"] == "range: 25 bar. [1]"
    assert first["passage_ids"][0] == first["cited"][0] == "Fenn-0.md"
    assert len(first["contexts"]) == 5
    assert first["seconds"] > 0
    assert first["input_tokens"] == 0  # rules quote passages, and ask no model
    assert first["usd"] == 0
    assert len(rows[-1]["searched"]) == 4
    answered(home=tmp_path)
    again = json.loads(capsys.readouterr().out)
    assert again["agents"]["rag-bm25"]["median_seconds"] > 0  # rules keep no journal: they work anew
    assert [row["answer"] for row in rows_of(here / "a.jsonl")] == [row["answer"] for row in rows]


@pytest.mark.full
def test_a_grid_builds_each_index_once_and_its_tournament_says_what_mattered(folder: Path) -> None:
    grid = shlex.split("--index docs --queries queries.jsonl --grid retriever=bm25,hybrid chunk=40,1000 k=1,2")
    asked = ["answer", *grid, "--out", "grid.jsonl", "--json"]
    plan = json.loads(run(folder, *asked, "--dry-run").stdout)
    assert (len(plan["agents"]), plan["answers"], plan["indexes"], plan["indexes_to_build"]) == (8, 576, 2, 2)
    assert not (folder / "grid.jsonl").exists()
    report = json.loads(run(folder, *asked).stdout)
    assert next(iter(report["agents"])) == "rag-bm25:chunk=40:k=1"
    assert len(list((folder / ".judgec" / "indexes").iterdir())) == 2
    assert json.loads(run(folder, *asked, "--dry-run").stdout)["indexes_to_build"] == 0
    options = ["--queries", "queries.jsonl", "--answers", "grid.jsonl", "--out", "mattered", "--unproven"]
    assert "What mattered" in run(folder, "evaluate", *options, "--judge", "parts", "-v").stdout
    found = json.loads((folder / "mattered" / "report.json").read_text(encoding="utf-8"))["effects"]
    changes = [("retriever", "bm25", "hybrid"), ("chunk", "40", "1000"), ("k", "1", "2")]
    assert {(one["setting"], one["from"], one["to"]) for one in found} == {*changes}
    by_name = {(one["setting"], one["measure"]): one for one in found}
    assert by_name["chunk", "grade"]["pairs"] == 4
    rows = rows_of(folder / "grid.jsonl")
    scores = pd.read_csv(folder / "mattered" / "answers.csv").set_index(["query_id", "agent"]).iloc[:, 0].to_dict()
    gaps = [
        scores[row["query_id"], row["agent"].replace("chunk=40:", "chunk=1000:")]
        - scores[row["query_id"], row["agent"]]
        for row in rows
        if row["settings"]["chunk"] == "40"
    ]
    assert by_name["chunk", "grade"]["difference"]["value"] == pytest.approx(sum(gaps) / len(gaps))
    assert "<h2>What mattered</h2>" in (folder / "mattered" / "report.html").read_text(encoding="utf-8")
    assert len(pd.read_csv(folder / "mattered" / "effects.csv")) == len(found)


def test_a_grid_of_chunks_needs_documents(here: Path) -> None:
    with pytest.raises(UserError, match="built with 1000/250, and one index has one"):
        answered(agents=None, grid=["chunk=500,1000"])
    with pytest.raises(UserError, match="no such file or folder"):
        answered(agents=None, grid=["k=3"], index="nowhere")
    with pytest.raises(UserError, match="names rerankers, too"):
        answered(agents=None, grid=["rerank=none,lexical"], rerank="lexical")


@pytest.mark.full
def test_compile_agent_saves_a_version_that_answer_can_run(folder: Path) -> None:
    inputs = ["--index", "index", "--queries", "queries.jsonl"]
    compiling = ["compile-agent", "rag-bm25", *inputs, "--judge", "parts", "--unproven", "--json"]
    report = json.loads(run(folder, *compiling, "--name", "ag").stdout)
    assert (report["program"], report["version"]) == ("ag", 1)
    assert report["metric"] == "judge:parts@1"
    assert set(report["test"]) == {"uncompiled", "compiled"}
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{folder / 'mlruns' / 'mlflow.db'}")
    metrics = client.get_run(report["mlflow_run_id"]).data.metrics
    assert len(metrics) <= 15
    assert metrics["test.score"] == pytest.approx(report["test"]["compiled"]["score"]["value"])
    assert metrics["difference.score"] == pytest.approx(report["difference"]["score"]["value"])
    assert {"difference.score.low", "lm_calls"} <= set(metrics)
    files = {path.name for path in (folder / "programs" / "ag" / "0001").iterdir()}
    stems = ("tree", "card", "split", "report", "manifest")
    assert files == {"report.html", "items.jsonl", *(f"{stem}.json" for stem in stems)}
    answered = ["answer", *inputs, "--agents", "ag@1,rag-bm25", "--out", "b.jsonl", "--json"]
    assert list(json.loads(run(folder, *answered).stdout)["agents"]) == ["ag@1", "rag-bm25"]
    assert "that is a judge" in run(folder, *compiling, "--name", "parts", code=2).stderr
    assert "exactly one" in run(folder, "compile-agent", "rag-bm25", *inputs, code=2).stderr


def test_compiled_agent_leaves_the_built_in_one_of_its_name_alone_and_its_next_command_runs(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(here / "programs" / "parts", tmp_path / "programs" / "parts")
    few = write(tmp_path / "few.jsonl", QUERIES[:30])
    compile_agent(
        agent="rag-fusion-hybrid", index="index", queries=str(few), judge="parts", unproven=True, home=tmp_path, k=2
    )
    said = capsys.readouterr().err.splitlines()
    following = next(line.removeprefix("Next: ") for line in said if line.startswith("Next: "))
    assert " --k 2 " in following  # the uncompiled agent that it was measured against
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [*shlex.split(following.replace("--index index", f"--index '{here / 'index'}'"))])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    assert {row["agent"] for row in rows_of(tmp_path / "answers.jsonl")} == {"rag-fusion-hybrid", "rag-fusion-hybrid@1"}
    with pytest.raises(UserError, match="'nobody@2' is not known"):
        answered(agents="nobody@2", index=str(here / "index"), queries=str(few), home=tmp_path)


def test_python_system_answers_and_its_failures_are_kept_apart(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "their_rag.py").write_text(
        "def ask(query):\n    if 'Rill' in query:\n        raise ValueError('no')\n    return 'It is ' + query\n"
    )
    answered(agents="python:their_rag:ask", out=Path("c.jsonl"), index=None)
    report = json.loads(capsys.readouterr().out)["agents"]["ask"]
    assert (report["answers"], report["failed"]) == (48, 24)
    failed = rows_of(here / "c.failed.jsonl")
    assert {row["error"] for row in failed} == {"ValueError: no"}
    assert not list(here.glob(".c.jsonl*"))


def test_interrupted_run_of_a_system_asks_only_for_what_is_missing(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "dying_rag.py").write_text(
        "calls = []\ndef ask(query):\n    calls.append(query)\n    if len(calls) == 10:\n"
        "        raise KeyboardInterrupt\n    return query\n"
    )
    options = {"agents": "python:dying_rag:ask", "out": Path("d.jsonl"), "index": None, "in_flight": 1}
    with pytest.raises(KeyboardInterrupt):
        answered(**options)
    assert not (here / "d.jsonl").exists()
    answered(**options)
    import dying_rag  # type: ignore[import-not-found]  # written above

    finished, interrupted = dying_rag.calls[:9], dying_rag.calls[9]
    assert {dying_rag.calls.count(query) for query in finished} == {1}
    assert dying_rag.calls.count(interrupted) == 2
    assert len(rows_of(here / "d.jsonl")) == len(QUERIES)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"index": None}, "needs an index"),
        ({"agents": "rag-none"}, "rag-fusion-hybrid"),
        ({"index": "docs"}, "no index"),
        ({"agents": " , "}, "--agents: no name given"),
        ({"agents": "none.toml"}, "no such file"),
        ({"agents": "parts@1"}, "a judge of grade, not an agent"),
        ({"out": Path("docs")}, "a folder"),
        ({"queries": "none.csv"}, "no such file"),
    ],
)
def test_bad_input_says_what_to_do(here: Path, changed: Json, said: str) -> None:
    with pytest.raises(UserError, match=said):
        answered(**{"out": Path("x.jsonl"), **changed})
    assert not (here / "x.jsonl").exists()


def test_queries_without_an_accepted_answer_are_left_out_of_a_compile(here: Path) -> None:
    bare = [{"query_id": query["query_id"], "query": query["query"]} for query in QUERIES]
    write(here / "bare.jsonl", bare)
    known = [{**query, "answer": f"It is {query['reference']}.", "ann": 5, "bob": 4} for query in QUERIES[:60]]
    refused = [{**query, "answer": "The documents do not say.", "ann": 1, "bob": 1} for query in QUERIES[:60]]
    write(here / "some.jsonl", [*known, *refused])
    found = judgec.compile_agent(
        "rag-bm25",
        name="some",
        index="index",
        queries="bare.jsonl",
        labels="some.jsonl",
        annotators=("ann", "bob"),
        best="5",
        accept_at="4",
        progress=False,
    )
    report = found.report
    split = cast("dict[str, int]", report["split"])
    assert sum(split.values()) == 60
    assert "12 of 72 queries left out: no accepted answer is known" in cast("list[str]", report["notes"])
