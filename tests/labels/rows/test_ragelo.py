"""RAGElo's CSVs, in files of its shape written here (its own example is in test_real_labels)."""

from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.labels.labels import read_items, read_labels

QUERIES = "qid,query\n0, What is up?\n1,What is down?\n"
DOCUMENTS = "qid,did,document\n0,d0, Up is up.\n0,d1,Left is left.\n1,d2,Down is down.\n"
ANSWERS = 'qid,agent,answer\n0, one,"Up, it is."\n0, two,Left.\n1,one,Down.\n1,two,\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in (("queries", QUERIES), ("documents", DOCUMENTS), ("answers", ANSWERS)):
        (tmp_path / f"{name}.csv").write_text(content)
    return tmp_path


def write(folder: Path, name: str, content: str) -> str:
    (folder / name).write_text(content)
    return str(folder / name)


def test_document_grades_become_relevance_labels(folder: Path) -> None:
    labels = read_labels(
        write(folder, "rdnam_evaluations.csv", 'qid,did,raw_answer,answer\n0,d1,"""O"": 0}",0\n1,d2,so,2\n')
    )
    assert (labels.task, labels.scale.grades) == ("relevance", (0, 1, 2))
    assert [dict(item.inputs) for item in labels.items] == [
        {"query": "What is up?", "document": "Left is left."},
        {"query": "What is down?", "document": "Down is down."},
    ]
    assert [(item.item_id, item.query_id) for item in labels.items] == [("0/d1", "0"), ("1/d2", "1")]
    assert [label.rationale for label in labels.labels] == ['"O": 0}', "so"]
    assert any("an LM's, not a human's" in note for note in labels.notes)


def test_games_become_preference_labels_with_qid_given_as_text(folder: Path) -> None:
    games = "qid,agent_a,agent_b,raw_answer,answer,relevance\nwhat is UP?,two,one,r,B,\n1,one,two,r,C,\n"
    labels = read_labels(write(folder, "games.csv", games))
    assert labels.task == "preference"
    assert [labels.scale.grades[label.grades["grade"]] for label in labels.labels] == ["b", "tie"]
    assert labels.items[0].inputs == {
        "query": "What is up?",
        "answer_a": "Left.",
        "answer_b": "Up, it is.",
        "agent_a": "two",
        "agent_b": "one",
    }
    assert labels.items[1].inputs["answer_b"] == ""
    assert [item.query_id for item in labels.items] == ["0", "1"]


def test_answers_become_items_with_the_documents_of_their_query(folder: Path) -> None:
    items = read_items(str(folder / "answers.csv"), task="answer")
    assert [(item.item_id, item.agent, item.text("answer")) for item in items] == [
        ("0/one", "one", "Up, it is."),
        ("0/two", "two", "Left."),
        ("1/one", "one", "Down."),
        ("1/two", "two", ""),
    ]
    assert items[1].texts("contexts") == ("Up is up.", "Left is left.")


def test_documents_of_each_agent_go_to_its_own_answers(folder: Path) -> None:
    write(folder, "documents.csv", "did,document,qid,agent\nd0,mine,0,one\nd1,yours,0,two\n")
    items = read_items(str(folder / "answers.csv"), task="grade")
    assert [item.texts("contexts") for item in items] == [("mine",), ("yours",), (), ()]


def test_documents_become_items_of_relevance(folder: Path) -> None:
    items = read_items(str(folder / "documents.csv"), task="relevance")
    assert [item.item_id for item in items] == ["0/d0", "0/d1", "1/d2"]
    assert items[2].inputs == {"query": "What is down?", "document": "Down is down."}


def test_graded_answers_become_aspects_once_renamed(folder: Path) -> None:
    content = "qid,agent,raw_answer,quality,style\n0,one,because,2,1\n1,two,,0,1\n"
    rename = {"quality": "grade.quality", "style": "grade.style"}
    labels = read_labels(write(folder, "output.csv", content), rename=rename)
    assert (labels.task, labels.aspects) == ("answer", ("quality", "style"))
    assert labels.items[0].text("answer") == "Up, it is."


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        ("qid,did,answer\n7,d0,1\n", "t.csv:2: query '7' is not in"),
        ("qid,did,answer\n0,d9,1\n", "t.csv:2: document 'd9' is not in"),
        ("qid,agent,grade\n0,six,1\n", "t.csv:2: agent 'six' has no answer to 0"),
        ("qid,agent_a,agent_b,answer\n0,one,six,A\n", "whose agents are one, two. Name the agents alike"),
    ],
)
def test_row_without_its_text_is_refused(folder: Path, content: str, seen: str) -> None:
    with pytest.raises(InputError) as caught:
        read_labels(write(folder, "t.csv", content))
    assert seen in caught.value.faults[0]


def test_missing_side_file_or_column_is_refused(folder: Path) -> None:
    path = write(folder, "t.csv", "qid,did,answer\n0,d0,1\n1,d2,0\n")
    write(folder, "documents.csv", "qid,doc,document\n0,d0,x\n")
    with pytest.raises(InputError, match=r"documents.csv:1: no column did"):
        read_labels(path)
    (folder / "queries.csv").unlink()
    with pytest.raises(InputError, match=r"queries.csv: no such file"):
        read_labels(path)


def test_verdicts_that_are_texts_are_no_grades(folder: Path) -> None:
    with pytest.raises(InputError, match="relevance lacks grade or accept"):
        read_labels(write(folder, "reasonings.csv", "qid,did,raw_answer,answer\n0,d0,x,Very relevant: yes\n"))
