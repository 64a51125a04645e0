"""``make demo-rag``: the paper's experiment on the catalogue that ships with the project, without a model."""

import json
import re
import time
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from judgec.labels.shipped import shipped
from judgec.rag.agents.answer import REFUSAL
from judgec.rag.retrieval.retrievers import Retriever
from judgec.rag.rules.answering import extract
from judgec.verbs.cli.output import exit_with_code, print_report, say

OUT = Path("demo-out")
INDEX = OUT / "index"
NAMES = ("broken_retriever", "no_context")
AGENTS = ",".join(f"python:demo.tournament:{name}" for name in NAMES)
_CUT = 12  # characters of the query that reach the broken retriever
_K = 5


def broken_retriever(query: str) -> dict[str, object]:
    """Answers from what is found for the beginning of the query: a length limit that nobody noticed."""
    passages = [hit.passage for hit in _retriever(INDEX.resolve()).search(query[:_CUT], _K)]
    texts = [passage.text for passage in passages]
    answer = extract(query, texts, REFUSAL, cite=False) if texts else REFUSAL
    return {"answer": answer, "contexts": [{"id": one.passage_id, "text": one.text} for one in passages]}


def no_context(query: str) -> str:
    """Answers without looking anything up: fluent, and about nothing."""
    return f'On "{query.rstrip("?")}": sensors of this series are suited for that and meet the usual requirements.'


@cache
def _retriever(index: Path) -> Retriever:
    from judgec.rag.retrieval.index import open_index
    from judgec.rag.retrieval.retrievers import open_retriever

    return open_retriever("bm25", open_index(index))


SENSORS = Path("trainsets/sensors")
FAMILY = "sensors-demo"
SIX = "rag-bm25,rag-fusion-bm25,rag-knn,rag-fusion-knn,rag-hybrid,rag-fusion-hybrid"
VERY, SOMEWHAT = 2, 1
HELD = 0.5  # share of a section's lines that a passage must hold to stand for it


def demo_tournament(home: Path, out: Path) -> None:
    """Index the catalogue, let six agents and two broken ones answer its questions, rank them with the demo's judge.

    Args:
        home: Folder that holds ``programs/``.
        out: Where index, qrels and report go.
    """
    from judgec.labels.split.family import write_whole
    from judgec.raters import programs
    from judgec.report.progress import Bar
    from judgec.tournament.report.evaluation import why_unproven
    from judgec.verbs.answer import answer
    from judgec.verbs.evaluate import evaluate
    from judgec.verbs.index import index, index_report
    from judgec.verbs.tournament import tournament_report

    began = time.monotonic()
    judge = demo_judge(home)
    unproven = why_unproven(programs.load(home, judge).card)
    found = index(SENSORS / "catalogue", out=out / "index")
    print_report(index_report(found))
    qrels, queries = out / "catalogue.qrels", out / "queries.jsonl"
    write_whole(qrels, "".join(_qrels(out / "index")))
    write_whole(queries, "".join(json.dumps(query, ensure_ascii=False) + "\n" for query in demo_queries()))
    answers, bar = out / "answers.jsonl", Bar(shown=True)
    answer(queries=queries, index=found, agents=f"{SIX},{AGENTS}", out=answers, home=home, progress=bar)
    board = evaluate(
        judge=judge,
        out=out / "tournament",
        unproven=bool(unproven),
        queries=queries,
        answers=answers,
        qrels=qrels,
        home=home,
        progress=bar,
    )
    print_report(tournament_report(board))
    say(
        "Labels, questions and relevance are constructed and rules quote passages: this shows the machinery, not "
        "which agent is better on your documents.",
        f"{time.monotonic() - began:.0f} s. The report: {out / 'tournament' / 'report.html'}",
    )


def demo_judge(home: Path) -> str:
    """The newest judge of the constructed labels with its version; compiled, on screen, when there is none."""
    from judgec.raters.programs import CHAMPION, LATEST, aliases, names

    families = sorted(
        (name for name in names(home) if name.startswith(f"{FAMILY}-")), key=lambda name: (len(name), name)
    )
    promoted = [name for name in families if CHAMPION in aliases(home, name)]
    if promoted:
        return f"{promoted[-1]}@{CHAMPION}"
    return f"{families[-1] if families else _compiled(home)}@{LATEST}"


def _compiled(home: Path) -> str:
    """The family of a judge of ``trainsets/sensors``, compiled now."""
    from judgec.report.progress import Bar
    from judgec.verbs.cli.output import print_report
    from judgec.verbs.compilation import compiled_report
    from judgec.verbs.compile_judge import compile_judge
    from judgec.verbs.options.compile_judge import CompileJudgeOptions
    from judgec.verbs.typed import nearest

    labels = nearest(shipped("sensors") / "labels.jsonl")
    options = CompileJudgeOptions(labels=labels, name=f"{FAMILY}-1", home=home)
    bar = Bar(shown=True)
    found = compile_judge.run(options, bar)
    bar.close()
    print_report(compiled_report(found, options))
    return f"{FAMILY}-1"


def demo_queries() -> Iterator[dict[str, str]]:
    """The questions with their reference answers, which the judge was compiled with."""
    for question in _questions():
        yield {"query_id": question["id"], "query": question["query"], "reference": question["reference"]}


def _questions() -> Iterator[dict[str, Any]]:  # Any: a TOML table, texts and lists of texts
    for path in sorted((SENSORS / "questions").glob("*.toml")):
        yield from tomllib.loads(path.read_text(encoding="utf-8"))["question"]


def _qrels(index: Path) -> Iterator[str]:
    """TREC lines: passages that hold the section a question was written from are very relevant, others named with it
    somewhat.
    """
    from judgec.rag.retrieval.index import open_index

    passages = list(open_index(index).passages())
    for question in _questions():
        graded: dict[str, int] = {}
        for place, locator in enumerate(question["contexts"]):
            page, _, words = locator.partition("#")
            lines = set(_section(page, words))
            for passage in passages:
                if passage.doc_id == f"{page}.md" and len(lines & set(_lines(passage.text))) >= HELD * len(lines):
                    graded.setdefault(passage.passage_id, SOMEWHAT if place else VERY)
        yield from (f"{question['id']} 0 {passage_id} {grade}\n" for passage_id, grade in graded.items())


def _section(page: str, words: str) -> list[str]:
    """The lines of the section of a page whose heading holds ``words``; ``intro`` is what stands before the first."""
    _, _, body = (SENSORS / "catalogue" / f"{page}.md").read_text(encoding="utf-8").split("---\n", 2)
    intro, *rest = re.split(r"^## ", body, flags=re.MULTILINE)
    found = {"intro": intro, **{part.split("\n", 1)[0].lower(): f"## {part}" for part in rest}}
    return next((_lines(text) for heading, text in found.items() if words in heading), [])


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


if __name__ == "__main__":
    exit_with_code(lambda: demo_tournament(Path(), OUT))
