"""``judgec rank``: ratings from a file of games that were already played."""

from judgec.verbs.cli.shell import JsonOption, VerboseOption, command_of
from judgec.verbs.options.rank import RankOptions


@command_of(RankOptions)
def rank(options: RankOptions, *, verbose: VerboseOption = False, json: JsonOption = False) -> None:
    """Rank agents from games: Bradley-Terry with intervals over queries, Elo, and who beat whom.

    An empty winner is an unscored game: counted, never a loss or a tie. RAGElo's games file is read as it is.
    """
    from judgec.lm.watch import Silent
    from judgec.report.report import Report
    from judgec.report.screen import TextTable
    from judgec.tournament.render import board_sentence
    from judgec.tournament.report.votes import VOTES
    from judgec.verbs.cli.output import print_json, print_report
    from judgec.verbs.cli.tournament.board import LETTERS, board_tables
    from judgec.verbs.rank import rank as ranked

    found = ranked.run(options, Silent())
    if json:
        print_json(found.report)
        return
    votes = found.votes
    title = "Corrected by people's votes, 95 % intervals over queries"
    corrected = [] if votes is None else [TextTable(title, *VOTES.screen(votes.rows))]
    tables, full = board_tables(found.board)
    report = Report(
        verdict=[board_sentence(found.board)],
        tables=[*tables, *corrected],
        full=[*full, *corrected],
        lines=[LETTERS, *found.board.notes, *(() if votes is None else votes.sentences)],
        more="wins and every column",
        next=["--json gives every pair of agents with its interval and p-value."],
    )
    print_report(report, verbose=verbose)
