"""Figures of curves: agreement against coverage, and against the number of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from judgec.records.estimate import Estimate
from judgec.report.figures import BLUE, GREY, VERMILLION
from judgec.report.numbers import number, objective_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def coverage_figure(
    points: Sequence[tuple[float, Estimate]], chosen: tuple[float, Estimate] | None, *, agreement: str
) -> Figure:
    """Agreement of the judgments that are kept, against the share of items that are; a point left out is undefined.

    Args:
        points: Coverage 0-1 and agreement, for one threshold each.
        chosen: That of the threshold in use, or None.
        agreement: Names the vertical axis.
    """
    figure, axes = _axes()
    known = [(coverage, found) for coverage, found in points if found.value is not None]
    x = [100 * coverage for coverage, _ in known]
    axes.plot(x, [100 * (found.value or 0.0) for _, found in known], "o-", color=BLUE, markersize=5)
    banded = [(c, e) for c, e in known if e.low is not None and e.high is not None]
    if banded:
        low = [100 * (found.low or 0.0) for _, found in banded]
        high = [100 * (found.high or 0.0) for _, found in banded]
        axes.fill_between([100 * coverage for coverage, _ in banded], low, high, color=BLUE, alpha=0.15, linewidth=0)
    if chosen is not None and chosen[1].value is not None:
        axes.plot(100 * chosen[0], 100 * chosen[1].value, "o", color=VERMILLION, markersize=9, label="in use")
        axes.legend(frameon=False)
    axes.set(
        xlabel="items that the judge scores (%)", ylabel=f"{agreement.replace('_', ' ')} on them (%)", xlim=(0, 103)
    )
    axes.set_title("Agreement against coverage", fontsize=11)
    return figure


def learning_curve_figure(values: Mapping[int, Sequence[float]], *, objective: str) -> Figure:
    """The objective on test against the number of train labels: each random subset, and their mean.

    Args:
        values: By number of labels.
        objective: Names the vertical axis.
    """
    figure, axes = _axes()
    for labels, found in values.items():
        axes.plot([labels] * len(found), found, ".", color=GREY, markersize=6)
    axes.plot(list(values), [float(np.mean(found)) for found in values.values()], "o-", color=BLUE, markersize=5)
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(values), [str(labels) for labels in values])
    axes.minorticks_off()
    axes.set(xlabel="labelled train items", ylabel=f"{objective_name(objective)} on test")
    axes.set_title("Learning curve", fontsize=11)
    return figure


def interval_width_figure(queries: int, half: float, *, statistic: str, wanted: float) -> Figure:
    """Figure of the width of a statistic's interval with more or fewer labels: it narrows with their root.

    Args:
        queries: To test on, now.
        half: Half its width with these.
        statistic: Which.
        wanted: What most reports are content with; a line marks it.
    """
    figure, axes = _axes()
    x = np.geomspace(queries / 2, max(4 * queries, 1.1 * queries * (half / wanted) ** 2), 60)
    axes.plot(x, half * np.sqrt(queries / x), "-", color=BLUE)
    axes.plot(queries, half, "o", color=VERMILLION, markersize=8, label=f"{queries:,} queries: ±{number(half)}")
    axes.axhline(wanted, color=GREY, linestyle="--", linewidth=1, label=f"±{number(wanted)} is wanted")
    axes.set_ylim(0, 1.5 * half)
    axes.legend(frameon=False)
    axes.set(xlabel="labelled queries to test on", ylabel=f"95 % interval of {statistic}, ±")
    axes.set_title("Labels needed", fontsize=11)
    return figure


def _axes() -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes
