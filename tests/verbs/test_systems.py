"""``judgec.systems``: tables of every shape become rows to compare; what is shown, what is refused, what is logged."""

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import judgec
from judgec.errors import JudgecError, UserError
from judgec.lm.watch import Silent
from judgec.raters.judge import JudgeTree
from judgec.raters.programs import Program
from judgec.raters.tree import Calibrated, RecordedLeaf
from judgec.records.estimate import Estimate
from judgec.records.scale import Scale
from judgec.report.report import write_page
from judgec.stats.systems.rows import PairRows, SystemRows
from judgec.tournament.files.reading import Sources
from judgec.tournament.gate import parse_gate
from judgec.verbs.evaluate import _require_asked
from judgec.verbs.next_labels import choose_for_systems, whole_queries
from judgec.verbs.options.labels import NextOptions
from judgec.verbs.options.systems import SystemsOptions
from judgec.verbs.system_rows import JudgedSystems, read_systems
from judgec.verbs.systems import _held, systems_report
from judgec.verbs.tournament_judges import TournamentJudge, TournamentJudges
from judgec.verbs.whom import as_loaded
from tests.compile.small import compiled_from, write
from tests.records.test_card import make_card
from tests.service import grading_world
from tests.verbs.cli.process import judgec as command

Row = dict[str, Any]
QUERIES = 120
SHARE = {"new": 9, "mid": 7, "old": 3}  # of ten answers those that are good
HOW: Row = {"annotators": ("human",), "judges": {"gpt": ""}, "best": "1", "accept_at": "1"}


def answers(labelled: int = 4) -> list[Row]:
    """A judge that errs now and then on all rows; people on every so-manieth query."""
    rng = np.random.default_rng(5)
    rows = []
    for q in range(QUERIES):
        for agent, share in SHARE.items():
            good = int(rng.integers(10) < share)
            rows.append(
                {"query": f"question {q}", "agent": agent, "answer": f"{agent} on {q}"}
                | {"human": good if q % labelled == 0 else None, "gpt": good ^ int(rng.random() < 0.15)}
            )
    return rows


ANSWERS = answers()


def games() -> list[Row]:
    """Two systems a row; the judge likes the first one shown a little too much."""
    rng = np.random.default_rng(6)
    rows = []
    for q in range(QUERIES):
        for a, b, share in (("new", "old", 0.85), ("mid", "new", 0.3), ("old", "mid", 0.3)):
            winner = "a" if rng.random() < share else "b"
            said = winner if rng.random() < 0.8 else "a"
            rows.append(
                {"query": f"q{q}", "agent_a": a, "agent_b": b, "human": winner if q % 3 == 0 else "", "gpt": said}
            )
    return rows


def read(rows: list[Row] | Path, **how: Any) -> JudgedSystems:
    return read_systems(SystemsOptions(file=str(rows) if isinstance(rows, Path) else rows, **{**HOW, **how}), Silent())


def only(found: JudgedSystems) -> Any:  # either kind of rows
    (rows,) = found.rows.values()
    return rows


def test_answers_become_rows_with_accepts_and_grades() -> None:
    found = read(ANSWERS)
    rows: SystemRows = only(found)
    assert (rows.names, len(rows.query), len({*rows.query.tolist()})) == (("mid", "new", "old"), 360, QUERIES)
    assert (~np.isnan(rows.expert)).sum() == 90
    assert rows.accept is not None
    assert rows.accept[0].tolist() == [row["gpt"] for row in ANSWERS]
    assert [rows.names[one] for one in rows.system.tolist()[:3]] == ["new", "mid", "old"]


def test_several_annotators_are_a_mean_and_a_share_of_accepts() -> None:
    graded = [
        {**row, "ann": 1 + n % 5 if n % 2 else None, "bob": 5 - n % 3 if n % 2 else None, "gpt": 1 + n % 5}
        for n, row in enumerate(ANSWERS[:60])
    ]
    rows: SystemRows = only(read(graded, annotators=("ann", "bob"), best="5", accept_at="4"))
    assert rows.expert[1] == (2 + 4) / 2
    assert rows.accept is not None
    assert rows.accept[1][1] == 0.5
    assert np.isnan(rows.expert[0])


def test_aspects_are_averaged_and_an_unscored_row_is_no_zero() -> None:
    graded = [
        {
            "query_id": row["query"],
            "agent": row["agent"],
            "human.a": 2,
            "human.b": 4,
            "gpt.a": 1,
            "gpt.b": None if n else 3,
        }
        for n, row in enumerate(ANSWERS[:30])
    ]
    found = read(graded, best=None, accept_at=None, grades=("1", "2", "3", "4", "5"))
    rows: SystemRows = only(found)
    assert (rows.expert[0], rows.judge[0], rows.accept) == (3.0, 2.0, None)
    assert np.isnan(rows.judge[1])
    assert any("2 aspects" in note for note in found.notes)


def test_pairs_become_points_of_the_first() -> None:
    read_of = read(games(), best=None, accept_at=None)
    rows: PairRows = only(read_of)
    assert isinstance(rows, PairRows)
    assert rows.names == ("mid", "new", "old")
    assert {*rows.judge.tolist()} == {0.0, 1.0}
    assert (~np.isnan(rows.expert)).sum() == 120
    assert read_of.compared().statistic == "win_rate"


def test_rows_that_a_judge_was_unsure_of_are_marked() -> None:
    rows = only(read([{**row, "stratum": "uncertain" if n < 7 else "random"} for n, row in enumerate(ANSWERS)]))
    assert rows.chosen.sum() == 7
    assert only(read(ANSWERS)).chosen is None


@pytest.mark.parametrize(
    ("rows", "how", "named"),
    [
        ([{**row, "agent": None} for row in ANSWERS], {}, "--map COLUMN=agent"),
        ([row for row in ANSWERS if row["agent"] == "new"], {}, "one system, new"),
        ([{name: row[name] for name in ("agent", "human", "gpt")} for row in ANSWERS], {}, "--map COLUMN=query"),
        (ANSWERS, {"judges": {}}, "--judges COLUMN"),
        (ANSWERS, {"judges": {"gpt5": ""}}, "gpt5"),
        ([{**row, "human": None} for row in ANSWERS], {}, "no row of 360 has a label"),
        (ANSWERS, {"best": None, "accept_at": None, "grades": ("2", "3")}, "not on scale"),
        ([{**row, "gpt": 10 * n % 101} for n, row in enumerate(ANSWERS)], {}, "--judges gpt=WORST..BEST"),
        (
            [{**row, "human": row["human"] and "red", "gpt": "red"} for row in ANSWERS],
            {"best": "none", "accept_at": None},
            "without an order",
        ),
        (ANSWERS, {"gate": "new>=newest-.05"}, "with two of mid, new, old"),
        (ANSWERS, {"gate": "new>=old-1"}, "between -1 and 1"),
        (ANSWERS, {"judge": "mine"}, "load_judge"),
    ],
)
def test_bad_input_is_one_clear_error(rows: list[Row], how: Row, named: str, tmp_path: Path) -> None:
    with pytest.raises(JudgecError, match=re.escape(named)) as error:
        judgec.systems(rows, home=tmp_path, **{**HOW, **how})
    assert str(error.value).count("\n") == 0 or "not on scale" in named


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[judgec.ComparedSystems, Path]:
    home = tmp_path_factory.mktemp("systems")
    found = judgec.systems(pd.DataFrame(ANSWERS), home=home, gate="new>=old-.05", **HOW)
    return found, home


@pytest.mark.parametrize(("gate", "verdict"), [("new>=old", "passed"), ("old>=new", "failed")])
def test_gate_says_what_the_letters_say_where_an_interval_ends_at_zero(
    compared: tuple[judgec.ComparedSystems, Path], gate: str, verdict: str
) -> None:
    """Holm shows some pairs whose common interval reaches over 0; it is cut there."""
    found = compared[0].found
    at_zero = Estimate(value=0.2, low=0.0, high=0.4)
    pairs = tuple(replace(one, difference=at_zero) if one.b == "old" else one for one in found.pairs if one.a == "new")
    assert _held(replace(found, pairs=pairs), parse_gate(gate, found.systems), gate).verdict == verdict


def test_best_system_is_named_and_the_gate_held(compared: tuple[judgec.ComparedSystems, Path]) -> None:
    found, _ = compared
    assert found.best[0] == "new"
    assert "old" not in found.best
    assert found.gate is not None
    assert found.gate.verdict == "passed"
    rows: Row = found.table.to_dict("index")  # type: ignore[assignment]  # names of systems
    assert rows["new"]["accept_rate.corrected"] > rows["old"]["accept_rate.corrected"]
    assert rows["old"]["labelled"] == 30
    (pair,) = found.pairs.query("a == 'new' and b == 'old'").to_dict("records")
    assert pair["shown"]
    assert pair["low"] > 0
    assert "new" in repr(found)
    assert "<svg" in found._repr_html_()


def test_report_has_the_keys_that_programs_read(compared: tuple[judgec.ComparedSystems, Path]) -> None:
    report = json.loads(json.dumps(compared[0].report, allow_nan=False))
    keys = {"systems", "statistic", "judge", "judges", "pairs", "letters", "favours", "needed", "weight", "notes"}
    assert keys <= report.keys()
    assert {"n", "labelled", "accept_rate", "mean"} == report["systems"]["new"].keys()
    assert {"experts", "judge", "corrected", "corrected_these_rows"} == report["systems"]["new"]["mean"].keys()
    assert {"a", "b", "difference", "low", "high", "p", "shown"} == report["pairs"][0].keys()
    assert report["statistic"] == "accept_rate"
    assert report["gate"]["verdict"] == "passed"


def test_run_in_mlflow_has_a_metric_a_system_and_the_page(compared: tuple[judgec.ComparedSystems, Path]) -> None:
    found, home = compared
    with closing(sqlite3.connect(home / "mlruns" / "mlflow.db")) as database:
        rows = database.execute("SELECT key, value FROM latest_metrics WHERE run_uuid = ?", (found.run_id,)).fetchall()
    metrics = dict(rows)
    assert metrics["accept_rate.new"] == found.found.systems["new"].figures["accept_rate"].corrected.value
    assert {
        f"{kind}.{name}{end}" for kind in ("accept_rate", "mean") for name in SHARE for end in ("", ".low", ".high")
    } <= {*metrics}
    assert list((home / "mlruns").rglob("report.html"))


def test_page_has_the_drawing_after_the_verdict(compared: tuple[judgec.ComparedSystems, Path], tmp_path: Path) -> None:
    write_page(systems_report(compared[0]), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.index('class="verdict') < text.index("<svg")
    assert text.count("<circle") >= 2 * len(SHARE)


def test_command_line_of_a_table_that_people_have(tmp_path: Path) -> None:
    frame = pd.DataFrame(ANSWERS).rename(columns={"agent": "system", "human": "expert", "gpt": "judge"})
    frame.to_csv(tmp_path / "t.csv", index=False)
    typed = ("--map", "system=agent", "--annotators", "expert", "--judges", "judge", "--best", 1, "--accept-at", 1)
    done = command(tmp_path, "systems", "t.csv", *typed)
    assert done.stderr.index("new") < done.stderr.index("share a letter")
    shut = command(tmp_path, "systems", "t.csv", *typed, "--gate", "old>=new", "--junit", "gate.xml", "--json", code=1)
    assert json.loads(shut.stdout)["gate"]["verdict"] == "failed"
    assert "failure" in (tmp_path / "gate.xml").read_text(encoding="utf-8")


def test_draw_of_whole_queries_is_random_and_no_larger_than_asked() -> None:
    items = [item for item, _ in read(ANSWERS).unlabelled]
    assert len(items) == 270
    picks = whole_queries(items, 31)
    assert len(picks) == 30
    assert {pick.probability for pick in picks} == {10 / 90}
    assert len({pick.item.query_id for pick in picks}) == 10
    assert picks == whole_queries(items, 31)
    assert picks != whole_queries(items, 31, seed=1)
    assert len(whole_queries(items, 1)) == 3  # one query at least
    assert len(whole_queries(items, 999)) == 270


def test_next_labels_for_systems_are_of_those_that_are_not_told_apart(tmp_path: Path) -> None:
    rows = [{**row, "agent": {"new": "same"}.get(row["agent"], row["agent"])} for row in ANSWERS]
    rows += [{**row, "agent": "other", "answer": f"other {n}"} for n, row in enumerate(rows) if row["agent"] == "same"]
    options = NextOptions(
        file=str(write(tmp_path / "rows.jsonl", rows)), next=12, for_="systems", out=tmp_path / "next.csv", **HOW
    )
    found = choose_for_systems(options, Silent())
    assert {"other", "same"} <= {*found.systems}
    assert "old" not in found.systems
    sheet = pd.read_csv(found.out)
    assert "agent" not in sheet
    assert {pick.item.agent for pick in found.picks} == {*found.systems}
    assert sheet["grade"].isna().all()
    assert sheet.groupby("query_id").size().eq(len(found.systems)).all()
    assert 'seed = "0"' in found.datasheet.read_text(encoding="utf-8")


@pytest.mark.full
def test_judged_file_counts_what_its_judge_learned_from_out_of_fold(tmp_path: Path) -> None:
    labelled = [dict(row) for row in grading_world.rows(80, per_query=2)]
    for n, row in enumerate(labelled):
        row["agent"] = ("one", "two")[n % 2]
    compiled_from(tmp_path, labelled, name="w", accept_at="4", lm="embedded", folds=5)
    table = [{**row, "human": row["grade"]} for row in labelled]
    for row in table:
        del row["grade"]
    file = write(tmp_path / "items.jsonl", table)
    how: Row = {"annotators": ("human",), "judges": {}, "best": "5", "accept_at": "4"}
    found = read(file, judge="w@1", home=tmp_path, **how)
    assert list(found.rows) == ["w@1"]
    rows: SystemRows = only(found)
    assert not np.isnan(rows.judge).any()
    assert any("out-of-fold" in note for note in found.notes)
    judged = pd.read_json(tmp_path / "items.judged.jsonl", lines=True)
    assert judged["learned"].all()
    assert not np.allclose(rows.judge, judged["score"])
    again = only(read(tmp_path / "items.judged.jsonl", home=tmp_path, **how))
    assert np.array_equal(again.judge, rows.judge)
    strangers = only(read(tmp_path / "items.judged.jsonl", home=tmp_path / "elsewhere", **how))
    assert np.isnan(strangers.judge).all()
    assert not np.isnan(strangers.expert).any()


def test_setup_of_such_a_table_says_which_command_answers_it(tmp_path: Path) -> None:
    pd.DataFrame(ANSWERS[:120]).to_csv(tmp_path / "t.csv", index=False)
    typed = ("--annotators", "human", "--judges", "gpt", "--best", 1, "--accept-at", 1)
    said = command(tmp_path, "init", "t.csv", *typed)
    assert "systems t.csv" in said.stderr
    found = read_systems(SystemsOptions(file=str(tmp_path / "t.csv"), **HOW), Silent())
    assert len(found.items) == 120


def test_tournament_with_recorded_verdicts_is_refused_with_the_command_that_answers(tmp_path: Path) -> None:
    card = make_card(task="grade", scale=Scale(grades=(1, 2, 3, 4, 5)), fields=("answer", "query"))
    leaf = RecordedLeaf(name="gpt", verdicts="recorded:columns")
    program = Program(card, JudgeTree(Calibrated(of=leaf), card.task, card.scale, card.aspects).saved(), {}, {})
    one = TournamentJudge(**vars(as_loaded(program)), unproven="")
    answered = Sources(answers=((str(tmp_path / "t.csv"), ""),))
    with pytest.raises(UserError, match=rf"judgec systems {tmp_path}/t.csv"):
        _require_asked(TournamentJudges((one,)), answered)
