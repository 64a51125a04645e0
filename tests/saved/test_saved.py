"""Judges that an earlier version saved say today what they said then: grades and reasons to the letter.

Numbers to 1e-12: processors add in different orders, so the last bits of a sum are no fact of the program.
"""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

import judgec
from judgec.api.judge import load_folder
from judgec.errors import ArtifactError, UserError
from tests.compile.small import write
from tests.saved.kinds import HERE, KINDS, Rows, base, exact, judged, serving
from tests.verbs.cli.process import judgec as judgec_typed

FOLDERS = {name: HERE / "programs" / name / "0001" for name in KINDS}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """One for each test: a journal of two would take the replies of another kind's server at the same port."""
    made = tmp_path / "saved"
    shutil.copytree(HERE / "programs", made / "programs")
    return made


def expected(name: str) -> Rows:
    rows: Rows = json.loads((HERE / "expected" / f"{name}.json").read_text(encoding="utf-8"))
    return rows


def assert_same(found: Rows, known: Rows, *, without: tuple[str, ...] = ()) -> None:
    assert len(found) == len(known)
    for one, other in zip(found, known, strict=True):
        assert one.keys() >= other.keys() - set(without)
        for key in other.keys() - set(without):
            assert near(one[key], other[key]), (key, one[key], other[key])


def near(found: object, known: object) -> bool:
    """Equal, or numbers that are nearly, wherever they stand in a list or object."""
    if isinstance(found, str) and isinstance(known, str):
        if found == known:
            return True
        if found[:1] == known[:1] and found[:1] in "{[":
            return near(json.loads(found), json.loads(known))
        return number(found) == pytest.approx(number(known), rel=1e-12, abs=1e-12)
    if isinstance(found, dict) and isinstance(known, dict):
        return found.keys() == known.keys() and all(near(found[key], known[key]) for key in known)
    if isinstance(found, list) and isinstance(known, list):
        return len(found) == len(known) and all(map(near, found, known))
    return found == known


def number(text: str) -> float:
    """The number that was written in hex; not a number where it is none."""
    try:
        return float.fromhex(text)
    except ValueError:
        return float("nan")


def test_every_saved_judge_is_a_kind_and_every_kind_is_saved() -> None:
    assert {path.name for path in (HERE / "programs").iterdir()} == set(KINDS)
    assert {path.stem for path in (HERE / "expected").iterdir()} == set(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_saved_judge_says_of_new_items_what_it_said_and_asks_no_second_time(name: str, home: Path) -> None:
    with serving(KINDS[name]) as server:
        found = judged(name, home, server)
        asked = 0 if server is None else server.calls
        again = judged(name, home, server)
        assert (server is None) or server.calls == asked > 0  # the second time they are in the journal
    assert_same(found, expected(name))
    assert again == found


@pytest.mark.parametrize("name", KINDS)
def test_saved_judge_says_the_same_in_a_file(name: str, home: Path, tmp_path: Path) -> None:
    kind = KINDS[name]
    said, recorded = kind.said(), None
    if said is not None:
        recorded = f"recorded:{write(tmp_path / 'said.jsonl', said)}"
    items = write(tmp_path / "new.jsonl", [{"item_id": f"i{n}", **row} for n, row in enumerate(kind.items())])
    with serving(kind) as server:
        out = tmp_path / "o.jsonl"
        judgec.judge_file(
            items,
            judge=f"{name}@1",
            home=home,
            out=out,
            abstain_below=0,
            lm=recorded,
            api_base=base(server),
            functions=kind.functions,
        )
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    known = expected(name)
    assert [line["unscored"] for line in lines] == [row["unscored"] for row in known]
    for line, row in zip(lines, known, strict=True):
        assert line["rationale"] == row["rationale"]
        grades = line.get("grades") or {"": line["grade"]}
        scores = line.get("scores") or {"": line["score"]}
        for aspect, grade in grades.items():
            assert grade == row[f"grade.{aspect}" if aspect else "grade"]
        for aspect, score in scores.items():
            assert near(
                exact(pd.DataFrame({"score": [score]}))[0]["score"], row[f"score.{aspect}" if aspect else "score"]
            )


@pytest.mark.parametrize("name", KINDS)
def test_folder_of_a_registered_model_says_the_same(name: str, tmp_path: Path) -> None:
    kind, said = KINDS[name], KINDS[name].said()
    recorded = None if said is None else f"recorded:{write(tmp_path / 'said.jsonl', said)}"
    with serving(kind) as server:  # what copies of mlflow_model.py in a registry import
        judge = load_folder(FOLDERS[name], home=tmp_path, lm=recorded, api_base=base(server))
        if kind.functions:
            with pytest.raises(UserError, match="a registered model imports nothing"):
                judge(pd.DataFrame(kind.items()), progress=False)
            return
        frame = judge(pd.DataFrame(kind.items()), progress=False)
    own = [column for column in frame.columns if column not in kind.items()[0]]
    assert_same(exact(frame[own]), expected(name))


def test_judge_from_before_trees_is_shown_and_refuses_with_the_command_that_compiles_it_again(tmp_path: Path) -> None:
    shutil.copytree(HERE / "before" / "recorded_pairs", tmp_path / "programs" / "recorded_pairs")
    assert not (tmp_path / "programs" / "recorded_pairs" / "0001" / "tree.json").exists()
    workspace = judgec.Workspace(tmp_path)
    assert (workspace.names, workspace.versions("recorded_pairs")) == (("recorded_pairs",), (1,))
    program = workspace.load("recorded_pairs@1")
    assert program.report["test"]
    judge = judgec.load_judge("recorded_pairs@1", home=tmp_path)
    assert (judge.card.task, judge.card.settings["judge"]) == ("preference", "good")

    items = write(tmp_path / "new.jsonl", KINDS["pairs"].items())
    refused = judgec_typed(tmp_path, "judge", items, "--judge", "recorded_pairs@1", "--out", "o.jsonl", code=2)
    (line,) = [one for one in refused.stderr.splitlines() if one.startswith("error:")]
    assert "gone since. Compile it again: judgec compile-judge" in line
    assert "--name recorded_pairs" in line
    assert not (tmp_path / "o.jsonl").exists()
    labelled = [{**row, "preference": "a"} for row in KINDS["pairs"].items()]
    for refuses in (
        lambda: judge(pd.DataFrame(KINDS["pairs"].items()), progress=False),
        lambda: judgec.compare(judge, judge, labels=pd.DataFrame(labelled)),
    ):
        with pytest.raises(ArtifactError, match=r"gone since\. Compile it again: judgec compile-judge"):
            refuses()


@pytest.mark.parametrize(
    ("name", "family", "lm"),
    [
        ("prompt_and_evidence", "mix", "--lm openai/gpt-4o-mini"),
        ("classes", "trees", ""),
    ],
)
def test_judge_with_a_forest_is_shown_and_refuses_with_the_command_that_compiles_it_again(
    name: str, family: str, lm: str, tmp_path: Path
) -> None:
    shutil.copytree(HERE / "before" / name, tmp_path / "programs" / name)
    assert judgec.Workspace(tmp_path).load(f"{name}@1").report["test"]
    url = "http://127.0.0.1:37655/v1" if lm else None  # of its card: nobody listens
    judge = judgec.load_judge(f"{name}@1", home=tmp_path, api_base=url)
    assert judge.card.name == name
    again = f"--name {name} {lm}".strip()
    line = rf"{name}@1: .*the family {family}, gone since\. Compile it again: judgec compile-judge \S+ {again}$"
    with pytest.raises(ArtifactError, match=line):
        judge(pd.DataFrame(KINDS[name].items()), progress=False)
    items = write(tmp_path / "new.jsonl", KINDS[name].items())
    with pytest.raises(ArtifactError, match=line):
        judgec.judge_file(items, judge=f"{name}@1", home=tmp_path, out=tmp_path / "o.jsonl", api_base=url)
    assert not (tmp_path / "o.jsonl").exists()


def test_abstaining_judge_leaves_the_same_items_to_people(home: Path, tmp_path: Path) -> None:
    items = write(tmp_path / "new.jsonl", KINDS["evidence"].items())
    judgec.judge_file(items, judge="evidence@1", home=home, out=tmp_path / "o.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text(encoding="utf-8").splitlines()]
    unsure = [float.fromhex(str(row["confidence"])) < 0.6 for row in expected("evidence")]
    assert [line["grade"] is None for line in lines] == unsure
    assert 0 < sum(unsure) < len(unsure)
