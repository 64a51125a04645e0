"""``--lm recorded:FILE`` and ``--verdicts`` as a user types them, and the same from Python."""

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import judgec as judgec_api
from judgec.errors import UserError
from judgec.lm.watch import Silent
from judgec.verbs.candidates import candidates_of
from judgec.verbs.compile_judge import planned
from judgec.verbs.labels import Labels
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from judgec.verbs.recorded import recorded_of
from tests.compile.recorded_world import Rows, labels, verdicts
from tests.compile.small import write
from tests.compile.test_panels import THREE
from tests.compile.test_panels import verdicts as three_judges
from tests.verbs.cli.process import judgec

Json = dict[str, Any]  # a report
SHEET = '[scale]\nname = "relevance"\nlevel = "ordinal"\ngrades = [0, 1, 2, 3]\naccept_at = 2\n'
KEPT = ("gpt/odd", "gpt/clear", "gpt/plain")
BESIDE = dict.fromkeys(KEPT, "")


def said() -> list[dict[str, object]]:
    return [one for one in verdicts(labels()) if one["judge"] in KEPT]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("recorded")
    write(made / "labels.jsonl", labels())
    (made / "labels.datasheet.toml").write_text(SHEET)
    pd.DataFrame(said()).to_parquet(made / "verdicts.parquet")
    return made


@pytest.fixture(scope="module")
def report(folder: Path) -> Json:
    typed = "compile-judge labels.jsonl --lm recorded:verdicts.parquet --no-evidence --folds 1 --objective qwk"
    done = judgec(folder, *shlex.split(f"{typed} --judges gpt/* --baseline gpt/plain --name mine --json"))
    found: Json = json.loads(done.stdout)
    return found


def test_verdicts_under_other_heads_are_named_by_map_beside_labels_under_theirs(tmp_path: Path) -> None:
    write(tmp_path / "labels.jsonl", labels())
    (tmp_path / "labels.datasheet.toml").write_text(SHEET)
    pd.DataFrame(said()).rename(columns={"judge": "asked", "grade": "score"}).to_csv(tmp_path / "own.csv", index=False)
    file, columns = f"recorded:{tmp_path / 'own.csv'}", {"asked": "judge", "score": "grade"}
    typed = CompileJudgeOptions(labels=str(tmp_path / "labels.jsonl"), candidates=(file,), columns=columns)
    settings, *_ = planned(typed, Silent())
    verdicts = settings.candidates.recorded
    assert verdicts is not None
    assert set(verdicts.judges) == set(KEPT)
    assert settings.source["rename"] == {}  # the labels' own file has none of these
    card = verdicts.settings
    assert json.loads(card["columns"]) == columns  # so that the compiled judge reads new verdicts


def test_compile_from_a_file_reports_candidates_and_the_best_alone(report: Json) -> None:
    assert report["recorded"] == {"uncompiled": "gpt/plain", "best_alone": "gpt/clear"}
    assert [row["judge"] for row in report["candidates"] if row["chosen"]] == ["gpt/odd"]
    assert report["test"]["best_alone"]["qwk"]["value"] is not None
    assert report["lm_calls"] == 0
    assert report["promoted"]


def test_judge_reads_recorded_verdicts_on_new_items(folder: Path, report: Json) -> None:
    assert report["promoted"]
    new = [{"item_id": f"new{i}", "query": f"fresh {i}", "document": "text"} for i in range(5)]
    write(folder / "new.jsonl", new)
    spoken = [{"item_id": f"new{i}", "judge": "gpt/odd", "grade": 1.5 + i / 2, "reply": f"r{i}"} for i in range(4)]
    pd.DataFrame(spoken).to_csv(folder / "later.csv", index=False)
    typed = "judge new.jsonl --judge mine@champion --lm recorded:later.csv --out out.jsonl --json"
    done = judgec(folder, *shlex.split(typed))
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [row["grade"] for row in rows] == [0, 1, 2, 3, None]
    assert rows[4]["unscored"] == "not asked"
    assert rows[0]["rationale"] == "r0"
    assert json.loads(done.stdout)["lm_calls"] == 0
    judge = judgec_api.load_judge("mine@champion", home=folder, verdicts=pd.DataFrame(spoken))
    assert judge(pd.DataFrame(new))["grade"].tolist()[:4] == [0, 1, 2, 3]
    graded = pd.DataFrame([{**row, "grade": 1} for row in new])
    assert judgec_api.estimate(pd.DataFrame(new), judge=judge, labels=graded).aspects["grade"].unscored == 1


def test_a_compiled_judge_of_verdicts_is_asked_of_no_model_and_about_no_new_text(folder: Path, report: Json) -> None:
    assert report["promoted"]
    given: Json = {"judge": "mine", "home": folder, "out": folder / "o.jsonl"}
    labelled = str(folder / "labels.jsonl")
    with pytest.raises(UserError, match=r"verdicts\.parquet: no such file"):  # nobody said that a model is to be paid
        judgec_api.judge_file(labelled, **given)
    with pytest.raises(UserError, match="its verdicts were recorded, and a judge that is made of them is asked by"):
        judgec_api.audit(judge="mine", home=folder, labels="absent.jsonl")  # refused before anything is read
    wrong = write(folder / "wrong.jsonl", [{"item_id": "q0-d0", "judge": "other", "grade": 1}])
    with pytest.raises(UserError, match=r"wrong\.jsonl: no verdicts of judge gpt/odd; it has other"):
        judgec_api.judge_file(labelled, lm=f"recorded:{wrong}", **given)


def wide() -> pd.DataFrame:
    """The labels with one column a judge."""
    columns = pd.DataFrame(said()).pivot_table(index="item_id", columns="judge", values="grade", aggfunc="first")
    return pd.DataFrame(labels()).merge(columns.reset_index(), on="item_id")


def test_columns_a_frame_and_a_file_hold_the_same_verdicts(folder: Path, tmp_path: Path) -> None:
    wide().to_csv(tmp_path / "wide.csv", index=False)
    (tmp_path / "wide.datasheet.toml").write_text(SHEET)
    labelled, path = str(folder / "labels.jsonl"), str(tmp_path / "wide.csv")
    options = (
        candidates_of(
            CompileJudgeOptions(labels=labelled, candidates=(f"recorded:{folder / 'verdicts.parquet'}#gpt/*",))
        ).options,
        CompileJudgeOptions(labels=labelled, verdicts=pd.DataFrame(said())),
        CompileJudgeOptions(labels=path, judges=BESIDE),
        CompileJudgeOptions(labels=judgec_api.read_labels(path, judges=KEPT), judges=BESIDE),
    )
    found = []
    for one in options:
        assert one.labels is not None
        read = one.labels
        read = read if isinstance(read, Labels) else judgec_api.read_labels(read, judges=one.judges)
        recorded = recorded_of(one, read)
        assert recorded is not None
        found.append((recorded.model.partition("/")[0], recorded.judges))
    assert [model for model, _ in found] == ["recorded:", "recorded:DataFrame", "recorded:columns", "recorded:columns"]
    ids = [str(row["item_id"]) for row in labels()]
    for name in KEPT:
        first, *others = [recorded.judgments(name, ids) for _, recorded in found]
        assert first.scored.all()
        for other in others:
            np.testing.assert_array_equal(other.probabilities, first.probabilities)


def test_a_judge_compiled_from_columns_reads_them_in_the_file_that_it_judges(tmp_path: Path) -> None:
    rows = wide().rename(columns={"query": "Frage"})
    rows.to_csv(tmp_path / "wide.csv", index=False)
    (tmp_path / "wide.datasheet.toml").write_text(SHEET)
    options: Json = {"evidence": False, "folds": 1, "objective": "qwk", "home": tmp_path, "columns": {"Frage": "query"}}
    made = judgec_api.compile_judge(str(tmp_path / "wide.csv"), judges=KEPT, name="wide", **options)
    judged = made.judge(rows, columns={"Frage": "query"})
    grade = judged["judge_grade"].astype(int)
    assert (grade == rows["grade"]).mean() > 0.8
    out = judgec_api.judge_file(
        str(tmp_path / "wide.csv"), judge="wide@latest", out=tmp_path / "out.csv", home=tmp_path,
        columns={"Frage": "query"},
    )  # fmt: skip
    assert out.frame()["judge_grade"].astype(int).tolist() == grade.tolist()


def test_a_judge_among_the_annotators_is_compiled_as_one_with_a_column_of_its_own(tmp_path: Path) -> None:
    beside = wide().rename(columns={"query": "Question", "document": "Passage"})
    people = beside[["Question", "Passage", "grade"]]
    stacked = {"Mia": people, "gpt": people.assign(grade=beside[KEPT[0]])}
    rows = pd.concat({who: own.rename(columns={"grade": "Rating"}) for who, own in stacked.items()}, names=["Rater"])
    rows.reset_index(level=0).to_csv(tmp_path / "long.csv", index=False)
    beside.drop(columns="item_id").rename(columns={KEPT[0]: "gpt"}).to_csv(tmp_path / "beside.csv", index=False)
    options: Json = {"evidence": False, "folds": 1, "objective": "qwk", "home": tmp_path, "judges": ["gpt"]}
    options |= {"scale": {"grades": [0, 1, 2, 3]}}
    ours = {"Question": "query", "Passage": "document"}
    maps = {"long": {**ours, "Rater": "annotator", "Rating": "grade"}, "beside": ours}
    long, own = (
        judgec_api.compile_judge(str(tmp_path / f"{name}.csv"), name=name, columns=columns, **options)
        for name, columns in maps.items()
    )
    assert long.table.equals(own.table)
    assert {one.annotator for one in long.saved.compiled.dataset.labels.labels} == {"Mia"}


def test_a_judge_as_it_is_stands_beside_what_experts_reach_among_themselves(tmp_path: Path) -> None:
    rows = wide().drop(columns="item_id").rename(columns={"grade": "mia", KEPT[0]: "gpt"})
    rows.assign(noah=rows["mia"]).to_csv(tmp_path / "two.csv", index=False)
    options: Json = {"evidence": False, "folds": 1, "objective": "qwk", "home": tmp_path, "judges": ["gpt"]}
    options |= {"scale": {"grades": [0, 1, 2, 3]}, "annotators": ["mia", "noah"]}
    found = judgec_api.compile_judge(str(tmp_path / "two.csv"), name="two", **options)
    assert "with your experts; they among themselves: QWK 1.00" in found.verdict


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lm", "recorded:"], "names no file"),
        (["--lm", "recorded:none.csv"], "none.csv: no such file"),
        (["--baseline", "x"], "--baseline x: chooses among recorded judges"),
        (["--lm", "recorded:verdicts.parquet", "--optimizer", "gepa"], "--optimizer: nobody writes prompts"),
        (["--judges", "gpt"], "labels.jsonl: --judges gpt: no such column"),
    ],
)
def test_bad_verdicts_are_one_clear_error(folder: Path, arguments: list[str], message: str) -> None:
    options: Json = {
        name.removeprefix("--"): value for name, value in zip(arguments[::2], arguments[1::2], strict=True)
    }
    if options.get("lm", "recorded:") != "recorded:":
        options["lm"] = f"recorded:{folder / options['lm'].removeprefix('recorded:')}"
    with pytest.raises(UserError) as error:
        judgec_api.compile_judge(str(folder / "labels.jsonl"), home=folder / "bad", evidence=False, folds=1, **options)
    assert message in str(error.value)


def test_a_panel_of_columns_compiles_and_judges_items_with_the_same_columns(tmp_path: Path) -> None:
    write(tmp_path / "labels.jsonl", beside(labels(40, 5), 2))
    (tmp_path / "labels.datasheet.toml").write_text(SHEET)
    options: Json = {"judges": ["a", "b", "c"], "panel": 3, "evidence": False, "folds": 1, "objective": "qwk"}
    made = judgec_api.compile_judge(tmp_path / "labels.jsonl", name="wide", home=tmp_path, **options)
    assert made.saved.report["panel"]["members"]  # type: ignore[index]  # JSON
    new = [{key: value for key, value in row.items() if key != "grade"} for row in beside(labels(8, 5), 7)]
    new[0]["b"] = None  # b was not asked: the others speak
    write(tmp_path / "new.jsonl", new)
    asked: Json = {"judge": "wide@latest", "out": tmp_path / "out.jsonl", "home": tmp_path}
    done = judgec_api.judge_file(tmp_path / "new.jsonl", **asked)
    assert done.unscored == 0
    assert done.report["between_grades"] == 0  # a mean of two verdicts is no half grade that somebody gave
    truth = np.array([int(str(row["grade"])) for row in labels(8, 5)])
    joint, single = done.frame()["grade"].astype(int), np.array([row["a"] for row in new], dtype=int)
    assert np.abs(joint - truth).mean() < np.abs(single - truth).mean()
    write(tmp_path / "fewer.jsonl", [{key: value for key, value in row.items() if key != "c"} for row in new])
    with pytest.raises(UserError, match=r"fewer\.jsonl: no column c"):
        judgec_api.judge_file(tmp_path / "fewer.jsonl", **asked)


def beside(rows: Rows, seed: int) -> Rows:
    """Rows with a column for each of three judges."""
    cells: dict[object, dict[str, object]] = {}
    for one in three_judges(rows, THREE, seed=seed):
        cells.setdefault(one["item_id"], {})[str(one["judge"])] = one["grade"]
    return [{**row, **cells[row["item_id"]]} for row in rows]
