"""No class name twice, no files that import each other, module docstrings that say what a module is or does."""

import ast
from collections import defaultdict
from pathlib import Path

from tests.architecture.sources import MODULES, SOURCE, nodes, relative, tree

RIDDLES = ("What ", "Who ", "Whom ", "Which ", "How ", "Whether ", "Why ", "The way ", "Is ", "Does ", "May ")


def _module(path: Path) -> str:
    return "judgec." + ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def _imports() -> dict[str, set[str]]:
    """Modules of the package that each module imports, at its top or later."""
    known = {_module(path) for path in MODULES}
    found: dict[str, set[str]] = defaultdict(set)
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("judgec"):
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                found[_module(path)] |= {name if name in known else node.module for name in names}
            elif isinstance(node, ast.Import):
                found[_module(path)] |= {alias.name for alias in node.names if alias.name in known}
    return found


def test_no_two_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path in MODULES:
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(relative(path))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_files_import_each_other_in_a_circle() -> None:
    waiting = {name: set(targets) - {name} for name, targets in _imports().items()}
    while ready := [name for name, targets in waiting.items() if not targets & waiting.keys()]:
        for name in ready:
            del waiting[name]
    # What is left lies on a circle, or imports one that does.
    assert sorted(waiting) == []


def test_docstring_of_a_module_says_what_it_is_or_does() -> None:
    said = {relative(path): ast.get_docstring(tree(path)) or "" for path in MODULES}
    assert {name: text for name, text in said.items() if text.startswith(RIDDLES)} == {}
