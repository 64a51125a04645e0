"""Several answers beside each other in a row."""

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import judgec
from judgec.errors import InputError
from judgec.labels.project import columns_in, read_project
from judgec.labels.stream.pieces import open_items
from judgec.table.coded import read_coded
from judgec.table.table import Row, Table
from judgec.table.tables import read_table
from judgec.table.wide import as_long, wide_heads

N = 12
GRADES = {"Mia": (1, 5), "Noah": (2, 4), "GPT-4": (3, 3)}  # of the first and the second answer, in row 0


def cells(head: str, number: int) -> str:
    """A text for an answer, a grade for anybody of ``GRADES``."""
    answers = ("reply", "answer", "antwort")
    text = any(word in head.casefold() for word in answers)
    person = None if text else next((name for name in GRADES if name.casefold() in head.casefold()), None)
    if person is not None:
        second = any(part in head for part in ("r2", "B", "beta"))
        return str((GRADES[person][second] + number - 1) % 5 + 1)
    if "Winner" in head:
        return ("r1", "r2", "tie")[number % 3]
    return f"{head} says number {number} of them"


def table(*heads: str, values: Mapping[str, Sequence[str]] | None = None) -> Table:
    rows: tuple[Row, ...] = tuple(
        {head: (values or {}).get(head, [cells(head, i)] * N)[i] for head in heads} for i in range(N)
    )
    return Table("t.csv", heads, rows, tuple(range(2, N + 2)))


def write(path: Path, *heads: str) -> str:
    one = table(*heads)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerows([row[head] for head in heads] for row in one.rows)
    return str(path)


@pytest.mark.parametrize(
    ("heads", "columns", "agents"),
    [
        ("Q|Reply r1|Reply r2|Mia r1|Mia r2", ("Reply", "Mia"), ("r1", "r2")),
        ("Q|r1 reply|r2 reply|r1 Mia|r2 Mia", ("reply", "Mia"), ("r1", "r2")),
        ("Q|Reply (r1)|Reply (r2)|Mia (r1)|Mia (r2)", ("Reply", "Mia"), ("r1", "r2")),
        ("Q|reply_r1|reply_r2|Mia_r1|Mia_r2", ("reply", "Mia"), ("r1", "r2")),
        ("Q|GPT: Antwort|Bard: Antwort|GPT: Mia|Bard: Mia", ("Antwort", "Mia"), ("GPT", "Bard")),
        ("Q|AnswerA|AnswerB|MiaA|MiaB", ("Answer", "Mia"), ("A", "B")),
        ("Q|Reply r1|Mia r1|GPT-4 r1|Reply r2|Mia r2|GPT-4 r2", ("Reply", "Mia", "GPT-4"), ("r1", "r2")),
    ],
)
def test_heads_that_differ_in_one_part_become_rows(
    heads: str, columns: tuple[str, ...], agents: tuple[str, ...]
) -> None:
    found = as_long(table(*heads.split("|")))
    assert found.columns == ("Q", "query_id", "agent", *columns)
    assert [(row["query_id"], row["agent"]) for row in found.rows[:3]] == [
        *(("1", agents[0]), ("1", agents[1]), ("2", agents[0]))
    ]
    assert found.wide is not None
    assert (found.wide.agents, len(found.rows), len(found.notes)) == (agents, 2 * N, 1)


def test_each_grade_stays_with_its_answer() -> None:
    found = as_long(table("Q", "Reply r1", "Reply r2", "Mia r1", "Mia r2", "Noah r1", "Noah r2"))
    read = [(row["Reply"], row["Mia"], row["Noah"]) for row in found.rows[:2]]
    assert read == [(cells("Reply r1", 0), "1", "2"), (cells("Reply r2", 0), "5", "4")]
    assert found.lines[:4] == (2, 2, 3, 3)


AGENTS = ["r1", "r2", "gpt-4", "GPT 3.5", "alpha", "System A", "v2"]


@given(
    st.lists(st.sampled_from(AGENTS), min_size=2, max_size=4, unique=True),
    st.sampled_from([" ", "_", " - ", ": "]),
    st.booleans(),
)
def test_any_agents_before_or_behind_are_read_back(agents: list[str], mark: str, behind: bool) -> None:
    def head(name: str, agent: str) -> str:
        return f"{name}{mark}{agent}" if behind else f"{agent}{mark}{name}"

    heads = ["Question", *(head(name, agent) for agent in agents for name in ("Reply", "Mia"))]
    values = {head("Mia", agent): [str((at + i) % 5 + 1) for i in range(N)] for at, agent in enumerate(agents)}
    found = as_long(table(*heads, values=values))
    assert [row["agent"] for row in found.rows[: len(agents)]] == agents
    for agent in agents:
        assert [row["Mia"] for row in found.rows if row["agent"] == agent] == values[head("Mia", agent)]


@pytest.mark.parametrize(
    "heads",
    [
        *("Q|Reply|Mia|Noah", "Q|Reply|Mia 1|Mia 2", "Q|Reply|Mia relevance|Mia fluency"),
        *("Q|answer_a|answer_b|Winner", "Q|answer_a|answer_b", "Q|Expected answer|Model answer|Mia"),
    ],
)
def test_other_tables_stay_as_they_are(heads: str) -> None:
    given_ = table(*heads.split("|"))
    assert as_long(given_) is given_


def test_winner_beside_two_answers_makes_pairs() -> None:
    found = as_long(table("Q", "Reply r1", "Reply r2", "Winner"))
    assert found.columns == ("Q", "answer_a", "answer_b", "Winner", "agent_a", "agent_b")
    assert [row["Winner"] for row in found.rows[:3]] == ["a", "b", "tie"]
    assert found.rows[0]["agent_a"] == "r1"


@pytest.mark.parametrize(
    ("heads", "says", "graded"),
    [
        ("Q|Reply r1|Reply r2|Mia r1", "Mia r1 has no like", 1),
        ("Q|Reply r1|Reply r2|Mia r1|Mia r2|Mia r3", "Mia r3 is of no answer", None),
        ("Q|Reply r1|Reply r2|Mia r1|Mia r2|Mia", "with and without", 2),
        ("Q|Reply r1|Reply r2|Reply r3|Mia r1|Mia r2|Mia r3|Winner", "the best of 3", None),
        ("Q|Answer human|Answer llm|Mia human|Mia llm", "graded or who answered", None),
        ("Q|Reply|Reply.1|Mia|Mia.1|Noah", "Noah 1 has no like", None),
        ("Q|Reply|Reply new|Mia|Mia new", "first has no name", None),
        ("Q|Reply r1|Reply r2|Mia r1|Mia r2|Noah", "rename it Noah r1", 2),
        ("Q|Reply|Reply.1|Mia|Mia.1|Mia.2|Noah", "Rename the heads", 0),
        ("Q|Reply|Mia|Noah|Reply.1|Mia.1", "wide = ", 2),
    ],
)
def test_unsure_tables_are_refused_with_what_to_do_and_their_line_runs(
    tmp_path: Path, heads: str, says: str, graded: int | None
) -> None:
    path = write(tmp_path / "w.csv", *heads.split("|"))
    with pytest.raises(InputError, match=says) as caught:
        read_table(path)
    line = re.search(r"wide = \{agents.*?\]\}", str(caught.value))
    assert line or "Rename the heads" in str(caught.value)
    if graded is not None:
        assert bool(line) is (graded > 0)
    if line and graded:
        (tmp_path / "judgec.toml").write_text(line[0] + "\n")
        found = read_table(path)
        assert len(found.rows) == 2 * N
        assert sum(bool(row.get("Mia")) for row in found.rows) == graded * N


@pytest.mark.parametrize(
    "joined",
    [
        *("Q|Reply|Mia|Noah|Reply.1|Mia.1|Noah.1", "Q|Reply|Mia|Noah|Reply 2|Mia 2|Noah 2"),
        *("Q|Reply|Reply (2)|Mia|Mia (2)|Noah|Noah (2)", "Q|Reply 1|Reply 2|Mia|Noah|Mia.1|Noah.1"),
        *("Q|Reply|Reply.1|Mia 1|Mia 2|Noah|Noah.1", "Q|Reply|Mia|Noah|Reply.1|Mia.1|Noah.1|Reply.2|Mia.2|Noah.2"),
    ],
)
def test_first_of_heads_alike_is_the_first_answer(joined: str) -> None:
    heads = joined.split("|")
    texts = [name for name in heads if name.startswith("Reply")]
    people = {who: [name for name in heads if name.startswith(who)] for who in ("Mia", "Noah")}
    cells_ = {name: [str((at + i) % 3 + 1) for i in range(N)] for own in people.values() for at, name in enumerate(own)}
    given_ = table(*heads, values=cells_ | {name: [f"{name} of {i}, a text" for i in range(N)] for name in texts})
    found = as_long(given_)
    assert found.wide is not None
    assert [row["agent"] for row in found.rows[: len(texts)]] == [str(at + 1) for at in range(len(texts))]
    for at, row in enumerate(found.rows):
        own = given_.rows[at // len(texts)]
        assert row["Reply"] == own[texts[at % len(texts)]]
        assert all(row[who] == own[names[at % len(texts)]] for who, names in people.items())
    assert as_long(given_, found.wide).rows == found.rows  # as init writes it
    assert wide_heads(heads)


def test_repeated_gradings_of_one_answer_and_of_pairs_are_no_further_answers() -> None:
    one = table("Q", "Reply", "Mia", "Mia.1", values={"Mia.1": ["3"] * N})
    assert as_long(one) is one
    sides = dict.fromkeys(("Mia", "Mia.1"), ["a", "b"] * (N // 2))
    with pytest.raises(InputError, match=r"Mia.1 .* wide = false"):
        as_long(table("Q", "Answer 1", "Answer 2", "Mia", "Mia.1", "Winner", values=sides))


def test_id_of_a_row_is_that_of_the_query() -> None:
    ids = [f"id{i}" for i in range(N)]
    found = as_long(table("ID", "Q", "Reply r1", "Reply r2", "Mia r1", "Mia r2", values={"ID": ids}))
    assert [row["query_id"] for row in found.rows[:3]] == ["id0", "id0", "id1"]
    assert "ID" not in found.columns


def test_answer_that_a_row_does_not_have_is_no_row() -> None:
    heads = ("Q", "Reply r1", "Reply r2", "Mia r1", "Mia r2")
    blank = {name: ["" if i == 0 else cells(name, i) for i in range(N)] for name in heads[2::2]}
    found = as_long(table(*heads, values=blank))
    assert len(found.rows) == 2 * N - 1


def test_named_column_with_its_part_is_refused_with_the_stem() -> None:
    with pytest.raises(InputError, match="Reply=answer"):
        as_long(table("Q", "Reply r1", "Reply r2", "Mia r1", "Mia r2"), None, ["Reply r1"])


def test_init_writes_it_and_every_reader_follows(tmp_path: Path) -> None:
    path = write(tmp_path / "w.csv", "Question", "Reply r1", "Reply r2", "Mia r1", "Mia r2", "Noah r1", "Noah r2")
    found = judgec.init(path)
    assert len(found.labels.items) == 2 * N
    assert len({item.query_id for item in found.labels.items}) == N
    assert {item.agent for item in found.labels.items} == {"r1", "r2"}
    assert {label.annotator for label in found.labels.labels} == {"Mia", "Noah"}
    project = read_project(found.path)
    columns = ("Reply {agent}", "Mia {agent}", "Noah {agent}")
    assert project.wide == {"agents": ("r1", "r2"), "columns": columns}
    assert columns_in(path) == read_table(path).columns
    assert open_items(path, task="grade", rename=project.columns).items == 2 * N
    assert read_coded(path, ["agent", "Mia"]).n_rows == 2 * N


def test_project_overrules_what_the_heads_say(tmp_path: Path) -> None:
    path = write(tmp_path / "w.csv", "Q", "Reply r1", "Reply r2", "Mia r1")
    project = tmp_path / "judgec.toml"
    project.write_text('wide = {agents = ["r1", "r2"], columns = ["Reply {agent}", "Mia {agent}"]}\n')
    assert [row["Mia"] for row in read_table(path).rows[:2]] == ["1", None]
    project.write_text("wide = false\n")
    assert len(read_table(path).rows) == N


def test_only_heads_of_answers_make_a_file_wide() -> None:
    assert wide_heads(["Q", "Reply r1", "Reply r2"])
    assert not wide_heads(["query", "answer", "grade", "Mia r1", "Mia r2", "answer_id"])
