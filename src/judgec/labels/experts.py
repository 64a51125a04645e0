"""The experts' labels as arrays, and the consensus of several annotators.

Consensus: see ``records.consensus``. Tied grades share an item in equal parts; with ``--consensus pick``, the rule of
V4, one of them is picked by a hash of item_id and seed, so that neither other items nor the order of rows can change
it.

Accept: an annotator's own accept / reject beats the threshold; an annotator who only graded votes by the
threshold, where there is one. The consensus is the median of these votes, and so where all votes follow from grades it
is exactly the consensus grade held against the threshold.

An adjudicator is an annotator who was asked where others differed. Their vote counts in the consensus; how far
they agree with the others says nothing about how far experts agree, because all easy items were kept from them.
"""

import hashlib
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from judgec.records.consensus import Consensus, consensus_of
from judgec.records.counts import plural
from judgec.records.label import UNLABELLED, Experts, FloatArray, IntArray, LabelSet
from judgec.records.language import language_notes, languages_of
from judgec.stats.agreement.ceiling import adjudicator_notes

BoolArray = NDArray[np.bool_]
PICKED = "Where an item's middle grades differ, one is picked by its item_id and the seed (--consensus pick)."

ONLY_DISPUTED = 0.95  # share of an adjudicator's shared items whose labels differ; not 1: people make slips
LEAST_CONSTANT = 20  # items: of fewer, one grade for all may be what they deserve
TIMES_AS_OFTEN = 2.0  # how much more often the others differ where an adjudicator was asked than elsewhere
BY_CHANCE = 0.025  # one-sided 95 %: an annotator of one or two items that happen to be disputed is no adjudicator


def experts_of(labels: LabelSet, seed: int = 0, *, consensus: Consensus = "share") -> Experts:
    """All labels as arrays, with their consensus; without annotators who tell nothing apart (``constant_graders``).

    Args:
        labels: As read.
        seed: Seed of the picks.
        consensus: ``share``: tied grades share an item in equal parts; ``pick``: one of them is picked.
    """
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
    kept = [name not in constant_graders(annotators, grade_by, accept_by) for name in annotators]
    annotators = tuple(name for name, stays in zip(annotators, kept, strict=True) if stays)
    grade_by, accept_by = grade_by[kept], accept_by[kept]
    draws = draws_of([item.item_id for item in labels.items], seed) if consensus == "pick" else None
    codes: dict[str, int] = {}
    cluster = [codes.setdefault(item.query_id, len(codes)) for item in labels.items]
    return Experts(
        target=consensus_of(grade_by, labels.scale, draws),
        target_accept=consensus_of(accept_by, None, draws),
        cluster=np.array(cluster, dtype=np.int64),
        annotators=annotators,
        grade_by=grade_by,
        accept_by=accept_by,
        adjudicators=adjudicators_of(annotators, np.concatenate([grade_by, accept_by], axis=2)),
        system=np.array(agents) if any(agents := [item.agent or "" for item in labels.items]) else None,
        draws=draws,
    )


def draws_of(keys: Sequence[str], seed: int = 0) -> FloatArray:
    """A number in [0, 1) for each key, from a hash of key and seed."""
    digests = b"".join(hashlib.blake2b(f"{seed}\0{key}".encode(), digest_size=8).digest() for key in keys)
    return np.frombuffer(digests, dtype=">u8").astype(np.float64) / 2.0**64 * (1 - 2.0**-53)


def constant_graders(annotators: Sequence[str], grade_by: IntArray, accept_by: IntArray) -> tuple[str, ...]:
    """Annotators who gave one grade for everything where others used two on the same items, from 20 items on.

    They say nothing of the items, and would pull every consensus, ceiling and agreement towards what is no opinion.
    """
    found = []
    for i, name in enumerate(annotators):
        by = accept_by if (grade_by[i] == UNLABELLED).all() else grade_by
        own = by[i] != UNLABELLED
        others = np.delete(by, i, axis=0)[:, own]
        alone = len(np.unique(by[i][own])) == 1 and own.any(axis=1).sum() >= LEAST_CONSTANT
        if alone and len(np.unique(others[others != UNLABELLED])) > 1:
            found.append(name)
    return tuple(found)


def constant_notes(labels: LabelSet, experts: Experts) -> list[str]:
    """Sentence on each annotator whom ``experts_of`` left out, with the one grade that they gave."""
    found = []
    for name in sorted({label.annotator for label in labels.labels} - {*experts.annotators}):
        own = [label for label in labels.labels if label.annotator == name]
        said = {str(labels.scale.grades[grade]) for label in own for grade in label.grades.values()} or {
            "accept" if label.accept else "reject" for label in own
        }
        seen = f"{name} gave {', '.join(said)} to all of {plural(len(own), 'item')}, where others differ"
        found.append(f"{seen}: left out of every statistic of agreement.")
    return found


def reading_notes(labels: LabelSet, experts: Experts) -> list[str]:
    """How labels were read: what the file says otherwise, in which languages, and whether grades were picked."""
    return [
        *labels.notes,
        *language_notes(languages_of(labels.items)),
        *adjudicator_notes(experts),
        *([PICKED] if experts.draws is not None else []),
    ]


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
