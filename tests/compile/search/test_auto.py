from dataclasses import replace

import pytest

from benchmarks import planted
from judgec.compile.search.auto import Auto
from judgec.compile.search.demonstrations import N_SETS
from judgec.compile.search.mined import LOOKS
from judgec.compile.search.reflection import ROUNDS
from judgec.compile.search.task import Effort, Sizes
from judgec.lm.executor import Progress
from tests.compile.search.world import world
from tests.service.fake_openai import FakeOpenAI


class UserChoices:
    """A watch that remembers."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def stage(self, name: str, detail: str = "") -> None:
        """Not of interest."""

    def note(self, text: str) -> None:
        self.notes.append(text)

    def waiting(self, text: str) -> None:
        """Not of interest."""

    def progress(self, progress: Progress) -> None:
        """Not of interest."""


def test_auto_without_a_reflection_model_tries_demonstrations_and_says_what_it_left_out(server: FakeOpenAI) -> None:
    said = UserChoices()
    with world(server.base_url, seed=0, items=60) as found:
        task = replace(found.task(), reflection=None, watch=said)
        candidates = Auto().search(task)
    assert len(candidates) > 8
    assert not any(candidate.reflected for candidate in candidates)
    assert said.notes == [f"auto: no reflection, because {task.no_reflection}"]


def test_auto_rewrites_the_instructions_of_the_best_demonstrations(server: FakeOpenAI) -> None:
    with world(server.base_url, seed=4, items=60) as found:
        task = found.task()
        module = task.module
        candidates = Auto().search(task)
        ranked = {name: standing.value for name, (_, standing) in task.standings.items()}
    best = candidates[0]
    assert ranked[best.name] == max(ranked.values())
    for candidate in candidates[1:]:
        if candidate.name == "mined":  # runs again in the last race
            continue
        assert candidate.settings["start"] == best.name
        assert candidate.queries == best.queries
    assert module.demos == []


def test_auto_effort_is_mining_the_first_race_and_the_rewrites_after_it() -> None:
    sizes = Sizes(slices=(15, 35, 65, 100), pool=50, reflection=True)
    mining = replace(sizes, reasons=9)
    assert Auto().effort(sizes).reflections == ROUNDS
    assert Auto().effort(mining).reflections == ROUNDS + 7 * LOOKS
    assert Auto().effort(mining).judgments < Auto().effort(sizes).judgments
    assert Auto().effort(replace(sizes, reflection=False)) == Effort(0, 0, N_SETS)


@pytest.mark.parametrize(("room", "rewrites"), [(40, False), (150, True)])
def test_auto_rewrites_as_long_as_a_minibatch_and_a_dev_round_fit_and_says_why_not(
    server: FakeOpenAI, room: int, rewrites: bool
) -> None:
    said = UserChoices()
    with world(server.base_url, seed=0, items=120) as found:
        task = replace(found.task(), watch=said)
        before = found.session.spent.calls
        task = replace(task, room=lambda: room - (found.session.spent.calls - before))
        Auto().search(task)
        assert found.session.spent.calls - before <= room
    assert any("no reflection" in note for note in said.notes) != rewrites
    assert any("more calls would be for" in note for note in said.notes) == rewrites


@pytest.mark.full
@pytest.mark.parametrize(("world_name", "labels"), [("steps", 200), ("unsaid", 200), ("steps", 500)])
def test_auto_within_700_calls_finds_what_takes_three_rewrites_in_a_row_with_any_number_of_labels(
    world_name: str, labels: int
) -> None:
    found = planted.run(world_name, labels, "auto", 0, 700)
    assert found.calls <= 700
    assert found.qwk > 0.93  # with every criterion .966, with four of five .78
