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
    rows = [("r3", "xy"), ("r2", "yx"), ("r2", "uv"), ("r1", "vu"), ("r0", "xz")]
    found = with_swapped_together(labels(*((query_id, "?", *sides) for query_id, sides in rows)))
    assert queries(found) == ["r1", "r1", "r1", "r1", "r0"]


def test_pairs_of_other_questions_and_other_tasks_keep_their_queries() -> None:
    apart = labels(("r1", "?", "x", "y"), ("r2", "!", "y", "x"))
    graded = labels(("r1", "?", "x", "y"), ("r2", "?", "y", "x"), task="grade")
    for one in (apart, graded):
        assert with_swapped_together(one) is one


def test_same_words_in_other_conversations_are_no_copies() -> None:
    """ "Which colour?" - "Red." after an order of another chair is another question."""
    items = []
    for k, (before, a, b) in enumerate(
        [("a red chair", "x", "y"), ("a blue chair", "x", "y"), ("a blue chair", "y", "x")]
    ):
        said: dict[str, str | tuple[str, ...]] = {
            "query": "?",
            "answer_a": a,
            "answer_b": b,
            "conversation_a": (before,),
            "conversation_b": (before,),
        }
        items.append(Item(f"i{k}", f"r{k}", said))
    found = with_swapped_together(LabelSet("preference", PREFERENCE_SCALE, ("grade",), tuple(items), (), False, ""))
    assert queries(found) == ["r0", "r1", "r1"]
