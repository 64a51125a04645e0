"""``judgec index``."""

from judgec.verbs.cli.shell import JsonOption, command_of
from judgec.verbs.options.index import IndexOptions


@command_of(IndexOptions)
def index(options: IndexOptions, *, json: JsonOption = False) -> None:
    """Make documents searchable by words and by meaning; run again, it reads only what changed.

    Example: judgec index docs --out docs.index
    """
    from judgec.report.progress import Bar
    from judgec.verbs.cli.output import print_json, print_report
    from judgec.verbs.index import index as indexed
    from judgec.verbs.index import index_report

    bar = Bar(shown=not json)
    found = indexed.run(options, bar)
    bar.close()
    if json:
        print_json(found.report)
    else:
        print_report(index_report(found))
