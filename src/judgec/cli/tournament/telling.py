"""What ``judgec evaluate`` tells: the notes of the report, and the screen."""

from pathlib import Path

from judgec.cli.output import command, print_table, say
from judgec.cli.tournament.evaluate import Request
from judgec.store.tournament.entries import Entries
from judgec.tasks.registry import compares
from judgec.tournament.render import leaderboard_rows, retrieval_rows, win_rows
from judgec.tournament.report.costs import agent_costs
from judgec.tournament.report.evaluation import Evaluation, audit_note
from judgec.tournament.report.rates import length_rows, rate_rows

MOST_COLUMNS = 12  # agents in a win table that still fits a screen
WHY_STOPPED = {"settled": "all neighbours are settled", "exhausted": "no game was left"}
INPUT_FIELDS = ("reference", "contexts")  # that a judge may have learned to lean on


def notes_of(request: Request, found: Evaluation, qrels: str | None) -> tuple[str, ...]:
    """What the reader of an evaluation has to know, one sentence each."""
    card, entries = found.card, found.entries
    notes = list(entries.notes)
    answered = len(entries.answered)
    if len(entries.queries) > answered:
        notes.append(f"{len(entries.queries) - answered} queries have no answer of anybody.")
    notes += [f"{agent} has no answer to {count} of {answered} queries." for agent, count in entries.missing.items()]
    if found.skipped:
        notes.append(f"{found.skipped} games were not played because an answer is missing; they count for nobody.")
    has = {"reference": bool(entries.references), "contexts": bool(entries.retrieved or entries.shared)}
    lacks = [name for name in INPUT_FIELDS if name in card.fields and not has[name]]
    if lacks:
        notes.append(
            f"The judge was compiled with {' and '.join(lacks)}, which these answers lack: its known agreement says "
            "little about them."
        )
    if has["contexts"] and "contexts" not in card.fields:
        notes.append("The judge was compiled without contexts: it does not see the documents.")
    notes.append(audit_note(card))
    if card.labels:
        notes.append("The judge learned from constructed labels: no expert gave them.")
    if request.lm is not None:
        notes.append(f"Judged with {request.lm}; the judge was measured with {card.lm.get('model')}.")
    if request.factors or request.has_citations:
        notes.append("The judge's prompt was changed (--factors, --has-citations); it was measured without that.")
    if qrels and request.relevance_judge:
        notes.append("--relevance-judge was not used: --qrels grades the documents.")
    best, least = None if found.relevance is None else found.relevance.best, request.threshold
    if best is not None and best < least and compares(card.task) and "contexts" in card.fields:
        notes.append(f"All graded documents are hidden: the best grade is {best}, --threshold {least}.")
    if found.proposal is not None:
        pairs, why = found.proposal.neighbours, WHY_STOPPED.get(found.proposal.reason, "--games was reached")
        settled = sum(pair.settled != "unsure" for pair in pairs)
        notes.append(
            f"Adaptive: stopped after {len(found.played)} games because {why}; {settled} of {len(pairs)} neighbours "
            f"are separated or known to be within {request.resolution:g} Elo."
        )
    return tuple(notes)


def seen_note(seen: frozenset[str], entries: Entries) -> tuple[str, ...]:
    """Said where the judge has learned from labels of these very queries."""
    if not seen:
        return ()
    return (f"{len(seen)} of {len(entries.answered)} queries were in the judge's train or dev labels.",)


def show(found: Evaluation, out: Path, home: Path) -> None:
    """Print the tables and the notes."""
    board = found.board
    again = command("rank", str(out / "games.csv"), home=Path())
    title = f"{board.games} games on {board.ratings.n_queries} queries"
    columns, rows = leaderboard_rows(board, agent_costs(found.entries))
    print_table(f"{title}: Bradley-Terry ratings, 95 % intervals over queries", columns, rows, fold=False)
    if len(board.agents) <= MOST_COLUMNS:
        print_table("Wins", *win_rows(board))
    if found.lengths is not None:
        print_table("At equal length", *length_rows(found.lengths))
    if found.corrected is not None:
        print_table("Points per game, as judged and as experts correct them", *rate_rows(found.corrected.rates))
    if found.retrieval is not None:
        print_table("Retrieval", *retrieval_rows(found.retrieval))
    say(
        *([f"UNPROVEN JUDGE: {found.unproven}."] if found.unproven else []),
        "Agents that share a letter are not separable at 5 % (all pairs, Holm).",
        *board.notes,
        *found.notes,
        *(found.retrieval.notes if found.retrieval else ()),
        f"Next: open {out / 'report.html'}; {again}; {command('ui', home=home)}",
    )
