"""Judgments as rows of JSON."""

import json
from dataclasses import replace

import numpy as np

from judgec.records.judgment import Judgments
from judgec.records.scale import Scale

SCALE = Scale(grades=(0, 1, 2.5), accept_at=1)
NAN = float("nan")


def judgments(*aspects: str, unscored: tuple[str | None, ...] = (None, "malformed reply: no field")) -> Judgments:
    n, j = len(unscored), len(aspects)
    lost = np.array([reason is not None for reason in unscored])
    grade = np.where(lost[:, None], -1, np.arange(j)[None] + 1)
    spread = np.where(lost[:, None, None], NAN, np.tile([0.2, 0.3, 0.5], (n, j, 1)))
    return Judgments(
        item_ids=tuple(f"i{k}" for k in range(n)),
        aspects=aspects,
        probabilities=spread,
        grade=grade,
        score=np.where(lost[:, None], NAN, np.full(j, 1.55)),
        accept=np.where(lost[:, None], -1, np.arange(j)[None]),
        confidence=np.where(lost[:, None], NAN, np.full(j, 0.5)),
        rationale=("because", "")[:n],
        stated=np.array([0.75, np.nan])[:n],
        unscored=unscored,
    )


def test_row_of_one_aspect_has_the_plain_names() -> None:
    scored, lost = judgments("grade").rows(SCALE)
    assert scored == {
        "item_id": "i0",
        "grade": 1,
        "score": 1.55,
        "accept": False,
        "probabilities": {"0": 0.2, "1": 0.3, "2.5": 0.5},
        "confidence": 0.5,
        "stated_confidence": 0.75,
        "rationale": "because",
        "unscored": None,
    }
    assert lost == dict.fromkeys(scored) | {"item_id": "i1", "rationale": "", "unscored": "malformed reply: no field"}


def test_row_of_several_aspects_is_keyed_by_aspect() -> None:
    scored, lost = judgments("accuracy", "tone").rows(SCALE)
    assert scored["grades"] == {"accuracy": 1, "tone": 2.5}
    assert scored["accepts"] == {"accuracy": False, "tone": True}
    keyed = {"grades", "scores", "accepts", "probabilities", "confidences"}
    assert set(scored) == keyed | {"item_id", "stated_confidence", "rationale", "unscored"}
    assert lost["grades"] == {"accuracy": None, "tone": None}


def test_rows_are_json_and_nothing_missing_becomes_a_number() -> None:
    for one in (judgments("grade"), judgments("a", "b")):
        for row in one.rows(SCALE):
            json.dumps(row, allow_nan=False)
    text = json.dumps(list(judgments("grade").rows(SCALE))[1])
    assert not any(digit in text.replace("i1", "") for digit in "0123456789")


def test_what_is_missing_of_a_scored_item_is_null_and_not_the_best_grade() -> None:
    one = judgments("a", "b", unscored=(None,))
    one.grade[0, 1] = -1
    (row,) = one.rows(SCALE)
    assert (row["grades"], row["scores"]) == ({"a": 1, "b": None}, {"a": 1.55, "b": None})
    for missing, unknown in (("accept", -1), ("confidence", NAN)):
        one = judgments("grade", unscored=(None,))
        getattr(one, missing)[0, 0] = unknown
        (row,) = one.rows(SCALE)
        assert (row[missing], row["grade"]) == (None, 1)


def test_subset_takes_every_column_of_the_named_rows_in_their_order() -> None:
    both = replace(judgments("accuracy", "tone"), flipped=np.array([True, False]))
    rows = list(both.rows(SCALE))
    turned = both.subset([1, 0, 1])
    assert list(turned.rows(SCALE)) == [rows[1], rows[0], rows[1]]
    assert turned.flipped is not None
    assert turned.flipped.tolist() == [False, True, False]
    assert judgments("grade").subset([]).probabilities.shape == (0, 1, 3)
    assert judgments("grade").subset([0]).flipped is None
