"""``judgec rank``: ratings from a file of games that were already played."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from judgec.cli.options import JsonOption, MapOption, SeedOption, command_of

MOST_COLUMNS = 12  # agents in a win table that still fits a screen


class GameOrder(StrEnum):
    """Order of the games in the Elo tournaments."""

    FILE = "file"
    SHUFFLED = "shuffled"


@dataclass(frozen=True, kw_only=True)
class Request:
    """The command line of ``rank``, as typed."""

    games: Annotated[
        str,
        typer.Argument(
            metavar="GAMES",
            help="CSV, TSV, JSONL or Parquet: query_id, agent_a, agent_b, winner (a, b, tie, empty).",
            show_default=False,
        ),
    ]
    k: Annotated[float, typer.Option("--k", help="Elo: points at stake in a game.")] = 32.0
    initial: Annotated[
        float | None,
        typer.Option("--initial", help="Elo: rating before the first game; default 500, or 1000 with --ragelo-compat."),
    ] = None
    tournaments: Annotated[int, typer.Option("--tournaments", help="Elo: shuffles to average.")] = 500
    order: Annotated[GameOrder, typer.Option("--order", help="Elo: order of the games.")] = GameOrder.SHUFFLED
    ragelo_compat: Annotated[
        bool,
        typer.Option("--ragelo-compat", help="Elo: start at 1000 and truncate after every game, as RAGElo does."),
    ] = False
    seed: SeedOption = 0
    rename: MapOption = ()
    json: JsonOption = False


@command_of(Request)
def rank(request: Request) -> None:
    """Rank agents from games: Bradley-Terry with intervals over queries, Elo, and who beat whom.

    An empty winner is an unscored game: counted, never a loss or a tie. RAGElo's games file is read as it is.
    """
    from judgec.cli.output import print_json, print_table, say
    from judgec.store.games import read_games
    from judgec.store.rows.columns import as_rename
    from judgec.tournament.leaderboard import make_leaderboard
    from judgec.tournament.render import leaderboard_rows, win_rows

    board = make_leaderboard(
        read_games(request.games, as_rename(request.rename)),
        source=request.games,
        tournaments=request.tournaments,
        k=request.k,
        initial=request.initial,
        seed=request.seed,
        order=request.order.value,
        ragelo_compat=request.ragelo_compat,
    )
    if request.json:
        print_json(board.to_json())
        return
    title = f"{board.games} games on {board.ratings.n_queries} queries"
    columns, rows = leaderboard_rows(board)
    print_table(f"{title}: Bradley-Terry ratings, 95 % intervals over queries", columns, rows)
    if len(board.agents) <= MOST_COLUMNS:
        print_table("Wins", *win_rows(board))
    say(
        "Agents that share a letter are not separable at 5 % (all pairs, Holm).",
        *board.notes,
        "Next: --json gives every pair of agents with its interval and p-value.",
    )
