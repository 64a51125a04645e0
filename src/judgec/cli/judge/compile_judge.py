"""``judgec compile-judge``."""

from judgec.api.options.compile_judge import CompileJudgeOptions
from judgec.cli.shell import DryRunOption, JsonOption, JunitOption, RequireOption, command_of


@command_of(CompileJudgeOptions)
def compile_judge(
    options: CompileJudgeOptions,
    *,
    require_promotion: RequireOption = False,
    junit: JunitOption = None,
    json: JsonOption = False,
    dry_run: DryRunOption = False,
) -> None:
    """Compile a judge from expert labels and measure it on labels it has never seen."""
    from judgec.api.compile_judge import compile_judge as compiled
    from judgec.api.compile_judge import planned
    from judgec.cli.gates import end_gated, needs_gate
    from judgec.cli.judge.compiled import judges_table, plan_to_json, show_compiled, show_plan
    from judgec.cli.output import print_json
    from judgec.report.gates import Gate
    from judgec.report.progress import Bar

    needs_gate(junit, gated=require_promotion, option="--require-promotion")
    bar = Bar(shown=not json)
    if dry_run:
        settings, dataset, plan = planned(options, bar)
        if json:
            print_json(plan_to_json(settings, dataset, plan))
        else:
            show_plan(settings, plan)
        return
    try:
        found = compiled.run(options, bar)
    finally:
        bar.close()
    if json:
        print_json(found.report)
    else:
        show_compiled(found, options)
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
