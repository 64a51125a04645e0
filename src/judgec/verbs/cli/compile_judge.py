"""``judgec compile-judge``."""

from judgec.verbs.cli.shell import DryRunOption, JsonOption, JunitOption, RequireOption, VerboseOption, command_of
from judgec.verbs.options.compile_judge import CompileJudgeOptions


@command_of(CompileJudgeOptions)
def compile_judge(
    options: CompileJudgeOptions,
    *,
    require_promotion: RequireOption = False,
    junit: JunitOption = None,
    json: JsonOption = False,
    dry_run: DryRunOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Compile a judge from expert labels and measure it on labels it has never seen.

    Example: judgec compile-judge labels.csv --lm openai/gpt-4o-mini
    """
    from judgec.report.progress import Bar
    from judgec.verbs.cli.gates import Gate, end_gated, needs_gate
    from judgec.verbs.cli.output import print_json, print_report
    from judgec.verbs.compilation import compiled_report, judges_table, plan_report, plan_to_json
    from judgec.verbs.compile_judge import compile_judge as compiled
    from judgec.verbs.compile_judge import planned

    needs_gate(junit, gated=require_promotion, option="--require-promotion")
    bar = Bar(shown=not json)
    if dry_run:
        settings, dataset, plan = planned(options, bar)
        if json:
            print_json(plan_to_json(settings, dataset, plan))
        else:
            print_report(plan_report(settings, dataset, plan))
        return
    try:
        found = compiled.run(options, bar)
    finally:
        bar.close()
    if json:
        print_json(found.report)
    else:
        print_report(compiled_report(found, options), verbose=verbose)
    if require_promotion:
        sentence = f"{found.name}: {'promoted' if found.promoted else 'not promoted'}; {found.reason}"
        end_gated(
            "compile-judge",
            [Gate("--require-promotion", "passed" if found.promoted else "not shown", sentence)],
            sentence=sentence,
            junit_file=junit,
            tables=[judges_table(found)],
            report=found.report_path,
            quiet=found.promoted,
            announce=False,
        )
