"""``judgec demo --ci``: a repository of its own in which every change of a judge has to pass a gate."""

from pathlib import Path
from typing import TYPE_CHECKING

from judgec.errors import UserError
from judgec.labels.split.family import write_whole

if TYPE_CHECKING:
    import pandas as pd

    from judgec.report.report import Report

PROMPT = "ChatGPT/prompt-1"  # whose verdicts are the column ``chatgpt``
EACH = 3  # every third prompt of HANNA is for the release

PROJECT = """\
# How the commands and functions of judgec read labels.csv.
labels = "labels.csv"
name = "stories"
task = "grade"
judges = ["chatgpt"]

[scale]
name = "relevance"
grades = [1, 2, 3, 4, 5]
accept_at = 4
"""
WORKFLOW = """\
# Both gates stop a change of labels.csv, release.csv or this file that makes the judge worse. No key is needed.
name: judge
on: [pull_request]
jobs:
  gates:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.11"
      - run: pip install judgec pytest
      - name: The compiled judge is better than the raw one
        run: judgec compile-judge --verdicts chatgpt --no-evidence --objective qwk --require-promotion
      - name: It agrees with people on stories that it has not learned from
        run: python -m pytest -q
"""
TEST = '''\
"""The judge on stories that it has not learned from: does it still agree with people?"""

from pathlib import Path

import judgec

HERE = Path(__file__).parent
LEAST = 0.25  # of quadratic kappa, the lower end of its interval; raise it as your judge gets better


def test_judge_agrees_with_people(tmp_path: Path) -> None:
    judged = tmp_path / "judged.csv"
    judgec.judge_file(HERE / "release.csv", judge="stories", home=HERE, out=judged)
    found = judgec.agreement(judged, expert="grade", judge="judge_grade", cluster="query_id", home=HERE)
    kappa = found.estimates["qwk"]
    assert kappa.low is not None
    assert kappa.low >= LEAST, f"quadratic kappa {kappa.value:.2f}, at least {kappa.low:.2f}; {LEAST} is demanded"
'''
FILES = {
    "judgec.toml": PROJECT,
    ".github/workflows/judge.yml": WORKFLOW,
    "test_judge.py": TEST,
    ".gitignore": "programs/\nmlruns/\n.judgec/\n__pycache__/\n",
}


def write_repository(folder: Path, labels: "pd.DataFrame", said: "pd.DataFrame") -> "Report":
    """Write labels that people gave beside a model's verdicts, how they are read, a workflow with its gates, a test.

    Args:
        folder: New, or empty.
        labels: People's grade of each story.
        said: What each model said of it.

    Raises:
        UserError: There is something in it.
    """
    from judgec.report.report import Report

    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder}: is not empty; a new or an empty folder is valid. Name another.")
    verdicts = said[said["judge"] == PROMPT].set_index("item_id")["grade"].rename("chatgpt")
    table = labels.join(verdicts, on="item_id")
    release = table["query_id"].isin(sorted(set(table["query_id"]))[::EACH])
    (folder / ".github" / "workflows").mkdir(parents=True)
    for name, rows in (("labels.csv", table[~release]), ("release.csv", table[release])):
        write_whole(folder / name, rows.to_csv(index=False))
    for name, text in FILES.items():
        write_whole(folder / name, text)
    *_, gate, test = (line.split("run: ")[1] for line in WORKFLOW.splitlines() if "run: " in line)
    return Report(
        verdict=[f"wrote {folder}: labels of {len(table)} stories, judgec.toml, a workflow with two gates, a test"],
        next=[*([] if folder == Path() else [f"cd {folder}"]), gate, test],
    )
