"""``report.html`` of a compiled agent: it and the uncompiled one, head to head."""

from collections.abc import Sequence
from html import escape

from judgec.compiler.agents.candidates import UNCOMPILED
from judgec.compiler.agents.compile import CHAMPION, COMPILED, AgentCompile, CompiledAgent
from judgec.compiler.agents.duel import NET, Duel
from judgec.records.card import ProgramCard
from judgec.records.estimate import Estimate
from judgec.report.page import style
from judgec.report.page.prompt import prompt_lines, prompt_section
from judgec.report.page.skeleton import cut, document, interval_bar, more, notes, section, shown, table
from judgec.report.render import number
from judgec.store.programs import dump_module
from judgec.store.splits import SPLITS

STYLE = (
    style.STYLE
    + """
.verdict{font-size:1.25rem;line-height:1.4;border-left:5px solid var(--alarm);padding-left:.8rem;max-width:50rem}
.verdict.better{border-color:var(--good)}
.agents td:nth-child(3){min-width:9rem}
.facts td{white-space:normal;text-align:left;overflow-wrap:anywhere}.facts td:first-child{white-space:nowrap}
.code{font-family:ui-monospace,monospace;font-size:.85rem;max-height:32rem}
ins{color:var(--good);text-decoration:none}del{color:var(--alarm);text-decoration:none}
"""
)
MOST_QUERIES = 50  # shown in full, those first where the two agents differ most
MOST_ANSWER = 4000  # characters
WHO = {UNCOMPILED: "uncompiled", COMPILED: "compiled", CHAMPION: "the champion before it"}


def agent_page(found: CompiledAgent, met: Duel | None, settings: AgentCompile, card: ProgramCard) -> str:
    """The page as HTML: no script, nothing loaded from elsewhere, every text of users escaped.

    Args:
        found: The outcome.
        met: Head to head, or None without a judge.
        settings: What was asked for.
        card: Of the version as saved.
    """
    name = f"{card.name}@{card.version}"
    start, now = (prompt_lines(dump_module(module)) for module in (found.start, found.chosen.module))
    parts = [
        _header(found, card, name),
        section("duel", "Head to head", _duel(met)),
        section("scores", "What it was compiled for", _scores(found, settings, card)),
        section("queries", "Query by query", _queries(found)),
        section("prompt", "Prompt", prompt_section(now, start, "the uncompiled agent")),
        section("data", "Data and cost", _facts(found, card), notes(found.notes)),
    ]
    return document(f"{name}: compiled against uncompiled", STYLE, parts)


def _header(found: CompiledAgent, card: ProgramCard, name: str) -> str:
    stamps = []
    if card.labels == "constructed":
        stamps.append("CONSTRUCTED LABELS. No expert stands behind the metric.")
    if not card.promoted:
        stamps.append("NOT PROMOTED. This version was not shown to be better than what there was.")
    what = " · ".join([str(card.settings["agent"]), card.engine or str(card.lm.get("model", "")), card.created])
    detectable = found.verdict.detectable
    smallest = "The smallest difference that these queries would have shown with 80 % power"
    power = "" if detectable is None else f"<p>{smallest}: {number(detectable)}.</p>"
    return (
        f"<header><h1>{escape(name)}</h1><p class=quiet>{escape(what)}</p>"
        f"{''.join(f'<p class=stamp>{escape(stamp)}</p>' for stamp in stamps)}"
        f"<p class='verdict {'better' if card.promoted else 'not'}'>{escape(card.reason)}.</p>{power}</header>"
    )


def _duel(met: Duel | None) -> str:
    if met is None:
        return "<p>There was no judge to hold them against each other. Name one with --report-judge.</p>"
    whose = (
        f"Judged by {met.judge}, which is not what the agent was compiled for."
        if met.independent
        else f"Judged by {met.judge}, the very judge that the agent was compiled for: this is optimistic."
    )
    counts = [
        [
            *(str(count) for count in (met.wins, met.losses, met.ties, met.unscored)),
            shown(met.net),
            interval_bar(met.net, *NET, line=0.0),
        ]
    ]
    head = ["wins", "losses", "ties", "unscored", "net", "-1 to 1"]
    games = table(head, counts, "duel", label="Games of the compiled agent against the uncompiled one")
    rows = [[escape(WHO.get(name, name)), shown(mean)] for name, mean in met.means.items()]
    rows += [] if met.difference is None else [["difference", shown(met.difference)]]
    scale = table(["agent", "mean score"], rows, "narrow", label="Mean scores by the judge") if rows else ""
    return (
        f"<p class='{'quiet' if met.independent else 'stamp'}'>{escape(whose)}</p>{games}"
        "<p class=quiet>Net: win 1, tie 0, loss -1, mean over the test queries. Brackets: 95 % intervals over queries."
        f"</p>{scale}"
    )


def _scores(found: CompiledAgent, settings: AgentCompile, card: ProgramCard) -> str:
    means = {name: found.mean_score(name, resamples=settings.resamples, seed=settings.seed) for name in found.scores}
    rows = [_row(WHO.get(name, name), mean, (0.0, 1.0), None) for name, mean in means.items()]
    verdict = found.verdict
    rows.append(_row(f"compiled minus {verdict.rival}", verdict.difference, (-1.0, 1.0), 0.0))
    tried = [
        [escape(name), number(value) + (" (chosen)" if name == found.chosen.name else "")]
        for name, value in found.dev.items()
    ]
    said = f"Mean of {card.settings['metric']} over {len(found.parts['test'])} test queries, from 0 to 1; "
    means_table = table(["agent", "mean score", ""], rows, "agents", label="Mean scores on the test queries")
    prompts = table(["prompt", "mean on dev"], tried, "narrow", label="Prompts that were tried")
    return (
        f"<p class=quiet>{escape(said)}what has no answer or no verdict counts 0. The last row's axis is -1 to 1, and "
        f"its interval widens with each look at these queries.</p>{means_table}"
        f"{more('Prompts that were tried', prompts)}"
    )


def _row(name: str, estimate: Estimate, axis: tuple[float, float], line: float | None) -> list[str]:
    return [escape(name), shown(estimate), interval_bar(estimate, *axis, line=line)]


def _queries(found: CompiledAgent) -> str:
    """The test answers side by side, those first that differ most; equal ones in the order of the queries."""
    ours, theirs = found.scores[COMPILED], found.scores[UNCOMPILED]
    gains = [one.counted - other.counted for one, other in zip(ours, theirs, strict=True)]
    order = sorted(range(len(gains)), key=lambda place: -abs(gains[place]))
    queries = found.parts["test"]
    blocks = []
    for place in order[:MOST_QUERIES]:
        cards = "".join(_answer(found, name, place) for name in (COMPILED, UNCOMPILED))
        blocks.append(more(f"{gains[place]:+.2f} {cut(queries[place].text, 200)}", f"<div class=answers>{cards}</div>"))
    rest = len(order) - len(blocks)
    left = f"<p class=quiet>{rest} more are in report.json.</p>" if rest > 0 else ""
    lead = "<p class=quiet>What compiling gained or lost at each test query, the largest changes first.</p>"
    return f"{lead}{''.join(blocks)}{left}"


def _answer(found: CompiledAgent, who: str, place: int) -> str:
    answer, score = found.answers[who][place], found.scores[who][place]
    said = "<i class=quiet>no answer</i>" if answer.text is None else cut(answer.text, MOST_ANSWER)
    reason = answer.error or score.reason
    value = "unscored" if score.value is None else number(score.value)
    why = f"<div class=reason>{escape(reason)}</div>" if reason else ""
    return f"<div class=answer><h4>{WHO[who]}: {value}</h4><div class=text tabindex=0>{said}</div>{why}</div>"


def _facts(found: CompiledAgent, card: ProgramCard) -> str:
    cost, price = card.cost, "price unknown" if card.cost.usd is None else f"${card.cost.usd:.4f}"
    rows: Sequence[tuple[str, str]] = [
        *((name, f"{len(found.parts[name])} queries") for name in SPLITS),
        ("test split SHA-256", card.split_digest),
        *((name, str(value)) for name, value in card.settings.items()),
        ("model", str(card.lm.get("model", ""))),
        ("optimizer", card.optimizer),
        ("seed", str(card.seed)),
        ("look at the test split", str(card.looks)),
        ("cost", f"{cost.lm_calls:,} LM calls, {price}, {cost.seconds:.0f} s"),
        ("made with", ", ".join(f"{name} {version}" for name, version in card.versions.items())),
    ]
    cells = [[escape(name), escape(value)] for name, value in rows if value]
    return table(["", ""], cells, "facts", label="Data and cost")
