"""Assemble labels.jsonl and queries.jsonl from the catalogue and the authored questions.

Run ``python trainsets/sensors/build.py``; the same input gives the same bytes. ``--out DIR`` writes elsewhere.
"""

import argparse
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from raters import Answer, digest, opinions

HERE = Path(__file__).parent
AGENTS = ("alder", "birch", "cedar", "elm")
Question = dict[str, Any]  # Any: a TOML table, strings and one-entry tables {fault: answer}


def sections(page: str) -> dict[str, str]:
    """The passages of a page by heading; ``intro`` is the title with the text before the first heading."""
    _, _, body = page.split("---\n", 2)
    intro, *rest = re.split(r"^## ", body, flags=re.MULTILINE)
    found = {"intro": intro.strip()}
    for part in rest:
        found[part.split("\n", 1)[0].lower()] = f"## {part}".strip()
    return found


def passage(locator: str) -> str:
    """The passage that ``page#words`` names; the words must fit one heading of the page."""
    name, _, words = locator.partition("#")
    found = sections((HERE / "catalogue" / f"{name}.md").read_text(encoding="utf-8"))
    matches = [text for heading, text in found.items() if words in heading]
    if len(matches) != 1:
        raise ValueError(
            f"{locator}: {len(matches)} sections fit; the headings are {', '.join(found)}. Name one of them."
        )
    return matches[0]


def questions() -> Iterator[tuple[str, Question]]:
    """Subject area and question, in file order."""
    for path in sorted((HERE / "questions").glob("*.toml")):
        for question in tomllib.loads(path.read_text(encoding="utf-8"))["question"]:
            yield path.stem, question


def rows(group: str, question: Question) -> Iterator[dict[str, object]]:
    """One row an answer and annotator."""
    query_id = question["id"]
    locators = sorted(question["contexts"], key=lambda locator: digest(f"{query_id}/{locator}"))
    contexts = [passage(locator) for locator in locators]
    for agent in AGENTS:
        ((code, answer),) = question[agent].items()
        fault, _, extent = code.rpartition("_") if code.endswith(("_some", "_all")) else (code, "", "")
        item = Answer(
            f"{query_id}/{agent}", question["reference"], answer, fault, extent, question.get("hazard", False)
        )
        for annotator, grade in opinions(item).items():
            yield {
                "item_id": item.item_id,
                "query_id": query_id,
                "agent": agent,
                "group": group,
                "query": question["query"],
                "reference": item.reference,
                "contexts": contexts,
                "answer": answer,
                "annotator": annotator,
                "grade": grade,
                "fault": fault,
                "extent": extent,
            }


def write(path: Path, lines: list[dict[str, object]]) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8", newline="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write into")
    out: Path = parser.parse_args().out
    authored = list(questions())
    write(out / "labels.jsonl", [row for group, question in authored for row in rows(group, question)])
    asked = [{"query_id": q["id"], "query": q["query"], "reference": q["reference"]} for _, q in authored]
    write(out / "queries.jsonl", asked)


if __name__ == "__main__":
    main()
