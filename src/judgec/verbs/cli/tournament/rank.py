"""``judgec rank``: ratings from a file of games that were already played."""

from judgec.verbs.cli.shell import JsonOption, VerboseOption, command_of
from judgec.verbs.options.rank import RankOptions


@command_of(RankOptions)
def rank(options: RankOptions, *, verbose: VerboseOption = False, json: JsonOption = False) -> None:
    """Rank agents from games: Bradley-Terry with intervals over queries, Elo, and who beat whom.

    An empty winner is an unscored game: counted, never a loss or a tie. RAGElo's games file is read as it is.
    """
    from judgec.lm.watch import Silent
    from judgec.tournament.report.votes import VOTES
    from judgec.verbs.cli.output import print_json, print_table, say
    from judgec.verbs.cli.tournament.board import show_board
    from judgec.verbs.rank import rank as ranked

    found = ranked.run(options, Silent())
    board = found.board
    if json:
        print_json(found.report)
        return
    show_board(board, verbose=verbose)
    if found.votes is not None:
        print_table("Corrected by people's votes, 95 % intervals over queries", *VOTES.screen(found.votes.rows))
    say(
        "Agents that share a letter are not separable at 5 % (all pairs, Holm).",
        *board.notes,
        *(found.votes.sentences if found.votes is not None else ()),
        *([] if verbose else ["wins and every column: -v"]),
        "Next: --json gives every pair of agents with its interval and p-value.",
    )
