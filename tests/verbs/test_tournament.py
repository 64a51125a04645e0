"""Documents to a ranked list of agents in Python alone: ``index``, ``answer``, ``evaluate``, ``compile_agent``."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judgec
from judgec.errors import InputError, UserError
from judgec.verbs.frames import Source
from tests.verbs.cli.judging import save_judge
from tests.verbs.parts import QUERIES as ASKED
from tests.verbs.parts import make_parts

QUERIES = pd.DataFrame(ASKED).rename(columns={"query_id": "id"})
RENAMED = {"id": "query_id"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_parts(tmp_path_factory.mktemp("api é"))


@pytest.fixture(scope="module")
def corpus(home: Path) -> judgec.CorpusIndex:
    return judgec.index(home / "docs", out=home / "index")


@pytest.fixture(scope="module")
def answers(home: Path, corpus: judgec.CorpusIndex) -> judgec.Answers:
    agents = ["rag-bm25", "rag-fusion-knn"]
    return judgec.answer(queries=QUERIES, columns=RENAMED, agents=agents, index=corpus, home=home)


@pytest.fixture(scope="module")
def board(home: Path, answers: judgec.Answers) -> judgec.Tournament:
    judge = judgec.load_judge("parts@latest", home=home)
    return judgec.evaluate(
        answers=answers.answers, judge=judge, unproven=True, out=home / "board", gate="rag-bm25>=rag-fusion-knn-300",
    )  # fmt: skip


def test_index_says_what_is_in_it_and_reads_only_changes(home: Path, corpus: judgec.CorpusIndex) -> None:
    assert len(corpus) == corpus.report["passages"] == 24
    assert corpus.passages["doc_id"].nunique() == 24
    assert "25 bar" in str(corpus.passages.set_index("doc_id").loc["Fenn-0.md", "text"])
    assert "24 passages of 24 files" in repr(corpus)
    again = judgec.index([str(home / "docs")], out=home / "index")
    assert again.report["files_read"] == 0
    assert "<table" in again._repr_html_()


def test_answers_are_a_frame_with_counts_and_no_file(home: Path, answers: judgec.Answers) -> None:
    assert len(answers) == 2 * len(QUERIES)
    assert answers.answers["answer"].iloc[0] == "range: 25 bar. [1]"
    assert answers.answers["query_id"].tolist() == [*QUERIES["id"], *QUERIES["id"]]
    assert answers.counts[["answers", "failed"]].to_dict("list") == {"answers": [72, 72], "failed": [0, 0]}
    assert answers.failures.empty
    assert (answers.out, "144 answers of 2 agents" in repr(answers)) == (None, True)
    assert not list(home.glob("*answers*"))


def test_answers_with_out_are_the_rows_of_the_file(home: Path, tmp_path: Path, corpus: judgec.CorpusIndex) -> None:
    (tmp_path / "few.csv").write_text("query\nWhat range has the Rill 3?\n")
    out = tmp_path / "answers.jsonl"
    found = judgec.answer(queries=tmp_path / "few.csv", agents="rag-bm25, rag-knn", index=corpus, out=out, home=home)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert rows == found.rows
    assert [row["agent"] for row in rows] == ["rag-bm25", "rag-knn"]


STANDINGS = ["rating", "low", "high", "rank", "group", "elo", "elo_sd", "average_win_percent", "games"]


def test_evaluate_of_a_frame_and_a_judge_gives_ratings_report_and_gate(home: Path, board: judgec.Tournament) -> None:
    assert board.ratings.index.tolist() == list(board.agents)
    assert (board.ratings["low"] <= board.ratings["rating"]).all()
    written = pd.read_csv(home / "board" / "leaderboard.csv", index_col="agent")
    pd.testing.assert_frame_equal(board.ratings, written.dropna(axis="columns", how="all"), check_dtype=False)
    assert board.report_path.is_file()
    assert board.report == json.loads((home / "board" / "report.json").read_text(encoding="utf-8"))
    assert (home / "mlruns" / "mlflow.db").is_file()  # the judge's home is the tournament's
    assert board.gate is not None
    assert board.gate.verdict in {"passed", "not shown", "failed"}
    assert board.gate.verdict in repr(board)
    assert "<table" in board._repr_html_()
    again = judgec.rank(board.games).ratings
    assert again.index.tolist() == list(board.agents)
    assert again["rating"].tolist() == pytest.approx(board.ratings["rating"].tolist(), abs=0.1)


def test_evaluate_takes_several_tables_of_answers_and_a_judge_by_name(
    home: Path, board: judgec.Tournament, answers: judgec.Answers, tmp_path: Path
) -> None:
    frame = answers.answers
    one, other = (frame[frame["agent"] == agent] for agent in ("rag-bm25", "rag-fusion-knn"))
    other.head(30).to_json(tmp_path / "other.jsonl", orient="records", lines=True)
    rest = [row for row in answers.rows if row["agent"] == "rag-fusion-knn"][30:]
    tables: list[Source] = [one, tmp_path / "other.jsonl", rest]
    found = judgec.evaluate(
        queries=QUERIES, answers=tables, columns=RENAMED, judge="parts", unproven=True, home=home, out=tmp_path / "out",
    )  # fmt: skip
    pd.testing.assert_frame_equal(found.ratings[STANDINGS], board.ratings[STANDINGS])  # how long it took differs


def test_evaluate_refuses_faulty_rows_with_their_place(home: Path, answers: judgec.Answers, tmp_path: Path) -> None:
    played = partial(judgec.evaluate, judge="parts", home=home, out=tmp_path / "out")
    faulty = [*answers.rows[:2], {**answers.rows[2], "agent": None}]
    with pytest.raises(InputError, match="answers:row 3: agent is empty"):
        played(answers=faulty, unproven=True)
    with pytest.raises(UserError, match="no answers; a file of query_id"):
        played(unproven=True)
    with pytest.raises(UserError, match="pass --unproven"):
        played(answers=answers.rows, judge="few")
    assert not (tmp_path / "out").exists()


def test_compile_agent_gives_a_table_and_an_agent_that_answers(
    home: Path, corpus: judgec.CorpusIndex, tmp_path: Path
) -> None:
    judge = judgec.load_judge("parts@latest", home=home)
    found = judgec.compile_agent(
        "rag-bm25", index=corpus, queries=QUERIES, columns=RENAMED, judge=judge, unproven=True, name="ag", home=tmp_path
    )
    assert found.name == "ag@1"
    assert found.report["metric"] == f"judge:{judge.name}"
    assert found.table.index.tolist() == ["uncompiled", "compiled"]
    assert found.table["score"].between(0, 1).all()
    assert found.report_path.is_file()
    assert found.reason in repr(found)
    assert "<table" in found._repr_html_()
    few = QUERIES.head(2).rename(columns=RENAMED)
    answered = judgec.answer(queries=few, agents=found.name, index=corpus, home=tmp_path)
    assert answered.answers["agent"].tolist() == ["ag@1", "ag@1"]


def test_judge_of_recorded_verdicts_or_of_other_inputs_is_refused_before_the_work(
    home: Path, corpus: judgec.CorpusIndex, tmp_path: Path
) -> None:
    save_judge(tmp_path, "a", lm={"model": "recorded:DataFrame"})
    judge = judgec.load_judge("parts@latest", home=home)
    asked: Any = {"index": corpus, "columns": RENAMED, "unproven": True, "name": "ag", "home": tmp_path}
    compiling: Any = partial(judgec.compile_agent, "rag-bm25", **asked)
    with pytest.raises(UserError, match="recorded verdicts, which answer for the items of their file alone"):
        compiling(queries=QUERIES, judge="a")
    with pytest.raises(UserError, match=r"compiled with reference, which these queries lack"):
        compiling(queries=QUERIES.drop(columns="reference"), judge=judge)
    assert not (tmp_path / "programs" / "ag").exists()
