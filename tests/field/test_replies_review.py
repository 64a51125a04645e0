"""Replies that a reviewer wrote to be misread."""

import pytest

from judgec.raters.replies import UnreadableReplyError, stated
from judgec.records.scale import Scale
from judgec.records.tasks.spec import PAIR_GRADES

FIVE, YES_NO = (1, 2, 3, 4, 5), ("no", "yes")


@pytest.mark.parametrize(
    ("grades", "reply", "right"),
    [
        (FIVE, "Score: <4", None),
        (FIVE, "The answer lists:\n1\n2\n3", None),
        (FIVE, "The student's final answer was \\boxed{3}, and the right one is \\boxed{5}. Score: 1", "1"),
        (FIVE, "The student's final answer was \\boxed{3}, which is wrong.", None),
        (FIVE, "Score: 5, minus 2 for style", None),
        (FIVE, "Score: 5, I deduct 1 for tone. So 4.", None),
        (FIVE, "Score: 4. No wait, 3.", None),
        (FIVE, "Score: 4. Let me lower this to 3.", None),
        (FIVE, "Score: 3; 2", None),
        (FIVE, "Score: 2 out of ten", None),
        (FIVE, "I would rate it 4, had it not invented a date.", None),
        (("none", "partial", "full"), '{"verdict": null}', None),
        (YES_NO, "No. 1 in the list is right. Yes", None),
        (YES_NO, "Yes, but no.", None),
        (PAIR_GRADES, '{"loser": "B"}', None),
    ],
)
def test_no_reply_is_read_as_another_grade(grades: tuple[int | str, ...], reply: str, right: str | None) -> None:
    try:
        assert stated(reply, Scale(grades=grades)) == right
    except UnreadableReplyError:
        assert right is None
