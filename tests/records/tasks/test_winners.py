"""Words for the winner: one table, numbers only as somebody said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.errors import UserError
from judgec.records.tasks.winners import UNSCORED, WORDS, unknown_words, winner_of, winner_words

MIRRORED = {"a": "b", "b": "a", "tie": "tie"}


@pytest.mark.parametrize(
    ("word", "side"),
    [
        *(
            (word, "a")
            for word in ("a", "A", " [[A]] ", "A>B", "a >> b", "[[A>>B]]", "B<A", "modelA", "Model A", "left")
        ),
        *((word, "b") for word in ("B", "B>A", "A<B", "model_b", "right", "loss", "assistant_b", "prefer B")),
        *((word, "tie") for word in ("tie", "C", "[[C]]", "A=B", "tie (bothbad)", "both_bad", "draw", "both equal")),
        *((word, "b") for word in ("Response 2", "answer_b", "second")),
        *((word, None) for word in ("die erste", "rechts", "égalité", "empate", "gleich gut", "unentschieden")),
        *((word, None) for word in (0, 1, 2, 0.5, ".5", "-1", "D", "A>A", "~a", "not a", "a or b", "", "error")),
    ],
)
def test_words_of_the_field_mean_a_side_and_all_else_nothing(word: str | float, side: str | None) -> None:
    assert winner_of(word) == side


@given(st.sampled_from("ab"), st.sampled_from([">", ">>", "<", "<<", "="]), st.booleans(), st.integers(0, 2))
def test_a_comparison_and_its_mirror_image_name_the_same_answer(left: str, sign: str, upper: bool, room: int) -> None:
    right = MIRRORED[left]
    turned = sign.translate(str.maketrans("<>", "><"))
    one, other = ((" " * room).join(parts) for parts in ((left, sign, right), (right, turned, left)))
    assert winner_of(one.upper() if upper else one) == winner_of(other) is not None


@given(st.sampled_from(sorted(WORDS)), st.sampled_from(["a", "b", "tie", UNSCORED]))
def test_what_somebody_said_goes_before_the_table(word: str, side: str) -> None:
    assert winner_of(word.upper(), winner_words({word: side})) == side


def test_numbers_are_one_word_however_they_are_written() -> None:
    said = winner_words({"1": "a", "2.0": "b", ".5": "tie"})
    assert [winner_of(word, said) for word in (1, 1.0, "1", "1.0", 2, 0.5, "0.50", 3)] == [
        *("a",) * 4, "b", "tie", "tie", None,
    ]  # fmt: skip


def test_a_side_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(UserError, match="--winner-words 1=x: a, b, tie, unscored"):
        winner_words({"1": "x"})


def test_unknown_words_are_counted_and_shown_as_they_would_be_typed() -> None:
    said = unknown_words([1, 2, 0, 1, "oops"])
    assert "'1' (2), '2', '0', 'oops'" in said
    assert "'1=?,2=?,0=?,oops=?'" in said  # -2 and 2 may be strengths: nobody knows whose
