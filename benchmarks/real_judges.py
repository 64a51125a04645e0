"""What compiling does to judges that people know: raw, chosen, compiled, as a panel; five folds by query.

    python -m benchmarks.real_judges --data ../shared/data/recorded [--only SET ...] [--out FOLDER] [--write]

Every set of the folder is compiled: ``STEM.jsonl`` (labels, with or without a datasheet) beside
``STEM.verdicts.parquet`` (what judges said of the items) and, if there is one, ``STEM.judges.json`` (each judge's
model). A set that does not fit is named with the reason. The judges of one model are its prompts; one compile a model
asks no LM and gives all columns: *raw* is the prompt whose objective is the median on train ("a prompt that nobody
compared"), *best prompt* the one that was best on the training folds, as it is; *compiled* that or another one with
calibrator and decision rule; *panel* what ``--panel all`` ships: all prompts of the model together in each fold where
they were better on its training folds, else the compiled one. Evidence is left out unless ``--evidence`` is given, so
that the columns differ by nothing but what is done to the same verdicts. Each compile is kept below ``--out`` and not
made again.
"""

import argparse
import hashlib
import json
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

import judgec
from benchmarks.agreement import cell, write
from benchmarks.llm_rubric import STEM as RUBRIC
from benchmarks.llm_rubric import rubric_section
from judgec.compiler.compile import Compiled, default_objective
from judgec.compiler.verify import BEST_ALONE, COMPILED_SINGLE, ratings_of
from judgec.errors import JudgecError
from judgec.records.estimate import Estimate
from judgec.records.label import LabelSet
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.difference import differences
from judgec.stats.agreement.measure import Resampling, measure
from judgec.store.labels import read_label_file

FOLDS = 5
START, END = "<!-- known judges: start -->", "<!-- known judges: end -->"
BETWEEN, BETWEEN_END = "<!-- between judges: start -->", "<!-- between judges: end -->"
OLD_SHAPE = {"pandalm_judges": Path("labels/pandalm_preference.jsonl")}  # one key a judge instead of rows
ALL_ASPECTS = "all"


@dataclass(frozen=True, slots=True)
class Task:
    """The judges of one model on one set.

    Args:
        group: The set.
        labels: Its labels.
        verdicts: What the judges said, in rows.
        model: Whose.
        objective: What is compiled for.
        evidence: With features of the texts, too.
    """

    group: str
    labels: Path
    verdicts: pd.DataFrame
    model: str
    objective: str
    evidence: bool

    @property
    def key(self) -> str:
        """A name for the result that changes with whatever it depends on."""
        said = pd.util.hash_pandas_object(self.verdicts, index=False).to_numpy().tobytes()
        facts = f"{self.group} {self.model} {self.objective} {self.evidence} {FOLDS}".encode()
        digest = hashlib.sha256(facts + said + self.labels.read_bytes()).hexdigest()
        return f"{self.group}.{self.model.replace('/', '_')}.{digest[:12]}"


@dataclass(frozen=True, slots=True)
class Row:
    """A model on a set, for one aspect.

    Args:
        group: The set.
        aspect: Which, or ``all`` where they are counted together or there is one.
        model: Whose verdicts.
        judges: How many prompts.
        objective: What was compiled for.
        ratings: The experts beside ``raw``, ``best prompt``, ``compiled`` and ``panel``; those that exist.
        nominal: The grades are classes.
        ceiling: An expert against the others; None with one annotator.
        saved: LM calls that the compile did not make: verdicts that it read.
        promoted: The report's decision.
        seconds: Of the compile.
    """

    group: str
    aspect: str
    model: str
    judges: int
    objective: str
    ratings: Mapping[str, GradePairs]
    nominal: bool
    ceiling: Mapping[str, Estimate] | None
    saved: int
    promoted: bool
    seconds: float

    @property
    def shipped(self) -> str:
        """What the compile ends with."""
        return "panel" if "panel" in self.ratings else "compiled"

    @property
    def statistics(self) -> tuple[str, ...]:
        """What is shown: the objective first."""
        graded = ("qwk", "tau_b", "accept_agreement")
        return ("kappa", "exact") if self.nominal else graded


def tasks_in(folder: Path, only: Sequence[str], objective: str, *, evidence: bool) -> Iterator[Task]:
    """The compiles of every set in the folder; what does not fit is said on stderr."""
    for path in sorted(folder.glob("*.verdicts.parquet")):
        stem = path.name.removesuffix(".verdicts.parquet")
        if not only or stem in only:
            yield from _tasks_of(stem, folder / f"{stem}.jsonl", pd.read_parquet(path), objective, evidence=evidence)
    for stem, beside in OLD_SHAPE.items():
        path = folder / f"{stem}.jsonl"
        if path.exists() and (not only or stem in only):
            table = pd.DataFrame([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])
            long = table.melt("item_id", var_name="judge", value_name="preference").assign(order="ab")
            yield from _tasks_of(stem, folder.parent / beside, long, objective, evidence=evidence)


def _tasks_of(stem: str, labels: Path, verdicts: pd.DataFrame, objective: str, *, evidence: bool) -> Iterator[Task]:
    try:
        found = read_label_file(str(labels)).labels
    except JudgecError as error:
        print(f"skipped {stem}: {error}", file=sys.stderr)
        return
    if missing := {"item_id", "judge"} - set(verdicts.columns):
        print(f"skipped {stem}: no column {', '.join(sorted(missing))} in its verdicts", file=sys.stderr)
        return
    goal = default_objective(found) if found.scale.level == "nominal" else objective
    about = labels.with_name(f"{stem}.judges.json")
    models = json.loads(about.read_text(encoding="utf-8")) if about.exists() else {}
    model = verdicts["judge"].map(lambda name: str(models.get(name, {}).get("model") or name))
    for name in sorted(model.unique()):
        yield Task(stem, labels, verdicts[model == name].reset_index(drop=True), name, goal, evidence)


def kept(task: Task, out: Path) -> list[Row] | str:
    """The rows of a compile, from the folder of results where it is there; the reason where it failed."""
    path = out / f"{task.key}.pickle"
    if path.exists():
        loaded: list[Row] | str = pickle.loads(path.read_bytes())  # noqa: S301  # this script wrote it
        return loaded
    found = rows_of(task)
    out.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(pickle.dumps(found))
    part.replace(path)
    return found


def rows_of(task: Task) -> list[Row] | str:
    """Compile the judges of one model and measure them; the reason where that cannot be."""
    started, home = time.perf_counter(), Path(tempfile.mkdtemp())
    judges = int(task.verdicts["judge"].nunique())
    try:
        done = judgec.compile_judge(
            str(task.labels),
            verdicts=task.verdicts,
            objective=task.objective,
            evidence=task.evidence,
            folds=FOLDS,
            panel="all" if judges > 1 else None,
            name="known",
            home=home,
            progress=False,
        )
    except JudgecError as error:
        return f"{task.group} {task.model}: {error}"
    finally:
        shutil.rmtree(home, ignore_errors=True)
    compiled, seconds = done.saved.compiled, time.perf_counter() - started
    labels = compiled.dataset.labels
    aspects = [ALL_ASPECTS] if len(labels.aspects) == 1 else [ALL_ASPECTS, *labels.aspects]
    return [
        Row(
            group=task.group,
            aspect=aspect,
            model=task.model,
            judges=judges,
            objective=task.objective,
            ratings=_ratings(compiled, aspect, judges),
            nominal=labels.scale.level == "nominal",
            ceiling=_ceiling(compiled, aspect),
            saved=len(task.verdicts),
            promoted=done.promoted,
            seconds=seconds,
        )
        for aspect in aspects
    ]


def _ratings(compiled: Compiled, aspect: str, judges: int) -> dict[str, GradePairs]:
    labels, said = compiled.dataset.labels, compiled.verification.judgments
    position = None if aspect == ALL_ASPECTS else labels.aspects.index(aspect)
    names = {"raw": "uncompiled"}
    names |= {"best prompt": BEST_ALONE} if judges > 1 else {}
    names |= {"compiled": COMPILED_SINGLE if COMPILED_SINGLE in said else "compiled"}
    if judges > 1:
        names |= {"panel": "compiled"}
    dataset = compiled.dataset
    return {column: ratings_of(dataset, dataset.test, said[name], position) for column, name in names.items()}


def _ceiling(compiled: Compiled, aspect: str) -> Mapping[str, Estimate] | None:
    found = compiled.verification.agreements["ceiling"]
    if aspect != ALL_ASPECTS:
        if aspect not in found.aspects:
            return None
        found = found.aspects[aspect]
    return found.estimates if found.n else None


def section(rows: Sequence[Row], labels: LabelSet, what: Resampling) -> str:
    """The Markdown of one set."""
    first = rows[0]
    columns = [name for name in ("raw", "best prompt", "compiled", "panel") if any(name in row.ratings for row in rows)]
    lines = [f"### {first.group}", "", f"{_origin(labels)} Compiled for {first.objective}."]
    for statistic in first.statistics:
        lines += [
            "",
            f"| model (prompts) | aspect | {' | '.join(columns)} | ceiling | shipped - raw: {statistic} |",
            f"|---|---|{'---|' * (len(columns) + 2)}",
        ]
        for row in rows:
            cells = [_measured(row, name, statistic, what) for name in columns]
            ceiling = "-" if row.ceiling is None else cell(row.ceiling[statistic], interval=False)
            gain = differences(row.ratings[row.shipped], row.ratings["raw"], what, nominal=row.nominal)[statistic]
            who = f"{row.model} ({row.judges})"
            lines.append(
                f"| {who} | {row.aspect} | {' | '.join(cells)} | {ceiling} | {cell(gain, signed=True)}{_shown(gain)} |"
            )
    calls = ", ".join(f"{row.model} {row.saved:,}" for row in rows if row.aspect == ALL_ASPECTS)
    return "\n".join([*lines, "", f"LM calls saved, one a recorded verdict that was read: {calls}.", ""])


def _origin(labels: LabelSet) -> str:
    origin = labels.source.get("origin")
    return f"{origin}." if origin else "The datasheet names no origin."


def _measured(row: Row, column: str, statistic: str, what: Resampling) -> str:
    if column not in row.ratings:
        return "-"
    return cell(measure(row.ratings[column], what, nominal=row.nominal).estimates[statistic])


def _shown(gain: Estimate) -> str:
    if gain.low is None or gain.high is None:
        return ""
    return " **better**" if gain.low > 0 else " **worse**" if gain.high < 0 else ""


def between(rows: Sequence[Row], what: Resampling) -> str:
    """Compiled judges of one model beside the raw judges of the others: a paired difference on the same items."""
    graded = [row for row in rows if not row.nominal]
    lines = [
        "| set, aspect | shipped judge of | minus raw judge of | qwk | tau_b |",
        "|---|---|---|---|---|",
    ]
    for one in graded:
        for other in graded:
            if (one.group, one.aspect) != (other.group, other.aspect) or one.model == other.model:
                continue
            found = differences(one.ratings[one.shipped], other.ratings["raw"], what)
            low = found["qwk"].low
            if low is not None and low > 0:
                cells = (cell(found[name], signed=True) for name in ("qwk", "tau_b"))
                lines.append(f"| {one.group}, {one.aspect} | {one.model} | {other.model} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of recorded verdicts with their labels")
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--objective", default="qwk", help="of graded sets")
    parser.add_argument("--evidence", action="store_true", help="compile with evidence, too")
    parser.add_argument("--out", type=Path, default=Path("build/real_judges"), help="where finished compiles are kept")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"--data {options.data}: not a folder; name one that holds recorded verdicts.")
    tasks = list(tasks_in(options.data, options.only, options.objective, evidence=options.evidence))
    rows: list[Row] = []
    with ProcessPoolExecutor(options.workers) as pool:
        for task, found in zip(tasks, pool.map(partial(kept, out=options.out), tasks), strict=True):
            if isinstance(found, str):
                print(f"skipped {found}", file=sys.stderr)
                continue
            rows += found
            print(f"{task.group} {task.model}: {found[0].seconds:.0f} s", file=sys.stderr, flush=True)
    if not rows:
        sys.exit(f"{options.data}: no set could be compiled. Name another folder, or other sets.")
    what = Resampling()
    labels = {task.group: task.labels for task in tasks}
    parts = []
    for group in dict.fromkeys(row.group for row in rows):
        here = [row for row in rows if row.group == group]
        parts.append(section(here, read_label_file(str(labels[group])).labels, what))
        if group == RUBRIC:
            parts.append(rubric_section(options.data))
    text, beside = "\n".join(parts), between(rows, what)
    print(f"{text}\n{beside}")
    if options.write:
        write(text, START, END)
        write(beside, BETWEEN, BETWEEN_END)


if __name__ == "__main__":
    main()
