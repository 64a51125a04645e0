"""Takes out of judgec's own source what a judge needs to run by itself: its code, and what that uses, and no more.

The copy is the same text, so that it computes the same numbers. Top-level statements are kept that the beginning needs,
directly or through others; third parties have stand-ins, and nothing but the standard library and numpy is imported.
"""

import ast
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

from judgec.evidence.model import USUAL_READS
from judgec.records.language import ENGLISH, LANGUAGES

Place = tuple[str, str]  # module and name
HERE = "judgec.raters.export"
ROOT: Place = (f"{HERE}.standalone", "StandaloneJudge")
STAND_INS: Mapping[Place, Place] = {
    ("pydantic", "BaseModel"): (f"{HERE}.plain", "BaseModel"),
    ("pydantic", "ConfigDict"): (f"{HERE}.plain", "ConfigDict"),
    ("pydantic", "Field"): (f"{HERE}.plain", "Field"),
    ("pydantic", "model_validator"): (f"{HERE}.plain", "model_validator"),
    ("pydantic", "PlainSerializer"): (f"{HERE}.plain", "PlainSerializer"),
    ("pydantic", "PlainValidator"): (f"{HERE}.plain", "PlainValidator"),
    ("snowballstemmer", ""): ("snowball", "stemmer"),
    ("judgec.lm.executor", "Ask"): (f"{HERE}.asking", "Ask"),
}
DROPPED = {  # methods that only judgec itself needs
    ("judgec.evidence.model", "EvidenceModel"): {"fit", "_with_themes"},
    ("judgec.records.scale", "Scale"): {"with_values"},
}
REPLACED: Mapping[Place, str] = {
    ("judgec.evidence.model", "USUAL_READS"): f"USUAL_READS: Reads = {dict(USUAL_READS)!r}"
}
WORDS = {  # what the text says of third parties
    "snowballstemmer.stemmer(": "stemmer(",
}
ABOUT_STEMMERS = '''"""Makes stems; part of snowballstemmer, whose other files are unchanged. Licence: COPYING."""

from importlib import import_module


def stemmer(language):
    """The stemmer of a language."""
    return getattr(import_module(f"{__name__}.{language}_stemmer"), f"{language.title()}Stemmer")()
'''
ALLOWED = {*sys.stdlib_module_names, "numpy"}


@dataclass
class _Module:
    """A module's top level."""

    text: str
    docstring: str
    defined: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imported: dict[str, Place] = field(default_factory=dict)
    kept: set[int] = field(default_factory=set)
    used: dict[str, Place] = field(default_factory=dict)


def standalone_sources(package: str) -> dict[str, str]:
    """Text by path, below the folder of an export.

    Args:
        package: What the copy is called there.

    Raises:
        RuntimeError: The judge's code imports what is neither numpy nor the standard library.
    """
    modules = _needed()
    files = {f"{package}/{_path(name)}": _written(name, module, package) for name, module in modules.items()}
    for path in list(files):
        for folder in list(Path(path).parents)[:-1]:
            files.setdefault(f"{folder.as_posix()}/__init__.py", '"""Part of an exported judge."""\n')
    return files


def stemmer_sources(package: str, languages: Iterable[str]) -> dict[str, str]:
    """The stemmers of snowballstemmer that some languages need, and English words in them; the licence goes with it."""
    stemmers = {ENGLISH, *(language for language in languages if LANGUAGES[language].stems)}
    (folder,) = find_spec("snowballstemmer").submodule_search_locations  # type: ignore[union-attr,misc]  # it is installed
    found = {
        f"{package}/snowball/{name}.py": (Path(folder) / f"{name}.py").read_text(encoding="utf-8")
        for name in (*(f"{language}_stemmer" for language in sorted(stemmers)), "basestemmer", "among")
    }
    licence = next(file for file in distribution("snowballstemmer").files or () if file.name == "COPYING")
    about = ABOUT_STEMMERS
    about_files = {f"{package}/snowball/__init__.py": about, f"{package}/snowball/COPYING": licence.read_text("utf-8")}
    return {**found, **about_files}


def _needed() -> dict[str, _Module]:
    modules: dict[str, _Module] = {}
    queue, seen = deque([ROOT]), set[Place]()
    while queue:
        place = queue.popleft()
        if place in seen:
            continue
        seen.add(place)
        name, wanted = place
        if name not in modules:
            modules[name] = _read(name)
        module = modules[name]
        for statement in module.defined[wanted]:
            module.kept.add(statement.lineno)
            for used in _names(statement, place):
                if used in module.imported:
                    target = STAND_INS.get(module.imported[used], module.imported[used])
                    module.used[used] = target
                    if target[0].startswith("judgec."):
                        queue.append(target)
                    elif target[0].split(".")[0] not in {*ALLOWED, "snowball"}:
                        raise RuntimeError(f"{name}: imports {target[0]}; numpy and the standard library are valid.")
                elif used in module.defined:
                    queue.append(STAND_INS.get((name, used), (name, used)))
                    if (name, used) in STAND_INS:
                        module.used[used] = STAND_INS[name, used]
    return modules


@cache
def _path(name: str) -> str:
    return name.removeprefix("judgec.").replace(".", "/") + ".py"


def _read(name: str) -> _Module:
    spec = find_spec(name)
    assert spec is not None and spec.origin is not None  # noqa: PT018  # our own module
    text = Path(spec.origin).read_text(encoding="utf-8")
    tree = ast.parse(text)
    module = _Module(text, ast.get_docstring(tree, clean=False) or "")
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module:
            for alias in statement.names:
                module.imported[alias.asname or alias.name] = (statement.module, alias.name)
        elif isinstance(statement, ast.Import):
            for alias in statement.names:
                module.imported[alias.asname or alias.name.split(".")[0]] = (alias.name, "")
        else:
            for defined in _defines(statement):
                module.defined.setdefault(defined, []).append(statement)
    return module


def _defines(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    for target in targets:
        yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _names(statement: ast.stmt, place: Place) -> Iterator[str]:
    """Names that a statement uses, dropped methods aside; names in quoted annotations, too."""
    if place in REPLACED:
        statement = ast.parse(REPLACED[place]).body[0]
    dropped = DROPPED.get(place, set())
    parts: list[ast.AST] = [statement]
    if isinstance(statement, ast.ClassDef):
        kept = [one for one in statement.body if getattr(one, "name", "") not in dropped]
        parts = [*statement.bases, *statement.keywords, *statement.decorator_list, *kept]
    for part in parts:
        for node in ast.walk(part):
            if isinstance(node, ast.Name):
                yield node.id
            hint = getattr(node, "annotation", None) or getattr(node, "returns", None)
            for quoted in ast.walk(hint) if isinstance(hint, ast.AST) else ():
                if isinstance(quoted, ast.Constant) and isinstance(quoted.value, str):
                    yield from (one.id for one in ast.walk(ast.parse(quoted.value)) if isinstance(one, ast.Name))


def _written(name: str, module: _Module, package: str) -> str:
    lines = module.text.splitlines(keepends=True)
    blocks: dict[int, str] = {}
    for defined, statements in module.defined.items():
        if (name, defined) in STAND_INS:
            continue
        for statement in statements:
            if statement.lineno in module.kept:
                blocks[statement.lineno] = _block(statement, lines, (name, defined))
    imports = [_import(alias, target, package) for alias, target in sorted(module.used.items())]
    whole = [f'"""{module.docstring}"""\n' if "\\" not in module.docstring else f'r"""{module.docstring}"""\n']
    whole += ["".join(f"{one}\n" for one in imports)] if imports else []
    text = "\n".join([*whole, *(blocks[line] for line in sorted(blocks))])
    for word, instead in WORDS.items():
        text = text.replace(word, instead)
    return text


def _block(statement: ast.stmt, lines: list[str], place: Place) -> str:
    if place in REPLACED:
        return REPLACED[place] + "\n"
    start = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))])
    gone = set[int]()
    for one in getattr(statement, "body", ()):
        if getattr(one, "name", "") in DROPPED.get(place, ()):
            first = min([one.lineno, *(each.lineno for each in one.decorator_list)])
            gone |= set(range(first, (one.end_lineno or one.lineno) + 1))
    assert statement.end_lineno is not None  # as parsed
    return "".join(lines[n - 1] for n in range(start, statement.end_lineno + 1) if n not in gone)


def _import(alias: str, target: Place, package: str) -> str:
    module, name = target
    inside = module == "snowball" or module.startswith("judgec.")
    where = f"{package}.{module.removeprefix('judgec.')}" if inside else module
    if not name:
        return f"import {module}" + (f" as {alias}" if alias != module else "")
    renamed = alias != name and not (inside and alias in {"dspy", "snowballstemmer"})
    return f"from {where} import {name}" + (f" as {alias}" if renamed else "")
