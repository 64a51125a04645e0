"""A judge as a folder of Python that needs numpy alone: ``judge.py``, its data, the parts of judgec that it runs."""

import json
import re

import dspy

from judgec.errors import UserError
from judgec.lm.adapters import TERSE
from judgec.raters.export.prompt import BarePrompt, placed
from judgec.raters.export.sources import standalone_sources, stemmer_sources
from judgec.raters.judge import JudgeTree, no_verdicts
from judgec.raters.predictors import module_of
from judgec.raters.programs import Json, Program
from judgec.raters.signatures import json_schema
from judgec.raters.tree import PromptLeaf
from judgec.records.scale import Scale
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


def python_files(program: Program, judge: JudgeTree) -> dict[str, str]:
    """Text by path below the folder.

    Raises:
        UserError: The judge was made from recorded verdicts, or of a plugin's task.
        ArtifactError: It needs what is gone.
    """
    card = program.card
    name = f"{card.name}@{card.version}"
    if any(leaf.verdicts for leaf in judge.rater.leaves):
        raise UserError(
            f"export {name}: it looks recorded verdicts up; a judge that is asked, or of evidence alone, runs by "
            "itself. Export its prompt with --to prompt."
        )
    if len(judge.leaves) > len(judge.prompts) or len(judge.leaves) > 1:
        raise UserError(
            f"export {name}: asks {', '.join(leaf.name for leaf in judge.leaves)}; a judge that asks one prompt runs "
            "by itself. Export one of them, or the prompts of all with --to prompt."
        )
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


def _data(program: Program, judge: JudgeTree, name: str) -> Json:
    spec, run = TASKS[program.card.task], judge.run(no_verdicts)
    bare = judge.with_prompts(lambda prompt: prompt.model_copy(update={"instructions": "", "demos": ()}))
    return {
        "judge": name,
        "scale": judge.scale.model_dump(mode="json"),
        "aspects": list(judge.aspects),
        "pairs": run.pairs,
        "checks": run.checks,
        "reads": list(program.card.fields),
        "fields": {
            "inputs": list(spec.inputs),
            "graded": list(spec.graded),
            "lists": list(spec.lists),
            "joined": list(spec.joined),
        },
        "prompt": None if not judge.prompts else _prompt(judge.prompts[0], judge.scale, name),
        "tree": bare.saved(),
    }


def _prompt(prompt: PromptLeaf, scale: Scale, name: str) -> Json:
    predict = module_of(prompt, scale)
    forms = [placed(predict, name)]
    if json_schema(predict) is not None:  # as it is asked again where a reply cannot be read
        forms.append(placed(predict, name, None if prompt.form == TERSE else dspy.JSONAdapter()))
    return {
        "inputs": list(prompt.inputs),
        "outputs": list(prompt.grades),
        "forms": [_form(one) for one in forms],
        **({} if prompt.verdict is None else {"verdict": prompt.verdict}),
    }


def _form(prompt: BarePrompt) -> Json:
    return {"placeholders": dict(prompt.placeholders), "messages": list(prompt.messages)}
