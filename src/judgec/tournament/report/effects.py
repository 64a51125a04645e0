"""Estimates the effect of each setting of the agents, over pairs of agents that differ in it alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from judgec.records.estimate import Estimate
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import shown
from judgec.report.numbers import p_value, show
from judgec.stats.intervals.significance import holm
from judgec.stats.rating.ratings import Ratings
from judgec.tournament.report.aspects import ALPHA, Grader, Scores, aspect_tests

ELO = "Elo"  # the measure beside the aspects
Settings = Mapping[str, Mapping[str, str]]
"""By agent: its value of each setting."""


@dataclass(frozen=True, slots=True)
class MainEffect:
    """Effect of a setting that goes from one value to another while all others stay.

    Args:
        setting: Its name.
        levels: From, to.
        measure: ``Elo``, or the aspect that was scored.
        grader: Whose verdicts.
        difference: Mean over the pairs, second value less first, with an interval over queries.
        p: That it is 0; None where it is undefined.
        pairs: Of agents that differ in this setting alone.
        p_holm: After Holm's correction for all effects on this measure.
    """

    setting: str
    levels: tuple[str, str]
    measure: str
    grader: Grader
    difference: Estimate
    p: float | None
    pairs: int
    p_holm: float | None = None

    @property
    def name(self) -> str:
        """``chunk 500 → 1000``."""
        return f"{self.setting} {self.levels[0]} → {self.levels[1]}"

    @property
    def digits(self) -> int:
        """After the point."""
        return 0 if self.measure == ELO else 2

    @property
    def found(self) -> bool:
        """It is shown to be other than 0, at 5 % among all effects on this measure."""
        return self.p_holm is not None and self.p_holm <= ALPHA

    def to_json(self) -> dict[str, object]:
        """As JSON-ready data."""
        return {
            "setting": self.setting,
            "from": self.levels[0],
            "to": self.levels[1],
            "measure": self.measure,
            "grader": self.grader,
            "difference": self.difference.to_json(),
            "p": self.p,
            "p_holm": self.p_holm,
            "pairs": self.pairs,
        }


COLUMNS: TableColumns[MainEffect] = TableColumns(
    (
        Column("setting", lambda one: one.setting, value=lambda one: one.setting, csv="setting"),
        Column("from → to", lambda one: " → ".join(one.levels)),
        Column(value=lambda one: one.levels[0], csv="from"),
        Column(value=lambda one: one.levels[1], csv="to"),
        Column("measure", lambda one: one.measure, value=lambda one: one.measure, csv="measure"),
        Column("grader", lambda one: one.grader, value=lambda one: one.grader, csv="grader"),
        Column(
            "difference [95 %]",
            lambda one: show(one.difference, one.digits, sign=True),
            value=lambda one: one.difference.value,
            csv="difference",
            cell=lambda one: shown(one.difference, one.digits, sign=True),
        ),
        Column(value=lambda one: one.difference.low, csv="low"),
        Column(value=lambda one: one.difference.high, csv="high"),
        Column("p", lambda one: p_value(one.p_holm), value=lambda one: one.p_holm, csv="p_holm"),
        Column(value=lambda one: one.p, csv="p"),
        Column("pairs", lambda one: str(one.pairs), value=lambda one: one.pairs, csv="pairs"),
    )
)
"""The table on screen, page and in CSV; p as shown is after Holm's correction."""


def main_effects(settings: Settings, ratings: Ratings, graders: Mapping[Grader, Scores]) -> tuple[MainEffect, ...]:
    """The effect of every two values of every setting, on Elo and on the score of each aspect.

    A setting's effect is the mean over pairs of agents whose other settings are equal, so that in a grid with gaps it
    is not mixed with theirs. Queries are the sample: a query's difference is the mean of its pairs, and a query on
    which one of these agents has no score is left out of the scores.

    Args:
        settings: Of each agent; agents without any are in no pair.
        ratings: Of all agents.
        graders: Scores by query and agent, of each who graded.
    """
    found: list[MainEffect] = []
    for setting, levels, firsts, seconds in _contrasts(settings):
        effect = MainEffect(setting, levels, ELO, "judge", *ratings.mean_difference(seconds, firsts), len(firsts))
        found.append(effect)
        for grader, scores in graders.items():
            sides = {levels[1]: seconds, levels[0]: firsts}
            found += [
                MainEffect(setting, levels, test.aspect, grader, test.difference, test.t.p, len(firsts))
                for test in aspect_tests(scores, sides, grader=grader, pooled=True)
            ]
    measures = dict.fromkeys((one.measure, one.grader) for one in found)
    return tuple(one for measure in measures for one in _corrected(found, measure))


def _contrasts(settings: Settings) -> Iterator[tuple[str, tuple[str, str], list[str], list[str]]]:
    """Each setting, two of its values, and the agents that differ in it alone, in pairs."""
    for setting in dict.fromkeys(name for own in settings.values() for name in own):
        by_rest: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        for agent, own in settings.items():
            if setting in own:
                rest = tuple(sorted((name, value) for name, value in own.items() if name != setting))
                by_rest.setdefault(rest, {})[own[setting]] = agent
        levels = dict.fromkeys(own[setting] for own in settings.values() if setting in own)
        for first, second in combinations(levels, 2):
            pairs = [(alike[first], alike[second]) for alike in by_rest.values() if first in alike and second in alike]
            if pairs:
                yield setting, (first, second), [one for one, _ in pairs], [other for _, other in pairs]


def _corrected(effects: Sequence[MainEffect], measure: tuple[str, Grader]) -> list[MainEffect]:
    own = [one for one in effects if (one.measure, one.grader) == measure]
    adjusted = holm(np.array([np.nan if one.p is None else one.p for one in own], dtype=np.float64))
    return [replace(one, p_holm=None if np.isnan(p) else float(p)) for one, p in zip(own, adjusted, strict=True)]


def effects_sentence(effects: Sequence[MainEffect]) -> str:
    """Sentence on the settings that were shown to matter, on Elo; empty without an effect."""
    elo = [one for one in effects if one.measure == ELO]
    shown_to_matter = [f"{one.name} {show(one.difference, 0, sign=True)}" for one in elo if one.found]
    matter = {one.setting for one in elo if one.found}
    rest = [name for name in dict.fromkeys(one.setting for one in elo) if name not in matter]
    parts = [f"What mattered (Elo, 5 % among all): {'; '.join(shown_to_matter)}." if shown_to_matter else ""]
    parts += [f"Not shown to matter: {', '.join(rest)}." if rest else ""]
    return " ".join(filter(None, parts))


def unpaired(settings: Settings) -> tuple[str, ...]:
    """Settings whose effect cannot be told, because no two agents differ in one of them alone."""
    varied = [
        name
        for name in dict.fromkeys(name for own in settings.values() for name in own)
        if len({own[name] for own in settings.values() if name in own}) > 1
    ]
    paired = {setting for setting, *_ in _contrasts(settings)}
    return tuple(name for name in varied if name not in paired)
