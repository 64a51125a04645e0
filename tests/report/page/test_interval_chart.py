"""The drawing of values with intervals: everything inside, names as text, unknown ones said."""

import re

from judgec.records.estimate import Estimate
from judgec.report.page.interval_chart import WIDTH, interval_chart
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from tests.report.page.html import Page

ROWS = {
    "rag <b>": Estimate(value=0.6, low=0.4, high=0.7),
    "alone": Estimate(value=0.5),
    "nothing": Estimate(value=None, note="undefined"),
    "a name that goes on and on and on for ever": Estimate(value=-0.1, low=-0.3, high=0.2),
}


def test_marks_lie_on_one_axis_inside_the_drawing_and_in_order() -> None:
    drawn = str(interval_chart(ROWS, "tau-b"))
    dots = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', drawn)]
    line = re.compile(r'<line x1="([\d.]+)" y1="\d+" x2="([\d.]+)"')
    lines = [(float(left), float(right)) for left, right in line.findall(drawn)]
    assert len(dots) == 3
    assert dots[0] > dots[1] > dots[2]
    assert all(0 < x < WIDTH for x in dots)
    spans = [pair for pair in lines if pair[0] != pair[1]]
    assert len(spans) == 2
    assert all(left < dot < right for (left, right), dot in zip(spans, (dots[0], dots[2]), strict=True))
    assert drawn.count(">unknown<") == 1
    assert "rag &lt;b&gt;: .60 [.40, .70]" in drawn
    assert "…" in drawn
    assert [float(text) for text in re.findall(r"text-anchor=middle>([-\d.]+)<", drawn)] == [-0.2, 0.0, 0.2, 0.4, 0.6]


def test_nothing_known_is_no_drawing_and_one_value_alone_is_one() -> None:
    assert not interval_chart({"a": Estimate(value=None)}, "x")
    assert "<circle" in interval_chart({"a": Estimate(value=1000.0)}, "x", digits=0)


def test_part_of_a_notebook_has_sentence_table_and_drawing() -> None:
    table = TextTable("Board", ("agent", "rating"), [("agent A", "1000 [900, 1100]")])
    html = notebook(Report(verdict=["A is <best>."], tables=[table]), chart=ROWS)
    assert html.index("A is &lt;best&gt;.") < html.index("<table") < html.index("<svg")
    assert Page(f"<!doctype html><html lang=en><title>t</title><body>{html}</body></html>").faults == []
    assert "<td>1000\u00a0[900,\u00a01100]" in html  # stays on one line in a narrow notebook
    assert "<td>agent A" in html
