"""The experts' labels as arrays, and the consensus of several annotators.

Consensus: the median of an odd number of grades; of an even number, one of the two middle grades, picked by
a hash of item and seed (of two annotators: one of the two). Unordered grades (a / b / tie): the most
frequent, a hash again choosing among tied ones. Numbers on an interval scale: their mean. The pick depends on
item_id and seed alone, so neither other items nor the order of rows can change it.

Accept: an annotator's own accept / reject beats the threshold; an annotator who only graded votes by the
threshold, where there is one. The consensus is the median of these votes by the same pick, and so where all
votes follow from grades it is exactly the consensus grade held against the threshold.

An adjudicator is an annotator who was asked where others differed. Their vote counts in the consensus; how far
they agree with the others says nothing about how far experts agree, because all easy items were kept from them.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from judgec.records.counts import plural
from judgec.records.label import UNLABELLED, Experts, FloatArray, IntArray, LabelSet
from judgec.records.language import language_notes, languages_of
from judgec.records.ratings import people_mean
from judgec.records.scale import Scale
from judgec.stats.agreement.ceiling import adjudicator_notes

BoolArray = NDArray[np.bool_]

ONLY_DISPUTED = 0.95  # share of an adjudicator's shared items whose labels differ; not 1: people make slips
TIMES_AS_OFTEN = 2.0  # how much more often the others differ where an adjudicator was asked than elsewhere
BY_CHANCE = 0.025  # one-sided 95 %: an annotator of one or two items that happen to be disputed is no adjudicator


def experts_of(labels: LabelSet, seed: int = 0) -> Experts:
    """All labels as arrays, with their consensus."""
    annotators = tuple(sorted({label.annotator for label in labels.labels}))
    row = {name: i for i, name in enumerate(annotators)}
    column = {item.item_id: i for i, item in enumerate(labels.items)}
    aspect_axis = {name: i for i, name in enumerate(labels.aspects)}
    shape = (len(annotators), len(labels.items), len(labels.aspects))
    grade_by = np.full(shape, UNLABELLED, dtype=np.int64)
    accept_by = np.full(shape, UNLABELLED, dtype=np.int64)
    threshold = labels.scale.accept_index
    for label in labels.labels:
        i, j = row[label.annotator], column[label.item_id]
        for aspect, position in label.grades.items():
            grade_by[i, j, aspect_axis[aspect]] = position
        if label.accept is not None:
            accept_by[i, j, :] = int(label.accept)
    if threshold is not None:
        graded_only = (accept_by == UNLABELLED) & (grade_by != UNLABELLED)
        accept_by[graded_only] = grade_by[graded_only] >= threshold
    item_ids = [item.item_id for item in labels.items]
    nominal, numbers = labels.scale.level == "nominal", labels.scale if labels.scale.interval else None
    grade, grade_tied = consensus_of(grade_by, item_ids, seed, nominal=nominal, numbers=numbers)
    accept, accept_tied = consensus_of(accept_by, item_ids, seed)
    codes: dict[str, int] = {}
    cluster = [codes.setdefault(item.query_id, len(codes)) for item in labels.items]
    return Experts(
        grade=grade,
        accept=accept,
        cluster=np.array(cluster, dtype=np.int64),
        annotators=annotators,
        grade_by=grade_by,
        accept_by=accept_by,
        tied=int((grade_tied | accept_tied).sum()),
        adjudicators=adjudicators_of(annotators, np.concatenate([grade_by, accept_by], axis=2)),
        system=np.array(agents) if any(agents := [item.agent or "" for item in labels.items]) else None,
    )


def reading_notes(labels: LabelSet, experts: Experts) -> list[str]:
    """How labels were read: what the file says otherwise, in which languages, and which grades were drawn."""
    return [
        *labels.notes,
        *language_notes(languages_of(labels.items)),
        *adjudicator_notes(experts),
        *drawn_note(experts),
    ]


def drawn_note(experts: Experts) -> tuple[str, ...]:
    """Note on how often one of two grades was drawn as the experts' class, and for what; nothing where never."""
    if not experts.tied:
        return ()
    seen = f"On {plural(experts.tied, 'label')} the annotators' middle grades differ"
    classes = (
        "tau-b, kappa, QWK, exact, error rates and limits of agreement use one of the two, drawn by a hash of the item"
    )
    return (f"{seen}: {classes}; means, differences, t-tests and bias use the mean of the annotators.",)


def adjudicators_of(annotators: Sequence[str], by: IntArray) -> tuple[str, ...]:
    """Finds annotators who were asked only where others differed.

    Nearly all items that an adjudicator shares with others are disputed (their labels differ). That alone would also
    hold for everybody on a fine scale, and for one who grades unlike all others; so the *others* must differ there
    at least twice as often as on the items that the adjudicator did not see, and not by chance.

    Args:
        annotators: Their names.
        by: What each said, shape (n_annotators, n_items, n_columns), -1 where nothing; the labels of an item differ
            where any column does.
    """
    present = (by != UNLABELLED).any(axis=2)
    raters = present.sum(axis=0)
    disputed = _differ(by)
    found = []
    for i, name in enumerate(annotators):
        shared = present[i] & (raters > 1)
        if not shared.any() or disputed[shared].mean() < ONLY_DISPUTED:
            continue
        differ = _differ(np.delete(by, i, axis=0))
        known = raters - present[i] > 1  # two others, who can differ
        seen, unseen = differ[known & present[i]], differ[known & ~present[i]]
        if not len(seen) or not len(unseen):
            continue
        often = seen.mean() >= TIMES_AS_OFTEN * unseen.mean()
        if often and _chance(len(seen), int(seen.sum()), int(known.sum()), int(differ[known].sum())) <= BY_CHANCE:
            found.append(name)
    return tuple(found)


def _chance(seen: int, hits: int, items: int, disputed: int) -> float:
    """The probability that ``seen`` items drawn at random from ``items`` hold at least ``hits`` of the disputed ones.

    Source: the hypergeometric distribution, Fisher (1935), The Design of Experiments.
    """
    all_draws = _log_choices(items, seen)
    most = min(seen, disputed)
    return sum(
        math.exp(_log_choices(disputed, k) + _log_choices(items - disputed, seen - k) - all_draws)
        for k in range(max(hits, seen + disputed - items), most + 1)
    )


def _log_choices(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _differ(by: IntArray) -> BoolArray:
    """On which items two annotators said different things, shape (n_items,)."""
    if not len(by):
        return np.zeros(by.shape[1], dtype=np.bool_)
    lowest = np.where(by == UNLABELLED, np.iinfo(np.int64).max, by).min(axis=0)
    return np.asarray((by.max(axis=0) > lowest).any(axis=1))


def consensus_of(
    by: IntArray, keys: Sequence[str], seed: int = 0, *, nominal: bool = False, numbers: Scale | None = None
) -> tuple[IntArray, BoolArray]:
    """The consensus of several annotators, and where a seeded pick decided it.

    Args:
        by: Positions, shape (n_annotators, n_items, n_aspects); -1 where missing. Accepts (1 / 0) too.
        keys: What the pick of each item depends on besides the seed: its item_id.
        seed: Seed of the picks.
        nominal: True when the grades have no order: the most frequent instead of the median.
        numbers: The scale where it is an interval one: the mean instead of the median.

    Returns:
        Positions, shape (n_items, n_aspects), -1 where nobody said anything; and True where a pick decided
        between different grades, same shape.
    """
    if by.shape[0] == 0:
        empty = np.full(by.shape[1:], UNLABELLED, dtype=np.int64)
        return empty, empty != UNLABELLED
    if numbers is not None:
        mean = people_mean(by, np.array(numbers.values))
        found = [numbers.nearest(one) for one in mean.ravel().tolist()]
        positions = np.array([UNLABELLED if one is None else one for one in found], dtype=np.int64).reshape(mean.shape)
        return positions, np.zeros(mean.shape, dtype=np.bool_)
    return (_most_frequent if nominal else _median)(by, partial(_picks, keys, seed))


def leave_one_out(labels: LabelSet, experts: Experts, seed: int = 0) -> tuple[IntArray, IntArray]:
    """For each annotator the consensus of the others: what the experts' ceiling is measured against.

    Returns:
        Grades and accepts, each of shape (n_annotators, n_items, n_aspects); -1 where no other annotator said
        anything. With one annotator both are -1 throughout.
    """
    keys = [item.item_id for item in labels.items]
    nominal, numbers = labels.scale.level == "nominal", labels.scale if labels.scale.interval else None
    grade, accept = np.empty_like(experts.grade_by), np.empty_like(experts.accept_by)
    for i in range(len(experts.annotators)):
        grade[i], _ = consensus_of(np.delete(experts.grade_by, i, axis=0), keys, seed, nominal=nominal, numbers=numbers)
        accept[i], _ = consensus_of(np.delete(experts.accept_by, i, axis=0), keys, seed)
    return grade, accept


def _picks(keys: Sequence[str], seed: int, tied: BoolArray) -> FloatArray:
    """A number in [0, 1) for the key of each row with something tied, from a hash of key and seed; 0 for others."""
    rows = np.flatnonzero(tied.any(axis=1)).tolist()
    digests = b"".join(hashlib.blake2b(f"{seed}\0{keys[row]}".encode(), digest_size=8).digest() for row in rows)
    found = np.zeros((len(tied), 1))
    found[rows, 0] = np.frombuffer(digests, dtype=">u8").astype(np.float64) / 2.0**64 * (1 - 2.0**-53)
    return found


def _median(by: IntArray, picks: Callable[[BoolArray], FloatArray]) -> tuple[IntArray, BoolArray]:
    ordered = np.sort(by, axis=0)  # missing ones (-1) come first
    n = (by != UNLABELLED).sum(axis=0)
    missing = by.shape[0] - n
    last = by.shape[0] - 1
    low = np.take_along_axis(ordered, np.minimum(missing + (n - 1) // 2, last)[None], axis=0)[0]
    high = np.take_along_axis(ordered, np.minimum(missing + n // 2, last)[None], axis=0)[0]
    return np.where(picks(low != high) < 0.5, low, high), low != high


def _most_frequent(by: IntArray, picks: Callable[[BoolArray], FloatArray]) -> tuple[IntArray, BoolArray]:
    n_grades = int(by.max(initial=0)) + 1
    votes = (by[..., None] == np.arange(n_grades)).sum(axis=0)
    top = (votes == votes.max(axis=-1, keepdims=True)) & (votes > 0)
    n_top = top.sum(axis=-1)
    # 0..n_top-1: which of the tied ones, in the order of the scale
    wanted = (picks(n_top > 1) * n_top).astype(np.int64)
    chosen = (top & (top.cumsum(axis=-1) == wanted[..., None] + 1)).argmax(axis=-1)
    return np.where(n_top > 0, chosen, UNLABELLED), n_top > 1
