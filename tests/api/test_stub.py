"""The typed signatures of the stub are those that the verbs have."""

import ast
from inspect import Parameter, signature
from pathlib import Path

import pytest

import judgec

TREE = ast.parse(Path(judgec.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
FUNCTIONS = {node.name: node for node in TREE.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_stub_has_the_parameters_and_defaults_of_the_verb(name: str) -> None:
    said = FUNCTIONS[name].args
    positional = [*said.posonlyargs, *said.args]
    before = [None] * (len(positional) - len(said.defaults))
    pairs = [
        *zip(positional, [*before, *said.defaults], strict=True),
        *zip(said.kwonlyargs, said.kw_defaults, strict=True),
    ]
    stub = {one.arg: Parameter.empty if default is None else ast.literal_eval(default) for one, default in pairs}
    real = {one.name: one.default for one in signature(getattr(judgec, name)).parameters.values()}
    assert list(stub) == list(real)
    assert {key: _typed(value) for key, value in stub.items()} == {key: _typed(value) for key, value in real.items()}


def _typed(value: object) -> object:
    """A default as a Python user types it."""
    if isinstance(value, Path):
        return str(value)
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value
