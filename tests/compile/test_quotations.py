"""What a rewritten instruction repeats of the items that it was written from."""

import pytest

from judgec.compile.quotations import dropped, repeated, rewrite_without_repeats

ITEM = {
    "query": "> Which fees does the bank charge?",
    "passages": ["[1]\n> An account is free. Cards cost 12 euros a year."],
}
LONG = "who asks which fees the bank does charge is told: an account is free, cards cost 12 euros"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LONG, "an account is free cards cost 12 euros"),
        ("AN ACCOUNT\nis *free* -- cards; cost 12 euros!", "an account is free cards cost 12 euros"),
        ("An account is free. Cards cost 12 of something.", ""),  # seven words
        ("the bank charge an account is free. Cards", ""),  # no text runs on into the next
        ("Weigh the fees.", ""),
    ],
)
def test_eight_words_in_a_row_of_an_item_are_found_whatever_stands_between_them(text: str, found: str) -> None:
    assert repeated(text, [ITEM], []) == found


def test_words_that_may_be_used_are_no_repetition() -> None:
    assert repeated(LONG, [ITEM], ["In general an account is free; cards cost 12 euros, says an expert."]) == ""
    assert repeated(LONG, [ITEM], ["An account is free; cards cost 11 euros."]) != ""


def test_of_a_script_without_spaces_sixteen_characters_are_as_much_as_eight_words() -> None:
    item = "客户在开立账户时需要提供身份证和居住证明以及联系电话"
    assert repeated(f"评分时请注意{item[:15]}。", [item], []) == ""
    assert repeated(f"评分时请注意{item[:16]}。", [item], []).replace(" ", "") == item[:16]


def test_a_rewrite_that_repeats_is_asked_for_once_more_and_each_attempt_is_counted() -> None:
    told: list[str] = []

    def ask(answers: list[str], again: str) -> str:
        told.append(again)
        return answers[len(told) - 1]

    repeats: list[str] = []
    assert (
        rewrite_without_repeats(lambda again: ask([LONG, "Weigh the fees."], again), [ITEM], [], repeats)
        == "Weigh the fees."
    )
    assert told == ["", "an account is free cards cost 12 euros"]
    told.clear()
    assert rewrite_without_repeats(lambda again: ask([LONG, LONG, "unasked"], again), [ITEM], [], repeats) == ""
    assert len(told) == 2
    assert len(repeats) == 3
    assert dropped("gepa", repeats).startswith("gepa: 3 rewritten instructions dropped")
