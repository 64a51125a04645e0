"""``judgec.audit``: whether a judge is moved by what must not count."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path

import pandas as pd

from judgec.compile.held_out import HeldOut, held_out, judged_unlearned, spread
from judgec.compile.judge_page import put_audits
from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.runs import AuditRun
from judgec.connect.tracking.store import tracking_store
from judgec.lm.executor import Ask
from judgec.lm.session import Session
from judgec.lm.spec import NO_LM
from judgec.lm.usage import Spent
from judgec.lm.watch import Watch
from judgec.raters import programs
from judgec.raters.judge import require_asked
from judgec.records.audit import AuditReport, Finding, Status
from judgec.records.card import ProgramCard
from judgec.records.counts import plural
from judgec.records.tasks.registry import TASKS, require_better_above
from judgec.report.gates import Gate, Gates
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.report.systems_table import pairs_tables, systems_in_short, systems_lines
from judgec.stats.agreement.systems import SystemAgreement
from judgec.stats.intervals.gate import GateVerdict, announced, worst
from judgec.table import seal
from judgec.trust.audits.fairness import SEVERAL, family_of
from judgec.trust.audits.registry import audits_named, run_audits
from judgec.trust.audits.subject import AuditSubject, subject_of
from judgec.verbs.given_judge import given_judge
from judgec.verbs.judge import Judge
from judgec.verbs.options.audit import AuditOptions
from judgec.verbs.source import labels_for
from judgec.verbs.spending import account_for, session_for
from judgec.verbs.typed import command
from judgec.verbs.validity import validity_of
from judgec.verbs.verb import verb

LABELLED = "labelled items"  # what notes call what is audited


@dataclass(frozen=True)
class JudgeAudit:
    """Findings of an audit.

    Args:
        judge: ``NAME@VERSION``.
        home: Where it is saved.
        card: Its card, with the audit on it.
        report: What ``audit --json`` prints.
        verdict: ``passed``, ``failed`` or ``not shown``.
        sentence: The numbers behind it.
        audit: The findings.
    """

    judge: str
    home: Path
    card: ProgramCard
    report: Mapping[str, object]
    verdict: GateVerdict
    sentence: str
    audit: AuditReport

    @property
    def announced(self) -> str:
        """``GATE NOT SHOWN: ...``."""
        return announced(self.verdict, self.sentence)

    @cached_property
    def findings(self) -> pd.DataFrame:
        """Audits with status, effect, low, high, bound and a sentence."""
        rows = {
            one.audit: {
                "status": one.status,
                "effect": one.effect.value,
                "low": one.effect.low,
                "high": one.effect.high,
                "bound": one.bound,
                "sentence": one.sentence,
            }
            for one in self.audit.findings
        }
        columns = ["status", "effect", "low", "high", "bound", "sentence"]
        frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
        return frame.astype({"effect": float, "low": float, "high": float, "bound": float})

    @property
    def report_path(self) -> Path:
        """The judge's HTML report, which has the findings."""
        return programs.page_path(self.home, self.card)

    def __repr__(self) -> str:
        return f"<JudgeAudit of {self.judge}, {self.verdict}: {self.sentence}>"

    def _repr_html_(self) -> str:
        return notebook(audit_report(self))


@verb(AuditOptions)
def audit(options: AuditOptions, watch: Watch) -> JudgeAudit:
    """Try to move a judge's verdicts by what must not count.

    The findings go on the judge's card, into its report and to MLflow.

    Raises:
        UserError: There is no such judge, audit or file, or no item is left to audit it on.
        InputError: Faulty labels.
        ServiceError: The judge's model fails.

    Example:
        >>> found = judgec.audit("sensors@1", only=["length"])
        >>> found.findings.index.tolist()
        ['length']
    """
    judge = given_judge(options.judge, home=options.home, lm=options.lm, api_base=options.api_base, labels=options)
    require_better_above(judge.program.card.task, f"--judge {judge.name}")
    require_asked(judge.compiled, f"--judge {judge.name}")
    return _audited(options, judge, watch)


def _audited(options: AuditOptions, judge: Judge, watch: Watch) -> JudgeAudit:
    started = time.time()
    audits_named(options.only)  # a wrong name shows before anything is paid for
    read = labels_for(options, judge.program, environ=os.environ)
    found = held_out(read.label_set, read.source, judge.program)
    if why := validity_of(judge.program.card, found.items).refused(LABELLED):
        return _unaudited(options, judge, found, why)
    asked = judge.spec.asked_at
    watch.stage("items", f"{plural(len(found.items), 'labelled item')} of {found.source}, not learned from; {asked}")
    store = tracking_store(judge.home, options.tracking_uri, os.environ)
    with Tracker(store, os.environ, seal.notes) as tracker, _asking(options, judge, watch) as (subject, session):
        everything = replace(subject(session.ask), items=found.items, experts=found.experts)
        sample = _sample(everything, options.items)

        def audited(ask: Ask) -> tuple[tuple[Finding, ...], SystemAgreement | None]:
            whole = replace(subject(ask), items=everything.items, experts=everything.experts)
            findings = run_audits(
                _sample(whole, options.items), whole, options.only, lambda name: watch.stage("audit", name)
            )
            judged = any(audit.needs_labels for audit in audits_named(options.only).values())
            return findings, whole.systems if judged else None  # of verdicts that are there

        if options.batch:  # what an audit asks may follow from the verdicts on the items as they are
            session.together(lambda ask: replace(subject(ask), items=sample.items, experts=sample.experts).base)
        findings, systems = session.together(audited)
        spent = session.spent
        made = AuditReport(
            findings=findings,
            created=_now(),
            lm=everything.model,
            items=len(sample.items),
            queries=len({item.query_id for item in sample.items}),
            source=found.source,
            seed=options.seed,
            systems=None if systems is None else systems.to_json(),
        )
        card, run = judge.program.card, None
        if judge.saved:
            card = programs.record_audit(judge.home, judge.name, made)
            known = card.audit or made
            put_audits(judge.home, card, known.findings, known.systems)
            watch.stage("track", store.shown)
            run = tracker.log_audit(_run_of(card, made, judge.home, started)).run_id
    report: dict[str, object] = {
        "judge": {"program": card.name, "version": card.version},
        **made.to_json(),
        **spent.to_json(),
        "mlflow_run_id": run,
        "notes": _notes(found, card),
    }
    return JudgeAudit(judge.name, judge.home, card, report, _held(made), _demanded(card, made), audit=made)


def _unaudited(options: AuditOptions, judge: Judge, found: HeldOut, why: str) -> JudgeAudit:
    """Nothing is asked where the judge sees less than of its own labels: its card would tell of another judge."""
    card = judge.program.card
    made = AuditReport(
        findings=(),
        created=_now(),
        lm=str(card.lm.get("model")),
        items=0,
        queries=0,
        source=found.source,
        seed=options.seed,
    )
    report: dict[str, object] = {
        "judge": {"program": card.name, "version": card.version},
        **made.to_json(),
        **Spent().to_json(),
        "mlflow_run_id": None,
        "notes": _notes(found, card),
    }
    return JudgeAudit(judge.name, judge.home, card, report, "not shown", f"{judge.name}: {why}.", audit=made)


def _held(found: AuditReport) -> GateVerdict:
    """Verdict of a gate: an audit that does not apply asks nothing, but one has to apply."""
    verdicts: dict[Status, GateVerdict] = {"fail": "failed", "not shown": "not shown", "pass": "passed"}
    known = [verdicts[finding.status] for finding in found.findings if finding.status in verdicts]
    return worst(known) if known else "not shown"


def _demanded(card: ProgramCard, found: AuditReport) -> str:
    """The audits that did not pass, with their numbers; or that all did."""
    shut = [finding for finding in found.findings if finding.status in {"fail", "not shown"}]
    told = " ".join(f"{finding.audit}: {finding.sentence}" for finding in shut) or f"{found.summary}."
    return f"{card.name}@{card.version}: {told}"


@contextmanager
def _asking(
    options: AuditOptions, given: Judge, watch: Watch
) -> Iterator[tuple[Callable[[Ask], AuditSubject], Session]]:
    """Makes of a way to ask the judge as a subject without items; and the usual way to its model."""
    judge, spec, program = given.compiled, given.spec, given.program
    with session_for(options, spec, given.home, watch, account=account_for(options, options.judge)) as session:
        if judge.asks_lm:
            session.preflight()

        def subject(ask: Ask) -> AuditSubject:
            made = subject_of(
                judge,
                (),
                ask,
                fields=program.card.fields,
                model=_behind(given) if judge.asks_lm else NO_LM,
                experts=None,
                seed=options.seed,
                graded=TASKS[program.card.task].graded,
            )
            fair = partial(judged_unlearned, program=program, said=partial(judge.judge, ask=ask))
            return replace(made, unlearned=fair if "folds" in program.split else None)

        yield subject, session


def _sample(everything: AuditSubject, n: int) -> AuditSubject:
    rows = spread(everything.items, n, [everything.draw(item, "sample") for item in everything.items])
    experts = None if everything.experts is None else everything.experts.rows(rows)
    return replace(everything, items=tuple(everything.items[i] for i in rows), experts=experts)


def _run_of(card: ProgramCard, found: AuditReport, home: Path, started: float) -> AuditRun:
    version = f"{card.version:04d}"
    folder = home / "programs" / card.name / version
    systems = None if found.systems is None else SystemAgreement.from_json(found.systems)
    outcome = {f"audit.{finding.audit}": finding.status for finding in found.findings}
    return AuditRun(
        name=f"audit of {card.name} {version}",
        params={"program": card.name, "version": version, "lm": found.lm, "items": found.items, "seed": found.seed},
        metrics={f"audit.{finding.audit}": finding.effect for finding in found.findings}
        | {f"audit.{finding.audit}.bound": finding.bound for finding in found.findings}
        | ({} if systems is None else {"audit.system_tau": systems.tau_b, "audit.system_spearman": systems.spearman}),
        artifacts={path.name: path for path in (folder / "card.json", programs.page_path(home, card)) if path.exists()},
        tags={"judgec.judge": f"{card.name}@{card.version}", "audit": found.status, **outcome},
        started=started,
        ended=time.time(),
        description="\n\n".join(f"**{one.audit}: {one.status}.** {one.sentence}" for one in found.findings),
        judge=card.name,
        judge_version=card.version,
        version_tags={"audit": card.audit.status if card.audit else found.status, **outcome},
    )


def _notes(found: HeldOut, card: ProgramCard) -> list[str]:
    return [*found.notes, *validity_of(card, found.items).notes(LABELLED)]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _behind(judge: Judge) -> str:
    """The model whose family a judge may favour: of a jury one of theirs where all are of one family."""
    names = judge.models
    return names[0] if len({family_of(name) for name in names}) == 1 else SEVERAL


def audit_report(found: JudgeAudit, options: AuditOptions | None = None, *, require_pass: bool = False) -> Report:
    """Report of what each audit saw and how it ended.

    Args:
        found: What came of it.
        options: Of the audit.
        require_pass: All audits have to pass.
    """
    audit, home = found.audit, found.home if options is None else options.home
    gates = _gates(found) if require_pass else None
    title = f"Audit of {found.judge} on {plural(audit.items, 'item')} of {audit.queries} queries, 95 % intervals"
    heads = ("", "audit", "what was seen")
    systems = None if audit.systems is None else SystemAgreement.from_json(audit.systems)
    quiet = {status: [one.audit for one in audit.findings if one.status == status] for status in ("pass", "skipped")}
    rows: list[tuple[str, ...]] = [
        (one.status, one.audit, one.sentence.split(": ")[0].removesuffix("."))
        for one in audit.findings
        if one.status not in quiet
    ]
    rows += [(status, plural(len(names), "audit"), ", ".join(names)) for status, names in quiet.items() if names]
    notes = found.report["notes"]
    gate = {} if gates is None else {"gate": {"verdict": found.verdict, "sentence": found.announced}}
    return Report(
        data={**found.report, **gate},
        gates=gates,
        verdict=[audit.summary],
        tables=[TextTable(title, heads, rows)],
        full=[
            TextTable(title, heads, [(one.status, one.audit, one.sentence) for one in audit.findings]),
            *pairs_tables({} if systems is None else {found.judge: systems}),
        ],
        lines=[
            *systems_in_short(systems),
            f"{found.report['lm_calls']} LM calls, {found.report['journaled']} from the journal",
        ],
        details=systems_lines(systems),
        notes=notes if isinstance(notes, list) else [],
        more="what each audit saw, bounds, how many items would settle it",
        next=[command("ui", home=home)],
    )


def _gates(found: JudgeAudit) -> Gates:
    """Each audit that was made, else the demand itself."""
    verdicts: dict[str, GateVerdict] = {"pass": "passed", "fail": "failed", "not shown": "not shown"}
    findings = [one for one in found.audit.findings if one.status in verdicts]
    parts = [Gate(one.audit, verdicts[one.status], one.sentence) for one in findings]
    said = parts or [Gate("--require-pass", found.verdict, found.sentence)]
    return Gates("audit", said, found.announced, found.report_path)
