"""Writes the help of commands: options under headings, names of values in plain words, no sentence cut short."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

from judgec.errors import UserError
from judgec.verbs.options.option import Panel

HEADINGS = get_args(Panel)
PLAIN = {"int": "N", "int range": "N", "float": "NUMBER", "float range": "NUMBER", "path": "PATH"}  # else TEXT
SPREAD = "--grid"  # what follows it may be several NAME=VALUE, as shells of experiments have it
_CHOICES = re.compile(r"Value error, (['\"])(.*)\1 is not one of (.*?)\.?", re.DOTALL)  # typer's words
_SETTING = re.compile(r"[a-z_]+=")
Rows = dict[str, list[tuple[str, str]]]
Context = Any  # typer publishes neither the type of a context as its commands have it, nor that of a formatter
Formatter = Any


class PlainCommand(TyperCommand):
    """A command whose help has its options under the headings of ``Panel``."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read what was typed; ``--grid A=1,2 B=3`` is ``--grid A=1,2 --grid B=3``.

        Raises:
            UserError: An option has a value that is none of its few.
        """
        if any(SPREAD in one.opts for one in self.get_params(ctx)):
            args = list(_repeated(args))
        try:
            return super().parse_args(ctx, args)
        except BadParameter as error:
            if error.param is None or (said := _CHOICES.fullmatch(error.message)) is None:
                raise
            valid = said[3].replace("'", "")
            verb = "are" if "," in valid else "is"
            raise UserError(f"{error.param.opts[-1]} {said[2]}: {valid} {verb} valid. Correct it.") from None

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """``[OPTIONS] FILE``, and ``[FILE]`` where the command goes without it."""
        arguments = [one for one in self.get_params(ctx) if one.param_type_name == "argument"]
        return ["[OPTIONS]", *(_argument(one) if one.required else f"[{_argument(one)}]" for one in arguments)]

    def format_options(self, ctx: Context, formatter: Formatter) -> None:
        """Write the headings, what is read and judged first."""
        rows: Rows = {}
        for one in self.get_params(ctx):
            if (said := _said(one, ctx)) is not None:
                usual = HEADINGS[0] if one.param_type_name == "argument" else None
                rows.setdefault(usual or getattr(one, "rich_help_panel", None) or "Other", []).append(said)
        _write(rows, [*HEADINGS, "Other"], formatter)


class PlainGroup(TyperGroup):
    """Commands under headings, each with the whole of its first sentence."""

    def format_commands(self, ctx: Context, formatter: Formatter) -> None:
        """Write the headings in the order in which they were named first."""
        rows: Rows = {}
        for name in self.list_commands(ctx):
            one = self.get_command(ctx, name)
            if one is not None and not one.hidden:
                about = one.get_short_help_str(limit=10_000)
                rows.setdefault(getattr(one, "rich_help_panel", None) or "Commands", []).append((name, about))
        _write(rows, list(rows), formatter)


def _repeated(args: Sequence[str]) -> Iterator[str]:
    spread = False
    for place, arg in enumerate(args):
        setting = _SETTING.match(arg) is not None
        if spread and setting and args[place - 1] != SPREAD:
            yield SPREAD
        spread = arg.partition("=")[0] == SPREAD or (spread and setting)
        yield arg


def _write(rows: Rows, order: Iterable[str], formatter: Formatter) -> None:
    for heading in order:
        if heading in rows:
            with formatter.section(heading):
                formatter.write_dl(rows[heading])


def _said(one: Any, ctx: Context) -> tuple[str, str] | None:
    """The name of an option or argument, and what it is for."""
    if one.metavar is None and one.param_type_name == "option" and not one.is_flag:
        kind = one.display_type(ctx).strip("<>")
        one.metavar = kind if "|" in kind else PLAIN.get(kind, "TEXT")
    record: tuple[str, str] | None = one.get_help_record(ctx)
    if record is None or one.param_type_name == "option":
        return record
    return _argument(one), record[1].removesuffix("  [required]")


def _argument(one: Any) -> str:
    return str(one.metavar or one.name.upper())
