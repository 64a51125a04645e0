"""The datasheet of docs/howto/grade-fairness.md reaches the prompt: what is asked, and what each grade means."""

import json
from pathlib import Path

from judgec.labels.labels import read_labels
from judgec.raters.registry import judge_module
from tests.docs.blocks import ROOT, blocks

DOCUMENT = ROOT / "docs" / "howto" / "grade-fairness.md"


def test_datasheet_of_the_example_asks_for_both_aspects_with_their_meanings(tmp_path: Path) -> None:
    (sheet,) = [block for block in blocks(DOCUMENT.read_text(encoding="utf-8")) if block.file]
    (tmp_path / sheet.file).write_text(sheet.text, encoding="utf-8")
    rows = [
        {"item_id": f"i{n}", "query": "How?", "answer": f"So {n}.", "grade.fairness": n, "grade.inclusiveness": 2 - n}
        for n in range(3)
    ]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    labels = read_labels(str(tmp_path / "labels.jsonl"))
    assert labels.aspects == ("fairness", "inclusiveness")
    assert labels.source == {"labels": "constructed"}
    assert not [note for note in labels.notes if "describes" in note]  # no aspect is left over
    (predict,) = judge_module(labels.task, labels.scale, labels.aspects, labels.fields).predictors()
    instructions = predict.signature.instructions
    for aspect in labels.aspects:
        told = labels.scale.aspect(aspect)
        assert len(told.meanings) == 3
        assert all(f"{grade}: {meaning}" in instructions for grade, meaning in enumerate(told.meanings))
        asked = predict.signature.output_fields[f"grade_{aspect}"].json_schema_extra["desc"]
        assert asked.startswith(f"{aspect}: {told.asks}")
