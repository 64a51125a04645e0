"""Which tasks there are, in which order columns tell them, and what is said of a faulty plugin."""

import json
from pathlib import Path

import pytest

from judgec.errors import InputError, UserError
from judgec.labels.labels import read_labels
from judgec.labels.review.desk import Desk
from judgec.labels.review.sheet import Given, open_sheet
from judgec.labels.review.spreadsheet import export_sheet, import_sheet
from judgec.records.tasks.built_in import BUILT_IN
from judgec.records.tasks.registry import OURS, SYNONYMS, TASKS, as_task, called, folded, told_by
from judgec.table.rows.columns import infer_task
from judgec.table.table import Table
from tests.records.tasks.plugin import TASK, install


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path / "site"


def inferred(*columns: str) -> str:
    return infer_task(Table("labels.csv", columns, (), (), by_line=True))[0]


@pytest.mark.parametrize("name", BUILT_IN)
def test_task_of_the_package_is_read_reviewed_and_brought_back(tmp_path: Path, name: str) -> None:
    spec = TASKS[name]
    assert spec.name == name
    aspects = spec.usual_aspects or tuple(spec.aspects) or ("grade",)
    columns = spec.columns(aspects)
    fields = (*spec.required, *spec.inferred_by[:1])  # without the second another task is inferred
    grades = (spec.scale.grades[0], spec.scale.grades[-1])
    rows = [{**{field: f"{field} {n}" for field in fields}, **dict.fromkeys(columns, grades[n])} for n in (0, 1)]
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))

    read = read_labels(str(file))
    sheet, _ = open_sheet(str(file))
    desk = Desk(sheet)
    desk.save(0, "ann", Given(dict.fromkeys(aspects, 1)))
    export_sheet(sheet, tmp_path / "taken.csv", "ann")
    assert import_sheet(sheet, tmp_path / "taken.csv", "bob") == {"bob": 1}
    assert (read.task, read.aspects) == (name, aspects)
    assert (sheet.form.task, sheet.form.aspects, sheet.form.columns) == (name, aspects, columns)
    assert desk.about()["meanings"] == {name: list(spec.meanings_of(spec.scale, name)) for name in aspects}
    texts = desk.item(0)["texts"]
    assert isinstance(texts, list)
    assert {text["name"] for text in texts} == set(fields)


@pytest.mark.parametrize(
    ("columns", "task"),
    [
        ({"query", "answer_a", "answer_b"}, "preference"),
        ({"query", "passage", "answer"}, "reliability"),
        ({"query", "answer", "document"}, "grade"),
        ({"query", "document"}, "relevance"),
        ({"query"}, None),
    ],
)
def test_told_by_inputs_alone(columns: set[str], task: str | None) -> None:
    told = told_by(columns)
    assert (told and told.name) == task


def test_plugin_changes_nothing_about_files_that_fit_a_task_of_the_package(site: Path) -> None:
    install(site, module="last")

    assert [*TASKS] == [*BUILT_IN, "politeness"]
    assert inferred("query", "answer", "grade", "polite") == "grade"
    assert inferred("query", "answer", "polite") == "politeness"


def test_plugin_that_requires_an_input_of_its_own_comes_first(site: Path) -> None:
    own = TASK.replace('("query", "answer")', '("query", "answer", "house_style")').replace('"polite",)', '"grade",)')
    install(site, module="first", task=own)

    assert inferred("query", "answer", "house_style", "grade") == "politeness"
    assert inferred("query", "answer", "grade") == "grade"


def test_columns_that_fit_no_task_and_unknown_tasks_are_compared_with_a_plugins_too(site: Path) -> None:
    install(site, module="advice")
    with pytest.raises(InputError, match=r"politeness lacks polite\."):
        inferred("query", "answer", "courtesy")
    with pytest.raises(UserError, match=r"'polite' is not known; .*relevance, politeness\..* --task"):
        as_task("polite")


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('name="politeness",\n    req', 'name="manners",\n    req', "its task is called 'manners'"),
        ('required=("query", "answer")', 'required=("answer",)', r"required is \['answer'\]; the first is 'query'"),
        ('labels=("polite",)', "labels=()", "labels is empty"),
        ('labels=("polite",)', 'labels=("answer",)', r"\['answer'\] are inputs and labels"),
        ('meanings=("rude or curt", "friendly")', 'meanings=("rude",)', "1 meanings for 2 grades"),
        ('labels=("polite",)', 'labels=("polite")', "labels is one text"),
        ("settled=True,", "setled=True,", r"cannot be imported \(.*'setled'"),
        ("settled=True,", 'evidence={"tone": ("answer",)},', r"evidence has \['tone'\]"),
        ("settled=True,", 'shown=("mood",),', r"\['mood'\] are not among the inputs"),
        ("settled=True,", 'graded=("query_id",),', "at least one required"),
        (TASK, "import no_such_module_at_all\n", r"plugin politeness \(.*\): cannot be imported"),
    ],
)
def test_faulty_plugin_is_named_with_its_fault(
    site: Path, request: pytest.FixtureRequest, right: str, wrong: str, said: str
) -> None:
    assert right in TASK
    install(site, module=f"faulty_{request.node.callspec.indices['wrong']}", task=TASK.replace(right, wrong))
    with pytest.raises(UserError, match=said):
        as_task("politeness")


def test_synonyms_are_sixty_english_names_of_one_column_each() -> None:
    names = [name for own in SYNONYMS.values() for name in own]
    assert len(names) == len(OURS) <= 60
    assert all(map(str.isascii, names))
    assert OURS[folded("User Input")] == OURS["userinput"] == "query"
    assert [called(name) for name in ("groundTruth", "Grade", "frage", "score")] == [True, True, False, False]
