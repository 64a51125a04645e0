"""``judgec.probe``: questions of known kinds put to RAG systems; where they fail, how often, and which part does."""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import pandas as pd

from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.store import tracking_store
from judgec.errors import ServiceError, UserError
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Watch
from judgec.rag.agents.rag import AgentSettings
from judgec.rag.probes.fixes import TriedFix, try_fixes
from judgec.rag.probes.flakiness import FLAKY, Flakiness
from judgec.rag.probes.folder import answered, write_probe
from judgec.rag.probes.gate import Limit, breaches, outcome, parse_limits
from judgec.rag.probes.judging.panel import ReplyJudge, ReplyPanel
from judgec.rag.probes.judging.rules import NOT_ENGLISH
from judgec.rag.probes.people import DATASHEET, MEANINGS, VERDICTS, verdict_lines
from judgec.rag.probes.render import matrix_rows, rate_rows, scenario_rows
from judgec.rag.probes.report.page import page
from judgec.rag.probes.report.run import case_of, run_of
from judgec.rag.probes.report.summary import TRIED, Summary, summarize
from judgec.rag.probes.report.totals import TOTALS
from judgec.rag.probes.runner import Running
from judgec.rag.probes.systems import Agent, ProbedSystem, Repeated, open_system
from judgec.rag.probes.verdicts import verdicts
from judgec.rag.queries.corpus import Corpus, open_corpus
from judgec.rag.queries.scenarios import PLAIN, SHIPPED
from judgec.rag.queries.scenarios.building import Built, build
from judgec.rag.queries.scenarios.drafts import QuestionWriter
from judgec.rag.queries.scenarios.prompted import PromptedWriter, unread
from judgec.rag.queries.scenarios.reading import files_in, questions_of, read_scenario, read_scenarios
from judgec.rag.rules.writer import RuleWriter
from judgec.records.counts import plural
from judgec.records.scenario.outcome import Probed, SystemReply
from judgec.records.scenario.schema import REJECTION, Metric, Question, Scenario, metric_of
from judgec.report.gates import Gate, Gates
from judgec.report.junit import junit
from judgec.report.jury import jury_sentence
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.stats.intervals.gate import GateVerdict, announced
from judgec.table import seal
from judgec.verbs.frames import as_table, is_path
from judgec.verbs.options.probe import ProbeOptions
from judgec.verbs.query_models import ask_of, checking, open_panel, open_reliability, writer_spec
from judgec.verbs.spending import session_for
from judgec.verbs.typed import command
from judgec.verbs.validity import Validity, require_inputs, validity_of
from judgec.verbs.verb import verb

OWN = "scenarios"  # folder of the user's scenarios in the home
PAGE = "report.html"
ADVICE = "Ask questions that have {name}, or name a judge that was compiled without."
UNMEASURED = (
    "UNPROVEN: nobody knows how far {model} agrees with people on these verdicts; to measure it, fill in the column "
    "grade of {file} and run judgec agreement"
)
REPEATS = "repeats.jsonl"  # replies and verdicts of the second time and later


@dataclass(frozen=True)
class ProbeReport:
    """Findings of a probe.

    Args:
        options: What was asked for.
        summary: Every number: failure rates, diagnosis, advice, worst cases.
        probed: Every question put to every system, with reply and verdict.
        report: What ``probe --json`` prints.
        gate: What ``max_failure`` says; None where nothing was demanded.
        breaches: A sentence for each failure rate that is not shown to be within its limit.
    """

    options: ProbeOptions
    summary: Summary
    probed: tuple[Probed, ...]
    report: Mapping[str, object]
    gate: GateVerdict | None
    breaches: tuple[str, ...]

    @property
    def out(self) -> Path:
        """The folder of its files."""
        return self.options.out

    @property
    def report_path(self) -> Path:
        """The HTML report."""
        return self.out / PAGE

    @cached_property
    def results(self) -> pd.DataFrame:
        """A row for each scenario, system and data set: failure_rate with ``.low`` and ``.high``, and counts."""
        return pd.DataFrame(
            {
                "scenario": cell.scenario,
                "system": cell.system,
                "data_set": cell.data_set,
                "failure_rate": cell.failure_rate.value,
                "failure_rate.low": cell.failure_rate.low,
                "failure_rate.high": cell.failure_rate.high,
                "failures": cell.failures,
                "n": cell.n,
                "errors": cell.errors,
                "unscored": cell.unscored,
            }
            for cell in self.summary.cells
        ).astype(dict.fromkeys(("failure_rate", "failure_rate.low", "failure_rate.high"), float))

    @cached_property
    def cases(self) -> pd.DataFrame:
        """A row for each question put to each system: what was asked, what came back, and what became of it."""
        return pd.DataFrame(
            {
                "scenario": one.verdict.scenario,
                "system": one.verdict.system,
                "data_set": one.verdict.data_set,
                "query_id": one.question.query_id,
                "query": one.question.query,
                "reference": one.question.reference,
                "answer": one.reply.answer,
                "outcome": one.verdict.outcome,
                "component": one.verdict.component,
                "reason": one.verdict.reason or one.reply.error,
            }
            for one in self.probed
        )

    @property
    def flakiness(self) -> Flakiness | None:
        """Result of asking again; None with ``repeat=1``."""
        return self.summary.flakiness

    @property
    def verdict(self) -> str:
        """Sentence on how many answers failed, with the interval, what failed most, and what the gate says."""
        return self.summary.verdict + ("" if self.gate is None else f" Gate {self.gate}.")

    @property
    def unanswered(self) -> str | None:
        """The error where no system gave an answer to any question, else None."""
        cells = self.summary.cells
        if not cells or any(cell.n or cell.unscored for cell in cells):
            return None
        return (
            f"{self.out}: no system gave an answer to any question; the reasons are in results.jsonl. "
            "Check the system, and run the same command again."
        )

    def __repr__(self) -> str:
        return f"<ProbeReport {self.verdict}>"

    def _repr_html_(self) -> str:
        return notebook(probe_report(self))


@verb(ProbeOptions)
def probe(options: ProbeOptions, watch: Watch) -> ProbeReport:
    """Put questions of known kinds to RAG systems: where they fail, how often, and which part of them does.

    Everything is written to ``out`` and logged to MLflow. ``max_failure`` is a share, or shares by scenario:
    ``{"S4": 0.3}``; ``gate`` of the result says whether the failure rates are shown to be within it.

    Raises:
        UserError: Bad input.
        InputError: A damaged scenario or question file.
        ServiceError: No system gave any answer, or a model cannot be reached.

    Example:
        >>> found = judgec.probe(
        ...     scenarios="S6", index="trainsets/sensors/catalogue", system="python:builtins:str", n=4, max_failure=0.2
        ... )
        >>> found.gate, found.results["failures"].tolist()  # it repeats a question that it should refuse
        ('failed', [4])
    """
    found = run_probe(options, watch)
    if found.unanswered:
        raise ServiceError(found.unanswered)
    return found


@dataclass(frozen=True, slots=True)
class DataSet:
    """A corpus with the questions that are asked about it.

    Args:
        name: Of the corpus, or of the file.
        corpus: None without one.
        questions: All that are asked.
        built: How those that were made were made, by scenario.
    """

    name: str
    corpus: Corpus | None
    questions: tuple[Question, ...]
    built: Mapping[str, Built] = field(default_factory=dict)

    def drafts(self) -> list[dict[str, object]]:
        """For ``report.json``: of each scenario how many drafts were written, were kept, and fell by reason."""
        return [
            {"scenario": name, "data_set": self.name, "written": one.drafts, "kept": len(one.questions)}
            | {"fell": dict(one.dropped)}
            for name, one in self.built.items()
        ]


def run_probe(options: ProbeOptions, watch: Watch) -> ProbeReport:
    """A probe whose systems may all have failed: everything is written and logged, whatever came back.

    Raises:
        UserError: Bad input.
        InputError: A damaged scenario or question file.
        ServiceError: A model cannot be reached.
    """
    started = time.time()
    if not options.system:
        raise UserError("--system: none given; http.yaml, python:module:function or an agent is needed. Name one.")
    scenarios = tuple(
        one.model_copy(update={"acceptable_metrics": _more(one.acceptable_metrics, options.metric)})
        for one in _scenarios(options)
    )
    known_scenarios = {one.id: one for one in scenarios}
    given = () if options.questions is None else questions_of(as_table(options.questions), known_scenarios)
    given = tuple(one.model_copy(update={"metrics": _more(one.metrics, options.metric)}) for one in given)
    metrics = {name for one in given for name in one.metrics} or {
        name for one in scenarios for name in one.acceptable_metrics
    }
    known = list(dict.fromkeys([one.id for one in scenarios] + [one.scenario for one in given]))
    limits = parse_limits(options.max_failure, known)
    asked = [one.scenario for one in given] or known
    store = tracking_store(options.home, options.tracking_uri, os.environ)
    with ExitStack() as stack:
        session, judge = _opened(options, watch, stack, given, metrics)
        corpora = [open_corpus(location) for location in options.index]
        where: list[Corpus | None] = [*corpora] or [None]
        systems = [_systems(options, corpus, session) for corpus in where]  # wrong names show first
        tracker = stack.enter_context(Tracker(store, os.environ, seal.notes))
        notes = [note for corpus in corpora for note in corpus.notes]
        sets = _with_inputs(judge, _data_sets(options, scenarios, given, corpora, session, watch, notes))
        probed, tried = [], []
        repeats: list[list[Probed]] = [[] for _ in range(options.repeat - 1)]
        for data, subjects in zip(sets, systems, strict=True):
            found = _probe(options, data, subjects, judge, watch, notes)
            probed += found
            for take, further in enumerate(repeats, 2):
                again = [Repeated(one, take) for one in subjects]
                further.extend(_probe(options, data, again, judge, watch, notes=None, take=take))
            tried += _tried(options, data, subjects, found, judge, watch) if options.try_fix else []
        if options.try_fix and not any(isinstance(one, Agent) for subjects in systems for one in subjects):
            notes.append("--try-fix: none of these systems is judgec's own (rag-bm25, ...): nothing was changed")
        notes += _warnings(options, session, judge)
        if partial := sum(one.verdict.partial for one in probed):
            notes.append(f"{partial} replies pass although the documents they name are not the question's (partial)")
        if foreign := sum(one.verdict.reason == NOT_ENGLISH for one in probed):
            notes.append(f"{foreign} replies to questions without an answer are unscored: {NOT_ENGLISH}")
        validities = _validities(judge)
        notes += dict.fromkeys(note for one in validities for note in one.notes("questions", ADVICE))
        agreement = judge.agreement()
        notes += [f"{what}: {jury_sentence(found)}" for what, found in agreement.items()]
        writer = "a file" if given else options.lm
        summary = summarize(
            probed, known_scenarios, judge=judge.name, writer=writer, notes=notes, tried=tried, repeats=repeats
        )
        ended = time.time()
        _write(options, summary, scenarios, probed, repeats, sets, ended)
        watch.stage("track", store.shown)
        logged = tracker.log_alone(run_of(summary, folder=options.out, started=started, ended=ended))
    verdict, broken = _gate(summary, limits, asked, validities)
    report = {
        **summary.to_json(),
        "out": str(options.out),
        "gate": list(broken),
        "gate_verdict": verdict,
        **({"drafts": made} if (made := [one for data in sets for one in data.drafts()]) else {}),
        "mlflow_run_id": logged.run_id,
        **session.spent.to_json(),
        "missing_inputs": {name: shares for one in validities for name, shares in one.to_json().items()},
        **({"jury": agreement} if agreement else {}),
        **({"versions": said} if (said := seal.notes()) else {}),
    }
    text = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
    write_probe(options.out, {"report.json": f"{text}\n"})
    return ProbeReport(options, summary, tuple(probed), report, verdict, broken)


def _validities(judge: ReplyPanel) -> list[Validity]:
    """Validity of the compiled judges' measurements for what they judged."""
    seated = [(seat.card, jury.inputs) for jury in judge.everybody for seat in jury.members]
    return [validity_of(card, inputs) for card, inputs in seated if card is not None]


def _with_inputs(judge: ReplyPanel, sets: list[DataSet]) -> list[DataSet]:
    """The data sets, before a system is asked.

    Raises:
        UserError: The questions lack what a judge was compiled with.
    """
    for jury, items in judge.asked([question for data in sets for question in data.questions]):
        require_inputs([one.card for one in jury.members if one.card is not None], items, "questions", ADVICE)
    return sets


def _gate(
    summary: Summary, limits: Sequence[Limit], asked: Sequence[str], validities: Sequence[Validity]
) -> tuple[GateVerdict | None, tuple[str, ...]]:
    """Outcome of ``--max-failure``; nothing is shown by judges of which nothing is known on these questions."""
    unmeasured = dict.fromkeys(filter(None, (one.refused("questions") for one in validities)))
    if limits and unmeasured:
        return "not shown", tuple(f"nothing is known of a failure rate: {why}" for why in unmeasured)
    return outcome(summary, limits, asked) if limits else None, tuple(breaches(summary, limits, asked))


def _scenarios(options: ProbeOptions) -> tuple[Scenario, ...]:
    names = [name.strip() for joined in options.scenarios for name in joined.split(",") if name.strip()]
    own = options.home / OWN
    if options.questions is None and not names:
        ids = ", ".join(path.stem for path in files_in(SHIPPED))
        raise UserError(f"--scenarios: none given; ids ({ids}), files or all are needed. Or give --questions FILE.")
    if options.questions is None and not options.index:
        raise UserError("--index: none given; questions are made from an index or documents. Name one.")
    if "all" in names or not names:
        stems = {path.stem for folder in (SHIPPED, own) for path in files_in(folder)}
        names = [*sorted(stems - {PLAIN}), *(name for name in names if name != "all" and name not in stems - {PLAIN})]
    return read_scenarios(names, SHIPPED, own)


def _more(metrics: tuple[Metric, ...], further: Sequence[str]) -> tuple[Metric, ...]:
    """Metrics with ``--metric``; a refusal has none but its own."""
    try:
        wanted = [metric_of(name) for name in further]
    except ValueError as error:
        raise UserError(f"--metric: {error}. Correct it.") from error
    return metrics if REJECTION in metrics else tuple(dict.fromkeys([*metrics, *wanted]))


def _opened(
    options: ProbeOptions, watch: Watch, stack: ExitStack, given: Sequence[Question], metrics: Collection[str]
) -> tuple[Session, ReplyPanel]:
    """The way to models, and the judges, which lack nothing of the questions of a file."""
    spec = LMSpec.parse(options.lm, api_base=options.api_base)
    session = stack.enter_context(session_for(options, spec, options.home, watch))
    watch.stage("model", spec.asked_at)
    names = options.judge, options.rejection_judge
    judge = open_panel(options.lm, *names, options.home, session, options.unproven, metrics)
    _with_inputs(judge, [DataSet("", None, tuple(given))])
    session.preflight()
    return session, judge


def _systems(options: ProbeOptions, corpus: Corpus | None, session: Session) -> list[ProbedSystem]:
    index = corpus.index if corpus is not None else None
    own, spec = LMSpec.parse(options.lm), LMSpec.parse(options.agents_lm or options.lm)
    if own.no_model or spec.provider == own.provider:  # as a model that rewrites is: no text leaves for another's API
        spec = LMSpec.parse(spec.model, api_base=options.api_base)
    settings = AgentSettings(k=options.k, feedback=spec.no_model)
    subjects = [
        open_system(one, index, settings, spec, ask_of(spec, session), Running(), os.environ) for one in options.system
    ]
    names = [subject.name for subject in subjects]
    if len(set(names)) < len(names):
        raise UserError(f"--system: {', '.join(names)}: two have one name; names must differ. Rename one in its file.")
    return subjects


def _data_sets(
    options: ProbeOptions,
    scenarios: Sequence[Scenario],
    given: Sequence[Question],
    corpora: Sequence[Corpus],
    session: Session,
    watch: Watch,
    notes: list[str],
) -> list[DataSet]:
    if given:
        return [DataSet(corpus.name, corpus, tuple(given)) for corpus in corpora] or [
            DataSet(_stem(options), None, tuple(given))
        ]
    names = [corpus.name for corpus in corpora]
    if len(set(names)) < len(names):
        raise UserError(f"--index: {', '.join(names)}: two have one name; names must differ. Rename a folder.")
    _require_read(options, scenarios)
    reliability = open_reliability(options.reliability, options.home, session)
    sets = []
    for corpus in corpora:
        built: dict[str, Built] = {}
        writers = {lm: _writer(options, corpus, session, lm or options.lm) for lm in {one.lm for one in scenarios}}
        counts = {one.id: options.n or one.document_sampling.questions for one in scenarios}
        most = sum(counts[one.id] * (1 + writers[one.lm].redraws) for one in scenarios)
        what = f"{plural(len(scenarios), 'scenario')} on {plural(len(corpus.documents), 'document')} of {corpus.name}"
        watch.stage("write", f"{what}, at most {most} drafts" if most < sys.maxsize else what)
        for scenario in scenarios:
            writer, n = writers[scenario.lm], counts[scenario.id]
            about = scenario, corpus.documents, writer, corpus.terms
            made = build(*about, n=n, seed=options.seed, reliability=reliability)
            said = [made.shortfall]
            if scenario.form == "absent" and writer.name != RuleWriter.name:
                said.append(unread(corpus.terms))
            notes += [f"{scenario.id} on {corpus.name}: {one}" for one in said if one]
            built[scenario.id] = made
        questions = [question for one in built.values() for question in one.questions]
        if not questions:
            raise UserError(f"--index {corpus.location}: no question could be made. {' '.join(notes)}")
        sets.append(DataSet(corpus.name, corpus, tuple(questions), built))
    notes += _fallen([one for data in sets for one in data.built.values()])
    return sets


def _fallen(built: Sequence[Built]) -> list[str]:
    """A note on drafts that were not used, if any."""
    reasons: Counter[str] = Counter()
    for one in built:
        reasons.update(one.dropped)
    why = "; ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    return [f"{reasons.total()} of {sum(one.drafts for one in built)} drafts fell: {why}"] if reasons else []


def _require_read(options: ProbeOptions, scenarios: Sequence[Scenario]) -> None:
    """Check that somebody reads the prompts of each scenario: rules write questions by its form alone.

    Raises:
        UserError: A scenario has prompts of its own, and no language model writes its questions.
    """
    ruled = [one for one in scenarios if writer_spec(one.lm or options.lm, None, options.temperature).no_model]
    shipped = {read_scenario(path).prompts for path in files_in(SHIPPED)} if ruled else set()
    if own := [one.id for one in ruled if one.prompts not in shipped]:
        raise UserError(
            f"--scenarios {', '.join(own)}: prompts of its own, which rules cannot follow; needs --lm, or 'lm' in its "
            "file. Name a language model, or keep the prompts of the scenario that it was made from."
        )


def _writer(options: ProbeOptions, corpus: Corpus, session: Session, lm: str) -> QuestionWriter:
    spec = writer_spec(lm, options.api_base, options.temperature)
    if spec.no_model:
        return RuleWriter(corpus.passages)
    checks = ask_of(checking(spec), session)
    return PromptedWriter(spec.model, ask_of(spec, session), options.seed, corpus.terms, checks=checks)


def _probe(
    options: ProbeOptions,
    data: DataSet,
    subjects: Sequence[ProbedSystem],
    judge: ReplyJudge,
    watch: Watch,
    notes: list[str] | None,
    take: int = 1,
) -> list[Probed]:
    probed: list[Probed] = []
    for subject in subjects:
        once_more = f", time {take} of {options.repeat}" if options.repeat > 1 else ""
        watch.stage("ask", f"{subject.name}: {plural(len(data.questions), 'question')} on {data.name}{once_more}")
        replies = answered(options.out, data.name, subject, data.questions, notes)
        watch.stage("judge", f"{subject.name} by {judge.name}")
        probed += _judged(data, data.questions, replies, judge)
    return probed


def _tried(
    options: ProbeOptions,
    data: DataSet,
    subjects: Sequence[ProbedSystem],
    probed: Sequence[Probed],
    judge: ReplyJudge,
    watch: Watch,
) -> list[TriedFix]:
    def again(changed: ProbedSystem, questions: Sequence[Question]) -> list[Probed]:
        watch.stage("try", f"{changed.name}, changed: {plural(len(questions), 'question')} on {data.name}")
        return _judged(data, questions, answered(options.out, data.name, changed, questions), judge)

    return [
        fix
        for subject in subjects
        if isinstance(subject, Agent)
        for fix in try_fixes(subject, [one for one in probed if one.verdict.system == subject.name], again)
    ]


def _judged(
    data: DataSet, questions: Sequence[Question], replies: Sequence[SystemReply], judge: ReplyJudge
) -> list[Probed]:
    terms = data.corpus.terms if data.corpus is not None and data.corpus.index is not None else None
    return verdicts(questions, replies, judge, data_set=data.name, terms=terms)


def _warnings(options: ProbeOptions, session: Session, judge: ReplyPanel) -> list[str]:
    if not session.spec.no_model:
        unmeasured = any(one.card is None for jury in (judge.criteria, judge.rejection) if jury for one in jury.members)
        return [UNMEASURED.format(model=options.lm, file=options.out / VERDICTS)] if unmeasured else []
    wrote = [] if options.questions is not None else ["no model: questions by rule, a baseline"]
    by_rules = [
        *([] if options.judge else ["answers"]),
        *([] if options.rejection_judge else ["refusals"]),
    ]
    judged = [f"{' and '.join(by_rules)} judged by rules, without a model: a baseline"] if by_rules else []
    return wrote + judged


def _write(
    options: ProbeOptions,
    summary: Summary,
    scenarios: Sequence[Scenario],
    probed: Sequence[Probed],
    repeats: Sequence[Sequence[Probed]],
    sets: Sequence[DataSet],
    ended: float,
) -> None:
    created = datetime.fromtimestamp(ended, tz=UTC).isoformat(timespec="seconds")
    title = f"{options.out.name}: {plural(len(summary.systems), 'system')}, {len(summary.scenarios)} scenarios"
    files: dict[str, str] = {
        PAGE: page(summary, scenarios, probed, title=title, created=created),
        "junit.xml": junit("judgec probe", list(map(case_of, probed))),
        "results.jsonl": _lines(one.model_dump_json(exclude_defaults=True) for one in probed),
        VERDICTS: verdict_lines(options.out, probed),
        MEANINGS: DATASHEET,
    }
    if repeats:
        again = [(take, one) for take, further in enumerate(repeats, 2) for one in further]
        files[REPEATS] = _lines(
            json.dumps({"take": take, **one.model_dump(mode="json", exclude_defaults=True)}, ensure_ascii=False)
            for take, one in again
        )
    for data in sets:
        name = "questions.jsonl" if len(sets) == 1 else f"questions.{data.name}.jsonl"
        files[name] = _lines(one.model_dump_json(exclude_defaults=True) for one in data.questions)
    write_probe(options.out, files)


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _stem(options: ProbeOptions) -> str:
    """Name of questions without a corpus."""
    given = options.questions
    return Path(given).stem if given is not None and is_path(given) else "questions"


FEW = 3  # systems up to which the screen shows intervals; the report always does


def failures_table(summary: Summary) -> TextTable:
    """Failure rates: a row a scenario and system, or, of many systems, a row a scenario."""
    rows = rate_rows(summary) if len(summary.systems) <= FEW else matrix_rows(summary)
    return TextTable(f"Failure rates, judged by {summary.judge}", *rows)


def probe_report(found: ProbeReport) -> Report:
    """The verdict, failure rates, what to do where something failed, and the next command; every table besides."""
    summary = found.summary
    again = summary.flakiness
    return Report(
        data=found.report,
        gates=_gates(found),
        verdict=[summary.verdict, *([] if again is None else [again.verdict])],
        tables=[_told(failures_table(summary))],
        full=_every_table(summary),
        lines=[f"{scenario}: {one.fix}: {one.reason}" for scenario, one in summary.fixes.items()],
        notes=summary.notes,
        more="totals, scenarios that passed, changes tried, also on the page",
        file=found.report_path,
        next=[command("ui", home=found.options.home)],
    )


def _gates(found: ProbeReport) -> Gates | None:
    """Every breach of ``--max-failure``, or that there is none; None where it was not asked or nothing answered."""
    if found.gate is None or found.unanswered:
        return None
    demand = f"--max-failure {', '.join(found.options.max_failure)}"
    within = f"{demand}: every upper bound is within its limit"
    broken = [Gate(demand, found.gate, sentence) for sentence in found.breaches]
    sentence = "--max-failure: " + "; ".join(found.breaches) + "." if found.breaches else within
    said = announced(found.gate, sentence)
    return Gates("probe", broken or [Gate(demand, found.gate, within)], said, found.report_path)


def _told(table: TextTable) -> TextTable:
    """The table without counts that are all 0, and without the data set where there is one."""
    alike = {head for head, *cells in zip(table.heads, *table.rows, strict=True) if len(set(cells)) == 1}
    none = {head for head, *cells in zip(table.heads, *table.rows, strict=True) if set(cells) == {"0"}}
    dropped = none | (alike & {"data set"})
    kept = [place for place, head in enumerate(table.heads) if head not in dropped]
    rows = [[row[place] for place in kept] for row in table.rows]
    return TextTable(table.title, [table.heads[place] for place in kept], rows)


def _every_table(summary: Summary) -> list[TextTable]:
    totals = [total for total in summary.totals if total.by in {"overall", "system"}]
    tables = [
        failures_table(summary),
        TextTable("In all, 95 % intervals over source documents", *TOTALS.screen(totals)),
        TextTable("What to do", *scenario_rows(summary)),
    ]
    if summary.tried:
        title = "Changes tried on what failed; broken: of what had passed"
        tables.append(TextTable(title, *TRIED.screen(summary.tried)))
    if summary.flakiness is not None:
        again = summary.flakiness
        ours = [one for one in again.shares if one.by in {"overall", "system"}]
        title = f"Asked {plural(again.repeat, 'time')}, 95 % intervals over source documents"
        tables.append(TextTable(title, *FLAKY.screen(ours)))
    return tables
