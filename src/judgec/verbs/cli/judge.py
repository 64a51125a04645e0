"""``judgec judge``."""

from dataclasses import fields
from typing import Annotated

import typer

from judgec.errors import UserError
from judgec.verbs.cli.shell import JsonOption, command_of
from judgec.verbs.options.estimate import ACCEPT_RATE, EstimateOptions
from judgec.verbs.options.judge import Asking, JudgeFileOptions


@command_of(JudgeFileOptions)
def judge(
    options: JudgeFileOptions,
    *,
    estimate: Annotated[
        str | None,
        typer.Option(
            "--estimate",
            metavar="accept_rate",
            help="The rate over all items, corrected by labels.",
            rich_help_panel="What",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels", metavar="FILE", help="A random sample of the items, labelled.", rich_help_panel="What"
        ),
    ] = None,
    annotators: Annotated[
        str | None,
        typer.Option(
            "--annotators",
            metavar="A,B,...",
            help="The people: columns with one annotator's labels each, or names in the column annotator.",
            rich_help_panel="What",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Judge items with a compiled judge, or with several: the rows of FILE in their order, each with its judgment.

    Example: judgec judge answers.csv --judge NAME
    """
    from judgec.verbs.cli.output import print_report, run_barred, run_shown, show
    from judgec.verbs.estimate import estimate_judged, rate_report
    from judgec.verbs.judge_file import judged, judged_report, require_judge_or_jury
    from judgec.verbs.judge_shards import judged_shards, sharded, shards_report

    require_judge_or_jury(options)
    if sharded(options):
        if estimate is not None:
            raise UserError(f"--estimate {estimate}: of one file; {options.file} holds shards. Drop it.")
        run_shown(judged_shards, options, shards_report, json=json).require_some()
        return
    rate = rate_asked(options, estimate, labels, annotators)
    if rate is None:
        run_shown(judged, options, judged_report, json=json).require_some()
        return
    found = run_barred(judged, options, json=json)
    if not json:
        print_report(judged_report(found))
    found.require_some()
    corrected = estimate_judged(found, rate)
    show(rate_report(corrected, found.report), json=json)
    corrected.require()


def rate_asked(
    options: JudgeFileOptions, estimate: str | None, labels: str | None, annotators: str | None
) -> EstimateOptions | None:
    """The estimate that was typed, checked before anything is paid for; None when none was.

    Raises:
        UserError: Another statistic, no labels, several judges, a judge that accepts nothing.
    """
    if estimate is None:
        if annotators is not None:
            raise UserError(f"--annotators {annotators}: columns of --labels, which are missing. Drop it.")
        if labels is not None:
            raise UserError(f"--labels {labels}: used by --estimate alone. Add --estimate {ACCEPT_RATE}, or drop it.")
        return None
    if estimate != ACCEPT_RATE:
        raise UserError(f"--estimate {estimate}: not an estimate; {ACCEPT_RATE} is one. Name it.")
    if labels is None:
        raise UserError("--estimate: no labels; a few items labelled by experts correct it. Add --labels FILE.")
    if not options.judge:
        raise UserError("--estimate: several judges; one with known errors is needed. Name it with --judge.")
    from judgec.table.rows.columns import as_names
    from judgec.verbs.estimate import labelled_for

    rate = EstimateOptions(
        items=options.file,
        judge=options.judge,
        labels=labels,
        statistic=estimate,
        columns=options.columns,
        annotators=as_names(annotators),
        turn=options.turn,
        home=options.home,
        **{one.name: getattr(options, one.name) for one in fields(Asking)},
    )
    labelled_for(rate)
    return rate
