"""The command line of ``judgec evaluate`` as data."""

from dataclasses import dataclass, replace
from pathlib import Path

from judgec.errors import UserError
from judgec.store.tournament.reading import Sources, read_manifest
from judgec.tournament.play import Plan


@dataclass(frozen=True, slots=True)
class Sight:
    """What a judge that compares answers is asked and shown."""

    one_order: bool
    threshold: int
    raw_documents: bool
    annotations: bool
    factors: str
    has_citations: bool


@dataclass(frozen=True, slots=True)
class Asking:
    """Which model is asked, and how much at most."""

    lm: str | None
    api_base: str | None
    budget: int | None
    max_cost: float | None


@dataclass(frozen=True, slots=True)
class Corrections:
    """What is asked for beside the ratings.

    Args:
        length_control: Ratings at equal length.
        preferences: File of experts' preferences, or None.
        random_sample: The user's word that those games were drawn at random.
        sample: Games to write for experts to label, or None.
    """

    length_control: bool = False
    preferences: str | None = None
    random_sample: bool = False
    sample: int | None = None


@dataclass(frozen=True, slots=True)
class Judges:
    """Who judges: names of programs, and whether one may that was not shown to be better."""

    answers: str
    documents: str | None = None
    unproven: bool = False


@dataclass(frozen=True, slots=True)
class Places:
    """Where programs are, where files go, and the MLflow store."""

    home: Path
    out: Path
    tracking_uri: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The command line of ``evaluate``, as typed."""

    sources: Sources
    judges: Judges
    plan: Plan
    sight: Sight
    asking: Asking
    places: Places
    corrections: Corrections = Corrections()
    manifest: str | None = None
    gate: str | None = None
    json: bool = False
    cutoff: int = 5


def plan_of(games: int | None, resolution: float, seed: int, *, adaptive: bool) -> Plan:
    """All games; with ``games`` a balanced subset; adaptive ones, at most ``games``."""
    return Plan("adaptive" if adaptive else "balanced" if games else "all", games, resolution, seed)


def checked(request: Request) -> Request:
    """The request with the files of the tournament file; what the command line names goes before.

    Raises:
        UserError: Options that exclude each other; an output folder that cannot be one.
    """
    asked, out = request.corrections, request.places.out
    if request.plan.kind == "adaptive" and (asked.preferences or asked.sample):
        raise UserError(
            "--preferences, --sample: not with --adaptive, whose games are chosen by their results; a random sample of "
            "all games is needed. Leave --adaptive out."
        )
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out}: a file; a folder to write to is needed. Name another.")
    if asked.sample and (out / "sample.csv").exists():
        raise UserError(f"--sample: {out / 'sample.csv'} is there and may hold labels. Move it, or name another --out.")
    if request.manifest is None:
        return request
    named, given_here = read_manifest(request.manifest), request.sources
    return replace(
        request,
        sources=Sources(
            queries=given_here.queries or named.queries,
            answers=given_here.answers or named.answers,
            documents=given_here.documents or named.documents,
            runs=given_here.runs or named.runs,
            qrels=given_here.qrels or named.qrels,
            rename={**named.rename, **given_here.rename},
        ),
    )
