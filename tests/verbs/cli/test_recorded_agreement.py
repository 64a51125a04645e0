"""``judgec agreement VERDICTS --labels LABELS``: recorded judges beside labels in another file, and bad input."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judgec as judgec_api
from judgec.errors import InputError, UserError
from tests.compile.recorded_world import Rows, labels, verdicts
from tests.compile.small import write
from tests.verbs.cli.process import judgec, judgec_here

SHEET = '[scale]\nname = "relevance"\nlevel = "ordinal"\ngrades = [0, 1, 2, 3]\naccept_at = 2\n'
LABELS = labels()
SAID = verdicts(LABELS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("agreement")
    write(made / "labels.jsonl", LABELS)
    (made / "labels.datasheet.toml").write_text(SHEET)
    write(made / "all.jsonl", SAID)
    return made


def test_all_judges_stand_in_one_table_each_on_the_items_that_it_was_asked_about(folder: Path) -> None:
    typed = ("agreement", "all.jsonl", "--labels", "labels.jsonl")
    done = judgec(folder, *typed)
    for name in ("gpt/odd", "gpt/clear", "llama/vague", "big/half"):
        assert name in done.stdout
    assert "few/few" not in done.stdout
    assert "…" not in done.stdout  # at 100 characters: no number is cut
    found: dict[str, Any] = json.loads(judgec_here(folder, *typed, "--json").stdout)["judges"]
    assert found["gpt/clear"]["tau_b"]["low"] < found["gpt/clear"]["tau_b"]["value"]
    assert found["llama/silent"]["unscored"] > 100
    half = found["big/half"]  # no row: not asked, in none of its statistics; asked of every second query
    assert (half["n"], half["unscored"]) == (120, 0)


def test_each_judge_has_the_statistics_of_a_table_that_holds_both_columns(folder: Path) -> None:
    found = judgec_api.agreement(folder / "all.jsonl", labels=folder / "labels.jsonl")
    assert set(found.table.index.names) == {"judge", "statistic"}
    for name in ("gpt/clear", "big/half"):
        said = {one["item_id"]: one["grade"] for one in SAID if one["judge"] == name}
        both = [{**row, "said": said[row["item_id"]]} for row in LABELS if row["item_id"] in said]
        scale = {"grades": [0, 1, 2, 3], "accept_at": 2}
        beside = judgec_api.agreement(both, judges="said", scale=scale)
        mine = pd.DataFrame(found.table.xs(name, level="judge"))
        pd.testing.assert_frame_equal(mine, beside.table, check_names=False)


def test_each_file_has_the_columns_that_map_names_in_it(folder: Path) -> None:
    heads = {"item_id": "response", "judge": "judge_name", "grade": "accuracy"}
    said = pd.DataFrame(SAID).rename(columns=heads)
    expert = pd.DataFrame(LABELS).rename(columns={"item_id": "response", "grade": "relevance_of_expert"})
    columns = {theirs: ours for ours, theirs in heads.items()} | {"relevance_of_expert": "grade"}
    found = judgec_api.agreement(said, labels=expert, columns=columns, judges="gpt/clear", accept_at="2", best=3)
    same = judgec_api.agreement(pd.DataFrame(SAID), labels=LABELS, judges="gpt/clear", accept_at="2", best=3)
    pd.testing.assert_frame_equal(found.table, same.table)
    with pytest.raises(InputError, match="no column 'nobody'"):  # of neither file
        judgec_api.agreement(said, labels=expert, columns={**columns, "nobody": "run"})


def test_one_judge_by_name_reads_like_a_column_and_several_have_no_single_agreement(folder: Path) -> None:
    one = judgec_api.agreement(pd.DataFrame(SAID), labels=folder / "labels.jsonl", judges="gpt/clear")
    assert one.judge == "gpt/clear"
    assert one.estimates["tau_b"].value is not None
    assert one.table.columns.tolist() == ["value", "low", "high"]
    several = judgec_api.agreement(
        folder / "all.jsonl", labels=folder / "labels.jsonl", judges=["gpt/odd", "gpt/clear"]
    )
    assert "2 judges" in repr(several)
    with pytest.raises(UserError, match="2 judges; one is valid here"):
        _ = several.estimates


def test_judges_are_tested_by_aspect_where_three_annotators_overlap(folder: Path) -> None:
    aspects = ("clear", "poor")
    rated: Rows = [
        {"item_id": row["item_id"], "query_id": row["query_id"], "query": row["query"], "answer": row["document"]}
        | {"annotator": name, **{f"grade.{aspect}": row["grade"] for aspect in aspects}}
        for row in LABELS
        for name in ("ann", "bob", "cem")
    ]
    write(folder / "aspects.jsonl", rated)
    (folder / "aspects.datasheet.toml").write_text(f'annotators = ["*"]\n{SHEET}')
    said: Rows = [
        {"item_id": row["item_id"], "judge": "a", "aspect": aspect, "grade": abs(turned - int(str(row["grade"])))}
        for row in LABELS
        for aspect, turned in zip(aspects, (0, 3), strict=True)
    ]
    write(folder / "aspect_verdicts.jsonl", said)
    with pytest.raises(UserError, match=r"judgec labels \S*aspects.jsonl"):  # people among themselves
        judgec_api.agreement(str(folder / "aspects.jsonl"))
    typed = ["agreement", "aspect_verdicts.jsonl", "--labels", "aspects.jsonl"]
    test = json.loads(judgec_here(folder, *typed, "--json").stdout)["judges"]["a"]["alt_test"]
    assert {name: one["omega"] for name, one in test["aspects"].items()} == {"clear": 1.0, "poor": 0.0}
    assert "by aspect" in judgec_here(folder, *typed, "-v").stdout


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ({}, "nobody says who is a judge"),
        ({"labels": LABELS, "score": "grade"}, "--score: is of verdicts beside labels"),
        ({"labels": LABELS, "judges": "zzz", "best": 3}, "--judges zzz: none of the judges"),
    ],
)
def test_options_that_do_not_go_together_are_refused(given: dict[str, Any], seen: str) -> None:
    with pytest.raises(UserError, match=seen.replace("*", r"\*")):
        judgec_api.agreement(SAID, **given)
