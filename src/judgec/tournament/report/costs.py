"""Adds what agents' answers took to the leaderboard: latency, tokens, dollars."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, median

from judgec.store.tournament.entries import Entries

COLUMNS = ("median ms", "tokens a query", "$")  # for people
CSV_COLUMNS = ("median_latency_ms", "tokens_per_query", "usd")
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


def cost_cells(costs: Mapping[str, AgentCost], agent: str, unknown: str = "-") -> tuple[str, ...]:
    """An agent's cells below ``COLUMNS``; none where nothing is known of any agent."""
    if not costs:
        return ()
    latency, tokens, usd = cost_numbers(costs, agent)
    return _text(latency, 1, unknown), _text(tokens, 0, unknown), _text(usd, 4, unknown)


def cost_numbers(costs: Mapping[str, AgentCost], agent: str) -> tuple[float | None, ...]:
    """An agent's numbers below ``CSV_COLUMNS``: median ms, mean tokens a query, dollars in all; None where unknown."""
    if agent not in costs:
        return None, None, None
    cost = costs[agent]
    return None if cost.median_seconds is None else 1e3 * cost.median_seconds, cost.tokens, cost.usd_total


def _text(value: float | None, digits: int, unknown: str) -> str:
    return unknown if value is None else f"{value:.{digits}f}"
