"""An evaluation as tables: rows for CSV files, and TREC qrels."""

from judgec.stats.rating.expert_sample import sample_order
from judgec.tournament.leaderboard_columns import leaderboard_columns, win_columns
from judgec.tournament.play import as_games
from judgec.tournament.pooling import Relevance
from judgec.tournament.report.aspects import COLUMNS
from judgec.tournament.report.costs import agent_costs
from judgec.tournament.report.effects import COLUMNS as EFFECTS
from judgec.tournament.report.evaluation import Evaluation
from judgec.tournament.report.rates import LENGTHS, RATES, lengths_of

Rows = list[list[object]]

FILES = (  # that an evaluation writes beside its page; sample.csv is not one, experts fill it in
    *(
        "leaderboard.csv",
        "win_percent.csv",
        "games.csv",
        "answers.csv",
        "aspect_tests.csv",
        "effects.csv",
        "retrieval.csv",
        "retrieval_pairs.csv",
    ),
    *("win_rates.csv", "length_controlled.csv", "relevance.csv", "relevance.qrels", "items.jsonl", "report.json"),
)


def csv_tables(found: Evaluation) -> dict[str, Rows]:
    """Rows by file name, the header first; ``games`` is what ``judgec rank`` reads."""
    rows = found.board.rows(agent_costs(found.entries))
    tables: dict[str, Rows] = {
        "leaderboard": leaderboard_columns(rows).csv(rows),
        "win_percent": win_columns(rows).csv(rows),
        "games": _games(found),
    }
    if found.marks:
        tables["answers"] = _answers(found)
    if found.aspects:
        tables["aspect_tests"] = COLUMNS.csv(found.aspects)
    if found.effects:
        tables["effects"] = EFFECTS.csv(found.effects)
    if found.retrieval is not None:
        tables["retrieval"] = [
            ["agent", "measure", "value", "low", "high", "queries"],
            *(
                [agent, name, _cell(one.value), _cell(one.low), _cell(one.high), one.n]
                for agent, row in found.retrieval.by_agent.items()
                for name, one in row.items()
            ),
        ]
        tables["retrieval_pairs"] = [
            ["agent", "other", "measure", "difference", "low", "high", "p", "p_holm"],
            *(
                [one, other, name, *map(_cell, (gap.value, gap.low, gap.high, gap.p, p))]
                for one, other, name, gap, p in found.retrieval.differences
            ),
        ]
    if found.relevance is not None and found.relevance.judged:
        tables["relevance"] = _relevance(found.relevance)
    if found.corrected is not None:
        tables["win_rates"] = RATES.csv(found.corrected.rates)
    if found.lengths is not None:
        tables["length_controlled"] = LENGTHS.csv(lengths_of(found.lengths))
    return tables


def sample_sheet(found: Evaluation, count: int) -> Rows:
    """The first games of the random order, to be labelled by experts in this order.

    The judge's verdict is not in it: experts would anchor on it. Games of queries that the judge has learned from
    are left out.

    Args:
        found: The evaluation.
        count: How many games; all if fewer were played.
    """
    entries = found.entries
    fresh = [one for one in found.played if one.game.query_id not in found.learned]
    head: list[object] = ["query_id", "agent_a", "agent_b", "preference", "annotator", "query", "answer_a", "answer_b"]
    rows: Rows = [head]
    for game in (fresh[position].game for position in sample_order(as_games(fresh, entries))[:count]):
        query = game.query_id
        texts = (entries.answers[query, game.agent_a], entries.answers[query, game.agent_b])
        rows.append([query, game.agent_a, game.agent_b, "", "", entries.queries[query], *texts])
    return rows


def qrels_lines(found: Evaluation) -> str:
    """The judged relevance grades as TREC qrels; empty where no judge graded documents, or where an id is no single
    word, which that format cannot hold: ``relevance.csv`` has them all.
    """
    if found.relevance is None or not found.relevance.judged:
        return ""
    if any(len(name.split()) != 1 for cell in found.relevance.grades for name in cell):
        return ""
    return "".join(f"{query} 0 {doc} {grade}\n" for (query, doc), grade in found.relevance.grades.items())


def _relevance(found: Relevance) -> Rows:
    head: list[object] = ["query_id", "doc_id", "grade", "reason", "unscored"]
    graded: Rows = [[*cell, grade, found.reasons.get(cell, ""), ""] for cell, grade in found.grades.items()]
    failed: Rows = [[*cell, "", "", reason] for cell, reason in found.unscored.items()]
    return [head, *graded, *failed]


def _games(found: Evaluation) -> Rows:
    header: list[object] = ["query_id", "agent_a", "agent_b", "winner", "score_a", "score_b", "flipped", "reason"]
    voters = [] if found.marks else found.jury  # what members said of single answers is in answers.csv
    marked = [name for name in ("without_contexts", "identical") if any(getattr(one, name) for one in found.played)]
    rows: Rows = [[*header, "unscored", *(f"vote.{name}" for name in voters), *marked]]
    for one in found.played:
        game = one.game
        flipped = "" if one.flipped is None else str(one.flipped).lower()
        scores = [_cell(one.score_a), _cell(one.score_b), flipped]
        votes = [one.votes.get(name) or "" for name in voters]
        result = [game.winner or "", *scores, one.reason, game.unscored, *votes]
        result += [str(getattr(one, name)).lower() for name in marked]
        rows.append([game.query_id, game.agent_a, game.agent_b, *result])
    return rows


def _answers(found: Evaluation) -> Rows:
    aspects = list(dict.fromkeys(name for mark in found.marks.values() for name in mark.aspects))
    head: list[object] = ["query_id", "agent", "score", *(f"score.{name}" for name in aspects)]
    rows: Rows = [[*head, "accept", "reason", "unscored", *(f"vote.{name}" for name in found.jury)]]
    for (query, agent), mark in found.marks.items():
        accept = "" if mark.accept is None else str(mark.accept).lower()
        scores = [_cell(mark.score), *(_cell(mark.aspects.get(name)) for name in aspects)]
        votes = [_cell(mark.votes.get(name)) for name in found.jury]
        rows.append([query, agent, *scores, accept, mark.reason, mark.unscored, *votes])
    return rows


def _cell(value: float | None) -> object:
    return "" if value is None else value
