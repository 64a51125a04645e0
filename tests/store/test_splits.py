import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.errors import ArtifactError, UserError
from judgec.records.label import Item
from judgec.store.splits import (
    SPLITS,
    Family,
    default_family,
    read_family,
    split_items,
    split_of,
    split_table,
    write_family,
)

QUERY_IDS = st.lists(st.text(max_size=5), min_size=1, max_size=30)


def items_of(query_ids: list[str]) -> list[Item]:
    return [Item(f"{i}", query_id, {"query": query_id}) for i, query_id in enumerate(query_ids)]


def test_assignments_never_change_between_releases() -> None:
    # Golden: a change here would move training items of saved judges into their test splits.
    assert [split_of(f"q{i}", "family") for i in range(8)] == [
        "test", "train", "train", "train", "train", "test", "test", "dev",
    ]  # fmt: skip


def test_shares_of_many_queries_are_as_asked() -> None:
    split = split_items(items_of([f"query {i}" for i in range(10_000)]), "salt")
    # Four standard deviations of a binomial share at n = 10,000 are at most .02.
    assert [round(n / 10_000, 1) for n in split.sizes().values()] == [0.5, 0.2, 0.3]


@given(QUERY_IDS, st.text(max_size=5))
def test_every_item_is_in_one_split_and_no_query_in_two(query_ids: list[str], salt: str) -> None:
    items = items_of(query_ids)
    split = split_items(items, salt)
    assert sorted((*split.train, *split.dev, *split.test)) == list(range(len(items)))
    queries = [{items[i].query_id for i in part} for part in (split.train, split.dev, split.test)]
    assert sum(map(len, queries)) == len(set(query_ids))


@given(QUERY_IDS, QUERY_IDS)
def test_more_items_never_move_old_ones(old: list[str], new: list[str]) -> None:
    before, after = split_items(items_of(old), "s"), split_items(items_of(old + new), "s")
    for name in SPLITS:
        kept = [i for i in getattr(after, name) if i < len(old)]
        assert kept == list(getattr(before, name))


def test_digests_depend_on_content_and_not_on_row_order() -> None:
    items = items_of([f"q{i}" for i in range(20)])
    digests = split_items(items, "s").digests
    assert split_items(items[::-1], "s").digests == digests
    assert split_items(items[:-1], "s").digests != digests
    assert len(set(digests.values())) == 3


def test_other_salts_give_other_splits() -> None:
    items = items_of([f"q{i}" for i in range(50)])
    assert split_items(items, "a").test != split_items(items, "b").test


@pytest.mark.parametrize("shares", [(0.5, 0.2, 0.2), (1.2, -0.4, 0.2)])
def test_shares_that_are_none_are_refused(shares: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="shares"):
        split_items([], "s", shares)


def test_split_table_names_the_split_of_each_query() -> None:
    items = items_of(["q0", "q1", "q7", "q1"])
    table = split_table(split_items(items, "family"), items, "family")
    assert table["queries"] == {"q0": "test", "q1": "train", "q7": "dev"}
    assert table["items"] == {"train": 2, "dev": 1, "test": 1}
    assert json.loads(json.dumps(table)) == table


def test_family_survives_saving_and_remembers_its_looks(tmp_path: Path) -> None:
    new = read_family(tmp_path, "acme")
    assert new == Family(name="acme", salt="acme")
    path = write_family(tmp_path, new.looked("0001", "abc"))
    assert path == tmp_path / "programs" / "acme" / "family.json"
    again = read_family(tmp_path, "acme")
    assert [(look.version, look.test) for look in again.looks] == [("0001", "abc")]
    assert json.loads(path.read_text())["salt"] == "acme"


def test_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_family(tmp_path, Family(name="acme", salt="acme"))
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        write_family(tmp_path, Family(name="acme", salt="other"))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("content", ["{", '{"name": "acme"}', '{"name": "other", "salt": "other"}'])
def test_damaged_family_is_refused_and_not_started_anew(tmp_path: Path, content: str) -> None:
    path = write_family(tmp_path, Family(name="acme", salt="acme"))
    path.write_text(content)
    with pytest.raises(ArtifactError, match=r"family\.json"):
        read_family(tmp_path, "acme")


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "-x", "a b"])
def test_name_that_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="--name"):
        read_family(tmp_path, name)


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("data/My labels (v2).csv", "My-labels-v2"),
        ("trainsets/sensors/labels.jsonl", "sensors"),
        ("hf:owner/name@train", "name"),
        ("x.tar.csv", "x.tar"),
        ("---.csv", "judge"),
    ],
)
def test_family_is_named_after_the_file(path: str, family: str) -> None:
    assert default_family(path) == family


def test_family_of_a_folder_is_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sensors").mkdir()
    assert default_family(str(tmp_path / "sensors")) == "sensors"
    monkeypatch.chdir(tmp_path / "sensors")
    assert default_family(".") == "sensors"
    assert default_family("labels.csv") == "sensors"
