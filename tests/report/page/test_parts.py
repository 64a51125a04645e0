"""The parts of the page: its items, what changed in the prompt, what was audited, what can be read."""

import re
from typing import Any

import numpy as np
import pytest

from judgec.records.agreement import BlandAltman
from judgec.records.audit import Finding
from judgec.records.estimate import Estimate
from judgec.records.judgment import Judgments
from judgec.records.label import Item, Label
from judgec.records.scale import Scale
from judgec.report.kit import TEMPLATES, cut, interval_bar
from judgec.report.page import charts
from judgec.report.page.audits import audits_section, with_audits
from judgec.report.page.confusion import confidence_counts, confusion_counts, count_table
from judgec.report.page.judged_items import browsed_items
from judgec.report.page.page import axis
from judgec.report.page.prompt import prompt_lines, prompt_section
from tests.report.page.html import Page

SCALE = Scale(grades=(1, 2, 3))
ITEMS = tuple(Item(item_id=f"i{n}", query_id=f"q{n}", inputs={"query": f"Q{n}", "answer": "A"}) for n in range(5))


def judged(grade: list[int], score: list[float]) -> Judgments:
    column = np.array(grade, dtype=np.int64)[:, None]
    return Judgments(
        item_ids=tuple(item.item_id for item in ITEMS),
        aspects=("grade",),
        probabilities=np.full((5, 1, 3), 1 / 3),
        grade=column,
        score=np.array(score)[:, None],
        accept=np.full((5, 1), -1, dtype=np.int64),
        confidence=np.full((5, 1), 0.5),
        rationale=("because",) * 5,
        unscored=tuple("no reply" if position < 0 else None for position in grade),
    )


def test_items_have_the_distance_of_judge_and_experts_and_what_was_said() -> None:
    target = np.array([[0], [2], [1], [2], [-1]])[..., None]
    judgments = judged([2, 1, 1, -1, 0], [3.0, 2.4, 2.4, np.nan, 1.0])
    labels = {"i0": [Label("i0", "ann", {"grade": 0}, rationale="wrong unit")]}
    found = browsed_items(ITEMS, target, judgments, SCALE, labels)
    assert [one.distance for one in found] == pytest.approx([1.0, 0.3, 0.2, 0.0, 0.0])
    assert (found[0].expert, found[0].judge, found[0].labels[0].reason) == ({"grade": 1}, {"grade": 3}, "wrong unit")


def test_distance_of_classes_is_the_chance_that_was_given_to_others() -> None:
    scale = Scale(level="nominal", grades=("a", "b", "tie"))
    judgments = judged([1, 1, 0, 0, 0], [np.nan] * 5)
    judgments.probabilities[:2, 0] = [[0.4, 0.6, 0.0], [0.1, 0.9, 0.0]]
    target = np.array([[0], [0], [0], [0], [0]])[..., None]
    found = browsed_items(ITEMS, target, judgments, scale, {})
    assert [one.distance for one in found[:2]] == pytest.approx([0.6, 0.9])


def prompt(instructions: str, *demos: str) -> dict[str, dict[str, Any]]:
    fields = [{"name": "query", "description": "${query}"}]
    shown = [{"query": demo} for demo in demos]
    return {"prompt": {"instructions": instructions, "fields": fields, "turns": {}, "demos": shown}}


def test_prompt_section_shows_what_was_added_and_removed() -> None:
    before, now = prompt_lines(prompt("Grade.\nBe harsh.")), prompt_lines(prompt("Grade.\nBe mild.", "<b>pump</b>"))
    shown = prompt_section(now, before, "j@1")
    assert "3 lines added, 1 removed against j@1." in shown
    for part in ("<del>-Be harsh.\n</del>", "<ins>+Be mild.\n</ins>", "&lt;b&gt;pump"):
        assert part in shown
    assert "<b>pump" not in shown
    assert "The same prompt as j@1." in prompt_section(now, now, "j@1")
    assert "no parent" in prompt_section(now, None, "parent")
    lines = prompt_lines(prompt("\n".join(f"line {n} " + "x" * 5000 for n in range(5000))))
    assert len(prompt_section(lines, [], "j@1")) < 150_000


FOUND = Finding(
    audit="length",
    status="fail",
    effect=Estimate(value=0.2, low=0.1, high=0.3),
    bound=0.05,
    sentence="Padding <i>raises</i> the \\1 grade.",
)


def test_audits_take_the_place_of_what_was_there_as_often_as_one_audits() -> None:
    page = f"<main>before{audits_section([], 'j@1')}after</main>"
    assert "judgec audit --judge j@1" in page
    once = with_audits(page, [FOUND], "j@1")
    assert once == with_audits(with_audits(page, [], "j@1"), [FOUND], "j@1")
    assert (once[:12], once[-12:]) == ("<main>before", "after</main>")
    assert "Not audited" not in once
    for part in (".20", "✗ fail", "&lt;i&gt;raises&lt;/i&gt;", "the \\1 grade"):
        assert part in once
    assert Page(once).faults == []


def test_confusion_counts_rows_by_expert_and_keeps_a_column_for_the_unscored() -> None:
    made = confusion_counts(np.array([[0], [0], [1], [2], [-1]]), np.array([0, 1, -1, 2, 2]), ["low", "mid", "high"])
    rows = count_table(made, "label", "corner").removesuffix("</tbody></table></div>").split("<tr>")[2:]
    plain = [[re.sub("<.*?>", "", cell) for cell in row.split("<td>")[1:]] for row in rows]
    assert [" ".join(row) for row in plain] == ["low 1 1 · · 2", "mid · · · 1 1", "high · · 1 · 1"]
    assert confusion_counts(np.array([[0], [1]]), np.array([0, 0]), ["low", "high"]).columns == ["low", "high"]


def test_drawing_of_counts_has_squares_by_area_counts_on_them_and_frames_where_both_agree() -> None:
    expert, judge = np.array([[0]] * 4 + [[1]]), np.array([0, 0, 0, 1, -1])
    drawn = confusion_counts(expert, judge, ["bad <", "good"]).drawn("A & B", ("judge", "experts"))
    squares = re.findall(r'<rect class="square"[^>]*? width=([\d.]+) .*?<title>(.*?)</title>', drawn)
    shares = [re.findall(r": (\d) items?, (\d+) %", text) for _, text in squares]
    assert shares == [[("3", "75")], [("1", "25")], [("1", "100")]]
    heads = [text.partition(": ")[0] for _, text in squares]
    assert heads == ["bad &lt;, bad &lt;", "bad &lt;, good", "good, unscored"]
    sides = [float(side) for side, _ in squares]
    assert [side**2 / sides[2] ** 2 for side in sides] == pytest.approx([0.75, 0.25, 1.0], abs=0.02)
    assert re.findall(r'<text class="count".*?>(\d+)<', drawn) == ["3", "1", "1"]
    assert drawn.count('class="frame"') == 2
    assert 'aria-label="A &amp; B"' in drawn
    assert Page(drawn).faults == []
    width, height = (float(end) for end in re.findall(r'viewBox="0 0 (\d+) (\d+)"', drawn)[0])
    spots = re.findall(r'<(?:rect|text) class="\w+" x=([\d.]+) y=([\d.]+)', drawn)
    assert all(0 <= float(x) <= width and 0 <= float(y) <= height for x, y in spots)
    many = confusion_counts(expert, judge, [str(n) for n in range(30)])
    assert many.drawn("", ("", "")) == ""  # too small to be read: the table has them


def test_confidence_table_counts_grades_by_tenths_and_full_confidence_is_in_the_last() -> None:
    found = confidence_counts(np.array([0, 0, 1, -1, 1]), np.array([0.05, 1.0, 0.3, 0.5, np.nan]), ["low", "high"])
    assert found is not None
    made = count_table(found, "label", "corner")
    plain = [re.findall(r"<td>(?:<span[^>]*>)?([^<]*)", row) for row in made.split("<tr>")[2:]]
    assert plain == [["low", "1", *"········", "1", "2"], ["high", *"···", "1", *"······", "1"]]
    assert confidence_counts(np.array([0]), np.array([np.nan]), ["low", "high"]) is None


def test_reliability_chart_puts_dots_where_stated_meets_observed() -> None:
    stated, happened, query = np.array([0.05, 0.95, 0.95, np.nan]), np.array([0.0, 1.0, 0.0, 1.0]), np.arange(4)
    svg = charts.reliability_chart(charts.reliability(stated, happened, query), words=("x", "y"))
    plane = charts.Plane((-0.04, 1.04), (-0.04, 1.04))
    assert f"cx={plane.across(0.95):.1f} cy={plane.up(0.5):.1f}" in svg
    assert "2 items: stated 95 %, observed 50 % [1 %, 99 %]" in svg  # Clopper-Pearson of 1 in 2: .0126, .9874
    assert f"x1={plane.across(0.95):.1f} y1={plane.up(0.012579):.1f} x2={plane.across(0.95):.1f}" in svg
    assert svg.count("<circle") == 2
    assert charts.reliability(np.array([np.nan]), np.array([1.0]), np.array([0])) == []
    assert charts.reliability_chart([], words=("x", "y")) == ""


def test_bland_altman_chart_draws_bias_and_limits_at_their_height() -> None:
    points = charts.differences(np.array([1.0, 2.0, np.nan]), np.array([2.0, 2.0, 1.0]))
    svg = charts.bland_altman_chart(points, BlandAltman(0.5, -0.9, 1.9))
    reach = 1.15 * 1.9
    plane = charts.Plane((0.0, 1.0), (-reach, reach))
    for value in (0.5, -0.9, 1.9):
        assert f"y1={plane.up(value):.1f}" in svg
    assert "bias +.50" in svg
    assert "1 item: mean 1.5, difference +1" in svg
    assert charts.differences(np.array([np.nan]), np.array([1.0])) == []
    assert charts.bland_altman_chart([], BlandAltman(None, None, None)) == ""


def test_histogram_escapes_raters_and_keeps_the_judge_last() -> None:
    svg = charts.histogram_chart([("<x>", [2, 1]), ("judge", [0, 4])], ["a", "b"])
    assert "&lt;x&gt;: 2 times a (67 %)" in svg
    assert svg.index("judge: 4 times b (100 %)") > svg.index("&lt;x&gt;")
    assert Page(svg).faults == []


def test_cut_escapes_shortens_and_names_what_is_empty() -> None:
    assert cut("<a>", 10) == "&lt;a&gt;"
    assert re.sub("<.*?>", "", cut("abcdef", 2)) == "ab … 4 more characters"
    assert "(empty)" in cut(" \n", 5)


def test_bar_and_axis_hold_every_value() -> None:
    low, high = axis([Estimate(value=0.3, low=-0.15, high=0.9), Estimate(value=None)])
    assert (low, high) == (-0.2, 1.0)
    assert "left:75.0%" in interval_bar(Estimate(value=0.7), -0.2, 1.0)
    assert interval_bar(Estimate(value=None), 0.0, 1.0) == ""


def channels(colour: str) -> list[int]:
    full = colour if len(colour) == 7 else "#" + "".join(2 * letter for letter in colour[1:])
    return [int(full[i : i + 2], 16) for i in (1, 3, 5)]


def contrast(*colours: list[int]) -> float:
    shares = [[c / 255 for c in one] for one in colours]
    linear = [[c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in one] for one in shares]
    low, high = sorted(0.2126 * one[0] + 0.7152 * one[1] + 0.0722 * one[2] for one in linear)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_text_has_the_contrast_that_wcag_asks_for(theme: int) -> None:
    found = re.findall(r"--(\w+):light-dark\((.*?)\)", (TEMPLATES / "style.css").read_text(encoding="utf-8"))
    colour = {name: channels(pair.split(",")[theme]) for name, pair in found}
    for ink in ("ink", "quiet", "hue", "alarm", "good"):
        for paper in ("paper", "soft"):
            assert contrast(colour[ink], colour[paper]) >= 4.5, (ink, paper)
    fullest = [round((hue + paper) / 2) for hue, paper in zip(colour["hue"], colour["paper"], strict=True)]
    assert contrast(colour["ink"], fullest) >= 4.5  # of the cells
