"""Two probes side by side: two versions of a system on the same questions, or two generators of questions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from judgec.errors import InputError, UserError
from judgec.probes.report.summary import failure_rate
from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray
from judgec.records.scenario.outcome import Probed
from judgec.report.numbers import number
from judgec.stats.agreement.statistic import mean
from judgec.stats.intervals.bootstrap import difference_interval
from judgec.stats.intervals.proportion import McNemar, mcnemar
from judgec.stats.intervals.significance import PairedTest, wilcoxon

RESULTS = "results.jsonl"
ALL = "all"
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
    """

    scenario: str
    a: Estimate
    b: Estimate
    difference: Estimate
    mcnemar: McNemar | None
    wilcoxon: PairedTest | None

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        found: dict[str, object] = {
            "scenario": self.scenario,
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
        if self.wilcoxon is not None:
            paired = self.wilcoxon
            found["wilcoxon"] = {"p": paired.p, "smallest_p": paired.smallest_p, "n": paired.n}
        return found


@dataclass(frozen=True, slots=True)
class ProbeComparison:
    """Two probes.

    Args:
        kind: ``systems`` on the same questions, or ``generators``.
        names: Of both.
        rows: All scenarios together, then each.
        notes: What the reader should know.
    """

    kind: str
    names: tuple[str, str]
    rows: tuple[Compared, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """The contract of ``--compare --json``."""
        return {
            "kind": self.kind,
            "a": self.names[0],
            "b": self.names[1],
            "results": [row.to_json() for row in self.rows],
            "notes": list(self.notes),
        }


def read_side(reference: str) -> tuple[str, list[Probed]]:
    """The results of one system of a probe.

    Args:
        reference: The folder of a probe, or its ``results.jsonl``; with ``:SYSTEM`` where it holds several.

    Returns:
        A name, and the results.

    Raises:
        UserError: When there are none, or of several systems.
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
    chosen = [one for one in found if one.verdict.system == system]
    if not chosen:
        raise UserError(
            f"--compare {reference}: it holds {', '.join(systems) or 'no results'}; one system is compared. "
            f"Name it, for example --compare {folder}:{systems[0] if systems else 'SYSTEM'}."
        )
    return f"{folder}:{system}", chosen


def compare(a: tuple[str, Sequence[Probed]], b: tuple[str, Sequence[Probed]], *, seed: int = 0) -> ProbeComparison:
    """Compare two probes.

    Where both asked the same questions they are two versions of a system: questions that either gave no answer to, or
    that could not be judged, are left out of both and counted. Else they are two generators of questions, compared by
    how often the questions of each make a system fail.

    Args:
        a: Name and results.
        b: Likewise.
        seed: Of the resampling.

    Raises:
        UserError: When they share neither questions nor scenarios.
    """
    first = {_key(one): one for one in a[1]}
    second = {_key(one): one for one in b[1]}
    shared = [key for key in first if key in second]
    names = (a[0], b[0])
    if shared:
        pairs = [(first[key], second[key]) for key in shared]
        judged = [(x, y) for x, y in pairs if _judged(x) and _judged(y)]
        notes = [f"{len(pairs) - len(judged)} shared questions have no verdict on one side: left out of both"]
        alone = len(first) + len(second) - 2 * len(shared)
        notes = (notes if len(judged) < len(pairs) else []) + (
            [f"{alone} questions were asked on one side only: left out"] if alone else []
        )
        groups = _by_scenario(judged)
        rows = tuple(
            _systems(name, [x for x, _ in group], [y for _, y in group], seed) for name, group in groups.items()
        )
        return ProbeComparison("systems", names, rows, tuple(notes))
    left, right = [one for one in a[1] if _judged(one)], [one for one in b[1] if _judged(one)]
    scenarios = [name for name in dict.fromkeys(map(_scenario, left)) if name in set(map(_scenario, right))]
    if not scenarios:
        raise UserError(
            f"--compare: {a[0]} and {b[0]} share no question and no scenario; one of both is needed. Probe again with "
            "the same --questions, or the same --scenarios."
        )
    rows = tuple(
        _generators(
            name,
            [one for one in left if name in {ALL, _scenario(one)} and _scenario(one) in scenarios],
            [one for one in right if name in {ALL, _scenario(one)} and _scenario(one) in scenarios],
            seed,
        )
        for name in (ALL, *scenarios)
    )
    return ProbeComparison("generators", names, rows, _small_samples(rows))


def _small_samples(rows: Sequence[Compared]) -> tuple[str, ...]:
    return tuple(
        f"{row.scenario}: the smallest p that Wilcoxon's test could reach with {row.wilcoxon.n} differing documents is "
        f"{number(row.wilcoxon.smallest_p, 3)}, above {ALPHA:g}: it can show nothing"
        for row in rows
        if row.wilcoxon is not None and row.wilcoxon.smallest_p > ALPHA
    )


def _systems(name: str, a: Sequence[Probed], b: Sequence[Probed], seed: int) -> Compared:
    difference = _difference(a, b, seed)
    return Compared(name, failure_rate(a), failure_rate(b), difference, mcnemar(_failed(a), _failed(b)), None)


def _generators(name: str, a: Sequence[Probed], b: Sequence[Probed], seed: int) -> Compared:
    rate_a, rate_b = _by_source(a), _by_source(b)
    both = [source for source in rate_a if source in rate_b]
    test = wilcoxon(np.array([rate_a[one] for one in both]), np.array([rate_b[one] for one in both]))
    return Compared(name, failure_rate(a), failure_rate(b), _difference(a, b, seed), None, test)


def _difference(a: Sequence[Probed], b: Sequence[Probed], seed: int) -> Estimate:
    codes = {source: code for code, source in enumerate(dict.fromkeys(one.verdict.source for one in (*a, *b)))}

    def rate(group: Sequence[Probed]) -> tuple[FloatArray, IntArray]:
        clusters = np.array([codes[one.verdict.source] for one in group], dtype=np.int64)
        return _failed(group).astype(np.float64), clusters

    if not a or not b:
        return Estimate(value=None, note="nothing was judged on one side")
    one, other = (mean(*rate(group), n_clusters=len(codes)) for group in (a, b))
    found = difference_interval(one, other, seed=seed).estimate(len(a) + len(b))
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
