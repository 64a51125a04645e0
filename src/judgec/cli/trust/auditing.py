"""What ``judgec audit`` does: load, choose items, audit or compare with an anchor, keep, track, show."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from judgec.audits import drift
from judgec.audits.registry import audits_named, run_audits
from judgec.audits.subject import AuditSubject, subject_of
from judgec.cli.output import command, judgec_here, say
from judgec.cli.trust.audit import Request
from judgec.cli.trust.held_out import held_out
from judgec.compiler.judge_page import page_path, put_audits
from judgec.errors import UserError
from judgec.held_out import HeldOut, judged_unlearned, spread
from judgec.judges.judge import load_judge
from judgec.lm.session import Session
from judgec.lm.spec import EMBEDDED, LMSpec
from judgec.records.audit import AuditReport, Status
from judgec.records.card import ProgramCard
from judgec.report.numbers import show
from judgec.report.progress import Bar
from judgec.stats.intervals.gate import GateVerdict, announced, worst
from judgec.store import programs
from judgec.store.programs import Program
from judgec.store.splits import write_whole
from judgec.tracking.background import Tracker
from judgec.tracking.runs import AuditRun
from judgec.tracking.store import tracking_store

Report = dict[str, object]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the command says.

    Args:
        report: The object of ``--json``.
        refused: Why a gate on it stays shut, or empty.
    """

    report: Report
    refused: str


def run(request: Request) -> Outcome:
    """Audit a judge, freeze an anchor, or compare with one.

    Raises:
        UserError: When there is no such judge, audit or file, or no item is left to audit it on.
        ServiceError: When its model fails.
    """
    program = programs.load(request.home, request.judge)
    if request.anchor is None:
        return _audit(request, program)
    return _compare(request, program) if request.anchor.exists() else _freeze(request, program)


def _audit(request: Request, program: Program) -> Outcome:
    started = time.time()
    only = tuple(name.strip() for name in (request.only or "").split(",") if name.strip())
    audits_named(only)  # a wrong name shows before anything is paid for
    found = held_out(program, request)
    bar = Bar(shown=not request.quiet)
    bar.stage("items", f"{len(found.items)} labelled items of {found.source}, not learned from")
    card = program.card
    store = tracking_store(request.home, request.tracking_uri, os.environ)
    with Tracker(store, os.environ) as tracker, _asking(request, program, bar) as (subject, session):
        everything = replace(subject, items=found.items, experts=found.experts)
        sample = _sample(everything, request.items)
        findings = run_audits(sample, everything, only, lambda name: bar.stage("audit", name))
        spent = session.spent
        audit = AuditReport(
            findings=findings,
            created=_now(),
            lm=everything.model,
            items=len(sample.items),
            queries=len({item.query_id for item in sample.items}),
            source=found.source,
            seed=request.seed,
        )
        card = programs.record_audit(request.home, f"{card.name}@{card.version}", audit)
        put_audits(request.home, card, audit.findings if card.audit is None else card.audit.findings)
        bar.stage("track", store.shown)
        logged = tracker.log_audit(_run_of(card, audit, request.home, started))
    bar.close()
    report = {
        "judge": {"program": card.name, "version": card.version},
        **audit.to_json(),
        "lm_calls": spent.calls,
        "journaled": spent.journaled,
        "cost_usd": None if spent.unpriced else spent.usd,
        "mlflow_run_id": logged.run_id,
        "notes": _notes(found, card),
    }
    held = _held(audit)
    said = announced(held, _demanded(card, audit))
    if request.require_pass:
        report["gate"] = {"verdict": held, "sentence": said}
    if not request.quiet:
        _show(card, audit, report)
    if request.require_pass and held == "passed":
        say(said)
    return Outcome(report, "" if held == "passed" else said)


def _held(audit: AuditReport) -> GateVerdict:
    """What ``--require-pass`` says: an audit that does not apply asks nothing, but one has to apply."""
    verdicts: dict[Status, GateVerdict] = {"fail": "failed", "not shown": "not shown", "pass": "passed"}
    known = [verdicts[finding.status] for finding in audit.findings if finding.status in verdicts]
    return worst(known) if known else "not shown"


def _demanded(card: ProgramCard, audit: AuditReport) -> str:
    """The audits that did not pass, with their numbers; or that all did."""
    shut = [finding for finding in audit.findings if finding.status in {"fail", "not shown"}]
    told = " ".join(f"{finding.audit}: {finding.sentence}" for finding in shut) or f"{audit.summary}."
    return f"{card.name}@{card.version}: {told}"


def _freeze(request: Request, program: Program) -> Outcome:
    assert request.anchor is not None  # the caller looked
    if not request.anchor.parent.is_dir():
        raise UserError(
            f"--anchor {request.anchor}: no such folder {request.anchor.parent}; create it, or name another."
        )
    found = held_out(program, request)
    bar = Bar(shown=not request.quiet)
    named = f"{program.card.name}@{program.card.version}"
    with _asking(request, program, bar) as (subject, session):
        sample = _sample(replace(subject, items=found.items, experts=found.experts), request.items)
        bar.stage("freeze", f"{len(sample.items)} items of {found.source}")
        anchor = drift.freeze(sample, judge=named, aspects=program.card.aspects, created=_now())
        calls = session.spent.calls
    bar.close()
    write_whole(request.anchor, anchor.model_dump_json(indent=1) + "\n")
    report: Report = {
        "judge": {"program": program.card.name, "version": program.card.version},
        "anchor": str(request.anchor),
        "frozen": len(anchor.items),
        "noise": anchor.noise,
        "lm_calls": calls,
    }
    if not request.quiet:
        again = command("audit", "--judge", request.judge, "--anchor", str(request.anchor), home=request.home)
        noise = "" if anchor.noise is None else f"; asked twice, {anchor.noise:.1%} of verdicts differ"
        say(
            f"{request.anchor}: a new file, {len(anchor.items)} items frozen with the verdicts of {named}{noise}",
            f"Next, when the model may have changed: {again}",
        )
    return Outcome(report, "")


def _compare(request: Request, program: Program) -> Outcome:
    assert request.anchor is not None  # the caller looked
    anchor, card = drift.read_anchor(request.anchor), program.card
    named = f"{card.name}@{card.version}"
    if (anchor.scale.grades, anchor.aspects) != (card.scale.grades, card.aspects):
        raise UserError(
            f"--anchor {request.anchor}: verdicts of {anchor.judge} with grades "
            f"{', '.join(map(str, anchor.scale.grades))}; {named} has another scale or other aspects. "
            "Name the judge that was frozen, or a new file."
        )
    bar = Bar(shown=not request.quiet)
    with _asking(request, program, bar) as (subject, session):
        bar.stage(
            "compare",
            f"{len(anchor.items)} items of {request.anchor}, frozen {anchor.created} by {anchor.judge}, {anchor.lm}",
        )
        found = drift.compare(
            anchor,
            subject.judging,
            run=time.time_ns() // 1_000_000,  # nothing of an earlier run may answer for today's model
            pairwise=subject.pairwise,
            max_flips=request.max_flips,
            max_shift=request.max_shift,
        )
        calls, model = session.spent.calls, subject.model
    bar.close()
    report: Report = {
        "judge": {"program": card.name, "version": card.version},
        "anchor": str(request.anchor),
        "frozen": {"judge": anchor.judge, "lm": anchor.lm, "created": anchor.created, "items": len(anchor.items)},
        "lm": model,
        "drift": found.to_json(),
        "lm_calls": calls,
    }
    if not request.quiet:
        agreed = found.agreement.estimates["exact"]
        print(f"{named} against {anchor.judge} of {anchor.created}\n{found.flips.sentence}\n{found.shift.sentence}")
        lost = f"{found.lost} verdicts lost; noise when frozen: {anchor.noise}; {calls} LM calls"
        say(f"exact: {show(agreed, 3)}; {lost}")
    said = f"{request.anchor}: {found.flips.sentence} {found.shift.sentence}"
    if not request.quiet and not found.beyond:
        say(announced("passed", said))
    return Outcome(report, announced("failed", said) if found.beyond else "")


@contextmanager
def _asking(request: Request, program: Program, bar: Bar) -> Iterator[tuple[AuditSubject, Session]]:
    """The judge as a subject without items, and its way to the model."""
    judge, card = load_judge(program), program.card
    spec = LMSpec.from_card(card.lm, model=request.lm, api_base=request.api_base)
    with Session(spec, request.home, budget=request.budget, max_cost=request.max_cost, on_done=bar.progress) as session:
        if judge.asks_lm:
            session.preflight()
        subject = subject_of(
            judge,
            (),
            session.ask,
            fields=card.fields,
            model=spec.model if judge.asks_lm else EMBEDDED,
            experts=None,
            seed=request.seed,
        )
        fair = partial(judged_unlearned, program=program, judge=judge, ask=session.ask)
        yield replace(subject, unlearned=fair if "folds" in program.split else None), session


def _sample(everything: AuditSubject, n: int) -> AuditSubject:
    rows = spread(everything.items, n, [everything.draw(item, "sample") for item in everything.items])
    experts = None if everything.experts is None else everything.experts.rows(rows)
    return replace(everything, items=tuple(everything.items[i] for i in rows), experts=experts)


def _run_of(card: ProgramCard, audit: AuditReport, home: Path, started: float) -> AuditRun:
    version = f"{card.version:04d}"
    folder = home / "programs" / card.name / version
    outcome = {f"audit.{finding.audit}": finding.status for finding in audit.findings}
    return AuditRun(
        name=f"audit of {card.name} {version}",
        params={"program": card.name, "version": version, "lm": audit.lm, "items": audit.items, "seed": audit.seed},
        metrics={f"audit.{finding.audit}": finding.effect for finding in audit.findings}
        | {f"audit.{finding.audit}.bound": finding.bound for finding in audit.findings},
        artifacts={path.name: path for path in (folder / "card.json", page_path(home, card)) if path.exists()},
        tags={"judgec.judge": f"{card.name}@{card.version}", "audit": audit.status, **outcome},
        started=started,
        ended=time.time(),
        description="\n\n".join(f"**{one.audit}: {one.status}.** {one.sentence}" for one in audit.findings),
        judge=card.name,
        judge_version=card.version,
        version_tags={"audit": card.audit.status if card.audit else audit.status, **outcome},
    )


def _notes(found: HeldOut, card: ProgramCard) -> list[str]:
    notes = [f"{found.learned} labelled items were left out: the judge has learned from their queries."]
    notes = notes if found.learned else []
    return [*notes, *([] if card.promoted else ["This version was not shown to be better than its baselines."])]


def _show(card: ProgramCard, audit: AuditReport, report: Report) -> None:
    print(f"Audit of {card.name}@{card.version} on {audit.items} items of {audit.queries} queries, 95 % intervals\n")
    for finding in audit.findings:
        print(f"{finding.status:<11}{finding.audit:<17}{finding.sentence}")
    say(
        audit.summary,
        f"{report['lm_calls']} LM calls, {report['journaled']} from the journal",
        *_show_notes(report),
        f"Next: {judgec_here()} ui; {judgec_here()} audit --judge NAME --anchor FILE keeps watch over drift",
    )


def _show_notes(report: Report) -> list[str]:
    notes = report["notes"]
    return [f"note: {note}" for note in notes] if isinstance(notes, list) else []


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
