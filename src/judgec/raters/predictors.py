"""DSPy's predictors of the prompts in a tree, and back."""

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import cast

import dspy
from pydantic import ValidationError

from judgec.errors import ArtifactError, UserError
from judgec.lm.adapters import AdapterName, adapter_name, verdict_form, with_adapter, with_verdict
from judgec.raters.programs import Json
from judgec.raters.signatures import description, field_names, grade_type
from judgec.raters.tree import FieldType, PromptField, PromptLeaf
from judgec.records.card import Setting
from judgec.records.scale import Scale

_TYPES: Mapping[str, type] = {"text": str, "integer": int, "number": float}  # of a field


def prompt_of(
    predict: dspy.Predict, scale: Scale | None = None, name: str = "", lm: Mapping[str, Setting] = MappingProxyType({})
) -> PromptLeaf:
    """The prompt of a predictor as it is saved.

    Args:
        predict: Compiled or not.
        scale: The grades of a judge; None of what grades nothing.
        name: What the prompt is called among judges.
        lm: The model that it is put to.

    Raises:
        UserError: A field has a type that cannot be saved.
    """
    outputs, types = {*predict.signature.output_fields}, {one: word for word, one in _TYPES.items()}
    types |= {} if scale is None else {grade_type(scale): "grade"}
    fields = predict.signature.fields
    if strange := [one for one, field in fields.items() if field.annotation not in types]:
        raise UserError(
            f"judge module: {', '.join(strange)} of type {fields[strange[0]].annotation}; {', '.join(_TYPES)} and a "
            "grade of the scale are valid. Change the plugin that built it."
        )
    return PromptLeaf(
        name=name,
        lm=dict(lm),
        form=cast("AdapterName", adapter_name(predict)),
        instructions=predict.signature.instructions,
        fields=tuple(
            PromptField(
                name=one,
                output=one in outputs,
                type=cast("FieldType", types[field.annotation]),
                description=description(field),
            )
            for one, field in fields.items()
        ),
        demos=tuple(predict.dump_state()["demos"]),
        verdict=verdict_form(predict),
    )


def saved_prompt(
    module: dspy.Module, scale: Scale, name: str = "", lm: Mapping[str, Setting] = MappingProxyType({})
) -> PromptLeaf:
    """A judge's prompt as it is saved; parameters as ``prompt_of``.

    Raises:
        UserError: A plugin's module has several predictors, or as ``prompt_of``.
    """
    predictors = module.predictors()
    if len(predictors) != 1:
        raise UserError(f"judge module: {len(predictors)} predictors; one is valid. Change the plugin that built it.")
    return prompt_of(predictors[0], scale, name, lm)


def saved_prompts(module: dspy.Module) -> Json:
    """The prompts of a module that grades nothing as JSON, by its predictors' names."""
    return {name: prompt_of(predict, None, name).model_dump(mode="json") for name, predict in module.named_predictors()}


def put_prompts(module: dspy.Module, saved: Json, where: str) -> None:
    """Put saved prompts into a module that was built for the same fields.

    Args:
        module: Changed in place.
        saved: From ``saved_prompts``.
        where: The file, for messages.

    Raises:
        ArtifactError: They are no prompts, or of other predictors or fields.
    """
    predictors = dict(module.named_predictors())
    try:
        prompts = {name: PromptLeaf.model_validate_json(json.dumps(one)) for name, one in saved.items()}
    except ValidationError as error:
        raise damaged(error, where, "prompt holds instructions, fields and demonstrations") from error
    here = {name: [*predict.signature.fields] for name, predict in predictors.items()}
    found = {name: [field.name for field in one.fields] for name, one in prompts.items()}
    if here != found:
        raise ArtifactError(f"{where}: prompts with the fields {found}; {here} are here. Compile it again.")
    for name, predict in predictors.items():
        own = module_of(prompts[name])
        predict.signature, predict.demos = own.signature, own.demos


def damaged(error: ValidationError, where: str, holds: str) -> ArtifactError:
    """Says what of a saved tree or prompt is wrong, and what it holds else."""
    fault = error.errors()[0]
    return ArtifactError(
        f"{where}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}; a saved {holds} only. Compile it again, and do "
        "not trust whoever changed the file."
    )


def module_of(prompt: PromptLeaf, scale: Scale | None = None) -> dspy.Predict:
    """The predictor that ``prompt_of`` was given."""
    types = {**_TYPES} | ({} if scale is None else {"grade": grade_type(scale)})
    fields = {
        one.name: (types[one.type], (dspy.OutputField if one.output else dspy.InputField)(desc=one.description))
        for one in prompt.fields
    }
    predict = dspy.Predict(dspy.Signature(fields, prompt.instructions))
    predict.demos = [dict(demo) for demo in prompt.demos]
    return with_verdict(with_adapter(predict, prompt.form), prompt.verdict)


def with_instructions(module: dspy.Module, instructions: str) -> dspy.Module:
    """A copy of the judge that is told this, and nothing else, beside its inputs."""
    copy: dspy.Module = module.deepcopy()
    for predict in copy.predictors():
        predict.signature = predict.signature.with_instructions(instructions)
    return copy


def rewritten(prompt: PromptLeaf, scale: Scale, change: Callable[[dspy.Module], dspy.Module]) -> PromptLeaf:
    """A prompt in fields, changed as a predictor; turns stay as they are."""
    return prompt if prompt.turns else saved_prompt(change(module_of(prompt, scale)), scale, prompt.name, prompt.lm)


def function_module(inputs: Sequence[str], aspects: tuple[str, ...], scale: Scale) -> dspy.Predict:
    """A predictor in the place of a function: the fields that it is given and the grades that it gives, no prompt."""
    fields = {name: (str, dspy.InputField(desc=name)) for name in inputs}
    grades = {name: (grade_type(scale), dspy.OutputField(desc=name)) for name in field_names(aspects).values()}
    return dspy.Predict(dspy.Signature({**fields, **grades}, "A function of the item."))
