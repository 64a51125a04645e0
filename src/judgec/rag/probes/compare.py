"""Two probes side by side: two versions of a system on the same questions, or two generators of questions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import ValidationError

from judgec.errors import InputError, UserError
from judgec.rag.probes.report.summary import failure_rate
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray
from judgec.records.scenario.outcome import Probed
from judgec.report.numbers import number
from judgec.stats.agreement.statistic import mean
from judgec.stats.intervals.jackknife import difference_interval
from judgec.stats.intervals.proportion import McNemar, mcnemar
from judgec.stats.intervals.significance import PairedTest, holm, wilcoxon

RESULTS = "results.jsonl"
ALL = "all"
BY: tuple[Literal["data_set", "system"], ...] = ("data_set", "system")
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Compared:
    """One scenario, or all of them.

    Args:
        scenario: Its id, or ``all``.
        a: Failure rate of the first.
        b: Of the second.
        difference: First minus second, with an interval over source documents.
        mcnemar: On the same questions; None for two generators.
        wilcoxon: Of the failure rates by document, on the documents that both asked about; None for two systems.
        system: Whose both are, where several systems are compared with their own other versions; empty of all together.
        p_holm: McNemar's p of all scenarios, adjusted for as many tests as there are systems; None elsewhere.
    """

    scenario: str
    a: Estimate
    b: Estimate
    difference: Estimate
    mcnemar: McNemar | None
    wilcoxon: PairedTest | None
    system: str = ""
    p_holm: float | None = None

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        found: dict[str, object] = {
            "scenario": self.scenario,
            **({"system": self.system} if self.system else {}),
            "a": self.a.to_json(),
            "b": self.b.to_json(),
            "difference": self.difference.to_json(),
        }
        if self.mcnemar is not None:
            test = self.mcnemar
            found["mcnemar"] = {
                "p": test.p,
                "smallest_p": test.smallest_p,
                "a_only_failed": test.a_only,
                "b_only_failed": test.b_only,
                "n": test.n,
            }
            if self.p_holm is not None:
                found["p_holm"] = self.p_holm
        if self.wilcoxon is not None:
            paired = self.wilcoxon
            found["wilcoxon"] = {"p": paired.p, "smallest_p": paired.smallest_p, "n": paired.n}
        return found


@dataclass(frozen=True, slots=True)
class PairedRates:
    """Two generators by data set, or by system: the failure rates that their questions bring out, and a test of these.

    Args:
        by: ``data_set`` or ``system``.
        rates: Of each that both asked: name, failure rate with the first's questions, and with the second's.
        wilcoxon: Of these rates, one pair each (RAGProbe: 3 data sets, 5 systems).
    """

    by: Literal["data_set", "system"]
    rates: tuple[tuple[str, Estimate, Estimate], ...]
    wilcoxon: PairedTest

    @property
    def title(self) -> str:
        """Name for people."""
        return f"by {self.by.replace('_', ' ')}"

    @property
    def mean_increase(self) -> float | None:
        """Mean of (a - b) / b: RAGProbe's "77 % more failures on average per pipeline"; None where no b fails."""
        values = [(a.value, b.value) for _, a, b in self.rates]
        found = [(a - b) / b for a, b in values if a is not None and b]
        return float(np.mean(found)) if found else None

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        test = self.wilcoxon
        return {
            "by": self.by,
            "rates": [{"name": name, "a": a.to_json(), "b": b.to_json()} for name, a, b in self.rates],
            "mean_relative_increase": self.mean_increase,
            "wilcoxon": {"p": test.p, "smallest_p": test.smallest_p, "n": test.n},
        }


@dataclass(frozen=True, slots=True)
class ProbeComparison:
    """Two probes.

    Args:
        kind: ``systems`` on the same questions, or ``generators``.
        names: Of both.
        rows: All scenarios together, then each that both asked.
        notes: What the reader should know.
        paired: Generators by data set and by system.
    """

    kind: str
    names: tuple[str, str]
    rows: tuple[Compared, ...]
    notes: tuple[str, ...]
    paired: tuple[PairedRates, ...] = ()

    def to_json(self) -> dict[str, object]:
        """The contract of ``--compare --json``."""
        return {
            "kind": self.kind,
            "a": self.names[0],
            "b": self.names[1],
            "results": [row.to_json() for row in self.rows],
            "paired": [one.to_json() for one in self.paired],
            "notes": list(self.notes),
        }


def read_side(reference: str) -> tuple[str, list[Probed]]:
    """The results of a probe, or of one system of it.

    Args:
        reference: The folder of a probe, or its ``results.jsonl``; with ``:SYSTEM`` for one of several systems.

    Returns:
        A name, and the results: of all systems where none is named.

    Raises:
        UserError: When there are none.
        InputError: When a line is damaged.
    """
    folder, _, system = (reference, "", "") if Path(reference).exists() else reference.rpartition(":")
    path = Path(folder)
    path = path / RESULTS if path.is_dir() else path
    if not path.is_file():
        raise UserError(f"--compare {reference}: no {RESULTS} there; the --out folder of a probe is needed.")
    found: list[Probed] = []
    faults = []
    for line_number, line in enumerate(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"), 1):
        try:
            found.append(Probed.model_validate_json(line))
        except ValidationError as error:
            faults.append(f"{path}:{line_number}: {error.errors()[0]['msg']}; a result of judgec probe is needed.")
    if faults:
        raise InputError(faults)
    systems = list(dict.fromkeys(one.verdict.system for one in found))
    if not system and len(systems) == 1:
        system = systems[0]
    chosen = [one for one in found if system in {"", one.verdict.system}]
    if not chosen:
        raise UserError(f"--compare {reference}: it holds {', '.join(systems) or 'no results'}. Name one of these.")
    return f"{folder}:{system}" if system else folder, chosen


def compare(a: tuple[str, Sequence[Probed]], b: tuple[str, Sequence[Probed]]) -> ProbeComparison:
    """Compare two probes.

    Where both asked the same questions they are two versions of a system, or of several, each compared with its
    namesake row by row, and all together: questions that either gave no answer to, or that could not be judged, are
    left out of both and counted. Else they are two generators of questions, compared by
    how often the questions of each make systems fail: on the documents that both asked about, and, as RAGProbe does,
    on each data set and each system that both asked.

    Args:
        a: Name and results.
        b: Likewise.

    Raises:
        UserError: When they share neither questions nor scenarios nor a data set; when they share questions, one has
            several systems, and no name of these is among the other's.
    """
    sets = [{one.verdict.data_set for one in side} for side in (a[1], b[1])]
    if sets[0] == sets[1] and len(sets[0]) > 1:  # else documents of one name in two of them would count as one
        a, b = (a[0], _placed(a[1])), (b[0], _placed(b[1]))
    names = (a[0], b[0])
    if {_key(one) for one in a[1]} & {_key(one) for one in b[1]}:
        return _versions(a, b)
    left, right = [one for one in a[1] if _judged(one)], [one for one in b[1] if _judged(one)]
    scenarios = [name for name in dict.fromkeys(map(_scenario, left)) if name in set(map(_scenario, right))]
    if not scenarios and not {one.verdict.data_set for one in left} & {one.verdict.data_set for one in right}:
        raise UserError(
            f"--compare: {a[0]} and {b[0]} share no question, no scenario and no data set; one of these is needed. "
            "Probe again with the same --questions, --scenarios or --index."
        )
    if scenarios:  # like with like, where there is any
        left, right = ([one for one in side if _scenario(one) in scenarios] for side in (left, right))
    rows = tuple(
        _generators(
            name,
            [one for one in left if name in {ALL, _scenario(one)}],
            [one for one in right if name in {ALL, _scenario(one)}],
        )
        for name in (ALL, *scenarios)
    )
    paired = tuple(_paired(by, left, right) for by in BY)
    return ProbeComparison("generators", names, rows, _small_samples(rows, paired), paired)


def _placed(results: Sequence[Probed]) -> list[Probed]:
    """The results with their data set in the names of their sources."""
    return [
        one.model_copy(
            update={
                "verdict": one.verdict.model_copy(update={"source": f"{one.verdict.data_set}: {one.verdict.source}"})
            }
        )
        for one in results
    ]


def _versions(a: tuple[str, Sequence[Probed]], b: tuple[str, Sequence[Probed]]) -> ProbeComparison:
    """Systems on the same questions: one with one, whatever their names, or each of several with its namesake."""
    first, second = (_by_system(results) for _, results in (a, b))
    several = len(first) > 1 or len(second) > 1
    both = [name for name in first if name in second]
    if several and not both:
        raise UserError(
            f"--compare {a[0]} {b[0]}: one holds {', '.join(first)}, the other {', '.join(second)}; systems of one "
            f"name are compared on the same questions, or one with one. Name two, such as {a[0]}:{next(iter(first))}."
        )
    pairs, alone, gone = [], 0, 0
    for one, other in (
        [(first[name], second[name]) for name in both] if several else zip(first.values(), second.values(), strict=True)
    ):
        shared = [key for key in one if key in other]
        judged = [(one[key], other[key]) for key in shared if _judged(one[key]) and _judged(other[key])]
        gone += len(shared) - len(judged)
        alone += len(one) + len(other) - 2 * len(shared)
        pairs.append(judged)
    notes = [f"{gone} shared questions have no verdict on one side: left out of both"] if gone else []
    notes += [f"{plural(alone, 'question was', 'questions were')} asked on one side only: left out"] if alone else []
    notes += [f"{name} is on one side only: left out" for name in [*first, *second] if several and name not in both]
    if not several:
        return ProbeComparison("systems", (a[0], b[0]), tuple(_rows(pairs[0])), tuple(notes))
    by_system = [_rows(judged, name) for name, judged in zip(both, pairs, strict=True)]
    p = holm(np.array([np.nan if rows[0].mcnemar is None else rows[0].mcnemar.p for rows in by_system]))
    for rows, adjusted in zip(by_system, p.tolist(), strict=True):
        rows[0] = replace(rows[0], p_holm=adjusted)
    together = [replace(row, mcnemar=None) for row in _rows([pair for judged in pairs for pair in judged])]
    notes.append(
        "of all systems together a question counts once for each, and no test is given: intervals are over documents"
    )
    return ProbeComparison(
        "systems", (a[0], b[0]), (*together, *(row for rows in by_system for row in rows)), tuple(notes)
    )


def _by_system(results: Sequence[Probed]) -> dict[str, dict[str, Probed]]:
    found: dict[str, dict[str, Probed]] = {}
    for one in results:
        found.setdefault(one.verdict.system, {})[_key(one)] = one
    return found


def _rows(pairs: Sequence[tuple[Probed, Probed]], system: str = "") -> list[Compared]:
    groups = _by_scenario(pairs)
    rows = [_systems(name, [x for x, _ in group], [y for _, y in group]) for name, group in groups.items()]
    return [replace(row, system=system) for row in rows]


def _paired(by: Literal["data_set", "system"], a: Sequence[Probed], b: Sequence[Probed]) -> PairedRates:
    def rates(group: Sequence[Probed]) -> dict[str, Estimate]:
        names = dict.fromkeys(getattr(one.verdict, by) for one in group)
        return {name: failure_rate([one for one in group if getattr(one.verdict, by) == name]) for name in names}

    first, second = rates(a), rates(b)
    both = [name for name in first if name in second]
    test = wilcoxon(*(np.array([side[name].value for name in both], dtype=np.float64) for side in (first, second)))
    return PairedRates(by, tuple((name, first[name], second[name]) for name in both), test)


def _small_samples(rows: Sequence[Compared], paired: Sequence[PairedRates]) -> tuple[str, ...]:
    tests = [(row.scenario, "differing documents", row.wilcoxon) for row in rows]
    tests += [(one.title, f"differing {one.by.replace('_', ' ')}s", one.wilcoxon) for one in paired]
    return tuple(
        f"{name}: the smallest p that Wilcoxon's test could reach with {test.n} {of} is "
        f"{number(test.smallest_p, 3)}, above {ALPHA:g}: it can show nothing"
        for name, of, test in tests
        if test is not None and test.smallest_p > ALPHA
    )


def _systems(name: str, a: Sequence[Probed], b: Sequence[Probed]) -> Compared:
    difference = _difference(a, b)
    return Compared(name, failure_rate(a), failure_rate(b), difference, mcnemar(_failed(a), _failed(b)), None)


def _generators(name: str, a: Sequence[Probed], b: Sequence[Probed]) -> Compared:
    rate_a, rate_b = _by_source(a), _by_source(b)
    both = [source for source in rate_a if source in rate_b]
    test = wilcoxon(np.array([rate_a[one] for one in both]), np.array([rate_b[one] for one in both]))
    return Compared(name, failure_rate(a), failure_rate(b), _difference(a, b), None, test)


def _difference(a: Sequence[Probed], b: Sequence[Probed]) -> Estimate:
    codes = {source: code for code, source in enumerate(dict.fromkeys(one.verdict.source for one in (*a, *b)))}

    def rate(group: Sequence[Probed]) -> tuple[FloatArray, IntArray]:
        clusters = np.array([codes[one.verdict.source] for one in group], dtype=np.int64)
        return _failed(group).astype(np.float64), clusters

    if not a or not b:
        return Estimate(value=None, note="nothing was judged on one side")
    one, other = (mean(*rate(group), n_clusters=len(codes)) for group in (a, b))
    found = difference_interval(one, other).estimate(len(a) + len(b))
    if found.low is None or found.high is None:
        return found
    return found.model_copy(update={"low": max(found.low, -1.0), "high": min(found.high, 1.0)})  # of two shares


def _failed(group: Sequence[Probed]) -> IntArray:
    return np.array([one.verdict.outcome == "fail" for one in group], dtype=np.int64)


def _by_source(group: Sequence[Probed]) -> Mapping[str, float]:
    by: dict[str, list[bool]] = {}
    for one in group:
        by.setdefault(one.verdict.source, []).append(one.verdict.outcome == "fail")
    return {source: float(np.mean(failed)) for source, failed in by.items()}


def _by_scenario(pairs: Sequence[tuple[Probed, Probed]]) -> dict[str, list[tuple[Probed, Probed]]]:
    groups: dict[str, list[tuple[Probed, Probed]]] = {ALL: list(pairs)}
    for pair in pairs:
        groups.setdefault(_scenario(pair[0]), []).append(pair)
    return groups


def _judged(one: Probed) -> bool:
    return one.verdict.outcome in {"pass", "fail"}


def _scenario(one: Probed) -> str:
    return one.verdict.scenario


def _key(one: Probed) -> str:
    asked = one.question
    return json.dumps([one.verdict.data_set, asked.query_id, asked.query, [t.content for t in asked.history]])
