import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgec.evidence.numerals import fold_number_words
from judgec.evidence.text import (
    _ASCII_WORD,
    _SENTENCE_END,
    _SPACED_SENTENCE_END,
    _WORD,
    Library,
    clean,
    read,
    reader_of,
    stem,
)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("twenty-one people", "21 people"),
        ("1,250,000 people", "1250000 people"),
        ("5.2 million people", "5200000 people"),
        ("two hundred and five men", "205 men"),
        ("the 21st floor", "the twenty-first floor"),
        ("Henry VIII", "Henry 8"),
        ("2020-01-05", "5 January 2020"),
        ("Sept 3", "September 3rd"),
        ("the U.S. army", "the United States army"),
        ("the USA", "the U.S.A."),
        ("Dr. Who", "Doctor Who"),
        ("Röntgen", "Rontgen"),
        ("running cities", "run city"),
        ("90 %", "90 percent"),
        ("\N{LATIN SMALL LIGATURE FI}re", "fire"),
        ("the king\N{RIGHT SINGLE QUOTATION MARK}s speech", "the king's speech"),
        ("10\u00e2\u20ac\u201c12 years", "10-12 years"),  # UTF-8 read as Latin-1
    ],
)
def test_stems_of_two_ways_to_write_the_same_are_equal(left: str, right: str) -> None:
    assert read(left).stems == read(right).stems


@pytest.mark.parametrize(
    ("left", "right"),
    [("21 people", "12 people"), ("3.5", "35"), ("may come", "March came"), ("IV", "6"), ("iv drip", "4 drip")],
)
def test_stems_of_different_things_differ(left: str, right: str) -> None:
    assert read(left).stems != read(right).stems


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("one of a hundred seconds", "one of a hundred seconds"),
        ("one hundred and two", "102"),
        ("three thousand four hundred sixty five", "3465"),
        ("five six", "5 6"),
        ("two and three", "2 and 3"),
        ("2.5 million", "2500000"),
        ("twenty twelve", "20 12"),
    ],
)
def test_fold_number_words_runs_become_figures(written: str, folded: str) -> None:
    assert fold_number_words(written.split()) == folded.split()


def test_read_splits_sentences_and_unspaced_scripts() -> None:
    passage = read("One fish. Two fish!\nRed fish")
    assert [len(sentence) for sentence in passage.sentences] == [2, 2, 2]
    assert read("世界大戦").stems == ["世", "界", "大", "戦"]


def test_names_leave_out_sentence_starts_and_function_words() -> None:
    assert list(read("Yesterday Marie met The Beatles in Paris. Then Rain came.").names) == [
        stem("Marie"),
        stem("Beatles"),
        stem("Paris"),
        stem("Rain"),
    ]


def test_masks_give_the_positions_of_a_stem_and_nothing_for_others() -> None:
    masks = read("to be or not to be").masks
    assert (masks["to"], masks["be"], masks["or"], masks["absent"]) == (0b010001, 0b100010, 0b000100, 0)


@given(st.text(max_size=80))
def test_read_any_text_ignores_its_unicode_form(text: str) -> None:
    stems = [read(unicodedata.normalize(form, text)).stems for form in ("NFC", "NFD", "NFKC", "NFKD")]
    assert stems[0] == stems[1] == stems[2] == stems[3]


@settings(max_examples=50)
@given(st.text(max_size=200))
def test_clean_any_text_is_finite_and_repeatable(text: str) -> None:
    assert clean(text) == clean(text)
    assert len(clean(text)) <= 40 * len(text) + 1  # one character (U+FDFA) unfolds into 18


def test_library_over_its_budget_forgets_the_least_recently_used() -> None:
    library = Library(budget=25)
    first = library.read("alpha beta")
    second = library.read("gamma delta")
    assert library.read("alpha beta") is first
    library.read("epsilon")
    assert library.read("alpha beta") is first
    assert library.read("gamma delta") is not second


def test_library_several_texts_are_read_as_one() -> None:
    library = Library()
    assert library.read(("A b.", "C d")).stems == ["a", "b", "c", "d"]
    assert library.read(()).stems == []


@given(st.text(alphabet="aZ09'._-,%° \n\t;?!", max_size=40))
def test_quick_patterns_for_ascii_find_the_words_and_sentences_that_the_others_find(text: str) -> None:
    plain = text.replace("°", "")
    assert _ASCII_WORD.findall(plain) == _WORD.findall(plain)
    assert _SPACED_SENTENCE_END.split(text) == _SENTENCE_END.split(text)


PIECES = [
    *("5", "five", "II", "one", "hundred", "and", "km", "m2", "km/h", "%", "°C", "-", "in", "quadratmeter"),
    *("square", "feet", "3.5", "21st", "Wh", "per", "hour", "Grad", "Celsius"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=8), st.sampled_from(["english", "german"]))
def test_a_sentence_that_is_passed_over_has_no_quantity(words: list[str], language: str) -> None:
    reader = reader_of(language)
    for line, found in reader.lines(" ".join(words)):
        if not reader.may_have_quantities(line, found):
            assert list(reader.quantities(line)) == []


def test_words_as_written_are_the_first_of_each_stem() -> None:
    text = read("Two cities. The city grew; two men built Cities.")
    assert (text.written["citi"], text.written["grew"], text.written["two"]) == ("cities", "grew", "Two")
