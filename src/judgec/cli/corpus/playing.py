"""``judgec evaluate`` with agents that answer first: the options of both commands in one."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated

import typer

from judgec.errors import UserError

PANEL = "Agents that answer first"


def _options(
    *,
    index: Annotated[
        str | None, typer.Option("--index", metavar="INDEX", help="What the agents search.", rich_help_panel=PANEL)
    ] = None,
    agents: Annotated[
        str | None, typer.Option("--agents", metavar="A,B,...", help="As in judgec answer.", rich_help_panel=PANEL)
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="Passages an answer rests on.", rich_help_panel=PANEL)] = 5,
    variations: Annotated[
        int, typer.Option("--variations", min=1, max=20, help="Queries RAG-Fusion adds.", rich_help_panel=PANEL)
    ] = 4,
    persona: Annotated[
        str, typer.Option("--persona", metavar="TEXT", help="'think like an engineer'", rich_help_panel=PANEL)
    ] = "",
    agents_lm: Annotated[
        str, typer.Option("--agents-lm", help="The agents' model.", rich_help_panel=PANEL)
    ] = "embedded",
) -> None:
    """Only its parameters are used."""


def with_agents(evaluate: Callable[..., None]) -> Callable[..., None]:
    """The command with ``--index``, ``--agents`` and their options; their answers join those of ``--answers``.

    A command's signature is its command line, and this one is two: so they stay two functions.
    """
    own = inspect.signature(_options).parameters
    theirs = inspect.signature(evaluate)

    @wraps(evaluate)
    def command(**given: object) -> None:
        mine = {name: given.pop(name, parameter.default) for name, parameter in own.items()}
        if mine["agents"] is not None or mine["index"] is not None:
            given["answers"] = [*_list(given.get("answers")), _answered(mine, given)]
        evaluate(**given)

    command.__signature__ = theirs.replace(  # type: ignore[attr-defined]  # how inspect lets it be said
        parameters=[*theirs.parameters.values(), *own.values()]
    )
    command.__annotations__ = {**evaluate.__annotations__, **_options.__annotations__}
    return command


def _answered(mine: dict[str, object], given: dict[str, object]) -> str:
    """The file of the agents' answers, in the tournament's folder."""
    from judgec.cli.corpus.answering import Request, answer_before

    _check_judge(str(given["judge"]), Path(str(given.get("home") or ".")), unproven=bool(given.get("unproven")))

    def text(name: str) -> str | None:
        value = given.get(name)
        return None if value is None else str(value)

    budget, cost = given.get("budget"), given.get("max_cost")
    return answer_before(
        Request(
            queries=text("queries") or "",
            agents=str(mine["agents"] or ""),
            out=Path(text("out") or "evaluation") / "agent_answers.jsonl",
            index=None if mine["index"] is None else str(mine["index"]),
            k=int(str(mine["k"])),
            variations=int(str(mine["variations"])),
            persona=str(mine["persona"]),
            rename=tuple(map(str, _list(given.get("rename")))),
            lm=str(mine["agents_lm"]),
            api_base=text("api_base"),
            budget=budget if isinstance(budget, int) else None,
            max_cost=float(cost) if isinstance(cost, int | float) else None,
            json=bool(given.get("json")),
            home=Path(text("home") or "."),
        )
    )


def _check_judge(reference: str, home: Path, *, unproven: bool) -> None:
    """Refuse a judge that the tournament would refuse, before agents spend anything.

    Raises:
        UserError: When there is none, or it is not proven without ``--unproven``.
    """
    from judgec.store import programs
    from judgec.tournament.report.evaluation import why_unproven

    name, _, wanted = reference.partition("@")
    if not wanted and programs.CHAMPION not in programs.aliases(home, name) and programs.versions(home, name):
        reference = f"{name}@{programs.LATEST}"
    why = why_unproven(programs.load(home, reference).card)
    if why and not unproven:
        raise UserError(f"--judge {reference}: {why}. Compile a better one, or pass --unproven.")


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []
