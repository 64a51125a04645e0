"""What other programs rely on stays: keys, files, columns, names in MLflow, exit codes, options; more may be added."""

import json
from pathlib import Path

import pytest

from tests.goldens.record import Json, options, record

GOLDENS: dict[str, Json] = json.loads((Path(__file__).parent / "goldens.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Json]:
    return record(tmp_path_factory.mktemp("goldens"))


@pytest.mark.parametrize("command", GOLDENS["options"])
def test_every_option_of_a_command_is_there_with_its_default(command: str) -> None:
    missing = set(GOLDENS["options"][command]) - set(options()[command])
    assert not missing


@pytest.mark.full
@pytest.mark.parametrize("golden", GOLDENS["runs"], ids=[run["command"] for run in GOLDENS["runs"]])
def test_exit_code_and_every_key_of_json_are_there(golden: dict[str, Json], now: dict[str, Json]) -> None:
    (found,) = [run for run in now["runs"] if run["command"] == golden["command"]]
    assert found["exit"] == golden["exit"]
    assert not set(golden.get("json", [])) - set(found.get("json", []))


@pytest.mark.full
def test_every_file_and_every_column_is_there(now: dict[str, Json]) -> None:
    for what in ("files", "columns"):
        for place, names in GOLDENS[what].items():
            assert not set(names) - set(now[what][place]), place


@pytest.mark.full
def test_every_run_and_model_in_mlflow_has_the_names_it_had(now: dict[str, Json]) -> None:
    for golden in GOLDENS["mlflow"]:
        assert any(_covers(found, golden) for found in now["mlflow"]), golden


def _covers(found: dict[str, Json], golden: dict[str, Json]) -> bool:
    """Everything that was recorded is in what is found."""
    return found.keys() == golden.keys() and all(
        set(value) <= set(found[key]) if isinstance(value, list) else value == found[key]
        for key, value in golden.items()
    )
