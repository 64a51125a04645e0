"""One candidate ranks perfectly but is harsh by one grade, one matches often but ranks badly: who finds the better?"""

import pytest

from judgec.compile.search.registry import NONE, OPTIMIZERS
from tests.compile.search import plain
from tests.compile.search.world import SCALE, world
from tests.service.fake_openai import FakeOpenAI
from tests.service.ranking_world import LENIENT, STRICT


@pytest.fixture
def url(server: FakeOpenAI) -> str:
    return server.base_url


def ours(url: str, optimizer: str, seed: int, items: int) -> tuple[str, float]:
    """The style that was chosen, and its tau-b on the test items."""
    with world(url, seed=seed, optimizer=optimizer, items=items) as found:
        chosen = found.choose().chosen
        task, test = found.task(), found.dataset.test
        return found.style_of(chosen.module), task.value(test, task.judge(chosen.module, test))


def theirs(url: str, optimizer: str, seed: int, items: int) -> tuple[str, float]:
    with world(url, seed=seed, items=items) as found:
        part, session = found.dataset, found.session
        module = plain.run(
            optimizer,
            found.module,
            part.train,
            part.dev,
            SCALE,
            lm=session.lm,
            reflection=session.reflection,
            seed=seed,
        )
        task = found.task()
        return found.style_of(module), task.value(part.test, task.judge(module, part.test))


@pytest.mark.parametrize("optimizer", sorted({*OPTIMIZERS} - {NONE}))
def test_each_optimizer_chooses_the_judge_that_ranks_better(url: str, optimizer: str) -> None:
    for seed in range(2):
        style, tau_b = ours(url, optimizer, seed, items=75)
        assert style == STRICT
        assert tau_b == pytest.approx(1)


def test_plain_gepa_with_exact_match_chooses_the_judge_that_ranks_worse(url: str) -> None:
    style, tau_b = theirs(url, "GEPA", seed=0, items=75)
    assert style == LENIENT
    assert tau_b < 0.7


@pytest.mark.soak
@pytest.mark.parametrize("optimizer", sorted({*OPTIMIZERS} - {NONE}))
def test_each_optimizer_over_ten_seeds_chooses_the_judge_that_ranks_better(url: str, optimizer: str) -> None:
    found = [ours(url, optimizer, seed, items=240)[0] for seed in range(10)]
    assert found.count(STRICT) >= 9


@pytest.mark.soak
@pytest.mark.parametrize("optimizer", sorted(plain.PLAIN))
def test_plain_dspy_with_exact_match_over_ten_seeds_does_not(url: str, optimizer: str) -> None:
    found = [theirs(url, optimizer, seed, items=240)[0] for seed in range(10)]
    assert found.count(STRICT) <= 1
