"""``judgec.compare_probes``: two probes side by side."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from judgec.rag.probes.compare import Compared, ProbeComparison, compare, read_side
from judgec.records.estimate import Estimate
from judgec.records.scenario.outcome import Probed
from judgec.report.numbers import UNKNOWN, brackets, p_value, percent, show_percent, signed
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.probe import ProbeReport

TITLES = {"systems": "two systems on the same questions", "generators": "two generators of questions"}


@dataclass(frozen=True)
class ComparedProbes:
    """Two probes side by side.

    Args:
        comparison: Every number, with tests and notes.
    """

    comparison: ProbeComparison

    @cached_property
    def results(self) -> pd.DataFrame:
        """A row for ``all`` and each scenario: a, b, difference, each with ``.low`` and ``.high``; p, smallest_p.

        Of several systems also those of each, named in ``system``, which is empty of all together; and ``p_holm``.
        """
        rows = []
        several = any(one.system for one in self.comparison.rows)
        for one in self.comparison.rows:
            test = one.mcnemar or one.wilcoxon
            row: dict[str, float | str | None] = {"scenario": one.scenario}
            for name, estimate in (("a", one.a), ("b", one.b), ("difference", one.difference)):
                row |= _limits(name, estimate)
            row |= {"p": None if test is None else test.p, "smallest_p": None if test is None else test.smallest_p}
            rows.append({**row, **({"system": one.system, "p_holm": one.p_holm} if several else {})})
        frame = pd.DataFrame(rows).set_index("scenario")
        return frame.astype({name: float for name in frame.columns if name != "system"})

    @cached_property
    def paired(self) -> pd.DataFrame:
        """Of two generators a row for each data set and each system that both asked: a, b, with limits, and p."""
        return pd.DataFrame(
            {
                "by": one.by,
                "name": name,
                **_limits("a", a),
                **_limits("b", b),
                "p": one.wilcoxon.p,
                "smallest_p": one.wilcoxon.smallest_p,
            }
            for one in self.comparison.paired
            for name, a, b in one.rates
        )

    @property
    def verdict(self) -> str:
        """Sentence on how often both fail in all, and whether the difference is shown."""
        both = self.comparison.rows[0]
        test = both.mcnemar or both.wilcoxon
        p = "" if test is None or test.p is None else f", p {'' if test.p < 0.001 else '= '}{p_value(test.p)}"
        a, b = ("unknown" if one.value is None else percent(one.value) for one in (both.a, both.b))
        return f"{self.comparison.names[0]} fails {a}, {self.comparison.names[1]} {b}{p}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader."""
        return self.comparison.notes

    def __repr__(self) -> str:
        return f"<ComparedProbes, {TITLES[self.comparison.kind]}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return notebook(comparison_report(self.comparison))


def compare_probes(
    a: str | Path | ProbeReport,
    b: str | Path | ProbeReport,
    *,
    home: str | Path = ".",  # noqa: ARG001  # every verb takes it
    tracking_uri: str | None = None,  # noqa: ARG001  # every verb takes it
) -> ComparedProbes:
    """Compare two versions of a system on the same questions, or two generators of questions.

    Args:
        a: A probe, or its folder; ``DIR:SYSTEM`` for one of its systems. Of the same questions put to several systems
            each is compared with the system of its name.
        b: Likewise.
        home: As of every verb; this one neither reads nor writes there.
        tracking_uri: As of every verb; this one logs no run.

    Raises:
        UserError: When they cannot be compared.
        InputError: When a file is damaged.

    Example:
        >>> found = judgec.probe(
        ...     scenarios="S6", index="trainsets/sensors/catalogue", n=4,
        ...     system=["python:builtins:str", "python:builtins:repr"],
        ... )
        >>> judgec.compare_probes(f"{found.out}:str", f"{found.out}:repr").verdict
        'probe:str fails 100 %, probe:repr 100 %, p = 1.000'
    """
    return ComparedProbes(compare(_side(a), _side(b)))


def _side(one: str | Path | ProbeReport) -> tuple[str, list[Probed]]:
    return read_side(str(one.out if isinstance(one, ProbeReport) else one))


def _limits(name: str, estimate: Estimate) -> dict[str, float | None]:
    return {name: estimate.value, f"{name}.low": estimate.low, f"{name}.high": estimate.high}


def comparison_report(found: ProbeComparison) -> Report:
    """Both failure rates, their difference and its test, for each scenario."""
    test = "McNemar p" if found.kind == "systems" else "Wilcoxon p"
    columns = ["scenario", "A fails", "B fails", "A - B", test, "smallest p"]
    title = "Two systems on the same questions" if found.kind == "systems" else "Two generators of questions"
    several = any(row.system for row in found.rows)
    columns = ["system", *columns] if several else columns
    rows = [[*([row.system or "all"] if several else []), *_row(row)] for row in found.rows]
    tables = [TextTable(f"{title}: A = {found.names[0]}, B = {found.names[1]}", columns, rows)]
    for paired in found.paired:
        rates = [[name, show_percent(a), show_percent(b)] for name, a, b in paired.rates]
        p = f"Wilcoxon p {p_value(paired.wilcoxon.p)}, smallest {p_value(paired.wilcoxon.smallest_p)}"
        if paired.mean_increase is not None:
            p = f"A fails {100 * paired.mean_increase:+.0f} % more on average; {p}"
        heads = [paired.by.replace("_", " "), "A fails", "B fails"]
        tables.append(TextTable(f"{paired.title.capitalize()}: {p}", heads, rates))
    method = "Intervals are over source documents; p-values are exact and two-sided."
    return Report(data=found.to_json(), tables=tables, lines=[*found.notes, method])


def _row(row: Compared) -> list[str]:
    p = row.mcnemar.p if row.mcnemar else row.wilcoxon.p if row.wilcoxon else None
    smallest = row.mcnemar.smallest_p if row.mcnemar else row.wilcoxon.smallest_p if row.wilcoxon else None
    rates = (show_percent(row.a), show_percent(row.b))
    return [row.scenario, *rates, _points(row.difference), p_value(p), p_value(smallest)]


def _points(difference: Estimate) -> str:
    if difference.value is None:
        return UNKNOWN
    low, high = (None if bound is None else 100 * bound for bound in (difference.low, difference.high))
    return f"{signed(100 * difference.value, 0)} points {brackets(low, high, 0, sign=True)}".rstrip()
