"""``judgec judge``."""

from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import ApiBaseOption, HomeOption, JsonOption, MapOption
from judgec.cli.trust.estimate import EstimateLabelsOption, EstimateOption
from judgec.errors import UserError

ASKING = "How it is asked"

JudgeOption = Annotated[
    str | None, typer.Option("--judge", metavar="NAME[@VERSION]", help="@champion, @latest or a number.")
]
JuryOption = Annotated[
    str | None, typer.Option("--jury", metavar="A,B@3,...", help="Several judges of one task and scale instead.")
]
SamplesOption = Annotated[
    int, typer.Option("--samples", min=1, help="Replies an item, combined.", rich_help_panel=ASKING)
]
TemperatureOption = Annotated[
    float | None,
    typer.Option(
        "--temperature",
        help="Default: the judge's own; 0.7 where that is 0 and there are several samples.",
        rich_help_panel=ASKING,
    ),
]
StructuredOption = Annotated[
    bool,
    typer.Option(
        "--structured",
        help="Ask for JSON under a schema at once, not only where a reply could not be read.",
        rich_help_panel=ASKING,
    ),
]
InFlightOption = Annotated[
    int | None,
    typer.Option(
        "--in-flight", min=1, help="Most calls at once; default: 32, with --engine ray 256.", rich_help_panel=ASKING
    ),
]
EngineOption = Annotated[
    str,
    typer.Option(
        "--engine", metavar="local|ray", help="Who makes the calls: this process, or Ray.", rich_help_panel=ASKING
    ),
]
RayAddressOption = Annotated[
    str | None,
    typer.Option("--ray-address", metavar="HOST:PORT", help="A running Ray cluster.", rich_help_panel=ASKING),
]
AbstainOption = Annotated[
    float | None,
    typer.Option(
        "--abstain-below",
        metavar="CONFIDENCE",
        help="Leave less sure judgments to a human; default: as compiled. 0 judges all.",
    ),
]


def judge(
    file: Annotated[str, typer.Argument(help="Items to judge; no labels are needed.")],
    *,
    judge: JudgeOption = None,
    jury: JuryOption = None,
    out: Annotated[Path, typer.Option("--out", metavar="OUT.jsonl", help="Where the judgments go.")],
    lm: Annotated[str | None, typer.Option("--lm", help="Another model than the judge was compiled for.")] = None,
    api_base: ApiBaseOption = None,
    rename: MapOption = None,
    budget: Annotated[int | None, typer.Option("--budget", metavar="CALLS", help="Most LM calls.")] = None,
    max_cost: Annotated[float | None, typer.Option("--max-cost", metavar="USD", help="Most dollars.")] = None,
    abstain_below: AbstainOption = None,
    samples: SamplesOption = 1,
    temperature: TemperatureOption = None,
    structured: StructuredOption = False,
    in_flight: InFlightOption = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    estimate: EstimateOption = None,
    labels: EstimateLabelsOption = None,
    json: JsonOption = False,
    home: HomeOption = Path(),
) -> None:
    """Judge items with a compiled judge, or with several: one row an item, in the order of the file."""
    from judgec.cli.judge.judging import Request, run
    from judgec.cli.output import print_json
    from judgec.cli.trust.estimating import prepared

    jurors = tuple(name.strip() for name in (jury or "").split(",") if name.strip())
    if bool(judge) == bool(jurors):
        raise UserError("judgec judge: one of --judge NAME and --jury A,B,... is needed, not both. Give one of them.")
    request = Request(
        file=file,
        judge=judge,
        jury=jurors,
        out=out,
        lm=lm,
        api_base=api_base,
        rename=tuple(rename or ()),
        samples=samples,
        temperature=temperature,
        structured=structured,
        budget=budget,
        max_cost=max_cost,
        in_flight=in_flight,
        engine=engine,
        ray_address=ray_address,
        abstain_below=abstain_below,
        home=home,
        quiet=json,
    )
    estimated = prepared(request, statistic=estimate, labels=labels)
    counts = run(request)
    if estimated is not None:
        estimated.add_to(counts)
    if json:
        print_json(counts)
    if estimated is not None:
        estimated.require()
