"""The modules of the package, each parsed once for all rules."""

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "judgec"
MODULES = sorted(SOURCE.rglob("*.py"))


def relative(path: Path) -> str:
    """The path below the package, as rules and faults name it."""
    return path.relative_to(SOURCE).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    """The parsed module; read only."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of the module; read only."""
    return tuple(ast.walk(tree(path)))
