"""Keeps the answers of systems under test that an interrupted run had finished.

Calls of language models are in the journal for good. A system under test is different: its next version must be
asked anew, so its answers are kept only until the run is finished.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from judgec.rag.agents.answer import Answer, Context
from judgec.rag.agents.external import System


class Unfinished:
    """The file beside ``out`` that holds them.

    Args:
        out: Where all answers will be written; None where they are not, and nothing is kept.
    """

    def __init__(self, out: Path | None) -> None:
        self._path = None if out is None else out.with_name(f".{out.name}.unfinished")

    def answers(self, system: System, pairs: Sequence[tuple[str, str]]) -> dict[str, Answer]:
        """The answers, not the failures, of this very system to these queries, by query id."""
        if self._path is None or not self._path.is_file():
            return {}
        texts = dict(pairs)
        found: dict[str, Answer] = {}
        for line in self._path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue  # the line that a kill cut short
            answer = row["answer"]
            if row["system"] == system.identity and texts.get(answer["query_id"]) == row["query"]:
                contexts = tuple(Context(**context) for context in answer.pop("contexts"))
                cited, searched = tuple(answer.pop("cited")), tuple(answer.pop("searched"))
                found[answer["query_id"]] = Answer(**answer, contexts=contexts, cited=cited, searched=searched)
        return found

    def keep(self, system: System, query: str, answer: Answer) -> None:
        """Write one down at once."""
        if answer.text is None or self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        row = {"system": system.identity, "query": query, "answer": asdict(answer)}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def done(self) -> None:
        """All answers are written."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
