"""``judgec export``."""

from judgec.verbs.cli.shell import JsonOption, command_of
from judgec.verbs.options.export import ExportOptions


@command_of(ExportOptions)
def export(options: ExportOptions, *, json: JsonOption = False) -> None:
    """Write a judge for use outside judgec: its prompt, a folder of Python, an assertion of promptfoo."""
    from judgec.lm.watch import Silent
    from judgec.verbs.cli.judge.exported import show_exported
    from judgec.verbs.cli.output import print_json
    from judgec.verbs.export import export as exported

    found = exported.run(options, Silent())
    if json:
        print_json(found.report)
    else:
        show_exported(found)
