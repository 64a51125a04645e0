from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from judgec.compile.search.candidates import first_predictor
from judgec.compile.search.demonstrations import (
    BOOTSTRAPPED,
    LABELLED,
    LEAST_ROOM,
    LEFT_OUT,
    SET_SIZES,
    SHARE,
    WINDOW,
    Demonstrations,
    condensed,
    demonstration_sets,
    room_of,
)
from judgec.compile.search.task import Sizes, Task
from judgec.records.label import Item
from judgec.records.scale import ACCEPT_SCALE
from tests.compile.search.world import world
from tests.service.fake_openai import FakeOpenAI
from tests.service.ranking_world import grader


@pytest.fixture(scope="module")
def task() -> Iterator[Task]:
    with FakeOpenAI(grader) as server, world(server.base_url, seed=0, items=120) as found:
        yield found.task()


def test_sets_alternate_in_kind_grow_in_size_and_name_their_queries(task: Task) -> None:
    sets = list(demonstration_sets(task, (LABELLED, BOOTSTRAPPED), 6))
    assert [found.name for found in sets] == [
        f"{kind}-{turn}" for turn in (1, 2, 3) for kind in ("labelled", "bootstrapped")
    ]
    sizes = [found.settings["demonstrations"] for found in sets if found.settings["kind"] == LABELLED]
    assert sizes == list(SET_SIZES)
    for found in sets:
        demos = first_predictor(found.module).demos
        assert len(demos) == len(found.queries) == len(set(found.queries))
        shown = {item.query_id: item.text("answer") for item in task.train.items}
        assert not {query for query in found.queries if query not in shown}


def test_bootstrapped_demonstrations_are_items_that_the_judge_got_right(task: Task) -> None:
    right = {
        item.text("answer")
        for i, item in enumerate(task.train.items)
        if task.verdicts.grade[i, 0] == task.train.experts.grade[i, 0]
    }
    assert len(right) < len(task.train)
    for found in demonstration_sets(task, (BOOTSTRAPPED,), 4):
        for demo in first_predictor(found.module).demos:
            assert demo.answer.removeprefix("> ") in right
            assert demo.reason == "as the rules say"


def test_labelled_demonstrations_carry_the_experts_reason_and_every_grade_in_turn(task: Task) -> None:
    found = next(iter(demonstration_sets(task, (LABELLED,), 1)))
    demos = first_predictor(found.module).demos
    assert {demo.reason for demo in demos} == {"Worth what its stars say."}
    assert len({demo.grade for demo in demos}) == len(np.unique(task.train.experts.grade))


def test_sets_depend_on_the_seed_alone(task: Task) -> None:
    one, same = (list(demonstration_sets(task, (LABELLED,), 5)) for _ in range(2))
    other = list(demonstration_sets(replace(task, seed=1), (LABELLED,), 5))
    assert [found.queries for found in one] == [found.queries for found in same]
    assert [found.queries for found in one] != [found.queries for found in other]


def test_labels_of_accepts_alone_make_demonstrations_too(task: Task) -> None:
    accepts = replace(task, scale=ACCEPT_SCALE, accept_only=True)
    found = next(iter(demonstration_sets(accepts, (LABELLED,), 1)))
    assert {demo.grade for demo in first_predictor(found.module).demos} == {0, 1}


def test_effort_is_as_many_sets_as_a_race_has_room_for() -> None:
    sizes = Sizes(slices=(15, 35, 65, 100), pool=50, room=590, reflection=False)
    assert Demonstrations((LABELLED,)).effort(sizes).candidates == 15


def test_condensed_item_keeps_the_part_of_the_passage_that_decides_and_the_numbers_of_the_others() -> None:
    filler = "The market of the town is on Fridays. " * 40
    decisive = "The lighthouse was built in 1874."
    item = Item(
        "i",
        "q",
        {
            "query": "How old is the town's lighthouse?",
            "answer": "It is of 1874, as it was built then [2].",
            "contexts": (filler, f"{filler}{decisive} {filler}", "Fish is sold."),
        },
    )
    found = condensed(item)
    first, second, third = found.texts("contexts")
    assert (first, third) == (LEFT_OUT, LEFT_OUT)
    assert decisive in second
    assert second.startswith("… ")
    assert second.endswith(" …")
    assert len(second) <= WINDOW + 4
    assert (found.text("query"), found.text("answer")) == (item.text("query"), item.text("answer"))
    assert condensed(found) == found


def test_condensed_document_keeps_the_part_that_is_nearest_to_the_query_and_short_items_stay() -> None:
    query, filler = "How deep is the harbour?", "Gulls fly. " * 90
    ending = Item("i", "q", {"query": query, "document": f"{filler}The harbour is 9 m deep."})
    short = Item("j", "q", {"query": query, "document": "The harbour is 9 m deep.", "contexts": ("It is.", "Yes.")})
    assert condensed(ending).text("document").endswith("The harbour is 9 m deep.")
    assert len(condensed(ending).text("document")) <= WINDOW + 2
    assert condensed(short) == short


def test_demonstrations_are_a_share_of_the_prompt_and_short_ones_have_some_room(task: Task) -> None:
    predict = first_predictor(task.module)
    long = [Item(str(n), str(n), {"query": "?", "answer": "a" * 70_000}) for n in range(3)]
    room, whole = room_of(predict, long), 70_001
    assert room_of(predict, task.train.items) == LEAST_ROOM
    assert room / (room + whole + len(predict.signature.instructions)) == pytest.approx(SHARE, abs=0.01)
    for found in demonstration_sets(task, (LABELLED,), 3):
        demos = first_predictor(found.module).demos
        assert sum(len(demo.query) + len(demo.answer) for demo in demos) <= LEAST_ROOM + 16 * 10
