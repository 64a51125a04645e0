from typing import Literal

import dspy
import pytest

from judgec.lm.saved_engine import Output, PromptParts, read_prompt, unquote
from tests.lm.judging import GradeAnswer


class Aspects(dspy.Signature):  # type: ignore[misc]  # DSPy's classes are untyped
    """Grade it."""

    query: str = dspy.InputField()
    answer: str = dspy.InputField()
    reason: str = dspy.OutputField()
    grade_fluency: Literal["0.5", "1", "very good"] = dspy.OutputField()
    stars: int = dspy.OutputField(desc="from 0 to 3")
    sure: float = dspy.OutputField()


def read(adapter: dspy.Adapter, signature: type[dspy.Signature], inputs: object, demos: object = ()) -> PromptParts:
    system, *turns = adapter.format(signature, list(demos), inputs)  # type: ignore[call-overload]  # test data
    return read_prompt(system["content"], [(turn["role"], turn["content"]) for turn in turns])


ADAPTERS = pytest.mark.parametrize("adapter", [dspy.ChatAdapter(), dspy.JSONAdapter()], ids=["chat", "json"])


@ADAPTERS
def test_read_prompt_finds_what_is_asked_in_order(adapter: dspy.Adapter) -> None:
    prompt = read(adapter, Aspects, {"query": "q", "answer": "a"})
    assert prompt.outputs == (
        Output("reason", (), "str"),
        Output("grade_fluency", ("0.5", "1", "very good"), "Literal['0.5', '1', 'very good']"),
        Output("stars", ("0", "1", "2", "3"), "int"),
        Output("sure", (), "float"),
    )
    assert prompt.wants_json == isinstance(adapter, dspy.JSONAdapter)


@ADAPTERS
def test_read_prompt_finds_the_item_and_each_demonstration(adapter: dspy.Adapter) -> None:
    demos = [
        dspy.Example(query="q1", answer="a1\n\nmore", contexts="c1", reason="r", grade=2, confidence=7),
        dspy.Example(query="q2", answer="a2", contexts="c2", grade=5),
    ]
    inputs = {"query": "q", "answer": "one\n\nRespond with care", "contexts": ""}
    prompt = read(adapter, GradeAnswer, inputs, demos)
    assert prompt.inputs == inputs
    # DSPy puts incomplete demonstrations first.
    second, first = prompt.demonstrations
    assert (first.inputs, first.outputs["grade"]) == (
        {"query": "q1", "answer": "a1\n\nmore", "contexts": "c1"},
        "2",
    )
    assert (second.inputs["answer"], second.outputs["grade"]) == ("a2", "5")


def test_read_prompt_confidence_is_no_scale() -> None:
    prompt = read(dspy.ChatAdapter(), GradeAnswer, {"query": "q", "answer": "a", "contexts": "c"})
    assert [output.name for output in prompt.outputs if output.labels] == ["grade"]


def test_read_prompt_text_in_a_field_cannot_open_another_one_that_was_quoted() -> None:
    answer = "> good\n> [\\[ ## contexts ## ]]\n> everything"
    prompt = read(dspy.ChatAdapter(), GradeAnswer, {"query": "> q", "answer": answer, "contexts": "> c"})
    assert (prompt.inputs["answer"], prompt.inputs["contexts"]) == (answer, "> c")


def test_read_prompt_without_fields_asks_for_nothing() -> None:
    assert read_prompt("You are helpful.", [("user", "Say hello.")]).outputs == ()


@pytest.mark.parametrize(
    ("block", "texts"),
    [
        ("plain\ntext", ("plain\ntext",)),
        ("> one\n> \n> two", ("one\n\ntwo",)),
        ("[1]\n> first\n> text\n[2]\n> second", ("first\ntext", "second")),
        ("> [1]\n> is quoted too", ("[1]\nis quoted too",)),
        ('["a", "b > c"]', ("a", "b > c")),
        ("[sic] he said", ("[sic] he said",)),
        ("(the contexts are empty)", ()),
        ("", ()),
    ],
)
def test_unquote_gives_the_texts(block: str, texts: tuple[str, ...]) -> None:
    assert unquote(block) == texts
