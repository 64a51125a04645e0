"""``judgec compile-judge``."""

from typing import Annotated

import typer

from judgec.api.options.compile_judge import CompileJudgeOptions
from judgec.cli.shell import JsonOption, RequireOption, command_of


@command_of(CompileJudgeOptions)
def compile_judge(
    options: CompileJudgeOptions,
    *,
    require_promotion: RequireOption = False,
    json: JsonOption = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would ask and cost, and ask nothing.", rich_help_panel="Cost")
    ] = False,
) -> None:
    """Compile a judge from expert labels and measure it on labels it has never seen."""
    from judgec.api.compile_judge import compile_judge as compiled
    from judgec.api.compile_judge import planned
    from judgec.cli.judge.compiled import plan_to_json, show_compiled, show_plan
    from judgec.cli.output import print_json
    from judgec.errors import GateError
    from judgec.report.progress import Bar

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
    if require_promotion and not found.promoted:
        raise GateError(f"{found.name}: not promoted; {found.reason}")
