"""One compile from labels to a saved, tracked version: what the command, Python and MLflow's bridge have in common."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from judgec.compile.compile import beside_headline, compile_judge, plan_judge
from judgec.compile.dataset import Dataset
from judgec.compile.modes import found_modes
from judgec.compile.render import outcome_notes, outcome_tables
from judgec.compile.replacement import replacement
from judgec.compile.report import Saved, save, with_run
from judgec.compile.rivals import standing_of
from judgec.compile.search.plan import CallPlan
from judgec.compile.settings import CompileSettings
from judgec.compile.track import run_of
from judgec.compile.verify import BEST_ALONE, COMPILED_SINGLE
from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.runs import Logged
from judgec.connect.tracking.store import TrackingStore
from judgec.labels.experts import reading_notes
from judgec.labels.project import find_project
from judgec.lm.usage import Account, Spent
from judgec.lm.watch import Watch
from judgec.raters import programs
from judgec.raters.recorded import RECORDED_KIND
from judgec.records.agreement import Agreement
from judgec.records.card import NO_MODEL, ProgramCard
from judgec.records.counts import plural
from judgec.records.label import LabelSet
from judgec.records.tasks.grade import borrowed_meanings
from judgec.report.gates import Gate, Gates
from judgec.report.modes_table import mode_table
from judgec.report.numbers import dollars, objective_name, show, statistic_name
from judgec.report.page.notebook import notebook
from judgec.report.render import agreement_table, beside_table, comparison_table, notes
from judgec.report.replacement_table import ASPECTS, ASPECTS_TITLE, outcome_sentences
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.report.systems_table import pairs_tables, systems_in_short, systems_lines
from judgec.report.words import RIVALS, TEST_USE, row_name
from judgec.stats.agreement.objective import statistics_of
from judgec.table import seal
from judgec.verbs.candidates import functions_to_type
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from judgec.verbs.spending import session_for
from judgec.verbs.typed import command, maps_typed

if TYPE_CHECKING:
    import pandas as pd

    from judgec.verbs.judge import Judge


@dataclass(frozen=True)
class Compilation:
    """A compiled judge with what was measured of it.

    Args:
        saved: The version on disk.
        report: What ``compile-judge --json`` prints.
        home: Where it is saved.
    """

    saved: Saved
    report: Mapping[str, object]
    home: Path

    @property
    def name(self) -> str:
        """``NAME@VERSION``."""
        return f"{self.saved.card.name}@{self.saved.card.version}"

    @property
    def promoted(self) -> bool:
        """True when it was shown to be better and is the champion now."""
        return self.saved.card.promoted

    @property
    def verdict(self) -> str:
        """The report's first sentence."""
        return str(self.report["verdict"])

    @property
    def reason(self) -> str:
        """The reason why it was promoted, or why not."""
        return self.saved.card.reason

    @property
    def report_path(self) -> Path:
        """The HTML report."""
        return programs.page_path(self.home, self.saved.card)

    @cached_property
    def table(self) -> "pd.DataFrame":
        """Judges by statistics: for each the value, ``STATISTIC.low`` and ``STATISTIC.high``; NaN where undefined."""
        import pandas as pd

        rows = {}
        for judge, agreement in self.saved.compiled.verification.agreements.items():
            row: dict[str, float | None] = {}
            for name, estimate in agreement.estimates.items():
                row |= {name: estimate.value, f"{name}.low": estimate.low, f"{name}.high": estimate.high}
            rows[judge] = row
        return pd.DataFrame.from_dict(rows, orient="index", dtype=float)

    @cached_property
    def judge(self) -> "Judge":
        """The version that was compiled, ready to judge; with its own models, where they were asked, and functions."""
        from judgec.verbs.judge import load_judge

        settings = self.saved.compiled.promotion_test.settings
        asked, called = settings.lm.api_base, settings.functions
        return load_judge(self.name, home=self.home, api_base=asked, functions=called)  # type: ignore[arg-type]  # as there

    def __repr__(self) -> str:
        return f"<Compilation {self.name}, {'promoted' if self.promoted else 'not promoted'}: {self.verdict}>"

    def _repr_html_(self) -> str:
        headline = statistics_of(self.saved.card.objective)[0]
        return notebook(
            compiled_report(self),
            chart={called: one.estimates[headline] for called, one in shown_judges(self).items()},
            drawn=statistic_name(headline),
        )


def _kept(spent: Spent, settings: CompileSettings) -> str:
    """Sentence on what an interrupted compile leaves behind."""
    replies, journal = spent.calls + spent.journaled, settings.home / ".judgec" / "journal.db"
    return (
        f"{settings.name}: no version was saved; {replies:,} replies of {settings.lm.model} are in "
        f"{journal} and are not asked for again"
    )


def compile_and_save(
    labels: LabelSet,
    settings: CompileSettings,
    store: TrackingStore,
    environ: Mapping[str, str],
    *,
    source: str,
    watch: Watch,
    account: Account | None = None,
    clock: Callable[[], float] = time.time,
) -> Compilation:
    """Compile a judge, save the version, point the aliases and log the run.

    Args:
        labels: What it learns from and is measured on.
        settings: What was asked for.
        store: Where the run is logged.
        environ: Where keys are looked up.
        source: What the run calls the labels.
        watch: Told where the compile is.
        account: What other work may spend together with this, in place of the settings' caps.
        clock: Seconds since 1970.

    Raises:
        UserError: When the labels cannot be learned from, before anything is opened or written.
        ServiceError: When the LM fails for good.
    """
    started = clock()
    plan_judge(labels, settings)
    with (
        Tracker(store, environ, seal.notes) as tracker,
        session_for(
            settings,
            settings.lm,
            settings.home,
            watch,
            account=account,
            reflection=settings.reflection,
            batched="passes",
        ) as session,
    ):
        try:
            compiled = compile_judge(labels, settings, session, watch)
        except KeyboardInterrupt as stopped:
            stopped.add_note(_kept(session.spent, settings))
            raise
        settings = compiled.promotion_test.settings  # with what was settled on the way: models, prompts, verdicts
        ended = clock()
        created = datetime.fromtimestamp(ended, tz=UTC).isoformat(timespec="seconds")
        logged: list[Logged] = []

        def track(saved: Saved) -> None:
            watch.stage("track", store.shown)
            run = run_of(saved.compiled, saved, settings, source=source, started=started, ended=ended)
            logged.append(tracker.log_compile(run))

        saved = save(compiled, settings, session.spent, created=created, seconds=ended - started, track=track)
    return Compilation(saved, with_run(saved, logged[0].run_id), settings.home)


SHOWN_STATISTICS = 2  # of the short table: what was maximised, and accept or exact agreement


def plan_report(settings: CompileSettings, dataset: Dataset, plan: CallPlan) -> Report:
    """Report of the most that a compile would ask."""
    silent = settings.no_model or settings.rated.recorded is not None
    how = f"{', '.join(settings.lm.members)}: {settings.lm.asked_at}" if settings.lm.members else settings.lm.asked_at
    how += "" if settings.lm.members or settings.no_model else f", --optimizer {settings.optimizer}"
    price = "list price, half of it in batches" if settings.batch else "list price"
    title = f"{settings.name} with {how}: at most, at {price}"
    stages = [*((stage.name, stage.most) for stage in plan.stages), ("in all", plan.total)]
    rows = [[name, f"{most.calls:,}", f"{most.tokens:,}", _estimated(most.usd)] for name, most in stages]
    waits = "no batch to wait for" if not plan.waits else f"at most {plural(plan.waits, 'batch')}, one after the other"
    batches = [f"{waits}, each for up to 24 hours; one more where replies have to be asked for again"]
    return Report(
        data=_plan_to_json(settings, dataset, plan),
        tables=[TextTable(title, ["stage", "calls", "tokens", "$"], rows)],
        lines=[
            *(batches if settings.batch else []),
            "nothing was asked and nothing was written",
            f"a compile is test use {standing_of(dataset, settings).test_use} of its test queries; this is none",
        ],
        notes=[] if silent else [*borrowed_meanings(dataset.labels.task, dataset.labels.scale)],
    )


def _plan_to_json(settings: CompileSettings, dataset: Dataset, plan: CallPlan) -> dict[str, object]:
    total = plan.total
    return {
        "dry_run": True,
        "program": settings.name,
        "lm": settings.lm.model,
        "asked": settings.lm.asked_at,
        "optimizer": settings.optimizer,
        "searches": plan.searches,
        "split": dataset.split.sizes(),
        "test_use": standing_of(dataset, settings).test_use,
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
    """Table of the judges that were compared on the test items."""
    card, agreements = found.saved.card, found.saved.compiled.verification.agreements
    tested = f"{plural(len(found.saved.compiled.dataset.test), 'test item')} ({objective_name(card.objective)})"
    judges = {name: agreements[name] for name in agreements if agreements[name].n}
    return comparison_table(f"{card.name}@{card.version} on {tested}", judges, statistics_of(card.objective)[0])


def judge_and_out(card: ProgramCard, home: Path = Path()) -> tuple[str, ...]:
    """Options that ``judge`` needs: nothing where ``judgec.toml`` names the family and would take this version."""
    project = find_project()
    taken = card.promoted or programs.CHAMPION not in programs.aliases(home, card.name)
    if taken and project is not None and project.name == card.name:
        return ()
    return "--judge", card.name if card.promoted else f"{card.name}@latest", "--out", "judged.jsonl"


ROWS = {
    "majority": "{majority}",
    "uncompiled": "{uncompiled} as it was",
    BEST_ALONE: "{alone} as it was, the best alone",
    "compiled_prompt": "{prompt} alone",
    COMPILED_SINGLE: RIVALS[COMPILED_SINGLE],
    "evidence_only": RIVALS["evidence_only"],
    "compiled": "{name}what you get",
    "ceiling": "experts among themselves",
}
"""What the rows of the short table are called; others keep their names."""
LONGEST_NAME = 20  # of a judge in a row of it, beside two statistics
LEFT_OUT = ("majority", "compiled_loo", "longest")  # of the short table, but where one is better than what ships


def short_table(found: Compilation) -> TextTable:
    """Table of the judge that the user had, the compiled one, and the experts."""
    card, test = found.saved.card, found.saved.compiled.dataset.test
    headline = statistics_of(card.objective)[0]
    beside = beside_headline(found.saved.compiled.verification.agreements["compiled"].estimates)
    names = list(dict.fromkeys((headline, beside, *(() if card.scale.interval else ("exact",)))))[:SHOWN_STATISTICS]
    title = f"{card.name}@{card.version} on {len(test)} test items of {test.n_queries} queries, 95 % intervals"
    return beside_table(title, shown_judges(found), names)


def shown_judges(found: Compilation) -> dict[str, Agreement]:
    """Rows of the short table by what they are called; those that say the same twice stand once."""
    card, compiled = found.saved.card, found.saved.compiled
    agreements = {name: one for name, one in compiled.verification.agreements.items() if one.n}
    headline = statistics_of(card.objective)[0]
    best = agreements["compiled"].estimates[headline].value or 0.0
    # Without a model the evidence is the judge, and the most frequent grade what it is compared with.
    left_out = ("evidence_only", *LEFT_OUT[1:]) if card.engine == NO_MODEL else LEFT_OUT

    def shown(name: str) -> bool:
        value = agreements[name].estimates[headline].value
        return name not in left_out or (value is not None and value > best and name != "compiled_loo")

    choice, recorded = compiled.choice, compiled.chosen.settings.get("kind") == RECORDED_KIND
    before = choice.uncompiled if recorded else None
    alone = choice.alone
    called = {
        "majority": "the median" if card.scale.interval else "the most frequent grade",
        "name": f"{card.name}@{card.version}: " if len(card.name) <= LONGEST_NAME else "",  # the title has it
        "uncompiled": "the prompt" if before is None else before.name,
        "alone": "" if alone is None else alone.name,
        "prompt": compiled.chosen.name if recorded else "the compiled prompt",
    }
    rows: dict[str, Agreement] = {}
    for name in [*(one for one in ROWS if one in agreements), *(one for one in agreements if one not in ROWS)]:
        alike = [one.estimates for one in rows.values()]
        own = name in {"compiled", "ceiling"} or agreements[name].estimates not in alike
        if shown(name) and own:
            rows[ROWS.get(name, row_name(name)).format(**called)] = agreements[name]
    return rows


def _labelled(options: CompileJudgeOptions) -> tuple[str, ...]:
    """The file of the labels as the next command reads it; ``FILE`` stands for items yet to come."""
    file = options.labels
    if not isinstance(file, (str, Path)) or not Path(file).exists():
        return ("FILE",)
    return (str(file), *maps_typed(str(file), options.columns))


def _next(options: CompileJudgeOptions, card: ProgramCard) -> list[str]:
    endpoint = () if options.api_base is None else ("--api-base", options.api_base)
    judging = (*judge_and_out(card, options.home), *endpoint, *functions_to_type(card, options))
    return [command("judge", *_labelled(options), *judging, home=options.home), command("ui", home=options.home)]


def _gates(found: Compilation) -> Gates:
    """That it is promoted, which its verdict says by itself."""
    sentence = f"{found.name}: {'promoted' if found.promoted else 'not promoted'}; {found.reason}"
    gate = Gate("--require-promotion", "passed" if found.promoted else "not shown", sentence)
    return Gates("compile-judge", [gate], "" if found.promoted else sentence, found.report_path)


def compiled_report(found: Compilation, options: CompileJudgeOptions | None = None, *, gated: bool = False) -> Report:
    """Report of a compile: a verdict, a table, what to do next.

    Args:
        found: What was compiled.
        options: Of the compile.
        gated: It has to be promoted.
    """
    saved = found.saved
    card, compiled = saved.card, saved.compiled
    replaces = replacement(compiled.dataset, compiled.verification.judgments)
    modes = found_modes(compiled)
    asked, asked_in_full = (
        outcome_tables(compiled, abstaining=compiled.abstention.below is not None, verbose=verbose)
        for verbose in (False, True)
    )
    of_parts = []
    if replaces is not None and replaces.aspects:
        of_parts.append(TextTable(ASPECTS_TITLE, *ASPECTS.screen(list(replaces.aspects.items()))))
    if modes is not None:
        of_parts.append(mode_table(modes))
    ranks = {} if compiled.systems is None else {f"{card.name}@{card.version}": compiled.systems}
    reading = reading_notes(compiled.dataset.labels, compiled.dataset.test.experts)
    more = "" if card.promoted else compiled.detectable_difference.sentence
    width = compiled.interval_width(card.objective).sentence
    told = more and compiled.detectable_difference.more_queries is not None
    advice = [more, width] if told else [width, more]
    cost = f"{card.cost.lm_calls} LM calls, {dollars(card.cost.usd)}, {card.cost.seconds:.0f} s"
    short = outcome_notes(compiled, calibration=False)
    return Report(
        data=found.report,
        gates=_gates(found) if gated else None,
        verdict=[found.verdict],
        tables=[short_table(found), *asked, *of_parts],
        full=[*_every_table(found), *asked_in_full, *of_parts, *pairs_tables(ranks)],
        lines=[
            *(() if replaces is None or replaces.omega is None else outcome_sentences(replaces)),
            *filter(None, advice[:1]),
            *systems_in_short(compiled.systems),
            *short,
            *([cost] if card.cost.lm_calls else []),
        ],
        details=[
            *filter(None, advice[1:]),
            *systems_lines(compiled.systems),
            *([] if card.cost.lm_calls else [cost]),
            *_gains(found),
            *(one for one in outcome_notes(compiled, calibration=True) if one not in short),
        ],
        reading=reading,
        notes=[
            *(note for note in compiled.notes if note not in reading),
            *(() if modes is None else modes.notes),
            *notes({"compiled": compiled.verification.agreements["compiled"]}),
        ],
        more="every statistic",
        file=programs.page_path(found.home, card),
        next=[] if options is None else _next(options, card),
    )


def _every_table(found: Compilation) -> list[TextTable]:
    agreements = found.saved.compiled.verification.agreements
    both: dict[str, Agreement] = {
        name: agreements[name]
        for name in ("compiled", "compiled_loo", "ceiling")
        if name in agreements and agreements[name].n
    }
    full = agreement_table("in full, with 95 % intervals", both)
    return [judges_table(found), replace(full, legend={**full.legend, "test use": TEST_USE})]


def _gains(found: Compilation) -> list[str]:
    gains = found.saved.compiled.prompt_gain
    if found.saved.card.engine == NO_MODEL:
        return []
    return [
        f"prompt gain ({statistic_name(name)}, both calibrated): {show(gains[name])}"
        for name in statistics_of(found.saved.card.objective)
    ]
