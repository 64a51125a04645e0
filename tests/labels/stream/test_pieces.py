"""Streamed items against the reader that holds the whole file, which is the second implementation."""

import json
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgec.errors import InputError
from judgec.labels.labels import read_item_file
from judgec.labels.split.learned import LearnedQueries
from judgec.labels.split.queries import key_of, normalized
from judgec.labels.stream.pieces import ROWS, ItemStream, inputs_digest, open_items
from judgec.records.label import Item, PooledContexts

Row = dict[str, object]


def rows_of(count: int) -> list[Row]:
    return [
        {"item_id": f"i{n}", "query": f"Où est {n}?", "answer": f"ici\n{n}", "contexts": [f"c{n}", "d"], "grade": n % 3}
        for n in range(count)
    ]


def jsonl(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def items_of(stream: ItemStream) -> list[Item]:
    found: list[Item] = []
    for piece in stream.pieces():
        items = piece.read()
        assert piece.item_ids == tuple(item.item_id for item in items)
        assert piece.digests == tuple(map(inputs_digest, items))
        found += items
    return found


def streamed(path: Path, rename: Mapping[str, str] | None = None, *, regular: bool = True) -> ItemStream:
    """The stream, when it equals the file read whole; ``regular`` says whether it should not be held."""
    stream, whole = (
        open_items(str(path), task="grade", rename=rename),
        read_item_file(str(path), task="grade", rename=rename),
    )
    assert tuple(items_of(stream)) == whole.items
    assert (stream.items, stream.rows) == (len(whole.items), whole.rows)
    assert set(stream.notes) <= set(whole.notes)
    assert (type(stream.pieces).__name__ == "method") is regular
    return stream


@pytest.mark.parametrize("count", [1, ROWS - 1, ROWS, ROWS + 1, 3 * ROWS])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_open_items_of_json_lines_equals_the_whole_file(tmp_path: Path, count: int, mark: bytes) -> None:
    path = jsonl(tmp_path / "i.jsonl", rows_of(count))
    path.write_bytes(mark + path.read_bytes())
    assert streamed(path).items == count


def test_open_items_can_be_read_twice_and_out_of_order(tmp_path: Path) -> None:
    stream = open_items(str(jsonl(tmp_path / "i.jsonl", rows_of(3 * ROWS))), task="grade")
    pieces = list(stream.pieces())
    assert [pieces[n].read()[0].item_id for n in (2, 0, 1, 2)] == ["i1024", "i0", "i512", "i1024"]
    assert items_of(stream) == items_of(stream)


@pytest.mark.parametrize(
    ("name", "separator"), [("i.csv", ","), ("i.csv", ";"), ("i.tsv", "\t"), ("i.tab", "\t"), ("i.csv", "|")]
)
def test_open_items_of_delimited_text_equals_the_whole_file(tmp_path: Path, name: str, separator: str) -> None:
    path = tmp_path / name
    lines = [separator.join(("item_id", "query", "answer"))]
    lines += [separator.join((f"i{n}", f"q {n}", f'"two\nlines, ""{n}"";\t|"')) for n in range(2 * ROWS + 5)]
    path.write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8", newline="")
    assert streamed(path).items == 2 * ROWS + 5


def test_open_items_without_ids_names_items_by_their_inputs(tmp_path: Path) -> None:
    rows = [{"query": f"q{n}", "answer": "a"} for n in range(ROWS + 3)]
    assert streamed(jsonl(tmp_path / "i.jsonl", rows)).items == ROWS + 3


def test_open_items_of_repeated_items_judges_each_once_across_pieces(tmp_path: Path) -> None:
    rows = rows_of(2 * ROWS)
    again = [row | {"annotator": "b"} for row in rows[::7]]
    stream = streamed(jsonl(tmp_path / "i.jsonl", [*rows, *again, *rows_of(3)]))
    assert stream.items == 2 * ROWS
    assert any(note.startswith(f"{len(again) + 3} rows repeat") for note in stream.notes)


def test_open_items_of_one_item_with_two_answers_is_a_fault_with_its_line(tmp_path: Path) -> None:
    rows = rows_of(ROWS + 10)
    path = jsonl(tmp_path / "i.jsonl", [*rows, rows[3] | {"answer": "other"}])
    with pytest.raises(InputError, match=rf"i.jsonl:{ROWS + 11}: item i3 has another answer than at"):
        open_items(str(path), task="grade")


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
    path = jsonl(tmp_path / "i.jsonl", rows_of(2 * ROWS))
    with path.open("ab") as file:
        file.write(line.encode("latin-1") + b"\n")
    with pytest.raises(InputError, match=rf":{2 * ROWS + 1}: .*{says}"):
        open_items(str(path), task="grade")


@pytest.mark.parametrize(
    ("missing", "rename", "said"),
    [("answer", None, "answer"), ("query", None, "query"), ("", {"reply": "answer"}, "no column 'reply'")],
)
def test_open_items_without_a_column_says_so(
    tmp_path: Path, missing: str, rename: dict[str, str] | None, said: str
) -> None:
    rows = [{name: value for name, value in row.items() if name != missing} for row in rows_of(3)]
    with pytest.raises(InputError, match=said):
        open_items(str(jsonl(tmp_path / "i.jsonl", rows)), task="grade", rename=rename)


@pytest.mark.parametrize("rename", [{"question": "query"}, {"question": "query", "query": "old"}])
def test_open_items_with_renamed_columns_equals_the_whole_file(tmp_path: Path, rename: dict[str, str]) -> None:
    rows: list[Row] = [row | {"question": f"new {n}"} for n, row in enumerate(rows_of(5))]
    if len(rename) == 1:
        rows = [{name: value for name, value in row.items() if name != "query"} for row in rows]
    assert streamed(jsonl(tmp_path / "i.jsonl", rows), rename).items == 5


def test_open_items_of_odd_values_equals_the_whole_file(tmp_path: Path) -> None:
    rows = rows_of(ROWS)
    for row, answer in zip(
        rows[1:], (float("nan"), None, 12, "half \ud800"), strict=False
    ):  # the first as pandas has it
        row["answer"] = answer
    del rows[5]["answer"]
    rows[6]["contexts"] = "one"
    rows[7]["query"] = 10**40
    stream = streamed(jsonl(tmp_path / "i.jsonl", rows))
    assert any(note.startswith("3 rows without an answer") for note in stream.notes)


@pytest.mark.parametrize("form", ["json", "parquet", "tsv"])
def test_open_items_of_another_form_is_read_whole(tmp_path: Path, form: str) -> None:
    rows, path = rows_of(4), tmp_path / f"i.{form}"
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text(json.dumps(rows) if form == "json" else 'query\tanswer\nq1\t"a\nq2\tb" c\n')  # unquoted
    assert streamed(path, regular=False).items == (2 if form == "tsv" else 4)


ANY_ROW = st.fixed_dictionaries(
    {"query": st.text(min_size=1).filter(str.strip)},
    optional={"answer": st.text() | st.none() | st.integers(), "contexts": st.lists(st.text()) | st.text()},
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ANY_ROW, min_size=1, max_size=30))
def test_open_items_of_any_rows_equals_the_whole_file(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row]
) -> None:
    rows[0].setdefault("answer", "a")
    path = jsonl(tmp_path_factory.mktemp("any") / "i.jsonl", rows)
    assert tuple(items_of(open_items(str(path), task="grade"))) == read_item_file(str(path), task="grade").items


CHANGES: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "moved on": lambda path: jsonl(path, rows_of(6)[1:]),
    "damaged": lambda path: path.write_text("{\n" * 9),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:50]),
    # Other texts under the same names: their verdicts would be kept as those of the old texts.
    "edited": lambda path: path.write_text(path.read_text().replace("ici", "ice")),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("twice", [False, True])
def test_read_of_a_file_that_changed_meanwhile_is_refused(tmp_path: Path, change: str, twice: bool) -> None:
    path = jsonl(tmp_path / "i.jsonl", rows_of(5) * (1 + twice))
    stream, before = open_items(str(path), task="grade"), path.read_bytes()
    CHANGES[change](path)
    assert not path.exists() or path.read_bytes() != before
    with pytest.raises(InputError, match="changed while"):
        items_of(stream)


def test_inputs_digest_depends_on_every_input_and_nothing_else() -> None:
    def digest(inputs: Mapping[str, str | tuple[str, ...]], item_id: str = "i") -> bytes:
        return inputs_digest(Item(item_id, "q", inputs))

    texts: list[dict[str, str | tuple[str, ...]]] = [
        {"query": "a", "answer": "b"},
        {"query": "ab", "answer": ""},
        {"query": "b", "answer": "a"},
        {"query": "a", "document": "b"},
        {"query": "a", "answer": "b", "contexts": ("c", "d")},
        {"query": "a", "answer": "b", "contexts": ("cd",)},
        {"query": "a", "answer": "b", "contexts": "cd"},
        {"query": "a", "answer": "b", "contexts": ()},
        {"query": "a|1|b", "answer": "b"},
    ]
    assert len({digest(inputs) for inputs in texts}) == len(texts)
    assert digest({"query": "a", "answer": "b"}) == digest({"answer": "b", "query": "a"}, "j")
    named = [PooledContexts((), (), answers={"answer": f"[P{n}]\ud800"}) for n in (1, 2)]
    pools = [None, PooledContexts((), ()), *named]
    assert len({inputs_digest(Item("i", "q", texts[0], pool=pool)) for pool in pools}) == len(pools)


def test_pieces_do_not_hold_the_items(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        path = tmp_path / f"{count}.jsonl"
        with path.open("w") as file:
            for n in range(count):
                file.write(json.dumps({"query": f"{n}", "answer": "x" * 2000}) + "\n")
        tracemalloc.start()
        for piece in open_items(str(path), task="grade").pieces():
            piece.read()
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    assert peak(8 * ROWS) - peak(2 * ROWS) < 6 * ROWS * 400  # bytes: a fifth of an item


@pytest.mark.parametrize("change", list(CHANGES)[:4])
def test_rows_of_a_file_that_changed_meanwhile_are_refused(tmp_path: Path, change: str) -> None:
    path = jsonl(tmp_path / "i.jsonl", rows_of(5))
    (block,) = open_items(str(path), task="grade").blocks()
    assert block.lines is not None
    CHANGES[change](path)
    for read in (block.lines, block.rows):
        with pytest.raises(InputError, match="changed while"):
            read()


def test_rows_of_a_file_that_grows_meanwhile_are_what_they_were(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "i.jsonl", rows_of(5))
    (block,) = open_items(str(path), task="grade").blocks()
    with path.open("a") as file:
        file.write("{}\n")
    assert block.rows() == rows_of(5)


@pytest.mark.parametrize("name", ["i.jsonl", "i.json"])
def test_blocks_say_whose_row_each_is_and_what_comes_again(tmp_path: Path, name: str) -> None:
    rows = [*rows_of(ROWS + 2), *rows_of(3), rows_of(ROWS + 1)[-1]]
    path = tmp_path / name
    path.write_text(json.dumps(rows) if name == "i.json" else "".join(json.dumps(row) + "\n" for row in rows))
    stream = open_items(str(path), task="grade")
    items: list[int] = []
    for block in stream.blocks():
        items += range(block.first, block.first + block.new) if block.items is None else block.items.tolist()
    assert items == [*range(ROWS + 2), 0, 1, 2, ROWS]
    assert stream.again.tolist() == [0, 1, 2]  # the other one is in the same block
    assert [row for block in stream.blocks() for row in block.rows()] == rows


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
