"""``judgec generate-queries``."""

from judgec.verbs.cli.shell import JsonOption, ReportOption, command_of
from judgec.verbs.options.generate_queries import GenerateQueriesOptions


@command_of(GenerateQueriesOptions)
def generate_queries(options: GenerateQueriesOptions, *, report: ReportOption = None, json: JsonOption = False) -> None:
    """Write test queries from documents, in the manner of the experts', with every query's passage, model and seed.

    Example: judgec generate-queries --index docs.index --out queries.jsonl
    """
    from judgec.report.progress import Bar
    from judgec.report.report import write_page
    from judgec.verbs.cli.output import print_json, print_report
    from judgec.verbs.generate_queries import generate_queries as generated
    from judgec.verbs.generate_queries import generated_report

    bar = Bar(shown=not json)
    found = generated.run(options, bar)
    bar.close()
    shown = generated_report(found, report)
    if report is not None:
        write_page(shown, report)
    if json:
        print_json(found.report)
    else:
        print_report(shown)
