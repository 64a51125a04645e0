import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.errors import ArtifactError, UserError
from judgec.labels.split.draw import split_items, split_record
from judgec.labels.split.family import SPLITS, Family, default_family, read_family, write_family, writing_whole
from judgec.labels.split.memory import Measured, Memory
from judgec.records.label import Item
from tests.labels.split.queries import normalized
from tests.labels.split.test_draw import version_of

QUERY_IDS = st.lists(st.text(max_size=5), min_size=1, max_size=30)


def items_of(query_ids: list[str]) -> list[Item]:
    return [Item(f"{i}", query_id, {"query": query_id}) for i, query_id in enumerate(query_ids)]


def after(items: list[Item]) -> Memory:
    """What is remembered of a compile on these items."""
    record = split_record(split_items(items), items, Measured("agent", frozenset({"score"})), "salt")
    return Memory(own=(version_of(record, "agent", "score"),))


def test_assignments_never_change_between_releases() -> None:
    # Golden: a change here would move the queries of a compile that was killed before its first version.
    split = split_items(items_of([f"q{i}" for i in range(8)]))
    assert (split.train, split.dev, split.test) == ((0, 1, 3, 7), (4, 6), (2, 5))


def test_shares_of_queries_are_exact() -> None:
    split = split_items(items_of([f"query {i}" for i in range(1000)]))
    assert split.sizes() == {"train": 500, "dev": 200, "test": 300}


@given(QUERY_IDS)
def test_every_item_is_in_one_split_and_no_query_in_two(query_ids: list[str]) -> None:
    items = items_of(query_ids)
    split = split_items(items)
    assert sorted((*split.train, *split.dev, *split.test)) == list(range(len(items)))
    queries = [
        {normalized(items[i]) or items[i].query_id for i in part} for part in (split.train, split.dev, split.test)
    ]
    assert sum(map(len, queries)) == len(set().union(*queries))


@given(QUERY_IDS, QUERY_IDS)
def test_more_items_never_move_remembered_ones(old: list[str], new: list[str]) -> None:
    first, more = items_of(old), items_of(old + new)
    before, later = split_items(first), split_items(more, after(first))
    where = {i: name for name in SPLITS for i in getattr(before, name)}
    now = {i: name for name in SPLITS for i in getattr(later, name)}
    assert {i: now[i] for i in where} == where


def test_digests_depend_on_content_and_not_on_row_order() -> None:
    items = items_of([f"q{i}" for i in range(20)])
    digests = split_items(items).digests
    assert split_items(items[::-1]).digests == digests
    assert split_items(items[:-1]).digests != digests
    assert len(set(digests.values())) == 3


def test_split_record_names_the_split_of_each_query() -> None:
    items = items_of(["q0", "q1", "q7", "q1"])
    split = split_items(items)
    record = split_record(split, items, Measured("agent", frozenset({"score"})), "family")
    assert record["queries"] == {items[i].query_id: name for name in SPLITS for i in getattr(split, name)}
    assert (record["items"], record["labels"]) == (split.sizes(), {"task": "agent", "columns": ["score"]})
    assert len(record["tested"]) == len({items[i].query_id for i in split.test})  # type: ignore[arg-type]  # a list
    assert json.loads(json.dumps(record)) == record


def test_family_survives_saving_and_remembers_its_looks(tmp_path: Path) -> None:
    new = read_family(tmp_path, "acme")
    assert new == Family(name="acme", salt="acme")
    path = write_family(tmp_path, new.used("0001", "abc"))
    assert path == tmp_path / "programs" / "acme" / "family.json"
    assert [(look.version, look.test) for look in read_family(tmp_path, "acme").looks] == [("0001", "abc")]
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


def test_family_is_named_after_the_file_or_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_family("data/My labels (v2).csv") == "My-labels-v2"
    assert default_family("trainsets/sensors/labels.jsonl") == "sensors"
    assert [default_family(path) for path in ("hf:o/name@train", "x.tar.csv", "---.csv")] == ["name", "x.tar", "judge"]
    (tmp_path / "sensors").mkdir()
    assert default_family(str(tmp_path / "sensors")) == "sensors"
    monkeypatch.chdir(tmp_path / "sensors")
    assert default_family(".") == default_family("labels.csv") == "sensors"


def test_file_that_a_killed_process_left_is_removed_by_the_next_writer_and_a_living_ones_is_not(tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    (tmp_path / ".o.jsonl.0123abcd").write_text("half")
    (tmp_path / ".o.jsonl.unfinished").write_text("kept")
    with writing_whole(out) as first:
        first.write(b"one")
        with writing_whole(out) as second:  # two at once: the later one is the file
            second.write(b"two")
        assert len(list(tmp_path.glob(".o.jsonl.????????"))) == 1
    assert out.read_text() == "one"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".o.jsonl.unfinished", "o.jsonl"]
