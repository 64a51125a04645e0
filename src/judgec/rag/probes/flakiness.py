"""Tells how often a system's verdict changes when the same question is asked again."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgec.rag.probes.report.totals import TOTALS_OF, TotalOf
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.scenario.outcome import Outcome, Probed
from judgec.report.columns import Column, TableColumns
from judgec.report.numbers import count, show_percent
from judgec.stats.intervals.proportion import share


@dataclass(frozen=True, slots=True)
class Asked:
    """One question put to one system several times.

    Args:
        first: What became of it the first time.
        outcomes: Of each time, in order.
        answers: How many different answers there were; replies without one count as one.
    """

    first: Probed
    outcomes: tuple[Outcome, ...]
    answers: int

    @property
    def judged(self) -> bool:
        """True if every time has a verdict; an error is one: the system did not answer."""
        return "unscored" not in self.outcomes

    @property
    def changed(self) -> bool:
        """True if the verdicts differ."""
        return len(set(self.outcomes)) > 1

    def to_json(self) -> dict[str, object]:
        """For ``report.json``."""
        verdict = self.first.verdict
        return {
            "query_id": verdict.query_id,
            "query": self.first.question.query,
            "system": verdict.system,
            "data_set": verdict.data_set,
            "scenario": verdict.scenario,
            "outcomes": list(self.outcomes),
            "answers": self.answers,
        }


@dataclass(frozen=True, slots=True)
class Flaky:
    """The questions of one system, of one scenario, of one data set, or all.

    Args:
        by: What they have in common.
        name: Its name; empty of all.
        changed: Share of them whose verdict changed, with an interval over source documents.
        verdicts_changed: How many that are.
        answers_changed: How many were answered in other words at least once, whatever the verdict.
        n: How many had a verdict each time.
        unscored: How many had none at least once: in no share.
    """

    by: TotalOf
    name: str
    changed: Estimate
    verdicts_changed: int
    answers_changed: int
    n: int
    unscored: int

    @property
    def shown(self) -> str:
        """Name for people."""
        return "all" if self.by == "overall" else f"{self.by.replace('_', ' ')} {self.name}"

    def to_json(self) -> dict[str, object]:
        """For ``report.json``."""
        counts = {name: getattr(self, name) for name in ("verdicts_changed", "answers_changed", "n", "unscored")}
        return {"changed": self.changed.to_json(), **counts}


FLAKY: TableColumns[Flaky] = TableColumns(
    (
        Column("", lambda one: one.shown),
        Column("verdict changes", lambda one: show_percent(one.changed)),
        Column("questions", lambda one: f"{one.verdicts_changed} of {one.n}"),
        Column("other words", lambda one: str(one.answers_changed)),
        Column("unscored", lambda one: str(one.unscored)),
    )
)


@dataclass(frozen=True, slots=True)
class Flakiness:
    """Result of asking again.

    Args:
        repeat: How often each question was asked.
        shares: Of all, then by scenario, data set and system.
        changing: The questions whose verdict changed, in the order asked.
    """

    repeat: int
    shares: tuple[Flaky, ...]
    changing: tuple[Asked, ...]

    @property
    def verdict(self) -> str:
        """A sentence for the report."""
        overall = self.shares[0]
        if not overall.n:
            return f"Asked {plural(self.repeat, 'time')}, no question had a verdict each time."
        said = "none" if not overall.verdicts_changed else count(overall.verdicts_changed)
        return (
            f"Asked {plural(self.repeat, 'time')}, {said} of {count(overall.n)} questions changed their verdict: "
            f"{show_percent(overall.changed)}."
        )

    def to_json(self) -> dict[str, object]:
        """The ``flakiness`` of ``report.json``."""
        return {
            "repeat": self.repeat,
            **{
                by: {one.name: one.to_json() for one in self.shares if one.by == by}
                if by != "overall"
                else self.shares[0].to_json()
                for by in TOTALS_OF
            },
            "changing": [one.to_json() for one in self.changing],
        }


def flakiness(takes: Sequence[Sequence[Probed]]) -> Flakiness:
    """Compare the verdicts of the same questions, asked several times.

    Args:
        takes: Each time what became of every question put to every system, in one order; at least two times and one
            question.
    """
    asked = [_asked(times) for times in zip(*takes, strict=True)]
    groups: dict[tuple[TotalOf, str], list[Asked]] = {("overall", ""): asked}
    for by in TOTALS_OF[1:]:
        for one in asked:
            groups.setdefault((by, getattr(one.first.verdict, by)), []).append(one)
    shares = tuple(_flaky(by, name, group) for (by, name), group in groups.items())
    return Flakiness(len(takes), shares, tuple(one for one in asked if one.judged and one.changed))


def _asked(times: Sequence[Probed]) -> Asked:
    return Asked(times[0], tuple(one.verdict.outcome for one in times), len({one.reply.answer for one in times}))


def _flaky(by: TotalOf, name: str, group: Sequence[Asked]) -> Flaky:
    judged = [one for one in group if one.judged]
    sources = [(one.first.verdict.data_set, one.first.verdict.source) for one in judged]
    codes = {source: code for code, source in enumerate(dict.fromkeys(sources))}
    changed = np.array([one.changed for one in judged], dtype=np.int64)
    return Flaky(
        by=by,
        name=name,
        changed=share(changed, np.array([codes[source] for source in sources], dtype=np.int64)),
        verdicts_changed=int(changed.sum()),
        answers_changed=sum(1 for one in judged if one.answers > 1),
        n=len(judged),
        unscored=len(group) - len(judged),
    )
