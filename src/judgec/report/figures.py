"""Figures of agreement: arrays in, a matplotlib ``Figure`` out.

matplotlib is imported when a figure is made. ``pyplot`` is never used, so nothing is kept open behind the
caller's back, and figures can be made in any thread. Grades are positions on the scale, -1 is missing; what
is missing is counted in the figure. Colours are Okabe and Ito's, which colour-blind readers can tell apart.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import Scale
from judgec.report.numbers import percent
from judgec.stats.agreement.reliability import BINS, bin_of, calibration_error, reliability_bins

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#6E6E6E"
EXPERT_COLOURS = ("#56B4E9", "#009E73", "#E69F00", "#CC79A7", "#0072B2", "#F0E442", "#999999")
DPI = 120
MAX_NAME = 28  # characters of an annotator's or group's name that fit beside an axis
MAX_RATERS = 12  # experts with bars of their own; more could not be told apart
BUBBLE = 900.0  # area of the largest bubble, in square points


def png(figure: Figure) -> bytes:
    """The figure as PNG bytes, 120 dots an inch."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # names in any script
        figure.savefig(buffer, format="png", dpi=DPI)
    return buffer.getvalue()


def confusion_figure(expert: IntArray, judge: IntArray, scale: Scale, *, judge_name: str = "judge") -> Figure:
    """Confusion matrix of judge and expert: counts, and shares of the row.

    Items without a judgment have a column of their own; items without an expert grade are left out and
    counted in the title.

    Args:
        expert: Grade positions, shape (n_items,), -1 where nobody graded.
        judge: Grade positions, same shape, -1 where unscored.
        scale: The grades.
        judge_name: Names the horizontal axis.
    """
    k = len(scale.grades)
    known = expert >= 0
    unscored = bool((judge[known] < 0).any())
    columns = k + unscored
    counts = np.zeros((k, columns), dtype=np.int64)
    np.add.at(counts, (expert[known], np.where(judge[known] < 0, k, judge[known])), 1)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)

    figure, axes = _new(1.5 + 0.85 * columns, 1.6 + 0.75 * k)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for row, column in np.ndindex(counts.shape):
        if counts[row, column]:
            text = f"{counts[row, column]}\n{percent(shares[row, column])}"
            ink = "white" if shares[row, column] > 0.55 else "black"
            axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=9)
    labels = [_plain(str(grade)) for grade in scale.grades]
    axes.set_xticks(range(columns), labels + ["unscored"] * unscored)
    axes.set_yticks(range(k), [f"{label}\n(n={total})" for label, total in zip(labels, totals[:, 0], strict=True)])
    axes.set_xlabel(f"{_plain(judge_name)}: {_plain(scale.name)}")
    axes.set_ylabel("expert consensus")
    _title(axes, "Expert against judge", known.sum(), "no expert grade", int((~known).sum()))
    return figure


def bland_altman_figure(
    expert: FloatArray, judge: FloatArray, *, bias: float, low: float, high: float, unit: str = "grades"
) -> Figure:
    """Difference against mean of judge and expert; a bubble's area is the number of items on that point.

    Args:
        expert: Values in scale units, shape (n_items,), NaN where missing.
        judge: Values in scale units, same shape, NaN where missing.
        bias: Mean of judge - expert.
        low: Lower 95 % limit of agreement.
        high: Upper 95 % limit of agreement.
        unit: Of both axes.
    Source: Bland and Altman (1986), The Lancet 327(8476).
    """
    both = np.isfinite(expert) & np.isfinite(judge)
    points = np.column_stack([(expert[both] + judge[both]) / 2, judge[both] - expert[both]])
    places, counts = np.unique(points.round(9), axis=0, return_counts=True)

    figure, axes = _new(6.8, 5.0)
    largest = int(counts.max()) if len(counts) else 1
    axes.scatter(
        places[:, 0],
        places[:, 1],
        s=np.maximum(BUBBLE * counts / largest, 8),
        color=BLUE,
        alpha=0.55,
        linewidths=0,
        zorder=3,
    )
    axes.axhline(0, color=GREY, linewidth=0.8)
    lines = [(bias, "-", "bias"), (high, "--", "upper 95 % limit"), (low, "--", "lower 95 % limit")]
    for value, style, name in lines if high > low else lines[:1]:  # equal: the judge always differs by the bias
        axes.axhline(value, color=VERMILLION, linestyle=style, linewidth=1.4, zorder=2)
        axes.annotate(
            f"{name} {value:+.2f}",
            (1, value),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=VERMILLION,
            fontsize=9,
        )
    for count in sorted({1, -(-largest // 3), largest}):
        size = max(BUBBLE * count / largest, 8)
        axes.scatter([], [], s=size, color=BLUE, alpha=0.55, linewidths=0, label=str(count))
    figure.legend(title="items", loc="outside lower center", ncols=3, frameon=False, columnspacing=3)
    axes.set_ylim(min(low, *points[:, 1], -0.5) - 0.4, max(high, *points[:, 1], 0.5) + 0.4)
    axes.margins(x=0.12)
    axes.set_xlabel(f"mean of expert and judge ({_plain(unit)})")
    axes.set_ylabel(f"judge − expert ({_plain(unit)})")
    _title(axes, "Bland-Altman", both.sum(), "not graded by both", int((~both).sum()))
    return figure


def histogram_figure(
    experts: Mapping[str, IntArray], judge: IntArray, scale: Scale, *, judge_name: str = "judge"
) -> Figure:
    """The grades each expert and the judge gave, side by side at each level, as shares of what each graded.

    Of many experts those who graded most have bars of their own; the others are taken together.

    Args:
        experts: Grade positions by annotator, each of shape (n_items,), -1 where missing.
        judge: Grade positions, shape (n_items,), -1 where unscored.
        scale: The grades.
        judge_name: In the legend.
    """
    k = len(scale.grades)
    raters = [*_most_active(experts).items(), (judge_name, judge)]
    width = 0.84 / len(raters)
    figure, axes = _new(max(6.4, 0.22 * len(raters) * k + 2.5), 4.2)
    for position, (name, grades) in enumerate(raters):
        counts = np.bincount(grades[grades >= 0], minlength=k)
        total = counts.sum()
        last = position == len(raters) - 1
        bars = axes.bar(
            np.arange(k) - 0.42 + width * (position + 0.5),
            100 * counts / max(total, 1),
            width * 0.94,
            color=VERMILLION if last else EXPERT_COLOURS[position % len(EXPERT_COLOURS)],
            hatch="" if position < len(EXPERT_COLOURS) or last else "///",  # the colours have run out
            label=f"{_plain(name)} (n={total}{_missing(grades)})",
        )
        if len(raters) * k <= 30:
            axes.bar_label(bars, [str(count) for count in counts], fontsize=8, padding=1)
    axes.set_xticks(range(k), [_plain(str(grade)) for grade in scale.grades])
    axes.set_xlabel(_plain(scale.name))
    axes.set_ylabel("share of the annotator's grades (%)")
    axes.set_title("Grades by annotator", fontsize=11)
    axes.legend(frameon=False, fontsize=9)
    axes.margins(y=0.12)
    return figure


def _most_active(experts: Mapping[str, IntArray]) -> dict[str, IntArray]:
    """At most ``MAX_RATERS`` experts, in their order; beyond that the last is all who graded least, together."""
    if len(experts) <= MAX_RATERS:
        return dict(experts)
    ranked = sorted(experts, key=lambda name: int((experts[name] >= 0).sum()), reverse=True)
    kept, others = set(ranked[: MAX_RATERS - 1]), ranked[MAX_RATERS - 1 :]
    together = np.concatenate([experts[name][experts[name] >= 0] for name in others])
    return {name: grades for name, grades in experts.items() if name in kept} | {f"{len(others)} others": together}


def confidence_figure(grade: IntArray, confidence: FloatArray, scale: Scale) -> Figure:
    """Heat map of the judge's grade against its confidence: how many items are in each cell.

    Args:
        grade: Grade positions, shape (n_items,), -1 where unscored.
        confidence: 0-1, same shape, NaN where none was stated.
        scale: The grades.
    """
    from matplotlib.ticker import MaxNLocator

    k = len(scale.grades)
    known = (grade >= 0) & np.isfinite(confidence)
    bins = bin_of(confidence[known])
    counts = np.zeros((k, BINS), dtype=np.int64)
    np.add.at(counts, (grade[known], bins), 1)

    figure, axes = _new(7.0, 1.5 + 0.5 * k)
    image = axes.imshow(counts, cmap="Blues", aspect="auto", vmin=0, origin="lower")
    for row, column in np.ndindex(counts.shape):
        if counts[row, column]:
            ink = "white" if counts[row, column] > 0.55 * counts.max() else "black"
            axes.text(column, row, str(counts[row, column]), ha="center", va="center", color=ink, fontsize=9)
    step = 100 // BINS
    axes.set_xticks(np.arange(BINS + 1) - 0.5, [str(step * i) for i in range(BINS + 1)])
    axes.set_yticks(range(k), [_plain(str(grade)) for grade in scale.grades])
    axes.set_xlabel("confidence of the judge (%)")
    axes.set_ylabel(f"judge: {_plain(scale.name)}")
    figure.colorbar(image, ax=axes, label="items", ticks=MaxNLocator(integer=True))
    _title(axes, "Grade against confidence", known.sum(), "without one of them", int((~known).sum()))
    return figure


def group_figure(groups: Mapping[str, Estimate], *, statistic: str, overall: Estimate) -> Figure:
    """One statistic in each group with its interval, best first; the line is all items together.

    A group where the statistic is undefined is listed with the reason and has no point.

    Args:
        groups: The statistic by group.
        statistic: Its name, for the axis.
        overall: The statistic over all items.
    """
    ranked = sorted(groups.items(), key=lambda pair: -np.inf if pair[1].value is None else pair[1].value, reverse=True)
    figure, axes = _new(6.8, 1.5 + 0.34 * max(len(ranked), 2))
    for row, (_, estimate) in enumerate(ranked):
        if estimate.value is None:
            axes.text(
                0.02,
                row,
                _plain(estimate.note, 60),
                transform=axes.get_yaxis_transform(),
                va="center",
                color=GREY,
                in_layout=False,  # a long reason must not squeeze the axes
            )
            continue
        if estimate.low is not None and estimate.high is not None:
            axes.plot([estimate.low, estimate.high], [row, row], color=BLUE, linewidth=1.8)
        axes.plot(estimate.value, row, "o", color=BLUE, markersize=6)
    if overall.value is not None:
        axes.axvline(overall.value, color=VERMILLION, linestyle="--", linewidth=1.2)
        axes.annotate(
            f"all: {overall.value:.2f}",
            (overall.value, 1),
            xycoords=("data", "axes fraction"),
            xytext=(3, -3),
            textcoords="offset points",
            va="top",
            color=VERMILLION,
            fontsize=9,
        )
    axes.set_yticks(range(len(ranked)), [f"{_plain(name)} (n={estimate.n})" for name, estimate in ranked])
    axes.set_ylim(len(ranked) - 0.4, -0.9)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    interval = f", {percent(overall.level)} intervals" if overall.low is not None else ""
    axes.set_xlabel(f"{_plain(statistic)}{interval}")
    _title(axes, "Agreement by group", overall.n, "", 0)
    return figure


def reliability_figure(probability: FloatArray, accepted: IntArray) -> Figure:
    """Predicted against observed acceptance in ten equal bins, the number of items below, and the ECE.

    Args:
        probability: The judge's probability that the expert accepts, shape (n_items,), NaN where unscored.
        accepted: What the expert said, 1 / 0, same shape, -1 where unknown.
    """
    known = np.isfinite(probability) & (accepted >= 0)
    counts, predicted, observed = reliability_bins(probability[known], accepted[known])
    filled = counts > 0
    error = calibration_error(probability[known], accepted[known])

    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 5.4), layout="constrained")
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    axes.plot([0, 100], [0, 100], color=GREY, linestyle="--", linewidth=1, label="perfectly calibrated")
    axes.plot(
        100 * predicted[filled],
        100 * observed[filled],
        "o-",
        color=BLUE,
        markersize=6,
        label="judge",
        zorder=3,
    )
    axes.set(xlim=(0, 100), ylim=(-3, 103), ylabel="accepted by the experts (%)")
    axes.legend(frameon=False, loc="upper left")
    _title(axes, f"Reliability, ECE {_percent(error)}", known.sum(), "without one", int((~known).sum()))
    step = 100 / BINS
    bars = below.bar(step * (np.arange(BINS) + 0.5), counts, step * 0.92, color=GREY)
    below.bar_label(bars, [str(count) if count else "" for count in counts], fontsize=8)
    below.set(xlabel="predicted probability of acceptance (%)", ylabel="items")
    below.margins(y=0.3)
    for each in (axes, below):
        each.spines[["top", "right"]].set_visible(False)
    return figure


def _new(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _title(axes: Axes, what: str, n: int, missing: str, n_missing: int) -> None:
    left_out = f"; {n_missing} {missing}" if n_missing else ""
    axes.set_title(f"{what} (n={n}{left_out})", fontsize=11)


def _missing(grades: IntArray) -> str:
    n = int((grades < 0).sum())
    return f", {n} missing" if n else ""


def _plain(text: str, limit: int = MAX_NAME) -> str:
    """Text as it is: cut to fit, and without matplotlib's formulas between dollars."""
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return " ".join(short.split()).replace("$", r"\$")


def _percent(share: float | None) -> str:
    return "undefined" if share is None else f"{percent(share, 1)}"
