"""What a process does in which the plugin is installed; run by ``test_plugin.py``, says what came of it as JSON."""

import contextlib
import io
import json
import sys
from pathlib import Path

import pandas as pd

import judgec
from judgec.labels.review.desk import Desk
from judgec.labels.review.sheet import Given, open_sheet
from judgec.verbs.cli.app import app


def run(*arguments: object) -> dict[str, object]:
    """A command in this process: the object that ``--json`` prints, and its exit code."""
    said, code = io.StringIO(), None
    with contextlib.redirect_stdout(said):
        try:
            app([*map(str, arguments)])
        except SystemExit as end:
            code = end.code
    text = said.getvalue()
    return {"exit": code or 0, **(json.loads(text) if text.startswith("{") else {})}


def main(home: Path) -> dict[str, object]:
    """Read, compile, judge, audit, review and bring back, in the folder that has the label files."""
    labels = home / "manners.jsonl"
    read = run("labels", labels, "--json")
    named = run("labels", labels, "--task", "politeness", "--json")
    made = judgec.compile_judge(str(labels), name="manners", home=home, tracking_uri=f"sqlite:///{home}/mlflow.db")
    items = pd.read_json(home / "items.jsonl", lines=True)
    judged = made.judge(items)
    audited = run("audit", "--judge", "manners@latest", "--home", home, "--json")
    sheet, _ = open_sheet(str(home / "items.jsonl"), task="politeness")
    desk = Desk(sheet)
    desk.save(0, "cy", Given({"grade": 1}, "friendly"))
    taken = home / "taken.csv"
    asked = ("--task", "politeness", "--annotators", "cy")
    exported = run("labels", "export", sheet.path, taken, *asked, "--json")
    pd.read_csv(taken).assign(polite=[0, *[1] * (len(items) - 1)]).to_csv(taken, index=False)
    imported = run("labels", "import", sheet.path, taken, *asked, "--json")
    next_ones = (2, "--judge", "manners@latest", "--out", home / "next.csv")
    chosen = run("labels", "next", home / "others.jsonl", *next_ones, "--home", home, "--json")
    return {
        "read": read,
        "named": named,
        "table": {name: made.table.loc[name, "kappa"] for name in ("compiled", "majority")},
        "polite": judged.loc[items["polite_in_truth"] == 1, "score"].mean(),
        "rude": judged.loc[items["polite_in_truth"] == 0, "score"].mean(),
        "graded": sorted(set(judged["grade"])),
        "audited": audited,
        "about": desk.about(),
        "item": desk.item(0),
        "exported": exported,
        "imported": imported,
        "again": {label.item_id: label.grades for label in judgec.read_labels(str(sheet.path)).label_set.labels},
        "chosen": chosen,
    }


if __name__ == "__main__":
    found = main(Path(sys.argv[1]))
    print(json.dumps(found, default=str))
