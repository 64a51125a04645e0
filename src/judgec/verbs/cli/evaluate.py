"""``judgec evaluate``."""

from judgec.verbs.cli.shell import JsonOption, JunitOption, VerboseOption, command_of
from judgec.verbs.options.evaluate import EvaluateOptions


@command_of(EvaluateOptions)
def evaluate(
    options: EvaluateOptions, *, junit: JunitOption = None, verbose: VerboseOption = False, json: JsonOption = False
) -> None:
    """Rank RAG agents from their answers with a compiled judge; an interrupted run goes on where it was.

    Example: judgec evaluate --queries queries.csv --answers answers.jsonl --judge NAME
    """
    from judgec.tournament.render import board_table
    from judgec.verbs.cli.gates import Gate, end_gated, needs_gate
    from judgec.verbs.cli.output import run_shown, say
    from judgec.verbs.evaluate import evaluate as evaluated
    from judgec.verbs.tournament import tournament_report

    needs_gate(junit, gated=options.gate is not None, option="--gate")
    found = run_shown(evaluated.run, options, tournament_report, json=json, verbose=verbose)
    if json and found.found.unproven:
        say(f"UNPROVEN JUDGE: {found.found.unproven}.")
    if found.gate is not None:
        unproven = f" UNPROVEN JUDGE: {found.found.unproven}." if found.found.unproven else ""
        end_gated(
            "evaluate",
            [Gate(str(options.gate), found.gate.verdict, found.gate.sentence)],
            sentence=f"--gate {options.gate}: {found.gate.sentence}{unproven}",
            junit_file=junit,
            tables=[board_table(found.found.board)],
            report=found.report_path,
        )
