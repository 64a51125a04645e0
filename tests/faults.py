"""Plants faults in a copy of the source, one at a time, and counts how many of them the tests find.

    python -m tests.faults [--count 200] [--seed 0] [--room stats] [--jobs 2] [--list FILE] [--without GLOB ...]

A fault is one changed operator, number or condition, drawn by seed from all functions of ``src``. The tests that run on
it are the module's own and up to ten more files that import it, else those of the nearest folder of ``tests`` that
mirrors its own; what all of ``make test`` would find comes on top, so that the share is a lower bound. A fault that no
test notices is printed with its place: some of them change nothing.
``--list FILE`` keeps what was drawn and what was found, a JSON object a line: where the file is there, the same faults
are planted again, wherever their lines now stand, and those that were found before and no more are named.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
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
        function: Name of the outermost function around it.
        code: What is changed.
        number: Which of those with the same code in functions of that name, from 0.
    """

    module: str
    function: str
    code: str
    number: int

    @property
    def room(self) -> str:
        """The first folder below the package, or the module's name."""
        return Path(self.module).parts[1].removesuffix(".py")


def places(tree: ast.Module, module: str = "") -> dict[Fault, ast.AST]:
    """Nodes inside of functions that can be changed, each once, always in the same order."""
    functions = (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    inner: dict[ast.AST, str] = {}
    for one in functions:
        for node in (node for line in one.body for node in ast.walk(line)):
            inner.setdefault(node, one.name)
    found: dict[Fault, ast.AST] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for node, function in inner.items():
        if _can_change(node):
            code = ast.unparse(node).splitlines()[0]
            found[Fault(module, function, code, seen[function, code])] = node
            seen[function, code] += 1
    return found


def _can_change(node: ast.AST) -> bool:
    number = isinstance(node, ast.Constant) and type(node.value) in {int, float}
    computed = isinstance(node, ast.BinOp) and type(node.op) in COMPUTED
    return number or computed or isinstance(node, ast.BoolOp | ast.Compare | ast.If | ast.IfExp)


def planted(source: str, fault: Fault) -> tuple[str, int, str]:
    """The module with the fault, its line, and that line as it was.

    Raises:
        KeyError: The code is no longer there.
    """
    tree = ast.parse(source)
    node = places(tree, fault.module)[fault]
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


def drawn(count: int, seed: int, room: str | None, without: Sequence[str]) -> list[Fault]:
    """Faults by seed, each place as likely as the others."""
    source = ROOT / "src"
    modules = {str(path.relative_to(source)): path for path in sorted((source / "judgec").rglob("*.py"))}
    every = [
        fault
        for module, path in modules.items()
        if not any(fnmatch(module, f"judgec/{glob}") for glob in without)
        for fault in places(ast.parse(path.read_text(encoding="utf-8")), module)
        if room in {None, fault.room}
    ]
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
    """Where the fault is, if no test found it; ``""`` where its code is gone."""
    copy = copies.pop()
    target = copy / "src" / fault.module
    source = target.read_text(encoding="utf-8") if target.is_file() else ""
    try:
        text, line, was = planted(source, fault)
        target.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        environ = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        ran = subprocess.run(
            [*command, *tests_of(Path(fault.module))],
            cwd=copy,
            env=environ,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except KeyError:
        return ""
    except subprocess.TimeoutExpired:
        return f"(after {SECONDS} s) src/{fault.module}"
    else:
        return f"src/{fault.module}:{line}: {was}" if not ran.returncode else None
    finally:
        if source:
            target.write_text(source, encoding="utf-8")
        copies.append(copy)


def main() -> None:
    """Plant them, and print the share that was found, by room."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="how many faults")
    parser.add_argument("--seed", type=int, default=0, help="which")
    parser.add_argument("--room", help="of this folder of the package alone")
    parser.add_argument("--jobs", type=int, default=2, help="at a time")
    parser.add_argument("--list", type=Path, help="file that keeps what was drawn and found")
    parser.add_argument(
        "--without", nargs="*", default=[], help="modules that are left out, as globs below the package"
    )
    options = parser.parse_args()
    before: dict[Fault, bool] = {}
    if options.list and options.list.is_file():
        for row in map(json.loads, options.list.read_text(encoding="utf-8").splitlines()):
            found = row.pop("found")
            before[Fault(**row)] = found
    faults = list(before) or drawn(options.count, options.seed, options.room, options.without)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        copies = [Path(folder) / str(number) for number in range(options.jobs)]
        for copy in copies:
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv*", ".git", "build", "__pycache__"))
        every: Counter[str] = Counter()
        left: Counter[str] = Counter()
        for fault, alive in zip(faults, pool.map(partial(survives, copies=copies), faults), strict=True):
            if alive == "":
                print(f"gone: src/{fault.module}: {fault.code}", flush=True)
                continue
            every[fault.room] += 1
            if alive:
                left[fault.room] += 1
                print(f"{alive}{' -- FOUND BEFORE' if before.get(fault) else ''}", flush=True)
            if options.list and not before:
                with options.list.open("a", encoding="utf-8") as file:
                    file.write(f"{json.dumps({**asdict(fault), 'found': not alive})}\n")
    for room, number in sorted(every.items()):
        print(f"{room}: {number - left[room]} of {number} found")
    print(f"all: {every.total() - left.total()} of {every.total()} found")


if __name__ == "__main__":
    main()
