"""Reports on a label file: who graded what how often, and how far the experts agree."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import NotRequired, TypedDict

import numpy as np

from judgec.labels.experts import constant_notes, experts_of, reading_notes
from judgec.labels.labels import LabelFile
from judgec.labels.split.draw import FRESH, fold_splits, folds_of, split_labels
from judgec.labels.split.memory import Memory
from judgec.records.consensus import Consensus, accept_rate_of, people_mean
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.label import UNLABELLED, Experts, FloatArray, IntArray, LabelSet
from judgec.records.ratings import GradePairs
from judgec.records.scale import Scale
from judgec.records.tasks.registry import finds_modes
from judgec.report.mode_counts import ModeCounts, mode_counts
from judgec.stats.agreement.ceiling import ceiling, expert_ratings
from judgec.stats.agreement.kappa import exact_table, kappa_table
from judgec.stats.agreement.measure import NO_CLASSES, compared_rows, statistic_of
from judgec.stats.agreement.rank_correlation import tau_b_table
from judgec.stats.agreement.raters import fleiss_kappa, fleiss_statistic, krippendorff_alpha, rating_counts
from judgec.stats.agreement.registry import STATISTICS
from judgec.stats.agreement.statistic import mean
from judgec.stats.agreement.tables import contingency
from judgec.stats.intervals.jackknife import interval
from judgec.stats.intervals.proportion import share


class AgentGrades(TypedDict):
    """An agent's ``n`` labelled items: the mean of what people gave and the share that people accept, each with its
    interval over queries; None of classes without an order, and where nothing says which grades are accepted.
    """

    agent: str
    n: int
    mean: dict[str, float | str | None] | None
    accepted: dict[str, float | str | None] | None


def agent_grades(labels: LabelSet, experts: Experts) -> list[AgentGrades]:
    """Gives each agent's mean grade and accept rate, best first; nothing of failure modes or of a single agent.

    An item's grade is the mean over its annotators and aspects, and it is accepted where every aspect is.
    """
    agents = sorted({item.agent for item in labels.items if item.agent is not None})
    if len(agents) < 2 or finds_modes(labels.task):
        return []
    given = people_mean(experts.grade_by, np.array(labels.scale.values)).mean(axis=1)  # NaN where an aspect has none
    nominal, accepts = labels.scale.level == "nominal", accept_rate_of(experts.target_accept)
    found: list[AgentGrades] = []
    for agent in agents:
        own = np.array([item.agent == agent for item in labels.items])
        graded = np.flatnonzero(own & ~np.isnan(given))
        decided = np.flatnonzero(own & ~np.isnan(accepts).any(axis=1))
        accepted = accepts[decided].min(axis=1)
        mean = None if nominal or not len(graded) else _mean(given[graded], experts.cluster[graded])
        rate = share(accepted, experts.cluster[decided]) if len(decided) else None
        found.append(
            {
                "agent": agent,
                "n": max(len(graded), len(decided)),
                "mean": None if mean is None else mean.to_json(),
                "accepted": None if rate is None else rate.to_json(),
            }
        )
    return sorted(found, key=lambda one: (-_value(one["mean"]), -_value(one["accepted"])))


def _mean(values: FloatArray, cluster: IntArray) -> Estimate:
    """The mean with its 95 % interval over queries; ``cluster`` has the code of each value's query."""
    _, codes = np.unique(cluster, return_inverse=True)
    return interval(mean(values, codes.astype(np.int64))).estimate(len(values))


def _value(estimate: dict[str, float | str | None] | None) -> float:
    value = None if estimate is None else estimate["value"]
    return value if isinstance(value, float) else -np.inf


FEW_TEST_QUERIES = 10  # below this compile-judge never promotes

Counts = dict[str, int]


class PairAgreement(TypedDict):
    """Two annotators on the labels that both gave; None where undefined."""

    annotators: list[str]
    n: int
    tau_b: float | None
    kappa: float | None
    exact: float | None


class GradedAgain(TypedDict):
    """Of ``n`` gradings of items that an annotator had graded before, how many were the ``same``."""

    annotator: str
    n: int
    same: int


class AgainstOthers(TypedDict):
    """An annotator against the consensus of the others, on the ``n`` labels that others gave, too; None where
    undefined. ``adjudicator``: asked only where others differed, so left out of the ceiling.
    """

    annotator: str
    n: int
    adjudicator: bool
    tau_b: float | None
    kappa: float | None
    exact: float | None
    accept_agreement: float | None


class CountOfAll(TypedDict):
    """Of the ``of`` items that at least two annotators labelled, in every aspect: how many all of these accept in every
    aspect, how many all of them reject in some aspect, and the share of the first with its interval over queries.
    RAGProbe: 61 of 75 pairs are reliable by all three annotators.
    """

    accepted: int
    rejected: int
    of: int
    share: dict[str, float | str | None]


class AnnotatorAgreement(TypedDict):
    """Agreement of the annotators; ``note`` says why something is None. Aspects are flattened, and apart in
    ``aspects`` where there are several. ``estimates`` has ``fleiss_kappa`` with its interval over queries.
    ``by_all`` counts what all annotators accept or reject; None where nothing says which grades are accepted.
    """

    pairwise: list[PairAgreement]
    fleiss_kappa: float | None
    estimates: dict[str, dict[str, float | str | None]]
    krippendorff_alpha: float | None
    level: str
    note: str
    by_all: CountOfAll | None
    aspects: NotRequired[dict[str, "AnnotatorAgreement"]]


class LabelReport(TypedDict):
    """The JSON that ``judgec labels --json`` prints.

    ``rows`` are rows of the file, ``labels`` pairs of item and annotator; ``histogram`` counts labels by
    annotator and grade (annotator, aspect and grade where there are several aspects), ``accepts`` by
    annotator and own word; ``duplicates`` are items that repeat the inputs of an earlier one;
    ``empty_answers`` rows; ``not_text`` cells; ``groups``, ``agents`` and ``split`` count items. ``ceiling`` is each
    annotator against the consensus of the others, the mean of ``against_others``, weighted by ``n`` and without the
    ``adjudicators``, over all items (a compile reports that of its test items); empty without two annotators an item.
    ``modes`` is there for failure modes alone,
    ``repeats`` where somebody graded an item again, ``by_agent`` where rows say which of several agents answered,
    ``agent_tests`` where these were to be tested in pairs.
    """

    items: int
    rows: int
    labels: int
    queries: int
    task: str
    scale: dict[str, object]
    aspects: list[str]
    accept_only: bool
    annotators: list[str]
    histogram: dict[str, Counts] | dict[str, dict[str, Counts]]
    accepts: dict[str, Counts]
    agreement: AnnotatorAgreement
    ceiling: dict[str, object]
    against_others: list[AgainstOthers]
    adjudicators: list[str]
    duplicates: int
    empty_answers: int
    not_text: int
    unlabelled: int
    groups: Counts
    agents: Counts
    source: dict[str, str]
    digest: str
    family: str
    split: Counts
    test_queries: int
    notes: list[str]
    modes: NotRequired[ModeCounts]
    repeats: NotRequired[list[GradedAgain]]
    by_agent: NotRequired[list[AgentGrades]]
    agent_tests: NotRequired[list[dict[str, object]]]


def label_report(
    file: LabelFile, family: str, seed: int = 0, *, memory: Memory = FRESH, consensus: Consensus = "share"
) -> LabelReport:
    """Everything ``judgec labels`` shows.

    Args:
        file: The label file as read.
        family: The judge family whose split is shown.
        seed: Of a consensus that is picked.
        memory: What the home remembers of the queries.
        consensus: As ``experts_of``.
    """
    labels = file.labels
    experts = experts_of(labels, seed, consensus=consensus)
    folds = folds_of(labels, memory, None, free=False)
    split = split_labels(labels, memory) if folds == 1 else fold_splits(labels, folds, memory)[0]
    test_queries = len({labels.items[i].query_id for i in split.test})
    notes = [*constant_notes(labels, experts), *reading_notes(labels, experts)]
    if test_queries < FEW_TEST_QUERIES:
        notes.append(
            f"The test split of family {family} has {plural(test_queries, 'query')}: below "
            f"{FEW_TEST_QUERIES} no judge is promoted. Label more queries."
        )
    counts = grade_counts(labels)
    top = ceiling(experts, labels.scale, labels.aspects, accept_only=labels.accept_only).get("ceiling")
    single, modes = len(labels.aspects) == 1, mode_counts(labels, experts)
    report: LabelReport = {
        "items": len(labels.items),
        "rows": file.rows,
        "labels": len(labels.labels),
        "queries": len({item.query_id for item in labels.items}),
        "task": labels.task,
        "scale": labels.scale.model_dump() | {"inferred": file.scale_inferred},
        "aspects": list(labels.aspects),
        "accept_only": labels.accept_only,
        "annotators": list(counts),
        "histogram": {name: by[labels.aspects[0]] for name, by in counts.items()} if single else counts,
        "accepts": _accepts(labels),
        "agreement": agreement_between(experts, labels.scale, labels.aspects),
        "ceiling": {} if top is None else top.to_json(),
        "against_others": _against_others(labels, experts),
        "adjudicators": list(experts.adjudicators),
        "duplicates": _duplicates(labels),
        "empty_answers": file.empty_answers,
        "not_text": file.not_text,
        "unlabelled": file.unlabelled,
        "groups": dict(Counter(item.group for item in labels.items if item.group is not None)),
        "agents": dict(Counter(item.agent for item in labels.items if item.agent is not None)),
        "source": dict(labels.source),
        "digest": labels.digest,
        "family": family,
        "split": split.sizes(),
        "test_queries": test_queries,
        "notes": notes,
    }
    if modes is not None:
        report["modes"] = modes
    if agents := agent_grades(labels, experts):
        report["by_agent"] = agents
    if file.repeats:
        report["repeats"] = [{"annotator": one.annotator, "n": one.n, "same": one.same} for one in file.repeats]
    return report


def _against_others(labels: LabelSet, experts: Experts) -> list[AgainstOthers]:
    panel = expert_ratings(experts, labels.scale, accept_only=labels.accept_only)

    def point(name: str, ratings: GradePairs) -> float | None:
        compared = compared_rows(name, ratings)
        if not len(compared.judge) or (STATISTICS[name].ordinal and labels.scale.level == "nominal"):
            return None
        if labels.scale.interval and STATISTICS[name].compares == "grades" and name != "tau_b":
            return None
        value = statistic_of(name, compared).point()
        return None if np.isnan(value) else value

    return [
        {
            "annotator": name,
            "n": len(ratings.judge),
            "adjudicator": name in experts.adjudicators,
            "tau_b": point("tau_b", ratings),
            "kappa": point("kappa", ratings),
            "exact": point("exact", ratings),
            "accept_agreement": point("accept_agreement", ratings),
        }
        for name, ratings in panel.items()
    ]


def grade_counts(labels: LabelSet) -> dict[str, dict[str, Counts]]:
    """Number of times that each annotator gave each grade of each aspect."""
    grades = list(map(str, labels.scale.grades))
    names = sorted({label.annotator for label in labels.labels})
    counts = {name: {aspect: dict.fromkeys(grades, 0) for aspect in labels.aspects} for name in names}
    for label in labels.labels:
        for aspect, position in label.grades.items():
            counts[label.annotator][aspect][grades[position]] += 1
    return counts


def agreement_between(experts: Experts, scale: Scale, aspects: Sequence[str]) -> AnnotatorAgreement:
    """Agreement of the annotators, with aspects flattened, and each by itself where there are several.

    Args:
        experts: The labels by annotator.
        scale: Their scale.
        aspects: What was graded.
    """

    def between(aspect: slice) -> AnnotatorAgreement:
        found = _agreement(experts.annotators, experts.grade_by[:, :, aspect], experts.cluster, scale)
        return {**found, "by_all": by_all(experts.accept_by[:, :, aspect], experts.cluster)}

    report = between(slice(None))
    if len(aspects) > 1:
        report["aspects"] = {name: between(slice(j, j + 1)) for j, name in enumerate(aspects)}
    return report


def by_all(accept_by: IntArray, cluster: IntArray) -> CountOfAll | None:
    """Number of items that all annotators accept, and of those that all reject.

    Args:
        accept_by: 1 / 0, and -1 where unknown, shape (n_annotators, n_items, n_aspects). An annotator accepts an item
            by accepting every aspect; one who left an aspect out did not label the item.
        cluster: Code of each item's query, shape (n_items,).
    """
    labelled = (accept_by != UNLABELLED).all(2)
    rated = labelled.sum(0) > 1
    if not rated.any():
        return None
    accepts = (accept_by == 1).all(2)
    accepted = (accepts | ~labelled).all(0)[rated]
    rejected = (~accepts | ~labelled).all(0)[rated]
    found = share(accepted.astype(np.int64), cluster[rated])
    return {
        "accepted": int(accepted.sum()),
        "rejected": int(rejected.sum()),
        "of": int(rated.sum()),
        "share": found.to_json(),
    }


def _agreement(annotators: Sequence[str], grade_by: IntArray, cluster: IntArray, scale: Scale) -> AnnotatorAgreement:
    n_grades = len(scale.grades)
    nominal = scale.level == "nominal"
    ratings = grade_by.reshape(len(annotators), -1)
    present = ratings != UNLABELLED
    shared = present.astype(np.float64) @ present.T.astype(np.float64)
    pairs: list[PairAgreement] = []
    for i, j in combinations(range(len(annotators)), 2):
        if shared[i, j]:
            both = present[i] & present[j]
            table = contingency(ratings[i, both], ratings[j, both], n_grades).astype(np.float64)
            pairs.append(
                {
                    "annotators": [annotators[i], annotators[j]],
                    "n": int(both.sum()),
                    "tau_b": None if nominal else _number(tau_b_table(table)),
                    "kappa": None if scale.interval else _number(kappa_table(table)),
                    "exact": None if scale.interval else _number(exact_table(table)),
                }
            )
    counts = rating_counts(ratings, n_grades)
    if scale.interval:
        estimate = Estimate(value=None, note=NO_CLASSES)
    else:
        kappa = interval(fleiss_statistic(counts, cluster.repeat(grade_by.shape[2])))
        estimate = kappa.estimate(int((counts.sum(1) > 1).sum()))
    return {
        "pairwise": pairs,
        "fleiss_kappa": None if scale.interval else fleiss_kappa(counts),
        "estimates": {"fleiss_kappa": estimate.to_json()},
        "krippendorff_alpha": krippendorff_alpha(counts, scale.level, np.array(scale.values)),
        "level": scale.level,
        "note": _why_undefined(len(annotators), pairs, scale),
        "by_all": None,
    }


def _why_undefined(n_annotators: int, pairs: Sequence[PairAgreement], scale: Scale) -> str:
    if n_annotators < 2:
        return "One annotator: nothing to compare, and no ceiling."
    if not pairs:
        return "No two annotators labelled the same item: nothing to compare, and no ceiling."
    if scale.interval:
        return f"No kappa: {NO_CLASSES}."
    if scale.level == "nominal":
        return "tau-b needs ordered grades; these have no order."
    undefined = any(pair["tau_b"] is None or pair["kappa"] is None for pair in pairs)
    return "Undefined where an annotator of the pair gave one grade only." if undefined else ""


def _number(value: FloatArray) -> float | None:
    number = float(value)
    return None if np.isnan(number) else number


def _accepts(labels: LabelSet) -> dict[str, Counts]:
    """Own words of accept / reject by annotator; empty where nobody used any."""
    accepts: dict[str, Counts] = {}
    for label in labels.labels:
        if label.accept is not None:
            counts = accepts.setdefault(label.annotator, {"accept": 0, "reject": 0})
            counts["accept" if label.accept else "reject"] += 1
    return dict(sorted(accepts.items()))


def _duplicates(labels: LabelSet) -> int:
    return len(labels.items) - len({tuple(sorted(item.inputs.items())) or item.item_id for item in labels.items})
