"""What compiling does to judges that people know: raw, chosen, compiled, as a panel; five folds by query.

    python -m benchmarks.real_judges --data ../shared/data/recorded [--only SET ...] [--out FOLDER] [--write]

Every set of the folder is compiled: ``STEM.jsonl`` (labels, with or without a datasheet) beside
``STEM.verdicts.parquet`` (what judges said of the items) and, if there is one, ``STEM.judges.json`` (each judge's
model). A set that does not fit is named with the reason. The judges of one model are its prompts; one compile a model
asks no LM and gives all columns: *raw* is the prompt whose objective is the median on train ("a prompt that nobody
compared"), *best prompt* the one that was best on the training folds, as it is; *compiled* that or another one with
calibrator and decision rule; *panel* what ``--panel auto`` ships: several prompts of the model together in each fold
where they were better on its training folds, as few as are enough, else the compiled one. *all models* are the judges
of all models of the set in one compile. *calls* are the judges that whatever ships asks about an item: one a prompt.
Evidence is left out unless ``--evidence`` is given, so that the columns differ by nothing but what is done to the same
verdicts. Each compile is kept below ``--out`` and not made again; one that failed is tried again. Where there are
several aspects, *all* pools them, so that telling a hard aspect from an easy one counts; *mean* is the mean of the
aspects' own values.
"""

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import judgec
from benchmarks.agreement import cell
from benchmarks.figures import table, write
from judgec.compile.dataset import ratings_of
from judgec.compile.measured import Compiled
from judgec.compile.prepare import default_objective
from judgec.compile.verify import BEST_ALONE, COMPILED_SINGLE
from judgec.errors import JudgecError
from judgec.labels.labels import read_label_file
from judgec.labels.reading import Reading
from judgec.records.estimate import Estimate
from judgec.records.label import LabelSet
from judgec.records.ratings import GradePairs, on_both
from judgec.report.numbers import statistic_name
from judgec.stats.agreement.difference import differences
from judgec.stats.agreement.measure import measure
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.registry import STATISTICS
from judgec.stats.agreement.statistic import weighted_sum
from judgec.stats.intervals.jackknife import difference_interval, interval

FOLDS = 5
OLD_SHAPE = {"pandalm_judges": Path("labels/pandalm_preference.jsonl")}  # one key a judge instead of rows
ALL_ASPECTS, MEAN = "all", "mean"
VERDICTS = ".verdicts.parquet"
TOGETHER = "all models"
PEOPLE = Reading(annotators=("*",))
KINDS = {"score": np.float64, "people": np.float64, "system": np.str_}  # of a row's arrays; whole numbers otherwise


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
        panel: As ``--panel``, where there are several judges.
    """

    group: str
    labels: Path
    verdicts: pd.DataFrame
    model: str
    objective: str
    evidence: bool
    panel: str = "auto"

    @property
    def key(self) -> str:
        """A name for the result that changes with whatever it depends on."""
        said = pd.util.hash_pandas_object(self.verdicts, index=False).to_numpy().tobytes()
        panel = "" if self.panel == "all" else f" {self.panel}"
        facts = f"{self.group} {self.model} {self.objective} {self.evidence} {FOLDS}{panel}".encode()
        sheet = self.labels.with_suffix(".datasheet.toml")
        about = sheet.read_bytes() if sheet.exists() else b""
        digest = hashlib.sha256(facts + said + self.labels.read_bytes() + about).hexdigest()
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
        members: Whose verdicts the judge needs that ships; 0 in a result that was kept before they were counted.
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
    members: int = 0

    @property
    def shipped(self) -> str:
        """What the compile ends with."""
        return "panel" if "panel" in self.ratings else "compiled"

    @property
    def statistics(self) -> tuple[str, ...]:
        """What is shown: the objective first."""
        graded = ("qwk", "tau_b", "accept_agreement")
        return ("kappa", "exact") if self.nominal else graded


def tasks_in(
    folder: Path, only: Sequence[str], objective: str, *, evidence: bool, skipped: list[str]
) -> Iterator[Task]:
    """The compiles of every set in the folder; why a set does not fit is added to ``skipped``."""
    sets = {path.name.removesuffix(VERDICTS): path for path in sorted(folder.glob(f"*{VERDICTS}"))}
    sets |= {stem: folder / f"{stem}.jsonl" for stem in OLD_SHAPE if (folder / f"{stem}.jsonl").exists()}
    skipped += [f"{name}: no {name}{VERDICTS} in {folder}" for name in only if name not in sets]
    for stem, path in sets.items():
        if only and stem not in only:
            continue
        try:
            if stem in OLD_SHAPE:
                table = pd.DataFrame([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])
                verdicts = table.melt("item_id", var_name="judge", value_name="preference").assign(order="ab")
                labels = folder.parent / OLD_SHAPE[stem]
            else:
                verdicts, labels = pd.read_parquet(path), folder / f"{stem}.jsonl"
            found = _tasks_of(stem, labels, verdicts, objective, evidence=evidence)
        except (JudgecError, OSError, ValueError) as error:
            skipped.append(f"{stem}: {_first_line(error)}")
        else:
            yield from found


def _tasks_of(stem: str, labels: Path, verdicts: pd.DataFrame, objective: str, *, evidence: bool) -> list[Task]:
    found = labelled(labels)
    if missing := {"item_id", "judge"} - set(verdicts.columns):
        raise ValueError(f"no column {', '.join(sorted(missing))} in its verdicts")
    goal = default_objective(found) if found.scale.level == "nominal" else objective
    about = labels.with_name(f"{stem}.judges.json")
    judges = json.loads(about.read_text(encoding="utf-8")) if about.exists() else {}
    models = {name: str(facts.get("model") or name) for name, facts in judges.items() if isinstance(facts, dict)}
    model = verdicts["judge"].map(lambda name: models.get(name, str(name)))
    found_models = sorted(model.unique())
    said = {name: verdicts[model == name].reset_index(drop=True) for name in found_models}
    said |= {TOGETHER: verdicts} if len(found_models) > 1 else {}
    return [Task(stem, labels, rows, name, goal, evidence) for name, rows in said.items()]


def labelled(path: Path) -> LabelSet:
    """The labels of a set, all by people: judges have a file of their own."""
    return read_label_file(str(path), PEOPLE).labels


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def kept(task: Task, out: Path) -> list[Row] | str:
    """The rows of a compile, from the folder of results where it is there; the reason where it failed."""
    path = out / f"{task.key}.json"
    if path.exists():
        return [_read(row) for row in json.loads(path.read_text(encoding="utf-8"))]
    found = rows_of(task)
    if isinstance(found, str):
        return found
    out.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps([_written(row) for row in found]), encoding="utf-8")
    part.replace(path)
    return found


def _written(row: Row) -> dict[str, object]:
    """A row as JSON has it; a score that is missing is NaN."""
    ratings = {
        name: {one.name: _listed(getattr(pairs, one.name)) for one in fields(pairs)}
        for name, pairs in row.ratings.items()
    }
    ceiling = None if row.ceiling is None else {name: one.model_dump() for name, one in row.ceiling.items()}
    return {one.name: getattr(row, one.name) for one in fields(row)} | {"ratings": ratings, "ceiling": ceiling}


def _listed(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _read(saved: dict[str, Any]) -> Row:  # Any: of a file that this script wrote
    ratings = {
        name: GradePairs(**{key: _array(key, value) for key, value in pairs.items()})
        for name, pairs in saved["ratings"].items()
    }
    ceiling = saved["ceiling"] and {name: Estimate(**one) for name, one in saved["ceiling"].items()}
    return Row(**{**saved, "ratings": ratings, "ceiling": ceiling})


def _array(key: str, value: Any) -> Any:  # Any: as above
    if key == "values":
        return tuple(value)
    return np.array(value, dtype=KINDS.get(key, np.int64)) if isinstance(value, list) else value


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
            panel=task.panel if judges > 1 else None,
            name="known",
            annotators="*",
            home=home,
            progress=False,
        )
    except Exception as error:  # noqa: BLE001  # a set that nobody has seen is a line of the report, not the end of it
        return f"{task.group} {task.model}: {_first_line(error)}"
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
            members=len(compiled.judge.leaves),
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


def section(rows: Sequence[Row], labels: LabelSet, *, brief: bool = False) -> str:
    """The Markdown of one set; in brief a row a model, that of the mean over aspects, by the objective alone."""
    first = rows[0]
    columns = [name for name in ("raw", "best prompt", "compiled", "panel") if any(name in row.ratings for row in rows)]
    lines = [f"### {first.group}", "", f"{_origin(labels)} Compiled for {first.objective}."]
    for statistic in first.statistics[:1] if brief else first.statistics:
        shown = [
            line
            for model in dict.fromkeys(row.model for row in rows)
            for line in _lines(rows, model, statistic, columns)
            if not brief or line[1] == (MEAN if len(labels.aspects) > 1 else ALL_ASPECTS)
        ]
        if not shown:
            lines += ["", f"No {statistic}: its labels say nothing of it."]
            continue
        gain = f"shipped - raw: {statistic_name(statistic)}"
        lines += ["", *table(("model (prompts)", "aspect", *columns, "calls", "ceiling", gain), shown)]
    calls = ", ".join(f"{row.model} {row.saved:,}" for row in rows if row.aspect == ALL_ASPECTS)
    return "\n".join([*lines, "", f"LM calls saved, one a recorded verdict that was read: {calls}.", ""])


def _lines(rows: Sequence[Row], model: str, statistic: str, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """A model's rows of one table: all aspects together, their mean, each."""
    for row in (row for row in rows if row.model == model):
        gain = differences(row.ratings[row.shipped], row.ratings["raw"], nominal=row.nominal)[statistic]
        if gain.value is None:
            continue
        name = f"{model} ({row.judges})"
        cells = [_measured(row, column, statistic) for column in columns]
        ceiling = "-" if row.ceiling is None else cell(row.ceiling[statistic])
        yield name, row.aspect, *cells, str(row.members), ceiling, f"{cell(gain, signed=True)}{_shown(gain)}"
        parts = aspects_of(rows, row.group, model)
        if row.aspect == ALL_ASPECTS and len(parts) > 1:
            means = [_mean_value(parts, column, statistic) for column in columns]
            gain = mean_difference(parts, parts, statistic)
            yield name, MEAN, *means, str(row.members), "-", f"{cell(gain, signed=True)}{_shown(gain)}"


def _origin(labels: LabelSet) -> str:
    origin = labels.source.get("origin")
    return f"{origin}." if origin else "The datasheet names no origin."


def _measured(row: Row, column: str, statistic: str) -> str:
    if column not in row.ratings:
        return "-"
    return cell(measure(row.ratings[column], nominal=row.nominal).estimates[statistic])


def _shown(gain: Estimate) -> str:
    if gain.low is None or gain.high is None:
        return ""
    return " **better**" if gain.low > 0 else " **worse**" if gain.high < 0 else ""


def aspects_of(rows: Sequence[Row], group: str, model: str) -> list[Row]:
    """The rows of single aspects; the only row where there is one."""
    mine = [row for row in rows if (row.group, row.model) == (group, model)]
    return [row for row in mine if row.aspect != ALL_ASPECTS] or mine


def _mean_value(parts: Sequence[Row], column: str, statistic: str) -> str:
    if any(column not in row.ratings for row in parts):
        return "-"
    goal = parse_objective(STATISTICS[statistic].objective)
    whole = weighted_sum([(1 / len(parts), goal.statistic(row.ratings[column])) for row in parts])
    return cell(interval(whole).estimate(sum(len(row.ratings[column].judge) for row in parts)))


def mean_difference(ours: Sequence[Row], theirs: Sequence[Row], statistic: str) -> Estimate:
    """What ``ours`` ship minus what ``theirs`` are raw: the mean over aspects of the differences on the same items."""
    goal = parse_objective(STATISTICS[statistic].objective)
    pairs = [on_both(one.ratings[one.shipped], other.ratings["raw"]) for one, other in zip(ours, theirs, strict=True)]
    one, other = (weighted_sum([(1 / len(pairs), goal.statistic(pair[i])) for pair in pairs]) for i in (0, 1))
    return difference_interval(one, other).estimate(sum(len(a.judge) for a, _ in pairs))


def between(rows: Sequence[Row], *, brief: bool = False) -> str:
    """What each model ships beside each model's raw judge, on the same items; in brief by the objective alone."""
    lines: list[str] = []
    for group in dict.fromkeys(row.group for row in rows):
        models = list(dict.fromkeys(row.model for row in rows if row.group == group))
        parts = {model: aspects_of(rows, group, model) for model in models}
        if len(models) < 2 or len({tuple(row.aspect for row in part) for part in parts.values()}) > 1:
            continue
        for statistic in parts[models[0]][0].statistics[: 1 if brief else 2]:
            beside = [(one, *(_beside(parts[one], parts[other], statistic) for other in models)) for one in models]
            lines += [f"{group}, {statistic_name(statistic)}:", ""]
            lines += [*table(("shipped", *(f"- raw {name}" for name in models)), beside), ""]
    return "\n".join(lines)


def _beside(ours: Sequence[Row], theirs: Sequence[Row], statistic: str) -> str:
    text = cell(mean_difference(ours, theirs, statistic), signed=True)
    if len(ours) == 1:
        return text
    each = [mean_difference([one], [other], statistic) for one, other in zip(ours, theirs, strict=True)]
    better = sum(gain.low is not None and gain.low > 0 for gain in each)
    worse = sum(gain.high is not None and gain.high < 0 for gain in each)
    return f"{text} ({better} better, {worse} worse)"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of recorded verdicts with their labels")
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--objective", default="qwk", help="of graded sets")
    parser.add_argument("--evidence", action="store_true", help="compile with evidence, too")
    parser.add_argument("--out", type=Path, default=Path("build/real_judges"), help="where finished compiles are kept")
    parser.add_argument("--jobs", type=int, default=1, help="compiles at a time")
    parser.add_argument("--write", action="store_true", help="put the means over aspects into benchmarks/README.md")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"--data {options.data}: not a folder; name one that holds recorded verdicts.")
    skipped: list[str] = []
    tasks = list(tasks_in(options.data, options.only, options.objective, evidence=options.evidence, skipped=skipped))
    rows: list[Row] = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for task, found in zip(tasks, pool.map(partial(kept, out=options.out), tasks), strict=True):
            if isinstance(found, str):
                skipped.append(found)
                continue
            rows += found
            print(f"{task.group} {task.model}: {found[0].seconds:.0f} s", file=sys.stderr, flush=True)
    for reason in skipped:
        print(f"skipped {reason}", file=sys.stderr)
    if not rows:
        sys.exit(f"{options.data}: no set could be compiled. Name another folder, or other sets.")
    labels = {task.group: task.labels for task in tasks}
    parts, brief = [], []
    for group in dict.fromkeys(row.group for row in rows):
        here = [row for row in rows if row.group == group]
        about = labelled(labels[group])
        parts.append(section(here, about))
        brief.append(section(here, about, brief=True))
    if skipped:
        parts.append("\n".join(["Sets that do not fit:", "", *(f"- {reason}" for reason in skipped), ""]))
    print("\n".join([*parts, between(rows)]))
    if options.write:
        write("known judges", "\n".join(brief))
        write("between judges", between(rows, brief=True))


if __name__ == "__main__":
    main()
