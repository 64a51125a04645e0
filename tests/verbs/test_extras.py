"""Without the extra ``rag`` judges work, and what needs documents says which extra brings its parts."""

import os
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

from judgec.verbs.verb import RAG
from tests.verbs.cli.process import ROOT

BLOCKED = f"""
import sys
class Gone:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {RAG}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Gone())
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "sitecustomize.py").write_text(BLOCKED)
    return subprocess.run(
        [sys.executable, str(ROOT / "cli.py"), *words], cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True, text=True, timeout=800, check=False,
    )  # fmt: skip


@pytest.mark.full
def test_labels_judges_and_games_need_no_document(tmp_path: Path) -> None:
    labels = str(ROOT / "trainsets" / "sensors" / "labels.jsonl")
    (tmp_path / "games.csv").write_text("agent_a,agent_b,winner\nx,y,a\nx,y,b\nx,y,a\n")
    for words in (
        ("labels", labels),
        ("compile-judge", labels, "--name", "s"),
        ("judge", labels, "--judge", "s@latest", "--out", "o.jsonl"),
        ("evaluate", "--answers", labels, "--queries", labels, "--judge", "s@latest", "--out", "t"),
        ("rank", "games.csv"),
    ):
        done = run(tmp_path, *words)
        assert done.returncode == 0, f"{words}\n{done.stderr}"


def test_a_corpus_needs_the_extra_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.html").write_text("<p>Sensors measure.</p>")
    done = run(tmp_path, "index", "corpus", "--out", "index")
    assert done.returncode == 2, done.stderr
    assert "pip install 'judgec[rag]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_the_extra_brings_is_not_installed_without_it() -> None:
    named = {one.partition(";")[0].strip(): one for one in requires("judgec") or ()}
    for package in ("lancedb", "beautifulsoup4", "lxml", "pypdf", "python-docx", "ir-measures"):
        (found,) = (one for name, one in named.items() if name.startswith(package))
        assert 'extra == "rag"' in found
