"""The face of the package: what ``import judgec`` gives, and that it costs nothing."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import judgec
import judgec.verbs
from tests.verbs.stub import stub

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


def test_stub_is_what_the_options_say() -> None:
    assert STUB.read_text(encoding="utf-8") == stub()


def test_unknown_name_says_what_there_is() -> None:
    with pytest.raises(AttributeError, match="compile_judge"):
        getattr(judgec, "compile_juge")  # noqa: B009 - the typo is what is tested


@pytest.mark.filterwarnings("ignore")  # MLflow's imports warn; they are not ours to mend
def test_no_module_takes_the_place_of_a_verb() -> None:
    """Importing a submodule sets it on the package: a verb of its name would be gone."""
    modules = {module.name for module in pkgutil.iter_modules(judgec.__path__)}
    assert not modules & set(judgec.__all__)
    for module in pkgutil.walk_packages(judgec.verbs.__path__, "judgec.verbs."):
        importlib.import_module(module.name)
    for name in judgec.__all__:
        assert not isinstance(getattr(judgec, name), type(sys)), name


def test_import_loads_none_of_the_heavy_libraries() -> None:
    heavy = "{'pandas', 'dspy', 'mlflow', 'sklearn', 'scipy', 'numpy'}"
    code = f"import sys, judgec; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
