"""``judgec answer``."""

from judgec.api.options.answer import AnswerOptions
from judgec.cli.shell import DryRunOption, JsonOption, command_of


@command_of(AnswerOptions)
def answer(
    options: AnswerOptions,
    *,
    json: JsonOption = False,
    dry_run: DryRunOption = False,
) -> None:
    """Let RAG agents answer queries; an interrupted run goes on where it was."""
    from judgec.api.answer import answer as answered
    from judgec.api.answer import planned
    from judgec.cli.corpus.answered import require_answers, show_answers, show_plan
    from judgec.cli.output import print_json
    from judgec.report.progress import Bar

    if dry_run:
        plan = planned(options)
        if json:
            print_json(plan.to_json())
        else:
            show_plan(plan)
        return
    bar = Bar(shown=not json)
    found = answered.run(options, bar)
    bar.close()
    if json:
        print_json({"out": str(options.out), "agents": found.report, **found.spent.to_json()})
    else:
        show_answers(found)
    require_answers(found)
