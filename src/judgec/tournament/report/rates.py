"""Corrects what the judge says in two optional ways: by experts on a sample of games, and for length of answers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgec.errors import UserError
from judgec.records.estimate import Estimate
from judgec.records.game import Games
from judgec.report.columns import Column, TableColumns
from judgec.report.numbers import UNKNOWN, between, number, rating, show, signed
from judgec.stats.correction.mean import MIN_CLUSTERS
from judgec.stats.rating.corrected_ratings import CorrectedRatings, corrected_ratings
from judgec.stats.rating.expert_sample import expert_points, require_random
from judgec.stats.rating.length_control import LengthControlled, length_controlled
from judgec.stats.systems.means import Cells, corrected_means
from judgec.stats.systems.rows import WIN_RATE, PairRows
from judgec.tournament.files.entries import Entries

Rows = tuple[Sequence[str], Sequence[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class RateRow:
    """An agent's points per game as judged and as experts correct them, and how far the judge was trusted."""

    agent: str
    raw: Estimate
    corrected: Estimate
    weight: float


RATES: TableColumns[RateRow] = TableColumns(
    (
        Column("agent", lambda row: row.agent, value=lambda row: row.agent, csv="agent"),
        Column(
            "judge alone",
            lambda row: show(row.raw),
            value=lambda row: row.raw,
            json=("win_rates", None, "raw"),
            metric=("win_rate", "raw", None),
        ),
        Column(value=lambda row: row.raw.value, csv="raw"),
        Column(value=lambda row: row.raw.low, csv="raw_low"),
        Column(value=lambda row: row.raw.high, csv="raw_high"),
        Column(
            "corrected",
            lambda row: show(row.corrected),
            value=lambda row: row.corrected,
            json=("win_rates", None, "corrected"),
            metric=("win_rate", "corrected", None),
        ),
        Column(value=lambda row: row.corrected.value, csv="corrected"),
        Column(value=lambda row: row.corrected.low, csv="low"),
        Column(value=lambda row: row.corrected.high, csv="high"),
        Column(
            "weight of the judge",
            lambda row: number(row.weight),
            value=lambda row: row.weight,
            csv="weight",
            json=("win_rates", None, "weight"),
        ),
    ),
    lambda row: row.agent,
)


@dataclass(frozen=True, slots=True)
class LengthRow:
    """An agent's rating at equal length; NaN where it is unknown."""

    agent: str
    rating: float
    low: float
    high: float


LENGTHS: TableColumns[LengthRow] = TableColumns(
    (
        Column("agent", lambda row: row.agent, value=lambda row: row.agent, csv="agent"),
        Column(
            "rating",
            lambda row: rating(row.rating),
            value=lambda row: row.rating,
            csv="rating",
            json=("length_controlled", None, "rating"),
            metric=("length_controlled", None),
        ),
        Column("interval", lambda row: between(row.low, row.high)),
        Column(value=lambda row: row.low, csv="low", json=("length_controlled", None, "low")),
        Column(value=lambda row: row.high, csv="high", json=("length_controlled", None, "high")),
    ),
    lambda row: row.agent,
)


@dataclass(frozen=True, slots=True)
class Corrected:
    """Points per game as judged and as experts correct them.

    Args:
        rates: Of each agent.
        ratings: As experts would give them.
        games: Games that the judge has not learned from: what the rates are about.
        labelled: Games that an expert looked at.
        sample: How they are known to be a random sample.
    """

    rates: tuple[RateRow, ...]
    ratings: CorrectedRatings
    games: int
    labelled: int
    sample: str

    def to_json(self) -> dict[str, object]:
        """Rates by agent, and the sample."""
        return {
            **RATES.json(self.rates),
            "expert_sample": {"games": self.games, "labelled": self.labelled, "random": self.sample},
        }


def correct(games: Games, labelled: Games, source: str) -> Corrected:
    """Win rates corrected by experts' preferences.

    Args:
        games: As judged, on queries that the judge has not learned from.
        labelled: As experts labelled them.
        source: Where the labels come from, for messages.

    Raises:
        UserError: When they are no random sample, or of other games.
    """
    expert = expert_points(games, labelled, source)
    sample = require_random(games, expert, source, claimed=False)
    rows = PairRows(games.query, games.a, games.b, games.agents, games.score, expert).rows
    cells = Cells.of(rows.query, rows.system, len(rows.names))
    found = corrected_means(cells, rows.measures[WIN_RATE])
    raw = found.judge.estimates(found.judge.queries >= MIN_CLUSTERS)
    both = zip(rows.names, raw, found.corrected.estimates(found.enough), strict=True)
    rates = tuple(RateRow(*one, found.weight) for one in both)
    return Corrected(rates, corrected_ratings(games, expert), len(games.a), int((~np.isnan(expert)).sum()), sample)


def equal_lengths(games: Games, entries: Entries) -> tuple[LengthControlled | None, tuple[str, ...]]:
    """Ratings at equal length in characters; or None, and why."""
    answers = entries.answers
    longer = np.array(
        [
            len(answers[games.queries[query], games.agents[a]]) - len(answers[games.queries[query], games.agents[b]])
            for query, a, b in zip(games.query.tolist(), games.a.tolist(), games.b.tolist(), strict=True)
        ],
        dtype=np.float64,
    )
    try:
        found = length_controlled(games, longer)
    except UserError as error:
        return None, (f"No length-controlled ratings: {error}",)
    return found, tuple(f"Length control: {note}" for note in found.notes)


def length_json(found: LengthControlled) -> dict[str, object]:
    """Ratings by agent, best first, and the effect of length."""
    return {**LENGTHS.json(best_first(found)), "length_effect": found.length_effect.to_json()}


def length_rows(found: LengthControlled) -> Rows:
    """Column names and rows, best agent first, the effect of length last."""
    effect = found.length_effect
    low, high = signed(effect.low, 0), signed(effect.high, 0)
    bounds = UNKNOWN if UNKNOWN in {low, high} else f"{low} .. {high}"
    columns, rows = LENGTHS.screen(best_first(found))
    return columns, [*rows, ("(a much longer answer gains)", signed(effect.value, 0), bounds)]


def lengths_of(found: LengthControlled) -> list[LengthRow]:
    """The agents' ratings at equal length as rows."""
    every = zip(found.agents, found.rating.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return [LengthRow(*one) for one in every]


def best_first(found: LengthControlled) -> list[LengthRow]:
    """The same, the highest rating first."""
    return sorted(lengths_of(found), key=lambda row: math.inf if math.isnan(row.rating) else -row.rating)
