"""A saved judge and a file of items, for the tests of ``judgec judge``."""

import json
from collections.abc import Mapping
from pathlib import Path

from judgec.evidence.model import EvidenceModel
from judgec.labels.bulk.items import open_items
from judgec.lm.watch import Silent
from judgec.raters.calibrator import Calibrator
from judgec.raters.programs import Program, save, set_aliases
from judgec.raters.registry import judge_module
from judgec.raters.signatures import fingerprint
from judgec.records.scale import Scale
from judgec.verbs.judge_file import judge_file
from judgec.verbs.options.judge import JudgeFileOptions
from tests.raters.test_judge import passing
from tests.raters.trees import judge_of
from tests.records.test_card import make_card

SCALE = Scale(grades=(1, 2, 3, 4, 5), accept_at=4)
FIELDS = ("query", "answer", "contexts")
GRADED = ["grade", "score", "accept", "confidence"]
ADDED = [*GRADED, "rationale", "unscored", "probabilities", "learned", "judged_by", "stated_confidence"]
KEY = "sk-never-write-this-anywhere"


def save_judge(
    home: Path,
    name: str = "mine",
    *,
    instructions: str = "Grade the answer.",
    lm: Mapping[str, object] | None = None,
    evidence_of: Path | None = None,
) -> None:
    """A judge whose prompt says ``instructions``; with ``evidence_of`` its grade also follows from evidence."""
    module = judge_module("grade", SCALE, ("grade",), FIELDS)
    module.signature = module.signature.with_instructions(instructions)
    judge = judge_of(module, SCALE, ("grade",), None, {"grade": passing(0.5)})
    if evidence_of is not None:
        items = [*open_items(str(evidence_of), task="grade").items]
        evidence = EvidenceModel.fit(items)
        judge = judge_of(module, SCALE, ("grade",), evidence, {"grade": _both(evidence)})
    card = make_card(
        name=name, scale=SCALE, fields=FIELDS, signature=fingerprint(module),
        lm=lm or {"model": "openai/fake", "temperature": 0.0},
    )  # fmt: skip
    saved = save(home, Program(card, judge.saved(), {}, {}))
    set_aliases(home, name, {"champion": saved.version})


def _both(evidence: EvidenceModel) -> Calibrator:
    from judgec.raters.calibrator import Linear

    width = 4 + len(evidence.names)
    return Calibrator(
        source="both",
        family="multinomial",
        n_grades=5,
        prior=(0.2,) * 5,
        smoothing=0.05,
        center=(0.0,) * width,
        spread=(1.0,) * width,
        linear=Linear(
            coefficients=tuple(tuple(0.1 * ((row + column) % 3 - 1) for column in range(width)) for row in range(5)),
            intercepts=(0.0,) * 5,
            classes=(0, 1, 2, 3, 4),
        ),
        feature_names=evidence.names,
        accept_threshold=0.4,
    )


def write_items(path: Path, count: int) -> Path:
    with path.open("w") as file:
        for n in range(count):
            row = {"item_id": f"i{n}", "query": f"How far is {n}?", "answer": f"{n} km", "contexts": [f"It is {n}."]}
            file.write(json.dumps(row) + "\n")
    return path


def request(home: Path, file: Path, url: str | None, **changes: object) -> JudgeFileOptions:
    fields: dict[str, object] = {
        "file": str(file), "judge": "mine", "out": home / "out.jsonl", "lm": None, "api_base": url, "budget": None,
        "max_cost": None, "in_flight": 16, "home": home,
    }  # fmt: skip
    return JudgeFileOptions(**(fields | changes))  # type: ignore[arg-type]  # the fields above have its types


def run(options: JudgeFileOptions) -> dict[str, object]:
    """Judge a file; returns what ``--json`` prints."""
    return dict(judge_file.run(options, Silent()).report)


def rows(home: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (home / "out.jsonl").read_text().splitlines()]
