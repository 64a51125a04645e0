"""``judgec generate-queries``."""

from judgec.verbs.cli.shell import JsonOption, ReportOption, command_of
from judgec.verbs.options.generate_queries import GenerateQueriesOptions


@command_of(GenerateQueriesOptions)
def generate_queries(options: GenerateQueriesOptions, *, report: ReportOption = None, json: JsonOption = False) -> None:
    """Write test queries from documents, in the manner of the experts', with every query's passage, model and seed.

    Example: judgec generate-queries --index docs.index --out queries.jsonl
    """
    from judgec.verbs.cli.output import run_shown
    from judgec.verbs.generate_queries import generate_queries as generated
    from judgec.verbs.generate_queries import generated_report

    run_shown(generated.run, options, lambda found: generated_report(found, report), json=json, page=report)
