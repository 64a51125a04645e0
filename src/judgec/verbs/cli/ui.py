"""``judgec ui``: the MLflow UI on this home's runs."""

from pathlib import Path
from typing import Annotated

import typer

from judgec.errors import ServiceError, UserError
from judgec.verbs.cli.shell import HomeOption, TrackingOption


def ui(
    host: Annotated[str, typer.Option(help="Address to listen on; others can read your runs there.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port to listen on.", show_default="the first free one from 5000"),
    ] = None,
    home: HomeOption = Path(),
    tracking_uri: TrackingOption = None,
) -> None:
    """Compare judge versions in the MLflow UI, which opens there in a browser; Ctrl-C stops it.

    Example: judgec ui
    """
    import os
    import signal
    import webbrowser

    from judgec.connect.tracking.server.ui import compare_url, free_port, runs_url, ui_server
    from judgec.connect.tracking.store import tracking_store
    from judgec.report.progress import on_screen

    store = tracking_store(home, tracking_uri, os.environ)
    if store.is_server:
        typer.echo(f"The runs are kept by an MLflow server with a UI of its own: {store.shown}")
        return
    if store.database is not None and not store.database.exists():
        raise UserError(
            f"{store.database}: nothing is tracked here yet; the first compile makes this file. "
            "Run judgec compile-judge LABELS, or name the folder that holds mlruns/ with --home."
        )
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.default_int_handler)  # stop like Ctrl-C, with the server's children
    typer.echo("Starting the MLflow UI ...", err=True)
    try:
        with free_port(host, port) as free, ui_server(store, host, free, os.environ) as server:
            typer.echo(f"MLflow UI: {server.url}  (up in {server.seconds:.0f} s; Ctrl-C stops it)")
            if comparison := compare_url(server.url):
                typer.echo(f"The newest judge's versions side by side: {comparison}")
                if on_screen():
                    webbrowser.open(comparison)
            if runs := runs_url(server.url):
                typer.echo(f"All runs: {runs}")
            code = server.process.wait()
            raise ServiceError(f"mlflow ui: it ended by itself with exit {code}. Run judgec doctor.")
    except KeyboardInterrupt:
        typer.echo("stopped.", err=True)
