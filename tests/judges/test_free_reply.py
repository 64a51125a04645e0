"""Replies to prompts that ask for no form of ours."""

import pytest

from judgec.judges.free_reply import grade_text, preference_text
from judgec.judges.reading import UnreadableReplyError
from judgec.records.scale import Scale

SCALE = Scale(grades=(0, 1, 2, 3))


@pytest.mark.parametrize(
    ("reply", "stated"),
    [
        ("3", "3"),
        (" **2** \n", "2"),
        ("I think so. [[1]]", "1"),
        ('```json\n{"reason": "2 of 3", "score": 1}\n```', "1"),
        ("Reasons.\nFinal score: 2 out of 3", "2"),
        ("##final score: 3", "3"),
        ("Score (0-3): 2", "2"),
        ("It deserves a score of 1.", "1"),
        ("a clear 2 out of 3, scoring 2", "2"),
        ("2 stars", "2"),
        ("Three stars. It covers the main points.", "3"),
        ("3\n\nIt answers 7 questions.", "3"),
    ],
)
def test_a_grade_is_read_in_the_forms_that_prompts_ask_for(reply: str, stated: str) -> None:
    assert grade_text(reply, SCALE).strip("*") == stated


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "  ",
        "I cannot grade this.",
        "7",
        "Score: 4",
        "[[1]] or [[2]]",
        "Score: 1\nScore: 2",
        "2 out of 5",
        "from 1 to 3",
    ],
)
def test_a_reply_without_one_grade_is_unscored(reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        grade_text(reply, SCALE)


@pytest.mark.parametrize(
    ("reply", "stated"),
    [
        ("A", "a"),
        ("B is better because it is short.\n\n[[A]]", "a"),
        ("Both are fine. [[C]]", "tie"),
        ("My final verdict is: [[A>>B]]", "a"),
        ("[[B=A]]", "tie"),
        ("[[A<B]]", "b"),
        ('{"reason": "A is long", "winner": "model_b"}', "b"),
        ("Reasons.\nFinal verdict: Assistant A", "a"),
        ("**Winner:** Response 2", "b"),
        ("It is a draw.\nTie", "tie"),
        ("Answer B is clearly better.", "b"),
        ("Preference: neither", "tie"),
    ],
)
def test_a_preference_is_read_in_the_forms_that_prompts_ask_for(reply: str, stated: str) -> None:
    assert preference_text(reply) == stated


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "1",
        "2",
        "8 9",
        "[[D]]",
        "[[A]] or [[B]]",
        "A is better.\nB is better.",
        "A is not better",
        "[[A>A]]",
        "Winner: A or B",
    ],
)
def test_a_reply_without_one_preference_is_unscored(reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        preference_text(reply)


@pytest.mark.parametrize(
    "reply", ["Score: 3 - I refuse to grade", "Score: 3: no", "[[3]] - no", "Score: 3 (not really)"]
)
def test_a_grade_that_its_comment_takes_back_is_none(reply: str) -> None:
    with pytest.raises(UnreadableReplyError, match="taken back"):
        grade_text(reply, SCALE)


def test_the_last_line_of_a_reply_that_was_cut_counts_in_brackets_alone() -> None:
    ten = Scale(grades=tuple(range(11)))
    for reply in ("Score: 1", "Good.\nScore: 1", "1"):
        assert grade_text(reply, ten) == "1"
        with pytest.raises(UnreadableReplyError):
            grade_text(reply, ten, "length")
    assert grade_text("Score: 1\nBecause it", ten, "length") == "1"
    assert grade_text("It is good. [[10]] beca", ten, "length") == "10"
    with pytest.raises(UnreadableReplyError, match="cut"):
        preference_text("Winner: A", "length")
    assert preference_text("[[B]] bec", "length") == "b"
