"""What ``judgec evaluate`` does: read, judge, play, rate, report, track."""

import json
import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from judgec.cli.output import print_json, print_table, say
from judgec.cli.progress import Bar
from judgec.compiler.session import Session
from judgec.errors import GateError, UserError
from judgec.judges.judge import CompiledJudge, load_judge
from judgec.judges.tasks.preference import weighing
from judgec.lm.spec import LMSpec
from judgec.records.card import ProgramCard
from judgec.store import programs
from judgec.store.programs import Program
from judgec.store.tournament.entries import Entries
from judgec.store.tournament.folder import write_folder
from judgec.store.tournament.reading import Sources, read_entries, read_manifest
from judgec.store.tournament.runs import read_qrels
from judgec.tournament.gate import parse_gate
from judgec.tournament.leaderboard import make_leaderboard
from judgec.tournament.play import PairPlayer, Plan, Player, ScorePlayer, as_games, compares, play_tournament
from judgec.tournament.pooling import Relevance, Showing, given, judge_pool
from judgec.tournament.render import leaderboard_rows, retrieval_rows, win_rows
from judgec.tournament.report.aspects import aspect_tests
from judgec.tournament.report.evaluation import Evaluation, why_unproven
from judgec.tournament.report.page import page
from judgec.tournament.report.run import run_of
from judgec.tournament.report.tables import csv_tables, qrels_lines
from judgec.tournament.retrieval import retrieval_table
from judgec.tournament.tie_band import half_a_grade
from judgec.tracking.background import Tracker
from judgec.tracking.store import tracking_store

MOST_COLUMNS = 12  # agents in a win table that still fits a screen
INPUT_FIELDS = ("reference", "contexts")  # that a judge may have learned to lean on


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The command line of ``evaluate``, as typed."""

    sources: Sources
    judge: str
    plan: Plan
    sight: Sight
    asking: Asking
    home: Path
    out: Path
    manifest: str | None = None
    relevance_judge: str | None = None
    unproven: bool = False
    gate: str | None = None
    json: bool = False
    cutoff: int = 5
    tracking_uri: str | None = None


def plan_of(games: int | None, resolution: float, seed: int, *, adaptive: bool) -> Plan:
    """All games; with ``games`` a balanced subset; adaptive ones, at most ``games``."""
    return Plan("adaptive" if adaptive else "balanced" if games else "all", games, resolution, seed)


def run_evaluation(request: Request) -> None:
    """Evaluate, write the folder, log the run, print.

    Raises:
        UserError: Bad input; a judge that is not proven, without ``--unproven``.
        ServiceError: No game has a verdict.
        GateError: The gate that was asked for did not open; everything is written all the same.
    """
    started = time.time()
    bar = Bar(shown=not request.json)
    request = _with_manifest(request)
    program = _load(request, request.judge)
    unproven = why_unproven(program.card)
    if unproven and not request.unproven:
        raise UserError(f"--judge {request.judge}: {unproven}. Compile a better one, or pass --unproven.")
    entries = read_entries(request.sources)
    gate = parse_gate(request.gate, entries.agents) if request.gate else None
    bar.stage(
        "entries", f"{len(entries.agents)} agents, {len(entries.queries)} queries, {len(entries.answers)} answers"
    )
    store = tracking_store(request.home, request.tracking_uri, os.environ)
    with Tracker(store, os.environ) as tracker:
        found = replace(_evaluate(request, program, entries, bar), unproven=unproven)
        ended = time.time()
        created = datetime.fromtimestamp(ended, tz=UTC).isoformat(timespec="seconds")
        title = f"{request.out.name}: {len(entries.agents)} agents judged by {program.card.name}@{program.card.version}"
        texts = {"report.html": page(found, title=title, created=created)}
        texts |= {"relevance.qrels": lines} if (lines := qrels_lines(found)) else {}
        write_folder(request.out, csv_tables(found), texts)
        bar.stage("track", store.shown)
        logged = tracker.log_tournament(run_of(found, folder=request.out, started=started, ended=ended))
    bar.close()
    report = found.to_json(logged.run_id)
    write_folder(request.out, {}, {"report.json": json.dumps(report, ensure_ascii=False, indent=1) + "\n"})
    if request.json:
        print_json(report)
    else:
        _show(found, request.out)
    if gate is not None:
        opened, said = gate.verdict(found.board.ratings.difference(gate.agent, gate.other))
        if not opened:
            raise GateError(f"--gate {request.gate}: {said}")
        say(f"--gate {request.gate}: {said}")


def _with_manifest(request: Request) -> Request:
    """The request with the files of the tournament file; what the command line names goes before."""
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


def _load(request: Request, reference: str) -> Program:
    """The program; with ``--unproven`` the newest where there is no champion."""
    name, _, wanted = reference.partition("@")
    if request.unproven and not wanted and programs.CHAMPION not in programs.aliases(request.home, name):
        return programs.load(request.home, f"{name}@{programs.LATEST}")
    return programs.load(request.home, reference)


def _evaluate(request: Request, program: Program, entries: Entries, bar: Bar) -> Evaluation:
    card = program.card
    with ExitStack() as stack:
        relevance = _relevance(request, entries, bar, stack)
        judge, session = _opened(request, program, bar, stack)
        player = _player(request, card, judge, session, entries, relevance)
        bar.stage("play", f"{request.plan.kind} games, judged by {card.name}@{card.version}")
        played, proposal = play_tournament(entries, player, request.plan)
    bar.stage("rate", f"{len(played)} games")
    marks = player.marks if isinstance(player, ScorePlayer) else {}
    retrieval = None
    if relevance is not None:
        retrieval = retrieval_table(entries, relevance, cutoff=request.cutoff, seed=request.plan.seed)
    found = Evaluation(
        entries=entries,
        card=card,
        board=make_leaderboard(as_games(played, entries), source="evaluate", seed=request.plan.seed),
        played=played,
        marks=marks,
        tie_band=_tie_band(card) if marks else "",
        retrieval=retrieval,
        relevance=relevance,
        aspects=aspect_tests(marks, entries.agents),
        proposal=proposal,
    )
    return replace(found, notes=(*_notes(request, found), *_seen(program, entries)))


def _opened(request: Request, program: Program, bar: Bar, stack: ExitStack) -> tuple[CompiledJudge, Session]:
    """A judge and its way to the LM."""
    judge = load_judge(program)
    session = Session(
        LMSpec.from_card(program.card.lm, model=request.asking.lm, api_base=request.asking.api_base),
        request.home,
        budget=request.asking.budget,
        max_cost=request.asking.max_cost,
        on_done=bar.progress,
    )
    stack.enter_context(session)
    if judge.asks_lm:
        session.preflight()
    return judge, session


def _relevance(request: Request, entries: Entries, bar: Bar, stack: ExitStack) -> Relevance | None:
    if request.sources.qrels:
        return given(read_qrels(request.sources.qrels))
    if request.relevance_judge is None:
        return None
    program = _load(request, request.relevance_judge)
    unproven = why_unproven(program.card)
    if program.card.task != "relevance":
        raise UserError(
            f"--relevance-judge {request.relevance_judge}: a judge of {program.card.task}; one of relevance is "
            "needed. Name another."
        )
    if unproven and not request.unproven:
        raise UserError(f"--relevance-judge: {unproven}. Compile a better one, or pass --unproven.")
    judge, session = _opened(request, program, bar, stack)
    bar.stage("relevance", f"pooled documents, judged by {program.card.name}@{program.card.version}")
    return judge_pool(entries, judge, session.ask)


def _player(
    request: Request,
    card: ProgramCard,
    judge: CompiledJudge,
    session: Session,
    entries: Entries,
    relevance: Relevance | None,
) -> Player:
    if compares(judge):
        if request.sight.factors or request.sight.has_citations:
            module = weighing(judge.module, factors=request.sight.factors, citations=request.sight.has_citations)
            judge = replace(judge, module=module)
        showing = Showing(
            entries,
            relevance,
            request.sight.threshold,
            raw=request.sight.raw_documents,
            annotations=request.sight.annotations,
        )
        return PairPlayer(entries, judge, session.ask, showing, one_order=request.sight.one_order)
    if "answer" not in card.fields or card.scale.level == "nominal":
        raise UserError(
            f"--judge {request.judge}: a judge of {card.task}; one of answer, grade or preference can judge answers. "
            "Name another."
        )
    band = half_a_grade(card.scale).width if card.tie_band is None else card.tie_band
    return ScorePlayer(entries, judge, session.ask, band)


def _tie_band(card: ProgramCard) -> str:
    if card.tie_band is None:
        return f"{half_a_grade(card.scale).width:.3g} (half a grade: nothing to fit it on)"
    return f"{card.tie_band:.3g} (fitted on the judge's dev labels)"


def _notes(request: Request, found: Evaluation) -> tuple[str, ...]:
    card, entries = found.card, found.entries
    notes = list(entries.notes)
    answered = len(entries.answered)
    if len(entries.queries) > answered:
        notes.append(f"{len(entries.queries) - answered} queries have no answer of anybody.")
    notes += [f"{agent} has no answer to {count} of {answered} queries." for agent, count in entries.missing.items()]
    if found.skipped:
        notes.append(f"{found.skipped} games were not played because an answer is missing; they count for nobody.")
    has = {"reference": bool(entries.references), "contexts": bool(entries.retrieved or entries.shared)}
    lacks = [name for name in INPUT_FIELDS if name in card.fields and not has[name]]
    if lacks:
        notes.append(
            f"The judge was compiled with {' and '.join(lacks)}, which these answers lack: its known agreement says "
            "little about them."
        )
    if has["contexts"] and "contexts" not in card.fields:
        notes.append("The judge was compiled without contexts: it does not see the documents.")
    if card.labels:
        notes.append("The judge learned from constructed labels: no expert gave them.")
    if request.asking.lm is not None:
        notes.append(f"Judged with {request.asking.lm}; the judge was measured with {card.lm.get('model')}.")
    if request.sight.factors or request.sight.has_citations:
        notes.append("The judge's prompt was changed (--factors, --has-citations); it was measured without that.")
    if found.proposal is not None:
        notes.append(f"Adaptive: stopped because {found.proposal.reason}, after {len(found.played)} games.")
    return tuple(notes)


def _seen(program: Program, entries: Entries) -> tuple[str, ...]:
    """Said where the judge has learned from labels of these very queries."""
    split = program.split.get("queries", {})
    seen = sum(split.get(query_id) in {"train", "dev"} for query_id in entries.answered)
    if not seen:
        return ()
    return (f"{seen} of {len(entries.answered)} queries were in the judge's train or dev labels.",)


def _show(found: Evaluation, out: Path) -> None:
    board = found.board
    title = f"{board.games} games on {board.ratings.n_queries} queries"
    columns, rows = leaderboard_rows(board)
    print_table(f"{title}: Bradley-Terry ratings, 95 % intervals over queries", columns, rows)
    if len(board.agents) <= MOST_COLUMNS:
        print_table("Wins", *win_rows(board))
    if found.retrieval is not None:
        print_table("Retrieval", *retrieval_rows(found.retrieval))
    say(
        *([f"UNPROVEN JUDGE: {found.unproven}."] if found.unproven else []),
        "Agents that share a letter are not separable at 5 % (all pairs, Holm).",
        *board.notes,
        *found.notes,
        *(found.retrieval.notes if found.retrieval else ()),
        f"Next: open {out / 'report.html'}; judgec rank {out / 'games.csv'}; judgec ui",
    )
