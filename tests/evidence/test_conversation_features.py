"""Evidence from the turns before an answer, checked by hand."""

from dataclasses import replace

import numpy as np
import pytest

from judgec.evidence.conversation_features import CONVERSATION_NAMES, conflicts
from judgec.evidence.model import EvidenceModel
from judgec.evidence.reasons.topics import topic_of
from judgec.evidence.text import read
from judgec.records.label import Item, Text

PUMP = ("user: Tell me of the Grundfos pump.", "assistant: The pump lifts 70 m3 per hour. The pump is not silent.")


def item(answer: str, *before: str, query: str = "Is it quiet?") -> Item:
    inputs: dict[str, Text] = {"query": query, "answer": answer} | ({"conversation": before} if before else {})
    return Item(answer, "q", inputs)


def features(one: Item) -> dict[str, float]:
    model = EvidenceModel.fit([one])
    (row,) = model.transform([one])
    return {name.removeprefix("conversation."): value for name, value in zip(model.names, row, strict=True)}


@pytest.mark.parametrize(
    ("answer", "denied", "figures"),
    [
        ("The pump is silent.", 1.0, 0.0),
        ("The pump is not silent.", 0.0, 0.0),
        ("The pump lifts 90 m3 per hour.", 0.0, 1.0),
        ("The pump lifts 70 m3 per hour.", 0.0, 0.0),
        ("The garden is silent. The pump is silent.", 0.5, 0.0),
        ("Yes.", 0.0, 0.0),
    ],
)
def test_contradictions_are_sentences_against_earlier_ones(answer: str, denied: float, figures: float) -> None:
    found = features(item(answer, *PUMP))
    assert (found["contradictions"], found["number_conflicts"]) == (denied, figures)


def test_conflict_names_both_sentences() -> None:
    (found,) = conflicts(read("Sure. The pump lifts 90 m3 per hour."), read("The pump lifts 70 m3 per hour."))
    assert (found.now, found.before, found.numbers) == (
        "The pump lifts 90 m3 per hour.",
        "The pump lifts 70 m3 per hour.",
        True,
    )


def test_repetition_is_of_the_assistant_and_what_users_said_is_not() -> None:
    again = features(item("The pump lifts 70 m3 per hour.", *PUMP))
    assert (again["repeated"], again["repeated_run"], again["repeated_sentences"]) == (1.0, 1.0, 1.0)
    other = features(item("Garden hoses differ in width.", *PUMP))
    assert (other["repeated"], other["repeated_sentences"]) == (0.0, 0.0)
    user = features(item("Grundfos.", *PUMP))
    assert (user["repeated"], user["from_users"]) == (0.0, 1.0)


def test_reference_is_resolved_to_what_was_named_last() -> None:
    turns = ("user: Compare a Grundfos with a Wilo.", "assistant: The best is from Wilo.")
    named, other = (features(item(answer, *turns)) for answer in ("A Wilo is quiet.", "A Grundfos is quiet."))
    assert named["refers"] == other["refers"] == 1.0
    assert named["carried"] == 1.0  # quiet, and Wilo
    assert other["carried"] < 1.0
    plain = features(item("A Grundfos is quiet.", *turns, query="Is Grundfos quiet?"))
    assert (plain["refers"], plain["carried"]) == (0.0, 1.0)


def test_counts_complaints_and_questions_asked_again() -> None:
    turns = ("user: How wide is the pump?", "assistant: It is red.")
    found = features(item("I am sorry, it is 4 m wide.", *turns, query="That is wrong. How wide is the pump?"))
    assert found["turns"] == pytest.approx(np.log(3))
    assert found["user_turns"] == pytest.approx(np.log(2))
    assert (found["complaints"], found["thanks"], found["corrects"]) == (0.5, 0.0, 1.0)
    assert 0.5 < found["asked_again"] < 1.0  # "wrong" is new


def test_whole_dialogue_has_the_mean_of_its_answers() -> None:
    first = ("user: Tell me of the pump.", "assistant: The pump is silent.")
    dialogue = (*first, "user: Really?", "assistant: The pump is not silent.")
    one = Item("i", "q", {"query": "Tell me of the pump.", "answer": dialogue, "dialogue": "4 turns"})
    assert features(one)["contradictions"] == 1.0  # the first answer has no turns before it
    model = EvidenceModel.fit([one])
    longer = replace(one, inputs={**one.inputs, "answer": (*dialogue, "user: So?", "assistant: Buy a fan.")})
    at = model.names.index("conversation.contradictions")
    assert model.transform([longer])[0, at] == 0.5


def test_features_without_conversations_are_those_of_before() -> None:
    plain = [item("It is quiet."), item("No.")]
    assert not any(name.startswith("conversation.") for name in EvidenceModel.fit(plain).names)
    model = EvidenceModel.fit([*plain, item("Yes.", *PUMP)])
    at = [model.names.index(f"conversation.{name}") for name in (*CONVERSATION_NAMES, "absent")]
    assert model.transform(plain)[:, at].tolist() == [[0.0] * len(CONVERSATION_NAMES) + [1.0]] * 2
    others = [name for name in model.names if not name.startswith("conversation.")]
    alone = EvidenceModel(model.idf, model.families[:-1])
    assert list(alone.names) == others
    kept = [model.names.index(name) for name in others]
    assert np.array_equal(model.transform(plain)[:, kept], alone.transform(plain))


def test_pair_has_the_difference_of_its_sides_and_turns_over_with_them() -> None:
    sides: dict[str, Text] = {
        "conversation_a": PUMP,
        "conversation_b": PUMP[:1],
        "answer_a": "The pump is silent.",
        "answer_b": "Yes.",
    }
    swapped = {name: sides[f"{name[:-1]}{'b' if name[-1] == 'a' else 'a'}"] for name in sides}
    pair, mirror = (Item("i", "q", {"query": "Is it quiet?", **one}) for one in (sides, swapped))
    model = EvidenceModel.fit([pair])
    one, other = model.transform([pair, mirror])
    assert np.array_equal(one, -other)
    assert one[model.names.index("conversation.contradictions")] == 1.0


def test_every_feature_is_finite_and_tells_of_turns() -> None:
    odd = [item("x", "assistant: "), item("?", "user: ", "tool (a): 3", query="it"), item("", *PUMP)]
    model = EvidenceModel.fit(odd)
    assert np.isfinite(model.transform(odd)).all()
    assert {topic_of(f"conversation.{name}") for name in CONVERSATION_NAMES} == {"turns"}
    assert len(set(CONVERSATION_NAMES)) == len(CONVERSATION_NAMES)
