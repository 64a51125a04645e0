import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.table.rows.cells import as_accept, as_grade, as_id, as_text, as_texts, is_missing


@pytest.mark.parametrize(
    ("value", "grade"),
    [
        *((3, 3), (3.0, 3), ("3", 3), ("3.0", 3), (" +3 ", 3), ("-1", -1), ("0.5", 0.5), (True, "true")),
        *(("good ", "good"), ("1e3", "1e3"), ("N/A", None), ("", None), (None, None), (math.nan, None)),
        *((float("inf"), "inf"), (10**400, str(10**400)), ("1" * 400, "inf")),  # beyond any scale: words
    ],
)
def test_grade_is_read_from_numbers_and_text(value: object, grade: object) -> None:
    read = as_grade(value)
    assert read == grade
    assert type(read) is type(grade)


@given(st.integers(-(10**6), 10**6))
def test_whole_grade_is_the_same_however_it_is_written(number: int) -> None:
    assert as_grade(number) == as_grade(float(number)) == as_grade(f"{number}") == as_grade(f"{number}.0") == number


@pytest.mark.parametrize(
    ("value", "word"), [(1, True), (0, False), ("YES", True), ("false", False), (2, None), ("maybe", None)]
)
def test_accept_words(value: int | str, word: bool | None) -> None:
    assert as_accept(value) is word


def test_words_of_a_scale_and_of_other_languages_are_no_accept() -> None:
    assert [as_accept(word) for word in ("correct", "incorrect", "ja", "sí", "good", "up")] == [None] * 6


def test_missing_is_blank_or_nothing_and_never_zero_or_false() -> None:
    assert all(map(is_missing, ("", " \t\n", None, math.nan, [])))
    assert not any(map(is_missing, (0, False, "0", "nan", "None", {})))


def test_other_types_become_text_as_json_writes_them() -> None:
    given = (True, False, 3.0, 7, ["é", None], {"a": 1}, b"caf\xc3\xa9")
    assert [*map(as_text, given)] == ["true", "false", "3.0", "7", '["é", null]', '{"a": 1}', "café"]


def test_identifiers_from_parquet_floats_match_those_from_text() -> None:
    assert [as_id(x) for x in (7, 7.0, " 7", "7.0", "a b")] == ["7", "7", "7", "7.0", "a b"]


@pytest.mark.parametrize(
    ("cell", "texts", "other"),
    [
        *((["a", "", None, 3], ("a", "3"), 1), ('["a", "b"]', ("a", "b"), 0), ("[1]", ("1",), 1), ("[]", (), 0)),
        *(("[see note] text", ("[see note] text",), 0), ("text", ("text",), 0)),
    ],
)
def test_contexts_are_a_list_a_json_list_or_one_text(cell: object, texts: tuple[str, ...], other: int) -> None:
    assert as_texts(cell) == (texts, other)
