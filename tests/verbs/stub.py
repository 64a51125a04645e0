"""Writes ``src/judgec/__init__.pyi``: the public names, and each verb's signature from its options.

python -m tests.verbs.stub
"""

import ast
import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import judgec
from judgec.verbs.verb import Verb

STUB = Path(judgec.__file__).with_suffix(".pyi")
STANDARD = "from collections.abc import Callable, Mapping, Sequence\nfrom pathlib import Path\n"
TYPES = {"Source": "judgec.verbs.frames", "Watch": "judgec.lm.watch"}  # that signatures name


def stub() -> str:
    """The text of the stub."""
    homes: dict[str, str] = vars(judgec)["_HOMES"]
    found = {name: getattr(judgec, name) for name in sorted(homes)}
    verbs = "".join(_verb(name, one) for name, one in found.items() if isinstance(one, Verb))
    plain = [(homes[name], name, f"{name} as {name}") for name in found if not isinstance(found[name], Verb)]
    plain += [(module, name, name) for name, module in TYPES.items()]
    imports = "".join(f"from {module} import {said}\n" for module, _, said in sorted(plain))
    literal = "from typing import Literal\n" if "Literal[" in verbs else ""
    names = "".join(f'    "{name}",\n' for name in judgec.__all__)
    return f"{STANDARD}{literal}\n{imports}\n__version__: str\n__all__ = [\n{names}]\n\n{verbs}"


def _verb(name: str, verb: "Verb[Any, Any]") -> str:  # Any: whatever its options and result are
    written = _written(verb.kind)
    types = {one.name: _type(one, written[one.name]) for one in verb.options}
    positional = [one for one in verb.options if one.option.positional or one.option.leading]
    rest = [one for one in verb.options if one not in positional]
    shown = [_parameter(one, types[one.name]) for one in positional]
    shown += ["*", *(_parameter(one, types[one.name]) for one in rest), "progress: bool | Watch | None = None"]
    result = inspect.get_annotations(verb.run)["return"]
    result = result if isinstance(result, str) else result.__name__
    inside = "".join(f"    {line},\n" for line in shown)
    return f"def {name}(\n{inside}) -> {result}: ...\n"


def _parameter(one: Any, kind: str) -> str:  # Any: a declared option
    if one.required:
        return f"{one.name}: {kind}"
    if one.pairs:
        return f"{one.name}: {kind.removesuffix(' | None')} | None = None"
    default = str(one.default) if isinstance(one.default, Path) else one.default
    return f"{one.name}: {kind} = {_shown(default)}"


def _shown(default: object) -> str:
    return repr(default).replace("'", '"')


def _type(one: Any, written: str) -> str:  # Any: a declared option
    """What may be passed: as declared, but text for a path, and any sequence for a tuple."""
    if one.option.python:
        return str(one.option.python).removesuffix(" | None" if not one.optional else "")
    if written.startswith("tuple["):
        inner = written.removeprefix("tuple[").removesuffix(", ...]")
        inner = "str | Path" if inner == "Path" else inner
        return f"{inner} | Sequence[{inner}]"
    return " | ".join("str | Path" if part == "Path" else part for part in written.split(" | "))


def _written(kind: type) -> dict[str, str]:
    """The type of each field as its file has it, aliases of shared options followed."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__[:-1]):
        module = import_module(each.__module__)
        tree = ast.parse(inspect.getsource(module))
        (body,) = [node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == each.__name__]
        for node in body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = _annotated(node.annotation, tree)
    return found


def _annotated(node: ast.expr, tree: ast.Module) -> str:
    if isinstance(node, ast.Name):
        for one in tree.body:
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and one.targets[0].id == node.id:
                return _annotated(one.value, tree)
            if isinstance(one, ast.ImportFrom) and one.module and node.id in {alias.name for alias in one.names}:
                return _annotated(node, ast.parse(inspect.getsource(import_module(one.module))))
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Annotated" and isinstance(node.slice, ast.Tuple):
        first = node.slice.elts[0]
        return str(first.value) if isinstance(first, ast.Constant) else _annotated(first, tree)
    return ast.unparse(node).replace("'", '"')


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
