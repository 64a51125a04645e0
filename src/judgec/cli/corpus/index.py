"""``judgec index``."""

from judgec.api.options.index import IndexOptions
from judgec.cli.shell import JsonOption, command_of


@command_of(IndexOptions)
def index(options: IndexOptions, *, json: JsonOption = False) -> None:
    """Make documents searchable by words and by meaning; run again, it reads only what changed."""
    from judgec.api.index import index as indexed
    from judgec.cli.corpus.indexed import show_index
    from judgec.cli.output import print_json
    from judgec.report.progress import Bar

    bar = Bar(shown=not json)
    found = indexed.run(options, bar)
    bar.close()
    if json:
        print_json(found.report)
    else:
        show_index(found)
