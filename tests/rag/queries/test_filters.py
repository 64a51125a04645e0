"""Numbers and dates in texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.rag.queries.filters import DATE, has_date, has_number, passing
from judgec.rag.retrieval.passages import Passage

DATES = (
    "of 14 May 2024|in March 2019|on June 1 , 2018|2024-05-14|on 1.2.2020|in 1975 .|at 9:30 am|at 5 pm|until 17:45|"
    "um 9.30 Uhr|in july, 1959|on august 22|may 15, 1958|as early as 1909"
)
OTHERS = "may contain|1 to 10 bar|model 2000X|the march on|equation 12 may be|of march 5|24 V DC|1,234"


@pytest.mark.parametrize("text", DATES.split("|"))
def test_has_date_finds_dates_and_times(text: str) -> None:
    assert has_date(text)


@pytest.mark.parametrize("text", OTHERS.split("|"))
def test_has_date_leaves_other_figures_alone(text: str) -> None:
    assert not has_date(text)


@pytest.mark.parametrize(
    ("text", "has"),
    [("5 ms", True), ("±0.25 %", True), ("on 14 May 2024", False), ("part FH-SEAL-15", False), ("no figure", False)],
)
def test_has_number_looks_for_figures_that_are_no_dates(text: str, *, has: bool) -> None:
    assert has_number(text) is has


@pytest.mark.parametrize("time", ["17:45", "10.15 a.m.", "9.30 Uhr", "9:30-17:00", "06:05:30", "14 May 2024"])
def test_date_matches_a_date_or_time_whole_and_no_number_is_in_it(time: str) -> None:
    found = DATE.search(f"It opens at {time} on Fridays.")
    assert found is not None
    assert found.group() == time
    assert not has_number(f"It opens at {time} on Fridays.")


@given(st.lists(st.text(max_size=40), max_size=8))
def test_passing_keeps_order_and_drops_nothing_that_passes(texts: list[str]) -> None:
    chunks = [Passage(str(n), "d", text) for n, text in enumerate(texts)]
    for wanted, test in (("number", has_number), ("date", has_date)):
        kept = passing(chunks, wanted)  # type: ignore[arg-type]  # both are filters
        assert kept == [chunk for chunk in chunks if test(chunk.text)]
    assert passing(chunks, "none") == [chunk for chunk in chunks if chunk.text.strip()]
