"""Which judges there are, and how a plugin adds one."""

from collections.abc import Collection
from dataclasses import dataclass

import dspy
import pytest

from judgec.errors import UserError
from judgec.judges import registry
from judgec.judges.registry import JUDGES, JudgeBuilder, judge_module
from judgec.records.scale import Scale

SCALE = Scale(grades=(0, 1))


def tone_judge(scale: Scale, aspects: tuple[str, ...], fields: Collection[str]) -> dspy.Module:
    return dspy.Predict("answer -> grade")


@dataclass(frozen=True)
class Plugin:
    name: str

    def load(self) -> JudgeBuilder:
        return tone_judge


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = [Plugin("tone"), Plugin("grade")]
    monkeypatch.setattr(registry, "entry_points", lambda *, group: installed if group == "judgec.judges" else [])


@pytest.mark.usefixtures("plugins")
def test_judge_module_of_a_plugins_task_is_built_by_the_plugin() -> None:
    assert list(judge_module("tone", SCALE, ("grade",), ("answer",)).signature.output_fields) == ["grade"]


@pytest.mark.usefixtures("plugins")
def test_judge_module_of_a_built_in_task_cannot_be_replaced_by_a_plugin() -> None:
    assert "reason" in judge_module("grade", SCALE, ("grade",), ("answer",)).signature.output_fields


@pytest.mark.usefixtures("plugins")
def test_judge_module_of_an_unknown_task_names_those_there_are() -> None:
    with pytest.raises(UserError, match=r"'mood'; there are answer, grade, preference, .*relevance, reliability, tone"):
        judge_module("mood", SCALE, ("grade",), ("answer",))


@pytest.mark.parametrize("task", JUDGES)
def test_judge_module_of_every_task_keeps_only_the_fields_that_the_items_have(task: str) -> None:
    predict = judge_module(task, SCALE, ("grade",), ("query", "unheard_of"))

    assert list(predict.signature.input_fields) == ["query"]
    assert next(iter(predict.signature.output_fields)) == "reason"
    assert "{standard}" not in str(predict.signature)
