from dataclasses import replace

import pytest

from judgec.compile.search.auto import Auto
from judgec.compile.search.mined import LOOKS
from judgec.compile.search.task import Sizes
from judgec.lm.executor import Progress
from tests.compile.search.world import world
from tests.service.fake_openai import FakeOpenAI

SIZES = Sizes(slices=(15, 35, 65, 100), pool=50, room=None, reflection=True)


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


@pytest.mark.parametrize("room", [0, 50, 120, 260, 500, 1000, 3000])
def test_auto_effort_with_its_final_race_fits_the_room(room: int) -> None:
    sizes = replace(SIZES, room=room)
    effort = Auto().effort(sizes)
    assert sizes.fits(effort)
    mining = replace(sizes, reasons=9)
    assert mining.fits(Auto().effort(mining))
    assert (effort.candidates > 0) == (room >= 200)  # the uncompiled judge and one set on all of dev


def test_auto_effort_spends_a_small_room_on_demonstrations_and_shares_a_large_one() -> None:
    assert Auto().effort(replace(SIZES, room=260)).reflections == 0
    assert Auto().effort(replace(SIZES, room=1500)).reflections > 0
    assert Auto().effort(SIZES).reflections == 10
    assert Auto().effort(replace(SIZES, reasons=9)).reflections == 10 + 7 * LOOKS
    assert Auto().effort(replace(SIZES, reasons=9)).judgments < Auto().effort(SIZES).judgments
    assert Auto().effort(replace(SIZES, reflection=False)).reflections == 0
