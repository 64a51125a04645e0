"""Checks ``--max-failure``: whether a failure rate is shown to be no higher than a bound."""

from collections.abc import Sequence
from dataclasses import dataclass

from judgec.errors import UserError
from judgec.rag.probes.report.summary import Summary
from judgec.records.counts import plural
from judgec.report.numbers import number, short
from judgec.stats.intervals.gate import GateVerdict


@dataclass(frozen=True, slots=True)
class Limit:
    """The highest failure rate of a scenario; an empty scenario means every one."""

    scenario: str
    most: float


def parse_limits(texts: Sequence[str], known: Sequence[str]) -> tuple[Limit, ...]:
    """Limits from ``S4=0.3``, or ``0.3`` for every scenario; several may be joined by commas.

    Raises:
        UserError: Not of that form, not a share, or a scenario that is not asked.
    """
    limits = []
    for text in (part.strip() for joined in texts for part in joined.split(",")):
        name, _, number = text.rpartition("=")
        try:
            most = float(number)
        except ValueError:
            most = -1.0
        if not 0 <= most <= 1 or (name and name not in known):
            raise UserError(
                f"--max-failure {text}: SCENARIO=SHARE is needed, of a scenario that is asked ({', '.join(known)}) and "
                "a share between 0 and 1. For example --max-failure S4=0.3."
            )
        limits.append(Limit(name, most))
    return tuple(limits)


def outcome(summary: Summary, limits: Sequence[Limit], asked: Sequence[str] = ()) -> GateVerdict:
    """``passed``: no breach; ``failed``: a failure rate is shown to be above its limit; else ``not shown``.

    Args:
        summary: As ``breaches``.
        limits: As ``breaches``.
        asked: As ``breaches``.
    """
    own = {limit.scenario: limit.most for limit in limits}
    above = [
        cell.at_worst.low is not None and cell.at_worst.low > own.get(cell.scenario, own.get("", 1.0))
        for cell in summary.cells
    ]
    if any(above):
        return "failed"
    return "not shown" if breaches(summary, limits, asked) else "passed"


def breaches(summary: Summary, limits: Sequence[Limit], asked: Sequence[str] = ()) -> list[str]:
    """A sentence for each cell whose upper bound is above its limit; errors and unscored replies count as failures.

    A limit of a scenario beats one of all. A scenario that no question could be made for has shown nothing either.

    Args:
        summary: Of the probe.
        limits: From ``parse_limits``.
        asked: The scenarios that a limit of all is for.
    """
    own = {limit.scenario: limit.most for limit in limits}
    found = []
    for cell in summary.cells:
        most = own.get(cell.scenario, own.get(""))
        high = cell.at_worst.high
        if most is not None and (high is None or high > most):
            bound = "unknown" if high is None else number(high)
            found.append(
                f"{cell.scenario} x {cell.system} x {cell.data_set}: the failure rate may be as high as {bound} "
                f"({plural(cell.failures, 'failure')}, {plural(cell.errors, 'error')}, {cell.unscored} unscored of "
                f"{cell.n + cell.errors + cell.unscored}); at most {short(most)} was asked for"
            )
    there = {(cell.scenario, cell.data_set) for cell in summary.cells}
    limited = dict.fromkeys([*(asked if "" in own else ()), *filter(None, own)])
    return found + [
        f"{scenario} x {data_set}: no question was asked, so nothing is shown; at most "
        f"{short(own.get(scenario, own.get('')))} was asked for"
        for scenario in limited
        for data_set in dict.fromkeys(cell.data_set for cell in summary.cells)
        if (scenario, data_set) not in there
    ]
