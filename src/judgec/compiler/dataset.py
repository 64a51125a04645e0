"""Labels, consensus and split together, as the compiler works with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from judgec.records.label import Experts, IntArray, Item, LabelSet
from judgec.store.experts import experts_of, leave_one_out
from judgec.store.splits import SPLITS, Split, split_items


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the split.

    Args:
        name: ``train``, ``dev`` or ``test``.
        items: Its items.
        experts: Their labels, row i belonging to ``items[i]``.
        others: Consensus grades and accepts without each annotator, each (n_annotators, n_items, n_aspects).
        rationales: What an expert wrote about an item, by item_id.
    """

    name: str
    items: tuple[Item, ...]
    experts: Experts
    others: tuple[IntArray, IntArray]
    rationales: Mapping[str, str]

    def __len__(self) -> int:
        return len(self.items)

    def rationale(self, i: int) -> str:
        """An expert's rationale of item ``i``, or an empty text."""
        return self.rationales.get(self.items[i].item_id, "")

    def rows(self, index: Sequence[int]) -> "Part":
        """The part with only these items."""
        chosen = list(index)
        return Part(
            self.name,
            tuple(self.items[i] for i in chosen),
            self.experts.rows(chosen),
            (self.others[0][:, chosen], self.others[1][:, chosen]),
            self.rationales,
        )

    @property
    def n_queries(self) -> int:
        """How many different queries its items belong to."""
        return len({item.query_id for item in self.items})


@dataclass(frozen=True, slots=True)
class Dataset:
    """Everything a compile learns from and is judged by."""

    labels: LabelSet
    split: Split
    train: Part
    dev: Part
    test: Part


def make_dataset(labels: LabelSet, salt: str, seed: int) -> Dataset:
    """Split labels by query and take the experts' consensus.

    Args:
        labels: As read.
        salt: The family's salt; it alone decides the split.
        seed: Seed of the consensus where two experts differ.
    """
    experts = experts_of(labels, seed)
    split = split_items(labels.items, salt)
    rationales: dict[str, str] = {}
    for label in labels.labels:
        if label.rationale:
            rationales.setdefault(label.item_id, label.rationale)

    whole = Part("all", labels.items, experts, leave_one_out(labels, experts, seed), rationales)
    parts = {name: replace(whole.rows(getattr(split, name)), name=name) for name in SPLITS}
    return Dataset(labels, split, **parts)
