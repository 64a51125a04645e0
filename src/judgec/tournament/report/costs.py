"""What each agent's answers took: latency, tokens, dollars."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean, median

from judgec.store.tournament.entries import Entries

COLUMNS = ("agent", "median s", "tokens an answer", "$ an answer", "$ in all")


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


def cost_rows(entries: Entries) -> tuple[Sequence[str], Sequence[tuple[str, ...]]]:
    """Column names and rows for the screen."""
    rows = [
        (agent, _text(cost.median_seconds, 3), _text(cost.tokens, 0), _text(cost.usd, 5), _text(cost.usd_total, 4))
        for agent, cost in agent_costs(entries).items()
    ]
    return COLUMNS, rows


def costs_section(entries: Entries) -> str:
    """For the page; empty where nothing is known."""
    columns, rows = cost_rows(entries)
    if not rows:
        return ""
    head = "".join(f"<th scope=col>{name}" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}' for cell in row)}" for row in rows)
    return (
        "<section><h2>What an answer took</h2><p class=quiet>Latency of answers made anew, waiting for a free slot "
        f"aside.</p><div class=wide><table><thead><tr>{head}</thead><tbody>{body}</tbody></table></div></section>"
    )


def _text(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
