"""``judgec evaluate``."""

from functools import partial

from judgec.verbs.cli.shell import JsonOption, JunitOption, VerboseOption, command_of
from judgec.verbs.options.evaluate import EvaluateOptions


@command_of(EvaluateOptions)
def evaluate(
    options: EvaluateOptions, *, junit: JunitOption = None, verbose: VerboseOption = False, json: JsonOption = False
) -> None:
    """Rank RAG agents from their answers with a compiled judge; an interrupted run goes on where it was.

    Example: judgec evaluate --queries queries.csv --answers answers.jsonl --judge NAME
    """
    from judgec.verbs.cli.output import needs_gate, run_shown
    from judgec.verbs.evaluate import evaluate as evaluated
    from judgec.verbs.tournament import tournament_report

    needs_gate(junit, gated=options.gate is not None, option="--gate")
    shown = partial(tournament_report, gate=options.gate)
    run_shown(evaluated.run, options, shown, json=json, verbose=verbose, junit=junit)
