"""``judgec index``."""

from judgec.verbs.cli.shell import JsonOption, command_of
from judgec.verbs.options.index import IndexOptions


@command_of(IndexOptions)
def index(options: IndexOptions, *, json: JsonOption = False) -> None:
    """Make documents searchable by words and by meaning; run again, it reads only what changed.

    Example: judgec index docs --out docs.index
    """
    from judgec.verbs.cli.output import run_shown
    from judgec.verbs.index import index as indexed
    from judgec.verbs.index import index_report

    run_shown(indexed.run, options, index_report, json=json)
