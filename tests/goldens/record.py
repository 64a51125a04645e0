"""Records what other programs rely on: keys of ``--json``, files, columns, MLflow names, exit codes, options.

``python -m tests.goldens.record OUT.json`` runs every command on the labels that ship with the project, without a
model but for one compile. The goldens were recorded before the commands became shells on the Python API;
``test_goldens`` holds that each is still there.
"""

import csv
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from judgec.connect.tracking import background
from tests.service.fake_openai import FakeOpenAI

ROOT = Path(__file__).parents[2]
SENSORS = ROOT / "trainsets" / "sensors"
NUMBERED = re.compile(r"q?\d{2,}|[0-9a-f]{12,}")  # names that the data make, not the program
MOST = 4  # of the alike keys of one object that are looked into

Json = Any  # what json.loads gives


def run(folder: Path, *arguments: str, name: str = "") -> dict[str, Json]:
    """One command: its exit code, and the shape of what it prints with ``--json``."""
    typed = [background.PYTHON, str(ROOT / "cli.py"), *arguments]
    done = subprocess.run(typed, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    found: dict[str, Json] = {"command": name or arguments[0], "exit": done.returncode}
    if "--json" in arguments and done.stdout.strip():
        found["json"] = sorted(shape(json.loads(done.stdout)))
    if done.returncode not in (0, 1):
        found["error"] = done.stderr.splitlines()[-1][:60] if done.stderr else ""
    return found


def shape(value: Json, path: str = "") -> Iterator[str]:
    """Paths to all keys; a list is its first element, keys that the data make are one ``*``."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from shape(inner, f"{path}.{'*' if NUMBERED.fullmatch(str(key)) or ' ' in str(key) else key}")
        if not value:
            yield path
    elif isinstance(value, list) and value:
        yield from shape(value[0], f"{path}[]")
    else:
        yield path


def columns(path: Path) -> list[str]:
    """Columns of a CSV or keys of the first JSON line."""
    with path.open(encoding="utf-8") as file:
        return next(csv.reader(file)) if path.suffix == ".csv" else sorted(json.loads(file.readline()))


def files(folder: Path) -> list[str]:
    """Every file below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def tracked(folder: Path) -> list[dict[str, Json]]:
    """Runs and registered models: kinds and names."""
    import mlflow

    client = mlflow.MlflowClient(f"sqlite:///{folder / 'mlruns' / 'mlflow.db'}")
    found = [
        {
            "experiment": experiment.name,
            "metrics": sorted(one.data.metrics),
            "params": sorted(one.data.params),
            "tags": sorted(tag for tag in one.data.tags if not tag.startswith("mlflow.")),
            "artifacts": sorted(file.path for file in client.list_artifacts(one.info.run_id)),
        }
        for experiment in client.search_experiments()
        for one in client.search_runs([experiment.experiment_id], max_results=200)
    ]
    models = [{"model": one.name, "aliases": sorted(one.aliases)} for one in client.search_registered_models()]
    alike = {json.dumps(one, sort_keys=True): one for one in found}
    return [*(alike[key] for key in sorted(alike)), *models]


def options() -> dict[str, list[str]]:
    """The options and arguments of every command."""
    from typer.main import get_command

    from judgec.verbs.cli.app import app

    group: Json = get_command(app)
    return {
        name: sorted(
            f"{'/'.join([*one.opts, *one.secondary_opts])} default={_said(one.default)} required={one.required}"
            for one in command.params
        )
        for name, command in group.commands.items()
    }


def _said(default: object) -> str:
    return "None" if default in (None, [], ()) else str(getattr(default, "value", default))


def _games(folder: Path) -> Path:
    rows = ["query_id,agent_a,agent_b,winner"]
    rows += [f"q{n},new,old,{'ab'[n % 4 == 0]}" for n in range(40)]
    path = folder / "games.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def record(folder: Path) -> dict[str, Json]:
    """Run every command in a folder and record."""
    shutil.copy(SENSORS / "labels.jsonl", folder / "sensors.jsonl")
    shutil.copy(SENSORS / "datasheet.toml", folder / "sensors.datasheet.toml")
    labels = (SENSORS / "labels.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "half.jsonl").write_text("".join(labels[: len(labels) // 2]), encoding="utf-8")
    shutil.copy(SENSORS / "datasheet.toml", folder / "half.datasheet.toml")
    questions = [json.loads(line) for line in (SENSORS / "queries.jsonl").read_text().splitlines()][:16]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
    catalogue = str(SENSORS / "catalogue")
    _games(folder)
    runs: list[dict[str, Json]] = []

    def do(*arguments: str, name: str = "") -> None:
        runs.append(run(folder, *arguments, name=name))

    do("labels", "sensors.jsonl", "--json")
    do("labels", "export", "sensors.jsonl", "sheet.csv", "--json", name="labels export")
    do("compile-judge", "sensors.jsonl", "--name", "g", "--json")
    do("compile-judge", "sensors.jsonl", "--name", "h", "--no-evidence", "--json", name="compile-judge --no-evidence")
    with FakeOpenAI("good") as server:
        model = ("--lm", "openai/fake", "--api-base", server.base_url, "--name", "h", "--json")
        plain = ("--no-evidence", "--optimizer", "labeled")
        do("compile-judge", "sensors.jsonl", *model, *plain, name="compile-judge --lm")
        do("compile-judge", "sensors.jsonl", *model, "--dry-run", name="compile-judge --dry-run")
    do("compile-judge", "half.jsonl", "--name", "i", "--seed", "1", "--json", name="compile-judge --seed")
    do("judge", "sensors.jsonl", "--judge", "g@1", "--out", "judged.jsonl", "--json")
    do("judge", "queries.jsonl", "--judge", "g@1", "--out", "no.jsonl", "--json", name="judge without answers")
    do("compare", "g@1", "i@1", "--labels", "sensors.jsonl", "--json")
    pair = ("--annotators", "*", "--judges", "judge_grade", "--all", "--json")
    do("agreement", "judged.jsonl", *pair)
    do("audit", "--judge", "g@1", "--only", "length,authority", "--items", "8", "--json")
    do("index", catalogue, "--out", "index", "--json")
    asked = ("--queries", "queries.jsonl", "--index", "index")
    do("answer", *asked, "--agents", "rag-bm25,rag-hybrid", "--out", "answers.jsonl", "--json")
    play = ("--judge", "g@1", "--unproven", "--queries", "queries.jsonl", "--answers", "answers.jsonl")
    do("evaluate", *play, "--out", "board", "--gate", "rag-hybrid>=rag-bm25-2000", "--json")
    do("rank", "games.csv", "--json")
    written = ("--per-passage", "2", "--passages", "8")
    do("generate-queries", "--index", "index", *written, "--out", "written.jsonl", "--json")
    experts = ("--index", "index", "--experts", str(SENSORS / "expert_queries.csv"))
    do("compile-queries", *experts, *written, "--json")
    few = ("--scenarios", "S1,S2", "--n", "3", "--index", "index", "--system", "rag-bm25")
    do("probe", *few, "--out", "probed", "--json")
    do("probe", "--compare", "probed", "probed", "--json", name="probe --compare")
    do("compile-agent", "rag-bm25", *asked, "--judge", "g@1", "--unproven", "--json")
    do("doctor", "--json")
    do("labels", "missing.jsonl", name="labels of a missing file")
    do("judge", "sensors.jsonl", "--judge", "nobody", "--out", "x.jsonl", name="judge that is not there")
    do(
        "evaluate",
        *play,
        "--out",
        "board2",
        "--gate",
        "rag-hybrid>=rag-bm25+900",
        "--json",
        name="evaluate, gate fails",
    )
    do("rank", "games.csv", "--nonsense", name="option that is not there")
    tables = [path.relative_to(folder).as_posix() for path in sorted((folder / "board").glob("*.csv"))]
    return {
        "runs": runs,
        "options": options(),
        "files": {name: files(folder / name) for name in ("programs", "board", "probed")},
        "columns": {
            name: columns(folder / name) for name in ("judged.jsonl", "answers.jsonl", "written.jsonl", *tables)
        },
        "mlflow": tracked(folder),
    }


def main(arguments: Sequence[str]) -> None:
    """Record into a file."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        Path(arguments[0]).write_text(json.dumps(record(Path(folder)), indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
