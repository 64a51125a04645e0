"""``judgec generate-queries``."""

from judgec.api.options.generate_queries import GenerateQueriesOptions
from judgec.cli.shell import JsonOption, ReportOption, command_of


@command_of(GenerateQueriesOptions)
def generate_queries(options: GenerateQueriesOptions, *, report: ReportOption = None, json: JsonOption = False) -> None:
    """Write test queries from documents, in the manner of the experts', with every query's passage, model and seed."""
    from judgec.api.generate_queries import generate_queries as generated
    from judgec.cli.output import print_json, say
    from judgec.cli.probe.query_page import write_query_page
    from judgec.cli.probe.tables import show_generated
    from judgec.report.progress import Bar

    bar = Bar(shown=not json)
    found = generated.run(options, bar)
    bar.close()
    if report is not None:
        write_query_page(found, report)
    if json:
        print_json(found.report)
        return
    show_generated(found)
    say(*([] if report is None else [f"report: {report}"]))
