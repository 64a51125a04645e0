"""``judgec.evaluate``: what agents answered in, a leaderboard out."""

import json
import os
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.store import tracking_store
from judgec.errors import UserError
from judgec.labels.reading import Datasheet, as_reading, read_datasheet
from judgec.lm.spec import REFUSED
from judgec.lm.usage import Account
from judgec.lm.watch import Watch
from judgec.raters.asked_judges import AskedJudge, AskedJudges
from judgec.raters.judge import JudgeTree, recorded_judges
from judgec.raters.predictors import rewritten
from judgec.raters.tasks.preference import weighing
from judgec.raters.tree import PromptLeaf
from judgec.records.card import ProgramCard
from judgec.records.citation import SQUARE, form_fault
from judgec.records.counts import plural
from judgec.records.game import Games
from judgec.records.label import InputCounts
from judgec.records.tasks.winners import winner_words
from judgec.report.items import item_lines
from judgec.report.jury import jury_sentence
from judgec.report.numbers import number
from judgec.stats.rating.ratings import require_few
from judgec.table import seal
from judgec.table.tables import TableSource, name_of
from judgec.tournament.files.entries import Entries
from judgec.tournament.files.folder import write_folder
from judgec.tournament.files.graded import GradedAgents, read_graded
from judgec.tournament.files.preferences import read_preferences
from judgec.tournament.files.reading import Sources, read_entries, read_manifest
from judgec.tournament.files.runs import read_qrels
from judgec.tournament.gate import held, parse_gate
from judgec.tournament.leaderboard import make_leaderboard
from judgec.tournament.play import GamePlan, PairPlayer, Player, ScorePlayer, as_games, play_tournament
from judgec.tournament.pooling import Relevance, Showing, by_document, judge_pool
from judgec.tournament.report.aspects import MOST_AGENTS, Grader, Scores, agents_and_pools, parse_pools
from judgec.tournament.report.drill import drilled
from judgec.tournament.report.effects import main_effects, unpaired
from judgec.tournament.report.evaluation import Evaluation
from judgec.tournament.report.page import page
from judgec.tournament.report.rates import Corrected, correct, equal_lengths
from judgec.tournament.report.run import run_of
from judgec.tournament.report.systems import compared_agents
from judgec.tournament.report.tables import FILES, csv_tables, qrels_lines, sample_sheet
from judgec.tournament.retrieval import retrieval_table
from judgec.tournament.tie_band import half_a_grade
from judgec.verbs.evaluation_notes import ADVICE, notes_of, ranked_notes, seen_note
from judgec.verbs.frames import Source, is_path, named_table, table_source
from judgec.verbs.judge import Judge
from judgec.verbs.opened import asked_by
from judgec.verbs.options.evaluate import EvaluateOptions
from judgec.verbs.spending import account_for, session_for
from judgec.verbs.tournament import Tournament
from judgec.verbs.tournament_judges import (
    TournamentJudge,
    TournamentJudges,
    Uncompiled,
    named_judges,
    relevance_judge,
    seated,
)
from judgec.verbs.validity import require_inputs, validity_of
from judgec.verbs.verb import verb


@verb(EvaluateOptions)
def evaluate(options: EvaluateOptions, watch: Watch) -> Tournament:
    """Rank RAG agents from their answers with a compiled judge; an interrupted run goes on where it was.

    Queries, answers, documents, qrels and preferences are paths, DataFrames or lists of dicts; several tables of
    answers are a list of them. The report is written to ``out`` and logged to MLflow. A gate that did not open is in
    ``gate``; nothing is raised for it. ``home`` is that of the judge where the judge is an object.

    Raises:
        UserError: Faulty options; a judge that is not proven, without ``unproven``.
        InputError: Faulty tables, all faults together, each with its row.
        BudgetError: The caps do not suffice.
        ServiceError: No game has a verdict.

    Example:
        >>> asked = [{"query_id": str(n), "query": f"How wide is range {n}?", "reference": f"{n} m"} for n in range(8)]
        >>> answers = [
        ...     {"query_id": one["query_id"], "agent": agent, "answer": said, "contexts": [f"{one['query']} {said}"]}
        ...     for one in asked
        ...     for agent, said in (("new", one["reference"]), ("old", "no"))
        ... ]
        >>> board = judgec.evaluate(queries=asked, answers=answers, judge="sensors@latest", unproven=True)
        >>> board.ratings.index.tolist()
        ['new', 'old']
    """
    started = time.time()
    given = options.judge if isinstance(options.judge, Judge) else None
    if given is not None and options.home == Path():
        options = replace(options, home=given.home)
    _check(options)
    named = named_judges(options)
    account = account_for(options, given)  # of relevance and games together
    sources = _sources(options)
    preferences = _tables(options.votes, "votes", options.missing)
    labels = None if options.labels is None else named_table(options.labels, "labels", options.missing)
    entries = read_entries(sources, [*preferences, *([] if labels is None else [labels])])
    require_few(entries.agents)
    panel, uncompiled = seated(named, entries), any(isinstance(one, Uncompiled) for one in named)
    _require_asked(panel, sources)
    if options.relevance_judge is not None and sources.qrels is None:
        lm = None if uncompiled else options.lm  # which is the one of the prompts that nobody compiled
        panel = replace(panel, documents=relevance_judge(options, options.relevance_judge, entries, lm))
    having = InputCounts.of([entries.item(*cell) for cell in entries.answers])
    allowed = ("contexts",) if having.given["contexts"] else ()  # what an agent did not retrieve is its own doing
    require_inputs([one.card for one in panel.members], having, "answers", ADVICE, without=allowed)
    if uncompiled:
        options = replace(options, lm=None)  # the cards have it
    gate = parse_gate(options.gate, entries.agents) if options.gate else None
    pools = parse_pools(options.pool, entries.agents) if options.pool else {}
    sheet = read_datasheet(str(options.labels)) if is_path(options.labels) else Datasheet()
    judges = recorded_judges(*(one.program for one in panel.members))
    graded = None
    if labels is not None:
        how = as_reading(
            columns=sources.rename,
            annotators=options.annotators,
            judges=(*judges, *options.judges),
            scale=options.scale,
            round=options.round,
            repeats=options.repeats,
        )
        graded = read_graded(labels, sheet, entries, how)
    watch.stage(
        "entries", f"{len(entries.agents)} agents, {len(entries.queries)} queries, {len(entries.answers)} answers"
    )
    out = options.out
    store = tracking_store(options.home, options.tracking_uri, os.environ)
    with Tracker(store, os.environ, seal.notes) as tracker:
        found = _evaluated(options, panel, entries, sources, next(iter(preferences), None), account, watch)
        found = replace(found, **_tested(found, pools, graded))
        if gate is not None:
            ratings = found.board.ratings if found.corrected is None else found.corrected.ratings
            found = replace(found, notes=(*found.notes, *filter(None, (gate.warning,))), gate=held(gate, ratings))
        ended = time.time()
        _write(options, found, datetime.fromtimestamp(ended, tz=UTC).isoformat(timespec="seconds"))
        watch.stage("track", store.shown)
        logged = tracker.log_tournament(run_of(found, folder=out, started=started, ended=ended))
    report = found.to_json(logged.run_id)
    report |= account.spent.to_json()
    report |= {"versions": said} if (said := seal.notes()) else {}
    write_folder(out, {}, {"report.json": json.dumps(report, ensure_ascii=False, indent=1) + "\n"})
    return Tournament(found, report, out, options.home)


def _tested(
    found: Evaluation, pools: Mapping[str, tuple[str, ...]], graded: GradedAgents | None
) -> dict[str, Any]:  # Any: fields of the evaluation
    """Agents and pools in pairs, by the judge and by the experts; and the effects of settings."""
    agents = found.entries.agents
    judged: Scores = {cell: mark.aspects for cell, mark in found.marks.items()}
    graders: dict[Grader, Scores] = {"judge": judged, **({"experts": graded.scores} if graded else {})}
    tests = agents_and_pools(graders, agents, pools)
    settings = {agent: found.entries.settings[agent] for agent in found.entries.settings if agent in agents}
    effects = main_effects(settings, found.board.ratings, graders)
    notes = [*found.notes, *(graded.notes if graded else ())]
    notes += [
        f"The effect of {name} is not known: no two agents differ in it alone. Answer with a --grid of it."
        for name in unpaired(settings)
    ]
    if len(agents) > MOST_AGENTS:
        notes.append(f"{len(agents)} agents: pairs of them are not tested by aspect (at most {MOST_AGENTS} are).")
    if pools and not tests:
        notes.append("--pool: nothing to test; a judge of single answers, or --labels of experts, is needed.")
    alike = graded is not None and (not found.marks or graded.scale.grades == found.card.scale.grades)
    if graded is not None and not alike:
        notes.append("The experts' grades are on another scale than the judge's: they do not correct it.")
    judge = f"{found.card.name}@{found.card.version}"
    systems = compared_agents(judge, found.marks, found.played, graded, found.learned) if graded and alike else None
    notes += () if systems is None else systems.notes
    return {"aspects": tests, "graded": graded, "systems": systems, "effects": effects, "notes": tuple(notes)}


def _check(options: EvaluateOptions) -> None:
    out = options.out
    if options.citation_form and (fault := form_fault(options.citation_form)):
        raise UserError(f"--citation-form {fault}. Correct it.")
    if options.adaptive and (options.votes is not None or options.sample):
        raise UserError(
            "--votes, --sample: not with --adaptive, whose games are chosen by their results; a random sample of "
            "all games is needed. Leave --adaptive out."
        )
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out}: a file; a folder to write to is needed. Name another.")
    if options.sample and (out / "sample.csv").exists():
        raise UserError(f"--sample: {out / 'sample.csv'} is there and may hold labels. Move it, or name another --out.")


def _require_asked(panel: TournamentJudges, sources: Sources) -> None:
    """Refuse a judge whose verdicts were recorded, before anything is played.

    Raises:
        UserError: It answers for the items of its file alone.
    """
    for one in panel.members:
        if any(leaf.verdicts and not isinstance(leaf, PromptLeaf) for leaf in one.compiled.leaves):
            file = next((name_of(table) for table, _ in sources.answers), "FILE")
            raise UserError(
                f"{REFUSED.format(model=one.name)} A table of its verdicts and of experts' labels needs neither: "
                f"judgec systems {shlex.quote(file)}."
            )


def _sources(options: EvaluateOptions) -> Sources:
    """The tables of the tournament; what the options name goes before what the tournament file does."""
    answers = [table for source in options.answers for table in _tables(source, "answers")]
    named = Sources() if options.manifest is None else read_manifest(options.manifest)
    return Sources(
        queries=next(iter(_tables(options.queries, "queries")), named.queries),
        answers=tuple((table, "") for table in answers) or named.answers,
        documents=next(iter(_tables(options.documents, "documents")), named.documents),
        runs=options.runs or named.runs,
        qrels=next(iter(_tables(options.qrels, "qrels")), named.qrels),
        rename={**named.rename, **options.columns},
        citation_form=options.citation_form or (SQUARE if options.has_citations else ""),
    )


def _tables(source: Source | None, name: str, missing: Sequence[str] = ()) -> list[TableSource]:
    """The table that was given, if one was; a file is left to its reader."""
    if source is None:
        return []
    return [table_source(source, name, missing)]


def _plan(options: EvaluateOptions) -> GamePlan:
    """All games; with ``games`` a balanced subset; adaptive ones, at most ``games``."""
    kind: Literal["adaptive", "balanced", "all"] = "balanced" if options.games else "all"
    return GamePlan("adaptive" if options.adaptive else kind, options.games, options.seed)


def _evaluated(
    options: EvaluateOptions,
    panel: TournamentJudges,
    entries: Entries,
    sources: Sources,
    preferences: TableSource | None,
    account: Account,
    watch: Watch,
) -> Evaluation:
    card, plan = panel.card, _plan(options)
    seen = panel.learned(entries)
    labelled = (
        None
        if preferences is None
        else _labelled(preferences, seen, sources.rename, winner_words(options.winner_words))
    )
    with ExitStack() as stack:

        def opened(judge: TournamentJudge) -> AskedJudge:
            """A judge and its way to the LM."""
            session = stack.enter_context(session_for(options, judge.spec, options.home, watch, account=account))
            if judge.asks_lm:
                session.preflight()
            return asked_by(judge, session)

        relevance = _relevance(panel.documents, entries, sources, watch, opened)
        jury = _jury(options, panel, opened)
        player = _player(options, card, jury, entries, relevance)
        watch.stage("play", f"{plan.kind} games, judged by {_names(panel)}; {_asked_at(panel)}")
        played = play_tournament(entries, player, plan)
        agreement = jury.agreement()
    watch.stage("rate", f"{plural(len(played), 'game')}")
    marks = player.marks if isinstance(player, ScorePlayer) else {}
    games, seed = as_games(played, entries), options.seed
    found = Evaluation(
        entries=entries,
        card=card,
        board=make_leaderboard(games, source="evaluate", seed=seed),
        played=played,
        unproven=panel.unproven,
        showing=player.showing if isinstance(player, PairPlayer) else None,
        marks=marks,
        tie_band=_tie_band(card) if marks else "",
        retrieval=None if relevance is None else retrieval_table(entries, relevance, cutoff=options.cutoff),
        relevance=relevance,
        corrected=None
        if labelled is None or preferences is None
        else _corrected(games, labelled, name_of(preferences), seen),
        learned=seen,
        agreement=agreement,
    )
    model = ", ".join(dict.fromkeys(one.spec.model for one in panel.members))
    asked = replace(options, lm=options.lm or (None if model == card.lm.get("model") else model))
    validities = [validity_of(one.card, jury.inputs) for one in panel.members if one.card.version]
    found = replace(found, unmeasured="; ".join(filter(None, (one.refused("answers") for one in validities))))
    notes = (*notes_of(asked, found, validities, qrels=sources.qrels is not None), *seen_note(seen, entries))
    notes += ranked_notes([one.program for one in panel.members])
    notes += () if agreement is None else (jury_sentence(agreement),)
    if options.length_control:
        lengths, why_not = equal_lengths(games, entries)
        found, notes = replace(found, lengths=lengths), (*notes, *why_not)
    return replace(found, notes=notes)


def _labelled(
    preferences: TableSource, seen: frozenset[str], rename: Mapping[str, str], said: Mapping[str, str]
) -> Games:
    """The experts' games, read before anything is judged.

    Raises:
        UserError: When the judge has learned from labels of their queries.
    """
    labelled = read_preferences(preferences, rename, said)
    learned = sorted(seen & set(labelled.queries))
    if learned:
        raise UserError(
            f"{name_of(preferences)}: {len(learned)} of its queries were in the judge's train or dev labels "
            f"({', '.join(learned[:3])}{', ...' if len(learned) > 3 else ''}); only games that the judge has not "
            "learned from can correct it. Leave those rows out."
        )
    return labelled


def _corrected(games: Games, labelled: Games, source: str, seen: frozenset[str]) -> Corrected:
    fresh = np.array([query not in seen for query in games.queries])
    return correct(games.only(fresh[games.query]), labelled, source)


def _write(options: EvaluateOptions, found: Evaluation, created: str) -> None:
    """The folder but for report.json, which names the MLflow run."""
    out = options.out
    title = f"{out.name}: {len(found.entries.agents)} agents judged by {found.card.name}@{found.card.version}"
    tables = csv_tables(found)
    if options.sample is not None:
        tables["sample"] = sample_sheet(found, options.sample)
    texts = {"report.html": page(found, title=title, created=created)}
    texts["items.jsonl"] = "".join(item_lines(drilled(found)))
    texts |= {"relevance.qrels": lines} if (lines := qrels_lines(found)) else {}
    write_folder(out, tables, texts, stale=FILES)


def _relevance(
    ranker: TournamentJudge | None,
    entries: Entries,
    sources: Sources,
    watch: Watch,
    opened: Callable[[TournamentJudge], AskedJudge],
) -> Relevance | None:
    if sources.qrels is not None:
        return by_document(read_qrels(sources.qrels, sources.rename), entries, name_of(sources.qrels))
    if ranker is None:
        return None
    asked = opened(ranker)
    watch.stage("relevance", f"pooled documents, judged by {ranker.name}")
    return judge_pool(entries, asked.judge, asked.ask)


def _names(panel: TournamentJudges) -> str:
    card = panel.card
    return f"{card.name}@{card.version}" if len(panel.members) == 1 else ", ".join(one.name for one in panel.members)


def _asked_at(panel: TournamentJudges) -> str:
    """Models that are asked, and where."""
    return ", ".join(dict.fromkeys(one.asked_at for one in panel.members))


def _jury(
    options: EvaluateOptions,
    panel: TournamentJudges,
    opened: Callable[[TournamentJudge], AskedJudge],
) -> AskedJudges:
    """The judges with their ways to their models; those that compare weigh what the options say."""
    members = []
    for judge in panel.members:
        asked = opened(judge)
        if asked.judge.pairs and (options.factors or options.has_citations):
            asked = replace(asked, judge=_weighing(asked.judge, options))
        members.append(asked)
    return AskedJudges(tuple(members))


def _weighing(judge: JudgeTree, options: EvaluateOptions) -> JudgeTree:
    """The judge, whose prompts say what to weigh."""
    weighed = partial(weighing, factors=options.factors, citations=options.has_citations)
    return judge.with_prompts(lambda one: rewritten(one, judge.scale, weighed))


def _player(
    options: EvaluateOptions,
    card: ProgramCard,
    jury: AskedJudges,
    entries: Entries,
    relevance: Relevance | None,
) -> Player:
    raw, annotations = options.raw_documents, options.annotations
    showing = Showing(entries, relevance, options.threshold, raw=raw, annotations=annotations)
    if jury.judge.pairs:
        return PairPlayer(entries, jury, showing, options.one_order)
    if "answer" not in card.fields or card.scale.level == "nominal":
        raise UserError(
            f"--judge {card.name}@{card.version}: a judge of {card.task}; one of answer, grade or preference can judge "
            "answers. Name another."
        )
    band = half_a_grade(card.scale).width if card.tie_band is None else card.tie_band
    asked = any(seat.judge.asks_lm for seat in jury.members)  # evidence was fitted to each answer's own documents
    pooled = showing if relevance is not None and jury.reads_contexts and asked else None
    return ScorePlayer(entries, jury, band, showing=pooled)


def _tie_band(card: ProgramCard) -> str:
    if card.tie_band is None:
        return f"{number(half_a_grade(card.scale).width, 3)} (half a grade: nothing to fit it on)"
    return f"{number(card.tie_band, 3)} (fitted on the judge's dev labels)"
