"""Labels, consensus and split together, as the compiler works with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgec.labels.experts import experts_of
from judgec.labels.split.draw import FRESH, split_labels
from judgec.labels.split.family import SPLITS, Split
from judgec.labels.split.memory import Memory
from judgec.labels.split.queries import with_swapped_together
from judgec.records.consensus import Consensus, settled
from judgec.records.judgment import Judgments
from judgec.records.label import UNLABELLED, Experts, Item, Label, LabelSet
from judgec.records.ratings import GradePairs, pair


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the split: its labelled items.

    Args:
        name: ``train``, ``dev`` or ``test``.
        items: Its items.
        experts: Their labels, row i belonging to ``items[i]``.
        rationales: The labels with a reason of each item, by item_id.
    """

    name: str
    items: tuple[Item, ...]
    experts: Experts
    rationales: Mapping[str, tuple[Label, ...]]

    def __len__(self) -> int:
        return len(self.items)

    def rationale(self, i: int) -> str:
        """The experts' reason for the grade of item ``i``, from one who gave just that grade; or an empty text."""
        return next((label.rationale for label in self.reasoned(i) if self.agrees(label, i)), "")

    def reasoned(self, i: int) -> tuple[Label, ...]:
        """The labels of item ``i`` that have a reason."""
        return self.rationales.get(self.items[i].item_id, ())

    def agrees(self, label: Label, i: int) -> bool:
        """True if a label of item ``i`` says what the experts together say of it, and no other grade is as good."""
        experts, who = self.experts, self.experts.annotators.index(label.annotator)
        said = ((experts.grade_by, experts.target), (experts.accept_by, experts.target_accept))
        return all(bool(((by[who, i] == UNLABELLED) | (by[who, i] == settled(of[i]))).all()) for by, of in said)

    def rows(self, index: Sequence[int]) -> "Part":
        """The part with only these items."""
        chosen = list(index)
        return Part(
            self.name,
            tuple(self.items[i] for i in chosen),
            self.experts.rows(chosen),
            self.rationales,
        )

    @property
    def n_reasons(self) -> int:
        """Number of reasons that the experts gave of its items."""
        return sum(len(self.reasoned(i)) for i in range(len(self)))

    @property
    def n_queries(self) -> int:
        """Number of different queries that its items belong to."""
        return len({item.query_id for item in self.items})


def joined(*parts: Part) -> Part:
    """Several parts of one data set as one, in this order, under the first one's name."""
    first = parts[0]
    experts = [part.experts for part in parts]
    systems = [one.system for one in experts]
    items = tuple(item for part in parts for item in part.items)
    codes: dict[str, int] = {}
    return Part(
        first.name,
        items,
        replace(
            first.experts,
            target=np.concatenate([one.target for one in experts]),
            target_accept=np.concatenate([one.target_accept for one in experts]),
            cluster=np.array([codes.setdefault(item.query_id, len(codes)) for item in items], dtype=np.int64),
            grade_by=np.concatenate([one.grade_by for one in experts], axis=1),
            accept_by=np.concatenate([one.accept_by for one in experts], axis=1),
            system=None
            if first.experts.system is None
            else np.concatenate([own for own in systems if own is not None]),
            draws=None
            if first.experts.draws is None
            else np.concatenate([one.draws for one in experts if one.draws is not None]),
        ),
        first.rationales,
    )


@dataclass(frozen=True, slots=True)
class Dataset:
    """Everything a compile learns from and is judged by."""

    labels: LabelSet
    split: Split
    train: Part
    dev: Part
    test: Part


def make_dataset(labels: LabelSet, seed: int, *, memory: Memory = FRESH, consensus: Consensus = "share") -> Dataset:
    """Split labels by query and take the experts' consensus.

    Args:
        labels: As read.
        seed: Seed of a consensus that is picked; the split depends on none.
        memory: What the home remembers of queries; those that it knows stay where they are.
        consensus: As ``experts_of``.
    """
    labels = with_swapped_together(labels)
    return with_split(labels, split_labels(labels, memory), seed, consensus)


def with_split(labels: LabelSet, split: Split, seed: int, consensus: Consensus = "share") -> Dataset:
    """The labels under a split that is given, with the experts' consensus.

    Args:
        labels: As read.
        split: Positions of the items of each part.
        seed: Seed of a consensus that is picked.
        consensus: As ``experts_of``.
    """
    experts = experts_of(labels, seed, consensus=consensus)
    rationales: dict[str, tuple[Label, ...]] = {}
    for label in labels.labels:
        if label.rationale and label.annotator in experts.annotators:
            rationales[label.item_id] = (*rationales.get(label.item_id, ()), label)

    # An item that nobody labelled teaches nothing and tests nothing: no judge is asked about it.
    labelled = ((experts.target != UNLABELLED) | (experts.target_accept != UNLABELLED)).any(axis=(1, 2))
    whole = Part("all", labels.items, experts, rationales)
    parts = {name: replace(whole.rows([i for i in getattr(split, name) if labelled[i]]), name=name) for name in SPLITS}
    return Dataset(labels, split, **parts)


def ratings_of(dataset: Dataset, part: Part, judgments: Judgments, aspect: int | None = None) -> GradePairs:
    """A judge beside the experts on a part of the split."""
    labels = dataset.labels
    return pair(part.experts, judgments, labels.scale, accept_only=labels.accept_only, aspect=aspect)
