"""``judgec export``."""

from judgec.verbs.cli.shell import JsonOption, command_of
from judgec.verbs.options.export import ExportOptions


@command_of(ExportOptions)
def export(options: ExportOptions, *, json: JsonOption = False) -> None:
    """Write a judge for use outside judgec: prompt, Python, promptfoo's assertion, its labels as chat.

    Example: judgec export NAME --to python --out judge
    """
    from judgec.lm.watch import Silent
    from judgec.verbs.cli.output import print_json, print_report
    from judgec.verbs.export import export as exported
    from judgec.verbs.export import exported_report

    found = exported.run(options, Silent())
    if json:
        print_json(found.report)
    else:
        print_report(exported_report(found))
