"""Which language a text or a set is in; the texts are constructed."""

import pytest

from judgec.records.label import Item
from judgec.records.language import ENGLISH, LANGUAGES, item_language, language_notes, language_of, languages_of
from tests.evidence.language_sets import NOUNS, language_set

TEXTS = {
    "english": "The tower was built in the year 1889, and it is as high as a house of eighty floors.",
    "german": "Der Turm wurde im Jahr 1889 gebaut und ist so hoch wie ein Haus mit achtzig Stockwerken.",
    "spanish": "La torre fue construida en el año 1889 y es tan alta como una casa de ochenta pisos.",
    "french": "La tour a été construite en 1889 et elle est aussi haute qu'une maison de quatre-vingts étages.",
    "italian": "La torre è stata costruita nel 1889 ed è alta come una casa di ottanta piani, che non si vede.",
    "portuguese": "A torre foi construída em 1889 e não é mais alta do que uma casa com oitenta andares.",
    "dutch": "De toren werd in het jaar 1889 gebouwd en is zo hoog als een huis van tachtig verdiepingen.",
    "polish": "Wieża została zbudowana w roku 1889 i jest tak wysoka jak dom, który ma osiemdziesiąt pięter.",
    "russian": "Башня была построена в 1889 году, и она так же высока, как дом в восемьдесят этажей.",
    "ukrainian": "Вежа була збудована у 1889 році, і вона є такою ж високою, як будинок, який має вісімдесят поверхів.",
    "turkish": "Kule 1889 yılında yapıldı ve seksen katlı bir ev kadar yüksek, çok büyük bir yapı olarak bilinir.",
    "japanese": "この塔は1889年に建てられました。",
    "chinese": "这座塔建于1889年。",
    "korean": "이 탑은 1889년에 지어졌습니다.",
}


def item(number: int, text: str) -> Item:
    return Item(str(number), str(number), {"query": text, "answer": text})


@pytest.mark.parametrize("language", TEXTS)
def test_language_of_one_sentence_is_told(language: str) -> None:
    assert language_of([TEXTS[language]], least=3) == language


@pytest.mark.parametrize("text", ["", "alpha beta gamma", "1889 300 m", "red green blue", "Paris"])
def test_language_of_texts_without_function_words_is_unknown(text: str) -> None:
    assert language_of([text]) is None
    assert languages_of([item(1, text)]) == (ENGLISH,)


@pytest.mark.parametrize("language", NOUNS)
def test_languages_of_a_constructed_set_is_its_own(language: str) -> None:
    assert languages_of(language_set(language, 12)[0]) == (language,)


def test_languages_of_english_items_with_a_few_foreign_ones_is_english() -> None:
    items = [item(i, TEXTS["english"]) for i in range(60)] + [item(60 + i, TEXTS["german"]) for i in range(5)]
    assert languages_of(items) == (ENGLISH,)


def test_languages_of_a_mixed_set_are_all_of_them_the_commonest_first() -> None:
    items = [item(i, TEXTS["french"]) for i in range(10)] + [item(10 + i, TEXTS["german"]) for i in range(20)]
    found = languages_of(items)
    assert found == ("german", "french")
    assert item_language(items[0], found) == "french"
    assert item_language(items[-1], found) == "german"
    assert item_language(item(0, "1889"), found) == "german"  # the first, where nothing tells
    assert item_language(items[0], ("german",)) == "german"  # of one language nothing is looked at


def test_languages_of_a_long_file_that_is_sorted_by_language_are_all_of_them() -> None:
    long = " ".join([TEXTS["german"]] * 30)
    items = [item(i, long) for i in range(900)] + [item(900 + i, TEXTS["spanish"]) for i in range(300)]
    assert languages_of(items) == ("german", "spanish")


def test_languages_of_nothing_is_english() -> None:
    assert languages_of([]) == (ENGLISH,)


def test_notes_name_a_language_without_a_stemmer() -> None:
    assert language_notes((ENGLISH,)) == ()
    (note,) = language_notes(("german",))
    assert "German" in note
    assert "stemmer for Ukrainian" in language_notes(("ukrainian",))[1]
    first, second = language_notes(("german", "japanese"))
    assert "German, Japanese" in first
    assert "stemmer for Japanese:" in second


def test_every_stemmer_that_is_promised_exists() -> None:
    import snowballstemmer

    promised = {name for name, language in LANGUAGES.items() if language.stems}
    assert promised <= set(snowballstemmer.algorithms())
