"""The face of the package: what ``import judgec`` gives, and that it costs nothing."""

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import judgec

STUB = Path(judgec.__file__).with_suffix(".pyi")


def test_all_is_sorted_true_and_documented() -> None:
    assert judgec.__all__ == sorted(judgec.__all__)
    for name in judgec.__all__:
        found = getattr(judgec, name)
        assert name == "__version__" or found.__doc__, name
    assert set(judgec.__all__) <= set(dir(judgec))


def test_stub_declares_every_public_name() -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    declared = {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    declared.discard(None)  # imported for a signature alone
    declared |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert declared == set(judgec.__all__) - {"__version__"}


@pytest.mark.parametrize(
    "verb",
    [node for node in ast.parse(STUB.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)],
    ids=lambda node: node.name,
)
def test_stub_of_a_verb_has_its_options_and_defaults(verb: ast.FunctionDef) -> None:
    found = inspect.signature(getattr(judgec, verb.name)).parameters
    said = dict.fromkeys((one.arg for one in verb.args.args), inspect.Parameter.empty)
    for one, default in zip(verb.args.kwonlyargs, verb.args.kw_defaults, strict=True):
        said[one.arg] = inspect.Parameter.empty if default is None else ast.literal_eval(default)
    # An empty mapping is None there, and a folder is text: types do not go into a default.
    shown = {name: {"{}": None, ".": "."}.get(str(one.default), one.default) for name, one in found.items()}
    assert said == shown


def test_unknown_name_says_what_there_is() -> None:
    with pytest.raises(AttributeError, match="compile_judge"):
        getattr(judgec, "compile_juge")  # noqa: B009 - the typo is what is tested


def test_no_module_takes_the_place_of_a_verb() -> None:
    """Importing a submodule sets it on the package: a verb of its name would be gone."""
    modules = {module.name for module in pkgutil.iter_modules(judgec.__path__)}
    assert not modules & set(judgec.__all__)
    for name in (
        "api.compile_judge",
        "api.rank",
        "api.labels",
        "api.judge",
        "api.judge_file",
        "api.estimate",
        "workspace",
    ):
        importlib.import_module(f"judgec.{name}")
    for name in judgec.__all__:
        assert not isinstance(getattr(judgec, name), type(sys)), name


def test_import_loads_none_of_the_heavy_libraries() -> None:
    heavy = "{'pandas', 'dspy', 'mlflow', 'sklearn', 'scipy', 'numpy'}"
    code = f"import sys, judgec; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
