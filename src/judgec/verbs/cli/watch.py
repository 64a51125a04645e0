"""``judgec watch``."""

import re
import sys
import time
from collections.abc import Callable
from typing import Annotated

import typer

from judgec.errors import UserError
from judgec.verbs.cli.shell import JsonOption, command_of
from judgec.verbs.options.watch import WatchOptions

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])")


@command_of(WatchOptions)
def watch(
    options: WatchOptions,
    *,
    every: Annotated[
        str, typer.Option("--every", metavar="10m", help="Time between two looks: s, m, h, d.", rich_help_panel="How")
    ] = "10m",
    once: Annotated[bool, typer.Option("--once", help="Look once, for cron.", rich_help_panel="How")] = False,
    json: JsonOption = False,
) -> None:
    """Judge a sample of an application's new traces; keep its accept rate, and notice drift.

    Example: judgec watch --source mlflow:EXPERIMENT --judge NAME

    It looks again every ten minutes until Ctrl-C ends it; with --once it looks once.
    """
    keep_looking(options, seconds=duration(every), once=once, json=json, wait=time.sleep)


def duration(text: str) -> float:
    """Seconds of ``10m``.

    Raises:
        UserError: It is none.
    """
    found = _DURATION.fullmatch(text.strip())
    if found is None or not float(found[1]):
        raise UserError(f"--every {text}: 30s, 10m, 2h or 1d are valid. Write it so.")
    return float(found[1]) * SECONDS[found[2]]


def keep_looking(
    options: WatchOptions, *, seconds: float, once: bool, json: bool, wait: Callable[[float], None]
) -> None:
    """Look until an alert fires, or once.

    Raises:
        GateError: An alert has fired.
    """
    from judgec.errors import GateError, ServiceError
    from judgec.verbs.cli.output import run_shown, say
    from judgec.verbs.watch import look_report
    from judgec.verbs.watch import watch as look

    while True:
        try:
            found = run_shown(look.run, options, look_report, json=json)
        except ServiceError as error:
            if once:
                raise
            say(f"note: {error} The next look is in {seconds:g} s.")  # outages end
            wait(seconds)
            continue
        sys.stdout.flush()  # a pipe or a log file shows each look when it was made, not when the watch ends
        if found.fired:
            raise GateError("; ".join(found.fired))
        if once:
            return
        wait(seconds)
