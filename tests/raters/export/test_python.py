"""A judge in a folder says what the judge says, bit for bit, and needs numpy alone."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from zlib import crc32

import pytest

from judgec.evidence.model import EvidenceModel
from judgec.labels.bulk.items import open_items
from judgec.lm.executor import Reply, Request
from judgec.raters.calibrator import Calibrator, Linear, Source
from judgec.raters.export.python import python_files
from judgec.raters.judge import JudgeTree
from judgec.raters.programs import Program
from judgec.raters.registry import judge_module
from judgec.raters.signatures import fingerprint
from judgec.records.label import Item
from judgec.records.scale import Scale
from tests.raters.engine import reply as engine_reply
from tests.raters.trees import judge_of
from tests.records.test_card import make_card

LABELS = Path(__file__).parents[3] / "trainsets" / "sensors" / "labels.jsonl"
SCALE = Scale(grades=(1, 2, 3, 4, 5), accept_at=4)
FIELDS = ("query", "answer", "reference", "contexts")
FOREIGN = ("judgec", "dspy", "pydantic", "scipy", "sklearn", "mlflow", "snowballstemmer", "pandas")
ALONE = """
import json, sys
class JournaledClient:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in FOREIGN: raise ImportError(name)
sys.meta_path.insert(0, JournaledClient())
sys.path.insert(0, sys.argv[1])
from judge import grade
for line in open(sys.argv[2], encoding="utf-8"):
    print(json.dumps(grade(json.loads(line))))
"""


def items(count: int) -> list[Item]:
    read = [*open_items(str(LABELS), task="grade").items]
    return list({item.item_id: item for item in read}.values())[:count]


def calibrator(source: Source, names: tuple[str, ...]) -> Calibrator:
    width = len(names) + 4 * (source == "both")
    row = [0.01 * (column % 7 - 3) for column in range(width)]
    return Calibrator(
        source=source,
        family="ordinal",
        n_grades=5,
        prior=(0.2,) * 5,
        smoothing=0.02,
        center=(0.1,) * width,
        spread=tuple(0.3 + 0.01 * (column % 5) for column in range(width)),
        linear=Linear(coefficients=(tuple(row),) * 4, intercepts=(1.5, 0.5, -0.5, -1.5), classes=(1, 2, 3, 4)),
        ordinal=True,
        feature_names=names,
        accept_threshold=0.4,
    )


def program_of(
    source: Source, model: str, accept_from: float = 0.4, seen: list[Item] | None = None
) -> tuple[JudgeTree, Program]:
    """A judge of made-up weights, and what is saved of it."""
    evidence = EvidenceModel.fit(items(60) if seen is None else seen)
    documents = seen is not None and "document" in seen[0].inputs
    task, fields = ("relevance", ("query", "document")) if documents else ("grade", FIELDS)
    module = judge_module(task, SCALE, ("grade",), fields)
    fitted = calibrator(source, evidence.names).model_copy(update={"accept_threshold": accept_from})
    judge = judge_of(module, SCALE, ("grade",), evidence, {"grade": fitted})
    card = make_card(
        name=f"j-{source}", task=task, scale=SCALE, fields=fields, signature=fingerprint(module), lm={"model": model}
    )
    return judge, Program(card, judge.saved(), {}, {})


def written(folder: Path, source: Source, model: str, seen: list[Item] | None = None) -> tuple[JudgeTree, ModuleType]:
    """A judge, and the module of its export."""
    judge, program = program_of(source, model, seen=seen)
    for path, text in python_files(program, judge).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    spec = spec_from_file_location(f"judge_{source}", folder / "judge.py")
    assert spec is not None
    assert spec.loader is not None
    face = module_from_spec(spec)
    spec.loader.exec_module(face)
    return judge, face


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


def row(item: Item) -> dict[str, object]:
    return {"item_id": item.item_id, **item.inputs}


def reply(prompt: str) -> str:
    """A grade from the prompt; now and then none, or only when asked again as JSON."""
    number = crc32(prompt.encode()) % 7
    if "Respond with a JSON object" in prompt:
        return json.dumps({"reason": "again", "grade": 1 + number % 5, "confidence": 50}) if number < 4 else "no idea"
    if number == 6:
        return "I would say it is fine."
    return engine_reply(1 + number % 5)


def ask(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
    for request in requests:
        yield Reply(key=request.key, text=reply(request.messages[-1]["content"]))


def complete(messages: list[dict[str, str]]) -> str:
    return reply(messages[-1]["content"])


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("source", ["evidence", "both"])
def test_rows_of_the_export_are_those_of_the_judge(tmp_path: Path, source: Source) -> None:
    judge, face = written(tmp_path, source, "openai/fake")
    some = items(120)
    wanted = list(judge.judge(some, ask).rows(SCALE))
    grade: Callable[..., dict[str, object]] = face.grade
    assert [grade(row(item), complete) for item in some] == wanted
    if source == "both":
        assert 0 < sum(one["unscored"] is not None for one in wanted) < len(some)


@pytest.mark.usefixtures("alone")
def test_rows_of_the_export_of_a_judge_that_reads_themes_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judgec.evidence.fit_themes.LEAST_DOCUMENTS", 20)
    texts = {text: item for item in items(120) for text in item.texts("contexts")}
    some = [
        Item(str(i), "1", {"query": item.text("query"), "document": text})
        for i, (text, item) in enumerate(texts.items())
    ]
    judge, face = written(tmp_path, "evidence", "embedded", some)
    assert judge.evidence is not None
    assert judge.evidence.families == ("document", "themes")
    assert [face.grade(row(item)) for item in some] == list(judge.judge(some, ask).rows(SCALE))
    assert not list(tmp_path.rglob("fit_themes.py"))


@pytest.mark.usefixtures("alone")
def test_judge_that_asks_says_so_without_anybody_to_ask(tmp_path: Path) -> None:
    _, face = written(tmp_path, "both", "openai/fake")
    with pytest.raises(ValueError, match="complete is missing"):
        face.grade(row(items(1)[0]))
    with pytest.raises(ValueError, match="no query"):
        face.grade({"answer": "yes"}, complete)


@pytest.mark.parametrize("version", ["", "3.12", "3.13"])
def test_export_runs_where_only_numpy_is(tmp_path: Path, version: str) -> None:
    python = shutil.which(f"python{version}") if version else sys.executable
    if not python or subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False).returncode:
        pytest.skip(f"Python {version} with numpy is not installed")
    judge, _ = written(tmp_path / "judge", "evidence", "openai/fake")
    some = items(10)
    file = tmp_path / "items.jsonl"
    file.write_text("".join(json.dumps(row(item)) + "\n" for item in some), encoding="utf-8")
    wanted = list(judge.judge(some, ask).rows(SCALE))
    code = f"FOREIGN = {FOREIGN!r}\n{ALONE}"
    done = subprocess.run(
        [python, "-c", code, tmp_path / "judge", file], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert not done.returncode, done.stderr
    got = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["grade"] for one in got] == [one["grade"] for one in wanted]
    assert version or got == wanted
    sizes = [path.stat().st_size for path in (tmp_path / "judge").rglob("*.*") if path.suffix != ".pyc"]
    assert sum(sizes) < 2_000_000
    assert "Redistributions" in next(tmp_path.rglob("COPYING")).read_text(encoding="utf-8")


@pytest.mark.full
def test_export_is_type_checked(tmp_path: Path) -> None:
    written(tmp_path, "both", "openai/fake")
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", config, "judge.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stdout
