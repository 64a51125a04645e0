"""Plants faults in a copy of the source, one at a time, and counts how many of them the tests find.

    python -m tests.faults [--count 200] [--seed 0] [--room stats] [--jobs 2]

A fault is one changed operator, number or condition, drawn by seed from all functions of ``src``. The tests that run on
it are the module's own and up to ten more files that import it, else those of the nearest folder of ``tests`` that
mirrors its own; what all of ``make test`` would find comes on top, so that the share is a lower bound. A fault that no
test notices is printed with its place: some of them change nothing.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECONDS = 600  # tests that run longer are no answer, or have found a loop without end
MOST_FILES = 10
COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One change of one line.

    Args:
        module: Path below ``src``.
        place: Which of the module's places that can be changed.
    """

    module: Path
    place: int

    @property
    def room(self) -> str:
        """The first folder below the package, or the module's name."""
        return self.module.parts[1].removesuffix(".py")


def places(tree: ast.Module) -> list[ast.AST]:
    """Nodes inside of functions that can be changed, each once, always in the same order."""
    functions = (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    inner = dict.fromkeys(node for one in functions for line in one.body for node in ast.walk(line))
    return [node for node in inner if _can_change(node)]


def _can_change(node: ast.AST) -> bool:
    number = isinstance(node, ast.Constant) and type(node.value) in {int, float}
    computed = isinstance(node, ast.BinOp) and type(node.op) in COMPUTED
    return number or computed or isinstance(node, ast.BoolOp | ast.Compare | ast.If | ast.IfExp)


def planted(source: str, place: int) -> tuple[str, int, str]:
    """The module with the fault, its line, and that line as it was."""
    tree = ast.parse(source)
    node = places(tree)[place]
    match node:
        case ast.Constant(value=int() | float() as value):
            node.value = value + 1
        case ast.BinOp(op=op):
            node.op = COMPUTED[type(op)]()
        case ast.BoolOp(op=joined):
            node.op = ast.Or() if isinstance(joined, ast.And) else ast.And()
        case ast.Compare(ops=[first, *others]):
            node.ops = [COMPARED[type(first)](), *others]
        case ast.If(test=test) | ast.IfExp(test=test):
            node.test = ast.UnaryOp(ast.Not(), test)
    line = getattr(node, "lineno", 0)
    return ast.unparse(ast.fix_missing_locations(tree)), line, source.splitlines()[line - 1].strip()


def drawn(count: int, seed: int, room: str | None) -> list[Fault]:
    """Faults by seed, each place as likely as the others."""
    every = [
        Fault(path.relative_to(ROOT / "src"), place)
        for path in sorted((ROOT / "src" / "judgec").rglob("*.py"))
        for place in range(len(places(ast.parse(path.read_text(encoding="utf-8")))))
    ]
    every = [one for one in every if room in {None, one.room}]
    return random.Random(seed).sample(every, min(count, len(every)))


def tests_of(module: Path) -> list[str]:
    """The module's test files, its own and its folder's first."""
    dotted, own = ".".join(module.with_suffix("").parts), f"test_{module.name}"
    folder = ROOT / "tests" / Path(*module.parent.parts[1:])
    every = sorted((ROOT / "tests").rglob("test_*.py"), key=lambda path: (path.parent != folder, path.name != own))
    found = [path for path in every if path == folder / own or dotted in path.read_text(encoding="utf-8")][:MOST_FILES]
    while not found:
        found = sorted(folder.glob("test_*.py")) if folder.is_dir() else []
        folder = folder.parent
    return [str(path.relative_to(ROOT)) for path in found]


def survives(fault: Fault, copies: list[Path]) -> str | None:
    """Where the fault is, if no test found it."""
    copy = copies.pop()
    target = copy / "src" / fault.module
    source = target.read_text(encoding="utf-8")
    try:
        text, line, was = planted(source, fault.place)
        target.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        environ = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        ran = subprocess.run(
            [*command, *tests_of(fault.module)],
            cwd=copy,
            env=environ,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"(after {SECONDS} s) src/{fault.module}"
    else:
        return f"src/{fault.module}:{line}: {was}" if not ran.returncode else None
    finally:
        target.write_text(source, encoding="utf-8")
        copies.append(copy)


def main() -> None:
    """Plant them, and print the share that was found, by room."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="how many faults")
    parser.add_argument("--seed", type=int, default=0, help="which")
    parser.add_argument("--room", help="of this folder of the package alone")
    parser.add_argument("--jobs", type=int, default=2, help="at a time")
    options = parser.parse_args()
    faults = drawn(options.count, options.seed, options.room)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        copies = [Path(folder) / str(number) for number in range(options.jobs)]
        for copy in copies:
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv*", ".git", "build", "__pycache__"))
        left: Counter[str] = Counter()
        for fault, alive in zip(faults, pool.map(partial(survives, copies=copies), faults), strict=True):
            if alive:
                left[fault.room] += 1
                print(alive, flush=True)
    for room, number in sorted(Counter(one.room for one in faults).items()):
        print(f"{room}: {number - left[room]} of {number} found")
    print(f"all: {len(faults) - left.total()} of {len(faults)} found")


if __name__ == "__main__":
    main()
