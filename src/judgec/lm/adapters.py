"""Writes prompts and asks for replies: in DSPy's chat and JSON forms, or in a terse one of few tokens."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, get_args, get_origin

import dspy

AdapterName = Literal["chat", "json", "terse"]
CHAT: Final = "chat"
TERSE: Final = "terse"
QUOTED = re.compile(r" \((quoted with '> ': [^)]*)\)$")  # behind the description of every input that is quoted
REPLY = "Reply with one JSON object, nothing else:"


class TerseAdapter(dspy.JSONAdapter):  # type: ignore[misc]  # DSPy's classes are untyped
    """The same fields as DSPy's adapters, each named once, and one line that asks for JSON.

    DSPy's adapters show the structure of the whole exchange, and repeat what is asked for behind every item.
    """

    def format_system_message(self, signature: type[dspy.Signature]) -> str:
        """Instructions, and what is given."""
        described = {name: str(field.json_schema_extra["desc"]) for name, field in signature.input_fields.items()}
        quoted = next((found[1] for text in described.values() if (found := QUOTED.search(text))), "")
        given = [f"{name}: {QUOTED.sub('', text)}" for name, text in described.items()]
        texts = f"Texts are {quoted}." if quoted else ""
        return "\n".join(filter(None, [signature.instructions, *given, texts]))

    def format_user_message_content(
        self,
        signature: type[dspy.Signature],
        inputs: Mapping[str, object],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> str:
        """The texts of an item, each under its name; last of all the reply that is asked for, which small models forget
        where it stands before the texts.
        """
        texts = [f"{name}:\n{inputs[name]}" for name in signature.input_fields if name in inputs]
        outputs = ", ".join(f'"{name}": <{_asked(field)}>' for name, field in signature.output_fields.items())
        reply = f"{REPLY} {{{outputs}}}" if main_request else ""
        return "\n\n".join(filter(None, [prefix, *texts, suffix, reply]))

    def format_assistant_message_content(
        self,
        signature: type[dspy.Signature],
        outputs: Mapping[str, object],
        missing_field_message: str | None = None,  # noqa: ARG002 - as DSPy calls it; what is missing is left out
    ) -> str:
        """The reply of a demonstration."""
        said = {name: outputs[name] for name in signature.output_fields if outputs.get(name) is not None}
        return json.dumps(said, ensure_ascii=False)


def _asked(field: Any) -> str:  # Any: DSPy's fields are untyped
    """Content of an output, and the values that it may have."""
    values = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    one_of = f": {'|'.join(json.dumps(value, ensure_ascii=False) for value in values)}" if values else ""
    return f"{field.json_schema_extra['desc']}{one_of}"


ADAPTER, VERDICT = "adapter", "verdict"  # what a predictor keeps beside its prompt
_ADAPTERS = {"chat": dspy.ChatAdapter, "json": dspy.JSONAdapter, "terse": TerseAdapter}


def adapter_name(module: dspy.Module) -> str:
    """The form that a judge's prompt, or a predictor's, is written in."""
    return str(_kept(module, ADAPTER) or CHAT)


def verdict_form(module: dspy.Module) -> str | None:
    """The form of a verdict that a judge's own prompt asks for, such as ``Puntuación: {v}``."""
    form = _kept(module, VERDICT)
    return None if form is None else str(form)


def with_verdict(module: dspy.Module, form: object) -> dspy.Module:
    """The module, in whose replies this form is read; copies keep it."""
    return module if form is None else _keeping(module, VERDICT, form)


def adapter_of(predict: dspy.Predict) -> dspy.Adapter:
    """The adapter that writes a predictor's prompt."""
    return _ADAPTERS[adapter_name(predict)]()


def with_adapter(module: dspy.Module, name: str) -> dspy.Module:
    """The module, of which prompts are written in this form; copies keep it."""
    return module if name == CHAT else _keeping(module, ADAPTER, name)


def _kept(module: dspy.Module, what: str) -> object:
    """What the first predictor of a module keeps beside its prompt."""
    predict = next(iter(module.predictors()), module) if isinstance(module, dspy.Module) else module
    return getattr(predict, "config", {}).get(what)


def _keeping(module: dspy.Module, what: str, value: object) -> dspy.Module:
    """The module, of which each predictor keeps a value beside its prompt; copies keep it, too."""
    for predict in module.predictors():
        predict.config = {**predict.config, what: value}
    return module
