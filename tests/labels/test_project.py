"""judgec.toml: what it says is read, what could send a key elsewhere is refused, each fault with its line."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.errors import InputError
from judgec.labels.project import KEYS, NAME, Project, columns_in, find_project, read_project, write_project
from judgec.records.scale import Scale
from tests.table.spreadsheets import write_xlsx

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


def written(folder: Path, text: str) -> Path:
    (folder / "judgec.toml").write_text(text, encoding="utf-8")
    return folder / "judgec.toml"


def faults_of(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_project(written(folder, text))
    return [fault.removeprefix(f"{folder}/") for fault in caught.value.faults]


@given(st.dictionaries(texts, texts), st.lists(texts), st.lists(texts, min_size=2, max_size=4, unique=True))
def test_what_is_written_is_read_whatever_columns_and_grades_are_called(
    tmp_path_factory: pytest.TempPathFactory, columns: dict[str, str], annotators: list[str], grades: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "judgec.toml"
    scale = Scale(grades=tuple(grades), accept_at=grades[-1], meanings=tuple(f"{one}\n" for one in grades))
    project = Project(
        path=path,
        labels="l.csv",
        task="grade",
        name="n",
        lm="openai/gpt",
        budget=3,
        max_cost=0.5,
        annotators=tuple(annotators),
        columns=columns,
        scale=scale,
    )
    path.write_text(write_project(project, {"task": "why"}), encoding="utf-8")
    assert read_project(path) == project
    assert set(tomllib.loads(path.read_text(encoding="utf-8"))) <= set(KEYS)


@pytest.mark.parametrize(
    "line",
    [
        *('api_base = "http://evil.example"', 'api-base = "http://evil.example"', 'headers = { x = "y" }'),
        *('api_key = "sk-1"', 'tracking_uri = "http://evil.example"', 'home = "/"', 'rerank = "python:evil:run"'),
        'python = "evil:run"',
    ],
)
def test_key_that_would_redirect_something_is_refused_with_its_reason(tmp_path: Path, line: str) -> None:
    (fault,) = faults_of(tmp_path, f'name = "a"\n{line}\n')
    assert fault.startswith("judgec.toml:2: ")
    assert "is never read" in fault
    assert "Delete the line" in fault


@pytest.mark.parametrize(
    "model",
    [
        *("openai/https://evil.example/v1", "huggingface/https://evil.example", "http://evil.example"),
        *("python:evil:run", "openai//evil.example", "recorded:/etc/passwd", "gpt-4o", "", "openai/a b"),
    ],
)
def test_model_is_a_name_and_no_address_code_or_file(tmp_path: Path, model: str) -> None:
    (fault,) = faults_of(tmp_path, f'lm = "{model}"')
    assert fault.startswith(f"judgec.toml:1: lm is {model!r}")


@pytest.mark.parametrize("model", ["embedded", "openai/gpt-4o-mini", "ollama_chat/llama3:8b", "bedrock/us.x-3:0"])
def test_model_of_a_provider_is_taken(tmp_path: Path, model: str) -> None:
    assert read_project(written(tmp_path, f'lm = "{model}"')).lm == model


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("name = ", "1: not TOML"),
        ('a = 1\nfoo = 2\nname = "x"', "2: judgec.toml has no 'foo'; valid are labels, task, name, lm"),
        ('\ntask = "grading"', "2: task is 'grading'; trajectory_modes, trajectory, preference"),
        ("budget = 0", "1: budget is 0; a whole number from 1"),
        *(("budget = true", "1: budget is True"), ("max_cost = -1", "1: max_cost is -1")),
        *(('annotators = "ann"', "1: annotators is 'ann'; a list"), ("[columns]\nx = 1", "1: columns is")),
        *(("[scale]\ngrades = [2, 1]", "1: "), ('name = "../x"', "1: name is")),
        ('labels = "../other.csv"', "1: ../other.csv is outside its folder"),
        ('labels = "/etc/passwd"', "1: /etc/passwd is outside its folder"),
        *((f'labels = "{file}"', "1: labels is") for file in ("https://evil.example/x.csv", "mlflow:secret")),
    ],
)
def test_fault_is_said_with_its_line_and_what_is_valid(tmp_path: Path, text: str, seen: str) -> None:
    assert any(fault.startswith(f"judgec.toml:{seen}") for fault in faults_of(tmp_path, text))


def test_file_beside_goes_before_the_current_folder_and_no_parent_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    written(tmp_path, 'name = "parent"')
    assert find_project("x.csv") is None
    written(tmp_path / "here", 'name = "here"')
    found = find_project("../there/x.csv")
    assert found is not None
    assert found.name == "here"
    written(tmp_path / "there", 'name = "there"\nlabels = "x.xlsx"')
    beside = find_project("../there/x.xlsx#Sheet")
    assert beside is not None
    assert (beside.name, beside.label_path) == ("there", "../there/x.xlsx")
    assert [beside.names(path) for path in (str(tmp_path / "there" / "x.xlsx"), "x.xlsx")] == [True, False]


def test_columns_are_seen_from_the_beginning_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('q,"a\nb"\n"x\ny",1\n' + "z,2\n" * 1000 + '"broken')
    (tmp_path / "t.jsonl").write_text('{"q": 1}\n{"a": 2}\n' * 1000 + "broken")
    assert columns_in(str(tmp_path / "t.csv")) == ("q", "a\nb")
    assert columns_in(str(tmp_path / "t.jsonl")) == ("q", "a")
    assert columns_in(str(write_xlsx(tmp_path / "t.xlsx", {"S": [["q", "a"], [1, 2]]}))) == ("q", "a")


def test_roles_of_turns_have_a_table_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_text('[columns]\nchat = "conversation"\n[roles]\nagent = "assistant"\n', encoding="utf-8")
    project = read_project(file)
    assert project.columns == {"chat": "conversation", "role:agent": "assistant"}
    file.write_text(write_project(project, {}), encoding="utf-8")
    assert read_project(file).columns == project.columns
    told = Project(path=file, task="grade", columns=project.columns)  # of other files that hold conversations, too
    assert [told.lacking(one) for one in (("chat", "id"), ("messages",), ("id",))] == [(), (), ("query", "answer")]
    file.write_text('[roles]\nagent = "bot"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"roles is .* one of system, developer, user, assistant"):
        read_project(file)
