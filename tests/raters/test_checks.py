"""What a model says of claims: which lines are read, where claims and sentences stand, what becomes of it."""

import math

import pytest

from judgec.raters.checks import CITATIONS, CLAIMS, checked_by, details_of, read_lines, told_of
from judgec.records.label import Item

ITEM = Item(
    "i",
    "q",
    {
        "query": "What is known of the harbour?",
        "answer": "The harbour was opened in 1920. It is deep.",
        "contexts": ("Fish is sold here.", "The harbour was\nopened in 1927. It is deep."),
        "nuggets": ("vital: The harbour was opened in 1927.",),
    },
)
SAID = """Here are the claims:
1. contradicted | The harbour was opened in 1920. | The harbour was opened in 1927.
- **Supported** | it is deep | "It is deep."
not_found | It is new | none
"""


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("supported | It is deep. | It is deep.", ("supported", "It is deep.", "It is deep.")),
        ("* NOT SUPPORTED | It is deep. |", ("not found", "It is deep.", "")),
        ("| contradicted | It is deep | It is shallow |", ("contradicted", "It is deep", "It is shallow")),
        ("perhaps | It is deep | It is deep", None),
        ("supported |  | It is deep", None),
        ("It is supported by everything.", None),
    ],
)
def test_line_with_a_verdict_and_a_claim_is_read_and_no_other(line: str, read: tuple[str, str, str] | None) -> None:
    assert read_lines(line) == ([] if read is None else [read])


def test_claims_and_sentences_have_the_places_where_they_stand() -> None:
    first, second, third = checked_by(CLAIMS, ITEM, SAID)
    assert (first.verdict, first.start, first.end) == ("contradicted", 0, 30)
    assert (first.source, first.number) == ("contexts", 2)
    assert (second.text, second.verdict) == ("It is deep", "supported")
    assert (third.verdict, third.start, third.source) == ("not found", -1, "")


def test_sentence_that_a_model_invented_stands_nowhere() -> None:
    (claim,) = checked_by(CLAIMS, ITEM, "supported | It is deep | Everybody knows that it is deep.")
    assert (claim.sentence, claim.source) == ("Everybody knows that it is deep.", "")
    assert told_of(CLAIMS, [ITEM], ["supported | It is deep | Everybody knows."])["told"][0, -1] == 0.0


def test_citation_that_a_model_did_not_find_is_of_the_document_that_was_cited() -> None:
    item = Item("i", "q", {"query": "?", "answer": "It is deep [2].", "contexts": ("It is deep.", "Fish.")})
    (claim,) = checked_by(CITATIONS, item, "not found | It is deep | ")
    assert (claim.source, claim.number, claim.start) == ("contexts", 2, 0)


def test_told_are_shares_of_the_claims_or_nothing() -> None:
    told = told_of(CLAIMS, [ITEM, ITEM], [SAID, "No claims at all."])["told"]
    assert told[0].tolist() == pytest.approx([math.log1p(3), 1 / 3, 1 / 3, 1 / 3, 1.0])
    assert all(map(math.isnan, told[1]))


RUBRIC = Item(
    "i", "q", {"query": "?", "answer": "It is deep.", "nuggets": ("+3: It is deep.", "okay: It is old.", "It is wide.")}
)


def test_lines_of_nuggets_are_read_by_number() -> None:
    said = "supported | It is deep | \n- Missing | 1 |\npartly given | nugget 2 | It is deep.\nmet | 3 | It is deep."
    (row,) = details_of(CLAIMS, [RUBRIC], [said])
    assert [(one["verdict"], one["sentence"]) for one in listed(row["found_nuggets"])] == [
        ("not found", None),
        ("partly supported", "It is deep."),
        ("supported", "It is deep."),
    ]
    assert row["nugget_recall"] == pytest.approx((0.5 * 0.5 + 1) / (3 + 0.5 + 1))
    told = told_of(CLAIMS, [RUBRIC], [said])["rubric"][0].tolist()
    assert told == pytest.approx([1.25 / 4.5, 1 / 4, 1 / 3, 0.0])


def test_lines_that_leave_a_nugget_out_tell_of_none() -> None:
    (row,) = details_of(CLAIMS, [RUBRIC], ["missing | 1 |\nmissing | 2 |\nmissing | 4 |"])
    assert (row["found_nuggets"], row["vital_recall"], row["nugget_recall"]) == (None, None, None)
    assert all(map(math.isnan, told_of(CLAIMS, [RUBRIC], ["missing | 1 |"])["rubric"][0]))


def listed(found: object) -> list[dict[str, object]]:
    assert isinstance(found, list)
    return found


def test_lines_that_cannot_be_read_give_no_claims_and_none_that_there_are_none() -> None:
    read, unread, none = (row["claims"] for row in details_of(CLAIMS, [ITEM] * 3, [SAID, "A good answer.", "None."]))
    assert len(listed(read)) == 3
    assert (unread, none) == (None, [])
    assert details_of(CITATIONS, [ITEM], [""]) == [{"claims": None}]


def test_nuggets_of_an_empty_answer_are_not_found() -> None:
    (found,) = details_of(CLAIMS, [Item("i", "q", {**ITEM.inputs, "answer": ""})], [""])
    assert found["claims"] == []
    assert found["vital_recall"] == 0.0
    assert found["nugget_recall"] == 0.0
