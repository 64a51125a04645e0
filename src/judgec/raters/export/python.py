"""A judge as a folder of Python that needs numpy alone: ``judge.py``, its data, the parts of judgec that it runs."""

import json
import re

import dspy

from judgec.errors import UserError
from judgec.lm.adapters import TERSE, adapter_name, verdict_form
from judgec.lm.spec import NO_LM
from judgec.raters.export.prompt import BarePrompt, bare_prompts, placed
from judgec.raters.export.sources import standalone_sources, stemmer_sources
from judgec.raters.judge import CompiledJudge
from judgec.raters.programs import Json, Program, gone
from judgec.raters.signatures import check_kind, grade_fields, json_schema
from judgec.records.tasks.registry import TASKS

FACE = '''"""The judge {name} without judgec: it needs Python 3.11 or later and numpy, nothing else.

    from judge import grade
    grade({{"query": "...", "answer": "..."}})["grade"]
"""

import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.append(str(HERE))

from {package}.raters.export.standalone import StandaloneJudge  # noqa: E402  # found by the line above

JUDGE = StandaloneJudge(HERE / "judge.json")


def grade(
    item: dict[str, object], complete: Callable[[list[dict[str, str]]], str] | None = None
) -> dict[str, object]:
    """Judge one item: the keys of a row of ``judgec judge``.

    Args:
        item: {fields}.
        complete: From the messages (role, content) to the text of a language model's reply; {asked}.
    """
    return JUDGE.grade(item, complete)
'''


def python_files(program: Program, judge: CompiledJudge) -> dict[str, str]:
    """Text by path below the folder.

    Raises:
        UserError: The judge was made from recorded verdicts, or of a plugin's task.
        ArtifactError: It needs what is gone.
    """
    judge.require_whole()
    card = program.card
    name = f"{card.name}@{card.version}"
    if card.settings.get("kind") == "recorded" and judge.asks_lm:
        raise UserError(
            f"export {name}: it looks recorded verdicts up; a judge that is asked, or of evidence alone, runs by "
            "itself. Export its prompt with --to prompt."
        )
    if judge.jurors:
        raise UserError(
            f"export {name}: asks {', '.join(judge.jurors)}, each with its own model; a judge that asks one runs by "
            "itself. Export one of them, or the prompts of all with --to prompt."
        )
    if judge.asks_lm and card.lm.get("model") == NO_LM:
        raise UserError(f"export {gone(program, 'rules that stood in for a model')}")
    if card.task not in TASKS:
        raise UserError(f"export {name}: {card.task} is a plugin's own module; tasks with a declaration are valid.")
    package = "judge_" + re.sub(r"\W+", "_", f"{card.name}_{card.version}").lower()
    asked = "needed" if judge.asks_lm else "not needed"
    face = FACE.format(name=name, package=package, fields=", ".join(TASKS[card.task].inputs), asked=asked)
    data = json.dumps(_data(program, judge, name), ensure_ascii=False, separators=(",", ":"))
    return {
        "judge.py": face,
        "judge.json": data + "\n",
        **standalone_sources(package),
        **stemmer_sources(package, () if judge.evidence is None else judge.evidence.languages),
    }


def _data(program: Program, judge: CompiledJudge, name: str) -> Json:
    spec, (predict,) = TASKS[program.card.task], judge.module.predictors()
    forms = list(bare_prompts(judge, name)) if not judge.prompts else []
    if json_schema(predict) is not None:  # as it is asked again where a reply cannot be read
        forms.append(placed(predict, name, None if adapter_name(predict) == TERSE else dspy.JSONAdapter()))
    return {
        "judge": name,
        "scale": judge.scale.model_dump(mode="json"),
        "aspects": list(judge.aspects),
        "fields": {
            "inputs": list(spec.inputs),
            "graded": list(spec.graded),
            "lists": list(spec.lists),
            "joined": list(spec.joined),
        },
        "prompt": {
            "pairs": judge.pairs,
            "checks": check_kind(judge.module),
            "inputs": list(predict.signature.input_fields),
            "outputs": list(grade_fields(predict)),
            "forms": [_form(one) for one in forms],
            **({} if (own := verdict_form(predict)) is None else {"verdict": own}),
        },
        "evidence": None if judge.evidence is None else judge.evidence.to_json(),
        "calibrators": {
            aspect: one.model_dump(mode="json", exclude={"choices"}) for aspect, one in judge.calibrators.items()
        },
        "cascade": None if judge.cascade is None else judge.cascade.model_dump(mode="json"),
    }


def _form(prompt: BarePrompt) -> Json:
    return {"placeholders": dict(prompt.placeholders), "messages": list(prompt.messages)}
