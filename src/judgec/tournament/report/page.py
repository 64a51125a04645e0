"""``report.html``: one self-contained page; the judge's known agreement with experts comes first."""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from judgec.records.estimate import Estimate
from judgec.report.page.skeleton import document
from judgec.stats.intervals.gate import announced
from judgec.tournament.report.costs import COLUMNS, NOTE, agent_costs, cost_cells
from judgec.tournament.report.drill import queries_section
from judgec.tournament.report.evaluation import Evaluation
from judgec.tournament.report.rates import length_rows, rate_rows
from judgec.tournament.report.style import STYLE
from judgec.tournament.retrieval import RetrievalTable

NAMES = {
    "tau_b": "tau-b",
    "tau_b_score": "tau-b of the score",
    "spearman": "Spearman",
    "auc": "AUC",
    "exact": "same grade",
    "accept_agreement": "accept agreement",
    "kappa": "kappa",
    "qwk": "QWK",
    "accuracy_decided": "accuracy where experts chose",
    "flip_rate": "flips with order",
}


MOST_PAIRS = 100  # rows of paired differences; all are in retrieval_pairs.csv


class _Axis(NamedTuple):
    """The ratings that the bars span."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Percent from the left."""
        return 100.0 * (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)


def page(found: Evaluation, *, title: str, created: str) -> str:
    """The whole page as HTML: no script, nothing loaded from elsewhere, every text escaped.

    Args:
        found: What to show.
        title: Of the page.
        created: When, ISO 8601.
    """
    parts = [
        f"<header><h1>{escape(title)}</h1><p class=quiet>{escape(_facts(found))} · {escape(created)}</p></header>",
        _judge(found),
        _leaderboard(found),
        _wins(found),
        _aspects(found),
        _lengths(found),
        _experts(found),
        _retrieval(found),
        queries_section(found),
    ]
    return document(title, STYLE, parts)


def shown(estimate: Estimate | None, digits: int = 2, sign: str = "-") -> str:
    """``.56 [.48, .63]`` as HTML, or a dash that says why on hover; with ``sign`` "+" a gain has one too."""
    if estimate is None or estimate.value is None:
        return f"<span title='{escape(estimate.note if estimate else '', quote=True)}'>–</span>"
    form = f"{sign}.{digits}f"
    value = f"<b>{estimate.value:{form}}</b>"
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} <span class=quiet>[{estimate.low:{form}}, {estimate.high:{form}}]</span>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    """A table of finished HTML cells that scrolls sideways on narrow screens."""
    heads = "".join(f"<th scope=col>{cell}" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}' for cell in row)}" for row in rows)
    return f"<div class=wide><table class='{kind}'><thead><tr>{heads}</thead><tbody>{body}</tbody></table></div>"


def _facts(found: Evaluation) -> str:
    board = found.board
    facts = [f"{len(board.agents)} agents", f"{board.ratings.n_queries} queries", f"{board.games} games"]
    facts += [f"{board.unscored} unscored"] if board.unscored else []
    facts += [f"{found.skipped} not played for want of an answer"] if found.skipped else []
    return ", ".join(facts)


def _judge(found: Evaluation) -> str:
    card = found.card
    stamp = f"<p class=stamp>UNPROVEN JUDGE. {escape(found.unproven)}.</p>" if found.unproven else ""
    model = card.engine or str(card.lm.get("model", ""))
    rows = [[escape(NAMES.get(name, name)), shown(one)] for name, one in card.test.items() if one.value is not None]
    sizes = next((one for one in card.test.values() if one.n), None)
    on = f", on {sizes.n} test items of {sizes.n_clusters} queries that it never saw" if sizes else ""
    kind = "constructed labels (no expert gave them)" if card.labels else "experts"
    bands = f"<p>Scores tie within {escape(found.tie_band)}.</p>" if found.tie_band else ""
    flips = (
        "" if found.flip_rate is None else f"<p>Verdict changed with the order in {found.flip_rate:.1%} of games.</p>"
    )
    reason = "" if found.unproven else f"<p>{escape(card.reason)}</p>"
    gate = () if found.gate is None else (announced(found.gate.verdict, found.gate.sentence),)
    notes = "".join(f"<li>{escape(note)}" for note in (*gate, *found.board.notes, *found.notes))
    return (
        f"<section><h2>The judge: {escape(card.name)}@{card.version}</h2>{stamp}"
        f"<p>Task {escape(card.task)}, {escape(model)}. Agreement with {kind}{on}, 95 % intervals over queries:</p>"
        f"{table(['statistic', 'agreement'], rows, 'narrow')}{reason}{bands}{flips}"
        f"{f'<ul class=notes>{notes}</ul>' if notes else ''}</section>"
    )


def _leaderboard(found: Evaluation) -> str:
    board = found.board
    ratings, letters = board.ratings, board.standings.letters()
    known = [x for column in (ratings.rating, ratings.low, ratings.high) for x in column if not math.isnan(x)]
    margin = 0.05 * (max(known) - min(known)) + 5.0
    axis = _Axis(min(known) - margin, max(known) + margin)
    costs = agent_costs(found.entries)
    rows = []
    for code in board.standings.order:
        low, high = board.standings.rank_low[code], board.standings.rank_high[code]
        ranks = "–" if not low else f"{low}" if low == high else f"{low}–{high}"
        rows.append(
            [
                escape(board.agents[code]),
                _text(ratings.rating[code]),
                _bar(axis, ratings.rating[code], ratings.low[code], ratings.high[code]),
                f"{_text(ratings.low[code])} … {_text(ratings.high[code])}",
                ranks,
                escape(letters[code]) or "–",
                _text(board.elo.rating[code]),
                _text(board.wins.average[code], 1),
                str(int(board.wins.games[code].sum())),
                *cost_cells(costs, board.agents[code], "–"),
            ]
        )
    head = ["agent", "rating", f"{axis.low:.0f} to {axis.high:.0f}", "95 % interval", "rank", "group", "Elo"]
    head += ["wins %", "games", *(COLUMNS if costs else ())]
    return (
        "<section><h2>Leaderboard</h2><p class=quiet>Bradley-Terry on the Elo scale, mean 1000 (the line), intervals "
        "over queries. Agents that share a letter are not separable at 5 % (all pairs, Holm)."
        f"{f' {NOTE}' if costs else ''}</p>{table(head, rows, 'board')}</section>"
    )


def _bar(axis: _Axis, rating: float, low: float, high: float) -> str:
    """The interval as a line, open to the edge where the data set no bound, and the rating as a dot."""
    if math.isnan(rating):
        return ""
    left = axis.place(axis.low if math.isnan(low) else low)
    right = axis.place(axis.high if math.isnan(high) else high)
    line = f"<span style='left:{left:.1f}%;width:{right - left:.1f}%'></span>"
    known = "" if math.isnan(low) and math.isnan(high) else line
    mean = f"<s style='left:{axis.place(1000.0):.1f}%'></s>"
    return f"<div class=bar>{mean}{known}<i style='left:{axis.place(rating):.1f}%'></i></div>"


def _wins(found: Evaluation) -> str:
    board = found.board
    order = board.standings.order
    rows = []
    for number, row in enumerate(order, 1):
        cells = [_heat(board.wins.win_percent[row, column]) for column in order]
        rows.append([f"{number} {escape(board.agents[row])}", *cells, _text(board.wins.average[row], 1)])
    head = [
        "wins % of row over",
        *(f"<abbr title='{escape(board.agents[c], quote=True)}'>{n}</abbr>" for n, c in enumerate(order, 1)),
    ]
    return (
        "<section><h2>Who beats whom</h2><p class=quiet>Share of their games that the row won; the rest are losses and "
        f"ties. Columns carry the numbers of the rows.</p>{table([*head, 'mean'], rows, 'heat')}</section>"
    )


def _heat(percent: float) -> str:
    if math.isnan(percent):
        return "·"
    return f"<span class=cell style='--heat:{percent:.0f}%'>{percent:.0f}</span>"


def _aspects(found: Evaluation) -> str:
    if not found.aspects:
        return ""
    one, other = next(iter(found.aspects.values())).agents
    rows = [
        [
            escape(name),
            *(f"{mean:.2f}" for mean in test.means),
            f"{test.means[0] - test.means[1]:+.3f}",
            _p(test.t.p),
            _p(test.signed_rank.p),
            str(test.queries),
            escape(test.note),
        ]
        for name, test in found.aspects.items()
    ]
    head = ["aspect", escape(one), escape(other), "difference", "p, paired t", "p, Wilcoxon", "queries", ""]
    return f"<section><h2>Aspect by aspect</h2>{table(head, rows)}</section>"


def _lengths(found: Evaluation) -> str:
    if found.lengths is None:
        return ""
    head, rows = length_rows(found.lengths)
    return (
        "<section><h2>At equal length</h2><p class=quiet>Bradley-Terry ratings with the effect of the answers' length "
        f"taken out.</p>{table(list(map(escape, head)), [list(map(escape, row)) for row in rows])}</section>"
    )


def _experts(found: Evaluation) -> str:
    if found.corrected is None:
        return ""
    head, rows = rate_rows(found.corrected.rates)
    said = f"Experts decided {found.corrected.labelled} of {found.corrected.games} games: {found.corrected.sample}."
    return (
        f"<section><h2>Corrected by experts</h2><p class=quiet>Points per game, PPI++ over queries. {escape(said)}</p>"
        f"{table(list(map(escape, head)), [list(map(escape, row)) for row in rows])}</section>"
    )


def _retrieval(found: Evaluation) -> str:
    if found.retrieval is None:
        return ""
    by_agent = found.retrieval.by_agent
    names = list(next(iter(by_agent.values())))
    rows = [[escape(agent), *(shown(row[name]) for name in names)] for agent, row in by_agent.items()]
    notes = "".join(f"<li>{escape(note)}" for note in found.retrieval.notes)
    return (
        f"<section><h2>Retrieval</h2>{table(['agent', *map(escape, names)], rows)}{_retrieval_pairs(found.retrieval)}"
        f"{f'<ul class=notes>{notes}</ul>' if notes else ''}</section>"
    )


def _retrieval_pairs(retrieval: RetrievalTable) -> str:
    """The paired differences in a block that opens, those of every measure beside each other."""
    pairs: dict[tuple[str, str], list[str]] = {}
    names = list(dict.fromkeys(name for _, _, name, _, _ in retrieval.differences))
    for one, other, _, gap, p in retrieval.differences:
        known = "" if p is None else f"<br><span class=quiet>p {_p(p)}</span>"
        pairs.setdefault((one, other), []).append(shown(gap, sign="+") + known)
    rows = [[f"{escape(one)} – {escape(other)}", *cells] for (one, other), cells in pairs.items()]
    more = len(rows) - MOST_PAIRS
    rest = f"<p class=quiet>{more} more pairs are in retrieval_pairs.csv.</p>" if more > 0 else ""
    return (
        "<details><summary>Differences between agents</summary><div class=in><p class=quiet>Over the queries of both, "
        "with 95 % intervals over queries and p after Holm's correction for the pairs of a measure.</p>"
        f"{table(['pair', *map(escape, names)], rows[:MOST_PAIRS])}{rest}</div></details>"
    )


def _p(value: float | None) -> str:
    return "–" if value is None else "&lt; .001" if value < 0.001 else f"{value:.3f}"


def _text(value: float, digits: int = 0) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"
