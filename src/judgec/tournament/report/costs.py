"""Adds what agents' answers took to the leaderboard: latency, tokens, dollars."""

from dataclasses import dataclass
from statistics import fmean, median

from judgec.report.columns import Column, TableColumns
from judgec.report.numbers import money, points
from judgec.tournament.files.entries import Entries

NOTE = "Median ms: latency of answers made anew, waiting for a free slot aside; $: of all of the agent's answers."


@dataclass(frozen=True, slots=True)
class AgentCost:
    """One agent's answers.

    Args:
        answers: How many say what they took.
        median_seconds: Latency of those that were answered anew, or None.
        tokens: Mean of prompt and reply, or None.
        usd: Mean dollars; None where the price of one is unknown.
        usd_total: Their sum, likewise.
    """

    answers: int
    median_seconds: float | None
    tokens: float | None
    usd: float | None
    usd_total: float | None


def agent_costs(entries: Entries) -> dict[str, AgentCost]:
    """By agent, sorted; agents whose answers say nothing are absent."""
    found: dict[str, AgentCost] = {}
    for agent in entries.agents:
        own = [cost for (_, name), cost in entries.costs.items() if name == agent]
        if not own:
            continue
        seconds = [cost.seconds for cost in own if cost.seconds is not None]
        tokens = [cost.tokens for cost in own if cost.tokens is not None]
        usd = [cost.usd for cost in own if cost.usd is not None]
        priced = bool(usd) and len(usd) == len(own)
        found[agent] = AgentCost(
            answers=len(own),
            median_seconds=median(seconds) if seconds else None,
            tokens=fmean(tokens) if tokens else None,
            usd=fmean(usd) if priced else None,
            usd_total=sum(usd) if priced else None,
        )
    return found


def _milliseconds(cost: AgentCost | None) -> float | None:
    return None if cost is None or cost.median_seconds is None else 1e3 * cost.median_seconds


COSTS: TableColumns[AgentCost | None] = TableColumns(
    (
        Column(
            "median ms",
            lambda cost: points(_milliseconds(cost)),
            value=_milliseconds,
            csv="median_latency_ms",
        ),
        Column(
            "tokens a query",
            lambda cost: points(None if cost is None else cost.tokens, 0),
            value=lambda cost: None if cost is None else cost.tokens,
            csv="tokens_per_query",
        ),
        Column(
            "$",
            lambda cost: "none" if cost and cost.usd_total == 0 else money(None if cost is None else cost.usd_total),
            value=lambda cost: None if cost is None else cost.usd_total,
            csv="usd",
        ),
    )
)


def costs_json(entries: Entries) -> dict[str, dict[str, float | None]]:
    """For ``report.json``."""
    return {
        agent: {
            "answers": cost.answers,
            "median_seconds": cost.median_seconds,
            "tokens_per_answer": cost.tokens,
            "usd_per_answer": cost.usd,
            "usd_total": cost.usd_total,
        }
        for agent, cost in agent_costs(entries).items()
    }
