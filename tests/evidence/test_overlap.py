import itertools
from collections import Counter
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.evidence.overlap import (
    contains_run,
    cosine,
    f1,
    fragments,
    gram_orders,
    lcs,
    ratio,
    resemblance,
    soft_support,
    support,
    supports,
)
from judgec.evidence.text import Trigrams, read

WORDS = st.lists(st.sampled_from(["ape", "bee", "cow", "doe"]), max_size=12)


def weight_two_for_bee(stem: str) -> float:
    return 2.0 if stem == "bee" else 1.0


def plain_lcs(a: list[str], b: list[str]) -> int:
    """Textbook dynamic programme: the second implementation."""
    row = [0] * (len(b) + 1)
    for x in a:
        previous = row[:]
        for j, y in enumerate(b):
            row[j + 1] = previous[j] + 1 if x == y else max(previous[j + 1], row[j])
    return row[-1]


def stands_in(needle: list[str], stems: list[str]) -> bool:
    return any(stems[i : i + len(needle)] == needle for i in range(len(stems) - len(needle) + 1))


@given(WORDS, WORDS)
def test_lcs_random_words_equals_dynamic_programme(a: list[str], b: list[str]) -> None:
    passage = read(" ".join(b))
    assert lcs(a, passage) == plain_lcs(a, passage.stems)


@given(WORDS, WORDS)
def test_contains_run_random_words_equals_scan(a: list[str], b: list[str]) -> None:
    passage = read(" ".join(b))
    assert contains_run(a, passage) == (bool(a) and stands_in(a, passage.stems))


@given(WORDS, WORDS)
def test_gram_orders_random_words_equal_scan(a: list[str], b: list[str]) -> None:
    passage = read(" ".join(b))
    wanted = []
    for end in range(1, len(a) + 1):
        orders = [n for n in (1, 2, 3, 4) if n <= end and stands_in(a[end - n : end], passage.stems)]
        wanted.append(max(orders, default=0))
    assert gram_orders(a, passage) == wanted


def test_fragments_hand_worked_copy_is_read_greedily() -> None:
    passage = read("the cat sat on the mat")
    # "the cat" copied, "dog" not, "sat on the" copied, "cat" alone.
    assert fragments(["the", "cat", "dog", "sat", "on", "the", "cat"], passage) == [2, 3, 1]


def test_support_weighted_share_and_empty_value() -> None:
    known = {"ape": 1, "bee": 1}
    assert support(["ape", "bee", "cow"], known, weight_two_for_bee, 0.5) == pytest.approx(3 / 4)
    assert support([], known, weight_two_for_bee, 0.5) == 0.5


def test_soft_support_near_word_counts_by_its_resemblance() -> None:
    # european / europ share eu ur ro op: 2 * 4 / (7 + 4) = 8/11.
    passage = read("zebra")
    passage.by_prefix["eu"] = "europ"
    assert resemblance("european", "europ") == pytest.approx(8 / 11)
    assert soft_support(["european"], passage, lambda _: 1.0, 0.0) == pytest.approx(8 / 11)
    assert soft_support(["walrus"], passage, lambda _: 1.0, 0.0) == 0.0


@given(WORDS, WORDS)
def test_supports_are_support_soft_support_and_the_heaviest_that_is_missing(a: list[str], b: list[str]) -> None:
    passage = read(" ".join(b))
    missing = [weight_two_for_bee(stem) for stem in a if stem not in passage.vocabulary]
    assert supports(a, passage, weight_two_for_bee, 0.25) == (
        support(a, passage.vocabulary, weight_two_for_bee, 0.25),
        soft_support(a, passage, weight_two_for_bee, 0.25),
        max(missing, default=0.0),
    )


def test_resemblance_below_one_half_or_far_apart_in_length_is_zero() -> None:
    assert resemblance("stone", "story") == 0.5  # st, to of four each: 2 * 2 / 8
    assert resemblance("stone", "steak") == 0.0  # st of four each: 2 * 1 / 8
    assert resemblance("a", "abcdef") == 0.0


def test_cosine_hand_worked_counts() -> None:
    one, other = Trigrams.of("abcab"), Trigrams.of("cabcab")  # abc, bca, cab; cab twice, abc, bca
    assert one.counts.tolist() == [1, 1, 1]
    assert sorted(other.counts.tolist()) == [1, 1, 2]
    assert one.within(other).sum() == 4
    assert cosine(one, other) == pytest.approx(4 / (sqrt(3) * sqrt(6)))
    assert cosine(Trigrams.of(""), other) == cosine(one, Trigrams.of("ab")) == 0.0


@given(st.text(max_size=60))
def test_trigrams_are_those_that_a_counter_counts(line: str) -> None:
    counted = Counter(line[start : start + 3] for start in range(len(line) - 2))
    assert sorted(Trigrams.of(line).counts.tolist()) == sorted(counted.values())


def test_f1_and_ratio_degenerate_input_is_defined() -> None:
    assert f1(0.0, 0.0) == 0.0
    assert f1(0.5, 1.0) == pytest.approx(2 / 3)
    assert ratio(1.0, 0.0, 0.25) == 0.25


def test_resemblance_is_symmetric() -> None:
    words = ["colour", "color", "colors", "collar"]
    for a, b in itertools.permutations(words, 2):
        assert resemblance(a, b) == resemblance(b, a)
