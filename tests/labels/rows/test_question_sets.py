"""Generated questions with a column for each annotator: pairs to trust, counted where all call them reliable."""

import json
from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.labels.experts import experts_of
from judgec.labels.labels import read_label_file
from judgec.labels.reading import as_reading
from judgec.report.label_report import by_all

SAID = {"q1": (1, 1, 1), "q2": (1, 1, 0), "q3": (0, 0, 0), "q4": (1, 1, 1), "q5": (1, None, 1)}


def rated(folder: Path, *, yes: object = 1, no: object = 0, several: bool = False) -> str:
    words = {1: yes, 0: no, None: None}
    passage = {"passages": ["It is", "5 m long."]} if several else {"passage": "It is 5 m long."}
    rows = [
        {"query_id": name, "query": f"How long is {name}?", "reference": "5 m", **passage}
        | {who: words[one] for who, one in zip(("ann", "bob", "cem"), said, strict=True)}
        for name, said in SAID.items()
    ]
    path = folder / "rated.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.mark.parametrize(("yes", "no"), [(1, 0), ("yes", "no"), ("accept", "reject"), (True, False)])
def test_generated_questions_with_a_column_an_annotator_are_pairs_to_trust(
    tmp_path: Path, yes: object, no: object
) -> None:
    labels = read_label_file(rated(tmp_path, yes=yes, no=no), as_reading(annotators=("ann", "bob", "cem"))).labels
    assert (labels.task, labels.aspects, len(labels.labels)) == ("reliability", ("reliable",), 14)
    assert labels.items[0].inputs == {"query": "How long is q1?", "passage": "It is 5 m long.", "answer": "5 m"}
    experts = experts_of(labels)
    found = by_all(experts.accept_by, experts.cluster)
    assert found is not None
    assert (found["accepted"], found["rejected"], found["of"]) == (3, 1, 5)
    probed = read_label_file(rated(tmp_path, several=True), as_reading(annotators=("ann", "bob", "cem"))).labels
    assert probed.items[0].inputs["passage"] == "It is\n5 m long."  # the passages of a probe are one


def test_aspects_of_annotators_stay_aspects(tmp_path: Path) -> None:
    row = {"query": "Q?", "passage": "P.", "reference": "R"}
    rows = [row | {"query": f"Q{n}?", "ann.question_in_passage": 1, "ann.answer_in_passage": n % 2} for n in range(4)]
    path = tmp_path / "rated.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    labels = read_label_file(str(path), as_reading(annotators=("ann",))).labels
    assert labels.aspects == ("question_in_passage", "answer_in_passage")


def test_questions_that_nobody_rated_are_refused_with_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "made.jsonl"
    path.write_text(json.dumps({"query": "Q?", "passage": "P.", "reference": "R"}) + "\n")
    with pytest.raises(InputError, match="grade"):
        read_label_file(str(path))
