"""``judgec compare``."""

from judgec.verbs.cli.shell import JsonOption, ReportOption, command_of
from judgec.verbs.options.compare import CompareOptions


@command_of(CompareOptions)
def compare(options: CompareOptions, *, report: ReportOption = None, json: JsonOption = False) -> None:
    """Compare two judges on items that neither was compiled on: paired differences, and where they differ."""
    from judgec.report.progress import Bar
    from judgec.verbs.cli.judge.compared import show_compared, write_compared_page
    from judgec.verbs.cli.output import print_json, say
    from judgec.verbs.compare import compare as compared

    bar = Bar(shown=not json)
    try:
        found = compared.run(options, bar)
    finally:
        bar.close()
    if report is not None:
        write_compared_page(found, report)
    if json:
        print_json(found.report)
        return
    show_compared(found, options)
    say(*([] if report is None else [f"report: {report}"]))
