"""``judge.align(traces, optimizer=JudgecAlignmentOptimizer())``: MLflow's judges, compiled by judgec."""

import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import mlflow
from mlflow.entities import Trace
from mlflow.genai.judges import make_judge
from mlflow.genai.judges.base import AlignmentOptimizer, Judge

from judgec.compile.measured import Compiled
from judgec.compile.search.candidates import UNCOMPILED, Candidate, first_predictor, task_module
from judgec.compile.settings import CallSettings, CandidateSettings, CompileSettings, SearchSettings, reflection_spec
from judgec.connect.feedback import feedback_table
from judgec.connect.tracking.store import tracking_store
from judgec.connect.tracking.traces import feedback_of
from judgec.errors import UserError
from judgec.labels.labels import label_file
from judgec.labels.reading import EVERYBODY, Datasheet
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from judgec.raters.fencing import unfence
from judgec.raters.predictors import with_instructions
from judgec.raters.signatures import REASON, grade_fields, rubric
from judgec.records.estimate import Estimate
from judgec.records.label import LabelSet, Text
from judgec.records.scale import Scale
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.intervals.jackknife import difference_interval
from judgec.table.rows.cells import as_accept, as_grade
from judgec.verbs.compilation import compile_and_save

FIELD_OF = {"inputs": "query", "outputs": "answer", "expectations": "reference", "trace": "contexts"}
"""Our input field by MLflow's template variable; a trace shows its judge the retrieved contexts."""
VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_logger = logging.getLogger(__name__)


class JudgecAlignmentOptimizer(AlignmentOptimizer):  # type: ignore[misc]  # MLflow's types are not followed
    """Aligns a judge made by ``mlflow.genai.make_judge`` with the human feedback on traces.

    The feedback named as the judge is the label, that of every annotator. Labels are split by query, the prompt is
    searched on train and dev by an agreement statistic, and on the test traces, which the search never saw, the found
    prompt is compared with the judge as it was. Only a prompt that agrees better there is returned, or with
    ``require_shown`` only one whose paired 95 % interval says so.

    What is returned is a prompt: MLflow's judge applies no calibrator, and one that did could not be registered. So it
    is the raw verdicts that are compared, and the default objective is one that a constant bias lowers. The compile is
    saved and logged to MLflow's current store like any other: ``judgec judge`` and ``judgec compare`` run the same
    judge with its calibrator, and its look at the test traces is counted. Judgments are asked for with judgec's
    rendering of the prompt, within the caps; how MLflow's own rendering of it agrees is not measured.

    Args:
        objective: As ``--objective``; default ``qwk`` for ordered values, ``kappa`` for classes.
        optimizer: As ``--optimizer``.
        lm: The model to compile for, in judgec's spelling; default: the judge's own.
        reflection_lm: As ``--reflection-lm``: the model that rewrites prompts; default: that of ``lm``.
        api_base: An OpenAI-compatible endpoint; default: as the environment says, for example in
            ``OPENAI_BASE_URL``.
        seed: Of the search.
        budget: Most LM calls.
        max_cost: Most US dollars.
        require_shown: Return the judge as it was unless the found prompt is shown to be better.
        home: Folder that holds ``programs/`` and ``.judgec/``.

    Attributes:
        report: What the last ``align`` found out; the keys of ``judgec compile-judge --json``, ``aligned``, and
            ``raw_gain``: the objective of the found prompt minus that of the judge as it was, on test, uncalibrated.
    """

    def __init__(
        self,
        *,
        objective: str | None = None,
        optimizer: str = "labeled",
        lm: str | None = None,
        reflection_lm: str | None = None,
        api_base: str | None = None,
        seed: int = 0,
        budget: int | None = None,
        max_cost: float | None = None,
        require_shown: bool = False,
        home: str | Path = ".",
    ) -> None:
        super().__init__()
        self.report: dict[str, object] = {}
        self._objective, self._optimizer, self._seed = objective, optimizer, seed
        self._lm, self._reflection_lm, self._api_base = lm, reflection_lm, api_base
        self._budget, self._max_cost, self._home = budget, max_cost, Path(home)
        self._require_shown = require_shown

    def align(self, judge: Judge, traces: list[Trace]) -> Judge:
        """A new judge whose instructions carry what the compile found, or ``judge`` where that was not better.

        Raises:
            UserError: When the judge reads what cannot be compiled (a conversation), or its model is not known here.
            InputError: When no trace has human feedback named as the judge, or the values fit no scale.
            ServiceError: When the model fails for good.
        """
        labels = labels_of(judge, traces)
        start = _instructions(judge, labels)
        settings = self._settings(judge, labels, start)
        store = tracking_store(self._home, mlflow.get_tracking_uri(), {})
        source = f"traces of {judge.name}"
        found = compile_and_save(labels, settings, store, os.environ, source=source, watch=Silent())
        compiled = found.saved.compiled
        gain = _raw_gain(compiled, settings)
        aligned = compiled.shipped.name != UNCOMPILED and (gain.value or 0) > 0
        if self._require_shown:
            aligned = aligned and gain.low is not None and gain.low >= 0
        self.report = {**found.report, "aligned": aligned, "raw_gain": gain.to_json()}
        _logger.info("%s: %s", judge.name, "aligned" if aligned else "no prompt agreed better on test: left as it was")
        if not aligned:
            return judge
        return make_judge(
            name=judge.name,
            instructions=instructions_of(judge, compiled, start),
            model=judge.model,
            description=judge.description,
            feedback_value_type=judge.feedback_value_type,
            inference_params=judge.inference_params,
            base_url=getattr(judge, "_base_url", None),  # MLflow has no public way to it
            extra_headers=getattr(judge, "_extra_headers", None),
        )

    def _settings(self, judge: Judge, labels: LabelSet, start: str) -> CompileSettings:
        spec = self._spec(judge)
        reflection, no_reflection = reflection_spec(spec, self._reflection_lm)
        return CompileSettings(
            name=re.sub(r"[^A-Za-z0-9._-]+", "-", judge.name)[:64].strip("-._") or "judge",
            home=self._home,
            lm=spec,
            objective=self._objective or ("kappa" if labels.scale.level == "nominal" else "qwk"),
            search=SearchSettings(self._optimizer, reflection, no_reflection),
            candidates=CandidateSettings(own=Candidate(UNCOMPILED, with_instructions(task_module(labels), start))),
            caps=CallSettings(self._budget, self._max_cost),
            seed=self._seed,
            evidence=False,  # MLflow's judge could not read it
        )

    def _spec(self, judge: Judge) -> LMSpec:
        if self._lm is not None:
            return LMSpec.parse(self._lm, api_base=self._api_base)
        provider, colon, model = judge.model.partition(":/")
        if not colon or provider in {"databricks", "endpoints", "gateway"}:
            raise UserError(
                f"judge {judge.name}: model {judge.model} is served by MLflow; judgec asks a provider or an endpoint "
                "itself. Name the model with lm=, and api_base= where it has an endpoint of its own."
            )
        name = f"{provider}/{model.lstrip('/')}"
        return LMSpec.parse(name, api_base=self._api_base)


def labels_of(judge: Judge, traces: Sequence[Trace]) -> LabelSet:
    """The human feedback named as the judge, with what its template shows of each trace.

    Raises:
        UserError: When the template reads a conversation.
        InputError: When there is no such feedback, or its values are off the judge's scale.
    """
    variables = set(VARIABLE.findall(judge.instructions))
    if "conversation" in variables:
        raise UserError(f"judge {judge.name}: it reads a conversation; single turns are valid. Align another.")
    where = f"traces of {judge.name}"
    ordered = sorted(traces, key=lambda trace: str(trace.info.trace_id))  # as ``read_feedback`` gives them
    found = feedback_of(ordered, judge.name, where)
    hidden = {"reference", "contexts"} - {FIELD_OF[variable] for variable in variables}
    rows = [{name: value for name, value in row.items() if name not in hidden} for row in found.rows]
    table = feedback_table(rows, where, notes=found.notes, column="grade")
    scale = scale_of(judge, [row["label"] for row in rows])
    people = Datasheet(path=f"the type of {judge.name}", scale=scale, task="grade", annotators=EVERYBODY)
    return label_file(table, people).labels


def scale_of(judge: Judge, seen: Sequence[object]) -> Scale | None:
    """The scale that the judge's value type says, or None where it is to be inferred from numbers.

    Numbers are ordered; of two values the one that says yes, true, pass is the higher; other words are classes.
    """
    kind: Any = judge.feedback_value_type  # a type or a typing construct, as the user wrote it
    values: Sequence[object] = get_args(kind) if get_origin(kind) is Literal else (False, True) if kind is bool else ()
    if kind in {int, float}:
        return None
    grades = list(dict.fromkeys(grade for value in values or seen if (grade := as_grade(value)) is not None))
    numbers = [grade for grade in grades if not isinstance(grade, str)]
    if len(numbers) == len(grades):
        return Scale(name=judge.name, grades=tuple(sorted(numbers))) if values else None
    if not values:
        grades = sorted({str(grade).lower(): str(grade) for grade in grades}.values())
    if len(grades) == 2:
        by_meaning = sorted(grades, key=lambda grade: bool(as_accept(grade)))
        known = all(as_accept(grade) is not None for grade in grades)
        return Scale(name=judge.name, grades=tuple(by_meaning), accept_at=by_meaning[1] if known else None)
    return Scale(name=judge.name, level="nominal", grades=tuple(grades))


def instructions_of(judge: Judge, compiled: Compiled, start: str) -> str:
    """The compiled prompt as an MLflow template: instructions, then the demonstrations, flattened.

    Args:
        judge: As it was.
        compiled: From its traces.
        start: The instructions that the search started from; unchanged ones give back the judge's own template.
    """
    predict = first_predictor(compiled.shipped.module)
    instructions = str(judge.instructions)
    names = {field: variable for variable, field in FIELD_OF.items()}
    if predict.signature.instructions != start:  # these speak of our fields
        variables = dict.fromkeys(VARIABLE.findall(judge.instructions))
        shown = "\n".join(f"{FIELD_OF[name]}: {{{{ {name} }}}}" for name in variables)
        instructions = f"{_literal(predict.signature.instructions)}\n\n{shown}"
        names = {field: field for field in names}
    grade = grade_fields(predict)[0]
    examples = []
    for number, demo in enumerate(predict.demos, 1):
        lines = [f"Example {number}"]
        lines += [f"{names[field]}: {_joined(unfence(demo[field]))}" for field in predict.signature.input_fields]
        lines += [f"rationale: {demo[REASON]}"] if demo.get(REASON) else []
        examples.append("\n".join([*lines, f"result: {demo[grade]}"]))
    if not examples:
        return instructions
    return "\n\n".join([instructions, "Examples that human experts graded:", *map(_literal, examples)])


def _instructions(judge: Judge, labels: LabelSet) -> str:
    """The judge's own instructions with our field names for its variables, and the grades to choose from."""
    text = VARIABLE.sub(lambda match: f"`{FIELD_OF.get(match[1], match[1])}`", judge.instructions)
    return f"{text}\n\n{rubric(labels.scale)}"


def _raw_gain(compiled: Compiled, settings: CompileSettings) -> Estimate:
    """The objective of the found prompt minus that of the uncompiled one on test, as they are."""
    objective, ratings = parse_objective(settings.objective), compiled.verification.ratings
    found = difference_interval(
        objective.statistic(ratings["compiled_prompt"]),
        objective.statistic(ratings["uncompiled"]),
    )
    return found.estimate(len(ratings["uncompiled"].judge))


def _joined(text: Text) -> str:
    return text if isinstance(text, str) else "\n\n".join(text)


def _literal(text: str) -> str:
    """Text that MLflow's templates leave alone."""
    return text.replace("{{", "{ {").replace("}}", "} }")
