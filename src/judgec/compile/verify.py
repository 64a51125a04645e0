"""Measures the judges of a compile on the test split, with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgec.compile.assemble import Bench, Fitted, calibrated, evidence_only
from judgec.compile.choose import Choice
from judgec.compile.dataset import Dataset, Part, ratings_of
from judgec.compile.pair_columns import LONGEST, longest, with_preference_columns
from judgec.compile.search.candidates import Candidate
from judgec.records.agreement import Agreement, BlandAltman
from judgec.records.consensus import accept_rate_of, parts_of
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import UNLABELLED, IntArray
from judgec.records.mode_agreement import ModesAgreement
from judgec.records.ratings import GradePairs
from judgec.records.tasks.registry import compares, finds_modes
from judgec.stats.agreement.ceiling import ONE_ANNOTATOR, ceiling, expert_panel, judge_panel
from judgec.stats.agreement.measure import measure, with_aspects
from judgec.stats.agreement.modes import measure_modes
from judgec.stats.agreement.registry import reported
from judgec.stats.agreement.system_tau import orders_systems

BASELINES = ("majority", "evidence_only", "uncompiled", "compiled_prompt")
JUDGES = (*BASELINES, "compiled")
BEST_ALONE = "best_alone"  # of recorded judges the one that was best as it is, before the test
COMPILED_SINGLE = "compiled_single"  # of a compile with panels the best single judge, compiled
NO_EVIDENCE = "evidence was left out (--no-evidence)"
NO_PROMPT = "no model, no prompt"


@dataclass(frozen=True, slots=True)
class Verification:
    """The test split's table.

    Args:
        agreements: By judge: ``JUDGES``, ``best_alone`` of recorded judges and ``compiled_single`` beside a panel,
            ``compiled_loo`` and ``ceiling``, in the order of the report.
        ratings: By judge, the same rows for all; judges that were not made are absent.
        judgments: By judge, of the test items.
        modes: How well the compiled judge finds each failure mode; None where the labels are of none.
    """

    agreements: Mapping[str, Agreement]
    ratings: Mapping[str, GradePairs]
    judgments: Mapping[str, Judgments]
    modes: ModesAgreement | None = None


def judge_test(
    bench: Bench, judge: Fitted, shipped: Candidate, choice: Choice, single: Fitted | None = None
) -> tuple[dict[str, Judgments], Judgments]:
    """Judgments of the test items by each judge, and by the uncompiled one with a calibrator of its own.

    Args:
        bench: Labels, scale, and the way to verdicts.
        judge: The compiled judge.
        shipped: The candidate that it is made of.
        choice: All candidates, and whom it is compared with.
        single: Where several could be pooled, the best of them, compiled.
    """
    test, uncompiled = bench.dataset.test, choice.uncompiled.candidate
    judged = {"majority": majority(bench.dataset, test, bench.target(bench.dataset.train))}
    if bench.no_model:
        judged["evidence_only"] = judged["compiled"] = judge.graded(test.items, None)
        return judged, judged["compiled"]
    if bench.evidence is not None and judge.asks_lm:
        judged["evidence_only"] = evidence_only(bench, uncompiled).judge(test.items, bench.ask)
    judged["uncompiled"] = bench.raw(uncompiled, test)
    judged["compiled_prompt"] = bench.raw(shipped, test)
    if choice.alone is not None:
        judged[BEST_ALONE] = bench.raw(choice.alone.candidate, test)
    if single is not None:
        judged[COMPILED_SINGLE] = bench.judged(single, choice.best.candidate, test)
    judged["compiled"] = judge.graded(test.items, judged["compiled_prompt"] if judge.asks_lm else None)
    if not judge.asks_lm:
        judged["evidence_only"] = judged["compiled"]  # it is what ships, not another one fitted like it
    if shipped.name == uncompiled.name:
        return judged, judged["compiled"]
    known = single if choice.best.name == uncompiled.name else choice.uncompiled.judge
    return judged, bench.judged(calibrated(bench, uncompiled, known), uncompiled, test)


def verify(dataset: Dataset, judgments: Mapping[str, Judgments]) -> Verification:
    """Measure every judge on the test items, and the experts themselves."""
    labels, test = dataset.labels, dataset.test
    nominal = labels.scale.level == "nominal"
    ratings = {name: ratings_of(dataset, test, judged) for name, judged in judgments.items()}
    names = reported(interval=False, systems=not nominal and orders_systems(ratings["compiled"]))
    agreements: dict[str, Agreement] = {}
    some = [name for name in (BEST_ALONE, COMPILED_SINGLE) if name in judgments]
    for name in (*BASELINES, *some, "compiled"):
        if name not in judgments:
            agreements[name] = nothing(NO_EVIDENCE if name == "evidence_only" else NO_PROMPT, names)
            continue
        parts = {aspect: ratings_of(dataset, test, judgments[name], j) for j, aspect in enumerate(labels.aspects)}
        whole = measure(ratings[name], nominal=nominal)
        agreements[name] = with_aspects(whole, parts, nominal=nominal)
    beside = ceiling(
        test.experts,
        labels.scale,
        labels.aspects,
        accept_only=labels.accept_only,
        judgments=judgments["compiled"],
    )
    agreements |= beside or dict.fromkeys(("compiled_loo", "ceiling"), nothing(ONE_ANNOTATOR, names))
    if compares(labels.task):
        experts = expert_panel(test.experts, labels.scale, accept_only=False)
        judge = judge_panel(test.experts, judgments["compiled"], labels.scale, accept_only=False)
        panels = {"compiled_loo": judge, "ceiling": experts}
        agreements = with_preference_columns(agreements, dataset, judgments, panels)
        ratings[LONGEST] = ratings_of(dataset, test, longest(test.items, labels.scale))
    modes = None
    if finds_modes(labels.task):
        by_mode = {mode: ratings_of(dataset, test, judgments["compiled"], j) for j, mode in enumerate(labels.aspects)}
        modes = measure_modes(by_mode)
    return Verification(agreements, ratings, judgments, modes)


def majority(dataset: Dataset, part: Part, target: IntArray) -> Judgments:
    """The judge that always gives the most frequent grade of train (of equals, the worst), of numbers the median.

    Args:
        dataset: Whose train labels are counted.
        part: What to judge.
        target: Positions of the train labels, shape (n_train, n_aspects, n_tied), -1 where missing.
    """
    scale = dataset.labels.scale
    accepts = accept_rate_of(dataset.train.experts.target_accept)
    columns = [parts_of(target[:, j]) for j in range(target.shape[1])]
    counts = [np.bincount(grade, weight, minlength=len(scale.grades)) for _, grade, weight in columns]
    middle = [int(np.searchsorted(one.cumsum(), one.sum() / 2)) for one in counts]  # no number is more frequent
    grades = middle if scale.interval else [int(one.argmax()) for one in counts]
    known = [column[~np.isnan(column)] for column in accepts.T]
    accept = [int(column.mean() > 0.5) if len(column) else UNSCORED for column in known]
    found = Judgments.blank([item.item_id for item in part.items], dataset.labels.aspects, len(scale.grades))
    found.probabilities[:], found.score[:] = np.eye(len(scale.grades))[grades], np.array(scale.values)[grades]
    found.grade[:], found.accept[:] = grades, accept
    said = f"the {'median' if scale.interval else 'most frequent grade'} of the train labels"
    return replace(found, rationale=(said,) * len(part))


def nothing(note: str, names: Sequence[str]) -> Agreement:
    """The column of a judge that there is not, with these statistics."""
    missing = {name: Estimate(value=None, note=note) for name in names}
    return Agreement(missing, BlandAltman(None, None, None), None, None, 0, 0, 0)


def labelled(part: Part, target: IntArray) -> bool:
    """True if at least two different grades occur; fewer leave nothing to learn or to measure."""
    known = target[target != UNLABELLED]
    return len(part) > 0 and len(np.unique(known)) > 1
