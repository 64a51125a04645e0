"""What the evidence of earlier turns adds to judges of conversations: five folds by dialogue, no LM is asked.

    python -m benchmarks.conversations --data ../shared/data/recorded [--only NAME ...] [--every] [--write]

Per set the compiler's own functions fit four judges in each fold: on evidence alone, and on a recorded judge's
verdicts with evidence, each with the ``conversation`` family of features and without it. All else is the same: items,
folds, prompts, seeds, the other features. Differences are paired on the same items; their 95 % intervals are over
dialogues (questions, where several systems answered one script). ``--write`` puts the tables into
benchmarks/README.md.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.agreement import cell, folds, write
from judgec.compile.assemble import Bench, calibrated, evidence_only
from judgec.compile.compile import default_objective
from judgec.compile.dataset import ratings_of, with_split
from judgec.compile.recorded import candidate_of
from judgec.compile.search.candidates import UNCOMPILED, Candidate
from judgec.evidence.model import EvidenceModel
from judgec.labels.labels import read_label_file
from judgec.labels.split.family import Split
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.raters.recorded import OnWhat, RecordedVerdicts, read_recorded
from judgec.raters.registry import judge_module
from judgec.records.conversation import TurnChoice
from judgec.records.estimate import Estimate
from judgec.records.judgment import Judgments, concatenate
from judgec.records.label import LabelSet
from judgec.records.ratings import GradePairs
from judgec.report.numbers import objective_name, statistic_name
from judgec.stats.agreement.difference import differences
from judgec.stats.agreement.measure import Resampling, measure
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.registry import STATISTICS
from judgec.stats.agreement.statistic import WeightedSum
from judgec.stats.intervals.bootstrap import difference_interval, interval

FOLDS = 5
START, END = "<!-- conversations: start -->", "<!-- conversations: end -->"
FAMILY = "conversation"
MEAN = "mean"
WITHOUT, WITH = "without turns", "with turns"
NO_JUDGE = "no LM"


@dataclass(frozen=True, slots=True)
class Case:
    """A set as it is read.

    Args:
        stem: Of its files.
        turn: What of a conversation is judged.
        group: Only the items of this group; empty for all.
    """

    stem: str
    turn: TurnChoice
    group: str = ""

    @property
    def title(self) -> str:
        """As the tables name it."""
        return ", ".join(filter(None, (self.stem, self.group, f"--turn {self.turn}")))


CASES = (Case("llmrubric_dialogue", "whole"), Case("mtbench_preference", "last", "turn 2"))
FURTHER = (Case("llmrubric_dialogue", "last"),)  # its experts grade dialogues: another reading, as long again


@dataclass(frozen=True, slots=True)
class Judged:
    """What every judge of a case said of all its items, out of fold.

    Args:
        case: What was read.
        labels: Its items, and the experts.
        objective: What the judges were fitted for.
        judges: ``no LM`` and the recorded judges.
        ratings: The experts beside each judge, by judge, turns and aspect.
    """

    case: Case
    labels: LabelSet
    objective: str
    judges: tuple[str, ...]
    ratings: Mapping[tuple[str, str, str], GradePairs]


def cases_in(
    folder: Path, cases: Sequence[Case], only: Sequence[str]
) -> Iterator[tuple[Case, LabelSet, RecordedVerdicts]]:
    """Each case whose set is in the folder; the others are named on standard error."""
    for case in cases:
        path = folder / f"{case.stem}.jsonl"
        if only and case.stem not in only:
            continue
        if not path.exists():
            print(f"skipped {case.title}: no {path.name} in {folder}", file=sys.stderr)
            continue
        whole = read_label_file(str(path), turn=case.turn).labels
        labels = of_group(whole, case.group) if case.group else whole
        yield case, labels, read_recorded(str(folder / f"{case.stem}.verdicts.parquet"), OnWhat.of(labels))


def of_group(labels: LabelSet, group: str) -> LabelSet:
    """The items of one group, and their labels."""
    items = tuple(item for item in labels.items if item.group == group)
    kept = {item.item_id for item in items}
    return replace(labels, items=items, labels=tuple(label for label in labels.labels if label.item_id in kept))


def judged(case: Case, labels: LabelSet, recorded: RecordedVerdicts, pool: Executor) -> Judged:
    """All folds of a case, put together."""
    objective = default_objective(labels) if labels.scale.level == "nominal" else "qwk"
    splits = list(folds(labels, FOLDS, 0))
    said = list(pool.map(partial(_fold, labels, recorded, objective), splits))
    tested = tuple(i for split in splits for i in split.test)
    dataset = with_split(labels, Split((), (), tested, digests={}), 0)
    ratings = {
        (judge, turns, aspect): ratings_of(dataset, dataset.test, concatenate([one[judge, turns] for one in said]), j)
        for judge, turns in said[0]
        for j, aspect in enumerate(labels.aspects)
    }
    return Judged(case, labels, objective, (NO_JUDGE, *recorded.judges), ratings)


def _fold(
    labels: LabelSet, recorded: RecordedVerdicts, objective: str, split: Split
) -> dict[tuple[str, str], Judgments]:
    """What each judge, with turns and without, says of the test items of one fold."""
    learned = Split((*split.train, *split.dev), (), split.test, digests={})
    with tempfile.TemporaryDirectory() as home, Session(LMSpec.parse("embedded"), Path(home)) as session:
        bench = Bench(
            with_split(labels, learned, 0),
            session.finish,
            None,
            0,
            objective=parse_objective(objective),
            recorded=recorded,
        )
        judges = (NO_JUDGE, *recorded.judges)
        return {(judge, turns): _judged_by(bench, judge, turns) for judge in judges for turns in (WITHOUT, WITH)}


def _judged_by(bench: Bench, judge: str, turns: str) -> Judgments:
    """What a judge that was fitted on the fold's train items says of its test items."""
    labels, train, test = bench.dataset.labels, bench.dataset.train, bench.dataset.test
    evidence = EvidenceModel.fit(train.items, labels.task)
    if FAMILY not in evidence.families:
        raise SystemExit(f"{labels.source.get('origin')}: no turns before its answers. Name a set of conversations.")
    if turns == WITHOUT:
        evidence = replace(evidence, families=tuple(name for name in evidence.families if name != FAMILY))
    bench = replace(bench, evidence=evidence, no_model=judge == NO_JUDGE)
    module = judge_module(labels.task, labels.scale, labels.aspects, labels.fields)
    if judge == NO_JUDGE or bench.recorded is None:
        return evidence_only(bench, Candidate(UNCOMPILED, module)).calibrate(test.items, None)
    candidate = candidate_of(bench.recorded, judge, module)
    return bench.judged(calibrated(bench, candidate), candidate, test)


def section(found: Judged) -> str:
    """The Markdown of one case."""
    labels = found.labels
    nominal = labels.scale.level == "nominal"
    names = ("kappa", "exact") if nominal else ("qwk", "tau_b", "tau_b_score")
    size = f"{len(labels.items)} items of {len({item.query_id for item in labels.items})} dialogues"
    lines = [f"### {found.case.title}", "", f"{size}; fitted for {objective_name(found.objective)}."]
    measured = {(judge, aspect): _measured(found, judge, aspect) for judge in found.judges for aspect in labels.aspects}
    for name in names:
        header = f"| {statistic_name(name)} | aspect | {WITHOUT} | {WITH} | difference |"
        lines += ["", header, "|---|---|---|---|---|"]
        for judge in found.judges:
            rows = [(aspect, measured[judge, aspect].cells(name)) for aspect in labels.aspects]
            if len(rows) > 1 and STATISTICS[name].objective:
                rows.insert(0, (MEAN, _mean_row(found, judge, name)))
            lines += [f"| {judge} | {aspect} | {' | '.join(cells)} |" for aspect, cells in rows]
    return "\n".join([*lines, ""])


@dataclass(frozen=True, slots=True)
class Measured:
    """A judge on one aspect: every statistic without turns, with them, and their difference."""

    without: Mapping[str, Estimate]
    with_turns: Mapping[str, Estimate]
    gain: Mapping[str, Estimate]

    def cells(self, name: str) -> tuple[str, ...]:
        """Of a row of the table of one statistic."""
        gain = self.gain[name]
        shown = f"{cell(gain, signed=True)}{_shown(gain.low, gain.high)}"
        return cell(self.without[name]), cell(self.with_turns[name]), shown


def _measured(found: Judged, judge: str, aspect: str) -> Measured:
    what, nominal = Resampling(), found.labels.scale.level == "nominal"
    without, with_ = (found.ratings[judge, turns, aspect] for turns in (WITHOUT, WITH))
    return Measured(
        measure(without, what, nominal=nominal).estimates,
        measure(with_, what, nominal=nominal).estimates,
        differences(with_, without, what, nominal=nominal),
    )


def _mean_row(found: Judged, judge: str, name: str) -> tuple[str, ...]:
    """The mean of the aspects' own values, with the interval of their paired difference."""
    goal, aspects, n = parse_objective(STATISTICS[name].objective), found.labels.aspects, len(found.labels.items)
    without, with_ = (
        WeightedSum(tuple((1 / len(aspects), goal.statistic(found.ratings[judge, turns, one])) for one in aspects))
        for turns in (WITHOUT, WITH)
    )
    alone = (cell(interval(one).estimate(n)) for one in (without, with_))
    gain = difference_interval(with_, without).estimate(n)
    return *alone, f"{cell(gain, signed=True)}{_shown(gain.low, gain.high)}"


def _shown(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return " **better**" if low > 0 else " **worse**" if high < 0 else ""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of recorded verdicts with their labels")
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--every", action="store_true", help="dialogues by their last answer, too")
    parser.add_argument("--jobs", type=int, default=2, help="folds at a time")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"--data {options.data}: not a folder; name one that holds recorded verdicts.")
    sections, began, cases = [], time.perf_counter(), (*CASES, *FURTHER) if options.every else CASES
    with ProcessPoolExecutor(options.jobs) as pool:
        for case, labels, recorded in cases_in(options.data, cases, options.only):
            sections.append(section(judged(case, labels, recorded, pool)))
            print(sections[-1], flush=True)
    if not sections:
        valid = ", ".join(dict.fromkeys(case.stem for case in CASES))
        sys.exit(f"{options.data}: none of {valid}. Name the folder that holds them.")
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)
    if options.write:
        write("\n".join(sections), START, END)


if __name__ == "__main__":
    main()
