"""``judgec answer``."""

from judgec.verbs.cli.shell import DryRunOption, JsonOption, command_of
from judgec.verbs.options.answer import AnswerOptions


@command_of(AnswerOptions)
def answer(
    options: AnswerOptions,
    *,
    json: JsonOption = False,
    dry_run: DryRunOption = False,
) -> None:
    """Let RAG agents answer queries; an interrupted run goes on where it was.

    Example: judgec answer --index docs.index --queries queries.csv --agents rag-bm25 --out answers.jsonl
    """
    from judgec.report.progress import Bar
    from judgec.verbs.answer import answer as answered
    from judgec.verbs.answer import planned
    from judgec.verbs.answered import answers_report, plan_report, require_answers
    from judgec.verbs.cli.output import print_json, print_report

    if dry_run:
        plan = planned(options)
        if json:
            print_json(plan.to_json())
        else:
            print_report(plan_report(plan))
        return
    bar = Bar(shown=not json)
    found = answered.run(options, bar)
    bar.close()
    if json:
        print_json({"out": str(options.out), "agents": found.report, **found.spent.to_json()})
    else:
        print_report(answers_report(found, options.home))
    require_answers(found)
