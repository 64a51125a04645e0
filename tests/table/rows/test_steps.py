"""Steps of a run in a cell, under the names that people give them, and as one text and back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.records.trajectory import KINDS, STEP, TOOL, Step, as_step, titled, written_step
from judgec.table.rows.lists import step_texts

LINE = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"))).map(str.strip)
NAME = st.text(alphabet="abcXYZ019_.-", max_size=12)


@given(st.builds(Step, st.sampled_from(KINDS), NAME, LINE, st.text(), LINE))
def test_a_written_step_is_read_as_it_was(step: Step) -> None:
    assert as_step(written_step(step)) == step


@pytest.mark.parametrize("text", ["searched the web", "tool search: x\nfree words", "tool: x\nerror: y\nand more"])
def test_any_other_text_is_a_step_with_that_result(text: str) -> None:
    assert as_step(text) == Step(STEP, result=text)


def test_a_result_that_looks_like_an_error_stays_a_result() -> None:
    step = Step(TOOL, "log", "tail\n-n 3", "error: disk full\nresult: none")
    back = as_step(written_step(step))
    assert (back.arguments, back.result, back.error) == ("tail -n 3", step.result, "")
    assert titled(written_step(step)) == ("tool log", f"tail -n 3\n{step.result}")


@pytest.mark.parametrize(
    "given",
    [
        {"name": "search", "arguments": {"q": "M50"}, "result": "70 mm"},
        {"tool": "search", "input": '{"q": "M50"}', "observation": "70 mm"},
        {"type": "function", "function": {"name": "search", "arguments": '{"q": "M50"}'}, "output": "70 mm"},
        'tool search: {"q": "M50"}\nresult: 70 mm',
    ],
)
def test_steps_are_read_under_the_names_that_people_give_them(given: object) -> None:
    expected = ('tool search: {"q": "M50"}\nresult: 70 mm',)
    assert step_texts([given]) == (expected, 0)
    assert step_texts(json.dumps([given])) == (expected, 0)


def test_nothing_is_lost_of_objects_of_another_kind_and_gaps_are_none() -> None:
    texts, other = step_texts([{"state": "done", "n": 3}, None, "", 7, {"name": "x", "error": True}])
    assert texts == ('step:\nresult: {"state": "done", "n": 3}', "7", "tool x:\nerror: true")
    assert other == 1
