"""``judgec rubric``."""

from judgec.verbs.cli.shell import JsonOption, command_of
from judgec.verbs.options.rubric import RubricOptions


@command_of(RubricOptions)
def rubric(options: RubricOptions, *, json: JsonOption = False) -> None:
    """Show what a judge's prompt says that its rubric did not; accept, edit or leave each line.

    Example: judgec rubric NAME --accept 1,3 --edit "2=An answer names its source."
    """
    from judgec.lm.watch import Silent
    from judgec.verbs.cli.output import show
    from judgec.verbs.rubric import rubric as read
    from judgec.verbs.rubric import rubric_report

    show(rubric_report(read.run(options, Silent())), json=json)
