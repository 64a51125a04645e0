"""Reasons in German, Spanish and French: complete, with the sides and quotes of the English ones."""

import re
import string

import numpy as np
import pytest

from judgec.evidence.model import EvidenceModel
from judgec.evidence.reasons.parts import said, speaks
from judgec.evidence.reasons.templates import GERMAN, REASON_TEMPLATES, template_of
from judgec.evidence.reasons.topics import TOPICS
from judgec.records.conversation import ASSISTANT, USER, Message, written
from judgec.records.label import Item, Text

REFERENCE = "Die Brücke wurde 1912 gebaut. Sie trägt Straßenbahnen und 40 Lampen."
CONTEXTS = ("Die Brücke in Bergen wurde 1912 gebaut. Sie trägt Straßenbahnen.",)
QUERY = "Wann wurde die alte Brücke gebaut?"
ANSWERS = (
    "",
    REFERENCE,
    "Die Brücke wurde 1912 gebaut und hat 41 Lampen.",
    "Sie wurde 1912 gebaut.",
    "Das weiß ich nicht. Die Akten schweigen.",
    "Zwerge schmiedeten 1850 goldene Schienen für Könige. Der Wald war dunkel und kalt.",
)


def item(answer: str, **inputs: Text) -> Item:
    return Item("1", "1", {"query": QUERY, "answer": answer, **inputs})


def items() -> list[Item]:
    """Items that have something to say of every topic."""
    alone = [item(answer, **inputs) for answer in ANSWERS for inputs in FIELDS]
    turns = Message(USER, QUERY), Message(ASSISTANT, "Die Brücke wurde 1912 gebaut.")
    talked = tuple(map(written, turns))
    return [
        *alone,
        item("Die Brücke wurde 1913 gebaut.", conversation=talked),
        item("Die Brücke wurde 1912 nicht gebaut.", conversation=talked),
        item("Ja.", conversation=talked),
        item("Die Brücke wurde 1912 gebaut."),
        *(item(answer, steps=steps) for answer in ANSWERS[2:4] for steps in RUNS),
    ]


RUNS: tuple[tuple[str, ...], ...] = (
    ('tool suche: {"q": "Brücke"}\nresult: Die Brücke wurde 1912 gebaut und hat 41 Lampen.',),
    ('tool suche: {"q": "Brücke"}\nerror: Zeit abgelaufen',),
    ("tool suche: Wald\nresult: Der Wald war dunkel und kalt.", "tool suche: Wald\nresult: Ein See, ein Wald."),
)
FIELDS: tuple[dict[str, Text], ...] = (
    {},
    {"reference": REFERENCE},
    {"contexts": CONTEXTS},
    {"reference": REFERENCE, "contexts": CONTEXTS},
    {"reference": "Das ist nicht bekannt."},
    {"reference": "Im Sommer."},
)
PAIRS = [
    Item("p", "q", {"query": QUERY, "answer_a": a, "answer_b": b, "reference": REFERENCE, "contexts": CONTEXTS})
    for a in ANSWERS
    for b in ANSWERS
]
DOCUMENTS = [
    Item("d", "q", {"query": query, "document": document})
    for query in ("", QUERY, "Brücke")
    for document in ("", REFERENCE, "Ein Wald. Ein See.")
]


def phrases(items: list[Item], language: str) -> tuple[np.ndarray, list[list[str]]]:
    """Codes and texts of the same rules of German, told in a language."""
    model = EvidenceModel.fit(items, languages=(language,))
    packed = model.observe(items)[1]
    return speaks(packed), [said(one) for one in packed]


@pytest.mark.parametrize("of", [items(), PAIRS, DOCUMENTS], ids=["answers", "pairs", "documents"])
def test_every_phrase_is_told_with_the_same_side_and_quotes(of: list[Item], monkeypatch: pytest.MonkeyPatch) -> None:
    codes, german = phrases(of, "german")
    with monkeypatch.context() as patch:
        patch.setattr("judgec.evidence.model.template_of", lambda languages: None)
        plain, english = phrases(of, "german")
    np.testing.assert_array_equal(codes, plain)
    told = set()
    for here, there in zip(german, english, strict=True):
        for topic, ours, theirs in zip(TOPICS, here, there, strict=True):
            assert bool(ours) == bool(theirs)
            assert not ours or ours != theirs
            quotes = re.findall(r"„(.*?)“", ours), re.findall(r'"(.*?)"', theirs)
            if topic not in {"numbers", "names"}:  # these repeat in words what the counts say
                assert set(quotes[1]) <= set(quotes[0]), (ours, theirs)
            told |= {topic} if ours else set()
    assert told


def test_all_topics_are_tried() -> None:
    seen = set()
    for of in (items(), PAIRS, DOCUMENTS):
        seen |= {topic for texts in phrases(of, "german")[1] for topic, text in zip(TOPICS, texts, strict=True) if text}
    assert seen == set(TOPICS)


@pytest.mark.parametrize("language", REASON_TEMPLATES)
def test_languages_have_the_same_sentences_with_the_same_places(language: str) -> None:
    def places(text: str) -> int:
        return sum(name is not None for _, name, _, _ in string.Formatter().parse(text))

    ours = REASON_TEMPLATES[language]
    for name in ("frames", "verdicts", "asks", "phrases"):
        here, there = getattr(ours, name), getattr(GERMAN, name)
        assert {key: places(text) for key, text in here.items()} == {key: places(text) for key, text in there.items()}
    assert phrases([item("Sie wurde 1912 gebaut.", reference=REFERENCE)], language)[1][0]


def test_german_phrases_by_hand() -> None:
    (texts,) = phrases([item(ANSWERS[2], reference=REFERENCE)], "german")[1]
    assert texts[TOPICS.index("numbers")] == (
        "Zahlen der Referenz in der Antwort: 1 von 2 (nicht: „40“); die Antwort hat: „41“"
    )
    (texts,) = phrases([item(ANSWERS[4], reference=REFERENCE)], "german")[1]
    assert texts[TOPICS.index("refusal")] == (
        "die Antwort sagt, dass sie es nicht weiß („Das weiß ich nicht.“), obwohl die Referenz eine Antwort hat"
    )


def test_other_languages_and_mixed_sets_are_told_in_english() -> None:
    assert template_of(("italian",)) is None
    assert template_of(("english",)) is None
    assert template_of(("german", "french")) is None
