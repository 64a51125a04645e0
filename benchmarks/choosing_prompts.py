"""Choosing among real prompts: how many labels it takes, whether racing pays, and how far a choice carries.

    python -m benchmarks.choosing_prompts --data ../shared/data/recorded [--write]

27 prompts of three models graded the passages of TREC DL20 (``trecdl20_relevance``), so that any way to choose can be
replayed without a call. Only the passages count that every prompt of the model was asked about. QWK with the assessors,
unreadable replies counted against the prompt; *best* is the best of the 27 on all queries.

1. Few labels: the prompt that is best on 5, 10, 20 or 40 labelled queries, 50 draws.
2. Racing: judgec's race on these queries, beside all prompts on as many queries as the same number of calls allows.
3. Carrying over: the prompt that is best for one model, asked of another; five folds by query.

What other libraries' selectors lose is a table of ``benchmarks.compiler``, which takes it from here (``selectors``).
"""

import argparse
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dspy
import numpy as np
from scipy import stats

from benchmarks.agreement import cell, write
from judgec.compile.search.race import race, slices
from judgec.labels.experts import experts_of
from judgec.labels.labels import read_label_file
from judgec.raters.recorded import OnWhat, read_recorded
from judgec.records.label import IntArray
from judgec.records.ratings import GradePairs, pair
from judgec.report.numbers import percent
from judgec.stats.agreement.difference import differences
from judgec.stats.agreement.measure import Resampling
from judgec.stats.agreement.objective import parse_objective

STEM = "trecdl20_relevance"
SIZES, DRAWS, FOLDS, SEEDS, NEAR = (5, 10, 20, 40), 50, 5, 10, 0.02
OURS = "judgec, all prompts on all labels, QWK"
OBJECTIVE = parse_objective("qwk")
START, END = "<!-- choosing prompts: start -->", "<!-- choosing prompts: end -->"


@dataclass(frozen=True)
class Model:
    """One model's prompts on the passages that all of them were asked about.

    Args:
        name: Of the model.
        prompts: Their names, the same for every model.
        ratings: Of each prompt beside the assessors; the same rows.
    """

    name: str
    prompts: tuple[str, ...]
    ratings: tuple[GradePairs, ...]

    @property
    def queries(self) -> IntArray:
        """Codes of the queries."""
        return np.unique(self.ratings[0].cluster)

    def rows(self, queries: IntArray) -> IntArray:
        """Rows of these queries."""
        return np.flatnonzero(np.isin(self.ratings[0].cluster, queries))

    def values(self, rows: IntArray) -> np.ndarray:
        """Each prompt's objective on these rows."""
        kept = np.zeros(len(self.ratings[0].cluster), dtype=bool)
        kept[rows] = True
        return np.array([OBJECTIVE.value(one.where(kept)) for one in self.ratings])


def read_models(folder: Path) -> list[Model]:
    """The models, each with its prompts."""
    labels = read_label_file(str(folder / f"{STEM}.jsonl")).labels
    recorded = read_recorded(str(folder / f"{STEM}.verdicts.parquet"), OnWhat.of(labels))
    items, experts = [item.item_id for item in labels.items], experts_of(labels)
    by_model: dict[str, dict[str, GradePairs]] = {}
    for judge in recorded.judges:
        model, _, prompt = judge.partition("/")
        said = recorded.judgments(judge, items)
        by_model.setdefault(model, {})[prompt] = pair(experts, said, labels.scale, accept_only=False)
    found = []
    for model, ratings in by_model.items():
        asked = np.stack([one.labelled for one in ratings.values()])
        kept = asked[asked.mean(axis=1) > 0.1].all(axis=0)
        names = tuple(sorted(ratings))
        found.append(Model(model, names, tuple(ratings[name].where(kept) for name in names)))
    return found


def few_labels(model: Model) -> Iterator[tuple[str, ...]]:
    """Rows of the first table."""
    truth = model.values(model.rows(model.queries))
    lost: dict[int, list[float]] = {size: [] for size in SIZES}
    for draw in range(DRAWS):
        order = np.random.default_rng([draw, 7]).permutation(model.queries)
        for size in SIZES:
            chosen = int(np.argmax(model.values(model.rows(order[:size]))))
            lost[size].append(float(truth.max() - truth[chosen]))
    median = float(truth.max() - np.median(truth))
    near = [
        f"{percent(float(np.mean(np.array(lost[size]) <= NEAR)))} ({_short(np.mean(lost[size]))})" for size in SIZES
    ]
    yield (model.name, _short(truth.max()), _short(median), *near)


def racing(model: Model) -> Iterator[tuple[str, ...]]:
    """Rows of the second table."""
    truth = model.values(model.rows(model.queries))
    n = len(model.prompts)
    for size in SIZES[1:]:
        raced, spread, whole, calls, full = [], [], [], [], []
        for draw in range(DRAWS):
            order = np.random.default_rng([draw, 7]).permutation(model.queries)
            rows = model.rows(order[:size])
            cluster = model.ratings[0].cluster[rows]

            def runs(number: int, wanted: Sequence[int], rows: IntArray = rows) -> GradePairs:
                kept = np.zeros(len(model.ratings[0].cluster), dtype=bool)
                kept[rows[list(wanted)]] = True
                return model.ratings[number].where(kept)

            done = race(n, slices(cluster, draw), runs, OBJECTIVE, seed=draw)
            raced.append(truth.max() - truth[done.chosen])
            counts = np.cumsum([int((cluster == query).sum()) for query in order[:size]]) * n
            share = max(1, int(np.searchsorted(counts, done.judgments, side="right")))
            same = int(np.argmax(model.values(model.rows(order[:share]))))
            spread.append(truth.max() - truth[same])
            whole.append(truth.max() - truth[int(np.argmax(model.values(rows)))])
            calls.append(done.judgments)
            full.append(len(rows) * n)
        gap = np.array(spread) - np.array(raced)
        error = gap.std(ddof=1) / np.sqrt(DRAWS)
        paired = f"{_short(gap.mean(), signed=True)} ± {_short(1.96 * error)}"
        share_of = percent(float(np.sum(calls) / np.sum(full)))
        means = (_short(np.mean(lost)) for lost in (raced, spread, whole))
        yield (model.name, str(size), f"{np.mean(calls):,.0f}", share_of, *means, paired)


def carried(models: Sequence[Model]) -> Iterator[tuple[str, ...]]:
    """Rows of the third table."""
    what = Resampling()
    for target in models:
        own, median = _chosen_in_folds(target, target), _chosen_in_folds(target, target, median=True)
        for source in models:
            if source is not target:
                brought = _chosen_in_folds(source, target)
                cells = (cell(differences(brought, other, what)["qwk"], signed=True) for other in (own, median))
                values = (_short(OBJECTIVE.value(one)) for one in (median, brought, own))
                yield (source.name, target.name, *values, *cells)


def _chosen_in_folds(source: Model, target: Model, *, median: bool = False) -> GradePairs:
    """What the target says with the prompt that the source's training folds choose, each query tested once."""
    queries = np.union1d(source.queries, target.queries)
    fold = dict(
        zip(np.random.default_rng(0).permutation(queries).tolist(), np.arange(len(queries)) % FOLDS, strict=True)
    )
    found = target.ratings[0]
    judge, score, accept = found.judge.copy(), found.score.copy(), found.judge_accept.copy()
    for number in range(FOLDS):
        train = np.array([query for query in source.queries if fold[int(query)] != number])
        values = source.values(source.rows(train))
        ranked = np.argsort(values, kind="stable")
        chosen = source.prompts[int(ranked[(len(ranked) - 1) // 2] if median else ranked[-1])]
        said = target.ratings[target.prompts.index(chosen)]
        held = target.rows(np.array([query for query in target.queries if fold[int(query)] == number]))
        judge[held], score[held], accept[held] = said.judge[held], said.score[held], said.judge_accept[held]
    return replace(found, judge=judge, score=score, judge_accept=accept)


class Replayed(dspy.Module):  # type: ignore[misc]  # DSPy's classes are untyped
    """A prompt as a DSPy program: it says what was recorded."""

    def __init__(self, ratings: GradePairs) -> None:
        super().__init__()
        self.ratings = ratings

    def forward(self, row: int) -> dspy.Prediction:
        """The recorded grade, empty where it could not be read."""
        grade = int(self.ratings.judge[row])
        return dspy.Prediction(result=str(grade) if grade >= 0 else "")


def exact(example: dspy.Example, prediction: dspy.Prediction, trace: object = None) -> float:  # noqa: ARG001  # DSPy's
    """The metric of DSPy's tutorials."""
    return float(example.result == prediction.result)


def closeness(example: dspy.Example, prediction: dspy.Prediction, trace: object = None) -> float:  # noqa: ARG001
    """The metric of somebody who knows that the grades are ordered."""
    return 1.0 - abs(int(example.result) - int(prediction.result)) / 3 if prediction.result else 0.0


@dataclass(frozen=True)
class Chosen:
    """What one way to choose came to.

    Args:
        lost: QWK that it lost on held-out folds against the best prompt there, shape (n_models, n_choices).
        asked: Judgments that its choices took, the same shape.
    """

    lost: np.ndarray
    asked: np.ndarray


Way = Callable[[Model, IntArray, int], tuple[int, int]]
"""From a model, the rows to choose on and a seed to the number of a prompt and the judgments it took."""


def selectors(models: Sequence[Model]) -> dict[str, Chosen]:
    """Who chooses how, on the same labels of each fold, folds drawn anew ``SEEDS`` times."""
    from mlflow.genai.judges.optimizers.dspy_utils import agreement_metric

    ways: dict[str, Way] = {
        "dspy.Evaluate, exact match": _by_dspy(exact, models),
        "dspy.Evaluate, closeness": _by_dspy(closeness, models),
        "dspy.Evaluate, MLflow's agreement_metric": _by_dspy(agreement_metric, models),
        OURS: _by_objective,
        "judgec, race, QWK": _by_race,
    }
    found = {name: Chosen(*(np.zeros((len(models), SEEDS * FOLDS)) for _ in range(2))) for name in ways}
    for m, model in enumerate(models):
        for draw in range(SEEDS):
            fold = np.random.default_rng(draw).permutation(len(model.queries)) % FOLDS
            for number in range(FOLDS):
                rows = model.rows(model.queries[fold != number])
                held, at = model.values(model.rows(model.queries[fold == number])), draw * FOLDS + number
                for name, way in ways.items():
                    chosen, found[name].asked[m, at] = way(model, rows, at)
                    found[name].lost[m, at] = held.max() - held[chosen]
    return found


def _by_dspy(metric: Callable[..., float], models: Sequence[Model]) -> Way:
    """The mean of a metric over examples, by DSPy; each prompt is run once, and its examples' scores are kept."""
    scores: dict[str, np.ndarray] = {}
    for model in models:
        expert = model.ratings[0].expert.tolist()
        whole = model.rows(model.queries).tolist()
        examples = [dspy.Example(row=row, result=str(expert[row])).with_inputs("row") for row in whole]
        run = dspy.Evaluate(devset=examples, metric=metric, num_threads=1, display_progress=False)
        kept = np.zeros((len(model.prompts), len(expert)))
        for number, one in enumerate(model.ratings):
            kept[number, whole] = [float(score) for _, _, score in run(Replayed(one)).results]
        scores[model.name] = kept

    def choose(model: Model, rows: IntArray, seed: int) -> tuple[int, int]:  # noqa: ARG001  # as the other ways
        # As DSPy rounds; on equal scores the first wins.
        return int(np.argmax(np.round(100 * scores[model.name][:, rows].mean(axis=1), 2))), len(rows) * len(
            model.prompts
        )

    return choose


def _by_objective(model: Model, rows: IntArray, seed: int) -> tuple[int, int]:  # noqa: ARG001  # as the other ways
    return int(np.argmax(model.values(rows))), len(rows) * len(model.prompts)


def _by_race(model: Model, rows: IntArray, seed: int) -> tuple[int, int]:
    def runs(number: int, wanted: Sequence[int]) -> GradePairs:
        kept = np.zeros(len(model.ratings[0].cluster), dtype=bool)
        kept[rows[list(wanted)]] = True
        return model.ratings[number].where(kept)

    done = race(len(model.prompts), slices(model.ratings[0].cluster[rows], seed), runs, OBJECTIVE, seed=seed)
    return done.chosen, done.judgments


def mean_of_folds(values: np.ndarray) -> tuple[float, float]:
    """The mean over folds of repeated draws, and half of its 95 % interval.

    Draws test the same queries again, so that choices are not independent: the variance is multiplied by
    1 / choices + test / train instead of 1 / choices.

    Source: Nadeau and Bengio (2003), Inference for the Generalization Error, Machine Learning 52.
    """
    spread = float(values.var(ddof=1)) * (1 / values.size + 1 / (FOLDS - 1))
    return float(values.mean()), float(stats.t.isf(0.025, values.size - 1)) * spread**0.5


def _short(value: float | np.floating[Any], *, signed: bool = False) -> str:
    return f"{value:{'+' if signed else ''}.3f}".replace("0.", ".", 1)


def table(header: Sequence[str], rows: Iterator[tuple[str, ...]]) -> str:
    """Markdown."""
    lines = [f"| {' | '.join(header)} |", "|---|" + "---|" * (len(header) - 1)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows), ""])


def selectors_section(models: Sequence[Model]) -> str:
    """What other libraries would have chosen among the same prompts."""
    logging.getLogger("dspy").setLevel(logging.WARNING)  # a line for every prompt
    found = selectors(models)

    def rows() -> Iterator[tuple[str, ...]]:
        for name, one in found.items():
            lost = [_half(*mean_of_folds(values)) for values in one.lost]
            beside = (
                "" if name == OURS else _half(*mean_of_folds((one.lost - found[OURS].lost).mean(axis=0)), signed=True)
            )
            yield (name, *lost, beside, f"{one.asked.mean(axis=1).sum():,.0f}")

    names = [f"{model.name}: QWK lost" for model in models]
    return table(("chosen by", *names, "mean, minus judgec's on all labels", "judgments, three models"), rows())


def _half(mean: float, half: float, *, signed: bool = False) -> str:
    return f"{_short(mean, signed=signed)} ± {_short(half)}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help=f"folder with {STEM}")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    options = parser.parse_args(arguments)
    if not (options.data / f"{STEM}.jsonl").is_file():
        sys.exit(f"{options.data}: {STEM}.jsonl is not there. Name its folder with --data.")
    models = read_models(options.data)
    sizes = [f"{size} queries" for size in SIZES]
    few = (
        f"**Few labels.** How often of {DRAWS} draws the prompt that is best on these queries is within {_short(NEAR)} "
        "of the best one; in brackets the mean loss of QWK.\n"
    )
    parts = [
        few,
        table(
            ("model", "best QWK", "median prompt loses", *sizes),
            (row for model in models for row in few_labels(model)),
        ),
        "**Racing.** Mean loss of QWK against the best prompt, 95 % interval of the difference over draws.\n",
        table(
            ("model", "queries", "judgments of the race", "of all", "race", "spread", "all asked", "spread - race"),
            (row for model in models for row in racing(model)),
        ),
        "**Carrying over.** The prompt that one model's training folds choose, asked of another model.\n",
        table(
            ("chosen on", "asked of", "median", "brought", "own", "brought - own", "brought - median"),
            carried(models),
        ),
    ]
    text = "\n".join(parts)
    print(text)
    if options.write:
        write(text, START, END)


if __name__ == "__main__":
    main()
