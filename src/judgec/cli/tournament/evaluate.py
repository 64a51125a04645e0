"""``judgec evaluate``."""

from judgec.api.options.evaluate import EvaluateOptions
from judgec.cli.shell import JsonOption, command_of


@command_of(EvaluateOptions)
def evaluate(options: EvaluateOptions, *, json: JsonOption = False) -> None:
    """Rank RAG agents from their answers with a compiled judge; an interrupted run goes on where it was."""
    from judgec.api.evaluate import evaluate as evaluated
    from judgec.cli.output import print_json, say
    from judgec.cli.tournament.evaluated import show_tournament
    from judgec.errors import GateError
    from judgec.report.progress import Bar
    from judgec.stats.intervals.gate import announced

    bar = Bar(shown=not json)
    found = evaluated.run(options, bar)
    bar.close()
    if json:
        print_json(found.report)
    else:
        show_tournament(found)
    if found.gate is not None:
        said = announced(found.gate.verdict, f"--gate {options.gate}: {found.gate.sentence}")
        if found.gate.verdict != "passed":
            raise GateError(said)
        say(said)
