"""Prompts begin with what all answers of a query share, so that a provider's cache serves it; the answer comes last."""

import dspy
import pytest

from judgec.raters.registry import judge_module
from judgec.raters.signatures import fenced_inputs
from judgec.records.label import Item
from judgec.records.tasks.registry import TASKS

SHARED = ("dialogue", "conversation", "query", "contexts", "reference", "nuggets")
OWN = ("steps", "answer")
TEXTS = {"contexts": ("one", "two"), "nuggets": ("vital: so it is",), "steps": ("tool search: so",)}
SINGLE = sorted(name for name, task in TASKS.items() if "answer" in task.inputs and name != "reliability")


def user_message(task: str, changed: str) -> str:
    fields = TASKS[task].inputs
    module = judge_module(task, TASKS[task].scale, tuple(TASKS[task].aspects) or ("grade",), fields)
    (predict,) = module.predictors()
    texts = {name: TEXTS.get(name, f"the {name}") for name in fields}
    texts |= {name: f"{changed} of {name}" if name == "answer" else (f"tool {changed}: so",) for name in OWN}
    item = Item("i", "q", {name: text for name, text in texts.items() if name in fields})
    messages = dspy.ChatAdapter().format(predict.signature, [], fenced_inputs(predict, item))
    return str(messages[-1]["content"])


@pytest.mark.parametrize("task", SINGLE)
def test_prompt_of_one_answer_shows_query_contexts_reference_and_then_the_answer(task: str) -> None:
    one = user_message(task, "one")
    shown = [name for name in (*SHARED, *OWN) if f"[[ ## {name} ## ]]" in one]
    assert sorted(shown) == sorted(TASKS[task].inputs)
    places = [one.index(f"[[ ## {name} ## ]]") for name in shown]
    assert places == sorted(places)


@pytest.mark.parametrize("task", SINGLE)
def test_prompts_of_two_answers_to_one_query_are_the_same_up_to_what_is_the_answers_own(task: str) -> None:
    one, other = user_message(task, "one"), user_message(task, "other")
    first = next(name for name in OWN if name in TASKS[task].inputs)
    start, _, rest = one.partition(f"[[ ## {first} ## ]]")
    assert other.startswith(f"{start}[[ ## {first} ## ]]")
    assert not other.endswith(rest)


def test_failures_of_a_run_are_said_to_be_the_runs() -> None:
    task = TASKS["trajectory_modes"]
    module = judge_module("trajectory_modes", task.scale, ("tool_error",), task.inputs)
    assert "0: absent: the run does not show it" in module.predictors()[0].signature.instructions
