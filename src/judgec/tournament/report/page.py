"""``report.html``: one self-contained page; the judge's known agreement with experts comes first."""

from markupsafe import Markup

from judgec.report import kit
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import explained, shown, table, two_lines
from judgec.report.numbers import count, number, p_value, percent, signed, statistic_name
from judgec.stats.intervals.gate import announced
from judgec.tournament.leaderboard_columns import leaderboard_columns, win_columns
from judgec.tournament.report.aspects import AspectTest
from judgec.tournament.report.costs import NOTE, agent_costs
from judgec.tournament.report.drill import drilled
from judgec.tournament.report.evaluation import Evaluation
from judgec.tournament.report.rates import length_rows, rate_rows
from judgec.tournament.retrieval import RetrievalTable

MOST_PAIRS = 100  # rows of paired differences; all are in retrieval_pairs.csv


def page(found: Evaluation, *, title: str, created: str) -> str:
    """The whole page as HTML: no script, nothing loaded from elsewhere, every text escaped.

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
            "aspects": _aspects(found),
            "lengths": None if found.lengths is None else table(*length_rows(found.lengths), label="At equal length"),
            "experts": _experts(found),
            "retrieval": _retrieval(found.retrieval),
            "drill": drilled(found),
        },
    )


def _facts(found: Evaluation) -> str:
    board = found.board
    facts = [f"{count(len(board.agents))} agents", f"{count(board.ratings.n_queries)} queries"]
    facts += [f"{count(board.games)} games"]
    facts += [f"{count(board.unscored)} unscored"] if board.unscored else []
    facts += [f"{count(found.skipped)} not played for want of an answer"] if found.skipped else []
    return ", ".join(facts)


def _judge(found: Evaluation) -> dict[str, object]:
    card = found.card
    rows = [[statistic_name(name), shown(one)] for name, one in card.test.items() if one.value is not None]
    gate = () if found.gate is None else (announced(found.gate.verdict, found.gate.sentence),)
    return {
        "name": f"{card.name}@{card.version}",
        "task": card.task,
        "model": card.engine or str(card.lm.get("model", "")),
        "unproven": found.unproven,
        "reason": card.reason,
        "constructed": bool(card.labels),
        "sizes": next((one for one in card.test.values() if one.n), None),
        "table": table(["statistic", "agreement"], rows, "narrow", label="The judge's agreement"),
        "tie_band": found.tie_band,
        "flips": None if found.flip_rate is None else percent(found.flip_rate, 1),
        "notes": [*gate, *found.board.notes, *found.notes],
    }


def _wins(found: Evaluation) -> Markup:
    rows = found.board.rows()
    (first, *numbers, mean), cells = win_columns(rows).page(rows)
    named = [explained(number, row.agent) for number, row in zip(numbers, rows, strict=True)]
    return table([first, *named, mean], cells, "heat whole", label="Who beats whom")


def _aspects(found: Evaluation) -> Markup | None:
    if not found.aspects:
        return None
    head, rows = _aspect_columns(*next(iter(found.aspects.values())).agents).page(list(found.aspects.values()))
    named = [[name, *row] for name, row in zip(found.aspects, rows, strict=True)]
    return table(["aspect", *head], named, label="Aspect by aspect")


def _aspect_columns(one: str, other: str) -> TableColumns[AspectTest]:
    return TableColumns(
        (
            Column(one, lambda test: number(test.means[0])),
            Column(other, lambda test: number(test.means[1])),
            Column("difference", lambda test: signed(test.means[0] - test.means[1], 3)),
            Column("p, paired t", lambda test: p_value(test.t.p)),
            Column("p, Wilcoxon", lambda test: p_value(test.signed_rank.p)),
            Column("queries", lambda test: str(test.queries)),
            Column("", lambda test: test.note),
        )
    )


def _experts(found: Evaluation) -> dict[str, object] | None:
    if found.corrected is None:
        return None
    said = f"Experts decided {found.corrected.labelled} of {found.corrected.games} games: {found.corrected.sample}."
    return {"said": said, "table": table(*rate_rows(found.corrected.rates), label="Corrected by experts")}


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
