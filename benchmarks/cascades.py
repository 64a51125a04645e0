"""Cascades of judges that people know: how much of the strong judge's calls a cheap one saves, and whether that holds.

    python -m benchmarks.cascades --data ../shared/data/recorded [--only STEM ...] [--write]

Recorded verdicts, five folds by query, every step as in ``compile-judge --cascade``: of several prompts of a model the
one that is best on the training folds, as it is, on the items that all of them were asked about; both judges with
calibrator and decision rule; saving and threshold out of fold; 95 % intervals over queries on the test folds, all
pooled. *items*: those that both judges were asked about, which all numbers of a row are of. *evidence*: features of the
texts beside the verdicts.
"""

import argparse
import logging
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.agreement import cell, write
from benchmarks.choosing_prompts import table
from judgec.compile.assemble import Bench, learned_part
from judgec.compile.cascades import MadeCascade, Tested, make_cascade, outcome, pairs_of
from judgec.compile.dataset import Dataset
from judgec.compile.folds.parts import make_parts
from judgec.compile.search.candidates import Candidate
from judgec.compile.settings import Combine, CompileSettings, RatedCandidates
from judgec.evidence.model import EvidenceModel
from judgec.labels.labels import read_label_file
from judgec.labels.split.memory import read_memory
from judgec.lm.executor import Reply, Request
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from judgec.raters.cascade import EVIDENCE
from judgec.raters.recorded import RECORDED_KIND, OnWhat, RecordedVerdicts, check_against, read_recorded
from judgec.raters.registry import judge_module
from judgec.records.label import LabelSet
from judgec.records.ratings import pair
from judgec.report.numbers import percent
from judgec.stats.agreement.objective import parse_objective

FOLDS, SEED = 5, 0
START, END = "<!-- cascades: start -->", "<!-- cascades: end -->"
HEAD = (
    "set", "objective", "cheap > strong", "evidence", "items", "cheap", "strong", "cascade", "strong calls",
    "cascade - strong", "cascade - random", "ships",
)  # fmt: skip


@dataclass(frozen=True)
class Tried:
    """Two judges one after the other.

    Args:
        stem: The set.
        objective: What is compared.
        cheap: How the names of the cheap judges begin; of several the best on the training folds.
        strong: The same of the strong one.
        evidence: Whether features of the texts stand beside the verdicts.
    """

    stem: str
    objective: str
    cheap: str
    strong: str
    evidence: bool = False


TRIED = (
    Tried("trecdl20_relevance", "qwk", "llama3.2", "gpt-4o"),
    Tried("trecdl20_relevance", "qwk", "mistral", "gpt-4o"),
    Tried("trecdl20_relevance", "qwk", EVIDENCE, "gpt-4o", evidence=True),
    Tried("summeval_aspects", "qwk", "gpt-4o-mini", "gpt-4-0314"),
    Tried("summeval_aspects", "qwk", "gpt-4o-mini", "gpt-4-0314", evidence=True),
    Tried("summeval_aspects", "qwk", "gpt-4o-mini", "gpt-4o/"),
    Tried("summeval_aspects", "qwk", "gpt-3.5-turbo-0301/rts", "gpt-4-0314"),
    Tried("summeval_aspects", "qwk", "llama-31", "gpt-4-0314"),
    Tried("summeval_aspects", "qwk", EVIDENCE, "gpt-4-0314", evidence=True),
    Tried("mtbench_preference", "kappa", EVIDENCE, "gpt-4", evidence=True),
)


def nobody(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:  # noqa: ARG001 - one signature
    """Recorded judges are not asked."""
    raise AssertionError(next(iter(requests)))


def run(tried: Tried, labels: LabelSet, recorded: RecordedVerdicts) -> tuple[str, ...]:
    """The row of one cascade."""
    objective = parse_objective(tried.objective)
    with tempfile.TemporaryDirectory() as home:
        parts = make_parts(labels, SEED, memory=read_memory(Path(home), "judge"), folds=FOLDS)
    settings = CompileSettings(
        "judge",
        Path(home),
        LMSpec.parse("recorded:file"),
        tried.objective,
        RECORDED_KIND,
        rated=RatedCandidates(recorded),
    )
    queries = parts.pooled.test.n_queries
    made = [_made(tried, dataset, settings, recorded, queries) for dataset in parts.tested]
    names = ("cheap", "strong", "whole", "raw")
    pooled = Tested(*(parts.pool([getattr(one.tested, name) for one in made]) for name in names))
    bench = Bench(parts.pooled, nobody, None, SEED, objective=objective, recorded=recorded)
    test = parts.pooled.test
    found = outcome(bench, test, made[-1], pooled, objective, settings)
    pairs = pairs_of(bench, test, pooled.cheap, pooled.strong)
    whole = pair(test.experts, pooled.whole, labels.scale, accept_only=labels.accept_only)
    values = [f"{objective.value(one):.3f}".replace("0.", ".", 1) for one in (pairs.first, pairs.second, whole)]
    return (
        tried.stem,
        tried.objective,
        f"{tried.cheap} > {tried.strong.rstrip('/')}",
        "yes" if tried.evidence else "",
        f"{int(pairs.both.sum()):,}",
        *values,
        percent(found.share),
        cell(found.minus_strong, signed=True),
        cell(found.minus_random, signed=True),
        "**yes**" if found.shipped else "no",
    )


def _made(
    tried: Tried, dataset: Dataset, settings: CompileSettings, recorded: RecordedVerdicts, queries: int
) -> MadeCascade:
    labels, objective = dataset.labels, parse_objective(tried.objective)
    evidence = EvidenceModel.fit(dataset.train.items, labels.task) if tried.evidence else None
    bench = Bench(dataset, nobody, evidence, SEED, objective=objective, recorded=recorded)
    names = (EVIDENCE if tried.cheap == EVIDENCE else _best(bench, tried.cheap), _best(bench, tried.strong))
    module = judge_module(labels.task, labels.scale, labels.aspects, labels.fields)
    settings = replace(settings, combine=Combine(cascade=names))
    return make_cascade(bench, module, Candidate(names[1], module), settings, objective, Silent(), queries)


def _best(bench: Bench, start: str) -> str:
    """Of the judges whose names begin so the one with the highest objective on train and dev, as it is.

    All of them are measured on the items that each was asked about: one that has further items may have easier ones.
    """
    part, recorded, objective = learned_part(bench), bench.recorded, bench.objective
    assert recorded is not None
    assert objective is not None
    ids, accept_only = [item.item_id for item in part.items], bench.dataset.labels.accept_only
    rated = {
        name: pair(part.experts, recorded.judgments(name, ids), bench.scale, accept_only=accept_only)
        for name in recorded.judges
        if name.startswith(start)
    }
    of_all = np.logical_and.reduce([one.labelled for one in rated.values()])
    return max(rated, key=lambda name: objective.value(rated[name].masked(of_all)))


def rows(folder: Path, only: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """A row for each cascade whose set is there."""
    for tried in TRIED:
        file = folder / f"{tried.stem}.jsonl"
        if (only and tried.stem not in only) or not file.is_file():
            continue
        labels = read_label_file(str(file)).labels
        recorded = read_recorded(str(folder / f"{tried.stem}.verdicts.parquet"), OnWhat.of(labels))
        row = run(tried, labels, check_against(recorded, labels))
        print(" | ".join(row), flush=True, file=sys.stderr)
        yield row


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with recorded verdicts")
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md")
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)
    found = list(rows(options.data, options.only))
    if not found:
        sys.exit(f"{options.data}: none of {', '.join(sorted({one.stem for one in TRIED}))} is there. Name its folder.")
    text = table(HEAD, iter(found))
    print(text)
    if options.write:
        write(text, START, END)


if __name__ == "__main__":
    main()
