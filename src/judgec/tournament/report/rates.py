"""Corrects what the judge says in two optional ways: by experts on a sample of games, and for length of answers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgec.errors import UserError
from judgec.records.estimate import Estimate
from judgec.records.game import Games
from judgec.stats.rating.expert_sample import expert_points, require_random
from judgec.stats.rating.length_control import LengthControlled, length_controlled
from judgec.stats.rating.prediction_powered import CorrectedRates, corrected_win_rates
from judgec.store.tournament.entries import Entries

Rows = tuple[Sequence[str], Sequence[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Corrected:
    """Points per game as judged and as experts correct them.

    Args:
        rates: By agent.
        games: Games that the judge has not learned from: what the rates are about.
        labelled: Games that an expert looked at.
        sample: How they are known to be a random sample.
    """

    rates: CorrectedRates
    games: int
    labelled: int
    sample: str

    def to_json(self) -> dict[str, object]:
        """Rates by agent, and the sample."""
        rates = self.rates
        return {
            "win_rates": {
                agent: {
                    "raw": rates.raw[i].to_json(),
                    "corrected": rates.corrected[i].to_json(),
                    "weight": _number(rates.weight[i]),
                }
                for i, agent in enumerate(rates.agents)
            },
            "expert_sample": {"games": self.games, "labelled": self.labelled, "random": self.sample},
        }


def correct(games: Games, labelled: Games, source: str, *, claimed: bool, seed: int) -> Corrected:
    """Win rates corrected by experts' preferences.

    Args:
        games: As judged, on queries that the judge has not learned from.
        labelled: As experts labelled them.
        source: Where the labels come from, for messages.
        claimed: The user's word that they are a random sample, where it cannot be seen.
        seed: Of the test whether they look like one.

    Raises:
        UserError: When they are no random sample, or of other games.
    """
    expert = expert_points(games, labelled, source)
    sample = require_random(games, expert, source, claimed=claimed, seed=seed)
    rates = corrected_win_rates(games, expert, random_sample=True)
    return Corrected(rates, len(games.a), int((~np.isnan(expert)).sum()), sample)


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
    return {
        "length_controlled": {
            found.agents[i]: {
                "rating": _number(found.rating[i]),
                "low": _number(found.low[i]),
                "high": _number(found.high[i]),
            }
            for i in _best_first(found)
        },
        "length_effect": found.length_effect.to_json(),
    }


def length_rows(found: LengthControlled) -> Rows:
    """Column names and rows, best agent first, the effect of length last."""
    rows = [
        (found.agents[i], _text(found.rating[i]), f"{_text(found.low[i])} .. {_text(found.high[i])}")
        for i in _best_first(found)
    ]
    effect = found.length_effect
    bounds = "-" if effect.low is None or effect.high is None else f"{effect.low:+.0f} .. {effect.high:+.0f}"
    value = "-" if effect.value is None else f"{effect.value:+.0f}"
    return ("agent", "rating", "interval"), [*rows, ("(a much longer answer gains)", value, bounds)]


def rate_rows(rates: CorrectedRates) -> Rows:
    """Column names and rows: raw, corrected and how far the judge was trusted."""
    rows = [
        (agent, _share(rates.raw[i]), _share(rates.corrected[i]), _text(rates.weight[i], 2))
        for i, agent in enumerate(rates.agents)
    ]
    return ("agent", "judge alone", "corrected", "weight of the judge"), rows


def _best_first(found: LengthControlled) -> list[int]:
    return [int(i) for i in np.argsort(-np.nan_to_num(found.rating, nan=-math.inf), kind="stable")]


def _share(found: Estimate) -> str:
    if found.value is None:
        return "-"
    bounds = "" if found.low is None or found.high is None else f" [{found.low:.2f}, {found.high:.2f}]"
    return f"{found.value:.2f}{bounds}"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _text(value: float, digits: int = 0) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"
