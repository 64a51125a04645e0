"""Themes: documents near a query without its words, on a small world in which words of one subject stand together."""

import json
from functools import cache

import numpy as np
import pytest

from judgec.errors import ArtifactError
from judgec.evidence.fit_themes import LEAST_DOCUMENTS, THEMES
from judgec.evidence.model import EvidenceModel
from judgec.records.label import Item

SUBJECTS = ("wing", "flow", "heat", "shock", "crop", "bank", "ship", "bell")
WORDS = [[f"{name}{chr(97 + i)}" for i in range(12)] for name in SUBJECTS]


def document(subject: int, rng: np.random.Generator) -> str:
    return " ".join(rng.choice(WORDS[subject], size=6, replace=False))


def items(n: int) -> list[Item]:
    rng = np.random.default_rng(0)
    return [
        Item(str(i), str(i), {"query": document(i % len(WORDS), rng), "document": document(i % len(WORDS), rng)})
        for i in range(n)
    ]


@cache
def model() -> EvidenceModel:
    return EvidenceModel.fit(items(2 * LEAST_DOCUMENTS))


def near(query: str, text: str) -> float:
    row = model().transform([Item("x", "x", {"query": query, "document": text})])[0]
    return float(row[model().names.index("themes.near")])


def test_a_document_of_the_subject_is_near_without_a_word_of_the_query() -> None:
    words, others = WORDS[0], WORDS[1]
    assert near(" ".join(words[:4]), " ".join(words[4:10])) > 0.6
    assert near(" ".join(words[:4]), " ".join(others[4:10])) < 0.3


def test_texts_without_a_known_word_have_no_place() -> None:
    row = model().transform([Item("x", "x", {"query": "unheard", "document": " ".join(WORDS[0])})])[0]
    assert row[model().names.index("themes.absent")] == 1.0
    assert row[model().names.index("themes.near")] == 0.0


def test_few_documents_have_no_themes_and_the_file_of_before() -> None:
    few = EvidenceModel.fit(items(LEAST_DOCUMENTS // 2))
    assert few.families == ("document",)
    assert "themes" not in json.loads(few.to_json())


def test_fitting_again_and_reading_back_give_the_same_bits() -> None:
    again, read = EvidenceModel.fit(items(2 * LEAST_DOCUMENTS)), EvidenceModel.from_json(model().to_json())
    assert again == read == model()
    assert again.digest == read.digest == model().digest
    np.testing.assert_array_equal(read.transform(items(30)), model().transform(items(30)))


def test_the_order_of_words_and_the_batch_change_nothing() -> None:
    words = WORDS[2]
    assert near(" ".join(words[:5]), " ".join(words[5:])) == near(" ".join(words[:5][::-1]), " ".join(words[5:][::-1]))
    whole = model().transform(items(30))
    np.testing.assert_array_equal(whole[7], model().transform(items(30)[7:8])[0])


def test_damaged_places_are_refused() -> None:
    state = json.loads(model().to_json())
    assert len(state["themes"]["scales"]) == THEMES
    state["themes"]["words"] = state["themes"]["words"][:-1]
    with pytest.raises(ArtifactError, match="evidence model"):
        EvidenceModel.from_json(json.dumps(state))
