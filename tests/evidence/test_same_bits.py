"""Features and parts of every label file are the same bits as before: a judge was calibrated with them.

``features.json`` was recorded before texts were analysed faster. Whoever changes a number on purpose raises ``VERSION``
in ``evidence/text`` (or in ``reasons/parts``) and records anew: ``python -m tests.evidence.test_same_bits``.
"""

import hashlib
import json
from pathlib import Path

import pytest

from judgec.evidence.model import EvidenceModel
from judgec.evidence.reasons.parts import VERSION as PARTS_VERSION
from judgec.evidence.text import VERSION
from judgec.labels.labels import read_labels

LABELS = Path(__file__).parents[2] / "../shared/data/labels"
RECORDED = Path(__file__).with_name("features.json")
QUICK = ("nq301_accept", "pandalm_preference", "expertqa_rand_val_usefulness")


def digests(name: str) -> dict[str, str]:
    """Of the fitted model, of all features, of all parts."""
    labels = read_labels(str(LABELS / f"{name}.jsonl"))
    model = EvidenceModel.fit(labels.items, labels.task)
    features, parts = model.observe(labels.items)
    found = {
        "model": model.digest.encode(),
        f"parts {PARTS_VERSION}": b"".join(parts),
        f"version {VERSION}": features.tobytes(),
    }
    return {what: hashlib.sha256(value).hexdigest()[:16] for what, value in found.items()}


def recorded() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(RECORDED.read_text())
    return found


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name in recorded()]
)
def test_features_of_label_files_are_the_same_bits_as_recorded(name: str) -> None:
    if not LABELS.is_dir():
        pytest.skip("../shared/data/labels is not there; features are not compared with recorded ones")
    found, before = digests(name), recorded()[name]
    same = found.keys() & before.keys()  # parts of another version are others
    if name.endswith("_relevance"):  # its model holds themes, whose last bits are the processor's linear algebra's
        same -= {"model"}
    assert f"version {VERSION}" in same
    assert {what: found[what] for what in same} == {what: before[what] for what in same}


if __name__ == "__main__":
    RECORDED.write_text(json.dumps({name: digests(name) for name in recorded()}, indent=1) + "\n")
