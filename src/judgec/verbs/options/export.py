"""Options of ``judgec.export``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import Home, UnusedTracking

Target = Literal["prompt", "promptfoo", "python"]
TARGETS: tuple[Target, ...] = get_args(Target)


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Options of ``export``: the judge, the form, and where it goes."""

    judge: Annotated[
        str,
        Option(
            "A compiled judge: @champion, @latest or a number.",
            metavar="NAME[@VERSION]",
            positional=True,
            panel="What",
        ),
    ]
    to: Annotated[
        Target,
        Option(
            "prompt: the bare prompt; python: a folder that needs numpy alone; promptfoo: an assertion for it.",
            panel="What",
        ),
    ]
    out: Annotated[
        Path,
        Option(
            "A new folder; of a prompt a new .json, or .txt for the text alone.",
            metavar="PATH",
            panel="Output",
        ),
    ]
    home: Home = Path()
    tracking_uri: UnusedTracking = None
