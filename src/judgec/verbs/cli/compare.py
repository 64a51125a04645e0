"""``judgec compare``."""

from functools import partial

from judgec.verbs.cli.shell import JsonOption, ReportOption, VerboseOption, command_of
from judgec.verbs.options.compare import CompareOptions


@command_of(CompareOptions)
def compare(
    options: CompareOptions, *, report: ReportOption = None, verbose: VerboseOption = False, json: JsonOption = False
) -> None:
    """Compare two judges on items that neither was compiled on: paired differences, and where they differ.

    Example: judgec compare NAME@1 NAME@2 --labels labels.csv
    """
    from judgec.verbs.cli.output import run_shown
    from judgec.verbs.compare import compare as compared
    from judgec.verbs.compare import compared_report

    shown = partial(compared_report, options=options, file=report)
    run_shown(compared.run, options, shown, json=json, verbose=verbose, page=report)
