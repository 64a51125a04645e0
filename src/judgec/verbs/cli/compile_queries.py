"""``judgec compile-queries``."""

from judgec.verbs.cli.shell import JsonOption, RequireOption, command_of
from judgec.verbs.options.compile_queries import CompileQueriesOptions


@command_of(CompileQueriesOptions)
def compile_queries(
    options: CompileQueriesOptions, *, require_promotion: RequireOption = False, json: JsonOption = False
) -> None:
    """Optimise a query generator for what experts accept and for likeness to their queries; promote only if better.

    Example: judgec compile-queries --index docs.index --experts queries.csv
    """
    from judgec.errors import GateError
    from judgec.verbs.cli.output import run_shown
    from judgec.verbs.compile_queries import compile_queries as compiled
    from judgec.verbs.compile_queries import compiled_queries_report

    found = run_shown(compiled.run, options, compiled_queries_report, json=json)
    if require_promotion and not found.promoted:
        raise GateError(f"--require-promotion: {found.reason}.")
