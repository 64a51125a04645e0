"""``judgec ui``: the MLflow UI on this home's runs."""

from pathlib import Path
from typing import Annotated

import typer

from judgec.errors import UserError
from judgec.verbs.cli.shell import HomeOption, TrackingOption

FAST = {
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # its workers triple the start-up time
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else 3.17 hangs offline, waiting for litellm's price list
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
}


def ui(
    host: Annotated[str, typer.Option(help="Address to listen on; others can read your runs there.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port to listen on.", show_default="MLflow's, 5000")
    ] = None,
    home: HomeOption = Path(),
    tracking_uri: TrackingOption = None,
) -> None:
    """Compare judge versions in the MLflow UI; Ctrl-C stops it.

    Example: judgec ui
    """
    import os
    import sys

    from judgec.connect.tracking.store import tracking_store
    from judgec.verbs.cli.output import say

    store = tracking_store(home, tracking_uri, os.environ)
    if store.is_server:
        typer.echo(f"The runs are kept by an MLflow server with a UI of its own: {store.shown}")
        return
    if store.database is not None and not store.database.exists():
        raise UserError(
            f"{store.database}: nothing is tracked here yet; the first compile makes this file. "
            "Run judgec compile-judge LABELS, or name the folder that holds mlruns/ with --home."
        )
    say("Starting the MLflow UI ...")
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", store.uri, "--host", host, "--workers", "1"]
    command += [] if port is None else ["--port", str(port)]
    command += ["--artifacts-destination", store.artifacts] if store.artifacts else []
    os.execve(sys.executable, command, {**FAST, **os.environ})  # noqa: S606  # our own interpreter, no shell
