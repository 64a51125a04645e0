"""Figures: what is drawn and written on them."""

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgec.records.estimate import Estimate
from judgec.records.scale import Scale
from judgec.report import figures

SCALE = Scale(name="faithfulness", grades=(1, 2, 3), accept_at=2)
# Six items: expert grades positions 0 0 1 1 2 and one missing; the judge failed on one.
EXPERT = np.array([0, 0, 1, 1, 2, -1])
JUDGE = np.array([0, 2, 1, -1, 2, 2])


def written(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def labels(axes: Axes, axis: str) -> list[str]:
    ticks = axes.get_xticklabels() if axis == "x" else axes.get_yticklabels()
    return [tick.get_text() for tick in ticks]


def test_confusion_figure_counts_and_row_shares_are_hand_worked() -> None:
    (axes,) = figures.confusion_figure(EXPERT, JUDGE, SCALE).axes
    cells = {text.get_position(): text.get_text() for text in axes.texts}
    assert cells == {
        (0, 0): "1\n50 %",
        (2, 0): "1\n50 %",
        (1, 1): "1\n50 %",
        (3, 1): "1\n50 %",
        (2, 2): "1\n100 %",
    }
    assert labels(axes, "x") == ["1", "2", "3", "unscored"]
    assert labels(axes, "y") == ["1\n(n=2)", "2\n(n=2)", "3\n(n=1)"]
    assert axes.get_title() == "Expert against judge (n=5; 1 no expert grade)"
    assert axes.get_ylabel() == "expert consensus"


def test_confusion_figure_without_unscored_has_no_such_column() -> None:
    (axes,) = figures.confusion_figure(np.array([0, 1]), np.array([1, 1]), SCALE).axes
    assert labels(axes, "x") == ["1", "2", "3"]


def test_bland_altman_figure_ties_are_one_bubble_with_area_by_count() -> None:
    expert = np.array([1.0, 1.0, 1.0, 3.0, np.nan])
    judge = np.array([2.0, 2.0, 2.0, 2.0, 2.0])
    figure = figures.bland_altman_figure(expert, judge, bias=0.5, low=-1.5, high=2.5)
    (axes,) = figure.axes
    bubbles = axes.collections[0]
    assert np.asarray(bubbles.get_offsets()).tolist() == [[1.5, 1.0], [2.5, -1.0]]
    sizes = bubbles.get_sizes()  # type: ignore[attr-defined]  # the stubs say Collection, it is PathCollection
    assert sizes[0] == pytest.approx(3 * sizes[1])
    assert written(axes) == ["bias +0.50", "upper 95 % limit +2.50", "lower 95 % limit -1.50"]
    assert axes.get_title() == "Bland-Altman (n=4; 1 not graded by both)"


def test_histogram_figure_bars_are_shares_of_what_each_rater_graded() -> None:
    experts = {"alice": EXPERT, "bob": np.array([2, 2, -1, -1, -1, -1])}
    (axes,) = figures.histogram_figure(experts, JUDGE, SCALE).axes
    heights = [[bar.get_height() for bar in bars] for bars in axes.containers]
    assert heights == [[40, 40, 20], [0, 0, 100], [20, 20, 60]]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "alice (n=5, 1 missing)",
        "bob (n=2, 4 missing)",
        "judge (n=5, 1 missing)",
    ]
    assert axes.get_ylabel().endswith("(%)")


def test_histogram_figure_of_many_experts_takes_those_together_who_graded_least() -> None:
    experts = {f"rater {i:02}": np.array([0] * (i % 7 + 1) + [-1] * 30) for i in range(90)}
    figure = figures.histogram_figure(experts | {"chief": np.array([2] * 40)}, JUDGE, SCALE)
    (axes,) = figure.axes
    legend = axes.get_legend()
    assert legend is not None
    names = [text.get_text() for text in legend.get_texts()]
    assert len(names) == figures.MAX_RATERS + 1
    assert names[-3:] == [
        "chief (n=40)",
        f"80 others (n={sum(i % 7 + 1 for i in range(90)) - 70})",
        "judge (n=5, 1 missing)",
    ]
    figures.png(figure)  # warns, which is an error here, when the layout leaves the axes no room


def test_confidence_figure_full_confidence_is_in_the_last_bin() -> None:
    confidence = np.array([0.3, 1.0, 0.95, np.nan, 0.0, 0.3])
    axes, bar = figures.confidence_figure(JUDGE, confidence, SCALE).axes
    cells = {text.get_position(): text.get_text() for text in axes.texts}
    assert cells == {(3, 0): "1", (9, 2): "1", (9, 1): "1", (0, 2): "1", (3, 2): "1"}
    assert axes.get_title() == "Grade against confidence (n=5; 1 without one of them)"
    assert bar.get_ylabel() == "items"


def test_group_figure_is_ranked_and_keeps_undefined_groups() -> None:
    groups = {
        "law": Estimate(value=None, note="all grades equal", n=4),
        "IT": Estimate(value=0.25, low=0.0, high=0.5, n=30),
        "pay $ and $": Estimate(value=0.75, low=0.5, high=0.875, n=12),
    }
    overall = Estimate(value=0.5, low=0.25, high=0.625, n=46)
    (axes,) = figures.group_figure(groups, statistic="tau-b", overall=overall).axes
    assert labels(axes, "y") == [r"pay \$ and \$ (n=12)", "IT (n=30)", "law (n=4)"]
    assert written(axes) == ["all grades equal", "all: 0.50"]
    assert [list(np.asarray(line.get_xdata())) for line in axes.lines[:2]] == [[0.5, 0.875], [0.75]]
    assert axes.get_xlabel() == "tau-b, 95 % intervals"


def test_group_figure_of_long_reasons_keeps_its_axes() -> None:
    undefined = Estimate(value=None, note="undefined: one of the two gave one grade only, or there are no items", n=2)
    groups = {f"a rather long name of group {k}": undefined for k in range(30)}
    figure = figures.group_figure(groups, statistic="tau_b", overall=undefined)
    figures.png(figure)  # warns, which is an error here, when the layout leaves the axes no room
    assert figure.axes[0].get_position().width > 0.3


def test_reliability_figure_shows_error_and_what_is_missing() -> None:
    probability = np.array([0.25, 0.25, np.nan, 0.95])
    upper, lower = figures.reliability_figure(probability, np.array([0, 1, 1, -1])).axes
    assert upper.get_title() == "Reliability, ECE 25.0 % (n=2; 2 without one)"
    assert [text for text in written(lower) if text] == ["2"]


def every_figure() -> list[Figure]:
    nothing = np.array([], dtype=np.int64)
    empty = np.array([])
    name = "日本 $x$ \\frac _{"
    undefined = Estimate(value=None, note=name)
    return [
        figures.confusion_figure(nothing, nothing, SCALE, judge_name=name),
        figures.bland_altman_figure(empty, empty, bias=0, low=0, high=0, unit=name),
        figures.histogram_figure({name: nothing} | {str(i): JUDGE for i in range(9)}, nothing, SCALE),
        figures.confidence_figure(nothing, empty, SCALE),
        figures.group_figure({name: undefined}, statistic=name, overall=undefined),
        figures.reliability_figure(empty, nothing),
    ]


def test_png_of_no_items_and_names_in_any_script_is_an_image() -> None:
    for figure in every_figure():
        assert figures.png(figure).startswith(b"\x89PNG")


def test_png_figures_are_freed_with_their_last_reference() -> None:
    figure = figures.confusion_figure(EXPERT, JUDGE, SCALE)
    figures.png(figure)
    reference = weakref.ref(figure)
    del figure
    gc.collect()
    assert reference() is None


def test_import_of_figures_does_not_import_matplotlib() -> None:
    code = (
        "import sys; import judgec.report.figures as f; import numpy as np\n"
        "print('matplotlib' in sys.modules)\n"
        "f.reliability_figure(np.array([.5]), np.array([1])); print('matplotlib.pyplot' in sys.modules)"
    )
    path = {"PYTHONPATH": ":".join(entry for entry in sys.path if entry)}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=path)
    assert ran.stdout.split() == ["False", "False"]
