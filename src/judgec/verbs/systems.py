"""``judgec.systems``: the best of several systems, by a judge's verdicts on all rows and people's labels of a few."""

import os
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.metrics import all_or_headline
from judgec.connect.tracking.runs import SystemsRun
from judgec.connect.tracking.store import tracking_store
from judgec.errors import UserError
from judgec.lm.watch import Watch
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.report.gates import Gate, Gates
from judgec.report.numbers import show
from judgec.report.page.notebook import notebook
from judgec.report.report import Report, write_page
from judgec.report.systems_comparison import (
    LETTERS,
    comparison_metrics,
    comparison_sentences,
    comparison_tables,
    forest,
    turned,
)
from judgec.stats.intervals.gate import GateVerdict, announced
from judgec.stats.systems.compare import SystemComparison
from judgec.stats.systems.means import MIN_LABELLED
from judgec.stats.systems.rows import MEAN
from judgec.table import seal
from judgec.tournament.gate import RatingGate, parse_gate
from judgec.verbs.options.systems import SystemsOptions
from judgec.verbs.system_rows import JudgedSystems, read_systems
from judgec.verbs.typed import command, labels_typed
from judgec.verbs.verb import verb

SAMPLE = (
    "The intervals hold where the labelled rows of each system were drawn at random from its rows: see that they were."
)


@dataclass(frozen=True)
class ComparedSystems:
    """Systems compared, as a judge has them and as people's labels correct it.

    Args:
        found: Every number.
        read: What was read.
        gate: Outcome of the gate that was asked for; None without one.
        run_id: Of MLflow.
    """

    found: SystemComparison
    read: JudgedSystems
    gate: Gate | None = None
    run_id: str = ""

    @cached_property
    def table(self) -> pd.DataFrame:
        """Systems, best first: rows, labelled ones, each statistic by experts, judge and corrected; NaN if unknown."""
        rows = {}
        for name, one in self.found.systems.items():
            row: dict[str, object] = {"n": one.n, "labelled": one.labelled}
            for statistic, figure in one.figures.items():
                for kind in ("experts", "judge", "corrected"):
                    said: Estimate = getattr(figure, kind)
                    ends = {"": said.value, ".low": said.low, ".high": said.high}
                    row |= {f"{statistic}.{kind}{end}": value for end, value in ends.items()}
            rows[name] = {**row, "letters": self.found.letters.get(name, "")}
        return pd.DataFrame.from_dict(rows, orient="index")

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """A row a pair: ``a`` less ``b``, the interval that holds for all pairs, Holm's p, whether it is shown."""
        return pd.DataFrame([pair.to_json() for pair in self.found.pairs])

    @property
    def best(self) -> tuple[str, ...]:
        """The system that leads, and those that are not told apart from it."""
        return (*list(self.found.letters)[:1], *self.found.beside)

    @property
    def verdict(self) -> str:
        """Which system is best, and how sure that is."""
        return " ".join(comparison_sentences(self.found))

    @cached_property
    def report(self) -> dict[str, object]:
        """What ``systems --json`` prints."""
        gate = {} if self.gate is None else {"gate": {"verdict": self.gate.verdict, "sentence": self.gate.sentence}}
        notes = [*self.found.notes, *self.read.notes, *self.read.reading]
        return {**self.found.to_json(), "notes": notes, **gate, "mlflow_run_id": self.run_id}

    def __repr__(self) -> str:
        return f"<ComparedSystems {self.verdict}>"

    def _repr_html_(self) -> str:
        figures = {name: one.figures[self.found.statistic].corrected for name, one in self.found.systems.items()}
        return notebook(systems_report(self), chart=figures)


@verb(SystemsOptions)
def systems(options: SystemsOptions, watch: Watch) -> ComparedSystems:
    """Compare systems by a judge's verdicts on all rows, corrected by people's labels of some: which is best, how sure.

    The labelled rows of a system must be a random sample of its rows. A gate that did not open is in ``gate``; nothing
    is raised for it. The page and the numbers are logged to MLflow.

    Raises:
        UserError: Nobody says who is a judge or which system answered; fewer than two systems; a gate of others.
        InputError: Faults of the table.
        BudgetError: A call of a saved judge does not fit the caps; what is finished is journaled.
        ServiceError: Its model cannot be reached.

    Example:
        >>> rows = [
        ...     {"query": f"q{q}", "agent": agent, "gpt": int((q * 7) % 10 < least),
        ...      "human": int((q * 7) % 10 < least) if q % 4 == 0 else None}
        ...     for q in range(120)
        ...     for agent, least in (("new", 9), ("old", 4))
        ... ]
        >>> judgec.systems(rows, annotators=["human"], judges=["gpt"], best=1, accept_at=1).best
        ('new',)
    """
    started = time.time()
    read = read_systems(options, watch)
    gate = None if options.gate is None else parse_gate(options.gate, read.names, "NEW>=OLD-.05")
    watch.stage("compare", f"{plural(len(read.names), 'system')} of {read.source}")
    store = tracking_store(options.home, options.tracking_uri, os.environ)
    with Tracker(store, os.environ, seal.notes) as tracker, TemporaryDirectory() as folder:
        found = read.compared()
        compared = ComparedSystems(found, read, None if gate is None else _held(found, gate, str(options.gate)))
        page = Path(folder, "report.html")
        write_page(systems_report(compared), page)
        watch.stage("track", store.shown)
        metrics = comparison_metrics(found)
        logged = tracker.log_alone(
            SystemsRun(
                name=f"systems of {Path(read.source).name}",
                params={
                    "judge": found.judge,
                    "systems": len(found.systems),
                    "rows": len(read.items),
                    "labelled": len(read.items) - len(read.unlabelled),
                },
                metrics=metrics,
                headline=all_or_headline(metrics, [f"{found.statistic}.{name}" for name in found.systems]),
                started=started,
                ended=time.time(),
                artifacts={page.name: page},
                description=compared.verdict,
            )
        )
    return ComparedSystems(found, read, compared.gate, logged.run_id)


def _held(found: SystemComparison, gate: RatingGate, demand: str) -> Gate:
    """The gate held against the difference of two systems, with the interval that holds for all pairs.

    Raises:
        UserError: A margin that no difference of two shares can miss.
    """
    if found.statistic != MEAN and abs(gate.margin) >= 1:
        raise UserError(
            f"--gate {demand!r}: a margin of {gate.margin:+g} of a share; one between -1 and 1 is valid. Write "
            f"{gate.agent}>={gate.other}-.05 for five of a hundred."
        )
    pair = next(pair for pair in found.pairs if {pair.a, pair.b} == {gate.agent, gate.other})
    difference = pair.difference if pair.a == gate.agent else turned(pair.difference)
    verdict: GateVerdict = "not shown"
    if difference.low is not None and difference.low >= gate.margin:
        verdict = "passed"
    elif difference.high is not None and difference.high <= gate.margin:
        verdict = "failed"
    why = f"{gate.agent} - {gate.other} = {show(difference, sign=True)}, margin {gate.margin:+g}"
    return Gate(demand, verdict, f"{why}; {difference.note}" if difference.note else why)


def systems_report(
    compared: ComparedSystems, options: SystemsOptions | None = None, file: Path | None = None
) -> Report:
    """Which system is best, the table, what more labels it takes; every table besides.

    Args:
        compared: What was found.
        options: How; None for a page without commands.
        file: The page, where one is written.
    """
    found, read, gate = compared.found, compared.read, compared.gate
    every = comparison_tables(found, rest=True)
    chosen = f"Of {len(found.judges)} judges {found.judge} needs fewest labels: the table is of it."
    rows = len(read.items)
    labelled = rows - len(read.unlabelled)
    written = [] if options is None or options.judge is None else [f"written: {read.source}"]
    said = None if gate is None else announced(gate.verdict, f"--gate {gate.name}: {gate.sentence}")
    return Report(
        data=compared.report,
        gates=None if gate is None else Gates("systems", [gate], str(said), file),
        verdict=comparison_sentences(found),
        tables=comparison_tables(found),
        full=every,
        lines=[*([LETTERS] if found.letters else []), *([chosen] if len(found.judges) > 1 else []), *written],
        notes=[*found.notes, *read.notes],
        reading=read.reading,
        more="differences of all pairs, further figures, these very rows",
        file=file,
        next=[] if options is None else _next(compared, options),
        title=f"Which system is best: {Path(read.source).name}",
        facts=f"{said or ''} {plural(rows, 'row')} of {len(found.systems)} systems, {labelled} labelled".strip(),
        standing="even" if found.beside or len(found.letters) < 2 else "better",
        steps=comparison_sentences(found)[1:] or [SAMPLE],
        charts=forest(found),
        further=every,
    )


def _next(compared: ComparedSystems, options: SystemsOptions) -> list[str]:
    """The rows to label next, where systems are not told apart; else the page of the run."""
    if len(compared.best) == 1 or not isinstance(options.file, str):
        return [command("ui", home=options.home)]
    found, file = compared.found, options.file if options.judge is None else compared.read.source
    more = sum(min(n, found.systems[name].n - found.systems[name].labelled) for name, n in found.needed.items() if n)
    more = more or MIN_LABELLED * len(found.undecided)
    typed = labels_typed(options, file)
    return [command("labels", "next", file, str(more), "--for", "systems", *typed, home=options.home)]
