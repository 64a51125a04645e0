"""A count is put into words that fit it."""

import pytest

from judgec.records.counts import plural


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (plural(1, "row"), "1 row"),
        (plural(0, "row"), "0 rows"),
        (plural(24, "labelled item"), "24 labelled items"),
        (plural(2, "query"), "2 queries"),
        (plural(2, "day"), "2 days"),
        (plural(3, "batch"), "3 batches"),
        (plural(1, "row has", "rows have"), "1 row has"),
        (plural(5, "row has", "rows have"), "5 rows have"),
        (plural(1056, "item"), "1056 items"),
        (plural(1056, "item", thousands=True), "1,056 items"),
        (plural("1", "query"), "1 query"),
        (plural("1,056", "query"), "1,056 queries"),
    ],
)
def test_count_and_its_noun(said: str, words: str) -> None:
    assert said == words
