"""What checking an answer claim by claim adds to the evidence of today: five folds by query, no LM is asked.

    python -m benchmarks.claims --data ../shared/data [--only NAME ...] [--write]

Per set the compiler's own functions fit judges on evidence alone in each fold: with the families of today, with the
``claims`` family beside them, and with it in place of the families that compare an answer with contexts and reference.
All else is the same: items, folds, seeds. Differences are paired on the same items; their 95 % intervals are over
queries. ``--write`` puts the tables into benchmarks/README.md.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.agreement import cell, folds, write
from judgec.compile.assemble import Bench, evidence_only
from judgec.compile.compile import default_objective
from judgec.compile.dataset import ratings_of, with_split
from judgec.compile.search.candidates import UNCOMPILED, Candidate
from judgec.evidence.model import EvidenceModel
from judgec.labels.labels import read_label_file
from judgec.labels.split.family import Split
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.raters.registry import judge_module
from judgec.records.estimate import Estimate
from judgec.records.judgment import Judgments, concatenate
from judgec.records.label import LabelSet
from judgec.records.ratings import GradePairs
from judgec.report.numbers import objective_name, statistic_name
from judgec.stats.agreement.difference import differences
from judgec.stats.agreement.measure import Resampling, measure
from judgec.stats.agreement.objective import parse_objective

FOLDS = 5
START, END = "<!-- claims: start -->", "<!-- claims: end -->"
TASK = "claims"
TODAY, BESIDE, INSTEAD = "today", "with claims", "claims instead"
FAMILIES: Mapping[str, tuple[str, ...]] = {
    TODAY: ("answer", "reference", "contexts"),
    BESIDE: ("answer", "reference", "contexts", "claims"),
    INSTEAD: ("answer", "claims"),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A set: its file below the folder of data, and the aspect that is judged; empty where there is one grade."""

    path: str
    aspect: str = ""

    @property
    def title(self) -> str:
        """As the tables name it."""
        return ", ".join(filter(None, (Path(self.path).stem, self.aspect)))


CASES = (
    Case("labels/clapnq_faithfulness.jsonl"),
    Case("labels/nq301_accept.jsonl"),
    Case("recorded/summeval_aspects.jsonl", "consistency"),
)


def cases_in(folder: Path, only: Sequence[str]) -> Iterator[tuple[Case, LabelSet]]:
    """Each case whose set is in the folder; the others are named on standard error."""
    for case in CASES:
        if only and Path(case.path).stem not in only:
            continue
        if not (folder / case.path).exists():
            print(f"skipped {case.title}: no {case.path} in {folder}", file=sys.stderr)
            continue
        labels = read_label_file(str(folder / case.path)).labels
        yield case, of_aspect(labels, case.aspect) if case.aspect else labels


def of_aspect(labels: LabelSet, aspect: str) -> LabelSet:
    """The labels of one aspect, as those of a task with one grade."""
    kept = tuple(
        replace(label, grades={"grade": label.grades[aspect]}) for label in labels.labels if aspect in label.grades
    )
    return replace(labels, task="grade", aspects=("grade",), labels=kept)


def judged(labels: LabelSet, objective: str) -> dict[str, GradePairs]:
    """The experts beside each judge, all folds put together."""
    splits = list(folds(labels, FOLDS, 0))
    said = [_fold(labels, objective, split) for split in splits]
    dataset = with_split(labels, Split((), (), tuple(i for split in splits for i in split.test), digests={}), 0)
    return {name: ratings_of(dataset, dataset.test, concatenate([one[name] for one in said]), 0) for name in FAMILIES}


def _fold(labels: LabelSet, objective: str, split: Split) -> dict[str, Judgments]:
    learned = with_split(labels, Split((*split.train, *split.dev), (), split.test, digests={}), 0)
    whole = EvidenceModel.fit(learned.train.items, TASK)
    module = judge_module(labels.task, labels.scale, labels.aspects, labels.fields)
    found = {}
    with tempfile.TemporaryDirectory() as home, Session(LMSpec.parse("embedded"), Path(home)) as session:
        for name, families in FAMILIES.items():
            kept = tuple(family for family in whole.families if family in families)
            evidence, goal = replace(whole, families=kept), parse_objective(objective)
            bench = Bench(learned, session.finish, evidence, 0, no_model=True, objective=goal)
            found[name] = evidence_only(bench, Candidate(UNCOMPILED, module)).calibrate(learned.test.items, None)
    return found


def section(case: Case, labels: LabelSet) -> str:
    """The Markdown of one case."""
    objective = "kappa" if labels.accept_only else default_objective(labels)
    ratings, what = judged(labels, objective), Resampling()
    names = ("kappa", "exact", "tau_b_score") if labels.accept_only else ("tau_b_score", "tau_b", "qwk")
    size = f"{len(labels.items)} items of {len({item.query_id for item in labels.items})} queries"
    lines = [f"### {case.title}", "", f"{size}; fitted for {objective_name(objective)}.", ""]
    lines += ["| statistic | judge | value | minus today |", "|---|---|---|---|"]
    measured = {name: measure(one, what).estimates for name, one in ratings.items()}
    gains = {name: differences(ratings[name], ratings[TODAY], what) for name in (BESIDE, INSTEAD)}
    for statistic in names:
        for name in FAMILIES:
            gain = "" if name == TODAY else _shown(gains[name][statistic])
            lines.append(f"| {statistic_name(statistic)} | {name} | {cell(measured[name][statistic])} | {gain} |")
    return "\n".join([*lines, ""])


def _shown(gain: Estimate) -> str:
    if gain.low is None or gain.high is None:
        return cell(gain, signed=True)
    return f"{cell(gain, signed=True)}{' **better**' if gain.low > 0 else ' **worse**' if gain.high < 0 else ''}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds labels/ and recorded/")
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"--data {options.data}: not a folder; name the one that holds labels/ and recorded/.")
    sections, began = [], time.perf_counter()
    for case, labels in cases_in(options.data, options.only):
        sections.append(section(case, labels))
        print(sections[-1], flush=True)
    if not sections:
        sys.exit(f"{options.data}: none of {', '.join(case.path for case in CASES)}. Name the folder that holds them.")
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)
    if options.write:
        write("\n".join(sections), START, END)


if __name__ == "__main__":
    main()
