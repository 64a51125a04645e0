"""The worst disagreements: the items where judge and experts are farthest apart, with what both said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from judgec.records.conversation import as_turn, holds_turns, speaker
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import UNLABELLED, FloatArray, IntArray, Item, Label
from judgec.records.scale import Scale
from judgec.records.trajectory import STEPS, titled
from judgec.report.columns import NO_NUMBER
from judgec.report.items import FILE, BrowsedItem, ItemLabel
from judgec.report.kit import cut, render
from judgec.report.numbers import number

MOST = 12  # items on the page; all are in items.jsonl
MOST_LABELS = 8  # annotators shown of one item
MOST_CHARACTERS = 1500  # of one text
MOST_OF_TURNS = 6000  # characters of all turns before an answer
FIRST = ("query", "answer", "answer_a", "answer_b", "document", "reference")  # the order of reading; others follow


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item where the judge's grade is not the experts'.

    Args:
        item: The item.
        labels: What its annotators said.
        expert: Their consensus by aspect, as on the scale; None where nobody graded.
        judge: The judge's grade by aspect.
        score: The judge's score by aspect.
        rationale: The judge's.
        distance: How far apart, as a share of the scale, the mean over aspects.
    """

    item: Item
    labels: tuple[Label, ...]
    expert: Mapping[str, object]
    judge: Mapping[str, object]
    score: Mapping[str, float]
    rationale: str
    distance: float


def worst_disagreements(
    items: Sequence[Item],
    target: IntArray,
    judged: Judgments,
    scale: Scale,
    labels: Mapping[str, Sequence[Label]],
    *,
    most: int = MOST,
) -> tuple[Disagreement, ...]:
    """The items that were graded otherwise, the farthest first; unscored items are not among them.

    Args:
        items: What was judged.
        target: The experts' positions, shape (n_items, n_aspects), -1 where nobody graded.
        judged: The judge's, row i being ``items[i]``.
        scale: The grades.
        labels: Every annotator's, by item_id.
        most: How many at most.
    """
    known = (target != UNLABELLED) & (judged.grade != UNSCORED)
    wrong = (known & (target != judged.grade)).any(axis=1)
    far = _distance(target, judged, scale, known)
    order = [int(i) for i in np.argsort(-far, kind="stable") if wrong[i]][:most]
    return tuple(
        Disagreement(
            item=items[i],
            labels=tuple(labels.get(items[i].item_id, ())),
            expert=_named(target[i], judged.aspects, scale),
            judge=_named(judged.grade[i], judged.aspects, scale),
            score={aspect: float(score) for aspect, score in zip(judged.aspects, judged.score[i], strict=True)},
            rationale=judged.rationale[i],
            distance=float(far[i]),
        )
        for i in order
    )


def browsed_items(
    items: Sequence[Item],
    target: IntArray,
    judged: Judgments,
    scale: Scale,
    labels: Mapping[str, Sequence[Label]],
) -> tuple[BrowsedItem, ...]:
    """All items with what was said of them; arguments as of ``worst_disagreements``."""
    far = _distance(target, judged, scale, (target != UNLABELLED) & (judged.grade != UNSCORED))
    sure = [_least(row) for row in judged.confidence.tolist()]
    scores = judged.score.tolist()
    return tuple(
        BrowsedItem(
            item_id=item.item_id,
            query_id=item.query_id,
            agent=item.agent,
            group=item.group,
            expert=_named(target[i], judged.aspects, scale),
            judge=_named(judged.grade[i], judged.aspects, scale),
            score={name: _least([score]) for name, score in zip(judged.aspects, scores[i], strict=True)},
            confidence=sure[i],
            distance=float(far[i]),
            unscored=judged.unscored[i],
            reason=judged.rationale[i],
            labels=[_said_by(label, scale) for label in labels.get(item.item_id, ())],
            texts={name: item.texts(name) for name in in_reading_order(item)},
            claims=_detail(judged, i, "claims"),
            nuggets=_detail(judged, i, "found_nuggets"),
        )
        for i, item in enumerate(items)
    )


def _detail(judged: Judgments, row: int, name: str) -> Sequence[Mapping[str, object]]:
    """A list in the further columns of a judgment; empty where there is none."""
    found = None if judged.details is None else judged.details[row].get(name)
    return found if isinstance(found, list) else ()


def _least(values: Sequence[float]) -> float | None:
    """The smallest known number, or None."""
    return min((value for value in values if value == value), default=None)  # noqa: PLR0124 -- NaN is not itself


def _said_by(label: Label, scale: Scale) -> ItemLabel:
    grades = {aspect: scale.grades[position] for aspect, position in label.grades.items()}
    return ItemLabel(label.annotator, grades, label.accept, label.rationale)


def in_reading_order(item: Item) -> list[str]:
    """Names of the item's fields, the query first."""
    names = [name for name in FIRST if name in item.inputs]
    return [*names, *(name for name in item.inputs if name not in FIRST)]


def _distance(target: IntArray, judged: Judgments, scale: Scale, known: np.ndarray) -> FloatArray:
    """Mean over the known aspects: for classes the chance that was given to others, else score against grade."""
    if scale.level == "nominal":
        chance = np.take_along_axis(judged.probabilities, np.maximum(target, 0)[:, :, None], axis=2)[:, :, 0]
        apart = 1.0 - np.nan_to_num(chance)
    else:
        values = np.array(scale.values)
        apart = np.abs(np.nan_to_num(judged.score) - values[np.maximum(target, 0)]) / (values[-1] - values[0])
    return np.asarray(np.where(known, apart, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def _named(positions: IntArray, aspects: Sequence[str], scale: Scale) -> dict[str, object]:
    pairs = zip(aspects, positions.tolist(), strict=True)
    return {aspect: None if position < 0 else scale.grades[position] for aspect, position in pairs}


def worst_cards(found: Sequence[Disagreement], scale: Scale) -> Markup:
    """The disagreements as blocks that open, the first one open."""
    return render("worst.html", {"cards": [_card(one, scale) for one in found]})


@dataclass(frozen=True, slots=True)
class Opinion:
    """One grader's opinion of an item, in words."""

    grader: str
    grade: str
    reason: Markup | None


@dataclass(frozen=True, slots=True)
class DisagreementCard:
    """A disagreement in words and finished texts; those of turns each with who speaks, others with nobody."""

    experts: str
    judge: str
    query: Markup
    where: str
    opinions: Sequence[Opinion]
    others: int
    texts: Sequence[tuple[str, Sequence[tuple[str, Markup]]]]


def _card(one: Disagreement, scale: Scale) -> DisagreementCard:
    names = in_reading_order(one.item)
    scores = ", ".join(number(score) for score in one.score.values())
    score = "" if scale.level == "nominal" else f" (score {scores})"
    judge = Opinion("judge", f"{_grades(one.judge)}{score}", _reason(one.rationale))
    return DisagreementCard(
        experts=_grades(one.expert),
        judge=_grades(one.judge),
        query=cut(one.item.text("query"), 160),
        where=" · ".join(part for part in (one.item.item_id, one.item.agent, one.item.group) if part),
        opinions=[*(_opinion(label, scale) for label in one.labels[:MOST_LABELS]), judge],
        others=max(len(one.labels) - MOST_LABELS, 0),
        texts=[(name, _shown(one.item, name)) for name in names],
    )


def _shown(item: Item, name: str) -> list[tuple[str, Markup]]:
    """A field's text; of a conversation or a run the last turns or steps that fit."""
    if name == STEPS:
        parts, what = [titled(text) for text in item.texts(name)], "steps"
    elif holds_turns(name, item.inputs):
        turns = [as_turn(text) for text in item.texts(name)]
        parts, what = [(speaker(turn), turn.content) for turn in turns], "turns"
    else:
        return [("", cut(item.text(name), MOST_CHARACTERS))]
    sizes = np.cumsum([min(len(said), MOST_CHARACTERS) for _, said in reversed(parts)])
    kept = max(int((sizes <= MOST_OF_TURNS).sum()), 1)
    left = len(parts) - kept
    before = [("", escape(f"({left} earlier {what} are in {FILE})"))] if left > 0 else []
    return [*before, *((by, cut(said, MOST_CHARACTERS)) for by, said in parts[-kept:])]


def _opinion(label: Label, scale: Scale) -> Opinion:
    given: dict[str, object] = {aspect: scale.grades[position] for aspect, position in label.grades.items()}
    accept = "" if label.accept is None else " accept" if label.accept else " reject"
    said = (_grades(given) if given else "") + accept
    return Opinion(label.annotator, said.strip() or NO_NUMBER, _reason(label.rationale))


def _reason(text: str) -> Markup | None:
    return cut(text, MOST_CHARACTERS) if text else None


def _grades(by_aspect: Mapping[str, object]) -> str:
    if len(by_aspect) == 1:
        return _grade(next(iter(by_aspect.values())))
    return ", ".join(f"{aspect} {_grade(grade)}" for aspect, grade in by_aspect.items())


def _grade(grade: object) -> str:
    return NO_NUMBER if grade is None else str(grade)
