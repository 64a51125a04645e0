import pytest

from judgec.connect.scores.registry import TOOLS
from judgec.errors import InputError, UserError
from judgec.table.rows.columns import EXPORTED, as_names, as_rename, infer_task, nested
from judgec.table.table import Row, Table


def table(*columns: str) -> Table:
    return Table("t.csv", columns, ({},), (2,))


@pytest.mark.parametrize(
    ("columns", "task"),
    [
        ("query answer grade", "grade"),
        ("query answer accept reference", "grade"),
        ("query document grade", "relevance"),
        ("query answer grade.fit", "answer"),
        ("query answer grade grade.fit", "answer"),
        ("query answer_a answer_b preference answer grade", "preference"),
        ("query answer outcome", "rejection"),
    ],
)
def test_task_is_inferred_from_columns(columns: str, task: str) -> None:
    assert infer_task(table(*columns.split()))[0] == task


@pytest.mark.parametrize(
    ("columns", "advice"),
    [
        ("Query answer grade", "--map Query=query."),
        ("query response grade", "--map response=answer."),
        ("query answer score", r"--map THEIR_COLUMN=grade, .* --annotators A,B\."),
        ("query answer_a answer_b winner", "--map THEIR_COLUMN=preference."),
        ("query answer alice bob", r"--map THEIR_COLUMN=grade, .* --annotators A,B\."),
    ],
)
def test_columns_that_fit_no_task_get_advice_in_their_own_names(columns: str, advice: str) -> None:
    with pytest.raises(InputError, match=f"{advice} judgec init t.csv "):
        infer_task(table(*columns.split()))


def test_map_pairs_split_at_the_last_equals_sign() -> None:
    assert as_rename(["question=query", "a=b=answer"]) == {"question": "query", "a=b": "answer"}
    for pairs in (["query"], ["=query"], ["a="], ["a=query", "a=answer"]):
        with pytest.raises(UserError, match="--map"):
            as_rename(pairs)


def test_names_are_split_and_trimmed() -> None:
    assert (as_names(" alice, bob,"), as_names(None)) == (("alice", "bob"), ())
    with pytest.raises(UserError, match="--annotators"):
        as_names(" , ")


@pytest.mark.parametrize(
    ("row", "tool"),
    [
        ({"id": "1", "fields": {"q": "a"}, "responses": {"grade": [{"value": 3}]}, "_server_id": "x"}, "argilla"),
        ({"id": "1", "run_type": "chain", "inputs": {"q": "a"}}, "langsmith"),
        ({"q1.responses": [3], "_server_id": "x"}, "argilla"),  # flat
        ({"said": {"by": "Mia"}}, "other"),
    ],
)
def test_rows_that_hold_objects_name_the_import_that_reads_them(row: Row, tool: str) -> None:
    with pytest.raises(InputError, match=rf"judgec labels import OUT\.jsonl {tool}:my\.json"):
        infer_task(Table("my.json", tuple(row), (row,), (1,)))


def test_tools_of_exports_are_those_that_import_reads() -> None:
    assert set(EXPORTED) <= set(TOOLS)


def test_list_of_documents_is_no_export() -> None:
    row: Row = {"query": "q", "contexts": [{"id": "1", "text": "t"}]}
    assert not nested(Table("my.json", tuple(row), (row,), (1,)))
