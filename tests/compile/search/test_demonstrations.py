from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from judgec.compile.search.candidates import first_predictor
from judgec.compile.search.demonstrations import BOOTSTRAPPED, LABELLED, SET_SIZES, Demonstrations, demonstration_sets
from judgec.compile.search.task import Sizes, Task
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
