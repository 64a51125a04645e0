"""A task that an installed plugin brings does everything that a task of the package does."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.records.tasks.plugin import install, rows, write

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:  # JSON
    """What a process says in which the distribution "judgec-politeness" is installed."""
    home = tmp_path_factory.mktemp("politeness")
    site = install(home / "site")
    write(home / "manners.jsonl", rows(72))
    (home / "manners.datasheet.toml").write_text('annotators = ["*"]\n')
    new = [{key: row[key] for key in ("query", "answer", "polite")} for row in rows(84)[144::2]]
    write(home / "items.jsonl", [{("polite_in_truth" if k == "polite" else k): v for k, v in r.items()} for r in new])
    write(home / "others.jsonl", [{"query": f"Where is {n}?", "answer": f"Please look at page {n}."} for n in range(5)])
    done = subprocess.run(
        [sys.executable, "-m", "tests.records.tasks.child", str(home)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(site), str(ROOT)))},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    reply: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return reply


def test_task_of_a_plugin_is_inferred_from_its_columns_and_taken_by_name(found: dict[str, Any]) -> None:
    assert found["read"]["task"] == found["named"]["task"] == "politeness"
    assert any(note.startswith("Task politeness, inferred") for note in found["read"]["notes"])
    assert found["read"]["scale"]["grades"] == [0, 1]


def test_judge_of_a_plugins_task_is_compiled_grades_new_items_and_is_audited(found: dict[str, Any]) -> None:
    assert found["table"]["compiled"] > 0.2 > found["table"]["majority"]
    assert set(found["graded"]) <= {0, 1}
    assert found["polite"] > found["rude"] + 0.1
    assert found["audited"]["exit"] in {0, 1}
    assert found["audited"]["judge"]["program"] == "manners"


def test_review_of_a_plugins_task_asks_its_grades_with_their_meanings(found: dict[str, Any]) -> None:
    about = found["about"]
    assert (about["task"], about["grades"], about["aspects"]) == ("politeness", ["0", "1"], ["grade"])
    assert about["meanings"] == {"grade": ["rude or curt", "friendly"]}
    assert [text["name"] for text in found["item"]["texts"]] == ["query", "answer"]


def test_sheet_of_a_plugins_task_comes_back_with_its_labels(found: dict[str, Any]) -> None:
    (blank,) = found["exported"]["blank"].values()
    assert blank == 11  # one of 12 was graded on the page
    assert found["imported"]["imported"] == {"cy": 12}
    assert sorted(grades["grade"] for grades in found["again"].values()) == [0, *[1] * 11]


def test_next_labels_of_a_plugins_task_are_chosen_by_its_judge(found: dict[str, Any]) -> None:
    assert (found["chosen"]["exit"], found["chosen"]["picked"]) == (0, 2)
