"""What the latest evidence and learners add to those before them: five folds by query, paired, no LM is asked.

Run by ``python -m benchmarks.evidence --data DIR --gains``. Everything is fitted and chosen by the compiler's own
functions inside the training part of each fold.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.agreement import cell, folds, write
from judgec.compile.assemble import Bench, evidence_only
from judgec.compile.compile import default_objective
from judgec.compile.dataset import ratings_of, with_split
from judgec.compile.search.candidates import UNCOMPILED, Candidate
from judgec.evidence.model import EvidenceModel
from judgec.labels.experts import experts_of
from judgec.labels.labels import read_label_file
from judgec.labels.split.family import Split
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.raters.registry import judge_module
from judgec.records.estimate import Estimate
from judgec.records.judgment import Judgments, concatenate
from judgec.records.label import Item, Label, LabelSet
from judgec.records.ratings import GradePairs
from judgec.records.tasks.preference import PREFERENCE_SCALE
from judgec.report.numbers import statistic_name
from judgec.stats.agreement.difference import differences
from judgec.stats.agreement.measure import Resampling, measure
from judgec.stats.agreement.objective import parse_objective

FOLDS = 5
START, END = "<!-- evidence gains: start -->", "<!-- evidence gains: end -->"
MOST_PAIRS = 12  # of one query
BOTH_ORDERS, BY_THEMES = "pairs fitted in both orders", "themes of documents"
SHOWN = ("kappa", "auc", "exact")
SHOWN_OF_GRADES = ("qwk", "tau_b", "tau_b_score", "kappa")
WITHOUT = {  # what is put in place of a constant, so that the new thing is not there
    BOTH_ORDERS: ("judgec.compile.calibrate.MIRRORED", ()),
    BY_THEMES: ("judgec.evidence.fit_themes.LEAST_DOCUMENTS", sys.maxsize),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A set of labels, and what is new for it.

    Args:
        name: Stem of its file.
        new: What is added.
        paired: Whether its answers are put side by side first, so that the one with the better grade wins.
        objective: What is compiled for; empty takes the labels' default.
    """

    name: str
    new: str
    paired: bool = False
    objective: str = ""

    @property
    def title(self) -> str:
        """As the table names it."""
        paired = f"{self.name}, as pairs" if self.paired else self.name
        return f"{paired}, for {statistic_name(self.objective)}" if self.objective else paired


CASES = (
    Case("pandalm_preference", BOTH_ORDERS),
    Case("clapnq_faithfulness", BOTH_ORDERS, paired=True),
    Case("nq301_accept", BOTH_ORDERS, paired=True),
    Case("cranfield_relevance", BY_THEMES),
    Case("cranfield_relevance", BY_THEMES, objective="qwk"),
    Case("trecdl20_relevance", BY_THEMES),
)


def as_pairs(labels: LabelSet, seed: int) -> LabelSet:
    """Pairs of answers to one query, in a random order; the one that the experts graded higher wins."""
    rng, experts = np.random.default_rng(seed), experts_of(labels, seed)
    grade = (experts.accept if labels.accept_only else experts.grade)[:, 0]
    by_query: dict[str, list[int]] = {}
    for i, item in enumerate(labels.items):
        by_query.setdefault(item.query_id, []).append(i)
    items, said = list[Item](), list[Label]()
    for members in by_query.values():
        pairs = list(combinations(members, 2))
        chosen = sorted(rng.permutation(len(pairs))[:MOST_PAIRS].tolist())
        for one, other in (pairs[k] if rng.random() < 0.5 else pairs[k][::-1] for k in chosen):
            first, second = labels.items[one], labels.items[other]
            shared = {name: text for name, text in first.inputs.items() if name != "answer"}
            answers = {"answer_a": first.text("answer"), "answer_b": second.text("answer")}
            pair = Item(f"{first.item_id}+{second.item_id}", first.query_id, shared | answers)
            winner = "a" if grade[one] > grade[other] else "b" if grade[one] < grade[other] else "tie"
            items.append(pair)
            said.append(Label(pair.item_id, "experts", {"grade": PREFERENCE_SCALE.position(winner)}))
    return replace(
        labels,
        task="preference",
        scale=PREFERENCE_SCALE,
        aspects=("grade",),
        items=tuple(items),
        labels=tuple(said),
        accept_only=False,
    )


def judged(labels: LabelSet, objective: str, seed: int, without: str = "") -> GradePairs:
    """The experts beside the judge of evidence alone, all folds put together; ``without`` one of the new things."""
    splits = list(folds(labels, FOLDS, seed))
    with patch(*WITHOUT[without]) if without in WITHOUT else nullcontext():
        found = [_fold(labels, objective, split, seed) for split in splits]
    whole = with_split(labels, Split((), (), tuple(i for split in splits for i in split.test), digests={}), seed)
    return ratings_of(whole, whole.test, concatenate(found), seed)


def _fold(labels: LabelSet, objective: str, split: Split, seed: int) -> Judgments:
    learned = with_split(labels, Split((*split.train, *split.dev), (), split.test, digests={}), seed)
    evidence = EvidenceModel.fit(learned.train.items)
    module = judge_module(labels.task, labels.scale, labels.aspects, labels.fields)
    with tempfile.TemporaryDirectory() as home, Session(LMSpec.parse("embedded"), Path(home)) as session:
        goal = parse_objective(objective)
        bench = Bench(learned, session.finish, evidence, seed, no_model=True, objective=goal)
        return evidence_only(bench, Candidate(UNCOMPILED, module)).calibrate(learned.test.items, None)


def rows_of(case: Case, path: Path, seed: int) -> Iterator[str]:
    """The table's rows of one case."""
    labels = read_label_file(str(path)).labels
    labels = as_pairs(labels, seed) if case.paired else labels
    objective = case.objective or ("kappa" if labels.accept_only else default_objective(labels))
    what, nominal = Resampling(seed=seed), labels.scale.level == "nominal"
    before = judged(labels, objective, seed, case.new)
    today = measure(before, what, nominal=nominal).estimates
    shown = SHOWN if nominal or labels.accept_only else SHOWN_OF_GRADES
    names = [name for name in shown if name in today and today[name].value is not None]
    after = judged(labels, objective, seed)
    found, gains = measure(after, what, nominal=nominal).estimates, differences(after, before, what, nominal=nominal)
    for name in names:
        cells = (case.new, case.title, statistic_name(name), cell(today[name]), cell(found[name]), _shown(gains[name]))
        yield f"| {' | '.join(cells)} |"


def _shown(gain: Estimate) -> str:
    if gain.low is None or gain.high is None:
        return cell(gain, signed=True)
    return f"{cell(gain, signed=True)}{' **better**' if gain.low > 0 else ' **worse**' if gain.high < 0 else ''}"


def show_gains(folder: Path, only: Sequence[str], seed: int = 0, *, write_them: bool = False) -> None:
    """Print the table, a row a set and statistic; sets that are not in the folder are named."""
    lines = ["| new | set | statistic | before | with it | gain |", "|---|---|---|---|---|---|"]
    print(*lines, sep="\n")
    for case in CASES:
        path = folder / f"{case.name}.jsonl"
        path = path if path.exists() else folder.parent / "recorded" / path.name
        if only and case.name not in only:
            continue
        if not path.exists():
            print(f"skipped {case.title}: no {path.name} in {folder}", file=sys.stderr)
            continue
        rows = list(rows_of(case, path, seed))
        print(*rows, sep="\n", flush=True)
        lines += rows
    if write_them:
        write("\n".join([*lines, ""]), START, END)
