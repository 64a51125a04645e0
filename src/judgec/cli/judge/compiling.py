"""What ``judgec compile-judge`` does: read, compile, save, track, show."""

import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from judgec.agreement.render import agreement_table, comparison_table, notes, print_tables, show
from judgec.cli.output import say
from judgec.cli.progress import Bar
from judgec.compiler.compile import Compiled, compile_judge, default_objective
from judgec.compiler.outcome.report import Saved, check_name, save, with_run
from judgec.compiler.outcome.track import run_of
from judgec.compiler.session import Session
from judgec.compiler.settings import CompileSettings
from judgec.lm.spec import LMSpec
from judgec.records.agreement import Agreement
from judgec.store.labels import read_labels
from judgec.store.rows.columns import as_names, as_rename
from judgec.store.splits import default_family
from judgec.tracking.background import Tracker
from judgec.tracking.store import tracking_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The command line of ``compile-judge``, as typed."""

    labels: str
    home: Path
    name: str | None = None
    lm: str = "embedded"
    api_base: str | None = None
    objective: str | None = None
    task: str | None = None
    accept_at: str | None = None
    reflection_lm: str | None = None
    optimizer: str = "bootstrap"
    seed: int = 0
    budget: int | None = None
    max_cost: float | None = None
    evidence: bool = True
    rename: tuple[str, ...] = ()
    annotators: str | None = None
    tracking_uri: str | None = None
    quiet: bool = False


def run(request: Request) -> tuple[Saved, dict[str, object]]:
    """Compile, save and track; returns the saved version and the report of ``--json``."""
    started = time.time()
    bar = Bar(shown=not request.quiet)
    name = request.name or default_family(request.labels)
    check_name(name)
    spec = LMSpec.parse(request.lm, api_base=request.api_base)
    bar.stage("labels", request.labels)
    labels = read_labels(
        request.labels,
        task=request.task,
        rename=as_rename(request.rename),
        annotators=as_names(request.annotators),
        accept_at=request.accept_at,
    )
    settings = CompileSettings(
        name=name,
        home=request.home,
        lm=spec,
        objective=request.objective or default_objective(labels),
        optimizer=request.optimizer,
        seed=request.seed,
        budget=request.budget,
        max_cost=request.max_cost,
        evidence=request.evidence,
    )
    store = tracking_store(request.home, request.tracking_uri, os.environ)
    with (
        Tracker(store, os.environ) as tracker,
        Session(spec, request.home, budget=request.budget, max_cost=request.max_cost, on_done=bar.progress) as session,
    ):
        compiled = compile_judge(labels, settings, session, bar)
        ended = time.time()
        created = datetime.fromtimestamp(ended, tz=UTC).isoformat(timespec="seconds")
        saved = save(compiled, settings, session.spent, created=created, seconds=ended - started)
        bar.stage("track", store.shown)
        logged = tracker.log_compile(
            run_of(compiled, saved, settings, source=request.labels, started=started, ended=ended)
        )
    bar.close()
    report = with_run(saved, logged.run_id)
    if not request.quiet:
        _show(compiled, saved)
    return saved, report


def _show(compiled: Compiled, saved: Saved) -> None:
    card, agreements = saved.card, compiled.verification.agreements
    title = f"{card.name}@{card.version} on {len(compiled.dataset.test)} test items ({card.objective})"
    judges = {name: agreements[name] for name in agreements if agreements[name].n}
    headline = "accept_agreement" if card.objective == "accept" else card.objective
    both: dict[str, Agreement] = {
        name: judges[name] for name in ("compiled", "compiled_loo", "ceiling") if name in judges
    }
    print_tables(comparison_table(title, judges, headline), agreement_table("in full, with 95 % intervals", both))
    gain = compiled.prompt_gain.get(headline)
    verdict = "promoted to champion" if card.promoted else "saved as challenger"
    say(
        *([f"prompt gain ({headline}, both calibrated): {show(gain)}"] if gain else []),
        f"{card.name}@{card.version} {verdict}: {card.reason}",
        f"{card.cost.lm_calls} LM calls, {_dollars(card.cost.usd)}, {card.cost.seconds:.0f} s",
        *[f"note: {note}" for note in compiled.notes],
        *[f"note: {note}" for note in dict.fromkeys(notes({"compiled": agreements["compiled"]}))],
        "",
        f"Next: judgec judge FILE --judge {card.name}{'' if card.promoted else '@latest'} --out judged.jsonl",
        "      judgec ui",
    )


def _dollars(usd: float | None) -> str:
    return "price unknown" if usd is None else f"${usd:.4f}"
