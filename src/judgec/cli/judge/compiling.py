"""What ``judgec compile-judge`` does: read, compile, save, track, show."""

import os
from dataclasses import replace

from judgec.api.compilation import compile_and_save
from judgec.cli.judge.compile_judge import Request
from judgec.cli.judge.source import as_typed, read_source
from judgec.cli.output import command, print_table, say
from judgec.cli.progress import Bar
from judgec.compiler.abstain import check_options
from judgec.compiler.compile import default_objective, plan_judge
from judgec.compiler.judge_page import page_path
from judgec.compiler.render import outcome_notes, outcome_tables
from judgec.compiler.report import Saved, check_name
from judgec.compiler.settings import CompileSettings, Weighs, reflection_spec
from judgec.lm.spec import LMSpec
from judgec.records.agreement import STATISTICS, Agreement
from judgec.records.card import EVIDENCE_ALONE
from judgec.records.label import LabelSet
from judgec.report.render import agreement_table, comparison_table, notes, print_tables, show
from judgec.stats.agreement.objective import parse_objective
from judgec.store.splits import default_family
from judgec.tracking.store import tracking_store


def run(request: Request, *, items: str = "FILE") -> tuple[Saved, dict[str, object]]:
    """Compile, save and track; returns the saved version and the report of ``--json``.

    Args:
        request: The command line.
        items: What the next command, which is printed at the end, judges; ``FILE`` stands for items yet to come.
    """
    bar = Bar(shown=not request.quiet)
    labels, settings = _read(request, bar)
    store = tracking_store(request.home, request.tracking_uri, os.environ)
    found = compile_and_save(
        labels, settings, store, os.environ, source=request.labels, watch=bar, on_done=bar.progress
    )
    bar.close()
    saved, report = found.saved, dict(found.report)
    if not request.quiet:
        _show(saved, request, items)
    return saved, report


def dry_run(request: Request) -> dict[str, object]:
    """What the compile would ask: no request is made and nothing is written; returns the plan of ``--json``."""
    labels, settings = _read(request, Bar(shown=False))
    dataset, plan = plan_judge(labels, settings)
    if not request.quiet:
        title = f"{settings.name} with {settings.lm.model}, --optimizer {settings.optimizer}: at most, at list price"
        stages = [*((stage.name, stage.most) for stage in plan.stages), ("in all", plan.total)]
        rows = [[name, f"{most.calls:,}", f"{most.tokens:,}", _estimated(most.usd)] for name, most in stages]
        print_table(title, ["stage", "calls", "tokens", "$"], rows)
        say("nothing was asked and nothing was written")
    total = plan.total
    return {
        "dry_run": True,
        "program": settings.name,
        "lm": settings.lm.model,
        "optimizer": settings.optimizer,
        "searches": plan.searches,
        "split": dataset.split.sizes(),
        "stages": [
            {"name": stage.name, "calls": stage.most.calls, "tokens": stage.most.tokens, "usd": stage.most.usd}
            for stage in plan.stages
        ],
        "calls": total.calls,
        "tokens": total.tokens,
        "usd": total.usd,
        "budget": settings.budget,
        "max_cost": settings.max_cost,
    }


def _read(request: Request, bar: Bar) -> tuple[LabelSet, CompileSettings]:
    name = request.name or default_family(request.labels)
    check_name(name)
    check_options(request.abstain_below, request.promise, request.risk)
    spec = LMSpec.parse(request.lm, api_base=request.api_base)
    reflection, no_reflection = reflection_spec(spec, request.reflection_lm)
    bar.stage("labels", request.labels)
    read = replace(as_typed(request.labels, request, request.task), assessment=request.assessment)
    labels = read_source(read, tracking_store(request.home, request.tracking_uri, os.environ), os.environ)
    return labels, CompileSettings(
        name=name,
        home=request.home,
        lm=spec,
        objective=request.objective or default_objective(labels),
        optimizer=request.optimizer,
        seed=request.seed,
        budget=request.budget,
        max_cost=request.max_cost,
        evidence=request.evidence,
        reflection=reflection,
        no_reflection=no_reflection,
        abstain_below=request.abstain_below,
        promise=request.promise,
        risk=request.risk,
        learning_curve=request.learning_curve,
        folds=request.folds,
        weighs=Weighs(request.factors, request.has_citations),
        source=read.to_json(),
    )


def _estimated(usd: float | None) -> str:
    return "unknown" if usd is None else f"{usd:.4f}"


def _show(saved: Saved, request: Request, items: str) -> None:
    card, compiled, agreements = saved.card, saved.compiled, saved.compiled.verification.agreements
    title = f"{card.name}@{card.version} on {len(compiled.dataset.test)} test items ({card.objective})"
    judges = {name: agreements[name] for name in agreements if agreements[name].n}
    measured = statistics_of(card.objective)
    both: dict[str, Agreement] = {
        name: judges[name] for name in ("compiled", "compiled_loo", "ceiling") if name in judges
    }
    print_tables(comparison_table(title, judges, measured[0]), agreement_table("in full, with 95 % intervals", both))
    print_tables(*outcome_tables(compiled, abstaining=compiled.abstention.below is not None))
    verdict = "promoted to champion" if card.promoted else "saved as challenger"
    named = card.name if card.promoted else f"{card.name}@latest"
    endpoint = () if request.api_base is None else ("--api-base", request.api_base)
    say(
        *[f"prompt gain ({name}, both calibrated): {show(compiled.prompt_gain[name])}" for name in measured],
        str(saved.report["verdict"]),
        f"{card.name}@{card.version}{f' ({EVIDENCE_ALONE})' if card.evidence_alone else ''} {verdict}: {card.reason}",
        compiled.sharper.sentence,
        f"report: {page_path(request.home, card)}",
        f"{card.cost.lm_calls} LM calls, {_dollars(card.cost.usd)}, {card.cost.seconds:.0f} s",
        *outcome_notes(compiled),
        *[f"note: {note}" for note in compiled.notes],
        *[f"note: {note}" for note in dict.fromkeys(notes({"compiled": agreements["compiled"]}))],
        "",
        f"Next: {command('judge', items, '--judge', named, '--out', 'judged.jsonl', *endpoint, home=request.home)}",
        f"      {command('ui', home=request.home)}",
    )


def statistics_of(objective: str) -> list[str]:
    """The report's statistics that an objective is made of; exact agreement where it has none of its own there."""
    names = {"accept": "accept_agreement"}
    terms = [names.get(name, name) for _, name in parse_objective(objective).terms]
    return [name for name in terms if name in STATISTICS] or ["exact"]


def _dollars(usd: float | None) -> str:
    return "price unknown" if usd is None else f"${usd:.4f}"
