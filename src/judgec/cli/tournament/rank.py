"""``judgec rank``: ratings from a file of games that were already played."""

from enum import StrEnum
from typing import Annotated

import typer

from judgec.cli.options import JsonOption, MapOption

MOST_COLUMNS = 12  # agents in a win table that still fits a screen


class GameOrder(StrEnum):
    """Order of the games in the Elo tournaments."""

    FILE = "file"
    SHUFFLED = "shuffled"


GamesArgument = Annotated[
    str,
    typer.Argument(
        metavar="GAMES",
        help="CSV, TSV, JSONL or Parquet: query_id, agent_a, agent_b, winner (a, b, tie, empty).",
        show_default=False,
    ),
]
ELO = "Elo"
KOption = Annotated[float, typer.Option("--k", help="Elo: points at stake in a game.", rich_help_panel=ELO)]
InitialOption = Annotated[
    float | None,
    typer.Option(
        "--initial",
        help="Elo: rating before the first game; default 500, or 1000 with --ragelo-compat.",
        rich_help_panel=ELO,
    ),
]
TournamentsOption = Annotated[int, typer.Option("--tournaments", help="Elo: shuffles to average.", rich_help_panel=ELO)]
OrderOption = Annotated[GameOrder, typer.Option("--order", help="Elo: order of the games.", rich_help_panel=ELO)]
CompatOption = Annotated[
    bool,
    typer.Option(
        "--ragelo-compat",
        help="Elo: start at 1000 and truncate after every game, as RAGElo does.",
        rich_help_panel=ELO,
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of the shuffles and of the resampled queries.")]


def rank(
    games: GamesArgument,
    *,
    k: KOption = 32.0,
    initial: InitialOption = None,
    tournaments: TournamentsOption = 500,
    order: OrderOption = GameOrder.SHUFFLED,
    ragelo_compat: CompatOption = False,
    seed: SeedOption = 0,
    mapping: MapOption = None,
    json: JsonOption = False,
) -> None:
    """Rank agents from games: Bradley-Terry with intervals over queries, Elo, and who beat whom.

    An empty winner is an unscored game: counted, never a loss or a tie. RAGElo's games file is read as it is.
    """
    from judgec.cli.output import print_json, print_table, say
    from judgec.store.games import read_games
    from judgec.store.rows.columns import as_rename
    from judgec.tournament.leaderboard import make_leaderboard
    from judgec.tournament.render import leaderboard_rows, win_rows

    board = make_leaderboard(
        read_games(games, as_rename(mapping or ())),
        source=games,
        tournaments=tournaments,
        k=k,
        initial=initial,
        seed=seed,
        order=order.value,
        ragelo_compat=ragelo_compat,
    )
    if json:
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
