import gc
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgec.errors import ArtifactError
from judgec.evidence.model import EvidenceModel, Idf
from judgec.evidence.text import VERSION, library_of
from judgec.records.label import Item, Text

FULL = Item(
    "1", "q1", {"query": "who won", "answer": "Ann won.", "reference": "Ann", "contexts": ("Ann won.", "Bo lost.")}
)
BARE = Item("2", "q2", {"query": "who lost", "answer": "Bo lost in 1990."})
EMPTY = Item("3", "q3", {"query": "", "answer": "", "reference": "", "contexts": ()})


def pair(a: str, b: str) -> Item:
    return Item("p", "q", {"query": "name a city", "answer_a": a, "answer_b": b, "reference": "Rome"})


def column(model: EvidenceModel, item: Item, name: str) -> float:
    return float(model.transform([item])[0, model.names.index(name)])


def test_fit_fields_present_decide_the_families() -> None:
    assert EvidenceModel.fit([FULL, BARE]).families == ("answer", "reference", "contexts")
    assert EvidenceModel.fit([BARE]).families == ("answer",)
    relevance = Item("d", "q", {"query": "iron", "document": "iron tower"})
    assert EvidenceModel.fit([relevance]).families == ("document",)
    assert EvidenceModel.fit([pair("Rome", "Oslo")]).families == ("answer", "reference")


def test_idf_by_hand_and_unseen_stem_weighs_one() -> None:
    idf = Idf.fit([["common", "rare"], ["common"]])
    assert idf["common"] == pytest.approx(np.log(2) / np.log(5), abs=1e-6)
    assert idf["rare"] == pytest.approx(np.log(3) / np.log(5), abs=1e-6)
    assert idf["unseen"] == 1.0
    assert "unseen" not in idf


def test_transform_missing_field_is_zero_with_its_indicator() -> None:
    model = EvidenceModel.fit([FULL, BARE])
    assert column(model, BARE, "reference.absent") == 1.0
    assert column(model, FULL, "reference.absent") == 0.0
    row = model.transform([BARE])[0]
    assert all(
        row[i] == 0.0 for i, name in enumerate(model.names) if name.startswith("contexts.") and "absent" not in name
    )
    assert column(model, EMPTY, "answer.absent") == 1.0


def test_transform_rows_do_not_depend_on_the_batch() -> None:
    model = EvidenceModel.fit([FULL, BARE])
    together = model.transform([BARE, FULL, EMPTY, FULL])
    alone = np.vstack([model.transform([item]) for item in (BARE, FULL, EMPTY, FULL)])
    np.testing.assert_array_equal(together, alone)
    assert together.shape == (4, len(model.names))
    assert model.transform([]).shape == (0, len(model.names))


@given(st.text(max_size=60), st.text(max_size=60))
def test_transform_swapped_pair_flips_every_sign(a: str, b: str) -> None:
    model = EvidenceModel.fit([pair("Rome", "Oslo is larger")])
    np.testing.assert_array_equal(model.transform([pair(a, b)]), -model.transform([pair(b, a)]))


def test_transform_pair_longer_and_matching_answer_is_positive() -> None:
    model = EvidenceModel.fit([pair("Rome", "Oslo")])
    assert column(model, pair("It is Rome", "Oslo"), "answer.length") > 0
    assert column(model, pair("It is Rome", "Oslo"), "reference.recall_new") == 1.0


@settings(max_examples=60)
@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=40), st.lists(st.text(max_size=80), max_size=3))
def test_transform_any_text_is_finite_and_repeatable(
    answer: str, query: str, reference: str, contexts: list[str]
) -> None:
    inputs: dict[str, Text] = {
        "answer": answer,
        "query": query,
        "reference": reference,
        "contexts": tuple(contexts),
        "document": answer,
    }
    model = EvidenceModel.fit([FULL, BARE, Item("d", "q", {"query": "iron", "document": "iron tower"})])
    assert model.families == ("document", "answer", "reference", "contexts")
    row = model.transform([Item("x", "q", inputs)])
    assert np.isfinite(row).all()
    np.testing.assert_array_equal(row, model.transform([Item("x", "q", inputs)]))


def test_transform_leaves_the_search_for_cycles_as_it_was() -> None:
    model, running = EvidenceModel.fit([FULL]), gc.isenabled()
    try:
        for wanted in (True, False):
            (gc.enable if wanted else gc.disable)()
            model.transform([FULL])
            assert gc.isenabled() is wanted
    finally:
        (gc.enable if running else gc.disable)()


def test_transform_of_texts_that_come_again_is_the_same_bits() -> None:
    model = EvidenceModel.fit([FULL, BARE])
    library_of.cache_clear()
    first = model.observe([FULL, BARE, EMPTY])
    features, parts = model.observe([EMPTY, BARE, FULL])
    assert features[::-1].tobytes() == first[0].tobytes()
    assert parts[::-1] == first[1]


def test_transform_very_long_contexts_stays_linear_enough() -> None:
    long = " ".join(f"word{i % 5000} and" for i in range(60_000))
    item = Item("l", "q", {"query": "which word", "answer": "word17 and word18. word4999", "contexts": (long,)})
    model = EvidenceModel.fit([FULL])
    assert np.isfinite(model.transform([item])).all()
    assert column(model, item, "contexts.support_new") == 1.0


def test_json_round_trip_gives_the_same_features_and_digest() -> None:
    model = EvidenceModel.fit([FULL, BARE])
    again = EvidenceModel.from_json(model.to_json())
    assert (again.digest, again.names) == (model.digest, model.names)
    np.testing.assert_array_equal(again.transform([FULL, BARE]), model.transform([FULL, BARE]))
    assert EvidenceModel.fit([FULL]).digest != model.digest


def test_fit_order_of_items_does_not_matter() -> None:
    assert EvidenceModel.fit([FULL, BARE]).digest == EvidenceModel.fit([BARE, FULL]).digest


@pytest.mark.parametrize(
    "change",
    [
        {"version": VERSION - 1},
        {"version": VERSION + 1},
        {"families": ["sound"]},
        {"idf": {"a": 2}},
        {"idf": []},
        {"mean_length": None},
    ],
)
def test_from_json_damaged_state_is_refused(change: dict[str, object]) -> None:
    state = json.loads(EvidenceModel.fit([FULL]).to_json()) | change
    with pytest.raises(ArtifactError, match="evidence model"):
        EvidenceModel.from_json(json.dumps(state))


def test_from_json_not_json_is_refused() -> None:
    with pytest.raises(ArtifactError, match="Compile again"):
        EvidenceModel.from_json("\x80\x04pickle")
