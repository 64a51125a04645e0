"""Makes a command of a verb: the options of the verb's record, and what concerns only the screen.

``@command_of(AuditOptions)`` makes a command of a function whose first parameter is such a record. Its other parameters
are options of the command alone, annotated as typer wants them (``json: JsonOption = False``).
"""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast, get_args

import typer

from judgec.table import seal
from judgec.verbs.cli.output import say
from judgec.verbs.options.option import Declared, declared
from judgec.verbs.options.shared import ApiBase, Home, TrackingUri

R = TypeVar("R")


def _shared_option(alias: object, flag: str) -> object:
    """A shared option for a command that is no verb's."""
    (about,) = get_args(alias)[1:]
    return typer.Option(flag, metavar=about.metavar, help=about.help, rich_help_panel=about.panel)


HomeOption = Annotated[Path, _shared_option(Home, "--home")]
TrackingOption = Annotated[str | None, _shared_option(TrackingUri, "--tracking-uri")]
ApiBaseOption = Annotated[str | None, _shared_option(ApiBase, "--api-base")]
VerboseOption = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Print every table, legend and note too.", rich_help_panel="Output"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.", rich_help_panel="Output")]
JunitOption = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write the gates as JUnit XML.", rich_help_panel="Output"),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what it would ask and cost, and ask nothing.", rich_help_panel="Cost")
]
ReportOption = Annotated[
    Path | None,
    typer.Option("--report", metavar="PAGE.html", help="Write a page to show to others.", rich_help_panel="Output"),
]
RequireOption = Annotated[
    bool,
    typer.Option("--require-promotion", help="Exit 1 when it is not shown to be better.", rich_help_panel="Output"),
]


def command_of(kind: type[R], *, project: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function that takes the options of a verb, and some of its own.

    Args:
        kind: The dataclass that declares the verb's options (``judgec.verbs.options``).
        project: Take what was not typed from ``judgec.toml``.

    Returns: The decorator; the command takes all options by name.
    """
    build: Callable[..., R] = kind
    known = {one.name: one for one in declared(kind) if not one.option.python_only}

    def decorate(run: Callable[..., None]) -> Callable[..., None]:
        own = list(signature(run, eval_str=True).parameters.values())[1:]

        @wraps(run)
        def command(**given: object) -> None:
            mine = {one.name: given.pop(one.name) for one in own if one.name in given}
            taken = {name: _as_python(known[name], value) for name, value in given.items() if value is not None}
            options = build(**(_completed(kind, taken) if project else taken))
            with seal.reading(bool(getattr(options, "allow_modified", False))):
                run(options, **mine)
                say(*[f"note: {note}" for note in seal.notes()])

        derived = [_derived(one) for one in known.values()]
        command.__signature__ = Signature([*derived, *own])  # type: ignore[attr-defined]  # how inspect lets it be said
        command.__annotations__ = {}
        return command

    return decorate


def _completed(kind: type, taken: dict[str, object]) -> dict[str, object]:
    """What was typed, and what ``judgec.toml`` says besides."""
    if not any(one.option.project for one in declared(kind)):
        return taken
    from judgec.verbs.cli.project import completed

    return completed(kind, taken)


def _derived(one: Declared) -> Parameter:
    """An option of a verb as typer wants it."""
    usual = ",".join(one.default) if one.option.commas and isinstance(one.default, tuple) else ""  # as it is typed
    listed = one.pairs or one.several
    hint: Any = list[str] if listed and not usual else str if listed or one.hint is object else one.hint
    default: Any = usual or None if listed or one.required else one.default
    about = one.option
    if about.needed:
        default = Parameter.empty
    required = one.required and (about.needed or not about.project)  # judgec.toml may have it
    shown: bool | str = not (one.path and "default:" in about.help)  # the help says it better
    if about.project and not one.required and default is not None:
        shown, default = str(default), None  # so that what is typed is told from what is not
    optional = not required and (default is None or one.required)
    said: object = (
        typer.Argument(metavar=about.metavar, help=about.help, show_default=False)
        if about.positional
        else typer.Option(
            _flags(one),
            metavar=about.metavar,
            help=about.help,
            min=about.least,
            max=about.most,
            rich_help_panel=about.panel,
            show_default=shown,
        )
    )
    return Parameter(
        one.name,
        Parameter.KEYWORD_ONLY,
        default=Parameter.empty if required else None if one.required else default,
        annotation=Annotated[hint | None if optional else hint, said],
    )


def _flags(one: Declared) -> str:
    return f"{one.flag}/--no-{one.flag.removeprefix('--')}" if one.option.off else one.flag


def _as_python(one: Declared, value: object) -> object:
    """What was typed, as the record has it."""
    from judgec.labels.rows.ranges import as_judges, interval_scale
    from judgec.table.rows.columns import as_names, as_rename

    if one.option.commas and isinstance(value, list):
        value = ",".join(value)  # what is typed again adds to it
    if one.option.project == "scale":
        return interval_scale(str(value))
    if one.option.project == "judges":
        return as_judges(value)
    if one.pairs:
        pairs = as_names(value, one.flag) if isinstance(value, str) else cast("list[str]", value)  # what repeats
        return as_rename(pairs, one.flag, one.option.metavar or "THEIRS=OURS")
    if one.several:
        return as_names(value, one.flag) if isinstance(value, str) else tuple(cast("list[str]", value))  # what repeats
    return value
