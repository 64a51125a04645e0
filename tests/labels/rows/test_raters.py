"""Files with one column per rater."""

from pathlib import Path

import pytest

from judgec.errors import InputError, UserError
from judgec.labels.labels import read_label_file, read_labels
from judgec.labels.reading import as_reading


def wide(folder: Path, content: str) -> str:
    (folder / "t.csv").write_text(content)
    return str(folder / "t.csv")


def said(path: str, *annotators: str, best: str | None = None) -> list[tuple[str, str, object]]:
    labels = read_labels(path, as_reading(annotators=annotators, best=best))
    query = {item.item_id: item.text("query") for item in labels.items}
    return [
        (query[x.item_id], x.annotator, labels.scale.grades[x.grades["grade"]] if x.grades else x.accept)
        for x in labels.labels
    ]


def test_grade_columns_unpivot_and_blanks_give_no_label(tmp_path: Path) -> None:
    path = wide(tmp_path, "query,answer,alice,bob\nq,a,1,3\nr,b,,2\ns,c,,\n")
    assert said(path, "alice", "bob", best="3") == [("q", "alice", 1), ("q", "bob", 3), ("r", "bob", 2)]
    file = read_label_file(path, as_reading(annotators=("alice", "bob"), best="3"))
    assert (file.rows, len(file.labels.items), file.unlabelled) == (3, 3, 1)
    assert [label.line for label in file.labels.labels] == [2, 2, 3]


def test_words_unpivot_to_accept_and_bits_are_grades(tmp_path: Path) -> None:
    for yes, no in (("yes", "no"), ("pass", "fail"), ("TRUE", "FALSE")):
        labels = read_labels(wide(tmp_path, f"query,answer,x,y\nq,a,{yes},{no}\n"), as_reading(annotators=("x", "y")))
        assert labels.accept_only
        assert [label.accept for label in labels.labels] == [True, False]
    path = wide(tmp_path, "query,document,x,y\nq,a,1,0\n")
    labels = read_labels(path, as_reading(annotators=("x", "y"), best="1"))
    assert (labels.task, labels.scale.grades, labels.accept_only) == ("relevance", (0, 1), False)
    (tmp_path / "t.datasheet.toml").write_text("[scale]\ngrades = [0, 1, 2]\n")
    labels = read_labels(wide(tmp_path, "query,answer,x,y\nq,a,1,0\n"), as_reading(annotators=("x", "y")))
    assert [label.grades["grade"] for label in labels.labels] == [1, 0]


def test_preferences_unpivot_by_the_answers_present(tmp_path: Path) -> None:
    path = wide(tmp_path, "query,answer_a,answer_b,x,y\nq,a,b,A,tie\n")
    assert said(path, "x", "y") == [("q", "x", "a"), ("q", "y", "tie")]


def test_aspect_columns_of_each_rater_unpivot(tmp_path: Path) -> None:
    heads = "query,answer,al.fit,al.style,al.rationale,bo.fit,bo.style"
    labels = read_labels(
        wide(tmp_path, f"{heads}\nq,a,0,1,because,2,\nr,b,1,1,,,\n"), as_reading(annotators=("al", "bo"), best="2")
    )
    assert (labels.task, labels.aspects) == ("answer", ("fit", "style"))
    assert [(x.annotator, dict(x.grades), x.rationale) for x in labels.labels] == [
        ("al", {"fit": 0, "style": 1}, "because"),
        ("bo", {"fit": 2}, ""),
        ("al", {"fit": 1, "style": 1}, ""),
    ]


def test_accept_column_of_a_rater_stands_beside_her_grade(tmp_path: Path) -> None:
    path = wide(tmp_path, "query,answer,x,x.accept,y\nq,a,1,yes,2\n")
    labels = read_labels(path, as_reading(annotators=("x", "y"), best="2"))
    assert [(x.grades["grade"], x.accept) for x in labels.labels] == [(0, True), (1, None)]


def test_grade_column_beside_raters_is_not_used_and_said(tmp_path: Path) -> None:
    path = wide(tmp_path, "query,answer,grade,x,y\nq,a,5,1,2\n")
    labels = read_labels(path, as_reading(annotators=("x", "y"), best="2"))
    assert labels.scale.grades == (1, 2)
    assert any(note.startswith("Column grade") for note in labels.notes)


@pytest.mark.parametrize(
    ("content", "annotators", "seen"),
    [
        ("query,answer,x\nq,a,1\n", ("x", "y"), "no column 'y' .* query, answer, x"),
        ("query,answer,x,annotator\nq,a,1,z\n", ("x",), "'annotator' column already"),
        ("query,answer,x\nq,a,1\n", ("x", "x"), "each .* once"),
        ('query,answer,"Kim, Bo",Lee\nq,a,1,3\n', ("Bo", "Kim"), "no column 'Bo'"),
    ],
)
def test_wrong_annotators_are_refused(tmp_path: Path, content: str, annotators: tuple[str, ...], seen: str) -> None:
    with pytest.raises(InputError, match=seen):
        read_labels(wide(tmp_path, content), as_reading(annotators=annotators))


def test_rename_comes_before_unpivoting(tmp_path: Path) -> None:
    path = wide(tmp_path, "question,answer,Rater 1,Rater 2\nq,a,1,2\n")
    labels = read_labels(
        path, as_reading(columns={"question": "query", "Rater 1": "one"}, annotators=("one", "Rater 2"), best="2")
    )
    assert [label.annotator for label in labels.labels] == ["one", "Rater 2"]


def test_commas_in_raters_names_are_not_between_raters(tmp_path: Path) -> None:
    path = wide(tmp_path, 'query,answer,"Kim, Bo",Lee,"Ray,  Al.rationale","Ray,  Al"\nq,a,1,3,so,5\nr,b,,2,,1\n')
    found = said(path, "Kim", "Bo", "Lee", "Ray", "Al", best="5")  # as --annotators splits them
    assert found[:3] == [("q", "Kim, Bo", 1), ("q", "Lee", 3), ("q", "Ray,  Al", 5)]
    assert found[3:] == [("r", "Lee", 2), ("r", "Ray,  Al", 1)]


def test_numbered_columns_are_one_person_only_where_rows_say_so(tmp_path: Path) -> None:
    path = wide(tmp_path, "query,answer,Mia 1,Mia 2\nq,a,1,2\nr,b,,2\n")
    with pytest.raises(InputError, match="no column 'Mia'"):
        read_labels(path, as_reading(annotators=["Mia"]))
    assert {name for _, name, _ in said(path, "Mia 1", "Mia 2", best="2")} == {"Mia 1", "Mia 2"}
    again = read_label_file(wide(tmp_path, "query,answer,annotator,grade\nq,a,Mia,1\nq,a,Mia,1\nr,b,Mia,2\n"))
    assert [(one.annotator, one.n, one.same) for one in again.repeats] == [("Mia", 1, 1)]


GRADES = "query,answer,annotator,grade\n" + "".join(
    f"q{n},a,{who},{1 + n % 3}\n" for n in range(3) for who in ("Mia", "gpt-4o", "Noah")
)


def test_several_names_that_nobody_declared_are_refused_with_their_counts_and_the_line_to_type(tmp_path: Path) -> None:
    path = wide(tmp_path, GRADES)
    with pytest.raises(UserError) as caught:
        read_labels(path)
    said = str(caught.value)
    assert "Mia (3), gpt-4o (3), Noah (3)" in said
    assert [part for part in ("--annotators ? --judges ?", "--annotators '*'", f"judgec init {path}") if part in said]
    with pytest.raises(UserError, match=r"Mia \(3\), Noah \(3\), and nobody"):
        read_labels(path, as_reading(judges=["gpt-4o"]))


@pytest.mark.parametrize(
    ("declared", "people"),
    [
        ('annotators = ["*"]', {"Mia", "gpt-4o", "Noah"}),
        ('annotators = ["*"]\njudges = ["gpt-4o"]', {"Mia", "Noah"}),
        ('annotators = ["Noah"]', {"Noah"}),
        ('judges = ["Mia", "Noah"]', {"gpt-4o"}),  # one name alone is read, whatever it is
    ],
)
def test_datasheet_says_who_of_several_names_is_a_person(tmp_path: Path, declared: str, people: set[str]) -> None:
    path = Path(wide(tmp_path, GRADES))
    path.with_name(f"{path.stem}.datasheet.toml").write_text(f"{declared}\n")
    assert {label.annotator for label in read_labels(str(path)).labels} == people


def test_reason_is_read_under_its_name_or_where_somebody_said_whose_it_is_and_no_other_text_is(tmp_path: Path) -> None:
    path = wide(
        tmp_path, "query,answer,mia,noah,mia.rationale,Noah comment,reason\nq,a,1,2,too short,good,of a judge\n"
    )

    def reasons() -> tuple[dict[str, str], list[str]]:
        labels = read_labels(path, as_reading(annotators=("mia", "noah"), best="2"))
        return {one.annotator: one.rationale for one in labels.labels}, [n for n in labels.notes if "nobody reads" in n]

    said, (unread,) = reasons()
    assert said == {"mia": "too short", "noah": ""}
    assert ": Noah comment, reason;" in unread
    (tmp_path / "t.datasheet.toml").write_text('[reasons]\n"Noah comment" = "noah"\n')
    said, (unread,) = reasons()
    assert said == {"mia": "too short", "noah": "good"}
    assert ": reason;" in unread
    (tmp_path / "one.csv").write_text("query,answer,grade,comment,rationale\nq,a,1,x,y\nr,a,2,,\n")
    path = str(tmp_path / "one.csv")
    assert [one.rationale for one in read_labels(path).labels] == ["y", ""]
