"""``report.html``: one self-contained page; the judge's known agreement with experts comes first."""

from collections.abc import Sequence

from markupsafe import Markup

from judgec.records.counts import plural
from judgec.report import kit
from judgec.report.items import embedded
from judgec.report.kit import explained, shown, table, two_lines
from judgec.report.numbers import count, p_value, percent, statistic_name
from judgec.report.systems_comparison import comparison_sentences, comparison_tables, forest
from judgec.stats.intervals.gate import announced
from judgec.tournament.leaderboard_columns import MOST_PAIRED, LeaderboardRow, leaderboard_columns, win_columns
from judgec.tournament.render import board_sentence
from judgec.tournament.report.aspects import COLUMNS
from judgec.tournament.report.costs import NOTE, agent_costs
from judgec.tournament.report.drill import HEAD, TERMS, drilled
from judgec.tournament.report.effects import COLUMNS as EFFECTS
from judgec.tournament.report.effects import effects_sentence
from judgec.tournament.report.evaluation import Evaluation
from judgec.tournament.report.rates import RATES, length_rows
from judgec.tournament.retrieval import RetrievalTable

MOST_IN_TABLE = 30  # of very many agents those in the table of who beats whom; win_percent.csv has all
MOST_PAIRS = 100  # rows of paired differences; all are in retrieval_pairs.csv


def page(found: Evaluation, *, title: str, created: str) -> str:
    """The whole page as HTML: no script but the kit's, nothing loaded from elsewhere, every text escaped.

    Args:
        found: What to show.
        title: Of the page.
        created: When, ISO 8601.
    """
    costs = agent_costs(found.entries)
    rows = found.board.rows(costs)
    head, cells = leaderboard_columns(rows).page(rows)
    return kit.page(
        "tournament.html",
        {
            "title": title,
            "created": created,
            "facts": _facts(found),
            "judge": _judge(found),
            "leaderboard": table(head, cells, "board", label="Leaderboard"),
            "cost_note": NOTE if costs else "",
            "wins": _wins(found),
            "wins_left_out": len(rows) - MOST_IN_TABLE if len(rows) > MOST_PAIRED else 0,
            "effects": _effects(found),
            "aspects": _aspects(found),
            "lengths": None if found.lengths is None else table(*length_rows(found.lengths), label="At equal length"),
            "experts": _experts(found),
            "retrieval": _retrieval(found.retrieval),
            "items": embedded(drilled(found), words=TERMS, head=HEAD),
            "systems": _systems(found),
            "verdict": " ".join([*_led(found), board_sentence(found.board)]),
            "standing": "below" if found.unproven else "even" if _level(rows) else "better",
            "next": _next(found),
        },
    )


def _led(found: Evaluation) -> list[str]:
    """The sentences of the comparison that experts' grades correct."""
    return [] if found.systems is None else comparison_sentences(found.systems)


def _systems(found: Evaluation) -> dict[str, object] | None:
    """The agents' forest plot, and every table of the comparison."""
    if found.systems is None:
        return None
    tables = comparison_tables(found.systems, rest=True)
    shown = [(one.title, table(list(one.heads), [list(row) for row in one.rows], label=one.title)) for one in tables]
    return {"forest": forest(found.systems), "first": shown[0][1], "more": shown[1:]}


def _level(rows: Sequence[LeaderboardRow]) -> bool:
    """No agent is told apart from the first."""
    return all(row.beside(rows[0]) for row in rows if row.rated.value is not None)


def _next(found: Evaluation) -> list[str]:
    """Next steps after reading, a sentence each."""
    steps = []
    if found.unproven:
        steps.append("Prove the judge first: compile it on more labels, or on labels of queries like these.")
    if found.board.unscored:
        steps.append("Read the unscored games below: they count for nobody.")
    first, *others = found.board.rows()
    if any(row.beside(first) for row in others):
        steps.append("Play more queries where agents that share a letter have to be told apart.")
    steps.append("Read the queries where verdicts changed with the order or agents are farthest apart, below.")
    if found.corrected is None:
        steps.append("Let experts decide a random sample of the games (--sample): it corrects the judge.")
    return steps


def _facts(found: Evaluation) -> str:
    board = found.board
    facts = [f"{plural(count(len(board.agents)), 'agent')}", f"{plural(count(board.ratings.n_queries), 'query')}"]
    facts += [f"{plural(count(board.games), 'game')}"]
    facts += [f"{count(board.unscored)} unscored"] if board.unscored else []
    facts += [f"{plural(count(found.without_contexts), 'without document')}"] if found.without_contexts else []
    facts += [f"{plural(count(found.identical), 'tie')} of identical answers"] if found.identical else []
    facts += [f"{count(found.skipped)} not played for want of an answer"] if found.skipped else []
    return ", ".join(facts)


def _judge(found: Evaluation) -> dict[str, object]:
    card = found.card
    known = {} if found.unmeasured else card.test
    rows = [[statistic_name(name), shown(one)] for name, one in known.items() if one.value is not None]
    gate = () if found.gate is None else (announced(found.gate.verdict, found.gate.sentence),)
    return {
        "name": f"{card.name}@{card.version}",
        "task": card.task,
        "model": card.engine or str(card.lm.get("model", "")),
        "unproven": found.unproven,
        "unmeasured": found.unmeasured,
        "reason": card.reason,
        "constructed": bool(card.labels),
        "sizes": next((one for one in known.values() if one.n), None),
        "table": table(["statistic", "agreement"], rows, "narrow", label="The judge's agreement"),
        "tie_band": found.tie_band,
        "flips": None if found.flip_rate is None else percent(found.flip_rate, 1),
        "notes": [*gate, *found.board.notes, *found.notes],
    }


def _wins(found: Evaluation) -> Markup:
    rows = found.board.rows()
    rows = rows[:MOST_IN_TABLE] if len(rows) > MOST_PAIRED else rows
    (first, *numbers, mean), cells = win_columns(rows).page(rows)
    named = [explained(number, row.agent) for number, row in zip(numbers, rows, strict=True)]
    return table([first, *named, mean], cells, "heat whole", label="Who beats whom")


def _effects(found: Evaluation) -> dict[str, object] | None:
    if not found.effects:
        return None
    head, rows = EFFECTS.page(found.effects)
    return {"said": effects_sentence(found.effects), "table": table(head, rows, label="What mattered")}


def _aspects(found: Evaluation) -> dict[str, object] | None:
    if not found.aspects:
        return None
    first = sorted(found.aspects, key=lambda test: not test.pooled)[:MOST_PAIRS]
    head, rows = COLUMNS.page(first)
    return {"table": table(head, rows, label="Aspect by aspect"), "more": len(found.aspects) - len(first)}


def _experts(found: Evaluation) -> dict[str, object] | None:
    if found.corrected is None:
        return None
    said = f"Experts decided {found.corrected.labelled} of {found.corrected.games} games: {found.corrected.sample}."
    return {"said": said, "table": table(*RATES.screen(found.corrected.rates), label="Corrected by experts")}


def _retrieval(retrieval: RetrievalTable | None) -> dict[str, object] | None:
    if retrieval is None:
        return None
    head, rows = retrieval.columns().page(list(retrieval.by_agent.items()))
    named = [[agent, *row] for agent, row in zip(retrieval.by_agent, rows, strict=True)]
    pairs: dict[tuple[str, str], list[Markup]] = {}
    for one, other, _, gap, p in retrieval.differences:
        cell = shown(gap, sign=True)
        pairs.setdefault((one, other), []).append(cell if p is None else two_lines(cell, f"p {p_value(p)}"))
    cells = [[f"{one} – {other}", *gaps] for (one, other), gaps in pairs.items()]
    measures = list(dict.fromkeys(name for _, _, name, _, _ in retrieval.differences))
    return {
        "table": table(["agent", *head], named, label="Retrieval"),
        "pairs": table(["pair", *measures], cells[:MOST_PAIRS], label="Differences between agents"),
        "more": max(len(cells) - MOST_PAIRS, 0),
        "notes": retrieval.notes,
    }
