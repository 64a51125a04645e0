"""One compile from labels to a saved, tracked version: what the command, Python and MLflow's bridge have in common."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from judgec.compile.compile import compile_judge
from judgec.compile.dataset import Dataset
from judgec.compile.finished import SavedJudge, finished
from judgec.compile.judge_page import agreements_of, costs_of, sizes_of, systems_in
from judgec.compile.planned import plan_judge
from judgec.compile.report import beside_headline
from judgec.compile.rivals import standing_of
from judgec.compile.search.plan import CallPlan
from judgec.compile.settings import CompileSettings
from judgec.compile.track import run_of
from judgec.compile.verify import BEST_ALONE, COMPILED_SINGLE
from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.store import TrackingStore
from judgec.labels.project import find_project
from judgec.lm.usage import Account, Spent
from judgec.lm.watch import Watch
from judgec.raters import programs
from judgec.records.agreement import Agreement
from judgec.records.alternative_annotator import AltTest
from judgec.records.card import NO_MODEL, ProgramCard
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.label import LabelSet
from judgec.records.mode_agreement import ModesAgreement
from judgec.records.tasks.grade import borrowed_meanings
from judgec.report.cost_table import COLUMNS, SIZES, TITLE
from judgec.report.gates import Gate, Gates
from judgec.report.modes_table import mode_table
from judgec.report.numbers import dollars, number, objective_name, percent, show, statistic_name
from judgec.report.page.notebook import notebook
from judgec.report.page.page import Found
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
from judgec.verbs.saving import saved_and_logged
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
        settings: What was asked for.
    """

    saved: SavedJudge
    report: Found
    settings: CompileSettings

    @property
    def name(self) -> str:
        """``NAME@VERSION``."""
        return f"{self.saved.card.name}@{self.saved.card.version}"

    @property
    def home(self) -> Path:
        """The folder of ``programs/`` where it is saved."""
        return self.settings.home

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
    def agreements(self) -> Mapping[str, Agreement]:
        """The judges on the test items."""
        return agreements_of(self.report)

    @cached_property
    def table(self) -> "pd.DataFrame":
        """Judges by statistics: for each the value, ``STATISTIC.low`` and ``STATISTIC.high``; NaN where undefined."""
        import pandas as pd

        rows = {}
        for judge, agreement in self.agreements.items():
            row: dict[str, float | None] = {}
            for name, estimate in agreement.estimates.items():
                row |= {name: estimate.value, f"{name}.low": estimate.low, f"{name}.high": estimate.high}
            rows[judge] = row
        return pd.DataFrame.from_dict(rows, orient="index", dtype=float)

    @cached_property
    def judge(self) -> "Judge":
        """The version that was compiled, ready to judge; with its own models, where they were asked, and functions."""
        from judgec.verbs.judge import load_judge

        asked, called = self.settings.lm.api_base, self.settings.caps.functions
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
    log_traces: bool = False,
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
        log_traces: Whether MLflow gets the test items on which judge and experts differ as traces, with their texts.
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
            settings.caps,
            settings.lm,
            settings.home,
            watch,
            account=account,
            reflection=settings.search.reflection,
            batched="passes",
        ) as session,
    ):
        try:
            compiled = compile_judge(labels, settings, session, watch)
        except KeyboardInterrupt as stopped:
            stopped.add_note(_kept(session.spent, settings))
            raise
        settings = compiled.promotion_test.settings  # with what was settled on the way: models, prompts, verdicts
        took = started, clock()
        saved, report = saved_and_logged(
            partial(finished, compiled, settings),
            lambda saved: run_of(saved, settings.home, source=source, took=took, log_traces=log_traces),
            (session, tracker, store),
            took,
            watch,
        )
    return Compilation(saved, report, settings)


SHOWN_STATISTICS = 2  # of the short table: what was maximised, and accept or exact agreement


def plan_report(settings: CompileSettings, dataset: Dataset, plan: CallPlan) -> Report:
    """Report of the most that a compile would ask."""
    silent = settings.no_model or settings.candidates.recorded is not None
    how = f"{', '.join(settings.lm.members)}: {settings.lm.asked_at}" if settings.lm.members else settings.lm.asked_at
    how += "" if settings.lm.members or settings.no_model else f", --optimizer {settings.search.optimizer}"
    price = "list price, half of it in batches" if settings.caps.batch else "list price"
    title = f"{settings.name} with {how}: at most, at {price}"
    stages = [(stage.name, stage.most) for stage in plan.stages]
    stages += [("certain of these", plan.certain), ("in all, at most", plan.total)]
    rows = [[name, f"{most.calls:,}", f"{most.tokens:,}", _estimated(most.usd)] for name, most in stages]
    waits = "no batch to wait for" if not plan.waits else f"at most {plural(plan.waits, 'batch')}, one after the other"
    batches = [f"{waits}, each for up to 24 hours; one more where replies have to be asked for again"]
    return Report(
        data=_plan_to_json(settings, dataset, plan),
        tables=[TextTable(title, ["stage", "calls", "tokens", "$"], rows)],
        lines=[
            *(batches if settings.caps.batch else []),
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
        "optimizer": settings.search.optimizer,
        "searches": plan.searches,
        "split": dataset.split.sizes(),
        "test_use": standing_of(dataset, settings).test_use,
        "stages": [
            {
                "name": stage.name,
                "calls": stage.most.calls,
                "tokens": stage.most.tokens,
                "usd": stage.most.usd,
                "certain": stage.certain,
            }
            for stage in plan.stages
        ],
        "certain": {"calls": plan.certain.calls, "tokens": plan.certain.tokens, "usd": plan.certain.usd},
        "at_most": {"calls": total.calls, "tokens": total.tokens, "usd": total.usd},
        "calls": total.calls,
        "tokens": total.tokens,
        "usd": total.usd,
        "batch": settings.caps.batch,
        "waits": plan.waits,
        "budget": settings.caps.budget,
        "max_cost": settings.caps.max_cost,
    }


def _estimated(usd: float | None) -> str:
    return "unknown" if usd is None else f"{usd:.4f}"


def judges_table(found: Compilation) -> TextTable:
    """Table of the judges that were compared on the test items."""
    card = found.saved.card
    tested = f"{plural(found.report['split']['test'], 'test item')} ({objective_name(card.objective)})"
    judges = {name: one for name, one in found.agreements.items() if one.n}
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
    card, items, queries = found.saved.card, found.report["split"]["test"], found.report["labels"]["queries"]["test"]
    headline = statistics_of(card.objective)[0]
    beside = beside_headline(found.agreements["compiled"].estimates)
    names = list(dict.fromkeys((headline, beside, *(() if card.scale.interval else ("exact",)))))[:SHOWN_STATISTICS]
    title = f"{card.name}@{card.version} on {items} test items of {queries} queries, 95 % intervals"
    return beside_table(title, shown_judges(found), names)


def shown_judges(found: Compilation) -> dict[str, Agreement]:
    """Rows of the short table by what they are called; those that say the same twice stand once."""
    card, before = found.saved.card, found.report.get("recorded", {})
    agreements = {name: one for name, one in found.agreements.items() if one.n}
    headline = statistics_of(card.objective)[0]
    best = agreements["compiled"].estimates[headline].value or 0.0
    # Without a model the evidence is the judge, and the most frequent grade what it is compared with.
    left_out = ("evidence_only", *LEFT_OUT[1:]) if card.engine == NO_MODEL else LEFT_OUT

    def shown(name: str) -> bool:
        value = agreements[name].estimates[headline].value
        return name not in left_out or (value is not None and value > best and name != "compiled_loo")

    called = {
        "majority": "the median" if card.scale.interval else "the most frequent grade",
        "name": f"{card.name}@{card.version}: " if len(card.name) <= LONGEST_NAME else "",  # the title has it
        "uncompiled": before.get("uncompiled", "the prompt"),
        "alone": before.get("best_alone", ""),
        "prompt": found.report["prompt"] if before else "the compiled prompt",
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
    card, data = found.saved.card, found.report
    own, systems = found.agreements["compiled"], systems_in(data)
    replaces = AltTest.from_json(data["alt_test"]) if "alt_test" in data else None
    modes = ModesAgreement.from_json(data["modes"]) if "modes" in data else None
    panel = _panel_tables(data)
    left = [_coverage_table(data["abstention"])] if data["abstention"]["below"] is not None else []
    of_parts = []
    if replaces is not None and replaces.aspects:
        of_parts.append(TextTable(ASPECTS_TITLE, *ASPECTS.screen(list(replaces.aspects.items()))))
    if modes is not None:
        of_parts.append(mode_table(modes))
    ranks = {} if systems is None else {found.name: systems}
    more, width = ("" if card.promoted else data["more_queries"]["sentence"]), data["narrower"]["sentence"]
    advice = [more, width] if more and data["more_queries"]["queries"] is not None else [width, more]
    cost = f"{card.cost.lm_calls} LM calls, {dollars(card.cost.usd)}, {card.cost.seconds:.0f} s"
    return Report(
        data=data,
        gates=_gates(found) if gated else None,
        verdict=[found.verdict],
        tables=[short_table(found), *panel[:1], *left, *of_parts],
        full=[*_every_table(found), *_costs_tables(data), *panel, *left, *of_parts, *pairs_tables(ranks)],
        lines=[
            *(() if replaces is None or replaces.omega is None else outcome_sentences(replaces)),
            *filter(None, advice[:1]),
            *systems_in_short(systems),
            *_panel_lines(data),
            *([cost] if card.cost.lm_calls else []),
        ],
        details=[
            *filter(None, advice[1:]),
            *systems_lines(systems),
            *([] if card.cost.lm_calls else [cost]),
            *_gains(found),
            *_calibrators(data),
        ],
        reading=data["reading"],
        notes=[
            *(note for note in data["notes"] if note not in data["reading"]),
            *(() if modes is None else modes.notes),
            *notes({"compiled": own}),
        ],
        more="every statistic",
        file=found.report_path,
        next=[] if options is None else _next(options, card),
    )


def _costs_tables(data: Found) -> list[TextTable]:
    """The judges that no other one beats at their price, and the one that ships; none where all cost the same."""
    rows = [row for row in costs_of(data) if row.pareto or row.chosen]
    return [TextTable(f"{TITLE}, on {rows[0].split}", *COLUMNS.screen(rows))] if len(rows) > 1 else []


def _panel_tables(data: Found) -> list[TextTable]:
    """The members of the panel, and the sizes that were compared; none where evidence alone ships."""
    if "panel" not in data or data["evidence_alone"]:
        return []
    panel = data["panel"]
    rows = [(one["judge"], _estimate(one["adds"]), dollars(one["cost_usd"])) for one in panel["members"]]
    sizes = [TextTable(SIZES, *COLUMNS.screen(sizes_of(panel["curve"])))] if "curve" in panel else []
    return [TextTable(f"Panel: {panel['kind']}", ("member", "adds", "$"), rows), *sizes]


def _panel_lines(data: Found) -> Iterator[str]:
    if "panel" in data and not data["evidence_alone"]:
        panel = data["panel"]
        members, single = [one["judge"] for one in panel["members"]], panel["incumbent"]
        who = f"{panel['kind']} of {plural(len(members), 'judge')} in place of {single}"
        if members == [single]:
            who = f"none was better, {single} judges alone"
        yield f"panel: {who}; gain on test over the best single judge, both compiled: {_estimate(panel['gain'])}"


def _calibrators(data: Found) -> Iterator[str]:
    for aspect, fitted in data["calibrators"].items():
        chosen, error = (
            next((one for one in fitted["choices"] if one["chosen"]), None),
            data["calibration_error"][aspect],
        )
        off = error["confidence"] if error["accept"] is None else error["accept"]
        loss = (
            f", loss {number(chosen['loss'], 3)}, best of {len(fitted['choices'])} in cross-validation"
            if chosen
            else ""
        )
        made = f"{fitted['source']}, {fitted['model']}{loss}"
        yield f"calibrator of {aspect}: {made}; calibration error on test {number(off)}"


def _coverage_table(found: Found) -> TextTable:
    points = [*(("", point) for point in found["curve"]), ("in use: ", found)]
    rows = [
        (f"{prefix}{number(one['below'])}", percent(one["coverage"]), show(Estimate(**one["agreement"])))
        for prefix, one in points
    ]
    heads = ("confidence at least", "scored", statistic_name(found["of"]))
    return TextTable("Leaving the least sure to a human, on test", heads, rows)


def _estimate(found: Found) -> str:
    return show(Estimate(**found), 3, sign=True)


def _every_table(found: Compilation) -> list[TextTable]:
    agreements = found.agreements
    names = [name for name in ("compiled", "compiled_loo", "ceiling") if name in agreements and agreements[name].n]
    both = {name: agreements[name] for name in names}
    full = agreement_table("in full, with 95 % intervals", both)
    return [judges_table(found), replace(full, legend={**full.legend, "test use": TEST_USE})]


def _gains(found: Compilation) -> list[str]:
    gains = found.report["prompt_gain"]
    if found.saved.card.engine == NO_MODEL:
        return []
    return [
        f"prompt gain ({statistic_name(name)}, both calibrated): {show(Estimate(**gains[name]))}"
        for name in statistics_of(found.saved.card.objective)
    ]
