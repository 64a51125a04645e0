"""``labels FILE --pool``: agents in pairs, by what people graded."""

from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from judgec.errors import UserError
from judgec.verbs.check_labels import check_labels
from judgec.verbs.options.labels import LabelsOptions
from tests.compile.small import write


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def test_agents_are_tested_in_pairs_by_the_labels_alone(tmp_path: Path) -> None:
    rows = [
        {"query": f"How deep is lake {n}?", "answer": f"{n} m by {agent}", "agent": agent, "grade": grade}
        for n in range(12)
        for agent, grade in (("rag-a", 4 + n % 2), ("rag-b", 3 + n % 2), ("fusion-a", 1 + n % 3))
    ]
    file = write(tmp_path / "labels.jsonl", rows)
    _, report, _ = check_labels(LabelsOptions(file=str(file), pool=("rag=rag-*,fusion=fusion-*",), home=tmp_path))

    tests: dict[tuple[str, ...], Any] = {tuple(map(str, _list(one["agents"]))): one for one in report["agent_tests"]}
    assert list(tests) == [("fusion-a", "rag-a"), ("fusion-a", "rag-b"), ("rag-a", "rag-b"), ("rag", "fusion")]
    assert tests["rag", "fusion"]["means"] == [4.0, 2.0]
    paired = stats.ttest_rel([4 + n % 2 - 0.5 for n in range(12)], [1 + n % 3 for n in range(12)])
    assert tests["rag", "fusion"]["paired_t"]["p"] == pytest.approx(paired.pvalue)
    bare = write(tmp_path / "bare.jsonl", [{k: v for k, v in row.items() if k != "agent"} for row in rows])
    with pytest.raises(UserError, match="the labels name no agent"):
        check_labels(LabelsOptions(file=str(bare), pool=("rag=rag-*,fusion=fusion-*",), home=tmp_path))
