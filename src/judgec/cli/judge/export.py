"""``judgec export``."""

from judgec.api.options.export import ExportOptions
from judgec.cli.shell import JsonOption, command_of


@command_of(ExportOptions)
def export(options: ExportOptions, *, json: JsonOption = False) -> None:
    """Write a judge for use outside judgec: its prompt, a folder of Python, an assertion of promptfoo."""
    from judgec.api.export import export as exported
    from judgec.cli.judge.exported import show_exported
    from judgec.cli.output import print_json
    from judgec.lm.watch import Silent

    found = exported.run(options, Silent())
    if json:
        print_json(found.report)
    else:
        show_exported(found)
