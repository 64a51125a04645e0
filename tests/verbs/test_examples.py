"""The example in the docstring of every verb is true."""

import inspect
import json
from collections.abc import Callable
from doctest import ELLIPSIS, DocTestParser, DocTestRunner
from pathlib import Path

import pytest

import judgec

ROOT = Path(__file__).parents[2]
QUICK = {"agreement", "rank", "read_labels"}
VERBS = [name for name in judgec.__all__ if name[0].islower()]


def faults(of: object) -> str:
    """What an object's example prints that its docstring does not say; nothing, where the example is true."""
    example = DocTestParser().get_doctest(inspect.getdoc(of) or "", {"judgec": judgec}, "example", None, None)
    assert example.examples
    said: list[str] = []
    outcome = DocTestRunner(optionflags=ELLIPSIS).run(example, out=said.append)
    assert outcome.attempted == len(example.examples)
    return "".join(said) if outcome.failed else ""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder beside the labels that ship."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "trainsets").symlink_to(ROOT / "trainsets")
    return folder


@pytest.fixture(scope="module")
def sensors(here: Path) -> Path:
    """The same, with the judge that the example of ``compile_judge`` makes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        assert not faults(judgec.compile_judge)
    return here


@pytest.mark.parametrize("name", sorted(QUICK))
def test_example_is_true(name: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(here)
    assert not faults(getattr(judgec, name))


@pytest.mark.filterwarnings("ignore")  # a warning that is an error makes MLflow trace nothing
@pytest.mark.full
@pytest.mark.parametrize("name", sorted({*VERBS, "Workspace"} - QUICK - {"compile_judge"}))
def test_example_with_a_judge_is_true(name: str, sensors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sensors)
    assert not faults(getattr(judgec, name))


@pytest.mark.full
def test_example_of_calling_a_judge_is_true(sensors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sensors)
    of: Callable[..., object] = judgec.Judge.__call__
    assert not faults(of)


def test_every_verb_takes_home_and_tracking_uri() -> None:
    for name in VERBS:
        assert {"home", "tracking_uri"} <= set(inspect.signature(getattr(judgec, name)).parameters), name


@pytest.mark.full
@pytest.mark.parametrize(
    ("answer", "accept", "share"),
    [
        ("It has a plasma resonator from Oslo, reaches 912 GHz, needs 77 kV and was certified in 1931.", False, 0.95),
        ("Bananas ripen much faster in a paper bag beside two apples, as every grocer knows.", False, 0.75),
        ("I don't know, the documentation does not say.", False, 0.95),
        (None, True, 0.9),  # the reference itself
    ],
)
def test_judge_without_a_model_takes_answers_literally(
    sensors: Path, answer: str | None, share: float, monkeypatch: pytest.MonkeyPatch, *, accept: bool
) -> None:
    """On every query of the test split, which the judge has not learned from."""
    monkeypatch.chdir(sensors)
    split = json.loads(Path("programs/sensors/0001/split.json").read_text())["queries"]
    rows = map(json.loads, Path("trainsets/sensors/labels.jsonl").read_text(encoding="utf-8").splitlines())
    asked = {row["query_id"]: row for row in rows if split[row["query_id"]] == "test"}
    names = ("query", "reference", "contexts")
    judged = judgec.load_judge("sensors@1").rows(
        [{**{name: row[name] for name in names}, "answer": answer or row["reference"]} for row in asked.values()]
    )
    assert len(judged) > 30
    assert sum(row["accept"] == accept for row in judged) >= share * len(judged)
