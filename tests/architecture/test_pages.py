"""HTML comes from templates in which every text is escaped, so no text of users can become markup."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import MODULES, SOURCE, nodes, relative

TEMPLATES = sorted((SOURCE / "report" / "templates").glob("*.html"))
NOT_HTML = {  # a closing tag in a string, and why it may stand there
    "compile/gepa_driver.py": "a pattern for what models wrap their replies in",
    "raters/fencing.py": "names the marks that no text of users may contain",
    "raters/replies/said.py": "names the tags that end reasoning and a turn, to take them off",
    "raters/replies/statements.py": "names the tags that a grade stands in",
    "report/junit.py": "XML, every text through its own escape",
    "labels/review/server.py": "puts its own page.html, page.css and page.js together",
    "table/xlsx.py": "names the tag that XlsxWriter would take a text for",
}


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Strings of a module, docstrings aside."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {id(n.body[0].value) for n in nodes(path) if isinstance(n, documented) and _described(n)}  # type: ignore[attr-defined]  # _described: an expression
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def _described(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return ast.get_docstring(node, clean=False) is not None


def test_no_module_writes_html_in_strings() -> None:
    checked = [path for path in MODULES if relative(path) not in NOT_HTML]
    assert not [f"{relative(path)}:{line}" for path in checked for line, text in texts(path) if "</" in text]


def test_markup_is_made_by_templates_alone() -> None:
    """``Markup(text)`` would let a text through unescaped; an empty one is harmless."""
    made = {
        relative(path)
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Markup" and node.args
    }
    assert made == {"report/kit.py"}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_switches_escaping_off(path: Path) -> None:
    assert not re.findall(r"\|\s*safe\b|autoescape", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_attributes_that_hold_texts_are_quoted(path: Path) -> None:
    """Without quotes a space in a text would begin another attribute; places on a drawing are numbers."""
    text = path.read_text(encoding="utf-8")
    unquoted = re.findall(r"[\w-]+=\{\{\s*([\w.]+)", text)
    numbers = {"mark.x", "mark.y", "mark.x2", "mark.y2", "mark.anchor"} if path.name == "chart.html" else set()
    assert set(unquoted) <= numbers
