"""Items of a file that is about to be judged: labels in it, the bytes of its lines."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.labels.bulk.items import lines_of, open_items
from judgec.labels.split.queries import LearnedQueries, key_of
from judgec.records.label import Item
from tests.labels.split.queries import normalized

Row = dict[str, object]
MANY = 512  # rows


def rows_of(count: int) -> list[Row]:
    return [
        {"item_id": f"i{n}", "query": f"Où est {n}?", "answer": f"ici\n{n}", "contexts": [f"c{n}", "d"], "grade": n % 3}
        for n in range(count)
    ]


def jsonl(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"query": ', "not JSON"),
        ("[1]", "a list"),
        ('{"answer": "a"}', "no query"),
        ('{"query": "\xff \xc3\xa9"}', "UTF-8"),
    ],
)
def test_open_items_of_a_faulty_line_far_down_says_which(tmp_path: Path, line: str, says: str) -> None:
    path = jsonl(tmp_path / "i.jsonl", rows_of(2 * MANY))
    with path.open("ab") as file:
        file.write(line.encode("latin-1") + b"\n")
    with pytest.raises(InputError, match=rf":{2 * MANY + 1}: .*{says}"):
        open_items(str(path), task="grade")


@pytest.mark.parametrize(
    ("name", "content", "kept"),
    [
        ("i.jsonl", '\ufeff{"query": "q", "answer": 1.10}\r\n \n{"query":"p","answer":""}', True),
        ("i.ndjson", '{"query": "q", "answer": "a"}', True),
        ("i.jsonl", '[{"query": "q", "answer": "a"}]', False),
        ("i.jsonl", '{"row_idx": 0, "row": {"query": "q", "answer": "a"}}\n', False),
        ("i.json", '[{"query": "q", "answer": "a"}]', False),
        ("i.csv", "query,answer\nq,a\n", False),
    ],
)
def test_the_bytes_of_rows_are_kept_where_each_row_is_a_line(
    tmp_path: Path, name: str, content: str, kept: bool
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8", newline="")
    found = open_items(str(tmp_path / name), task="grade")
    assert (found.content is not None) is kept
    if found.content is not None:
        assert [json.loads(line) for line in lines_of(found.content)] == list(found.table.rows)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, read = jsonl(tmp_path / "i.jsonl", rows_of(5)), Path.read_bytes

    def read_and_touch(self: Path) -> bytes:
        content = read(self)
        os.utime(self, ns=(0, path.stat().st_mtime_ns + 1))
        return content

    monkeypatch.setattr(Path, "read_bytes", read_and_touch)
    with pytest.raises(InputError, match="changed while"):
        open_items(str(path), task="grade")


def test_labels_count_where_the_judge_has_not_learned_from_the_item(tmp_path: Path) -> None:
    rows: list[Row] = [row | {"stars": 1 if n < 3 else None, "eve": n} for n, row in enumerate(rows_of(6))]
    rows = [{name: value for name, value in row.items() if name != "grade"} for row in rows]
    path = str(jsonl(tmp_path / "i.jsonl", rows))
    for known, found in ((2, ("stars", "eve")), (3, ("eve",))):
        keys = frozenset(key_of(normalized(Item("", "", {"query": str(row["query"])})), "") for row in rows[:known])
        memories = [LearnedQueries(keys, keys)]
        stream = open_items(path, task="grade", rename={"stars": "grade"}, memories=memories, raters=("eve", "adam"))
        assert stream.labelled == found
        assert stream.learned.tolist() == [n < known for n in range(6)]
