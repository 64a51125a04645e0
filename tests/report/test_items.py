"""Items of a page: the most worth reading are embedded, and what supports an answer is marked."""

import json

from judgec.evidence.text import read
from judgec.report.items import BrowsedItem, embedded, item_lines, marked_parts, shown_texts
from judgec.report.kit import script_data
from tests.pace import assert_within, cpu_seconds


def item(n: int, *, expert: int = 1, judge: int | None = 1, sure: float = 0.9, text: str = "short") -> BrowsedItem:
    unscored = "no reply" if judge is None else None
    far = 0.0 if judge is None else abs(expert - judge) / 4
    grades: tuple[dict[str, object], dict[str, object]] = ({"": expert}, {"": judge})
    texts = {"query": (f"query {n}",), "answer": (text,), "contexts": (text, "other")}
    scores = {"": None if judge is None else float(judge)}
    return BrowsedItem(f"i{n}", f"q{n}", None, None, *grades, scores, sure, far, unscored, "why", (), texts)


def test_marked_parts_are_what_the_answer_says_too_and_nothing_is_lost() -> None:
    text = "The castle, built in 1242, has no roof."
    parts = marked_parts(text, read("It was built in 1242."))
    assert "".join(parts) == text
    assert parts[1::2] == ["built in 1242"]  # "in" stands within a copied run; "the" and "no" support nothing


def test_embedded_items_are_unscored_then_far_then_unsure() -> None:
    items = [item(0), item(1, sure=0.2), item(2, judge=2), item(3, judge=5), item(4, judge=None)]
    held = json.loads(str(embedded(items)["data"]))
    assert [one["item_id"] for one in held["items"]] == ["i4", "i3", "i2", "i1", "i0"]
    assert held["left_out"] == 0


def test_a_hundred_thousand_items_stay_small_and_all_are_in_the_lines() -> None:
    items = [item(n, judge=1 + n % 5, text=f"answer {n} " * 20) for n in range(100_000)]
    assert_within(5, lambda: cpu_seconds(lambda: embedded(items)))
    shown = embedded(items)
    assert sum(1 for _ in item_lines(items)) == 100_000
    assert len(str(shown["data"]).encode()) < 2_000_000
    assert shown["left_out"] == 100_000 - len(json.loads(str(shown["data"]))["items"])


def test_data_cannot_end_its_block_and_comes_back_as_it_was() -> None:
    hostile = "</script><!--<script>&\u2028\u2029\0"
    made = str(script_data({"a": hostile}))
    assert not set("<>&\u2028\u2029\0") & set(made)
    assert json.loads(made) == {"a": hostile}


def test_turns_of_a_conversation_stand_beside_who_spoke_them() -> None:
    before = ("user: Is it red?", "tool (search): red: 3", "assistant: Yes.")
    shown = shown_texts({"query": ("user: Sure?",), "conversation": before, "answer": ("assistant: No.",)}, (), "f")
    told = ["conversation", [["Is it red?"], ["red: 3"], ["Yes."]], ["user", "tool (search)", "assistant"]]
    assert shown == [["query", [["user: Sure?"]]], told, ["answer", [["assistant: No."]]]]
    whole = shown_texts({"answer": ("user: Hi.", "assistant: Hello."), "dialogue": ("2 turns",)}, (), "f")
    assert whole == [["answer", [["Hi."], ["Hello."]], ["user", "assistant"]], ["dialogue", [["2 turns"]]]]
