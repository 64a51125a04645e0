"""What other programs rely on stays: keys, files, columns, names in MLflow, exit codes, options; more may be added."""

import json
from pathlib import Path

import pytest

from tests.goldens.record import Json, options, record

GOLDENS: dict[str, Json] = json.loads((Path(__file__).parent / "goldens.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", GOLDENS["options"])
def test_every_option_of_a_command_is_there_with_its_default(command: str) -> None:
    missing = set(GOLDENS["options"][command]) - set(options()[command])
    assert not missing


@pytest.mark.full
def test_exit_codes_keys_files_columns_and_names_in_mlflow_are_there(tmp_path: Path) -> None:
    # One test: every command is run once, not once in each worker.
    now = record(tmp_path)
    runs = {run["command"]: run for run in now["runs"]}
    lost: dict[str, object] = {}
    for golden in GOLDENS["runs"]:
        found = runs[golden["command"]]
        if found["exit"] != golden["exit"]:
            lost[golden["command"]] = f"exit {found['exit']}, not {golden['exit']}"
        elif keys := {key for key in golden.get("json", []) if not _is_there(key, found.get("json", []))}:
            lost[golden["command"]] = sorted(keys)
    for what in ("files", "columns"):
        for place, names in GOLDENS[what].items():
            if gone := set(names) - set(now[what][place]):
                lost[f"{what} of {place}"] = sorted(gone)
    for number, golden in enumerate(GOLDENS["mlflow"]):
        if not any(_covers(found, golden) for found in now["mlflow"]):
            lost[f"MLflow {number}"] = golden
    assert lost == {}


def _is_there(key: str, found: list[str]) -> bool:
    """A list that was empty then, or is empty now, is the same key."""
    return key in found or f"{key}[]" in found or (key.endswith("[]") and key.removesuffix("[]") in found)


def _covers(found: dict[str, Json], golden: dict[str, Json]) -> bool:
    """Everything that was recorded is in what is found."""
    return found.keys() == golden.keys() and all(
        set(value) <= set(found[key]) if isinstance(value, list) else value == found[key]
        for key, value in golden.items()
    )
