"""``judgec agreement`` as a user runs it, against SciPy and scikit-learn on the same file."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from judgec.records.estimate import Estimate
from judgec.report.numbers import show
from judgec.stats.agreement.registry import STATISTICS
from tests.verbs.cli.process import judgec, judgec_here


def table(path: Path, header: list[str], rows: list[list[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


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
    columns = [
        "--annotators",
        "Expert [x]",
        "--judges",
        "Jüdge [/b]",
        "--score",
        "p*5",
        "--cluster",
        "Frage",
        "--grades",
        "1..5",
    ]
    done = judgec(tmp_path, "agreement", file.name, *columns, "--json")
    assert done.stderr == ""
    found = json.loads(done.stdout)["judges"]["Jüdge [/b]"]
    e, j, s = expert[~lost], judge[~lost], score[~lost].round(6)
    wanted = {
        "tau_b": stats.kendalltau(e, j).statistic, "tau_b_score": stats.kendalltau(e, s).statistic,
        "spearman": stats.spearmanr(e, s).statistic, "exact": (e == j).mean(),
        "accept_agreement": ((e >= 4) == (j >= 4)).mean(), "kappa": cohen_kappa_score(e, j),
        "qwk": cohen_kappa_score(e, j, weights="quadratic", labels=[1, 2, 3, 4, 5]),
    }  # fmt: skip
    assert {name: found[name]["value"] for name in STATISTICS if name != "auc"} == pytest.approx(wanted)
    assert all(found[name]["low"] < wanted[name] < found[name]["high"] for name in wanted)
    assert found["auc"] == {"value": None, "low": None, "high": None, "note": "the labels are not binary"}
    assert found["bland_altman"]["bias"] == pytest.approx((j - e).mean())
    assert found["reject_rate"] == pytest.approx({"expert": (e < 4).mean(), "judge": (j < 4).mean()})
    clusters = {k // 3 for k in range(90) if not lost[k]}
    assert (found["n"], found["unscored"], found["n_clusters"]) == ((~lost).sum(), lost.sum(), len(clusters))
    assert set(found) == {*STATISTICS, "bland_altman", "reject_rate", "n", "n_clusters", "unscored"}


def test_screen_is_one_table_of_judge_and_experts_and_v_prints_every_statistic(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows: list[list[object]] = []
    for k in range(90):
        rated = [int(np.clip(1 + k % 5 + rng.integers(-1, 2), 1, 5)) for _ in range(4)]
        rows.append([f"q{k // 3}", f"a{k}", *rated])
    table(tmp_path / "t.csv", ["query", "answer", "ann", "bob", "cem", "gpt"], rows)
    columns = ["--annotators", "ann,bob,cem", "--judges", "gpt", "--best", "5"]
    found = json.loads(judgec_here(tmp_path, "agreement", "t.csv", *columns, "--json").stdout)["judges"]["gpt"]
    short, full = (judgec_here(tmp_path, "agreement", "t.csv", *columns, *more) for more in ((), ("-v",)))
    verdict, *_ = short.stderr.splitlines()
    for side in (found, found["ceiling"]):
        assert f"{100 * side['accept_agreement']['value']:.0f} % [" in verdict
        assert f"tau-b {show(Estimate(**side['tau_b']))}" in verdict
    assert ("kappa" in short.stdout, "kappa" in full.stdout) == (False, True)
    assert len((short.stdout + short.stderr).splitlines()) <= 24
    assert short.stderr.splitlines()[-1] == f"Next: judgec compile-judge t.csv {' '.join(columns)}"
    assert "by query: 30 in 90" in full.stderr
