"""What ``judgec probe`` does: write questions, ask systems, judge, report, track."""

import json
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from judgec.agents.rag import AgentSettings
from judgec.cli.output import judgec_here, print_json, print_table, say
from judgec.cli.probe.generating import ask_of, open_reliability, spec_of
from judgec.cli.probe.probe import Request
from judgec.cli.probe.seats import open_panel
from judgec.errors import GateError, ServiceError, UserError
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.probes.folder import answered, write_probe
from judgec.probes.gate import breaches, outcome, parse_limits
from judgec.probes.judging.panel import ReplyJudge
from judgec.probes.render import matrix_rows, rate_rows, scenario_rows
from judgec.probes.report.junit import junit
from judgec.probes.report.page import page
from judgec.probes.report.run import run_of
from judgec.probes.report.summary import Summary, summarize
from judgec.probes.runner import Running
from judgec.probes.systems import ProbedSystem, open_system
from judgec.probes.verdicts import verdicts
from judgec.queries.corpus import Corpus, open_corpus
from judgec.queries.embedded.writer import EmbeddedWriter
from judgec.queries.reliability import Pair, Reliability
from judgec.queries.scenarios import SHIPPED
from judgec.queries.scenarios.building import Built, build
from judgec.queries.scenarios.drafts import QuestionWriter
from judgec.queries.scenarios.prompted import PromptedWriter
from judgec.queries.terms import content
from judgec.records.scenario.outcome import Probed
from judgec.records.scenario.schema import Question, Scenario
from judgec.report.progress import Bar
from judgec.stats.intervals.gate import GateVerdict, announced
from judgec.store.scenarios.reading import files_in, read_questions, read_scenarios
from judgec.tracking.background import Tracker
from judgec.tracking.store import tracking_store

FEW = 3  # systems up to which the screen shows intervals; the report always does
NEAREST = 5  # passages of the whole corpus that a model is asked about, when nothing should answer
OWN = "scenarios"  # folder of the user's scenarios in the home


@dataclass(frozen=True, slots=True)
class DataSet:
    """A corpus with the questions that are asked about it."""

    name: str
    corpus: Corpus | None
    questions: tuple[Question, ...]


def run(request: Request) -> None:
    """Probe, write the folder, log the run, print.

    Raises:
        UserError: Bad input.
        ServiceError: No system gave any answer, or a model cannot be reached.
        GateError: A failure rate is not shown to be below its limit; everything is written all the same.
    """
    started = time.time()
    bar = Bar(shown=not request.json)
    if not request.systems:
        raise UserError("--system: none given; http.yaml, python:module:function or an agent is needed. Name one.")
    scenarios = _scenarios(request)
    given = read_questions(request.questions) if request.questions else ()
    known = list(dict.fromkeys([one.id for one in scenarios] + [one.scenario for one in given]))
    limits = parse_limits(request.max_failure, known)
    asked = [one.scenario for one in given] or known
    store = tracking_store(request.home, request.tracking_uri, os.environ)
    with ExitStack() as stack:
        session = _session(request, bar, stack)
        judge = open_panel(request.lm, request.judge, request.rejection_judge, request.home, session, request.unproven)
        corpora = [open_corpus(location) for location in request.indexes]
        where: list[Corpus | None] = [*corpora] or [None]
        systems = [_systems(request, corpus, session) for corpus in where]  # wrong names show first
        tracker = stack.enter_context(Tracker(store, os.environ))
        notes = [note for corpus in corpora for note in corpus.notes]
        sets = _data_sets(request, scenarios, given, corpora, session, bar, notes)
        probed = [
            one
            for data, subjects in zip(sets, systems, strict=True)
            for one in _probe(request, data, subjects, judge, bar, notes)
        ]
        notes += _warnings(request, session)
        writer = "a file" if given else request.lm
        shipped = {one.id: one for one in scenarios}
        summary = summarize(probed, shipped, judge=judge.name, writer=writer, notes=notes)
        ended = time.time()
        _write(request, summary, scenarios, probed, sets, ended)
        bar.stage("track", store.shown)
        logged = tracker.log_probe(run_of(summary, folder=request.out, started=started, ended=ended))
    bar.close()
    held = outcome(summary, limits, asked) if limits else None
    _finish(request, summary, logged.run_id, held, breaches(summary, limits, asked))


def _finish(request: Request, summary: Summary, run_id: str, held: GateVerdict | None, broken: Sequence[str]) -> None:
    gate = {"gate": list(broken), "gate_verdict": held}
    report = {**summary.to_json(), "out": str(request.out), **gate, "mlflow_run_id": run_id}
    text = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
    write_probe(request.out, {"report.json": f"{text}\n"})
    if request.json:
        print_json(report)
    else:
        rows = rate_rows(summary) if len(summary.systems) <= FEW else matrix_rows(summary)
        print_table(f"Failure rates, judged by {summary.judge}", *rows)
        print_table("What to do", *scenario_rows(summary))
        say(
            *[f"note: {note}" for note in summary.notes],
            f"Next: open {request.out / 'report.html'}; {judgec_here()} ui",
        )
    if summary.cells and all(not cell.n and not cell.unscored for cell in summary.cells):
        raise ServiceError(
            f"{request.out}: no system gave an answer to any question; the reasons are in results.jsonl. "
            "Check the system, and run the same command again."
        )
    if broken:
        raise GateError(announced(held or "not shown", "--max-failure: " + "; ".join(broken) + "."))
    if held is not None:
        say(announced(held, f"--max-failure {', '.join(request.max_failure)}: every upper bound is within its limit"))


def _scenarios(request: Request) -> tuple[Scenario, ...]:
    names = [name.strip() for joined in request.scenarios for name in joined.split(",") if name.strip()]
    own = request.home / OWN
    if request.questions is None and not names:
        ids = ", ".join(path.stem for path in files_in(SHIPPED))
        raise UserError(f"--scenarios: none given; ids ({ids}), files or all are needed. Or give --questions FILE.")
    if request.questions is None and not request.indexes:
        raise UserError("--index: none given; questions are made from an index or documents. Name one.")
    if "all" in names or not names:
        stems = {path.stem for folder in (SHIPPED, own) for path in files_in(folder)}
        names = [*sorted(stems), *(name for name in names if name != "all" and name not in stems)]
    return read_scenarios(names, SHIPPED, own)


def _session(request: Request, bar: Bar, stack: ExitStack) -> Session:
    spec = LMSpec.parse(request.lm, api_base=request.api_base)
    session = stack.enter_context(
        Session(spec, request.home, budget=request.budget, max_cost=request.max_cost, on_done=bar.progress)
    )
    session.preflight()
    return session


def _systems(request: Request, corpus: Corpus | None, session: Session) -> list[ProbedSystem]:
    index = corpus.index if corpus is not None else None
    name = request.agent_lm or request.lm
    spec = LMSpec.parse(name, api_base=request.api_base if name == request.lm else None)
    settings = AgentSettings(k=request.k, feedback=spec.embedded)
    subjects = [
        open_system(one, index, settings, spec, ask_of(spec, session), Running(), os.environ) for one in request.systems
    ]
    names = [subject.name for subject in subjects]
    if len(set(names)) < len(names):
        raise UserError(f"--system: {', '.join(names)}: two have one name; names must differ. Rename one in its file.")
    return subjects


def _data_sets(
    request: Request,
    scenarios: Sequence[Scenario],
    given: Sequence[Question],
    corpora: Sequence[Corpus],
    session: Session,
    bar: Bar,
    notes: list[str],
) -> list[DataSet]:
    if given:
        return [DataSet(corpus.name, corpus, tuple(given)) for corpus in corpora] or [
            DataSet(Path(str(request.questions)).stem, None, tuple(given))
        ]
    names = [corpus.name for corpus in corpora]
    if len(set(names)) < len(names):
        raise UserError(f"--index: {', '.join(names)}: two have one name; names must differ. Rename a folder.")
    reliability = open_reliability(request.reliability, request.home, session)
    sets = []
    for corpus in corpora:
        questions: list[Question] = []
        writer = _writer(request, corpus, session)
        bar.stage("write", f"{len(scenarios)} scenarios on {len(corpus.documents)} documents of {corpus.name}")
        for scenario in scenarios:
            n = request.n or scenario.document_sampling.questions
            built = build(scenario, corpus.documents, writer, corpus.terms, n=n, seed=request.seed)
            kept, said = _reliable(built, reliability)
            notes += [f"{scenario.id} on {corpus.name}: {one}" for one in said]
            questions += kept
        if not questions:
            raise UserError(f"--index {corpus.location}: no question could be made. {' '.join(notes)}")
        sets.append(DataSet(corpus.name, corpus, tuple(questions)))
    return sets


def _reliable(built: Built, reliability: Reliability | None) -> tuple[list[Question], list[str]]:
    said = [built.shortfall] if built.shortfall else []
    if reliability is None:
        return list(built.questions), said
    asked = [one for one in built.questions if not one.must_refuse]
    faults = reliability.faults([Pair(one.query, "\n".join(one.passages), one.reference) for one in asked])
    dropped = {one.query_id for one, fault in zip(asked, faults, strict=True) if fault}
    if dropped:
        said.append(f"{len(dropped)} of {len(asked)} questions dropped as unreliable by {reliability.name}")
    return [one for one in built.questions if one.query_id not in dropped], said


def _writer(request: Request, corpus: Corpus, session: Session) -> QuestionWriter:
    if session.spec.embedded:
        return EmbeddedWriter(corpus.passages)

    def nearest(question: str) -> tuple[str, ...]:
        return tuple(corpus.passages[at].text for at in corpus.terms.best(content(question), NEAREST))

    spec = spec_of(request.lm, request.api_base, request.temperature)
    return PromptedWriter(spec.model, ask_of(spec, session), request.seed, nearest)


def _probe(
    request: Request, data: DataSet, subjects: Sequence[ProbedSystem], judge: ReplyJudge, bar: Bar, notes: list[str]
) -> list[Probed]:
    probed: list[Probed] = []
    for subject in subjects:
        bar.stage("ask", f"{subject.name}: {len(data.questions)} questions on {data.name}")
        replies = answered(request.out, data.name, subject, data.questions, notes)
        bar.stage("judge", f"{subject.name} by {judge.name}")
        terms = data.corpus.terms if data.corpus is not None and data.corpus.index is not None else None
        probed += verdicts(data.questions, replies, judge, data_set=data.name, terms=terms)
    return probed


def _warnings(request: Request, session: Session) -> list[str]:
    if not session.spec.embedded:
        return []
    wrote = [] if request.questions else ["questions by rule, no language model: a baseline"]
    by_rules = [
        *([] if request.judge else ["answers"]),
        *([] if request.rejection_judge else ["refusals"]),
    ]
    judged = [f"{' and '.join(by_rules)} judged by rules, no language model: a baseline"] if by_rules else []
    return wrote + judged


def _write(
    request: Request,
    summary: Summary,
    scenarios: Sequence[Scenario],
    probed: Sequence[Probed],
    sets: Sequence[DataSet],
    ended: float,
) -> None:
    created = datetime.fromtimestamp(ended, tz=UTC).isoformat(timespec="seconds")
    title = f"{request.out.name}: {len(summary.systems)} systems, {len(summary.scenarios)} scenarios"
    files: dict[str, str] = {
        "report.html": page(summary, scenarios, title=title, created=created),
        "junit.xml": junit(probed),
        "results.jsonl": _lines(one.model_dump_json(exclude_defaults=True) for one in probed),
    }
    for data in sets:
        name = "questions.jsonl" if len(sets) == 1 else f"questions.{data.name}.jsonl"
        files[name] = _lines(one.model_dump_json(exclude_defaults=True) for one in data.questions)
    write_probe(request.out, files)


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
