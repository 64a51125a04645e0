"""Labels and recorded judges of known worth: an odd one, a clear one, one that fails often, one asked about half."""

from pathlib import Path
from typing import Any

import numpy as np

from judgec.compile.finished import SavedJudge
from judgec.compile.settings import CompileSettings
from judgec.labels.labels import label_file
from judgec.labels.reading import Datasheet, as_reading
from judgec.lm.spec import LMSpec
from judgec.raters.recorded import RECORDED_KIND, OnWhat, RecordedVerdicts, check_against, read_recorded
from judgec.records.label import LabelSet
from judgec.records.scale import Scale
from judgec.table.table import Table
from tests.compile.small import changed, compiled_on

Rows = list[dict[str, object]]
RECORDED = Path("../shared/data/recorded")
SHEET = Datasheet(task="relevance", scale=Scale(name="relevance", grades=(0, 1, 2, 3), accept_at=2))


def labels(queries: int = 60, each: int = 4) -> Rows:
    rng = np.random.default_rng(1)
    return [
        {
            "item_id": f"q{q}-d{d}",
            "query_id": f"q{q}",
            "query": f"question {q}",
            "document": f"document {d} of {q}",
            "grade": int(rng.integers(0, 4)),
        }
        for q in range(queries)
        for d in range(each)
    ]


def verdicts(rows: Rows, seed: int = 2) -> Rows:
    """What each judge said; ``gpt/odd`` ranks best and squeezes the scale into its upper half."""
    rng = np.random.default_rng(seed)
    made: Rows = []

    def add(row: dict[str, object], judge: str, grade: float | None, cost: float | None) -> None:
        model = judge.partition("/")[0]
        made.append(
            {"item_id": row["item_id"], "judge": judge, "grade": grade, "model": model, "cost_usd": cost}
            | ({"prompt": f"Grade {{document}} as {judge} does."} if judge == "gpt/odd" else {})
        )

    def noisy(grade: int, rate: float) -> int:
        return int(rng.integers(0, 4)) if rng.random() < rate else grade

    for row in rows:
        grade = int(str(row["grade"]))
        near = noisy(grade, 0.08)
        add(row, "gpt/odd", 1.5 + near / 2, 0.01)
        add(row, "gpt/clear", noisy(grade, 0.45), 0.01)
        add(row, "gpt/plain", noisy(grade, 0.75), 0.01)
        add(row, "llama/vague", noisy(grade, 0.9), None)
        add(row, "llama/silent", None if rng.random() < 0.6 else grade, None)
        if int(str(row["query_id"])[1:]) % 2:
            add(row, "big/half", noisy(grade, 0.6), 0.1)
    return [*made, *[{**one, "judge": "few/few", "model": "few"} for one in made[:60:6]]]


def table(rows: Rows, name: str = "rows") -> Table:
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    return Table(name, columns, tuple(rows), tuple(range(1, len(rows) + 1)), by_line=False)


def world(said: Rows, rows: Rows | None = None, sheet: Datasheet = SHEET) -> tuple[LabelSet, RecordedVerdicts]:
    """What was said of labels; by default of 250 of them, of fifty queries."""
    label_set = label_file(table(rows or labels(50, 5)), sheet).labels
    about = OnWhat.of(label_set, as_reading(orders="mapped" if label_set.task == "preference" else None))
    return label_set, check_against(read_recorded(table(said, "verdicts"), about), label_set)


def settings_of(home: Path, recorded: RecordedVerdicts, **changes: object) -> CompileSettings:
    spec = LMSpec.parse("recorded:verdicts")
    settings = CompileSettings("world", home, spec, "qwk", evidence=False, folds=1)
    return changed(settings, optimizer=RECORDED_KIND, recorded=recorded, **changes)


def compiled_in(home: Path, label_set: LabelSet, recorded: RecordedVerdicts, **changes: object) -> SavedJudge:
    return compiled_on(label_set, settings_of(home, recorded, **changes)).saved


def report_of(saved: SavedJudge) -> dict[str, Any]:
    return dict(saved.report)
