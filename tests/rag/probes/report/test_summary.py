"""Rates, gates, diagnosis, advice and the files of a report, on hand-made outcomes."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from judgec.connect.tracking.metrics import MOST_SHOWN
from judgec.errors import UserError
from judgec.rag.probes.diagnosis import diagnose
from judgec.rag.probes.gate import breaches, outcome, parse_limits
from judgec.rag.probes.render import matrix_rows, rate_rows, scenario_rows
from judgec.rag.probes.report.page import page
from judgec.rag.probes.report.run import case_of, run_of
from judgec.rag.probes.report.summary import Summary, summarize
from judgec.rag.queries.scenarios import SHIPPED
from judgec.rag.queries.scenarios.reading import read_scenario
from judgec.rag.queries.terms import TermIndex
from judgec.rag.retrieval.passages import Passage
from judgec.records.scenario.outcome import Outcome, Probed, ReplyVerdict, SystemReply, Where
from judgec.records.scenario.schema import Question
from judgec.report.junit import junit
from tests.report.page.html import Page
from tests.stats.known import known

SCENARIOS = {name: read_scenario(SHIPPED / f"{name}.yaml") for name in ("S1", "S4", "S6")}


def one(
    number: int, outcome: Outcome, *, scenario: str = "S1", system: str = "x", component: Where = "", query: str = ""
) -> Probed:
    name = f"{scenario}-{number}"
    failed, asked = outcome == "fail", query or f"Question {number} <b>&</b>?"
    return Probed(
        question=Question(query_id=name, query=asked, scenario=scenario, reference="5 ms"),
        reply=SystemReply(query_id=name, system=system, answer=None if outcome == "error" else "6 ms", error="down"),
        verdict=ReplyVerdict(
            query_id=name,
            system=system,
            data_set="docs",
            scenario=scenario,
            source=f"doc{number}",
            outcome=outcome,
            criteria={"correctness": not failed},
            component=component,
            reason="a reason",
        ),
    )


def summed(probed: Sequence[Probed]) -> Summary:
    return summarize(probed, SCENARIOS, judge="j", writer="w")


PROBED = [
    *[one(n, "fail", component="retrieval") for n in range(3)],
    *[one(n, "pass") for n in range(3, 8)],
    one(8, "error"),
    one(9, "unscored"),
    *[one(n, "pass", system="y") for n in range(10)],
]


def test_run_shows_fifteen_numbers_the_total_first_and_keeps_the_rest_in_the_table(tmp_path: Path) -> None:
    small = run_of(summed(PROBED), folder=tmp_path, started=1.0, ended=2.0)
    headline = known(small.headline)
    assert {"failure_rate", "failure_rate.high", "n.S1.x", "unscored.S1.y"} <= headline.keys()  # few: all
    assert "failure_rate.scenario.S1" not in headline  # there is one, and its rate is that of all
    assert headline["n"] == 18
    assert headline["failure_rate.system.x"] == pytest.approx(3 / 8)
    names = [f"T{n}" for n in range(20)]
    many = [
        one(n, "fail" if n < failing else "pass", scenario=scenario, system=system)
        for failing, scenario in enumerate(names)
        for n in range(20)
        for system in ("x", "y")
    ]
    large = run_of(summarize(many, {}, judge="j", writer="w"), folder=tmp_path, started=1.0, ended=2.0)
    shown = list(known(large.headline))
    assert shown[:8] == [
        *("failure_rate", "failure_rate.low", "failure_rate.high", "n", "errors", "unscored"),
        *("failure_rate.system.x", "failure_rate.system.y"),
    ]
    assert shown[8:] == [f"failure_rate.scenario.T{n}" for n in range(19, 12, -1)]
    assert len(shown) == MOST_SHOWN
    assert {"failure_rate.T0.x", "n.T19.y", "failure_rate.scenario.T0"} <= set(large.metrics) - set(shown)


def test_summarize_keeps_errors_and_unscored_out_of_the_rate_and_in_the_worst_case() -> None:
    found = summed(PROBED)
    cell = found.cells[0]
    assert (cell.failures, cell.n, cell.errors, cell.unscored) == (3, 8, 1, 1)
    assert cell.failure_rate.value == pytest.approx(3 / 8)
    assert cell.at_worst.value == pytest.approx(5 / 10)
    assert cell.failure_rate.low is not None
    assert cell.components == {"retrieval": 3}
    assert found.systems_failing == {"S1": (1, 2)}
    assert found.cells[1].failure_rate.value == 0.0


def elsewhere(probed: Probed) -> Probed:
    return probed.model_copy(update={"verdict": probed.verdict.model_copy(update={"data_set": "manuals"})})


def test_totals_by_scenario_data_set_and_system_add_up_and_sources_of_two_data_sets_are_two() -> None:
    both = [*PROBED, *map(elsewhere, PROBED[:8]), one(1, "fail", scenario="S4", system="y")]
    found = summed(both)
    made = found.to_json()
    totals = made["totals"]
    assert isinstance(totals, dict)
    counts = {
        by: {name: (one["failures"], one["n"], one["errors"], one["unscored"]) for name, one in totals[by].items()}
        for by in ("scenario", "data_set", "system")
    }
    assert counts == {
        "scenario": {"S1": (6, 26, 1, 1), "S4": (1, 1, 0, 0)},
        "data_set": {"docs": (4, 19, 1, 1), "manuals": (3, 8, 0, 0)},
        "system": {"x": (6, 16, 1, 1), "y": (1, 11, 0, 0)},
    }
    assert (totals["overall"]["failures"], totals["overall"]["n"]) == (7, 27)
    overall = totals["overall"]["failure_rate"]
    assert overall["value"] == pytest.approx(7 / 27)
    assert overall["low"] < 7 / 27 < overall["high"]
    whole = next(total for total in found.totals if total.by == "overall")
    assert whole.failure_rate.n_clusters == 8 + 2 + 8  # doc0 to doc9 here, doc0 to doc7 of the other data set
    assert made["systems_failing_by_data_set"] == [
        {"data_set": "docs", "scenario": "S1", "failing": 1, "of": 2},
        {"data_set": "manuals", "scenario": "S1", "failing": 1, "of": 1},
        {"data_set": "docs", "scenario": "S4", "failing": 1, "of": 1},
    ]


def test_scenarios_by_systems_over_all_data_sets_are_there_where_there_are_several() -> None:
    assert summed(PROBED).across == ()
    there = list(map(elsewhere, PROBED[:8]))
    found = summed([*PROBED, *there])
    told = found.to_json()["results_of_all_data_sets"]
    assert isinstance(told, list)
    assert [(one["scenario"], one["system"], one["data_set"], one["failures"], one["n"]) for one in told] == [
        ("S1", "x", "all data sets", 6, 16),
        ("S1", "y", "all data sets", 0, 10),
    ]
    assert told[0]["failure_rate"]["value"] == pytest.approx(6 / 16)
    head, rows = matrix_rows(found)
    assert (head, rows[0]) == (["scenario", "x", "y"], ["S1 all data sets", "38 %", "0 %"])
    assert "all data sets" in page(found, [], [*PROBED, *there], title="t", created="")


def test_summarize_advises_by_scenario_and_by_what_was_found() -> None:
    own = summed(PROBED).fixes["S1"]
    assert own.component == "retrieval"
    assert own != SCENARIOS["S1"].recommended_fix
    assert "3 of 3" in own.reason
    generator = [one(n, "fail", component="generator") for n in range(3)]
    other = summed(generator).fixes["S1"]
    assert other.component == "generator"
    unknown = [one(n, "fail", component="not tested") for n in range(3)]
    assert summed(unknown).fixes["S1"] == SCENARIOS["S1"].recommended_fix
    assert not summed(PROBED[3:8]).fixes


def test_worst_cases_show_each_question_once_most_shared_first() -> None:
    both = [one(1, "fail"), one(2, "fail"), one(2, "fail", system="y"), one(3, "error")]
    worst = summed(both).worst
    assert [case.verdict.query_id for case in worst] == ["S1-2", "S1-1", "S1-3"]


def test_gate_tests_the_upper_bound_and_counts_errors_as_failures() -> None:
    summary = summed([one(n, "pass") for n in range(10)])
    assert summary.cells[0].at_worst.high == pytest.approx(1 - 0.025**0.1)  # .308
    assert not breaches(summary, parse_limits(["S1=0.31"], ["S1"]))
    (said,) = breaches(summary, parse_limits(["S1=0.3"], ["S1"]))
    assert said.startswith("S1 x x x docs: ")
    assert " .31 (0 failures, 0 errors" in said
    errors = summed([one(n, "error") for n in range(10)])
    assert breaches(errors, parse_limits(["0.9"], ["S1"]))


@pytest.mark.parametrize(("limit", "verdict"), [("0.31", "passed"), ("0.3", "not shown"), ("0", "not shown")])
def test_gate_on_questions_that_all_passed_is_never_failed(limit: str, verdict: str) -> None:
    summary = summed([one(n, "pass") for n in range(10)])
    assert outcome(summary, parse_limits([limit], ["S1"])) == verdict


def test_gate_is_failed_only_where_the_whole_interval_is_above_the_limit() -> None:
    summary = summed([one(n, "fail" if n < 5 else "pass") for n in range(10)])
    low = summary.cells[0].at_worst.low
    assert low is not None
    assert 0.1 < low < 0.4
    assert outcome(summary, parse_limits([f"{low - 0.01:.3f}"], ["S1"])) == "failed"
    assert outcome(summary, parse_limits([f"{low + 0.01:.3f}"], ["S1"])) == "not shown"


def test_gate_of_a_scenario_without_a_question_is_a_breach() -> None:
    summary = summed([one(n, "pass") for n in range(10)])
    (said,) = breaches(summary, parse_limits(["S2=0.3", "S1=1"], ["S1", "S2"]))
    assert said.startswith("S2 x docs: ")
    assert len(breaches(summary, parse_limits(["1"], ["S1", "S2"]), ["S1", "S2"])) == 1
    assert not breaches(summary, parse_limits(["1"], ["S1", "S2"]), ["S1"])


def test_gate_of_a_scenario_beats_the_one_of_all() -> None:
    summary = summed(PROBED)
    assert not breaches(summary, parse_limits(["0.1,S1=1"], ["S1"]))
    assert len(breaches(summary, parse_limits(["0.1"], ["S1"]))) == 2


@pytest.mark.parametrize("text", ["S2=0.3", "S1=30", "S1=", "x", "S1=nan"])
def test_gate_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="--max-failure"):
        parse_limits([text], ["S1"])


def test_junit_counts_failures_and_errors_apart() -> None:
    probed = [*PROBED, one(11, "fail", query="bell \x07 & <tag>")]
    text = junit("judgec probe", list(map(case_of, probed)))
    root = ET.fromstring(text)  # noqa: S314 - our own
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("21", "4", "2")
    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["S1 x x x docs", "S1 x y x docs"]
    assert len(root.findall(".//failure")) == 4
    assert len(root.findall(".//error")) == 2
    assert "reference: 5 ms" in (root.findall(".//failure")[0].text or "")


def test_page_escapes_what_systems_and_documents_say() -> None:
    html = page(summed(PROBED), [SCENARIOS["S1"]], PROBED, title="t", created="now")
    assert "Question 0 &lt;b&gt;&amp;&lt;/b&gt;?" in html
    assert "<b>&</b>" not in html
    assert "38 %" in html
    assert "3 of 18 judged" in html
    assert "17\u00a0%\u00a0[" in html
    assert html.index('class="verdict') < html.index("Failure rates") < html.index("What to do next")


EVIL = "'\"></td></dl><script>alert(1)</script><img src=x onerror=alert(2)>"


def test_page_of_hostile_names_and_texts_runs_nothing_and_loads_nothing() -> None:
    told = one(1, "fail", scenario=f"S1 {EVIL}", system=EVIL, component="generator", query=EVIL)
    told = told.model_copy(update={"reply": told.reply.model_copy(update={"answer": EVIL, "contexts": (EVIL,)})})
    verdict = told.verdict.model_copy(update={"data_set": EVIL, "reason": EVIL, "criteria": {EVIL: False}})
    hostile = [told.model_copy(update={"verdict": verdict})]
    summary = summarize(hostile, {}, judge=EVIL, writer=EVIL, notes=[EVIL])
    read = Page(page(summary, [], hostile, title=EVIL, created="now"))
    assert read.faults == []
    assert read.text.count("<script>alert(1)</script>") > 10  # it is there, as text


def test_render_has_a_row_for_each_cell_and_scenario() -> None:
    summary = summed(PROBED)
    columns, rows = rate_rows(summary)
    assert len(rows) == 2
    assert rows[0][columns.index("errors")] == "1"
    assert scenario_rows(summary)[1][0][:2] == ["S1", "1 of 2"]
    assert matrix_rows(summary) == (["scenario", "x", "y"], [["S1", "38 %", "0 %"]])


PASSAGES = [
    Passage("a", "a", "The response time of the pump is 5 ms.", "Pump"),
    Passage("b", "b", "The pump is blue and made of steel.", "Pump"),
]


def reply(*contexts: str) -> SystemReply:
    return SystemReply(query_id="q", system="s", answer="6 ms", contexts=contexts or None)


@pytest.mark.parametrize(
    ("reference", "given", "where"),
    [
        ("5 ms", reply(PASSAGES[0].text), "generator"),
        ("5 ms", reply(PASSAGES[1].text), "retrieval"),
        ("17 ms", reply(PASSAGES[1].text), "corpus"),
        ("5 ms", reply(), "not tested"),
        ("", reply(PASSAGES[0].text), "not tested"),
    ],
)
def test_diagnose_names_the_part_that_failed(reference: str, given: SystemReply, where: str) -> None:
    question = Question(query_id="q", query="What is the response time of the pump?", reference=reference)
    assert diagnose(question, given, TermIndex(PASSAGES))[0] == where
    if where == "corpus":
        assert diagnose(question, given, None)[0] == "retrieval"  # of which nobody knows without an index
