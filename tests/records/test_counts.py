"""A count is put into words that fit it."""

import pytest

from judgec.records.counts import plural


@pytest.mark.parametrize(
    ("given", "words"),
    [
        *(((1, "row"), "1 row"), ((0, "row"), "0 rows"), ((24, "labelled item"), "24 labelled items")),
        *(((2, "query"), "2 queries"), ((2, "day"), "2 days"), ((3, "batch"), "3 batches")),
        *(((1, "row has", "rows have"), "1 row has"), ((5, "row has", "rows have"), "5 rows have")),
        *(((1056, "item"), "1056 items"), (("1", "query"), "1 query"), (("1,056", "query"), "1,056 queries")),
    ],
)
def test_count_and_its_noun(given: tuple[str, ...], words: str) -> None:
    assert plural(*given) == words
    assert plural(1056, "item", thousands=True) == "1,056 items"
