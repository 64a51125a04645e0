from judgec.evidence.model import EvidenceModel
from judgec.evidence.reasons.topics import TOPICS, topic_of
from judgec.records.label import Item


def test_every_feature_tells_of_a_topic() -> None:
    item = Item("i", "q", {"query": "how wide", "answer": "4 m", "reference": "4 m", "contexts": ("It is 4 m wide.",)})
    document = Item("d", "q", {"query": "how wide", "document": "It is 4 m wide."})
    names = {*EvidenceModel.fit([item]).names, *EvidenceModel.fit([document]).names}
    assert {topic_of(name) for name in names} <= {*TOPICS}
