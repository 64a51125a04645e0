import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgec.errors import InputError
from judgec.records.game import Games
from judgec.records.tasks.winners import winner_words
from judgec.table.tables import read_table
from judgec.tournament.files.games import games_of

EXAMPLE = Path(__file__).parents[3] / "../shared/data/ragelo_example"


def read_games(path: str, rename: Mapping[str, str] | None = None, said: Mapping[str, str] | None = None) -> Games:
    return games_of(read_table(path), rename, said or {})


def _file(folder: Path, text: str, name: str = "games.csv") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_read_games_csv_keeps_every_row_and_marks_empty_winners(tmp_path: Path) -> None:
    text = 'query_id,agent_a,agent_b,winner\nq1,x,y,a\nq1,x,y,a\nq1,y,x,tie\nq2,x,y,\n3,"y, new",x,b\n'
    games = read_games(_file(tmp_path, text))
    assert games.agents == ("x", "y", "y, new")
    assert games.queries == ("q1", "q2", "3")
    assert games.a.tolist() == [0, 0, 1, 0, 2]
    np.testing.assert_array_equal(games.score, [1.0, 1.0, 0.5, np.nan, 0.0])


def test_read_games_jsonl_numbers_as_ids_and_null_winner(tmp_path: Path) -> None:
    rows = [
        {"query_id": 0, "agent_a": "x", "agent_b": 7, "winner": None},
        {"query_id": 0, "agent_a": "x", "agent_b": 7, "winner": "b"},
    ]
    games = read_games(_file(tmp_path, "\n".join(map(json.dumps, rows)), "games.jsonl"))
    assert games.agents == ("7", "x")
    assert games.queries == ("0",)
    np.testing.assert_array_equal(games.score, [np.nan, 0.0])


@pytest.mark.parametrize(
    ("text", "rename", "scores"),
    [
        ("qid,agent_a,agent_b,raw_answer,answer,relevance\n1,x,y,why,A,\n1,y,x,,C,\n2,x,y,,B,\n", {}, [1.0, 0.5, 0.0]),
        ("query_id,agent_a,agent_b,preference,answer\n1,x,y,b,A\n1,y,x,tie,A\n", {}, [0.0, 0.5]),  # experts' win
        ("query_id,agent_a,agent_b,verdict,answer\nq1,x,y,a,C\n", {"verdict": "winner"}, [1.0]),
        ("q,agent_a,agent_b,verdict,answer\nq1,x,y,a,C\n", {"verdict": "winner", "q": "query_id"}, [1.0]),
        ("qid,agent_a,agent_b,answer\n1,x,y,C\n", {"answer": "winner"}, [0.5]),  # with RAGElo's words
        ("item1,item2,winner\ngpt,llama,item1\ngpt,llama,ITEM2\n", {}, [1.0, 0.0]),  # the name of a column or an agent
        ("left,right,winner\ngpt,llama,left\ngpt,llama,right\n", {}, [1.0, 0.0]),
        ("agent_a,agent_b,winner\ngpt,llama,gpt\ngpt,llama,llama\n", {}, [1.0, 0.0]),
        ("model_a,model_b,winner\ngpt,llama,gpt\ngpt,llama,model_b\n", {}, [1.0, 0.0]),
    ],
)
def test_columns_are_read_as_they_are_called(
    tmp_path: Path, text: str, rename: dict[str, str], scores: list[float]
) -> None:
    assert read_games(_file(tmp_path, text), rename).score.tolist() == scores


@pytest.mark.parametrize(
    ("words", "scores"),
    [
        (("a", "b", "tie", ""), (1, 0, 0.5, None)),
        (("A", "B", "C", "Tie"), (1, 0, 0.5, 0.5)),
        (("A>B", "B>>A", "A=B", "[[A]]"), (1, 0, 0.5, 1)),
        (("model_a", "model_b", "tie (bothbad)", "both_bad"), (1, 0, 0.5, 0.5)),
        (("left", "Right", "draw", "NaN"), (1, 0, 0.5, None)),
        (("win", "loss", "Model A", "answerB"), (1, 0, 1, 0)),
    ],
)
def test_words_of_the_field_are_winners(
    tmp_path: Path, words: tuple[str, ...], scores: tuple[float | None, ...]
) -> None:
    rows = "".join(f"q{n},x,y,{word}\n" for n, word in enumerate(words))
    read = read_games(_file(tmp_path, "query_id,agent_a,agent_b,winner\n" + rows)).score
    np.testing.assert_array_equal(read, np.array(scores, dtype=float))


def test_read_games_unknown_words_are_one_error_that_lists_them_and_what_to_type(tmp_path: Path) -> None:
    rows = "q1,x,y,a\nq1,x,y,1\nq2,x,y,0.5\nq3,x,y,0\nq4,x,y,1\nq5,x,y,?\n"
    path = _file(tmp_path, f"query_id,agent_a,agent_b,winner\n{rows}")
    with pytest.raises(InputError) as caught:
        read_games(path)
    said = str(caught.value)
    assert said.startswith(f"{path}:3 ")
    assert "'1' (2), '0.5', '0', '?'" in said
    assert "--winner-words '1=?,0.5=?,0=?,?=?'" in said
    read = read_games(path, said=winner_words({"1": "a", ".5": "tie", "0": "b", "?": "unscored"}))
    np.testing.assert_array_equal(read.score, [1.0, 1.0, 0.5, 0.0, 1.0, np.nan])


def test_read_games_a_word_that_is_a_side_and_the_other_agents_name_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, "query_id,agent_a,agent_b,winner\n1,A,B,A\n2,B,A,A\n")
    with pytest.raises(InputError, match=r":3: winner 'A' .*--winner-words A=a"):
        read_games(path)
    assert read_games(path, said={"a": "a"}).score.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("sides", ["model_a,model_b,winner", "left,right,winner", "item1,item2,label"])
def test_read_games_sides_of_other_tools_stand_alone_without_a_query(tmp_path: Path, sides: str) -> None:
    games = read_games(_file(tmp_path, f"{sides}\nx,y,left\nx,y,draw\n"))
    assert (games.alone, games.queries, games.score.tolist()) == (True, ("1", "2"), [1.0, 0.5])


@pytest.mark.parametrize(
    ("text", "agents"),
    [
        ("item1,item2,winner\n7,8,a\n7.0,8,b\n", ("7", "8")),  # numbers alone
        ("item1,item2,winner\n1.10,1.1,a\n1.0,1,b\n", ("1", "1.0", "1.1", "1.10")),  # versions
        ("agent_a,agent_b,winner\n7,gpt,a\n7.0,1.10,b\n", ("1.10", "7", "gpt")),  # a gap made a float of it
    ],
)
def test_n_and_n_point_0_are_one_agent_of_numbers(tmp_path: Path, text: str, agents: tuple[str, ...]) -> None:
    assert read_games(_file(tmp_path, text)).agents == agents


def test_read_games_all_faults_are_shown_together_with_lines(tmp_path: Path) -> None:
    path = _file(tmp_path, "query_id,agent_a,agent_b,winner\n,x,y,a\nq1,x,x,a\nq1,x,,b\nq1,x,y,a\nq1,x,y,??\n")
    with pytest.raises(InputError) as caught:
        read_games(path)
    lines = str(caught.value).splitlines()
    assert [line.removeprefix(path).split(":")[1] for line in lines] == ["2", "3", "4", "6"]
    for line, said in zip(lines, ("query_id", "'x' plays against itself", "agent_b", "??"), strict=True):
        assert said in line


def test_read_games_missing_column_names_it_and_the_remedy(tmp_path: Path) -> None:
    path = _file(tmp_path, "query_id,agent_a,agent_b,verdict\nq1,x,y,a\n")
    with pytest.raises(InputError, match=r"no column winner.*--map "):
        read_games(path)


def test_read_games_ragelo_example_has_200_games_of_six_agents() -> None:
    path = EXAMPLE / "pairwise_answers_evaluations.csv"
    if not path.exists():
        pytest.skip(f"{path} is absent: RAGElo's example does not ship with the project")
    games = read_games(str(path))
    assert len(games.agents) == 6
    assert len(games.queries) == 10
    assert [int((games.score == points).sum()) for points in (1.0, 0.0, 0.5)] == [80, 94, 26]


@pytest.mark.parametrize("name", ["games.csv", "games.jsonl", "games.parquet"])
def test_read_games_reads_every_format_alike(name: str, tmp_path: Path) -> None:
    """The first of the rows has no winner, and lines without anything stand between them."""
    rows: list[dict[str, object]] = [
        {"query_id": q, "agent_a": "-x" if q % 2 else "y", "agent_b": "z", "winner": (None, "a", "tie", "b")[q % 4]}
        for q in range(11)
    ]
    path = tmp_path / name
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif name.endswith(".jsonl"):
        path.write_text("".join(json.dumps({k: v for k, v in row.items() if v is not None}) + "\n" for row in rows))
    else:
        lines = [",".join("" if v is None else str(v) for v in row.values()) for row in rows]
        path.write_text("\n".join(["query_id,agent_a,agent_b,winner", "", *lines[:5], "", "", *lines[5:], ""]))
    read = read_games(str(path))
    assert read.agents == ("-x", "y", "z")
    assert read.queries == tuple(map(str, range(11)))
    assert read.scored.tolist() == [row["winner"] is not None for row in rows]
