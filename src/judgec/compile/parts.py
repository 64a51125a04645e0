"""The data of each round of a compile: the single split, or one round a fold and one that refits on all."""

from dataclasses import dataclass

from judgec.compile.dataset import Dataset, make_dataset, with_split
from judgec.labels.split.draw import fold_splits
from judgec.labels.split.memory import Memory
from judgec.labels.split.queries import with_swapped_together
from judgec.records.consensus import Consensus
from judgec.records.judgment import Judgments, concatenate
from judgec.records.label import LabelSet


@dataclass(frozen=True, slots=True)
class Parts:
    """The data that a compile learns from and is tested on.

    Args:
        pooled: All that is tested; with the single split, the split itself.
        tested: What each round learns from and tests; together they test the items of ``pooled`` once.
        refit: What the judge that ships learns from: all of it. None with the single split, whose judge ships.
    """

    pooled: Dataset
    tested: tuple[Dataset, ...]
    refit: Dataset | None = None

    @property
    def shipped(self) -> Dataset:
        """The data that the shipped judge learns from."""
        return self.refit or self.pooled

    @property
    def rounds(self) -> tuple[Dataset, ...]:
        """Every round that looks for a prompt of its own."""
        return self.tested if self.refit is None else (*self.tested, self.refit)

    def pool(self, pieces: list[Judgments]) -> Judgments:
        """The judgments of each round's test items as one, in the order of ``pooled``."""
        if len(pieces) == 1:
            return pieces[0]
        row = {item_id: i for i, item_id in enumerate(i for piece in pieces for i in piece.item_ids)}
        return concatenate(pieces).subset([row[item.item_id] for item in self.pooled.test.items])


def make_parts(labels: LabelSet, seed: int, *, memory: Memory, folds: int, consensus: Consensus = "share") -> Parts:
    """Split the labels for every round.

    Args:
        labels: As read.
        seed: Seed of a consensus that is picked.
        memory: What the home remembers of queries.
        folds: From ``folds_of``.
        consensus: As ``experts_of``.
    """
    if folds == 1:
        dataset = make_dataset(labels, seed, memory=memory, consensus=consensus)
        return Parts(dataset, (dataset,))
    labels = with_swapped_together(labels)
    pooled, splits, whole = fold_splits(labels, folds, memory)
    tested = tuple(with_split(labels, split, seed, consensus) for split in splits)
    return Parts(
        pooled=with_split(labels, pooled, seed, consensus),
        tested=tuple(dataset for dataset in tested if dataset.test.items),
        refit=with_split(labels, whole, seed, consensus),
    )
