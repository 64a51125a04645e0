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
    from judgec.verbs.cli.output import needs_gate, run_barred, run_shown, show
    from judgec.verbs.compilation import compiled_report, plan_report
    from judgec.verbs.compile_judge import compile_judge as compiled
    from judgec.verbs.compile_judge import planned

    needs_gate(junit, gated=require_promotion, option="--require-promotion")
    if dry_run:
        show(plan_report(*run_barred(planned, options, json=json)), json=json)
        return
    run_shown(
        compiled.run,
        options,
        lambda found: compiled_report(found, options, gated=require_promotion),
        json=json,
        verbose=verbose,
        junit=junit,
    )
