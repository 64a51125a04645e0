"""Agreement figures published with real labels, from the labels themselves."""

import json
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from judgec.records.label import IntArray
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.statistic import table_statistic
from judgec.stats.intervals.jackknife import interval
from tests.stats.side_by_side import side_by_side

DATA = Path("../shared/data")
OUTCOMES = ("a", "tie", "b")


def rows(path: Path) -> list[dict[str, str | None]]:
    if not path.exists():
        pytest.skip(f"{path} is absent: published agreement figures are NOT checked; put the labels beside")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def pandalm() -> tuple[IntArray, IntArray, IntArray, dict[str, IntArray]]:
    """Majority, GPT-3.5 (-1 where unreadable) and cluster of each item, and the annotators' grades."""
    by_item: dict[str, dict[str, int]] = defaultdict(dict)
    query: dict[str, str] = {}
    for row in rows(DATA / "labels/pandalm_preference.jsonl"):
        item, annotator = str(row["item_id"]), str(row["annotator"])
        by_item[item][annotator] = OUTCOMES.index(str(row["preference"]))
        query[item] = str(row["query_id"])
    recorded = {str(row["item_id"]): row["gpt-3.5-turbo"] for row in rows(DATA / "recorded/pandalm_judges.jsonl")}
    items = sorted(by_item)
    majority = np.array([Counter(by_item[item].values()).most_common(1)[0][0] for item in items])
    judge = np.array([-1 if (said := recorded[item]) is None else OUTCOMES.index(said) for item in items])
    cluster = np.unique([query[item] for item in items], return_inverse=True)[1]
    names = sorted(by_item[items[0]])
    return (
        majority,
        judge,
        cluster,
        {name: np.array([by_item[item][name] for item in items]) for name in names},
    )


def test_kappas_of_the_pandalm_annotators_equal_the_published_ones() -> None:
    _, _, cluster, annotators = pandalm()
    first, second, third = annotators.values()
    kappas = [
        table_statistic("kappa", one, other, cluster, n_grades=3).point()
        for one, other in ((first, second), (first, third), (second, third))
    ]
    assert sorted(round(kappa, 2) for kappa in kappas) == [0.85, 0.86, 0.88]


def test_agreement_of_recorded_gpt35_equals_the_published_one() -> None:
    majority, judge, cluster, _ = pandalm()
    published = np.where(judge < 0, 1, judge)  # the paper counts unreadable replies as ties
    exact, kappa = (table_statistic(name, majority, published, cluster, n_grades=3) for name in ("exact", "kappa"))
    assert exact.point() == pytest.approx(0.711, abs=0.0005)
    assert kappa.point() == pytest.approx(0.496, abs=0.0005)
    found = interval(kappa)
    assert found.n_clusters == 170
    assert found.low is not None
    assert found.high is not None
    # Wider than the 2 * 1.96 * .0234 = .092 of independent pairs: answers to one query go wrong together.
    assert 0.11 < found.high - found.low < 0.15


def test_unreadable_replies_lower_the_objectives_of_recorded_gpt35() -> None:
    majority, judge, cluster, _ = pandalm()
    scored = judge >= 0
    assert (~scored).sum() == 25
    compared = side_by_side(majority, judge, majority, judge, cluster, 3, 170)
    for name in ("exact", "kappa"):
        plain = table_statistic(name, majority[scored], judge[scored], cluster[scored], n_grades=3).point()
        assert plain - 0.04 < parse_objective(name).value(compared) < plain
