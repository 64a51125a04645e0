"""Evidence in other languages than English, on texts and label sets that are constructed."""

import json

import numpy as np
import pytest

from judgec.errors import ArtifactError
from judgec.evidence.answer_features import asked_for, read_answer, refuses
from judgec.evidence.language_cues import LANGUAGE_CUES, cues_of
from judgec.evidence.model import EvidenceModel
from judgec.evidence.text import Library, read, reader_of
from tests.evidence.language_sets import NOUNS, language_set


@pytest.mark.parametrize(
    ("language", "left", "right"),
    [
        ("german", "Die Häuser", "das Haus"),
        ("german", "zweiundzwanzig Häuser", "22 Haus"),
        ("german", "1.250,5 Kilometer", "1250,5 km"),
        ("german", "am 3. März 2020", "am 3.3.2020"),
        ("german", "5 %", "5 Prozent"),
        ("german", "Straße", "Strasse"),
        ("spanish", "canciones", "canción"),
        ("spanish", "cancion", "canción"),
        ("spanish", "el 5 de mayo de 2020", "5/5/2020"),
        ("spanish", "veintidós por ciento", "22 %"),
        ("spanish", "3,5", "3.5"),
        ("french", "l'économie", "économies"),
        ("french", "les journaux", "le journal"),
        ("french", "dix pour cent", "10 %"),
        ("french", "1\u202f250", "1250"),
        ("french", "le 3 août", "le 3 aout"),
        ("italian", "dell'isola", "isola"),
    ],
)
def test_stems_of_two_ways_to_write_the_same_share_their_content(language: str, left: str, right: str) -> None:
    reader = reader_of(language)
    assert list(read(left, reader).content) == list(read(right, reader).content)


def test_a_dot_after_a_day_ends_no_german_sentence() -> None:
    text = read("Er kam am 21. Januar 1998. Sie blieb bis 2001. Dann ging er.", reader_of("german"))
    assert len(text.sentences) == 3


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("german", "das weiß ich nicht."),
        ("german", "im text steht dazu leider nichts darüber."),
        ("german", "die höhe ist nicht angegeben."),
        ("german", "dazu gibt es keine angaben."),
        ("german", "ich kann die frage nicht beantworten."),
        ("spanish", "no lo sé."),
        ("spanish", "el texto no menciona la altura."),
        ("spanish", "lo siento, no puedo responder."),
        ("spanish", "la altura no está especificada."),
        ("french", "je ne sais pas."),
        ("french", "le texte ne précise pas la hauteur."),
        ("french", "aucune information n'est donnée."),
        ("french", "désolé, je ne peux pas répondre."),
        ("german", "i don't know."),  # assistants fall back to it
    ],
)
def test_refuses_ways_to_decline_are_found(language: str, sentence: str) -> None:
    assert refuses(sentence, cues=cues_of(language))


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("german", "der turm ist dreihundert meter hoch."),
        ("german", "er ist nicht höher als der andere turm."),
        ("german", "das haus hat keine fenster."),
        ("spanish", "la torre mide trescientos metros."),
        ("spanish", "no es más alta que la otra torre."),
        ("french", "la tour mesure trois cents mètres."),
        ("french", "elle n'est pas plus haute que l'autre."),
    ],
)
def test_refuses_plain_statements_are_none(language: str, sentence: str) -> None:
    assert not refuses(sentence, cues=cues_of(language))


@pytest.mark.parametrize(
    ("language", "question", "answer", "asked"),
    [
        ("german", "Wann wurde der Turm gebaut?", "Er wurde 1889 gebaut.", ("a number", 1.0)),
        ("german", "Wer hat den Turm gebaut?", "er wurde vor langer zeit gebaut", ("a name", -1.0)),
        ("german", "Ist der Turm hoch?", "Ja, sehr.", ("a number", -1.0)),  # "hoch" asks for a height, as in English
        ("spanish", "¿Cuántos pisos tiene?", "Tiene 80.", ("a number", 1.0)),
        ("spanish", "¿Puede verse la torre?", "Sí, de lejos.", ("a yes or no", 1.0)),
        ("french", "Combien mesure la tour ?", "Elle est haute.", ("a number", -1.0)),
        ("french", "Est-ce que la tour existe ?", "Oui.", ("a yes or no", 1.0)),
    ],
)
def test_what_a_question_asks_for_is_known(language: str, question: str, answer: str, asked: tuple[str, float]) -> None:
    library = Library(language=language)
    assert asked_for(read_answer(answer, library).passage, library.read(question)) == asked


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


@pytest.mark.parametrize("language", LANGUAGE_CUES)
def test_every_language_with_tables_has_all_of_them(language: str) -> None:
    cues = LANGUAGE_CUES[language]
    tables = (cues.spelled, cues.refusal, cues.asks_number, cues.asks_name, cues.polar, cues.says)
    assert all((*tables, cues.negations, cues.references, cues.complaint, cues.thanks, cues.taken_back))
