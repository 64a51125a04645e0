"""What ``judgec evaluate`` does: read, judge, play, rate, report, track."""

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from judgec.cli.output import print_json, say
from judgec.cli.tournament.evaluate import Request
from judgec.cli.tournament.request import plan_of, sources_of
from judgec.cli.tournament.telling import notes_of, seen_note, show
from judgec.errors import GateError, UserError
from judgec.judges.judge import CompiledJudge, load_judge
from judgec.judges.tasks.preference import weighing
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget
from judgec.records.card import ProgramCard
from judgec.records.game import Games
from judgec.report.progress import Bar
from judgec.stats.intervals.gate import announced
from judgec.store import programs
from judgec.store.programs import Program
from judgec.store.tournament.entries import Entries
from judgec.store.tournament.folder import write_folder
from judgec.store.tournament.preferences import learned_queries, read_preferences
from judgec.store.tournament.reading import Sources, read_entries
from judgec.store.tournament.runs import read_qrels
from judgec.tournament.gate import held, parse_gate
from judgec.tournament.leaderboard import make_leaderboard
from judgec.tournament.play import PairPlayer, Player, ScorePlayer, as_games, compares, play_tournament
from judgec.tournament.pooling import Relevance, Showing, by_document, judge_pool
from judgec.tournament.report.aspects import aspect_tests
from judgec.tournament.report.evaluation import Evaluation, why_unproven
from judgec.tournament.report.page import page
from judgec.tournament.report.rates import Corrected, correct, equal_lengths
from judgec.tournament.report.run import run_of
from judgec.tournament.report.tables import FILES, csv_tables, qrels_lines, sample_sheet
from judgec.tournament.retrieval import retrieval_table
from judgec.tournament.tie_band import half_a_grade
from judgec.tracking.background import Tracker
from judgec.tracking.store import tracking_store


def run_evaluation(request: Request) -> None:
    """Evaluate, write the folder, log the run, print.

    Raises:
        UserError: Bad input; a judge that is not proven, without ``--unproven``.
        ServiceError: No game has a verdict.
        GateError: The gate that was asked for did not open; everything is written all the same.
    """
    started = time.time()
    bar = Bar(shown=not request.json)
    caps = Budget(calls=request.budget, usd=request.max_cost)  # of agents, relevance and games together
    sources = sources_of(request, caps)
    program, unproven = _load(request, "--judge", request.judge)
    entries = read_entries(sources, [path for path in (request.preferences,) if path])
    gate = parse_gate(request.gate, entries.agents) if request.gate else None
    bar.stage(
        "entries", f"{len(entries.agents)} agents, {len(entries.queries)} queries, {len(entries.answers)} answers"
    )
    out = request.out
    store = tracking_store(request.home, request.tracking_uri, os.environ)
    with Tracker(store, os.environ) as tracker:
        found = replace(_evaluate(request, program, entries, sources, caps, bar), unproven=unproven)
        if gate is not None:
            found = replace(found, notes=(*found.notes, *filter(None, (gate.warning,))), gate=held(gate, found.board))
        ended = time.time()
        _write(request, found, datetime.fromtimestamp(ended, tz=UTC).isoformat(timespec="seconds"))
        bar.stage("track", store.shown)
        logged = tracker.log_tournament(run_of(found, folder=out, started=started, ended=ended))
    bar.close()
    report = found.to_json(logged.run_id)
    write_folder(out, {}, {"report.json": json.dumps(report, ensure_ascii=False, indent=1) + "\n"})
    if request.json:
        print_json(report)
    else:
        show(found, out, request.home)
    if found.gate is not None:
        said = announced(found.gate.verdict, f"--gate {request.gate}: {found.gate.sentence}")
        if found.gate.verdict != "passed":
            raise GateError(said)
        say(said)


def _load(request: Request, option: str, reference: str) -> tuple[Program, str]:
    """The program, and why it is not proven; where there is no champion the newest, which is not."""
    home, (name, _, wanted) = request.home, reference.partition("@")
    if not wanted and programs.CHAMPION not in programs.aliases(home, name) and programs.versions(home, name):
        wanted = programs.LATEST
    program = programs.load(home, f"{name}@{wanted}" if wanted else name)
    unproven = why_unproven(program.card)
    if unproven and not request.unproven:
        raise UserError(f"{option} {reference}: {unproven}. Compile a better one, or pass --unproven.")
    return program, unproven


def _evaluate(
    request: Request, program: Program, entries: Entries, sources: Sources, caps: Budget, bar: Bar
) -> Evaluation:
    card, plan = program.card, plan_of(request)
    seen = learned_queries(program, entries.queries)
    labelled = _labelled(request, seen, sources.rename)
    with ExitStack() as stack:

        def opened(judging: Program) -> tuple[CompiledJudge, Session]:
            """A judge and its way to the LM."""
            spec = LMSpec.from_card(judging.card.lm, model=request.lm, api_base=request.api_base)
            session = stack.enter_context(Session(spec, request.home, caps=caps, on_done=bar.progress))
            judge = load_judge(judging)
            if judge.asks_lm:
                session.preflight()
            return judge, session

        relevance = _relevance(request, entries, sources, bar, opened)
        judge, session = opened(program)
        player = _player(request, card, judge, session, entries, relevance)
        bar.stage("play", f"{plan.kind} games, judged by {card.name}@{card.version}")
        played, proposal = play_tournament(entries, player, plan)
    bar.stage("rate", f"{len(played)} games")
    marks = player.marks if isinstance(player, ScorePlayer) else {}
    games, seed = as_games(played, entries), request.seed
    found = Evaluation(
        entries=entries,
        card=card,
        board=make_leaderboard(games, source="evaluate", seed=seed),
        played=played,
        marks=marks,
        tie_band=_tie_band(card) if marks else "",
        retrieval=None if relevance is None else retrieval_table(entries, relevance, cutoff=request.cutoff, seed=seed),
        relevance=relevance,
        aspects=aspect_tests(marks, entries.agents),
        proposal=proposal,
        corrected=_corrected(request, games, labelled, seen),
        learned=seen,
    )
    notes = (*notes_of(request, found, sources.qrels), *seen_note(seen, entries))
    if request.length_control:
        lengths, why_not = equal_lengths(games, entries)
        found, notes = replace(found, lengths=lengths), (*notes, *why_not)
    return replace(found, notes=notes)


def _labelled(request: Request, seen: frozenset[str], rename: Mapping[str, str]) -> Games | None:
    """The experts' games, read before anything is judged.

    Raises:
        UserError: When the judge has learned from labels of their queries.
    """
    path = request.preferences
    if path is None:
        return None
    labelled = read_preferences(path, rename)
    learned = sorted(seen & set(labelled.queries))
    if learned:
        raise UserError(
            f"{path}: {len(learned)} of its queries were in the judge's train or dev labels ({', '.join(learned[:3])}"
            f"{', ...' if len(learned) > 3 else ''}); only games that the judge has not learned from can correct it. "
            "Leave those rows out."
        )
    return labelled


def _corrected(request: Request, games: Games, labelled: Games | None, seen: frozenset[str]) -> Corrected | None:
    if labelled is None or request.preferences is None:
        return None
    fresh = np.array([query not in seen for query in games.queries])
    return correct(
        games.only(fresh[games.query]),
        labelled,
        request.preferences,
        claimed=request.random_sample,
        seed=request.seed,
    )


def _write(request: Request, found: Evaluation, created: str) -> None:
    """The folder but for report.json, which names the MLflow run."""
    out = request.out
    title = f"{out.name}: {len(found.entries.agents)} agents judged by {found.card.name}@{found.card.version}"
    tables = csv_tables(found)
    if request.sample is not None:
        tables["sample"] = sample_sheet(found, request.sample)
    texts = {"report.html": page(found, title=title, created=created)}
    texts |= {"relevance.qrels": lines} if (lines := qrels_lines(found)) else {}
    write_folder(out, tables, texts, stale=FILES)


def _relevance(
    request: Request,
    entries: Entries,
    sources: Sources,
    bar: Bar,
    opened: Callable[[Program], tuple[CompiledJudge, Session]],
) -> Relevance | None:
    if sources.qrels:
        return by_document(read_qrels(sources.qrels, sources.rename), entries, sources.qrels)
    if request.relevance_judge is None:
        return None
    program, _ = _load(request, "--relevance-judge", request.relevance_judge)
    if program.card.task != "relevance":
        raise UserError(
            f"--relevance-judge {request.relevance_judge}: a judge of {program.card.task}; one of relevance is "
            "needed. Name another."
        )
    judge, session = opened(program)
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
        if request.factors or request.has_citations:
            module = weighing(judge.module, factors=request.factors, citations=request.has_citations)
            judge = replace(judge, module=module)
        showing = Showing(
            entries,
            relevance,
            request.threshold,
            raw=request.raw_documents,
            annotations=request.annotations,
        )
        return PairPlayer(entries, judge, session.ask, showing, one_order=request.one_order)
    if "answer" not in card.fields or card.scale.level == "nominal":
        raise UserError(
            f"--judge {request.judge}: a judge of {card.task}; one of answer, grade or preference can judge "
            "answers. Name another."
        )
    band = half_a_grade(card.scale).width if card.tie_band is None else card.tie_band
    return ScorePlayer(entries, judge, session.ask, band)


def _tie_band(card: ProgramCard) -> str:
    if card.tie_band is None:
        return f"{half_a_grade(card.scale).width:.3g} (half a grade: nothing to fit it on)"
    return f"{card.tie_band:.3g} (fitted on the judge's dev labels)"
