"""``report.html`` of a compiled agent: it and the uncompiled one."""

from collections.abc import Sequence

from markupsafe import Markup

from judgec.compile.agents.compile import AgentCompile, CompiledAgent
from judgec.compile.pipeline import CHAMPION, COMPILED, UNCOMPILED
from judgec.labels.split.family import SPLITS
from judgec.raters.predictors import saved_prompts
from judgec.records.card import ProgramCard
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.report import kit
from judgec.report.cases import BrowsedCase, CaseSide
from judgec.report.items import WORDS, embedded
from judgec.report.kit import interval_bar, shown, table
from judgec.report.numbers import count, dollars, number, signed
from judgec.report.page.prompt import prompt_lines, prompt_section

TERMS = WORDS | {
    "intro": "What compiling gained or lost at each test query, the largest changes first.",
    "differ": "changes",
    "rater": "Agent",
    "group": "Change",
    "far": "largest change",
}
AGENTS = (COMPILED, UNCOMPILED)
WHO = {UNCOMPILED: "uncompiled", COMPILED: "compiled", CHAMPION: "the champion before it"}


def agent_page(found: CompiledAgent, settings: AgentCompile, card: ProgramCard) -> str:
    """The page as HTML: no script but the kit's, nothing loaded from elsewhere, every text of users escaped.

    Args:
        found: The outcome.
        settings: What was asked for.
        card: Of the version as saved.
    """
    start, now = (prompt_lines(saved_prompts(module)) for module in (found.start, found.chosen.module))
    detectable, name = found.verdict.detectable, f"{card.name}@{card.version}"
    return kit.page(
        "agent.html",
        {
            "name": name,
            "what": " · ".join(
                [str(card.settings["agent"]), card.engine or str(card.lm.get("model", "")), card.created]
            ),
            "stamps": _stamps(card),
            "promoted": card.promoted,
            "verdict": f"{name} {'was' if card.reason.startswith('never') else 'is'} {card.reason}.",
            "detectable": None if detectable is None else number(detectable),
            "metric": card.settings["metric"],
            "n_queries": len(found.parts["test"]),
            "scores": _scores(found, settings),
            "prompts": _prompts(found),
            "items": embedded(cases(found), words=TERMS, head=("query", "change")),
            "next": _next(card),
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


def cases(found: CompiledAgent) -> tuple[BrowsedCase, ...]:
    """The test queries with both answers beside each other, the largest changes first."""
    ours, theirs = found.scores[COMPILED], found.scores[UNCOMPILED]
    made = []
    for place, query in enumerate(found.parts["test"]):
        gain = round(ours[place].counted - theirs[place].counted, 3)  # what the page shows decides what is the same
        change = "gained" if gain > 0 else "lost" if gain < 0 else "the same"
        missing = [who for who in AGENTS if found.scores[who][place].value is None]
        made.append(
            BrowsedCase(
                item_id=query.query_id,
                head=f"{signed(gain, 3)}, {change}",
                title=query.text,
                group=change,
                differs=gain != 0,
                unscored=f"{', '.join(missing)} unscored" if missing else None,
                distance=abs(gain),
                sides=[_side(found, who, place) for who in AGENTS],
                texts={"query": (query.text,)},
            )
        )
    return tuple(sorted(made, key=lambda case: case.worth()))


def _side(found: CompiledAgent, who: str, place: int) -> CaseSide:
    answer, score = found.answers[who][place], found.scores[who][place]
    texts: dict[str, tuple[str, ...]] = {} if answer.text is None else {"answer": (answer.text,)}
    if answer.contexts:
        texts["contexts"] = tuple(context.text for context in answer.contexts)
    value = "unscored" if score.value is None else number(score.value)
    return CaseSide(WHO[who], value, texts, answer.error or score.reason)


def _next(card: ProgramCard) -> list[str]:
    """Next steps after reading, a sentence each."""
    steps = ["Read the queries that lost, below: they say what the new prompt costs."]
    steps.append("Let both answer (judgec answer), and play them by a judge it was not compiled for: judgec evaluate.")
    if not card.promoted:
        steps.append("Compile with more queries or another metric: this version was not shown to be better.")
    return steps


def _facts(found: CompiledAgent, card: ProgramCard) -> Markup:
    cost = card.cost
    rows: Sequence[tuple[str, str]] = [
        *((name, f"{plural(count(len(found.parts[name])), 'query')}") for name in SPLITS),
        ("test split SHA-256", card.split_digest),
        *((name, str(value)) for name, value in card.settings.items()),
        ("model", str(card.lm.get("model", ""))),
        ("optimizer", card.optimizer),
        ("seed", str(card.seed)),
        ("use of the test split", str(card.looks)),
        ("cost", f"{count(cost.lm_calls)} LM calls, {dollars(cost.usd)}, {cost.seconds:.0f} s"),
        ("made with", ", ".join(f"{name} {version}" for name, version in card.versions.items())),
    ]
    return table(["", ""], [[name, value] for name, value in rows if value], "facts", label="Data and cost")
