"""Parquet, Arrow and data set folders, written by the libraries that people write them with."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, ipc

from judgec.errors import InputError, ServiceError
from judgec.table.arrow import read_hub
from judgec.table.tables import read_table

ROWS = [{"query": "x", "grade": 1, "contexts": ["a", "b"]}, {"query": "y", "grade": None, "contexts": None}]


def test_parquet_gives_python_values(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    table = read_table(str(path))
    assert table.columns == ("query", "grade", "contexts")
    assert list(table.rows) == ROWS
    assert table.where(1).endswith("t.parquet:row 2")


@pytest.fixture
def datasets() -> Any:  # a module without types
    return pytest.importorskip("datasets")


@pytest.mark.parametrize("kind", ["file", "stream", "feather"])
def test_arrow_file_in_either_format_gives_the_rows(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t.arrow"
    content = pa.Table.from_pylist(ROWS)
    if kind == "feather":
        feather.write_feather(content, str(path), compression="uncompressed")
    else:
        opener = ipc.new_file if kind == "file" else ipc.new_stream
        with opener(str(path), content.schema) as writer:
            writer.write_table(content)
    assert list(read_table(str(path)).rows) == ROWS


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_damaged_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PAR1 this is not what it seems")
    with pytest.raises(InputError, match=rf"{name}:row 1: not readable as"):
        read_table(str(tmp_path / name))


def test_parquet_without_rows_and_folder_without_data_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder without"):
        read_table(str(tmp_path))
    pq.write_table(pa.table({"query": pa.array([], pa.string())}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="no rows"):
        read_table(str(tmp_path / "t.parquet"))


def test_folder_of_parquet_parts_is_read_in_name_order(tmp_path: Path) -> None:
    for part, row in zip("ba", ROWS, strict=True):
        pq.write_table(pa.Table.from_pylist([row]), tmp_path / f"{part}.parquet")
    assert [row["query"] for row in read_table(str(tmp_path)).rows] == ["y", "x"]


def test_saved_data_set_with_class_labels_gives_their_names(datasets: Any, tmp_path: Path) -> None:
    labels = datasets.ClassLabel(names=["a", "b", "tie"])
    features = datasets.Features({"query": datasets.Value("string"), "preference": labels})
    rows = [{"query": "x", "preference": 2}, {"query": "y", "preference": 0}]
    datasets.Dataset.from_list(rows, features=features).save_to_disk(str(tmp_path / "set"))
    read = read_table(str(tmp_path / "set")).rows
    assert [(row["query"], row["preference"]) for row in read] == [("x", "tie"), ("y", "a")]


def test_saved_splits_need_one_of_them_named(datasets: Any, tmp_path: Path) -> None:
    part = datasets.Dataset.from_list([{"query": "x"}])
    datasets.DatasetDict({"dev": part, "train": part}).save_to_disk(str(tmp_path / "sets"))
    with pytest.raises(InputError, match=r"dev, train; .*/sets/dev"):
        read_table(str(tmp_path / "sets"))
    assert len(read_table(str(tmp_path / "sets" / "dev")).rows) == 1
    datasets.DatasetDict({"only": part}).save_to_disk(str(tmp_path / "one"))
    assert len(read_table(str(tmp_path / "one")).rows) == 1


@pytest.mark.parametrize("path", ["hf:", "hf:name", "hf:a/b/c/d", "hf:a/b@"])
def test_malformed_hub_name_is_refused(path: str) -> None:
    with pytest.raises(InputError, match="hf:owner/name@split"):
        read_table(path)


def test_hub_out_of_reach_is_a_service_error(datasets: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise ConnectionError("Couldn't reach 'a/b' on the Hub (OfflineModeIsEnabled)")

    monkeypatch.setattr(datasets, "load_dataset", unreachable)
    with pytest.raises(ServiceError, match=r"hf:a/b@train: .*OfflineModeIsEnabled.*online"):
        read_hub("hf:a/b@train")


def test_hub_names_are_taken_apart(datasets: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []

    def load(name: str, config: str | None, split: str | None) -> object:
        asked.append((name, config, split))
        part = datasets.Dataset.from_list([{"query": "x"}])
        return part if split else {"train": part, "test": part}

    monkeypatch.setattr(datasets, "load_dataset", load)
    assert read_hub("hf:a/b@train[:10%]")[1] == [{"query": "x"}]
    assert read_hub("hf:a/b/en@test")[0] == ["query"]
    with pytest.raises(InputError, match=r"train, test. .*hf:a/b@train"):
        read_hub("hf:a/b")
    assert asked == [("a/b", None, "train[:10%]"), ("a/b", "en", "test"), ("a/b", None, None)]
