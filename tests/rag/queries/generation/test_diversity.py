"""Diversity and closeness, checked by hand."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from judgec.rag.queries.generation.diversity import closeness, diversity, question_type
from judgec.records.label import FloatArray


def embed(texts: Sequence[str]) -> FloatArray:
    """Texts that begin with the same letter point the same way."""
    vectors = np.zeros((len(texts), 26))
    for row, text in enumerate(texts):
        vectors[row, ord(text[0].lower()) - ord("a")] = 1.0
    return vectors


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("What is it?", "what"),
        ("How many are there?", "how many"),
        ("For a meter, which cable?", "which"),
        ("Is it new?", "yes or no"),
        ("Describe the pump.", "request"),
        ("Pump range", "other"),
    ],
)
def test_question_type_goes_by_the_first_question_word(query: str, kind: str) -> None:
    assert question_type(query) == kind


def test_closeness_of_the_experts_own_queries_is_perfect_but_not_novel() -> None:
    experts = ["What is it?", "How long is that?"]
    found = closeness(experts, experts, embed)
    assert found["likeness"] == pytest.approx(1.0)
    assert found["novelty"] == pytest.approx(0.0)


def test_closeness_of_hand_worked_queries() -> None:
    # Types: all what against half what, half how: JSD = .5 (log2(4/3) + .5 log2(2/3) + .5 log2(2)).
    found = closeness(["what a b", "what c d"], ["what e f", "how g h"], embed)
    jsd = 0.5 * (math.log2(4 / 3) + 0.5 * math.log2(2 / 3) + 0.5)
    assert found["type_jsd"] == pytest.approx(jsd)
    assert found["length_ks"] == 0.0
    assert found["embedding_distance"] == pytest.approx(0.0)
    assert found["likeness"] == pytest.approx((1 + 1 - jsd + 1) / 3)


def test_diversity_of_equal_queries_is_none() -> None:
    report = diversity(["what is it", "what is it"], [], embed)["queries"]
    assert isinstance(report, dict)
    assert report["novelty"] == 0.0
    assert report["type_entropy"] == 0.0
    assert report["embedding_spread"] == pytest.approx(0.0)
    assert report["length"]["mean"] == 3


def test_diversity_without_experts_has_no_closeness_and_says_why() -> None:
    found = diversity(["what is it"], [], embed)
    assert found["experts"] is None
    assert isinstance(found["closeness"], dict)
    assert found["closeness"].pop("note")
    names = ("length_ks", "type_jsd", "novelty", "embedding_distance", "likeness")
    assert found["closeness"] == dict.fromkeys(names)
