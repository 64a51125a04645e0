"""Evidence in other languages than English, on texts and label sets that are constructed."""

import json

import numpy as np
import pytest

from judgec.errors import ArtifactError
from judgec.evidence.answer_features import asked_for, read_answer
from judgec.evidence.model import EvidenceModel
from judgec.evidence.text import Library, read, reader_of
from tests.evidence.language_sets import NOUNS, language_set


@pytest.mark.parametrize(
    ("language", "left", "right"),
    [
        ("german", "Die Häuser", "das Haus"),
        ("german", "1.250,5 km", "1250,5 km"),
        ("german", "3/3/2020", "3.3.2020"),
        ("german", "Straße", "Strasse"),
        ("spanish", "canciones", "canción"),
        ("spanish", "cancion", "canción"),
        ("spanish", "3,5", "3.5"),
        ("french", "l'économie", "économies"),
        ("french", "les journaux", "le journal"),
        ("french", "1\u202f250", "1250"),
        ("italian", "dell'isola", "isola"),
    ],
)
def test_stems_of_two_ways_to_write_the_same_share_their_content(language: str, left: str, right: str) -> None:
    reader = reader_of(language)
    assert list(read(left, reader).content) == list(read(right, reader).content)


def test_what_a_question_asks_for_is_known_in_english_alone() -> None:
    library = Library(language="german")
    assert asked_for(read_answer("1889.", library).passage, library.read("When was it built?")) is None


@pytest.mark.parametrize("language", NOUNS)
def test_right_answers_in_another_number_are_seen_to_have_the_reference(language: str) -> None:
    items, grades = language_set(language)
    model = EvidenceModel.fit(items, "grade")
    assert model.languages == (language,)
    column = model.names.index("reference.recall_content")
    features = model.transform(items)[:, column]
    by_grade = [features[np.array(grades) == grade].mean() for grade in range(4)]
    assert by_grade == sorted(by_grade)
    assert by_grade[3] > 0.9
    assert by_grade[0] < 0.05


@pytest.mark.parametrize(("language", "least"), [("german", 0.5), ("french", 0.05)])
def test_the_rules_of_english_miss_what_the_own_stemmer_sees(language: str, least: float) -> None:
    items, grades = language_set(language)
    right = [item for item, grade in zip(items, grades, strict=True) if grade == 3]
    seen = []
    for read_as in (language, "english"):
        model = EvidenceModel.fit(items, "grade", (read_as,))
        seen.append(model.transform(right)[:, model.names.index("reference.recall_content")].mean())
    assert seen[0] - seen[1] > least


def test_json_of_english_does_not_name_a_language_and_of_others_does() -> None:
    english = EvidenceModel.fit(language_set("english", 12)[0])
    german = EvidenceModel.fit(language_set("german", 12)[0])
    assert "languages" not in json.loads(english.to_json())
    again = EvidenceModel.from_json(german.to_json())
    assert again.languages == ("german",)
    items = language_set("german", 12, seed=1)[0]
    np.testing.assert_array_equal(again.transform(items), german.transform(items))
    assert EvidenceModel.fit(language_set("german", 12)[0], languages=("english",)).digest != german.digest


@pytest.mark.parametrize("languages", [[], ["klingon"]])
def test_json_with_an_unknown_language_is_refused(languages: list[str]) -> None:
    state = json.loads(EvidenceModel.fit(language_set("german", 12)[0]).to_json()) | {"languages": languages}
    with pytest.raises(ArtifactError, match="languages"):
        EvidenceModel.from_json(json.dumps(state))


def test_a_mixed_set_reads_each_item_in_its_own_language() -> None:
    german, spanish = language_set("german", 12)[0], language_set("spanish", 12)[0]
    mixed = EvidenceModel.fit([*german, *spanish])
    assert set(mixed.languages) == {"german", "spanish"}
    for items in (german, spanish):
        alone = EvidenceModel(mixed.idf, mixed.families, languages=EvidenceModel.fit(items).languages)
        np.testing.assert_array_equal(mixed.transform(items), alone.transform(items))
