import json
import math
import re
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from judgec.connect.tracking.metrics import MOST_SHOWN
from judgec.errors import UserError
from judgec.labels.reading import Datasheet, as_reading
from judgec.records.estimate import Estimate
from judgec.records.scale import Scale
from judgec.table.table import Table
from judgec.table.tables import read_table
from judgec.tournament.files.entries import AnswerCost
from judgec.tournament.files.folder import write_folder
from judgec.tournament.files.games import games_of
from judgec.tournament.files.graded import read_graded
from judgec.tournament.files.runs import read_qrels
from judgec.tournament.leaderboard import make_leaderboard
from judgec.tournament.pooling import Relevance, given
from judgec.tournament.report.drill import drilled
from judgec.tournament.report.evaluation import Evaluation, why_unproven
from judgec.tournament.report.page import page
from judgec.tournament.report.run import SHOWN, run_of
from judgec.tournament.report.systems import compared_agents
from judgec.tournament.report.tables import FILES, csv_tables, qrels_lines
from judgec.tournament.retrieval import RetrievalTable
from tests.records.test_card import make_card
from tests.report.page.html import Page, without_labels
from tests.stats.known import known
from tests.tournament.league import evaluated, league

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def found() -> Evaluation:
    entries = league({"best+v2": [5, 4, 5, 4, 5], EVIL: [3, 4, 3, 2, 1], "worst": [1, 2, None, 1, 0]})
    return evaluated(entries, tie_band="0.5", unproven="nobody knows")


def test_json_has_the_keys_of_the_contract_and_counts_what_was_not_played(found: Evaluation) -> None:
    report = found.to_json("run-1")
    json.dumps(report, allow_nan=False)
    wanted = {"bradley_terry", "elo", "win_percent", "average_win_percent", "games", "unscored"}
    assert wanted | {"retrieval", "judge", "mlflow_run_id"} <= set(report)
    judge = report["judge"]
    assert isinstance(judge, dict)
    assert (judge["program"], judge["version"]) == ("sensors", 0)
    assert judge["tau_b"] == {"value": 0.6, "low": 0.5, "high": 0.7}
    assert judge["accept_agreement"]["value"] is None
    assert report["mlflow_run_id"] == "run-1"
    assert report["retrieval"] == {}
    # Five queries of three games, two of them without an answer of "worst"; two more have an unreadable reply.
    assert (report["games"], report["skipped"], report["unscored"]) == (11, 2, 2)
    assert report["missing_answers"] == {"worst": 1}


def test_page_is_self_contained_escapes_everything_and_is_stamped(found: Evaluation) -> None:
    html = page(found, title=f"t {EVIL}", created="2026-11-20")
    assert Page(html).faults == []
    assert "UNPROVEN JUDGE. nobody knows" in html
    assert (
        html.index('class="verdict')
        < html.index("Leaderboard")
        < html.index("The judge: sensors@0")
        < html.index("Query by query")
    )
    assert "good 5 by best+v2" in html
    assert "worth 5" in html
    assert "UNPROVEN" not in page(replace(found, unproven=""), title="t", created="")


def test_page_begins_with_who_leads_whom_that_beats_and_from_whom_it_is_not_told_apart() -> None:
    entries = league({"best": [5, 4] * 10, "twin": [4, 5] * 10, "worst": [1, 0] * 10})
    html = page(evaluated(entries), title="t", created="")
    assert re.search(r"best is [^.]* 1000\u00a0\[900,\u00a01078\][^.]*worst; [^.]*twin\.", html)
    more = r"Elo \[(-?\d+), (\d+)\].*? About ([\d,]+) more queries"
    said = re.search(more, html.replace("\u00a0", " "))
    assert said is not None
    half = (int(said[2]) - int(said[1])) / 2
    # The closest pair is the last one of Holm's procedure, at 5 %: z = 1.96, and four cases in five need .842 more.
    assert int(said[3].replace(",", "")) == pytest.approx(20 * ((half * (1 + 0.842 / 1.96) / 50) ** 2 - 1), rel=0.05)


def test_page_of_hostile_names_and_texts_runs_nothing_and_loads_nothing() -> None:
    evil = "'\"></td></table><script>alert(1)</script><img src=x onerror=alert(2)>"
    entries = league({f"a {evil}": [5, 4, 5, 4, 5], f"b {evil}": [3, 4, 3, 2, 1]})
    entries = replace(entries, queries={name: f"{text} {evil}" for name, text in entries.queries.items()})
    gap = Estimate(value=0.25, low=0.125, high=0.5, note=evil)
    rows = {agent: {evil: gap, "MRR": Estimate(value=None, note=evil)} for agent in entries.agents}
    retrieval = RetrievalTable(rows, ((*entries.agents, evil, gap, 0.2),), (evil,))  # type: ignore[arg-type]  # two
    told = evaluated(entries, retrieval=retrieval, notes=(evil,), unproven=evil, tie_band=evil)
    read = Page(page(told, title=evil, created=evil))
    assert read.faults == []
    assert read.text.count("<script>alert(1)</script>") > 20  # it is there, as text


def test_page_and_json_say_how_agents_differ_in_retrieval(found: Evaluation) -> None:
    gap = Estimate(value=0.25, low=0.125, high=0.5)
    pairs = [("best+v2", EVIL, name, gap, p) for name, p in (("nDCG@5", 0.0004), ("MAP(rel=1)", 0.25))]
    rows = {agent: {"nDCG@5": gap, "MAP(rel=1)": gap} for agent in ("best+v2", EVIL)}
    ranked = replace(found, retrieval=RetrievalTable(rows, tuple(pairs), ("2 of 9 documents",)))
    html = without_labels(page(ranked, title="t", created=""))
    cell = "<b>+.25</b> <span class=quiet>[+.12, +.50]</span>"
    assert f"<td>{cell}<br><span class=quiet>p &lt; .001</span><td>{cell}<br><span class=quiet>p .250</span>" in html
    assert f"<td>best+v2 – {escape(EVIL)}<td>" in html
    assert "2 of 9 documents" in ranked.to_json(None)["notes"]  # type: ignore[operator]  # JSON
    assert "more pairs" not in html
    many = [(f"agent {k}", "other", "nDCG@5", gap, None) for k in range(103)]
    shown = page(replace(found, retrieval=RetrievalTable(rows, tuple(many), ())), title="t", created="")
    assert "3 more pairs" in shown
    assert "retrieval_pairs.csv" in shown


def test_drill_down_shows_what_experts_gave_each_answer_beside_the_judge(found: Evaluation) -> None:
    said = {"ann": [(4, "mostly right"), (2, "")], "bob": [(5, ""), (1, EVIL)], "cy": [(4, "")]}
    rows = [
        {"query_id": f"q{k}", "query": f"Question {k}?", "agent": "best+v2", "answer": f"good {5 - k} by best+v2"}
        | {"annotator": name, "grade": grade, "rationale": why}
        for name, given in said.items()
        for k, (grade, why) in enumerate(given)
    ]
    table = Table("labels", tuple(rows[0]), tuple(rows), tuple(range(1, 6)))
    sheet = Datasheet(scale=Scale(grades=(1, 2, 3, 4, 5), accept_at=4), annotators=("*",))
    graded = read_graded(table, sheet, found.entries)
    cases = {case.item_id: case for case in drilled(replace(found, graded=graded))}
    sides = {query: {side.who: side for side in case.sides} for query, case in cases.items()}
    assert sides["q0"]["best+v2"].texts["experts"] == ("ann: 4 – mostly right", "bob: 5", "cy: 4")
    assert sides["q1"]["best+v2"].texts["experts"] == ("ann: 2", f"bob: 1 – {EVIL}")
    assert graded.scores["q0", "best+v2"] == {"grade": pytest.approx(13 / 3)}  # the mean of the three
    assert graded.scores["q1", "best+v2"] == {"grade": 1.5}  # of two nobody is drawn
    assert sides["q0"]["best+v2"].grade.endswith("; experts 4.33")
    assert all("experts" not in side.texts for side in [*sides["q2"].values(), sides["q0"]["worst"]])
    assert all("experts" not in side.grade for side in [*sides["q2"].values(), sides["q0"]["worst"]])
    html = page(replace(found, graded=graded), title="t", created="")
    assert "ann: 4 – mostly right" in html
    assert Page(html).faults == []


def test_grades_by_query_and_agent_alone_take_texts_from_the_tournament(found: Evaluation) -> None:
    agents = ("best+v2", "worst", "nobody")
    rows = [{"query_id": f"q{k}", "agent": agent, "grade": 5 - k} for k in range(2) for agent in agents]
    table = Table("grades.csv", tuple(rows[0]), tuple(rows), tuple(range(1, 7)))
    sheet = Datasheet(scale=Scale(grades=(1, 2, 3, 4, 5)))
    graded = read_graded(table, sheet, found.entries)
    played = [
        cell for cell in [(f"q{k}", agent) for k in range(2) for agent in agents] if cell in found.entries.answers
    ]
    assert {cell: score["grade"] for cell, score in graded.scores.items()} == {
        (query, agent): 5.0 - int(query[1:]) for query, agent in played
    }
    assert graded.notes[-1].startswith(f"grades.csv: {6 - len(played)} items")
    with pytest.raises(UserError, match="no row is"):
        read_graded(replace(table, rows=({**rows[0], "agent": "nobody"},), lines=(1,)), sheet, found.entries)


def test_answers_that_nobody_graded_do_not_count_as_graded(found: Evaluation) -> None:
    cells = sorted(found.entries.answers)
    rows: list[dict[str, object]] = [
        {"query_id": query, "agent": agent, "ann": 4 + k % 2 if k < 3 else None}
        for k, (query, agent) in enumerate(cells)
    ]
    table = Table("grades.csv", tuple(rows[0]), tuple(rows), tuple(range(1, len(rows) + 1)))
    sheet = Datasheet(scale=Scale(grades=(1, 2, 3, 4, 5)))
    graded = read_graded(table, sheet, found.entries, as_reading(annotators=["ann"]))
    assert len(cells) > 3
    assert set(graded.scores) == set(cells[:3])
    assert graded.notes[0].startswith("grades.csv: 3 answers")
    assert not any("left out" in note and "of others" in note for note in graded.notes)


def test_page_of_an_agent_that_lost_everything_has_an_open_bar_and_no_nan(found: Evaluation) -> None:
    html = page(found, title="t", created="")
    assert math.isnan(found.board.ratings.low[found.board.agents.index("worst")])
    assert "nan" not in html.lower()


def test_leaderboard_shows_what_answers_took_on_the_page_and_last_in_its_csv(found: Evaluation) -> None:
    head, first, *_ = csv_tables(found)["leaderboard"]
    assert head[:2] == ["agent", "rating"]
    assert head[-4:] == ["games", "median_latency_ms", "tokens_per_query", "usd"]
    assert first[-3:] == ["", "", ""]
    assert "median ms" not in page(found, title="t", created="")
    costs = {("q0", "best+v2"): AnswerCost(0.25, 30.0, 0.5), ("q1", "best+v2"): AnswerCost(0.75, 50.0, 0.25)}
    spent = replace(found, entries=replace(found.entries, costs=costs))
    _, best, other, _ = csv_tables(spent)["leaderboard"]
    assert best[0] == "best+v2"
    assert best[-3:] == [500.0, 40.0, 0.75]
    assert other[-3:] == ["", "", ""]
    html = without_labels(page(spent, title="t", created=""))
    board = html[html.index("<h2>Leaderboard") : html.index("<h2>Who beats whom")]
    assert "<th scope=col>median ms<th scope=col>tokens a query<th scope=col>$" in board
    assert "<td>500.0<td>40<td>0.7500" in board


def test_games_csv_gives_rank_the_same_games(found: Evaluation, tmp_path: Path) -> None:
    write_folder(tmp_path / "out", csv_tables(found), {"report.html": "x"})
    games = games_of(read_table(str(tmp_path / "out" / "games.csv")))
    assert games.agents == found.board.agents
    again = make_leaderboard(games, tournaments=10, resamples=50)
    assert again.ratings.rating.tolist() == found.board.ratings.rating.tolist()
    assert (again.games, again.unscored) == (found.board.games, found.board.unscored)


@pytest.mark.parametrize("query", ["q1", "what is it?"])
def test_relevance_grades_are_read_again_as_qrels(found: Evaluation, tmp_path: Path, query: str) -> None:
    grades = {(query, "d1"): 2, (query, "d2"): 0}
    relevance = Relevance(grades, {(query, "d1"): "says it, and more"}, {(query, "d3"): "no reply"}, True, 2)
    judged = replace(found, relevance=relevance)
    write_folder(tmp_path, csv_tables(judged), {"relevance.qrels": qrels_lines(judged)})
    assert read_qrels(str(tmp_path / "relevance.csv")) == grades
    assert read_qrels(str(tmp_path / "relevance.qrels")) == (grades if query == "q1" else {})
    assert "says it, and more" in (tmp_path / "relevance.csv").read_text()
    assert "relevance" not in csv_tables(replace(found, relevance=given(grades)))


def test_folder_of_an_earlier_evaluation_keeps_the_experts_sheet_alone(found: Evaluation, tmp_path: Path) -> None:
    (tmp_path / "retrieval.csv").write_text("of another judge")
    (tmp_path / "sample.csv").write_text("labels")
    (tmp_path / "notes.txt").write_text("mine")
    write_folder(tmp_path, csv_tables(found), {"report.html": "x"}, stale=FILES)
    files = {"report.html", "leaderboard.csv", "win_percent.csv", "games.csv", "answers.csv"}
    assert {path.name for path in tmp_path.iterdir()} == files | {"sample.csv", "notes.txt"}


def test_run_names_the_judge_and_leaves_unknown_numbers_undefined(found: Evaluation, tmp_path: Path) -> None:
    run = run_of(found, folder=tmp_path, started=1.0, ended=2.0)
    assert run.params["program"] == "sensors"
    rating = run.metrics["rating.worst"]
    assert isinstance(rating, Estimate)
    assert (rating.low, rating.value is not None) == (None, True)
    assert run.metrics["test.tau_b"] == Estimate(value=0.6, low=0.5, high=0.7)
    best = found.board.ratings.rating[found.board.agents.index("best+v2")]
    assert run.version_tags["rating.best+v2"] == f"{best:.1f}"


def test_run_shows_the_judge_and_the_five_best_agents_of_many(found: Evaluation, tmp_path: Path) -> None:
    run = run_of(found, folder=tmp_path, started=1.0, ended=2.0)
    headline = known(run.headline)
    assert {f"{kind}.{agent}" for kind in ("rating", "elo") for agent in ("worst", EVIL)} <= set(headline)
    assert headline["games"] == 11
    assert "average_win_percent.worst" in headline  # there are few: all are shown
    many = evaluated(league({f"a{n}": [5 - n % 5, n % 4, 3, 4, 5 - n % 3] for n in range(9)}))
    large = run_of(many, folder=tmp_path, started=1.0, ended=2.0)
    shown = list(known(large.headline))
    assert len(shown) == MOST_SHOWN
    best = sorted(many.board.rows(), key=lambda row: -(row.rated.value or 0.0))
    assert shown[:3] == ["test.tau_b", "games", "unscored"]  # accepts are undefined
    assert shown[3:13:2] == [f"rating.{row.agent}" for row in best[:SHOWN]]
    assert {f"rating.{row.agent}" for row in best} <= set(large.metrics)
    assert len(large.rated) == 12


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"test": {"tau_b": Estimate(value=1.0, note="no interval: leaving any cluster out gives the same")}}, ""),
        ({"promoted": False}, "not shown"),
        ({"test": {"tau_b": Estimate(value=0.2, low=0.0, high=0.4)}}, "tau-b touches 0"),
        ({"test": {"tau_b": Estimate(value=None, note="all equal")}}, "touches 0"),
        (
            {
                "objective": "tau_b+accept",
                "test": {"tau_b": Estimate(value=0.6, low=0.5), "accept_agreement": Estimate(value=0.1, low=-0.1)},
            },
            "accept agreement touches 0",
        ),
    ],
)
def test_judge_is_unproven_unless_promoted_with_an_interval_above_0(changes: dict[str, object], said: str) -> None:
    why = why_unproven(make_card(**changes))
    assert said in why
    assert bool(why) == bool(said)


def test_grades_of_experts_correct_the_judge_and_lead() -> None:
    scale = Scale(grades=(1, 2, 3, 4, 5), accept_at=4)
    entries = league({"good": [5, 4] * 20, "poor": [2, 1] * 20})
    whole = evaluated(entries)
    rows: list[dict[str, object]] = [
        {"query_id": f"q{k}", "agent": agent, "grade": str(grade)}
        for k in range(20)
        for agent, grade in (("good", 5 - k % 2), ("poor", 2))
    ]
    table = Table("grades.csv", ("query_id", "agent", "grade"), tuple(rows), tuple(range(2, 2 + len(rows))))
    graded = read_graded(table, Datasheet(task="grade", scale=scale), entries)
    systems = compared_agents("w@1", whole.marks, whole.played, graded, learned=())
    good = systems.systems["good"]
    assert (good.n, good.labelled, systems.statistic) == (40, 20, "accept_rate")
    assert (good.figures["accept_rate"].experts.value, good.figures["mean"].judge.value) == (1.0, 4.5)
    unknown = compared_agents("w@1", whole.marks, whole.played, graded, learned={"q0"})
    assert unknown.systems["good"].labelled == 20
    judged = replace(whole, systems=systems, graded=graded)
    report = judged.to_json(None)
    assert report["systems"] == systems.to_json()
    html = page(judged, title="t", created="")
    assert Page(html).faults == []
    assert html.index("good is best") < html.index("<svg") < html.index("Leaderboard</h2>")
    run = run_of(judged, folder=Path("evaluation"), started=0.0, ended=1.0)
    assert run.metrics["accept_rate.good"] == good.figures["accept_rate"].corrected
    games = compared_agents("w@1", {}, whole.played, graded, learned=())
    assert (games.statistic, games.systems["good"].figures["win_rate"].experts.value) == ("win_rate", 1.0)
