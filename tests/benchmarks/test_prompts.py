"""The benchmark of prompts: how much of each begins as an earlier one does."""

from benchmarks.prompts import LEAST, STEP, shared


def test_shared_counts_the_longest_beginning_of_any_earlier_prompt_whatever_their_order() -> None:
    prompts = ["abcX", "abY", "abcZ", "abY"]  # nothing, ab, abc, all
    assert list(shared(prompts)) == [(4, 0, 0), (3, 2, 0), (4, 3, 0), (3, 3, 0)]
    assert sum(same for _, same, _ in shared(prompts)) == sum(same for _, same, _ in shared(prompts[::-1]))


def test_a_cache_serves_whole_steps_from_its_least_length_on() -> None:
    long = "x" * (LEAST + STEP + 1)
    assert [cached for *_, cached in shared([long, f"{long}y", long[: LEAST - 1]])] == [0, LEAST + STEP, 0]
