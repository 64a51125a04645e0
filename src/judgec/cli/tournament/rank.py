"""``judgec rank``: ratings from a file of games that were already played."""

from judgec.api.options.rank import RankOptions
from judgec.cli.shell import JsonOption, command_of


@command_of(RankOptions)
def rank(options: RankOptions, *, json: JsonOption = False) -> None:
    """Rank agents from games: Bradley-Terry with intervals over queries, Elo, and who beat whom.

    An empty winner is an unscored game: counted, never a loss or a tie. RAGElo's games file is read as it is.
    """
    from judgec.api.rank import rank as ranked
    from judgec.cli.output import print_json, say
    from judgec.cli.tournament.board import show_board
    from judgec.lm.watch import Silent

    board = ranked.run(options, Silent()).board
    if json:
        print_json(board.to_json())
        return
    show_board(board)
    say(
        "Agents that share a letter are not separable at 5 % (all pairs, Holm).",
        *board.notes,
        "Next: --json gives every pair of agents with its interval and p-value.",
    )
