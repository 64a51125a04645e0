"""``judgec agreement`` as a user runs it, against SciPy and scikit-learn on the same file."""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from judgec.records.estimate import Estimate
from judgec.report.numbers import show
from judgec.stats.agreement.registry import STATISTICS
from tests.verbs.cli.process import ROOT, judgec, judgec_here

RECORDED = ROOT.parent / "shared" / "data" / "recorded" / "pandalm_judges.jsonl"


def table(path: Path, header: list[str], rows: list[list[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def test_area_under_the_curve_stands_beside_tau_and_rho_for_binary_labels(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    expert = rng.integers(0, 2, 80)
    score = np.clip(expert + rng.normal(0, 0.8, 80), -1, 2).round(6)
    rows: list[list[object]] = [
        [f"q{k // 2}", int(e), int(s > 0.5), f"{s:.6f}"] for k, (e, s) in enumerate(zip(expert, score, strict=True))
    ]
    table(tmp_path / "judged.csv", ["query_id", "expert", "judge", "score"], rows)
    columns = ["--expert", "expert", "--judge", "judge", "--score", "score", "--cluster", "query_id"]
    found = json.loads(judgec(tmp_path, "agreement", "judged.csv", *columns, "--json").stdout)
    assert found["auc"]["value"] == pytest.approx(roc_auc_score(expert, score))
    assert 0.5 < found["auc"]["low"] < found["auc"]["value"] < found["auc"]["high"] < 1
    assert "AUC" in judgec(tmp_path, "agreement", "judged.csv", *columns, "-v").stdout


def test_json_equals_scipy_and_sklearn_on_odd_columns_with_clusters_and_unscored_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    expert = rng.choice([1, 2, 4, 5], 90, p=[0.1, 0.2, 0.3, 0.4])  # nobody gives a 3
    judge = np.clip(expert + rng.integers(-1, 2, 90), 1, 5)
    lost = rng.random(90) < 0.2
    score = judge + rng.normal(0, 0.2, 90)
    rows: list[list[object]] = [
        [f"q{k // 3}", int(e), "" if gone else int(j), "" if gone else f"{s:.6f}"]
        for k, (e, j, s, gone) in enumerate(zip(expert, judge, score, lost, strict=True))
    ]
    file = table(tmp_path / "näme [1].csv", ["Frage", "Expert [x]", "Jüdge [/b]", "p*5"], rows)
    columns = ["--expert", "Expert [x]", "--judge", "Jüdge [/b]", "--score", "p*5", "--cluster", "Frage"]
    done = judgec(tmp_path, "agreement", file.name, *columns, "--json")
    assert done.stderr == ""
    found = json.loads(done.stdout)
    e, j, s = expert[~lost], judge[~lost], score[~lost].round(6)
    wanted = {
        "tau_b": stats.kendalltau(e, j).statistic,
        "tau_b_score": stats.kendalltau(e, s).statistic,
        "spearman": stats.spearmanr(e, s).statistic,
        "exact": (e == j).mean(),
        "accept_agreement": ((e >= 4) == (j >= 4)).mean(),
        "kappa": cohen_kappa_score(e, j),
        "qwk": cohen_kappa_score(e, j, weights="quadratic", labels=[1, 2, 3, 4, 5]),
    }
    assert {name: found[name]["value"] for name in STATISTICS if name != "auc"} == pytest.approx(wanted)
    assert all(found[name]["low"] < wanted[name] < found[name]["high"] for name in wanted)
    assert found["auc"] == {"value": None, "low": None, "high": None, "note": "the labels are not binary"}
    assert found["bland_altman"]["bias"] == pytest.approx((j - e).mean())
    assert found["reject_rate"] == pytest.approx({"expert": (e < 4).mean(), "judge": (j < 4).mean()})
    clusters = {k // 3 for k in range(90) if not lost[k]}
    assert (found["n"], found["unscored"], found["n_clusters"]) == ((~lost).sum(), lost.sum(), len(clusters))
    assert set(found) == {*STATISTICS, "bland_altman", "reject_rate", "n", "n_clusters", "unscored"}


@pytest.mark.full
def test_people_see_the_table_under_the_names_of_their_columns(tmp_path: Path) -> None:
    file = table(tmp_path / "t.csv", ["e [1]", "j [/b]"], [["good", "bad"], ["bad", "bad"], ["ugly", ""]] * 8)
    done = judgec(tmp_path, "agreement", file.name, "--expert", "e [1]", "--judge", "j [/b]", "-v")
    assert "j [/b] against e [1], t.csv" in done.stdout
    assert "exact" in done.stdout
    assert "note: classes without an order: bad, good, ugly" in done.stderr


def test_screen_is_one_table_of_judge_and_experts_and_v_prints_every_statistic(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows: list[list[object]] = []
    for k in range(90):
        rated = [int(np.clip(1 + k % 5 + rng.integers(-1, 2), 1, 5)) for _ in range(4)]
        rows.append([f"q{k // 3}", f"a{k}", *rated])
    table(tmp_path / "t.csv", ["query", "answer", "ann", "bob", "cem", "gpt"], rows)
    columns = ["--annotators", "ann,bob,cem", "--judge", "gpt"]
    found = json.loads(judgec_here(tmp_path, "agreement", "t.csv", *columns, "--json").stdout)
    short = judgec_here(tmp_path, "agreement", "t.csv", *columns)
    verdict, *_ = short.stderr.splitlines()
    for side in (found, found["ceiling"]):
        assert f"{100 * side['accept_agreement']['value']:.0f} % [" in verdict
        assert f"tau-b {show(Estimate(**side['tau_b']))}" in verdict
    assert "gpt, one annotator left out" in short.stdout
    assert "experts, each against the others" in short.stdout
    assert "kappa" not in short.stdout
    assert len((short.stdout + short.stderr).splitlines()) <= 24
    assert short.stderr.splitlines()[-2] == "every statistic, 1 note on how the file was read: -v"
    assert short.stderr.splitlines()[-1] == "Next: judgec init t.csv"
    full = judgec_here(tmp_path, "agreement", "t.csv", *columns, "-v")
    assert "kappa" in full.stdout
    assert "clustered by query: 30 in 90 rows" in full.stderr


def test_several_judges_stand_in_the_order_of_the_headline_statistic(tmp_path: Path) -> None:
    rows: list[list[object]] = [[1 + k % 5, 1 + k % 5 if k % 3 else 1, 1 + k % 5 if k % 9 else 1] for k in range(90)]
    table(tmp_path / "t.csv", ["human", "worse", "better"], rows)
    done = judgec_here(tmp_path, "agreement", "t.csv", "--expert", "human", "--judge", "worse", "--judge", "better")
    assert done.stderr.startswith("Of 2 judges better agrees most: ")
    assert done.stdout.index("better ") < done.stdout.index("worse ")


@pytest.mark.full
def test_off_one_to_five_accepts_are_null_with_the_option_that_names_a_threshold(tmp_path: Path) -> None:
    file = table(tmp_path / "t.csv", ["e", "j"], [[k % 4, (k * 7) % 4] for k in range(40)])
    command = ["agreement", file.name, "--expert", "e", "--judge", "j", "--json"]
    without = json.loads(judgec(tmp_path, *command).stdout)
    assert without["accept_agreement"]["value"] is None
    assert "--accept-at" in without["accept_agreement"]["note"]
    assert without["reject_rate"] == {"expert": None, "judge": None}
    named = json.loads(judgec(tmp_path, *command, "--accept-at", "2").stdout)
    agree = np.mean([(k % 4 >= 2) == ((k * 7) % 4 >= 2) for k in range(40)])
    assert named["accept_agreement"]["value"] == pytest.approx(agree)


@pytest.mark.full
@pytest.mark.parametrize(
    ("columns", "seen"),
    [
        (["--expert", "x", "--judge", "j"], "--expert x: no such column; there are e, j"),
        (["--expert", "e", "--judge", "j", "--accept-at", "high"], "--accept-at high: not a number"),
    ],
)
def test_bad_usage_exits_two_with_nothing_on_stdout(tmp_path: Path, columns: list[str], seen: str) -> None:
    file = table(tmp_path / "t.csv", ["e", "j"], [[1, 2], [2, 1]])
    done = judgec(tmp_path, "agreement", file.name, *columns, "--json", code=2)
    assert done.stdout == ""
    assert seen in done.stderr


@pytest.mark.full
@pytest.mark.skipif(not RECORDED.exists(), reason=f"real judge outputs are NOT checked: {RECORDED} is absent")
@pytest.mark.parametrize("judge", ["gpt-3.5-turbo", "pandalm-7b"])
def test_recorded_judge_of_real_pairs_has_sklearns_kappa_and_its_unscored_rows_counted(
    tmp_path: Path, judge: str
) -> None:
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for line in (RECORDED.parents[1] / "labels" / "pandalm_preference.jsonl").read_text().splitlines():
        row = json.loads(line)
        votes[row["item_id"]][row["preference"]] += 1
    said = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    rows = [[votes[row["item_id"]].most_common(1)[0][0], row[judge]] for row in said]
    file = table(tmp_path / "t.csv", ["majority", judge], rows)
    done = judgec(tmp_path, "agreement", file.name, "--expert", "majority", "--judge", judge, "--json")
    found = json.loads(done.stdout)
    scored = [(expert, label) for expert, label in rows if label is not None]
    assert (found["n"], found["unscored"]) == (len(scored), len(rows) - len(scored))
    assert found["kappa"]["value"] == pytest.approx(cohen_kappa_score(*zip(*scored, strict=True)))
    assert found["tau_b"]["value"] is None
