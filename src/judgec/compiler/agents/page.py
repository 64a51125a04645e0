"""``report.html`` of a compiled agent: it and the uncompiled one, head to head."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from judgec.compiler.agents.compile import AgentCompile, CompiledAgent
from judgec.compiler.agents.duel import NET, Duel
from judgec.compiler.pipeline import CHAMPION, COMPILED, UNCOMPILED
from judgec.records.card import ProgramCard
from judgec.records.estimate import Estimate
from judgec.report import kit
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import cut, interval_bar, shown, table
from judgec.report.numbers import count, dollars, number, show, signed
from judgec.report.page.prompt import prompt_lines, prompt_section
from judgec.store.programs import dump_module
from judgec.store.splits import SPLITS

MOST_QUERIES = 50  # shown in full, those first where the two agents differ most
MOST_ANSWER = 4000  # characters
AGENTS = (COMPILED, UNCOMPILED)
WHO = {UNCOMPILED: "uncompiled", COMPILED: "compiled", CHAMPION: "the champion before it"}


def agent_page(found: CompiledAgent, met: Duel | None, settings: AgentCompile, card: ProgramCard) -> str:
    """The page as HTML: no script, nothing loaded from elsewhere, every text of users escaped.

    Args:
        found: The outcome.
        met: Head to head, or None without a judge.
        settings: What was asked for.
        card: Of the version as saved.
    """
    start, now = (prompt_lines(dump_module(module)) for module in (found.start, found.chosen.module))
    detectable = found.verdict.detectable
    return kit.page(
        "agent.html",
        {
            "name": f"{card.name}@{card.version}",
            "what": " · ".join(
                [str(card.settings["agent"]), card.engine or str(card.lm.get("model", "")), card.created]
            ),
            "stamps": _stamps(card),
            "promoted": card.promoted,
            "reason": card.reason,
            "detectable": None if detectable is None else number(detectable),
            "duel": None if met is None else _duel(met),
            "metric": card.settings["metric"],
            "n_queries": len(found.parts["test"]),
            "scores": _scores(found, settings),
            "prompts": _prompts(found),
            "queries": _queries(found),
            "prompt": prompt_section(now, start, "the uncompiled agent"),
            "data": _facts(found, card),
            "notes": found.notes,
        },
    )


def _stamps(card: ProgramCard) -> list[str]:
    stamps = []
    if card.labels == "constructed":
        stamps.append("CONSTRUCTED LABELS. No expert stands behind the metric.")
    if not card.promoted:
        stamps.append("NOT PROMOTED. This version was not shown to be better than what there was.")
    return stamps


GAMES: TableColumns[Duel] = TableColumns(
    (
        Column("wins", lambda met: str(met.wins)),
        Column("losses", lambda met: str(met.losses)),
        Column("ties", lambda met: str(met.ties)),
        Column("unscored", lambda met: str(met.unscored)),
        Column("net", lambda met: show(met.net), cell=lambda met: shown(met.net)),
        Column("-1 to 1", cell=lambda met: interval_bar(met.net, NET[0], NET[1], line=0.0)),
    )
)


def _duel(met: Duel) -> dict[str, object]:
    head, rows = GAMES.page([met])
    means = [[WHO.get(name, name), shown(mean)] for name, mean in met.means.items()]
    means += [] if met.difference is None else [["difference", shown(met.difference)]]
    return {
        "judge": met.judge,
        "independent": met.independent,
        "games": table(head, rows, "duel", label="Games of the compiled agent against the uncompiled one"),
        "means": table(["agent", "mean score"], means, "narrow", label="Mean scores by the judge") if means else None,
    }


def _scores(found: CompiledAgent, settings: AgentCompile) -> Markup:
    means = {name: found.found.mean_value(name, settings.pipeline.resampling) for name in found.scores}
    rows = [_row(WHO.get(name, name), mean, (0.0, 1.0), None) for name, mean in means.items()]
    verdict = found.verdict
    rows.append(_row(f"compiled minus {verdict.rival}", verdict.difference, (-1.0, 1.0), 0.0))
    return table(["agent", "mean score", ""], rows, "agents", label="Mean scores on the test queries")


def _prompts(found: CompiledAgent) -> Markup:
    tried = [
        [name, number(value) + (" (chosen)" if name == found.chosen.name else "")] for name, value in found.dev.items()
    ]
    return table(["prompt", "mean on dev"], tried, "narrow", label="Prompts that were tried")


def _row(name: str, estimate: Estimate, axis: tuple[float, float], line: float | None) -> list[str]:
    return [name, shown(estimate), interval_bar(estimate, *axis, line=line)]


@dataclass(frozen=True, slots=True)
class ScoredCard:
    """An agent's answer to a test query, what it scored, and why; no text where there is no answer."""

    who: str
    value: str
    text: Markup | None
    reason: str


def _queries(found: CompiledAgent) -> dict[str, object]:
    """The test answers side by side, those first that differ most; equal ones in the order of the queries."""
    ours, theirs = found.scores[COMPILED], found.scores[UNCOMPILED]
    gains = [one.counted - other.counted for one, other in zip(ours, theirs, strict=True)]
    order = sorted(range(len(gains)), key=lambda place: -abs(gains[place]))
    queries = found.parts["test"]
    blocks = [
        (signed(gains[place]), cut(queries[place].text, 200), [_card(found, who, place) for who in AGENTS])
        for place in order[:MOST_QUERIES]
    ]
    return {"blocks": blocks, "more": len(order) - len(blocks)}


def _card(found: CompiledAgent, who: str, place: int) -> ScoredCard:
    answer, score = found.answers[who][place], found.scores[who][place]
    text = None if answer.text is None else cut(answer.text, MOST_ANSWER)
    value = "unscored" if score.value is None else number(score.value)
    return ScoredCard(WHO[who], value, text, answer.error or score.reason)


def _facts(found: CompiledAgent, card: ProgramCard) -> Markup:
    cost = card.cost
    rows: Sequence[tuple[str, str]] = [
        *((name, f"{count(len(found.parts[name]))} queries") for name in SPLITS),
        ("test split SHA-256", card.split_digest),
        *((name, str(value)) for name, value in card.settings.items()),
        ("model", str(card.lm.get("model", ""))),
        ("optimizer", card.optimizer),
        ("seed", str(card.seed)),
        ("look at the test split", str(card.looks)),
        ("cost", f"{count(cost.lm_calls)} LM calls, {dollars(cost.usd)}, {cost.seconds:.0f} s"),
        ("made with", ", ".join(f"{name} {version}" for name, version in card.versions.items())),
    ]
    return table(["", ""], [[name, value] for name, value in rows if value], "facts", label="Data and cost")
