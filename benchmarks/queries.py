"""Questions from real documents by rule: how many pairs are reliable, how fast, in how much memory.

    python benchmarks/queries.py --data ../shared/data

Reliability is by the checks of ``judgec.rag.queries.reliability.Rules``, applied to what the embedded generator writes
before any filter: it is not people's judgment. The scenarios are built with their own checks, which drop more. Speed is
that of one process; the corpus of 13,644 chunks is vaswani, cranfield and the passages of clapnq, these repeated until
it is full.
"""

import argparse
import json
import resource
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter, process_time

from judgec.rag.queries.generation.generate import long_passages
from judgec.rag.queries.generation.generator import RuleGenerator
from judgec.rag.queries.reliability import Pair, Rules
from judgec.rag.queries.sampling import SampledDocument
from judgec.rag.queries.scenarios import SHIPPED
from judgec.rag.queries.scenarios.building import build
from judgec.rag.queries.scenarios.reading import files_in, read_scenario
from judgec.rag.queries.terms import TermIndex
from judgec.rag.retrieval.passages import Passage
from judgec.rag.rules.writer import RuleWriter

CHUNKS = 13_644
QUESTIONS = 200  # of each scenario
PER_PASSAGE = 10


def clapnq(data: Path) -> list[SampledDocument]:
    """The passages of answerable and unanswerable questions, a document each."""
    documents = []
    for kind in ("answerable", "unanswerable"):
        for line in (data / "clapnq_passages" / f"clapnq_dev_{kind}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            documents += [SampledDocument(f"{row['id']}", one["title"], one["text"]) for one in row["passages"]]
    return documents


def filler(data: Path, own: Sequence[SampledDocument]) -> Iterator[SampledDocument]:
    """Further documents without end."""
    for name in ("vaswani", "cranfield"):
        for line in (data / "labels" / f"{name}_corpus.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield SampledDocument(f"{name}-{row['doc_id']}", row.get("title") or f"{name} {row['doc_id']}", row["text"])
    number = 0
    while True:
        for one in own:
            number += 1
            yield SampledDocument(f"{one.doc_id}-{number}", one.title, one.text)


def reliable(documents: Sequence[SampledDocument]) -> None:
    """Print the share of pairs that pass, and why the others do not."""
    passages = list(long_passages(documents, "2000t", 0))
    started = process_time()
    written = RuleGenerator().write(passages, PER_PASSAGE)
    seconds = process_time() - started
    pairs = [
        Pair(one.query, f"{passage.title}\n{passage.text}", one.reference)
        for passage, made in zip(passages, written, strict=True)
        if not isinstance(made, str)
        for one in made
    ]
    faults = Rules().faults(pairs)
    passed = sum(not fault for fault in faults)
    reasons = Counter(aspect for fault in faults for aspect in fault)
    asked = sum(not isinstance(made, str) for made in written)
    print(
        f"generate-queries: {len(pairs)} pairs from {asked} of {len(passages)} passages, {len(pairs) / seconds:,.0f}/s"
    )
    print(f"reliable by the checks: {passed} of {len(pairs)} = {passed / len(pairs):.1%}; failing: {dict(reasons)}")


def scenarios(documents: Sequence[SampledDocument], chunks: Sequence[Passage], terms: TermIndex) -> None:
    """Print how many questions of each scenario are made, and how fast."""
    writer = RuleWriter(chunks)
    total, used = 0, 0.0
    for path in files_in(SHIPPED):
        scenario = read_scenario(path)
        started = process_time()
        built = build(scenario, documents, writer, terms, n=QUESTIONS, seed=0)
        seconds = process_time() - started
        total, used = total + len(built.questions), used + seconds
        rate = len(built.questions) / seconds
        made = f"{len(built.questions):4} of {built.drafts:4} drafts"
        print(f"  {scenario.id:14} {made}  {rate:8,.0f}/s  {dict(built.dropped)}")
    print(f"all scenarios: {total / used:,.0f} questions/s")


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    own = clapnq(data)
    reliable(own)
    source = filler(data, own)
    documents = [*own, *(next(source) for _ in range(CHUNKS - len(own)))]
    chunks = [Passage(one.doc_id, one.doc_id, one.text, one.title) for one in documents]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    started, wall = process_time(), perf_counter()
    terms = TermIndex(chunks)
    print(f"term index of {len(chunks):,} chunks: {process_time() - started:.1f} s CPU, {perf_counter() - wall:.1f} s")
    scenarios(documents, chunks, terms)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory: {before:.0f} MB with the corpus, peak {peak:.0f} MB")


if __name__ == "__main__":
    main()
