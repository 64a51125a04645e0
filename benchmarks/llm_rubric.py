"""Nine answers of an LM as one overall grade, and what of it is the annotator: LLM-Rubric's dialogues.

Hashemi et al. (2024), LLM-Rubric, ACL, go from Kendall .066 (what the LM says of the overall question) to .291 with a
network that knows the annotator. Here the probabilities of all nine questions go through the stack that panels have,
five folds by dialogue. Each dialogue has one annotator, so that lenient and strict annotators alone order dialogues:
the annotator's mean grade, which has read no dialogue, is the baseline, and pairs of one annotator are counted apart.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from judgec.compile.calibrate import fit_stack
from judgec.compile.calibrate_choice import folds_by_query
from judgec.labels.experts import experts_of
from judgec.labels.labels import read_label_file
from judgec.raters.panel import column_names, member_columns
from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import Scale
from judgec.report.numbers import brackets, number

STEM = "llmrubric_dialogue"
OVERALL = "q0"
RESAMPLES = 2000
SHRINK = 2.0  # dialogues' worth of weight on no offset
NONE = "-"


def rubric_section(folder: Path) -> str:
    """The Markdown: pooled and within-annotator Kendall of each way to the overall grade."""
    labels = read_label_file(str(folder / f"{STEM}.jsonl")).labels
    verdicts = pd.read_parquet(folder / f"{STEM}.verdicts.parquet")
    scale, overall = labels.scale, experts_of(labels).grade[:, labels.aspects.index(OVERALL)]
    graded = np.flatnonzero(overall >= 0)
    items, target = [labels.items[i].item_id for i in graded.tolist()], overall[graded]
    who = {label.item_id: label.annotator for label in labels.labels}
    _, annotator = np.unique([who[item] for item in items], return_inverse=True)
    questions = sorted(verdicts["aspect"].unique())
    given = np.stack([_spread(verdicts[verdicts["aspect"] == name], items, scale) for name in questions])[:, :, None]
    columns = member_columns(given, np.ones(given.shape[:2], dtype=bool))[:, 0]
    names = column_names(questions, scale)
    values = np.array(scale.values)
    raw = given[questions.index(OVERALL), :, 0] @ values
    stack, offset, alone = _out_of_fold(columns, target, annotator, names, scale)
    same = annotator[:, None] == annotator[None, :]
    # An annotator's offset is the same for all dialogues of hers; that folds estimate it differently orders nothing.
    ways = {
        "what the LM says of the overall question, expected grade": _order(raw),
        "stack of the nine questions": _order(stack),
        ALONE: np.where(same, 0.0, _order(alone)),
        "stack and annotator": np.where(same, _order(stack), _order(stack + offset)),
    }
    expert = _order(values[target])
    about = (
        f"From nine questions to the overall grade: {len(items)} dialogues, each graded by one of "
        f"{annotator.max() + 1} annotators. Kendall tau-b of the score, five folds by dialogue, 95 % intervals over "
        f"dialogues ({RESAMPLES:,} resamples)."
    )
    lines = [about, "", "| score | pooled | within annotators |", "|---|---|---|"]
    for name, order in ways.items():
        within = NONE if name == ALONE else _shown(order * same, expert * same)
        lines.append(f"| {name} | {_shown(order, expert)} | {within} |")
    return "\n".join([*lines, ""])


ALONE = "the annotator's mean, no LM"


def _spread(rows: pd.DataFrame, items: list[str], scale: Scale) -> FloatArray:
    """The LM's probabilities of the grades, shape (n_items, n_grades)."""
    table = rows.set_index("item_id").loc[items, [f"p_{grade}" for grade in scale.grades]].to_numpy(dtype=np.float64)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _out_of_fold(
    columns: FloatArray, target: IntArray, annotator: IntArray, names: tuple[str, ...], scale: Scale
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of dialogues that nothing was fitted on: the stack's score, the annotator's offset to it, her mean grade."""
    n, people, values = len(target), int(annotator.max()) + 1, np.array(scale.values)
    stack, offset, alone = (np.empty(n) for _ in range(3))
    fold = _folds(n, 0)
    for tested in range(int(fold.max()) + 1):
        train, test = np.flatnonzero(fold != tested), np.flatnonzero(fold == tested)
        inner, said = _folds(len(train), 1), np.empty(len(train))
        for part in range(int(inner.max()) + 1):
            held = inner == part
            said[held] = _score(columns[train[~held]], target[train[~held]], columns[train[held]], names, scale)
        stack[test] = _score(columns[train], target[train], columns[test], names, scale)
        graded = values[target[train]]
        offset[test] = _offsets(graded - said, annotator[train], people)[annotator[test]]
        alone[test] = graded.mean() + _offsets(graded - graded.mean(), annotator[train], people)[annotator[test]]
    return stack, offset, alone


def _folds(n: int, seed: int) -> IntArray:
    found = folds_by_query(np.arange(n), seed)
    assert found is not None  # there are two dialogues
    return found


def _score(
    columns: FloatArray, target: IntArray, others: FloatArray, names: tuple[str, ...], scale: Scale
) -> FloatArray:
    return np.asarray(fit_stack(columns, target, scale, names).apply(None, others) @ np.array(scale.values))


def _offsets(residual: FloatArray, annotator: IntArray, people: int) -> FloatArray:
    """How much higher each annotator grades, shrunk towards 0, shape (n_annotators,)."""
    total, count = np.bincount(annotator, residual, minlength=people), np.bincount(annotator, minlength=people)
    return np.asarray(total / (count + SHRINK))


def _order(score: FloatArray) -> FloatArray:
    """1 where the first of a pair is higher, -1 where the second is, shape (n, n)."""
    return np.asarray(np.sign(score[:, None] - score[None, :]))


def kendall(score: FloatArray, expert: FloatArray, weights: FloatArray) -> FloatArray:
    """Kendall tau-b for each row of multiplicities.

    Args:
        score: From ``_order``, 0 for a pair that does not count.
        expert: The same of the experts.
        weights: How often each item was drawn, shape (resamples, n); an item and its own copy are a tie.
    """

    def total(pairs: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("bi,bi->b", weights @ pairs, weights))

    return np.asarray(total(score * expert) / np.sqrt(total(np.abs(score)) * total(np.abs(expert))))


def _shown(score: FloatArray, expert: FloatArray) -> str:
    n = len(score)
    value = float(kendall(score, expert, np.ones((1, n)))[0])
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1.0 / n), size=RESAMPLES).astype(np.float64)
    low, high = np.quantile(kendall(score, expert, drawn), [0.025, 0.975]).tolist()
    return f"{number(value, 3)} {brackets(low, high, 3)}"
