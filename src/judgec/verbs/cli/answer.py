"""``judgec answer``."""

from functools import partial

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
    from judgec.verbs.answer import answer as answered
    from judgec.verbs.answer import planned
    from judgec.verbs.answered import answers_report, plan_report, require_answers
    from judgec.verbs.cli.output import run_shown, show

    if dry_run:
        show(plan_report(planned(options)), json=json)
        return
    require_answers(run_shown(answered.run, options, partial(answers_report, home=options.home), json=json))
