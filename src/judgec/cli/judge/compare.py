"""``judgec compare``."""

from judgec.api.options.compare import CompareOptions
from judgec.cli.shell import JsonOption, command_of


@command_of(CompareOptions)
def compare(options: CompareOptions, *, json: JsonOption = False) -> None:
    """Compare two judges on items that neither was compiled on: paired differences, and where they differ."""
    from judgec.api.compare import compare as compared
    from judgec.cli.judge.compared import show_compared
    from judgec.cli.output import print_json
    from judgec.report.progress import Bar

    bar = Bar(shown=not json)
    try:
        found = compared.run(options, bar)
    finally:
        bar.close()
    if json:
        print_json(found.report)
    else:
        show_compared(found, options)
