"""A small library, and a scripted model that answers from what its prompt holds."""

from collections.abc import Sequence

from judgec.rag.retrieval.passages import Hit, Passage
from judgec.raters.fencing import unfence
from tests.service.replies import Call, Outcome, Text

FACTS = {
    "ada": "The Ada sensor measures up to 40 bar. It weighs 200 g.",
    "bell": "The Bell sensor measures up to 90 bar. It needs 24 V.",
    "cray": "The Cray sensor measures up to 15 bar.",
    "dirac": "Dirac cables are two metres long.",
}


class Shelf:
    """A retriever that ranks by shared words and remembers what it was asked."""

    name = "shelf"

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def search(self, query: str, k: int) -> list[Hit]:
        self.asked.append((query, k))
        words = set(query.lower().strip("?").split())
        scored = [(len(words & set(text.lower().replace(".", "").split())), name) for name, text in FACTS.items()]
        best = sorted(((score, name) for score, name in scored if score), key=lambda pair: (-pair[0], pair[1]))
        return [Hit(Passage(name, name, FACTS[name]), float(score)) for score, name in best[:k]]

    def search_many(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [self.search(query, k) for query in queries]


def scripted(call: Call) -> Outcome:
    """Two variations; as an answer the first passage with its citation."""
    outputs = [output.name for output in call.prompt.outputs]
    if outputs == ["queries"]:
        return Text("[[ ## queries ## ]]\n1. cables two metres\n- Bell needs 24 V\n\n[[ ## completed ## ]]")
    if outputs == ["answer"]:
        passages = unfence(call.prompt.inputs["passages"])
        first = passages if isinstance(passages, str) else passages[0]
        return Text(f"[[ ## answer ## ]]\n{first} [1] [9]\n\n[[ ## completed ## ]]")
    return Text("ready")
