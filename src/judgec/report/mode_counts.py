"""Counts failure modes in labels: how often each annotator sees each, and which of them come together."""

from itertools import combinations
from typing import TypedDict

import numpy as np

from judgec.records.label import UNLABELLED, Experts, IntArray, LabelSet
from judgec.records.tasks.registry import finds_modes
from judgec.stats.intervals.proportion import share

RateOf = dict[str, float | str | None]


class ModeRate(TypedDict):
    """Rate of a mode: seen in ``present`` of ``of`` labels; ``rate`` with its interval over queries."""

    present: int
    of: int
    rate: RateOf


class ModeRates(TypedDict):
    """A mode as the consensus has it, and as each annotator does."""

    mode: str
    consensus: ModeRate
    annotators: dict[str, ModeRate]


class ModePair(TypedDict):
    """Two modes on the ``of`` items that have a consensus for both: how many show both, one, the other.

    ``lift`` is how many times as often they come together as they would if one said nothing of the other; None where
    one of them is in no item.
    """

    modes: list[str]
    both: int
    first: int
    second: int
    of: int
    lift: float | None


class ModeCounts(TypedDict):
    """The JSON of ``labels --json`` under ``modes``; ``shown`` counts items by how many modes they show, where all are
    labelled.
    """

    rates: list[ModeRates]
    together: list[ModePair]
    shown: dict[str, int]


def mode_counts(labels: LabelSet, experts: Experts) -> ModeCounts | None:
    """The counts, None where the labels are of no modes.

    Args:
        labels: As read.
        experts: The same as arrays.
    """
    if not finds_modes(labels.task):
        return None
    grade, cluster = experts.grade, experts.cluster
    rates: list[ModeRates] = [
        {
            "mode": mode,
            "consensus": _rate(grade[:, j], cluster),
            "annotators": {
                name: _rate(by, cluster) for name, by in zip(experts.annotators, experts.grade_by[:, :, j], strict=True)
            },
        }
        for j, mode in enumerate(labels.aspects)
    ]
    whole = grade[(grade != UNLABELLED).all(axis=1)]
    found, counts = np.unique(whole.sum(axis=1), return_counts=True)
    return {
        "rates": rates,
        "together": [
            _together(grade[:, [i, j]], [labels.aspects[i], labels.aspects[j]])
            for i, j in combinations(range(len(labels.aspects)), 2)
        ],
        "shown": {str(number): int(count) for number, count in zip(found.tolist(), counts.tolist(), strict=True)},
    }


def _rate(grade: IntArray, cluster: IntArray) -> ModeRate:
    known = grade != UNLABELLED
    said = (grade[known] == 1).astype(np.int64)
    return {"present": int(said.sum()), "of": len(said), "rate": share(said, cluster[known]).to_json()}


def _together(grade: IntArray, modes: list[str]) -> ModePair:
    known = grade[(grade != UNLABELLED).all(axis=1)]
    first, second = known.sum(axis=0).tolist()
    both = int(known.all(axis=1).sum())
    lift = both * len(known) / (first * second) if first and second else None
    return {"modes": modes, "both": both, "first": first, "second": second, "of": len(known), "lift": lift}
