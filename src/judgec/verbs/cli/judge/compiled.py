"""Prints the result of ``judgec compile-judge``."""

from dataclasses import replace
from pathlib import Path

from judgec.compile.dataset import Dataset
from judgec.compile.modes import found_modes
from judgec.compile.render import outcome_notes, outcome_tables
from judgec.compile.replacement import replacement
from judgec.compile.search.plan import CallPlan
from judgec.compile.settings import CompileSettings
from judgec.labels.project import find_project
from judgec.raters import programs
from judgec.records.agreement import Agreement
from judgec.records.card import EVIDENCE_ALONE, ProgramCard
from judgec.report.modes_table import mode_table
from judgec.report.numbers import dollars, objective_name, show, statistic_name
from judgec.report.render import agreement_table, comparison_table, notes, systems_sentence
from judgec.report.replacement_table import ASPECTS, ASPECTS_TITLE, outcome_sentences
from judgec.report.screen import TextTable, print_tables
from judgec.report.words import LOOK
from judgec.stats.agreement.objective import statistics_of
from judgec.verbs.candidates import functions_to_type
from judgec.verbs.cli.output import command, print_table, say
from judgec.verbs.compilation import Compilation
from judgec.verbs.options.compile_judge import CompileJudgeOptions


def show_plan(settings: CompileSettings, plan: CallPlan) -> None:
    """Print what a compile would ask at most."""
    how = f"{', '.join(settings.lm.members)}: {settings.lm.asked_at}" if settings.lm.members else settings.lm.asked_at
    how += "" if settings.lm.members else f", --optimizer {settings.optimizer}"
    price = "list price, half of it in batches" if settings.batch else "list price"
    title = f"{settings.name} with {how}: at most, at {price}"
    stages = [*((stage.name, stage.most) for stage in plan.stages), ("in all", plan.total)]
    rows = [[name, f"{most.calls:,}", f"{most.tokens:,}", _estimated(most.usd)] for name, most in stages]
    print_table(title, ["stage", "calls", "tokens", "$"], rows)
    if settings.batch:
        waits = "no batch to wait for" if not plan.waits else f"at most {plan.waits} batches, one after the other"
        say(f"{waits}, each for up to 24 hours; one more where replies have to be asked for again")
    say("nothing was asked and nothing was written")


def plan_to_json(settings: CompileSettings, dataset: Dataset, plan: CallPlan) -> dict[str, object]:
    """The same for ``--json``."""
    total = plan.total
    return {
        "dry_run": True,
        "program": settings.name,
        "lm": settings.lm.model,
        "asked": settings.lm.asked_at,
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
        "batch": settings.batch,
        "waits": plan.waits,
        "budget": settings.budget,
        "max_cost": settings.max_cost,
    }


def _estimated(usd: float | None) -> str:
    return "unknown" if usd is None else f"{usd:.4f}"


def judges_table(found: Compilation) -> TextTable:
    """What was compared on the test items."""
    card, agreements = found.saved.card, found.saved.compiled.verification.agreements
    tested = f"{len(found.saved.compiled.dataset.test)} test items ({objective_name(card.objective)})"
    judges = {name: agreements[name] for name in agreements if agreements[name].n}
    return comparison_table(f"{card.name}@{card.version} on {tested}", judges, statistics_of(card.objective)[0])


def judge_and_out(card: ProgramCard, home: Path = Path()) -> tuple[str, ...]:
    """What ``judge`` has to be told: nothing where ``judgec.toml`` names the family and would take this version."""
    project = find_project()
    taken = card.promoted or programs.CHAMPION not in programs.aliases(home, card.name)
    if taken and project is not None and project.name == card.name:
        return ()
    return "--judge", card.name if card.promoted else f"{card.name}@latest", "--out", "judged.jsonl"


def show_compiled(found: Compilation, options: CompileJudgeOptions, items: str = "FILE") -> None:
    """Print tables, verdict and the next command.

    Args:
        found: What was compiled.
        options: Of the compile.
        items: What the next command judges; ``FILE`` stands for items yet to come.
    """
    saved = found.saved
    card, compiled, agreements = saved.card, saved.compiled, saved.compiled.verification.agreements
    measured = statistics_of(card.objective)
    both: dict[str, Agreement] = {
        name: agreements[name]
        for name in ("compiled", "compiled_loo", "ceiling")
        if name in agreements and agreements[name].n
    }
    full = agreement_table("in full, with 95 % intervals", both)
    print_tables(judges_table(found), replace(full, legend={**full.legend, "look": LOOK}))
    print_tables(*outcome_tables(compiled, abstaining=compiled.abstention.below is not None))
    verdict = "promoted to champion" if card.promoted else "saved as challenger"
    endpoint = () if options.api_base is None else ("--api-base", options.api_base)
    called = functions_to_type(card, options)
    replaces = replacement(compiled.dataset, compiled.verification.judgments)
    if replaces is not None and replaces.aspects:
        print_table(ASPECTS_TITLE, *ASPECTS.screen(list(replaces.aspects.items())))
    if (modes := found_modes(compiled)) is not None:
        print_tables(mode_table(modes))
    say(
        *[
            f"prompt gain ({statistic_name(name)}, both calibrated): {show(compiled.prompt_gain[name])}"
            for name in measured
        ],
        str(saved.report["verdict"]),
        *(() if replaces is None or replaces.omega is None else outcome_sentences(replaces)),
        f"{card.name}@{card.version}{f' ({EVIDENCE_ALONE})' if card.evidence_alone else ''} {verdict}: {card.reason}",
        compiled.detectable_difference.sentence,
        *filter(None, [compiled.interval_width(card.objective).sentence]),
        *([] if compiled.systems is None else [systems_sentence(compiled.systems)]),
        f"report: {programs.page_path(options.home, card)}",
        f"{card.cost.lm_calls} LM calls, {dollars(card.cost.usd)}, {card.cost.seconds:.0f} s",
        *outcome_notes(compiled),
        *[f"note: {note}" for note in (*compiled.notes, *(() if modes is None else modes.notes))],
        *[f"note: {note}" for note in dict.fromkeys(notes({"compiled": agreements["compiled"]}))],
        "",
        f"Next: {command('judge', items, *judge_and_out(card, options.home), *endpoint, *called, home=options.home)}",
        f"      {command('ui', home=options.home)}",
    )
