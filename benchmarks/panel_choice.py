"""Panels of recorded judges beside the best single judge, five folds by query; and one version of the choice beside
another.

    python -m benchmarks.panel_choice --data ../shared/data/recorded [--only SET ...] [--out FOLDER] [--before FOLDER]
        [--panel auto]

As in ``real_judges``, whose compiles these are: every model that has several prompts, and all judges of a set
together. *single* is what the compile would have shipped without a panel, *shipped* what it ships with ``--panel``
(``all`` by default), of as many *members* in the judge that ships; everything is chosen on the training folds.
Finished compiles are kept below ``--out``. ``--before`` names the folder that this script has written with another
version of the code (from its own checkout), or with ``--panel all``: *before* is what that shipped. Differences are
paired, with 95 % intervals over queries; of several aspects it is the mean of their own values.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from benchmarks.agreement import cell
from benchmarks.real_judges import Row, Task, aspects_of, kept, tasks_in
from judgec.records.estimate import Estimate
from judgec.records.ratings import on_both
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.statistic import WeightedSum
from judgec.stats.intervals.bootstrap import difference_interval, interval

SOME = {"trecdl20_relevance": ("llama3.2", "mistral")}  # beside all models together
ASPECTS = {"hanna_aspects": ("relevance", "complexity"), "summeval_aspects": ("coherence", "fluency")}  # takes a third


def panels_in(folder: Path, only: Sequence[str], out: Path) -> Iterator[Task]:
    """Every model with several prompts, and the models of a set together."""
    tasks = [_of_aspects(task, out) for task in tasks_in(folder, only, "qwk", evidence=False, skipped=[])]
    for group in dict.fromkeys(task.group for task in tasks):
        mine = {task.model: task for task in tasks if task.group == group}
        yield from (task for task in mine.values() if len(task.verdicts["judge"].unique()) > 1)
        if models := SOME.get(group):
            first, said = mine[models[0]], pd.concat([mine[model].verdicts for model in models], ignore_index=True)
            yield replace(first, verdicts=said, model=" + ".join(models))


def _of_aspects(task: Task, out: Path) -> Task:
    """The task with the aspects that are measured, its labels written below ``out``."""
    kept_aspects = ASPECTS.get(task.group)
    if kept_aspects is None:
        return task
    path = out / "labels" / task.labels.name
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in task.labels.read_text(encoding="utf-8").splitlines()]
    of_aspects = [
        {key: value for key, value in row.items() if "." not in key or key.split(".")[1] in kept_aspects}
        for row in rows
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in of_aspects), encoding="utf-8")
    sheet = task.labels.with_suffix(".datasheet.toml")
    path.with_suffix(".datasheet.toml").write_bytes(sheet.read_bytes())
    said = task.verdicts[task.verdicts["aspect"].isin(kept_aspects)].reset_index(drop=True)
    return replace(task, labels=path, verdicts=said)


def minus(ours: Sequence[Row], theirs: Sequence[Row], our: str, their: str) -> Estimate:
    """The mean over aspects of the objective's differences on the items of both."""
    goal = parse_objective(ours[0].objective)
    pairs = [on_both(one.ratings[our], other.ratings[their]) for one, other in zip(ours, theirs, strict=True)]
    one, other = (WeightedSum(tuple((1 / len(pairs), goal.statistic(pair[i])) for pair in pairs)) for i in (0, 1))
    return difference_interval(one, other).estimate(sum(len(a.expert) for a, _ in pairs))


def value(rows: Sequence[Row], column: str) -> Estimate:
    """The mean over aspects of the objective."""
    goal = parse_objective(rows[0].objective)
    whole = WeightedSum(tuple((1 / len(rows), goal.statistic(row.ratings[column])) for row in rows))
    return interval(whole).estimate(sum(len(row.ratings[column].expert) for row in rows))


def line(rows: Sequence[Row], before: Sequence[Row] | None) -> str:
    """A row of the table: aspects of one compile."""
    cells = [rows[0].group, rows[0].model, str(rows[0].judges), rows[0].objective]
    cells += [f"{value(rows, name).value:.3f}" for name in ("best prompt", "compiled")]
    if before is not None:
        cells.append(f"{value(before, 'panel').value:.3f}")
    cells += [
        f"{value(rows, 'panel').value:.3f}",
        str(rows[0].members or "?"),
        cell(minus(rows, rows, "panel", "compiled"), signed=True),
    ]
    if before is not None:
        cells.append(cell(minus(rows, before, "panel", "panel"), signed=True))
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Compile all, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of recorded verdicts with their labels")
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--out", type=Path, default=Path("build/panel_choice"), help="where finished compiles are kept")
    parser.add_argument("--before", type=Path, help="the same folder of another version")
    parser.add_argument("--jobs", type=int, default=1, help="compiles at a time")
    parser.add_argument("--panel", default="all", help="all, auto or a number")
    options = parser.parse_args(arguments)
    tasks = [replace(one, panel=options.panel) for one in panels_in(options.data, options.only, options.out)]
    head = ["set", "judges", "n", "objective", "best prompt, raw", "single", "shipped", "members"]
    head.append("shipped - single")
    if options.before:
        head = [*head[:6], "before", *head[6:], "shipped - before"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
    with ProcessPoolExecutor(options.jobs) as pool:
        for task, rows in zip(tasks, pool.map(partial(kept, out=options.out), tasks), strict=True):
            if isinstance(rows, str):
                sys.exit(rows)
            old = kept(replace(task, panel="all"), options.before) if options.before else None
            assert not isinstance(old, str)
            before = None if old is None else aspects_of(old, task.group, task.model)
            print(line(aspects_of(rows, task.group, task.model), before), flush=True)
            print(f"{task.group} {task.model}: {rows[0].seconds:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
