"""``docs/papers.md`` has every table and figure of the three papers, with a command that exists."""

import re

import pytest

from tests.verbs.cli.process import ROOT

PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
ROMAN = {number: n for n, number in enumerate(["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"], 1)}
PAPERS = {  # how many tables and figures each has
    "RAGElo and RAG-Fusion": (6, 4),
    "vRAG-Eval": (9, 3),
    "RAGProbe": (9, 5),
}


def section(paper: str) -> str:
    """What the page says of one paper."""
    found = re.search(rf"^## {paper}.*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[0]


def numbered(text: str, word: str) -> set[int]:
    """The numbers of tables or figures in the headings: ``Table 1 and Table 2``, ``Tables 4 to 8``, ``Figure 3``."""
    found: set[int] = set()
    for heading in re.findall(r"^### (.*)$", text, re.MULTILINE):
        for many, first, to, last in re.findall(rf"{word}(s?) (\w+)(?: (to|and) (\d+))?", heading):
            start = ROMAN.get(first) or int(first)
            found.add(start)
            if many and last:
                found |= set(range(start, int(last) + 1)) if to == "to" else {int(last)}
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_every_table_and_figure_has_a_heading_with_its_counterpart_or_that_there_is_none(paper: str) -> None:
    tables, figures = PAPERS[paper]
    assert numbered(section(paper), "Table") == set(range(1, tables + 1))
    assert numbered(section(paper), "Figure") == set(range(1, figures + 1))
    for part in section(paper).split("\n### ")[1:]:
        assert "`" in part or "No counterpart" in part, part.partition("\n")[0]


def test_commands_exist() -> None:
    declared = (ROOT / "src" / "judgec" / "verbs" / "options").glob("*.py")
    verbs = {path.stem.replace("_", "-") for path in declared} - {"option", "shared", "--init--"}
    for command in re.findall(r"`judgec ([^`]*)`", PAGE):
        assert command.split()[0] in verbs, command


def test_ragprobe_is_by_its_authors_wherever_it_is_named_with_some() -> None:
    documents = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", *(ROOT / "src").rglob("*.py")]
    named = re.compile(r"RAGProbe[^.\n]{0,20}?\(?(?:by |, )?([A-Z]\w+) et al")
    found = {name for path in documents for name in named.findall(path.read_text(encoding="utf-8"))}
    assert found <= {"Sivasothy"}
    assert "Sivasothy" in PAGE
