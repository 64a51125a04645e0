"""Counts failure modes in labels: how often each annotator sees each, and which of them come together."""

from itertools import combinations
from typing import TypedDict

import numpy as np

from judgec.records.consensus import accept_rate_of
from judgec.records.counts import tidy
from judgec.records.label import UNLABELLED, Experts, FloatArray, IntArray, LabelSet
from judgec.records.tasks.registry import finds_modes
from judgec.stats.intervals.proportion import share

RateOf = dict[str, float | str | None]


class ModeRate(TypedDict):
    """Rate of a mode: seen in ``present`` of ``of`` labels; ``rate`` with its interval over queries."""

    present: float
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
    both: float
    first: float
    second: float
    of: int
    lift: float | None


class ModeCounts(TypedDict):
    """The JSON of ``labels --json`` under ``modes``; ``shown`` counts items by how many modes they show, where all are
    labelled.
    """

    rates: list[ModeRates]
    together: list[ModePair]
    shown: dict[str, float]


def mode_counts(labels: LabelSet, experts: Experts) -> ModeCounts | None:
    """The counts, None where the labels are of no modes.

    Args:
        labels: As read.
        experts: The same as arrays.
    """
    if not finds_modes(labels.task):
        return None
    shown, cluster = accept_rate_of(experts.target), experts.cluster  # the part of an item that shows each mode
    rates: list[ModeRates] = [
        {
            "mode": mode,
            "consensus": _rate(shown[:, j], cluster),
            "annotators": {
                name: _rate(np.where(by == UNLABELLED, np.nan, by), cluster)
                for name, by in zip(experts.annotators, experts.grade_by[:, :, j], strict=True)
            },
        }
        for j, mode in enumerate(labels.aspects)
    ]
    whole = shown[~np.isnan(shown).any(axis=1)]  # the lower label of each mode in one half of the item, else the upper
    halves = [np.bincount(by.sum(axis=1), minlength=len(labels.aspects) + 1) for by in (whole == 1, whole > 0)]
    counts = (halves[0] + halves[1]) / 2.0
    return {
        "rates": rates,
        "together": [
            _together(shown[:, [i, j]], [labels.aspects[i], labels.aspects[j]])
            for i, j in combinations(range(len(labels.aspects)), 2)
        ],
        "shown": {str(number): tidy(count) for number, count in enumerate(counts.tolist()) if count},
    }


def _rate(shown: FloatArray, cluster: IntArray) -> ModeRate:
    known = ~np.isnan(shown)
    said = shown[known]
    return {"present": tidy(float(said.sum())), "of": len(said), "rate": share(said, cluster[known]).to_json()}


def _together(shown: FloatArray, modes: list[str]) -> ModePair:
    known = shown[~np.isnan(shown).any(axis=1)]
    first, second = known.sum(axis=0).tolist()
    both = float(known.min(axis=1).sum())
    lift = both * len(known) / (first * second) if first and second else None
    counts = [tidy(one) for one in (both, first, second)]
    return {"modes": modes, "both": counts[0], "first": counts[1], "second": counts[2], "of": len(known), "lift": lift}
