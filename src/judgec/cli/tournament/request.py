"""What the command line of ``judgec evaluate`` asks for, with the files that its tournament file names."""

from judgec.cli.corpus.playing import answered
from judgec.cli.tournament.evaluate import Request
from judgec.errors import UserError
from judgec.lm.usage import Budget
from judgec.store.rows.columns import as_rename
from judgec.store.tournament.reading import Sources, read_manifest
from judgec.tournament.play import GamePlan


def plan_of(request: Request) -> GamePlan:
    """All games; with ``--games`` a balanced subset; adaptive ones, at most ``--games``."""
    return GamePlan(
        "adaptive" if request.adaptive else "balanced" if request.games else "all",
        request.games,
        request.resolution,
        request.seed,
    )


def sources_of(request: Request, caps: Budget) -> Sources:
    """The files of the tournament; what the command line names goes before what the tournament file does.

    Agents that answer first have answered when it returns, within ``caps``.

    Raises:
        UserError: Options that exclude each other; an output folder that cannot be one; as ``answered``.
    """
    out = request.out
    if request.adaptive and (request.preferences or request.sample):
        raise UserError(
            "--preferences, --sample: not with --adaptive, whose games are chosen by their results; a random sample of "
            "all games is needed. Leave --adaptive out."
        )
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out}: a file; a folder to write to is needed. Name another.")
    if request.sample and (out / "sample.csv").exists():
        raise UserError(f"--sample: {out / 'sample.csv'} is there and may hold labels. Move it, or name another --out.")
    answers = request.answers
    if request.agents is not None or request.index is not None:
        answers = (*answers, answered(request, caps))
    named = Sources() if request.manifest is None else read_manifest(request.manifest)
    return Sources(
        queries=request.queries or named.queries,
        answers=tuple((path, "") for path in answers) or named.answers,
        documents=request.documents or named.documents,
        runs=request.runs or named.runs,
        qrels=request.qrels or named.qrels,
        rename={**named.rename, **as_rename(request.rename)},
    )
