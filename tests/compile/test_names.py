"""What a home remembers of queries, whatever its judges are called: their sides, and their test uses."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from judgec.labels.split.family import SHARES, SPLITS
from judgec.raters import programs
from tests.compile.small import Rows, compiled_from
from tests.service import grading_world
from tests.table.seals import forgotten

ROWS = grading_world.rows(90, per_query=3)
Json = dict[str, Any]  # a file of a version


def split_file(home: Path, name: str, version: int = 1) -> Json:
    found: Json = json.loads((home / "programs" / name / f"{version:04d}" / "split.json").read_text())
    return found


def as_written_before_keys(home: Path, name: str) -> Json:
    """Turn a version into one whose queries were split by a hash of the name; returns its ``split.json``."""
    folder = home / "programs" / name / "0001"
    split = split_file(home, name)
    queries = {query: split_by_name(query, name) for query in split["queries"]}
    old = {key: split[key] for key in ("salt", "items", "digests")} | {"queries": queries}
    (folder / "split.json").write_text(json.dumps(old))
    forgotten(folder)  # nor were versions sealed then
    return old


def split_by_name(query_id: str, name: str) -> str:
    """As judges were split before queries had keys."""
    uniform = int.from_bytes(hashlib.sha256(f"{name}\0{query_id}".encode()).digest()[:8], "big") / 2**64
    train, dev, _ = SHARES
    return "train" if uniform < train else "dev" if uniform < train + dev else "test"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty queries under three names, from seeds and orders of their own."""
    folder = tmp_path_factory.mktemp("names")
    for seed, name in enumerate(("alpha", "zeta", "m")):
        rows = ROWS if seed % 2 else ROWS[::-1]
        compiled_from(folder, rows, name=name, seed=seed)
    return folder


def test_thirty_queries_are_split_alike_under_every_name_and_every_name_is_one_more_test_use(home: Path) -> None:
    splits = [split_file(home, name) for name in ("alpha", "zeta", "m")]
    assert splits[0]["queries"] == splits[1]["queries"] == splits[2]["queries"]
    assert [list(splits[0]["queries"].values()).count(name) for name in SPLITS] == [15, 6, 9]
    assert [programs.load(home, f"{name}@1").card.looks for name in ("alpha", "zeta", "m")] == [1, 2, 3]


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("old")
    compiled_from(folder, ROWS, name="old", seed=5)
    return folder


@pytest.fixture
def old(compiled_once: Path, tmp_path: Path) -> Path:
    """A home of its own, with one judge of the thirty queries."""
    return shutil.copytree(compiled_once, tmp_path / "home")


def test_a_home_of_its_own_splits_them_alike_too(home: Path, old: Path) -> None:
    assert split_file(old, "old")["queries"] == split_file(home, "alpha")["queries"]


@pytest.mark.parametrize(
    ("rows", "use"),
    [
        (grading_world.rows(180, per_query=3)[90:], 1),  # thirty other queries
        (grading_world.rows(117, per_query=3), 4),  # of the 12 test queries, 9 were tested before
    ],
    ids=["other queries", "some more queries"],
)
def test_use_counts_where_a_fifth_of_its_test_queries_was_tested_before(
    home: Path, tmp_path: Path, rows: Rows, use: int
) -> None:
    shutil.copytree(home / "programs", tmp_path / "programs")
    assert compiled_from(tmp_path, rows, name="later").saved.card.looks == use


def test_uses_that_share_less_than_a_fifth_of_the_test_queries_do_not_count(tmp_path: Path) -> None:
    compiled_from(tmp_path, ROWS[:30], name="ten")  # three test queries
    many = compiled_from(tmp_path, grading_world.rows(300, per_query=3), name="hundred")
    assert many.saved.report["split"] == {"train": 150, "dev": 60, "test": 90}
    assert many.saved.card.looks == 1


def test_another_label_column_of_the_same_queries_has_uses_of_its_own(old: Path) -> None:
    accepts = [{**{k: v for k, v in row.items() if k != "grade"}, "accept": int(str(row["grade"])) > 2} for row in ROWS]
    assert [compiled_from(old, accepts, name=name).saved.card.looks for name in ("accepts", "again")] == [1, 2]


def test_family_from_before_keys_keeps_its_split_and_its_test_uses_and_new_queries_fill_the_quotas(old: Path) -> None:
    before = as_written_before_keys(old, "old")["queries"]
    second = compiled_from(old, grading_world.rows(180, per_query=3), name="old")
    now = split_file(old, "old", 2)["queries"]
    assert {query: now[query] for query in before} == before
    assert [list(now.values()).count(name) for name in SPLITS] == [30, 12, 18]
    assert second.saved.card.looks == 2
    # Another name finds the same queries by a tested item, which the old report knows by its digest.
    assert programs.load(old, "old@1").report["judgments"]
    renamed = compiled_from(old, ROWS, name="renamed")
    assert split_file(old, "renamed")["queries"] == before
    assert renamed.saved.card.looks == 3


def test_query_ids_of_other_data_say_nothing_of_these(old: Path) -> None:
    as_written_before_keys(old, "old")
    others = [{**row, "query": f"{row['query']} And why?"} for row in ROWS]  # the same ids, other questions
    compiled_from(old, others, name="new")
    assert [list(split_file(old, "new")["queries"].values()).count(name) for name in SPLITS] == [15, 6, 9]
