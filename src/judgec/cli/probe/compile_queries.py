"""``judgec compile-queries``."""

from judgec.api.options.compile_queries import CompileQueriesOptions
from judgec.cli.shell import JsonOption, RequireOption, command_of


@command_of(CompileQueriesOptions)
def compile_queries(
    options: CompileQueriesOptions, *, require_promotion: RequireOption = False, json: JsonOption = False
) -> None:
    """Optimise a query generator for what experts accept and for likeness to their queries; promote only if better."""
    from judgec.api.compile_queries import compile_queries as compiled
    from judgec.cli.output import print_json
    from judgec.cli.probe.tables import show_compiled_queries
    from judgec.errors import GateError
    from judgec.report.progress import Bar

    bar = Bar(shown=not json)
    found = compiled.run(options, bar)
    bar.close()
    if json:
        print_json(found.report)
    else:
        show_compiled_queries(found)
    if require_promotion and not found.promoted:
        raise GateError(f"--require-promotion: {found.reason}.")
