"""Options that several commands share, each defined once; and how a command gets its options.

A command's options are the fields of a frozen dataclass, its request: ``@command_of(Request)`` makes a command of a
function that takes one. So an option's name, type, default and help stand in one place, and tests and demos make the
same request by hand.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, get_annotations
from pathlib import Path
from typing import Annotated, TypeVar, get_args, get_origin, get_type_hints

import typer

R = TypeVar("R")

JUDGE = typer.Option("--judge", metavar="NAME[@VERSION]", help="A compiled judge: @champion, @latest or a number.")
INDEX = typer.Option("--index", metavar="INDEX", help="What agents search: from judgec index, or postgresql://...")
QUERIES = typer.Option("--queries", metavar="FILE", help="Table of query, query_id?, reference?")

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
HomeOption = Annotated[Path, typer.Option("--home", help="Folder that holds programs/, mlruns/ and .judgec/.")]
TrackingOption = Annotated[
    str | None,
    typer.Option(
        "--tracking-uri",
        metavar="URI",
        help="An MLflow server or database; default: MLFLOW_TRACKING_URI, else mlruns/mlflow.db.",
    ),
]
MapOption = Annotated[
    tuple[str, ...],
    typer.Option("--map", metavar="THEIRS=OURS", help="Rename a column; repeat for several."),
]
AnnotatorsOption = Annotated[
    str | None,
    typer.Option("--annotators", metavar="A,B,...", help="Columns that hold one rater's labels each."),
]
AcceptAtOption = Annotated[
    str | None, typer.Option("--accept-at", metavar="GRADE", help="The lowest grade that counts as accepted.")
]
ApiBaseOption = Annotated[
    str | None,
    typer.Option("--api-base", metavar="URL", help="An OpenAI-compatible endpoint (vLLM, a gateway)."),
]
BudgetOption = Annotated[int | None, typer.Option("--budget", min=1, metavar="CALLS", help="Most LM calls.")]
MaxCostOption = Annotated[float | None, typer.Option("--max-cost", min=0, metavar="USD", help="Most dollars.")]
LmOption = Annotated[str, typer.Option("--lm", help="The model that is asked: embedded, openai/gpt-4o-mini, ...")]
OtherLmOption = Annotated[str | None, typer.Option("--lm", help="Another model than the judge was compiled for.")]
ReflectionOption = Annotated[
    str | None, typer.Option("--reflection-lm", help="Model that rewrites prompts; default: --lm.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="Of all that is drawn at random; no split depends on it.")
]
UnprovenOption = Annotated[bool, typer.Option("--unproven", help="Use judges that were not shown to be better.")]
RequireOption = Annotated[bool, typer.Option("--require-promotion", help="Exit 1 when it is not shown to be better.")]
FactorsOption = Annotated[
    str, typer.Option("--factors", metavar="TEXT", help="What comparing judges weigh, instead of their own.")
]
HasCitationsOption = Annotated[
    bool, typer.Option("--has-citations", help="Compared answers cite documents; wrong citations count.")
]


@dataclass(frozen=True, kw_only=True)
class Spending:
    """Which endpoint is asked, and how much at most."""

    api_base: ApiBaseOption = None
    budget: BudgetOption = None
    max_cost: MaxCostOption = None


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where programs and runs are."""

    home: HomeOption = Path()
    tracking_uri: TrackingOption = None


@dataclass(frozen=True, kw_only=True)
class AgentShape:
    """How agents answer."""

    k: Annotated[int, typer.Option("--k", min=1, help="Passages an answer rests on.")] = 5
    variations: Annotated[int, typer.Option("--variations", min=1, max=20, help="Queries RAG-Fusion adds.")] = 4
    persona: Annotated[str, typer.Option("--persona", metavar="TEXT", help="'think like an engineer'")] = ""
    citations: Annotated[bool, typer.Option("--citations/--no-citations", help="Cite passages.")] = True


@dataclass(frozen=True, kw_only=True)
class AgentRun(AgentShape):
    """How agents are run."""

    rerank: Annotated[
        str | None, typer.Option("--rerank", metavar="python:MODULE:FUNCTION", help="Scores (query, texts).")
    ] = None
    in_flight: Annotated[int, typer.Option("--in-flight", min=1, help="Most calls of agents at once.")] = 32


def command_of(kind: type[R]) -> Callable[[Callable[[R], None]], Callable[..., None]]:
    """Make a command of a function that takes one request.

    Args:
        kind: A dataclass whose fields are annotated with typer's options and arguments. Its own fields come before the
            inherited ones. A field of type ``tuple[str, ...]`` can be given several times.

    Returns: The decorator; the command takes the fields by name.
    """
    build: Callable[..., R] = kind
    hints = get_type_hints(kind, include_extras=True)
    names = dict.fromkeys(name for each in kind.__mro__ for name in get_annotations(each))
    signature = Signature([_parameter(name, hints[name], getattr(kind, name, Parameter.empty)) for name in names])

    def decorate(run: Callable[[R], None]) -> Callable[..., None]:
        @wraps(run)
        def command(**given: object) -> None:
            said = {name: value for name, value in given.items() if value is not None}
            run(build(**{name: tuple(value) if isinstance(value, list) else value for name, value in said.items()}))

        command.__signature__ = signature  # type: ignore[attr-defined]  # how inspect lets it be said
        command.__annotations__ = {}
        return command

    return decorate


def _parameter(name: str, hint: object, default: object) -> Parameter:
    kind, option = get_args(hint)
    if get_origin(kind) is tuple and get_args(kind)[-1] is ...:  # typer reads what repeats as a list
        kind, default = (list[str], default) if default is Parameter.empty else (list[str] | None, None)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])
