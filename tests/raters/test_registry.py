"""Which judges there are, and how a plugin adds one."""

from pathlib import Path

import pytest

from judgec.errors import UserError
from judgec.raters.registry import judge_module
from judgec.raters.signatures import REASONS
from judgec.records.scale import Scale
from judgec.records.tasks.built_in import BUILT_IN
from judgec.records.tasks.registry import TASKS
from tests.records.tasks.plugin import PROMPT, TASK, install

SCALE = Scale(grades=(0, 1))
BUILDER = '''"""A judge and nothing else."""

import dspy


def judge(scale, aspects, fields):
    return dspy.Predict("answer -> grade")
'''


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_judge_module_of_a_plugins_task_is_built_from_its_signature(site: Path) -> None:
    install(site, module="from_signature")
    predict = judge_module("politeness", SCALE, ("grade",), ("query", "answer"))
    assert list(predict.signature.output_fields) == ["reason", "grade", "confidence"]
    assert predict.signature.instructions.endswith("Grades, worst first:\n0: rude or curt\n1: friendly")


def test_judge_module_of_a_plugin_that_is_a_function_is_what_it_builds(site: Path) -> None:
    install(site, name="tone", module="from_function", attribute="judge", task=BUILDER)
    assert list(judge_module("tone", SCALE, ("grade",), ("answer",)).signature.output_fields) == ["grade"]
    assert "tone" not in TASKS  # it says nothing of columns


def test_judge_module_of_a_task_of_the_package_cannot_be_replaced_by_a_plugin(site: Path) -> None:
    install(site, name="grade", module="instead", attribute="judge", task=BUILDER)
    assert "reason" in judge_module("grade", SCALE, ("grade",), ("answer",)).signature.output_fields


def test_judge_module_of_an_unknown_task_names_those_there_are(site: Path) -> None:
    install(site, name="tone", module="named", attribute="judge", task=BUILDER)
    with pytest.raises(UserError, match=r"'mood'; there are " + ", ".join(sorted([*BUILT_IN, "tone"]))):
        judge_module("mood", SCALE, ("grade",), ("answer",))


def test_judge_module_without_its_signature_names_task_and_signature(site: Path) -> None:
    install(site, module="without", task=TASK.replace("SayWhetherPolite", "SayWhetherKind"))
    with pytest.raises(UserError, match=r"politeness: signature 'without_prompt:SayWhetherKind'"):
        judge_module("politeness", SCALE, ("grade",), ("query", "answer"))


def test_judge_module_of_a_signature_with_two_grades_is_refused(site: Path) -> None:
    two = PROMPT.replace("    confidence:", '    tone: str = dspy.OutputField(desc="another grade")\n    confidence:')
    install(site, module="two_grades", prompt=two)
    with pytest.raises(UserError, match="has 2 outputs besides"):
        judge_module("politeness", SCALE, ("grade",), ("query", "answer"))


@pytest.mark.parametrize("task", BUILT_IN)
def test_judge_module_of_every_task_keeps_only_the_fields_that_the_items_have(task: str) -> None:
    predict = judge_module(task, SCALE, ("grade",), ("query", "unheard_of"))
    assert list(predict.signature.input_fields) == ["query"]
    assert next(iter(predict.signature.output_fields)) in REASONS
    assert "{standard}" not in str(predict.signature)


@pytest.mark.parametrize("task", BUILT_IN)
def test_judge_module_of_every_task_has_a_field_for_each_input_that_a_judge_may_see(task: str) -> None:
    spec = TASKS[task]
    aspects = tuple(spec.aspects) or ("grade",)
    predict = judge_module(task, spec.scale, aspects, spec.inputs)
    assert set(predict.signature.input_fields) == set(spec.reading)
    assert len(predict.signature.output_fields) == len(aspects) + 2
