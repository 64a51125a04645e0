"""Words that people read: explained in ``docs/words.md`` as under tables, and written the same way everywhere."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from judgec.report import words
from tests.architecture.sources import MODULES
from tests.docs.blocks import ROOT, documents

TABLES = (words.judges(words.JUDGES), words.MEANINGS, words.LEADERBOARD, words.CLAIMS)


@pytest.mark.parametrize("meanings", TABLES, ids=["judges", "statistics", "leaderboard", "claims"])
def test_words_under_tables_are_explained_the_same_way_in_the_docs(meanings: Mapping[str, str]) -> None:
    page = (ROOT / "docs" / "words.md").read_text(encoding="utf-8").splitlines()
    assert not [word for word, meaning in meanings.items() if f"| `{word}` | {meaning} |" not in page]


def test_legend_leaves_out_names_of_users() -> None:
    legend = words.judges(["compiled_loo", "my_judge"])
    assert legend == {"compiled, one annotator left out": words.JUDGES["compiled_loo"]}
    assert words.leaderboard(["agent", "rank"]) == {"rank": words.LEADERBOARD["rank"]}


CODE = frozenset({"python", "json", "toml", "yaml", "csv", "sh"})
TYPED = re.compile(r"min_tau_b|'[^' ]*tau_b[^' ]*'|^tau_b, accept, kappa or qwk, or a sum such as tau_b\+accept")


def _read(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a document without what is code in them; what a command prints stays."""
    language = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            language = "" if language else line[3:].split(" ")[0] or "text"
        elif language not in CODE and not line.startswith("$ "):
            yield number, line if language else re.sub(r"`[^`]*`", "", line)


@pytest.mark.parametrize(
    "path",
    [*documents(), ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs" / "design").glob("*.md"))],
    ids=lambda path: path.name,
)
def test_sentences_of_documents_and_printed_output_say_tau_b_with_a_hyphen(path: Path) -> None:
    assert [f"{path.name}:{number}: {line}" for number, line in _read(path) if "tau_b" in line] == []


def _sentences(path: Path) -> Iterator[tuple[int, str]]:
    """Strings of a module with a space in them, which are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or node in documented:
            continue
        if isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def test_sentences_of_the_program_say_tau_b_with_a_hyphen_but_where_it_is_typed() -> None:
    found = [(path.name, *said) for path in MODULES for said in _sentences(path) if "tau_b" in TYPED.sub("", said[1])]
    assert found == []
