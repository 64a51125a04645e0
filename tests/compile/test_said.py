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

import judgec
from judgec.compile.settings import Combine, CompileSettings, PoolLimit
from judgec.compile.track import run_of
from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.metrics import flatten
from judgec.connect.tracking.runs import CompileRun, Logged
from judgec.labels.labels import read_labels
from judgec.lm.spec import LMSpec
from judgec.raters import programs
from judgec.report.report import Report
from judgec.verbs.compilation import Compilation, compiled_report
from judgec.verbs.compile_agent import agent_report
from judgec.verbs.compile_queries import compiled_queries_report
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
    settings = CompileSettings("pairs", home, LMSpec.parse(FAKE), "kappa", evidence=False)
    return compiled_on(labels, settings)


def modes(home: Path) -> Outcome:
    return compiled_from(home, test_modes.rows(), lm="embedded")


CASES: dict[str, Callable[[Path], Outcome]] = {one.__name__: one for one in (panel, cascade, prompt, pairs, modes)}


def said_by_judge(made: Outcome) -> Said:
    home, card = made.settings.home, made.saved.card
    about: dict[str, Any] = {"source": "l.jsonl", "took": (1, 2), "log_traces": True}
    run = run_of(made.saved, home, **about)
    screen = compiled_report(Compilation(made.saved, {**made.saved.report, "mlflow_run_id": "run"}, made.settings))
    return said_by(home, f"{card.name}@{card.version}", run, screen)


def said_by(home: Path, name: str, run: CompileRun, screen: Report) -> Said:
    program = programs.load(home, name)
    path = programs.page_path(home, program.card)
    page = Page(path.read_text(encoding="utf-8") if path.exists() else "")
    report: dict[str, Any] = {one: of for one, of in program.report.items() if one not in {"judgments", "answers"}}
    return {
        "report.json": [key for key in sorted({*shape(report)}) if not key.startswith(ALIKE)],
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


def said_by_verb(home: Path, compiles: Callable[[Path], tuple[str, Report]]) -> Said:
    """What a verb says that logs its compile by itself."""
    runs: list[CompileRun] = []

    def log(_: Tracker, run: CompileRun) -> Logged:
        runs.append(run)
        return Logged(run_id="run", experiment_id="0")

    with pytest.MonkeyPatch.context() as patched:
        for method in ("__init__", "__exit__"):
            patched.setattr(Tracker, method, lambda *_: None)
        patched.setattr(Tracker, "log_compile", log)
        name, screen = compiles(home)
    return {**said_by(home, name, runs[0], screen), "json": sorted(screen.data)}


def agent(home: Path) -> tuple[str, Report]:
    asked = [
        {"query": f"Which {what} has the sensor {n}?", "answer": f"The {what} of sensor {n} is {n} units."}
        for n in range(14)
        for what in ("range", "supply", "housing")
    ]
    said = (f"# Sensor {n}\n{row['answer'][:-1]}{' or less, at most' * (n % 3)}.\n" for n, row in enumerate(asked))
    (home / "sensors.md").write_text("".join(said))
    labels = [{**one, "accept": int(n % 5 > 0)} for n, one in enumerate(asked)]
    index = judgec.index(home / "sensors.md", out=home / "corpus")
    found = judgec.compile_agent("rag-bm25", index=index, queries=asked, labels=labels, k=1, home=home)
    return found.name, agent_report(found)


def queries(home: Path) -> tuple[str, Report]:
    made = [f"Sensor {n} draws {n + 10} mA at {n + 20} V and weighs {n + 30} g." for n in range(14)]
    (home / "docs").mkdir()
    for n, text in enumerate(made):
        (home / "docs" / f"{n}.md").write_text(f"# Sensor {n}\n{text}\n")
    experts = ["How much does sensor 90 weigh?", "What does sensor 91 draw?"]
    found = judgec.compile_queries(index=str(home / "docs"), experts=experts, per_passage=2, home=home)
    return found.name, compiled_queries_report(found)


VERBS: dict[str, Callable[[Path], tuple[str, Report]]] = {one.__name__: one for one in (agent, queries)}


def said_of(name: str, home: Path) -> Said:
    return said_by_verb(home, VERBS[name]) if name in VERBS else said_by_judge(CASES[name](home))


@pytest.mark.parametrize("name", [*CASES, *VERBS])
def test_keys_names_and_sections_are_there(tmp_path: Path, name: str) -> None:
    golden, found = json.loads(GOLDEN.read_text(encoding="utf-8"))[name], said_of(name, tmp_path)
    assert set(golden.pop("report.json")) - set(found.pop("report.json")) == set()  # more may be added
    assert found == golden


def recorded_anew(name: str) -> Said:
    with tempfile.TemporaryDirectory() as home, serving_fake():
        return said_of(name, Path(home))


if __name__ == "__main__":
    for name in (*CASES, *VERBS):
        lines = (f' "{what}": {json.dumps(said)}' for what, said in recorded_anew(name).items())
        sys.stdout.write(f'{"{" if name == "panel" else ","}"{name}": {{\n' + ",\n".join(lines) + "\n}\n")
    sys.stdout.write("}\n")
