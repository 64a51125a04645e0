"""``judgec open``: the newest page of a judge, an agent, a tournament or a probe, in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from judgec.verbs.cli.shell import HomeOption


def open_page(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A judge, an agent, or the folder of a tournament or probe.")
    ],
    home: HomeOption = Path(),
    only_print: Annotated[
        bool, typer.Option("--print", help="Print its path and open nothing.", rich_help_panel="Output")
    ] = False,
) -> None:
    """Open the newest page of a judge, an agent, a tournament or a probe.

    Example: judgec open NAME
    """
    import os
    import sys
    import webbrowser

    from judgec.report.pages import newest_page

    page = newest_page(home, name).resolve()
    typer.echo(str(page))
    if only_print or os.environ.get("SSH_CONNECTION"):
        return
    if sys.platform.startswith("linux") and not ({"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"} & set(os.environ)):
        typer.echo("note: no browser can be opened here; the path is above.", err=True)
    elif not webbrowser.open(page.as_uri()):
        typer.echo("note: no browser was found; the path is above.", err=True)
