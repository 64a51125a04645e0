from judgec.labels.split.swapped_pairs import with_swapped_together
from judgec.records.label import Item, LabelSet, Task
from judgec.records.tasks.preference import PREFERENCE_SCALE


def labels(*rows: tuple[str, str, str, str], task: Task = "preference") -> LabelSet:
    items = tuple(
        Item(f"i{k}", query_id, {"query": query, "answer_a": a, "answer_b": b})
        for k, (query_id, query, a, b) in enumerate(rows)
    )
    return LabelSet(task, PREFERENCE_SCALE, ("grade",), items, (), False, "digest")


def queries(found: LabelSet) -> list[str]:
    return [item.query_id for item in found.items]


def test_mirrored_copies_and_all_that_they_connect_share_one_query() -> None:
    rows = [
        ("r3", "?", "x", "y"),
        ("r2", "?", "y", "x"),
        ("r2", "?", "u", "v"),
        ("r1", "?", "v", "u"),
        ("r0", "?", "x", "z"),
    ]
    assert queries(with_swapped_together(labels(*rows))) == ["r1", "r1", "r1", "r1", "r0"]


def test_pairs_of_other_questions_and_other_tasks_keep_their_queries() -> None:
    apart = labels(("r1", "?", "x", "y"), ("r2", "!", "y", "x"))
    assert with_swapped_together(apart) is apart
    graded = labels(("r1", "?", "x", "y"), ("r2", "?", "y", "x"), task="grade")
    assert with_swapped_together(graded) is graded


def test_same_words_in_other_conversations_are_no_copies() -> None:
    """ "Which colour?" - "Red." after an order of another chair is another question."""
    said = ("a red chair", "a blue chair")
    items = tuple(
        Item(
            f"i{k}",
            f"r{k}",
            {
                "query": "?",
                "answer_a": a,
                "answer_b": b,
                "conversation_a": (before,),
                "conversation_b": (before,),
            },
        )
        for k, (before, a, b) in enumerate([(said[0], "x", "y"), (said[1], "x", "y"), (said[1], "y", "x")])
    )
    found = with_swapped_together(LabelSet("preference", PREFERENCE_SCALE, ("grade",), items, (), False, "digest"))
    assert queries(found) == ["r0", "r1", "r1"]
