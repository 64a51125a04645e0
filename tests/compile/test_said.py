"""What compiles say of themselves: keys of report.json, names of MLflow, sections of the page, the first screen.

``python -m tests.compile.test_said`` records them anew in ``said.json``.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgec.compile.report import with_run
from judgec.compile.settings import Combine, CompileSettings, PoolLimit
from judgec.compile.track import run_of
from judgec.connect.tracking.metrics import flatten
from judgec.labels.labels import read_labels
from judgec.lm.spec import LMSpec
from judgec.raters import programs
from judgec.verbs.compilation import Compilation, compiled_report
from tests.compile import recorded_world, test_cascades, test_compile_preference, test_modes, test_panels
from tests.compile.small import Outcome, compiled_from, compiled_on, write
from tests.fake_lm import FAKE, serving_fake
from tests.goldens.record import shape
from tests.report.page.html import Page
from tests.service import grading_world

GOLDEN = Path(__file__).with_name("said.json")
OTHERS = ("majority", "evidence_only", "compiled_prompt", "best_alone", "compiled_single", "compiled_loo", "ceiling")
ALIKE = tuple(f".test.{name}." for name in OTHERS)  # rows of one table have the same keys
Said = dict[str, list[str]]


def recorded(home: Path, said: recorded_world.Rows, rows: recorded_world.Rows, combine: Combine) -> Outcome:
    labels, verdicts = recorded_world.world(said, rows)
    return compiled_on(labels, recorded_world.settings_of(home, verdicts, combine=combine))


def panel(home: Path) -> Outcome:
    said = test_panels.verdicts(test_panels.ROWS, test_panels.THREE)
    return recorded(home, said, test_panels.ROWS, Combine(PoolLimit()))


def cascade(home: Path) -> Outcome:
    rows = recorded_world.labels(120, 5)
    return recorded(home, test_cascades.verdicts(rows, knows=True), rows, Combine(cascade=("cheap", "dear")))


def prompt(home: Path) -> Outcome:
    """Three annotators, groups and agents."""
    graded = [
        {**row, "annotator": name, "group": f"g{n % 3}", "agent": f"a{n % 2}"}
        | {"grade": min(5, int(str(row["grade"])) + (n % 4 == k))}
        for n, row in enumerate(grading_world.rows(80, per_query=2))
        for k, name in enumerate(("ann", "bob", "cy"))
    ]
    return compiled_from(home, graded)


def pairs(home: Path) -> Outcome:
    labels = read_labels(str(write(home / "pairs.jsonl", test_compile_preference.rows(80))))
    settings = CompileSettings("pairs", home, LMSpec.parse(FAKE), "kappa", resamples=200, evidence=False)
    return compiled_on(labels, settings)


def modes(home: Path) -> Outcome:
    return compiled_from(home, test_modes.rows(), lm="embedded")


CASES: dict[str, Callable[[Path], Outcome]] = {one.__name__: one for one in (panel, cascade, prompt, pairs, modes)}


def said_by(made: Outcome) -> Said:
    home, card = made.settings.home, made.saved.card
    report: dict[str, Any] = programs.load(home, f"{card.name}@{card.version}").report
    about: dict[str, Any] = {"source": "l.jsonl", "started": 1, "ended": 2, "log_traces": True}
    run = run_of(made.saved.report, card, made.saved.items, home, **about)
    page = Page(programs.page_path(home, card).read_text(encoding="utf-8"))
    screen = compiled_report(Compilation(made.saved, with_run(made.saved, "run"), made.settings))
    keys = sorted({*shape({name: report[name] for name in report if name != "judgments"})})
    return {
        "report.json": [key for key in keys if not key.startswith(ALIKE)],
        "rows": sorted(report["test"]),
        "metrics": [name for name in sorted(flatten(run.metrics)) if not f".{name}".startswith(ALIKE)],
        "headline": sorted(run.headline or {}),
        "logged": sorted(
            {*run.params, *run.tables, *run.tags, *(name for one in run.candidates for name in one.metrics)}
        ),
        "sections": [str(found["id"]) for tag, found in page.tags if tag == "section"],
        "tables": [str(found["aria-label"]) for _, found in page.tags if found.get("role") == "region"],
        "screen": [f"{table.title}: {', '.join(table.heads)}" for table in screen.tables],
    }


@pytest.mark.parametrize("name", CASES)
def test_keys_names_and_sections_are_there(tmp_path: Path, name: str) -> None:
    golden, found = json.loads(GOLDEN.read_text(encoding="utf-8"))[name], said_by(CASES[name](tmp_path))
    assert set(golden.pop("report.json")) - set(found.pop("report.json")) == set()  # more may be added
    assert found == golden


def recorded_anew(name: str) -> Said:
    with tempfile.TemporaryDirectory() as home, serving_fake():
        return said_by(CASES[name](Path(home)))


if __name__ == "__main__":
    for name in CASES:
        lines = (f' "{what}": {json.dumps(said)}' for what, said in recorded_anew(name).items())
        sys.stdout.write(f'{"{" if name == "panel" else ","}"{name}": {{\n' + ",\n".join(lines) + "\n}\n")
    sys.stdout.write("}\n")
