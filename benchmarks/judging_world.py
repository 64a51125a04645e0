"""What the benchmarks of bulk judging share: clapnq items in any number, a judge with evidence, a server."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tests.raters.trees import judge_of

from judgec.compile.calibrate import fit_source
from judgec.compile.calibrate_choice import Data
from judgec.evidence.model import EvidenceModel
from judgec.labels.experts import experts_of
from judgec.labels.labels import read_labels
from judgec.lm.watch import Silent
from judgec.raters.calibrator import Calibrator
from judgec.raters.judge import JudgeTree
from judgec.raters.programs import Program, save, set_aliases
from judgec.raters.registry import judge_module
from judgec.raters.signatures import fingerprint
from judgec.records.card import Cost, ProgramCard
from judgec.records.label import FloatArray, IntArray, Item
from judgec.records.scale import Scale
from judgec.verbs.judge_file import judge_file
from judgec.verbs.options.judge import JudgeFileOptions

LABELS = Path("../shared/data/labels/clapnq_faithfulness.jsonl")
FIELDS = ("query", "answer", "contexts")
NAME = "bench"
MODEL = "openai/instant"


@contextmanager
def server(latency: float = 0.0) -> Iterator[str]:
    """The instant endpoint in a process of its own; its URL."""
    command = [sys.executable, str(Path(__file__).with_name("instant_server.py")), "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def variant(item: Item, copy: int) -> dict[str, object]:
    """The item as a row; copies have their own name and query."""
    mark = f" ({copy})" if copy else ""
    inputs: Mapping[str, object] = {k: list(v) if isinstance(v, tuple) else v for k, v in item.inputs.items()}
    query = f"{item.inputs['query']}{mark}"
    return {"item_id": f"{item.item_id}{mark}", "query_id": item.query_id, **inputs, "query": query}


def item(items: Sequence[Item], number: int) -> Item:
    """The same as an item."""
    row = variant(items[number % len(items)], number // len(items))
    inputs = {name: tuple(v) if isinstance(v, list) else str(v) for name, v in row.items() if not name.endswith("_id")}
    return Item(str(row["item_id"]), str(row["query_id"]), inputs)


def write_items(path: Path, items: Sequence[Item], count: int, first: int = 0, texts: int | None = None) -> None:
    """A file of ``count`` items, from the ``first`` on: all different, or the same ``texts`` under new names."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            copy, place = divmod(first + (number if texts is None else number % texts), len(items))
            row = {**variant(items[place], copy), "item_id": f"{first + number}"}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def make_judge(home: Path, *, calibrated: bool = True) -> tuple[tuple[Item, ...], JudgeTree]:
    """Clapnq's items, and a judge saved under ``home``: with 91 features, or its prompt alone."""
    labels = read_labels(str(LABELS))
    target = experts_of(labels).target[:, 0, 0]
    module = judge_module("grade", labels.scale, labels.aspects, FIELDS)
    judge = judge_of(module, labels.scale, labels.aspects)
    if calibrated:
        evidence = EvidenceModel.fit(labels.items)
        calibrator = _fitted(target, evidence.transform(labels.items), evidence.names, labels.scale)
        judge = judge_of(module, labels.scale, labels.aspects, evidence, {"grade": calibrator})
    card = ProgramCard(
        name=NAME,
        task="grade",
        scale=labels.scale,
        aspects=labels.aspects,
        fields=FIELDS,
        signature=fingerprint(module),
        data_digest=labels.digest,
        split_digest="",
        lm={"model": MODEL, "temperature": 0.0},
        optimizer="none",
        objective="tau_b",
        seed=0,
        versions={},
        cost=Cost(lm_calls=0, usd=None, seconds=0.0),
        created="2026-01-01T00:00:00",
        looks=1,
        promoted=False,
        reason="a benchmark",
    )
    saved = save(home, Program(card, judge.saved(), {}, {}))
    set_aliases(home, NAME, {"champion": saved.version})
    return labels.items, judge


def _fitted(target: IntArray, features: FloatArray, names: Sequence[str], scale: Scale) -> Calibrator:
    """A calibrator of verdict and evidence; the verdicts it learns from are right half the time."""
    chance = np.random.default_rng(0)
    n, n_grades = len(target), len(scale.grades)
    stated = np.where(chance.random(n) < 0.5, target, chance.integers(0, n_grades, n))
    data = Data(np.eye(n_grades)[stated], features, target[:, None], np.arange(n), scale, accept=np.full((n, 1), -1))
    ((_, fitted),) = fit_source(data, "both", ("ordinal",))
    return fitted.model_copy(update={"feature_names": tuple(names), "accept_threshold": 0.5})


def request(home: Path, file: Path, url: str, in_flight: int = 32) -> JudgeFileOptions:
    """``judgec judge FILE --judge bench --api-base URL``."""
    return JudgeFileOptions(
        file=str(file), judge=NAME, out=home / "out.jsonl", api_base=url, in_flight=in_flight, home=home
    )


def run(options: JudgeFileOptions) -> Mapping[str, object]:
    """Judge the file; what ``--json`` prints."""
    return judge_file.run(options, Silent()).report
