"""Evidence of what other systems answered, on answers that can be checked by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from judgec.evidence.model import EvidenceModel
from judgec.evidence.peer_features import PEER_NAMES
from judgec.evidence.reasons.parts import said
from judgec.evidence.reasons.topics import TOPICS
from judgec.labels.rows.items import item_digest
from judgec.raters.registry import judge_module
from judgec.records.label import Item, Text
from judgec.records.scale import Scale

QUERY = "Who painted the Rill chapel?"


def item(answer: str, peers: Sequence[str] = (), reference: str = "Ada Fern") -> Item:
    inputs: dict[str, Text] = {"query": QUERY, "answer": answer, "reference": reference}
    return Item(answer, "1", inputs | ({"peers": tuple(peers)} if peers else {}))


def features(one: Item) -> dict[str, float]:
    """As they are, without the means of training."""
    model = EvidenceModel.fit([one])
    row = model.transform([one])[0, [model.names.index(f"peers.{name}") for name in PEER_NAMES]]
    return dict(zip(PEER_NAMES, row + np.array(model.peer_means), strict=True))


def test_shares_are_of_all_peers_and_a_text_counts_for_each_that_gives_it() -> None:
    found = features(item("Ada Fern", ["Ada Fern", "Ada Fern", "It was Ada Fern.", "Bo Marsh"]))
    assert found["agreeing"] == pytest.approx(0.75)
    assert found["inside"] == pytest.approx(0.75)
    assert found["consensus"] == pytest.approx(0.75)
    assert found["beside_consensus"] == pytest.approx(0.0, abs=1e-6)
    assert found["reference"] == pytest.approx(0.75)
    assert found["beside_reference"] == pytest.approx(0.25)
    assert found["said_by"] == pytest.approx(0.75)
    assert found["count"] == pytest.approx(np.log(5))


def test_an_answer_that_no_peer_gives_is_alone() -> None:
    found = features(item("Bo Marsh", ["Ada Fern", "Ada Fern"]))
    assert found["agreeing"] == found["likeness"] == found["said_by_least"] == 0.0
    assert found["consensus"] == pytest.approx(1.0)
    assert found["beside_reference"] == pytest.approx(-1.0)


def test_other_figures_conflict_and_the_same_do_not() -> None:
    assert features(item("In 1912", ["1913", "1912", "Ada Fern", "1850"]))["number_conflict"] == pytest.approx(0.5)


def test_features_do_not_depend_on_the_order_of_the_peers() -> None:
    peers = ["Ada Fern", "Bo Marsh, 1912", "Fern", "Ada Fern and Bo Marsh"]
    assert features(item("Ada Fern", peers)) == features(item("Ada Fern", peers[::-1]))


def test_an_item_without_peers_has_what_training_has_on_average() -> None:
    train = [item("Ada Fern", ["Ada Fern", "Bo Marsh"]), item("Bo Marsh", ["Ada Fern", "Ada Fern"])]
    model = EvidenceModel.fit(train)
    columns = [i for i, name in enumerate(model.names) if name.startswith("peers.") and not name.endswith("absent")]
    np.testing.assert_allclose(model.transform(train)[:, columns].mean(axis=0), 0.0, atol=1e-6)
    (alone,) = model.transform([item("Ada Fern")])
    assert not alone[columns].any()
    assert alone[model.names.index("peers.absent")] == 1.0
    again = EvidenceModel.from_json(model.to_json())
    assert again.digest == model.digest
    np.testing.assert_array_equal(again.transform(train), model.transform(train))


def test_items_without_the_column_keep_their_evidence() -> None:
    """The families, the weights of words and the digest of a model are as if there were no peers at all."""
    with_peers, without = item("Ada Fern", ["Ada Fern", "Cy Dale"]), item("Ada Fern")
    model, plain = EvidenceModel.fit([with_peers]), EvidenceModel.fit([without])
    assert "peers" not in plain.families
    assert "peer_means" not in plain.to_json()
    assert model.idf == plain.idf


def test_peers_are_part_of_the_digest_and_never_of_the_prompt() -> None:
    assert item_digest(item("Ada Fern", ["Bo Marsh"])) != item_digest(item("Ada Fern", ["Cy Dale"]))
    fields = ("answer", "peers", "query", "reference")
    (predictor,) = judge_module("grade", Scale(grades=(0, 1), accept_at=1), ("grade",), fields).predictors()
    assert "peers" not in predictor.signature.input_fields


def test_the_reason_counts_who_says_the_same() -> None:
    one = item("Ada Fern", ["Ada Fern", "It was Ada Fern.", "Bo Marsh"])
    (packed,) = EvidenceModel.fit([one]).observe([one])[1]
    assert said(packed)[TOPICS.index("peers")] == "2 of 3 other systems say the same"
