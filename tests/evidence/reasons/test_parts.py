"""Parts of single items: the phrases, the same pass as the features, packed and read back."""

import numpy as np
import pytest

from judgec.evidence.model import EvidenceModel
from judgec.evidence.reasons.parts import said, speaks
from judgec.evidence.reasons.phrases import BAD, FAULT, GOOD, SILENT
from judgec.evidence.reasons.sentence import SIMILAR, sentences_of
from judgec.evidence.reasons.topics import TOPICS, topic_of, topics_of
from judgec.records.label import Item, Text

CONTEXTS = ("The bridge in Bergen was built in 1912. It carries trams.",)
REFERENCE = "The bridge was built in 1912. It carries trams and 40 lamps."


def item(answer: str, **inputs: Text) -> Item:
    return Item("1", "1", {"query": "When was the old bridge built?", "answer": answer, **inputs})


FULL = item("It was built in 1912.", reference=REFERENCE, contexts=CONTEXTS)
MODEL = EvidenceModel.fit([FULL])


def phrase(one: Item, topic: str, model: EvidenceModel = MODEL) -> tuple[int, str]:
    (packed,) = model.observe([one])[1]
    at = TOPICS.index(topic)
    return int(speaks([packed])[0, at]), said(packed)[at]


@pytest.mark.parametrize(
    ("answer", "topic", "code", "wanted"),
    [
        ("", "texts", FAULT, "the answer is empty"),
        (REFERENCE, "recall", GOOD, "the answer has the reference word for word"),
        (
            "The bridge was built in 1912 and has 41 lamps.",
            "numbers",
            FAULT,
            '1 of 2 numbers of the reference occurs; "40" of the reference does not occur, the answer has "41"',
        ),
        ("It was built in 1912.", "numbers", BAD, '1 of 2 numbers of the reference occurs (not: "40")'),
        (
            "It was built in 1912.",
            "recall",
            FAULT,
            (
                '1 of 5 words of the reference occurs (not: "carries", "trams", "40", "lamps"); '
                'the answer lacks the last sentence of the reference ("It carries trams and 40 lamps.")'
            ),
        ),
        (
            "I do not know. The papers are silent.",
            "refusal",
            FAULT,
            'the answer says that it does not know ("I do not know.") although the reference has an answer',
        ),
        (
            "It was built in 1912. Dwarves forged its golden rails.",
            "sentences",
            FAULT,
            'the last sentence has no support in the contexts ("Dwarves forged its golden rails.")',
        ),
        ("It was built in Turku.", "strangers", BAD, '"Turku" does not occur in the contexts'),
        ("It was built in stone.", "given", BAD, "the question asks for a number and the answer does not give one"),
    ],
)
def test_phrases_by_hand(answer: str, topic: str, code: int, wanted: str) -> None:
    assert phrase(item(answer, reference=REFERENCE, contexts=CONTEXTS), topic) == (code, wanted)


def test_phrases_where_the_reference_refuses() -> None:
    refusing = "The documents do not mention it."
    code, text = phrase(item("I do not know.", reference=refusing), "refusal")
    assert (code, text.endswith("as the reference does")) == (GOOD, True)
    assert phrase(item("In 1912.", reference=refusing), "refusal")[0] == FAULT


def test_observe_gives_the_features_of_transform_to_the_bit() -> None:
    items = [FULL, item(""), item("Ünïcode \ud800 half; 3.5 % of it")]
    features, packed = MODEL.observe(items)
    np.testing.assert_array_equal(features, MODEL.transform(items))
    assert [len(said(one)) for one in packed] == [len(TOPICS)] * 3


def test_parts_do_not_depend_on_the_batch() -> None:
    items = [FULL, item(REFERENCE), item("x\ny", contexts=CONTEXTS)]
    assert MODEL.observe(items)[1] == [MODEL.observe([one])[1][0] for one in items]


def test_every_feature_has_a_topic() -> None:
    pair = Item("1", "1", {"query": "q", "answer_a": "x", "answer_b": "y"})
    document = Item("1", "1", {"query": "q", "document": "x"})
    for model in (MODEL, EvidenceModel.fit([pair]), EvidenceModel.fit([document])):
        assert len(topics_of(model.names)) == len(model.names)
        assert {topic_of(name) for name in model.names} <= {*TOPICS}


def test_sentence_without_a_phrase_for_its_side_says_that_labelled_items_decided() -> None:
    (packed,) = MODEL.observe([item("")])[1]
    assert (speaks([packed]) != SILENT).sum() == 1
    (text,) = sentences_of([packed], np.zeros((1, len(TOPICS))), np.array([True]))
    assert text == f"In its favour: {SIMILAR}. Against it: {said(packed)[int((speaks([packed]) != SILENT).argmax())]}."


def test_sentence_names_what_moved_the_score_most_first() -> None:
    (packed,) = MODEL.observe([item(REFERENCE, reference=REFERENCE, contexts=CONTEXTS)])[1]
    moved = np.zeros((1, len(TOPICS)))
    moved[0, [TOPICS.index("recall"), TOPICS.index("names"), TOPICS.index("numbers")]] = 0.2, 0.3, 0.4
    (text,) = sentences_of([packed], moved, np.array([True]))
    numbers, recall = (said(packed)[TOPICS.index(topic)] for topic in ("numbers", "recall"))
    assert text.startswith(f"In its favour: {numbers}; {recall}")
