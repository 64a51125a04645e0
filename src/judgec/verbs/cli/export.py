"""``judgec export``."""

from judgec.verbs.cli.shell import JsonOption, command_of
from judgec.verbs.options.export import ExportOptions


@command_of(ExportOptions)
def export(options: ExportOptions, *, json: JsonOption = False) -> None:
    """Write a judge for use outside judgec: prompt, Python, promptfoo's assertion, its labels as chat.

    Example: judgec export NAME --to python --out judge
    """
    from judgec.lm.watch import Silent
    from judgec.verbs.cli.output import show
    from judgec.verbs.export import export as exported
    from judgec.verbs.export import exported_report

    show(exported_report(exported.run(options, Silent())), json=json)
