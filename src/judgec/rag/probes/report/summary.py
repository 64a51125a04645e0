"""Summarizes a probe: failure rates by scenario, system and data set, diagnosis, advice, worst cases."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from judgec.rag.probes.diagnosis import advice
from judgec.rag.probes.fixes import TriedFix
from judgec.rag.probes.flakiness import Flakiness, flakiness
from judgec.rag.probes.report.totals import TOTALS_OF, Total, TotalOf
from judgec.records.estimate import Estimate
from judgec.records.scenario.outcome import REJECTION_OUTCOMES, Probed, Where
from judgec.records.scenario.schema import Fix, Scenario
from judgec.report.columns import Column, TableColumns
from judgec.report.numbers import UNKNOWN, count, show_percent
from judgec.stats.intervals.proportion import share

COMPONENTS: tuple[Where, ...] = ("retrieval", "generator", "corpus", "not tested")
WORST = 12  # cases shown in full
ALL_DATA_SETS = "all data sets"  # in the place of a data set's name


@dataclass(frozen=True, slots=True)
class Cell:
    """One scenario put to one system on one data set.

    Args:
        scenario: Its id.
        system: Its name.
        data_set: The corpus.
        failure_rate: Of the replies that were judged, with an interval over source documents.
        at_worst: The same with errors and unscored replies counted as failures: what a gate must look at.
        failures: How many replies failed.
        n: How many were judged.
        errors: How many questions the system gave no answer to.
        unscored: How many replies could not be judged.
        components: Failures by the part of the system that failed.
        criteria: Of each criterion, how many replies failed it.
        rejection: Replies by what the system did, where a refusal was right; else empty.
        partial: Replies that passed although the system names other documents than the question's.
    """

    scenario: str
    system: str
    data_set: str
    failure_rate: Estimate
    at_worst: Estimate
    failures: int
    n: int
    errors: int
    unscored: int
    components: Mapping[str, int]
    criteria: Mapping[str, int]
    rejection: Mapping[str, int]
    partial: int = 0

    def to_json(self) -> dict[str, object]:
        """For ``report.json``."""
        return {
            **cell_columns().json([self]),
            "partial": self.partial,
            "components": dict(self.components),
            "failed_criteria": dict(self.criteria),
            **({"rejection": dict(self.rejection)} if self.rejection else {}),
        }


def cell_columns(key: Callable[[Cell], str] = str) -> TableColumns[Cell]:
    """The columns of the failure rates.

    Args:
        key: What a cell is called in MLflow.
    """
    return TableColumns(
        (
            Column("scenario", lambda cell: cell.scenario, value=lambda cell: cell.scenario, json=("scenario",)),
            Column("system", lambda cell: cell.system, value=lambda cell: cell.system, json=("system",)),
            Column("data set", lambda cell: cell.data_set, value=lambda cell: cell.data_set, json=("data_set",)),
            Column(
                "failure rate",
                lambda cell: show_percent(cell.failure_rate),
                value=lambda cell: cell.failure_rate,
                json=("failure_rate",),
                metric=("failure_rate", None),
            ),
            Column(value=lambda cell: cell.at_worst, json=("failure_rate_with_errors",)),
            Column(value=lambda cell: cell.failures, json=("failures",)),
            *(_counted(name) for name in ("n", "errors", "unscored")),
            Column(
                "lost in",
                lambda cell: ", ".join(f"{name} {count}" for name, count in cell.components.items()) or UNKNOWN,
            ),
            *(_lost_in(name) for name in COMPONENTS),
        ),
        key,
    )


def _counted(name: str) -> Column[Cell]:
    return Column(
        name,
        lambda cell: str(getattr(cell, name)),
        value=lambda cell: getattr(cell, name),
        json=(name,),
        metric=(name, None),
    )


def _lost_in(name: str) -> Column[Cell]:
    return Column(
        value=lambda cell: cell.components.get(name, 0),
        metric=("lost_in", name, None),
        absent=lambda cell: name not in cell.components,
    )


TRIED: TableColumns[TriedFix] = TableColumns(
    (
        Column("system", lambda fix: fix.system),
        Column("lost in", lambda fix: fix.component),
        Column("change", lambda fix: fix.change),
        Column("setting", lambda fix: fix.setting),
        Column("mended", lambda fix: show_percent(fix.mended) if fix.tried else UNKNOWN),
        Column("of", lambda fix: str(fix.tried) if fix.tried else UNKNOWN),
        Column("broken", lambda fix: UNKNOWN if fix.broken is None else show_percent(fix.broken)),
    )
)


@dataclass(frozen=True, slots=True)
class Summary:
    """A probe.

    Args:
        cells: By scenario, system and data set, in that order.
        across: By scenario and system over all data sets, where there are several.
        systems_failing: By scenario, how many systems failed at least one question, and how many were judged.
        failing_on: The same by data set and scenario.
        totals: Of all, then by scenario, data set and system.
        tried: Recommended changes that were tried on judgec's own agents.
        flakiness: What asking each question again showed; None where each was asked once.
        fixes: By scenario, what to do, where anything failed.
        worst: The failures that most systems share, then errors; in full.
        judge: Who judged.
        writer: Who wrote the questions.
        notes: What the reader should know.
    """

    cells: tuple[Cell, ...]
    systems_failing: Mapping[str, tuple[int, int]]
    fixes: Mapping[str, Fix]
    worst: tuple[Probed, ...]
    judge: str
    writer: str
    notes: tuple[str, ...] = ()
    failing_on: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    totals: tuple[Total, ...] = ()
    tried: tuple[TriedFix, ...] = ()
    flakiness: Flakiness | None = None
    across: tuple[Cell, ...] = ()

    @property
    def standing(self) -> str:
        """``below``: nothing was judged; ``less``: something failed or has no verdict; ``better``: all passed."""
        if not any(cell.n for cell in self.cells):
            return "below"
        return "less" if any(cell.failures or cell.errors or cell.unscored for cell in self.cells) else "better"

    @property
    def verdict(self) -> str:
        """The finding of the probe in a sentence, with the interval of the failure rate of all."""
        overall = next((total for total in self.totals if total.by == "overall"), None)
        if overall is None or not overall.n:
            return "No answer was judged: nothing is known of these systems."
        beside = [f"{count(n)} {word}" for n, word in ((overall.errors, "errors"), (overall.unscored, "unscored")) if n]
        said = f" ({', '.join(beside)} beside)" if beside else ""
        failed = count(overall.failures) if overall.failures else "None"
        sentence = f"{failed} of {count(overall.n)} judged answers failed{said}: {show_percent(overall.failure_rate)}"
        if not overall.failures:
            return f"{sentence}."
        worst = max((cell for cell in self.cells if cell.n), key=lambda cell: cell.failure_rate.value or 0.0)
        return f"{sentence}; worst is {worst.system} on {worst.scenario}: {show_percent(worst.failure_rate)}."

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Their ids, in the order asked."""
        return tuple(dict.fromkeys(cell.scenario for cell in self.cells))

    @property
    def systems(self) -> tuple[str, ...]:
        """Their names, in the order asked."""
        return tuple(dict.fromkeys(cell.system for cell in self.cells))

    def to_json(self) -> dict[str, object]:
        """The contract of ``report.json`` and ``--json``."""
        return {
            "verdict": self.verdict,
            "judge": self.judge,
            "writer": self.writer,
            "results": [cell.to_json() for cell in self.cells],
            "results_of_all_data_sets": [cell.to_json() for cell in self.across],
            "systems_failing": {
                scenario: {"failing": failing, "of": of} for scenario, (failing, of) in self.systems_failing.items()
            },
            "systems_failing_by_data_set": [
                {"data_set": data_set, "scenario": scenario, "failing": failing, "of": of}
                for (data_set, scenario), (failing, of) in self.failing_on.items()
            ],
            "totals": {
                by: {total.name: total.to_json() for total in self.totals if total.by == by}
                if by != "overall"
                else next((total.to_json() for total in self.totals if total.by == by), None)
                for by in TOTALS_OF
            },
            "recommended_fixes": {scenario: fix.model_dump() for scenario, fix in self.fixes.items()},
            "tried_fixes": [fix.to_json() for fix in self.tried],
            "flakiness": None if self.flakiness is None else self.flakiness.to_json(),
            "worst_cases": [one.model_dump(mode="json") for one in self.worst],
            "notes": list(self.notes),
        }


def summarize(
    probed: Sequence[Probed],
    scenarios: Mapping[str, Scenario],
    *,
    judge: str,
    writer: str,
    notes: Sequence[str] = (),
    tried: Sequence[TriedFix] = (),
    repeats: Sequence[Sequence[Probed]] = (),
) -> Summary:
    """Count, estimate, advise.

    Args:
        probed: Every question put to every system.
        scenarios: By id; questions from a file may name none of them.
        judge: Who judged.
        writer: Who wrote the questions.
        notes: What the reader should know.
        tried: Changes that were tried.
        repeats: The same questions put to the same systems again, in the order of ``probed``, each time.
    """
    groups: dict[tuple[str, str, str], list[Probed]] = {}
    for one in probed:
        verdict = one.verdict
        groups.setdefault((verdict.scenario, verdict.system, verdict.data_set), []).append(one)
    order = list(dict.fromkeys(one.verdict.scenario for one in probed))
    ranked = sorted(groups, key=lambda key: order.index(key[0]))
    cells = tuple(_cell(*key, groups[key]) for key in ranked)
    by_scenario: dict[str, list[Probed]] = {}
    for one in probed:
        by_scenario.setdefault(one.verdict.scenario, []).append(one)
    fixes = {
        name: fix
        for name, group in by_scenario.items()
        if (fix := advice(scenarios.get(name), [one for one in group if one.verdict.outcome == "fail"])) is not None
    }
    return Summary(
        cells=cells,
        systems_failing={name: _failing(group) for name, group in by_scenario.items()},
        fixes=fixes,
        worst=_worst(probed),
        judge=judge,
        writer=writer,
        notes=tuple(notes),
        failing_on={place: _failing(group) for place, group in _by_place(probed).items()},
        totals=_totals(probed),
        tried=tuple(tried),
        flakiness=flakiness([probed, *repeats]) if repeats and probed else None,
        across=_across(probed, order),
    )


def _across(probed: Sequence[Probed], scenarios: Sequence[str]) -> tuple[Cell, ...]:
    """The paper's Table VII: scenarios by systems, whatever the data set."""
    if len({one.verdict.data_set for one in probed}) < 2:
        return ()
    groups: dict[tuple[str, str], list[Probed]] = {}
    for one in probed:
        groups.setdefault((one.verdict.scenario, one.verdict.system), []).append(one)
    ranked = sorted(groups, key=lambda key: scenarios.index(key[0]))
    return tuple(_cell(*key, ALL_DATA_SETS, groups[key]) for key in ranked)


def _by_place(probed: Sequence[Probed]) -> dict[tuple[str, str], list[Probed]]:
    places: dict[tuple[str, str], list[Probed]] = {}
    for one in probed:
        places.setdefault((one.verdict.data_set, one.verdict.scenario), []).append(one)
    return places


def _totals(probed: Sequence[Probed]) -> tuple[Total, ...]:
    groups: dict[tuple[TotalOf, str], list[Probed]] = {("overall", ""): list(probed)} if probed else {}
    for by in TOTALS_OF[1:]:
        for one in probed:
            groups.setdefault((by, getattr(one.verdict, by)), []).append(one)
    return tuple(_total(by, name, group) for (by, name), group in groups.items())


def _total(by: TotalOf, name: str, group: Sequence[Probed]) -> Total:
    outcomes = Counter(one.verdict.outcome for one in group)
    return Total(
        by=by,
        name=name,
        failure_rate=failure_rate(group),
        at_worst=failure_rate(group, at_worst=True),
        failures=outcomes["fail"],
        n=outcomes["pass"] + outcomes["fail"],
        errors=outcomes["error"],
        unscored=outcomes["unscored"],
    )


def failure_rate(group: Iterable[Probed], *, at_worst: bool = False) -> Estimate:
    """The share of replies that failed, with an interval over source documents.

    Args:
        group: Replies to questions.
        at_worst: Count errors and unscored replies as failures; otherwise they are left out.
    """
    counted = [one for one in group if at_worst or one.verdict.outcome in {"pass", "fail"}]
    failed = np.array([one.verdict.outcome != "pass" for one in counted], dtype=np.int64)
    sources = [(one.verdict.data_set, one.verdict.source) for one in counted]
    codes = {source: code for code, source in enumerate(dict.fromkeys(sources))}
    return share(failed, np.array([codes[source] for source in sources], dtype=np.int64))


def _cell(scenario: str, system: str, data_set: str, group: Sequence[Probed]) -> Cell:
    outcomes = Counter(one.verdict.outcome for one in group)
    failed = [one.verdict for one in group if one.verdict.outcome == "fail"]
    components = Counter(verdict.component for verdict in failed)
    criteria = Counter(name for verdict in failed for name, passed in verdict.criteria.items() if passed is False)
    said = Counter(one.verdict.rejection for one in group if one.verdict.rejection is not None)
    return Cell(
        scenario=scenario,
        system=system,
        data_set=data_set,
        failure_rate=failure_rate(group),
        at_worst=failure_rate(group, at_worst=True),
        failures=outcomes["fail"],
        n=outcomes["pass"] + outcomes["fail"],
        errors=outcomes["error"],
        unscored=outcomes["unscored"],
        components={name: components[name] for name in COMPONENTS if components[name]},
        criteria=dict(criteria.most_common()),
        rejection={name: said[name] for name in REJECTION_OUTCOMES} if said else {},
        partial=sum(one.verdict.partial for one in group),
    )


def _failing(group: Sequence[Probed]) -> tuple[int, int]:
    judged = {one.verdict.system for one in group if one.verdict.outcome in {"pass", "fail"}}
    return len({one.verdict.system for one in group if one.verdict.outcome == "fail"}), len(judged)


def _worst(probed: Sequence[Probed]) -> tuple[Probed, ...]:
    """One case a question, those that most systems fail first; scenarios take turns."""
    fails: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], Probed] = {}
    for one in probed:
        if one.verdict.outcome in {"fail", "error"}:
            key = (one.verdict.data_set, one.verdict.query_id)
            fails[key] += 2 if one.verdict.outcome == "fail" else 1
            known = first.get(key)
            if known is None or (known.verdict.outcome == "error" and one.verdict.outcome == "fail"):
                first[key] = one
    ranked = sorted(first, key=lambda key: -fails[key])
    turns: Counter[str] = Counter()
    order = []
    for key in ranked:
        scenario = first[key].verdict.scenario
        order.append((turns[scenario], key))
        turns[scenario] += 1
    return tuple(first[key] for _, key in sorted(order, key=lambda pair: pair[0])[:WORST])
