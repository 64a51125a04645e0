"""``judgec generate-queries``."""

from judgec.verbs.cli.shell import JsonOption, ReportOption, command_of
from judgec.verbs.options.generate_queries import GenerateQueriesOptions


@command_of(GenerateQueriesOptions)
def generate_queries(options: GenerateQueriesOptions, *, report: ReportOption = None, json: JsonOption = False) -> None:
    """Write test queries from documents, in the manner of the experts', with every query's passage, model and seed."""
    from judgec.report.progress import Bar
    from judgec.verbs.cli.output import print_json, say
    from judgec.verbs.cli.probe.query_page import write_query_page
    from judgec.verbs.cli.probe.tables import show_generated
    from judgec.verbs.generate_queries import generate_queries as generated

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
