"""``judgec compile-agent``."""

from judgec.api.options.compile_agent import CompileAgentOptions
from judgec.cli.shell import JsonOption, RequireOption, command_of


@command_of(CompileAgentOptions)
def compile_agent(
    options: CompileAgentOptions, *, require_promotion: RequireOption = False, json: JsonOption = False
) -> None:
    """Optimize an agent's prompts for a compiled judge, or for answers that experts accepted."""
    from judgec.api.compile_agent import compile_agent as compiled
    from judgec.cli.corpus.compiled_agent import show_agent
    from judgec.cli.output import print_json
    from judgec.errors import GateError
    from judgec.report.progress import Bar

    bar = Bar(shown=not json)
    found = compiled.run(options, bar)
    bar.close()
    if json:
        print_json(found.report)
    else:
        show_agent(found, options)
    if require_promotion and not found.promoted:
        raise GateError(f"{found.name}: {found.reason}")
