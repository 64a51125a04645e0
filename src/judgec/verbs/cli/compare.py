"""``judgec compare``."""

from judgec.verbs.cli.shell import JsonOption, ReportOption, VerboseOption, command_of
from judgec.verbs.options.compare import CompareOptions


@command_of(CompareOptions)
def compare(
    options: CompareOptions, *, report: ReportOption = None, verbose: VerboseOption = False, json: JsonOption = False
) -> None:
    """Compare two judges on items that neither was compiled on: paired differences, and where they differ.

    Example: judgec compare NAME@1 NAME@2 --labels labels.csv
    """
    from judgec.report.progress import Bar
    from judgec.report.report import write_page
    from judgec.verbs.cli.output import print_json, print_report
    from judgec.verbs.compare import compare as compared
    from judgec.verbs.compare import compared_report

    bar = Bar(shown=not json)
    try:
        found = compared.run(options, bar)
    finally:
        bar.close()
    shown = compared_report(found, options, report)
    if report is not None:
        write_page(shown, report)
    if json:
        print_json(found.report)
    else:
        print_report(shown, verbose=verbose)
