"""``judgec compile-agent``."""

from judgec.verbs.cli.shell import JsonOption, RequireOption, command_of
from judgec.verbs.options.compile_agent import CompileAgentOptions


@command_of(CompileAgentOptions)
def compile_agent(
    options: CompileAgentOptions, *, require_promotion: RequireOption = False, json: JsonOption = False
) -> None:
    """Optimize an agent's prompts for a compiled judge, or for answers that experts accepted.

    Example: judgec compile-agent rag-bm25 --index docs.index --queries queries.csv --judge NAME
    """
    from judgec.errors import GateError
    from judgec.report.progress import Bar
    from judgec.verbs.agent_compilation import agent_report
    from judgec.verbs.cli.output import print_json, print_report
    from judgec.verbs.compile_agent import compile_agent as compiled

    bar = Bar(shown=not json)
    found = compiled.run(options, bar)
    bar.close()
    if json:
        print_json(found.report)
    else:
        print_report(agent_report(found, options))
    if require_promotion and not found.promoted:
        raise GateError(f"{found.name}: {found.reason}")
