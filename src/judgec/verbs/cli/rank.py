"""``judgec rank``: ratings from a file of games that were already played."""

from judgec.verbs.cli.shell import JsonOption, VerboseOption, command_of
from judgec.verbs.options.rank import RankOptions


@command_of(RankOptions)
def rank(options: RankOptions, *, verbose: VerboseOption = False, json: JsonOption = False) -> None:
    """Rank agents from games: Bradley-Terry with intervals over queries, Elo, and who beat whom.

    Example: judgec rank games.csv

    An empty winner is an unscored game: counted, never a loss or a tie. RAGElo's games file is read as it is.
    """
    from judgec.verbs.cli.output import run_shown
    from judgec.verbs.rank import rank as ranked
    from judgec.verbs.rank import ranking_report

    run_shown(ranked.run, options, ranking_report, json=json, verbose=verbose)
