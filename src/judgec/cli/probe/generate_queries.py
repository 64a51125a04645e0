"""``judgec generate-queries``."""

from judgec.api.options.generate_queries import GenerateQueriesOptions
from judgec.cli.shell import JsonOption, command_of


@command_of(GenerateQueriesOptions)
def generate_queries(options: GenerateQueriesOptions, *, json: JsonOption = False) -> None:
    """Write test queries from documents, in the manner of the experts', with every query's passage, model and seed."""
    from judgec.api.generate_queries import generate_queries as generated
    from judgec.cli.output import print_json
    from judgec.cli.probe.tables import show_generated
    from judgec.report.progress import Bar

    bar = Bar(shown=not json)
    found = generated.run(options, bar)
    bar.close()
    if json:
        print_json(found.report)
    else:
        show_generated(found)
