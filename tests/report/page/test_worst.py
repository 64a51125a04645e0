"""The worst disagreements: turns of a conversation stand one below the other, each with who spoke."""

from judgec.records.label import Item, Text
from judgec.records.scale import Scale
from judgec.report.page.worst import MOST_OF_TURNS, Disagreement, worst_cards

SCALE = Scale(name="grade", grades=(1, 2, 3))


def card(turns: tuple[str, ...]) -> str:
    inputs: dict[str, Text] = {"query": "Sure?", "conversation": turns, "answer": "user: <b>No.</b>"}
    item = Item("i", "q", inputs)
    return str(worst_cards([Disagreement(item, (), {"grade": 1}, {"grade": 3}, {"grade": 2.5}, "", 1.0)], SCALE))


def test_turns_show_who_speaks_and_other_texts_stay_as_they_are() -> None:
    shown = card(("user: Is it <i>red</i>?", "tool (search): red: 3"))
    assert "<div class=turn><b>user</b>Is it &lt;i&gt;red&lt;/i&gt;?</div>" in shown
    assert "<div class=turn><b>tool (search)</b>red: 3</div>" in shown
    assert "user: &lt;b&gt;No.&lt;/b&gt;" in shown  # an answer that only looks like a turn


def test_long_conversation_shows_its_end_and_says_what_is_left_out() -> None:
    turns = tuple(f"user: {number:03} {'x' * 1000}" for number in range(20))
    shown = card(turns)
    assert "019 xxx" in shown
    assert "000 xxx" not in shown
    kept = shown.count("class=turn")
    assert kept == MOST_OF_TURNS // 1004
    assert f"({20 - kept} earlier turns are in items.jsonl)" in shown
