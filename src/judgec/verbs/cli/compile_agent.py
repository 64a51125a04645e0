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
    from judgec.verbs.agent_compilation import agent_report
    from judgec.verbs.cli.output import run_shown
    from judgec.verbs.compile_agent import compile_agent as compiled

    found = run_shown(compiled.run, options, lambda made: agent_report(made, options), json=json)
    if require_promotion and not found.promoted:
        raise GateError(f"{found.name}: {found.reason}")
