"""How well a judge without a model agrees with real experts: five-fold by query, through the compiler's own functions.

    python -m benchmarks.agreement --data ../shared/data/labels [--only NAME ...] [--objective qwk] [--seed 0]

Every label file in the folder takes part; what is no label file is named and skipped. Of the folds one
tests and the others teach; every item is tested once. The
judgments of all test folds are then measured together, with intervals clustered by query. Tables of each set are
printed; a whole run writes their summary into benchmarks/README.md. Runs with ``--only`` or ``--objective``, which
replaces each set's default one, print alone.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.figures import table, write
from judgec.compile.assemble import Bench, evidence_only
from judgec.compile.choose import Choice
from judgec.compile.dataset import Dataset, ratings_of, with_split
from judgec.compile.prepare import default_objective
from judgec.compile.search.candidates import UNCOMPILED, Candidate
from judgec.compile.verify import JUDGES, judge_test, majority, verify
from judgec.errors import InputError
from judgec.evidence.model import EvidenceModel
from judgec.labels.labels import read_label_file
from judgec.labels.split.family import Split
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.raters.registry import judge_module
from judgec.records.agreement import Agreement
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED, Judgments, concatenate
from judgec.records.label import UNLABELLED, IntArray, LabelSet
from judgec.report.numbers import statistic_name
from judgec.stats.agreement.difference import differences
from judgec.stats.agreement.measure import measure
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.registry import STATISTICS, statistic_of_objective

TABLES = (".jsonl", ".csv", ".tsv", ".parquet")
PAIRS = (("compiled", "majority"),)
"""Paired differences in the report: worth more than guessing?"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a label set gave.

    Args:
        name: Stem of its file.
        labels: As read.
        objective: What the judges were compiled for.
        agreements: By judge, over all test folds.
        differences: By pair of judges and statistic.
        seconds: CPU seconds.
    """

    name: str
    labels: LabelSet
    objective: str
    agreements: Mapping[str, Agreement]
    differences: Mapping[tuple[str, str], Mapping[str, Estimate]]
    seconds: float


def folds(labels: LabelSet, n_folds: int, seed: int) -> Iterator[Split]:
    """Splits in which each query is tested once; dev is the fold before the tested one."""
    queries = sorted({item.query_id for item in labels.items})
    order = np.random.default_rng(seed).permutation(len(queries))
    fold_of = {queries[q]: place % n_folds for place, q in enumerate(order)}
    for tested in range(n_folds):
        parts: dict[str, list[int]] = {"train": [], "dev": [], "test": []}
        role = {tested: "test", (tested - 1) % n_folds: "dev"}
        for i, item in enumerate(labels.items):
            parts[role.get(fold_of[item.query_id], "train")].append(i)
        yield Split(tuple(parts["train"]), tuple(parts["dev"]), tuple(parts["test"]), digests={})


def judge_fold(dataset: Dataset, session: Session, seed: int, objective: str) -> dict[str, Judgments]:
    """Every judge's judgments of the test fold; the others are learned from."""
    labels = dataset.labels
    whole = Split((*dataset.split.train, *dataset.split.dev), (), dataset.split.test, digests={})
    dataset = with_split(labels, whole, seed)
    evidence, goal = EvidenceModel.fit(dataset.train.items), parse_objective(objective)
    module = judge_module(labels.task, labels.scale, labels.aspects, labels.fields)
    bench = Bench(dataset, session.finish, evidence, seed, goal, module, no_model=True)
    prompt = Candidate(UNCOMPILED, module)
    judged, _ = judge_test(bench, evidence_only(bench, prompt), prompt, Choice.of_nobody(bench, prompt))
    return {**judged, "random": random_judge(dataset, bench.target(dataset.train), seed)}


def random_judge(dataset: Dataset, target: IntArray, seed: int) -> Judgments:
    """The judge that draws each grade from the train labels, unread."""
    rng = np.random.default_rng(seed)
    columns = [rng.choice(column[column != UNLABELLED], len(dataset.test)) for column in target[..., 0].T]
    accepts = [rng.choice(column, len(dataset.test)) for column in dataset.train.experts.target_accept[..., 0].T]
    grade, accept = np.stack(columns, axis=1), np.stack(accepts, axis=1)
    scale = dataset.labels.scale
    if scale.accept_index is not None:
        accept = (grade >= scale.accept_index).astype(np.int64)
    return replace(
        majority(dataset, dataset.test, target),
        grade=grade,
        score=np.array(scale.values)[grade],
        accept=np.where(accept == UNLABELLED, UNSCORED, accept),
        rationale=("drawn from the train labels",) * len(dataset.test),
    )


def run(name: str, labels: LabelSet, n_folds: int, seed: int, objective: str) -> Outcome:
    """All folds of a label set, measured together."""
    started = time.process_time()
    pooled: list[dict[str, Judgments]] = []
    tested: list[int] = []
    spec = LMSpec.parse("embedded")
    with tempfile.TemporaryDirectory() as home, Session(spec, Path(home)) as session:
        for split in folds(labels, n_folds, seed):
            pooled.append(judge_fold(with_split(labels, split, seed), session, seed, objective))
            tested += split.test
    dataset = with_split(labels, Split((), (), tuple(tested), digests={}), seed)
    judgments = {judge: concatenate([judged[judge] for judged in pooled]) for judge in pooled[0]}
    nominal = labels.scale.level == "nominal"
    found = verify(dataset, {judge: judgments[judge] for judge in JUDGES if judge in judgments}).agreements
    ratings = {judge: ratings_of(dataset, dataset.test, judged) for judge, judged in judgments.items()}
    return Outcome(
        name=name,
        labels=labels,
        objective=objective,
        agreements={"random": measure(ratings["random"], nominal=nominal), **found},
        differences={(a, b): differences(ratings[a], ratings[b], nominal=nominal) for a, b in PAIRS},
        seconds=time.process_time() - started,
    )


def cell(estimate: Estimate, *, signed: bool = False) -> str:
    """``.658 [.593, .718]``, a dash where it is undefined."""
    if estimate.value is None:
        return "-"
    numbers = [estimate.value, *(x for x in (estimate.low, estimate.high) if x is not None)]
    texts = [f"{x:{'+' if signed else ''}.3f}".replace("0.", ".", 1) if abs(x) < 1 else f"{x:.3f}" for x in numbers]
    return texts[0] if len(texts) < 3 else f"{texts[0]} [{texts[1]}, {texts[2]}]"


def section(outcome: Outcome) -> str:
    """The Markdown of one label set."""
    labels, agreements = outcome.labels, outcome.agreements
    shown = [name for name in STATISTICS if any(a.estimates[name].value is not None for a in agreements.values())]
    queries = len({item.query_id for item in labels.items})
    about = f"; {labels.source['annotators']}" if "annotators" in labels.source else ""
    rows = [
        (judge, *(cell(agreement.estimates[name]) for name in shown), str(agreement.unscored))
        for judge, agreement in agreements.items()
        if agreement.n
    ]
    for aspect, part in agreements["compiled"].aspects.items():
        rows.append((f"compiled: {aspect}", *(cell(part.estimates[name]) for name in shown), str(part.unscored)))
    gains = [
        (f"{a} - {b}", *(cell(found[name], signed=True) if name in found else "-" for name in shown))
        for (a, b), found in outcome.differences.items()
    ]
    names = [statistic_name(name) for name in shown]
    lines = [
        f"### {outcome.name}",
        "",
        f"Origin: {labels.source.get('origin', 'not named')}{about}.",
        f"{len(labels.items)} items of {queries} queries; {_target(labels)}; {outcome.seconds:.0f} s of CPU.",
        "",
        *table(("judge", *names, "unscored"), rows),
        "",
        *table(("difference", *names), gains),
    ]
    missing = [f"{name}: {a.estimates[shown[0]].note}." for name, a in agreements.items() if not a.n]
    return "\n".join([*lines, "", *dict.fromkeys(missing), _verdict(outcome), ""])


def summary(outcomes: Sequence[Outcome]) -> str:
    """The Markdown of all label sets by the statistic that each was compiled for."""
    judges = list(outcomes[0].agreements)
    rows = []
    for outcome in outcomes:
        name = statistic_of(outcome)
        cells = [cell(outcome.agreements[judge].estimates[name]) for judge in judges]
        gains = [cell(found[name], signed=True) if name in found else "-" for found in outcome.differences.values()]
        rows.append((outcome.name, statistic_name(name), *cells, *gains))
    header = ("set", "statistic", *judges, *(f"{a} - {b}" for a, b in outcomes[0].differences))
    return "\n".join([*table(header, rows), ""])


def statistic_of(outcome: Outcome) -> str:
    """The column of the tables that an objective has; that of a sum is its first term's."""
    name = parse_objective(outcome.objective).terms[0][1]
    name = statistic_of_objective(name)
    return name if name in STATISTICS else "exact"


def _target(labels: LabelSet) -> str:
    if labels.accept_only:
        return "accept or reject"
    aspects = f" of {', '.join(labels.aspects)}" if len(labels.aspects) > 1 else ""
    return f"{labels.scale.name} {' / '.join(map(str, labels.scale.grades))}{aspects}"


def _verdict(outcome: Outcome) -> str:
    """Whether the compiled judge is worth more than the majority grade, by the objective it was compiled for."""
    objective = statistic_of(outcome)
    gain = outcome.differences["compiled", "majority"][objective]
    better = gain.low is not None and gain.low > 0
    verdict = (
        "better than the majority judge" if better else "**no better than the majority judge: not to be promoted**"
    )
    return f"The compiled judge is {verdict} (difference of {statistic_name(objective)} {cell(gain, signed=True)})."


def label_sets(folder: Path, only: Sequence[str]) -> Iterator[tuple[str, LabelSet]]:
    """Every label file of the folder; the others are named on standard error."""
    for path in sorted(path for path in folder.iterdir() if path.suffix in TABLES):
        if only and path.stem not in only:
            continue
        try:
            yield path.stem, read_label_file(str(path)).labels
        except InputError as error:
            print(f"skipped {path.name}: {str(error.faults[0]).replace(str(folder), folder.name)}", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of label files with datasheets")
    parser.add_argument("--only", nargs="*", default=[], help="names of label files without their ending")
    parser.add_argument("--objective", default="", help="what to compile for, in place of each set's default")
    parser.add_argument("--seed", type=int, default=0, help="of folds, consensus and calibrators")
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args(arguments)
    if options.folds < 3:
        parser.error(f"--folds {options.folds}: at least 3 are needed, to train, to choose and to test.")
    if not options.data.is_dir():
        parser.error(f"--data {options.data}: not a folder; name one that holds label files.")
    outcomes = []
    for name, labels in label_sets(options.data, options.only):
        objective = options.objective or default_objective(labels)
        outcomes.append(run(name, labels, options.folds, options.seed, objective))
        print(section(outcomes[-1]), flush=True)
    if not outcomes:
        sys.exit(f"{options.data}: no label file{' of these names' if options.only else ''}. Name another folder.")
    total = f"{options.folds} folds, seed {options.seed}: {time.process_time():.0f} s of CPU in all.\n"
    print(summary(outcomes), total, sep="\n")
    if not (options.only or options.objective):
        write("agreement", "\n".join([total, summary(outcomes)]))


if __name__ == "__main__":
    main()
