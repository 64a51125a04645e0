"""A judge as a tree of raters: what is saved is what rates.

A leaf says what somebody says of items: a prompt that is put to a model, recorded verdicts, a Python function, the
evidence alone. A node makes grades of what is below it: ``Calibrated`` maps verdicts and evidence to the experts'
grades, ``Mean`` is several at once, ``Cascade`` one after the other where the first is not sure enough. Scale, aspects
and task are the judge's (``raters.judge``); models, files and features are the run's, which opens the leaves.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self, TypeAlias

import numpy as np
from pydantic import Field, PlainSerializer, PlainValidator, model_validator

from judgec.evidence.model import EvidenceModel, Observed
from judgec.lm.adapters import CHAT, AdapterName
from judgec.raters.calibrator import Calibrator
from judgec.raters.decision import half_way
from judgec.raters.grading import Observe, graded
from judgec.raters.piece import Piece
from judgec.raters.pool import Thresholds, merged, pool
from judgec.raters.rater import Rating, not_yet, together
from judgec.raters.run import Run
from judgec.records.card import Setting
from judgec.records.judgment import Judgments
from judgec.records.label import FloatArray, IntArray
from judgec.records.record import FiniteRecord

EVIDENCE = "evidence"  # as a judge's name: the one that asks nobody
PLACEHOLDER = re.compile(r"\{(\w+)\}")  # of an item's text, in a turn
FieldType = Literal["text", "integer", "number", "grade"]
SavedEvidence = Annotated[EvidenceModel, PlainValidator(EvidenceModel.read), PlainSerializer(EvidenceModel.to_json)]


class Node(FiniteRecord):
    """A rater that can be saved.

    Args:
        kind: Tells the records apart.
    """

    kind: str

    def rate(self, piece: Piece, run: Run) -> Rating:
        """Judge the items of a piece, in order."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple["Node", ...]:
        """The raters that it is made of, in the order in which they are asked."""
        return ()

    @property
    def leaves(self) -> Iterator["Leaf"]:
        """Those whose verdicts come from outside, in the order in which they are asked."""
        for one in self.parts:
            yield from one.leaves

    @property
    def calibrators(self) -> Mapping[str, Calibrator]:
        """By aspect those whose grades are the node's; none of raw verdicts and of several together."""
        return {}

    @property
    def thresholds(self) -> Thresholds:
        """By aspect the accept thresholds that were fitted."""
        fitted = self.calibrators.items()
        return {aspect: one.accept_threshold for aspect, one in fitted if one.accept_threshold is not None}


class Leaf(Node):
    """A rater whose raw verdicts the run gives.

    Args:
        name: Among judges; of recorded verdicts as the file calls it.
        verdicts: Where its verdicts were recorded, as ``--lm`` says it: ``recorded:FILE``, ``recorded:columns`` of what
            is judged; empty of one that is always asked.
    """

    name: str = ""
    verdicts: str = ""

    def rate(self, piece: Piece, run: Run) -> Rating:
        """As ``Node.rate``."""
        return (yield from run.rater(self).rate(piece))

    @property
    def leaves(self) -> Iterator["Leaf"]:
        """Itself."""
        yield self


class RecordedLeaf(Leaf):
    """Verdicts that are looked up."""

    kind: Literal["recorded"] = "recorded"


class FunctionLeaf(Leaf):
    """A Python function, which is given the item and no prompt.

    Args:
        lm: It as a model (``LMSpec.describe``): its name, its version, its range.
        inputs: The fields of an item that it is given.
    """

    kind: Literal["function"] = "function"
    lm: dict[str, Setting]
    inputs: tuple[str, ...]


class PromptField(FiniteRecord):
    """A field of a prompt.

    Args:
        name: As the model reads it.
        output: The model writes it.
        type: Of its content; ``grade`` is one of the scale's.
        description: What the prompt says of it.
    """

    name: str
    output: bool
    type: FieldType
    description: str


class PromptLeaf(Leaf):
    """A prompt that is put to a model: fields in DSPy's form, or turns that somebody else wrote.

    Where its verdicts were recorded, a verdict that an item has stands for the model's.

    Args:
        lm: The model (``LMSpec.describe``), whose endpoint is never read from a file; empty where nobody knows it.
        form: How the prompt is written.
        instructions: What the model is told.
        fields: Inputs and outputs, in order.
        demos: Graded items that the prompt shows.
        turns: In place of instructions and fields: role and text of each turn, by aspect, ``""`` for all of them;
            ``{query}`` stands for the item's query, and so on.
        verdict: The form of a verdict that it asks for, with ``{v}`` in the place of the grade, which alone is read.
    """

    kind: Literal["prompt"] = "prompt"
    lm: dict[str, Setting] = Field(default_factory=dict)
    form: AdapterName = CHAT
    instructions: str = ""
    fields: tuple[PromptField, ...] = ()
    demos: tuple[dict[str, Setting], ...] = ()
    turns: dict[str, tuple[tuple[str, str], ...]] = Field(default_factory=dict)
    verdict: str | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        strange = {name for demo in self.demos for name in demo} - {*(one.name for one in self.fields), "augmented"}
        if bool(self.turns) == bool(self.fields) or strange or (self.turns and self.demos):
            seen = f"{len(self.fields)} fields, {len(self.turns)} prompts in turns, demonstrations with"
            raise ValueError(
                f"prompt {self.name}: {seen} {', '.join(sorted(strange)) or 'no other fields'}; fields or turns, and "
                "demonstrations of these fields, are valid."
            )
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        """The fields of an item that it shows."""
        told = [name for turns in self.turns.values() for _, text in turns for name in PLACEHOLDER.findall(text)]
        return tuple(dict.fromkeys([*told, *(one.name for one in self.fields if not one.output)]))

    @property
    def grades(self) -> tuple[str, ...]:
        """The fields that hold a grade, in the order of the aspects."""
        return tuple(one.name for one in self.fields if one.type == "grade")


class EvidenceAlone(Node):
    """The evidence alone: it asks nobody.

    Args:
        model: Makes the features.
        by: The calibrator of each aspect.
    """

    kind: Literal["evidence"] = "evidence"
    model: SavedEvidence
    by: dict[str, Calibrator] = Field(min_length=1)

    def rate(self, piece: Piece, run: Run) -> Rating:
        """As ``Node.rate``; the features may be computed while pieces before this one are judged."""
        rows, sides = range(len(piece.item_ids)), (False, True) if run.pairs else (False,)
        begun = {turned: run.features.begin(self.model, piece, rows, turned=turned) for turned in sides}
        yield ()
        return graded(self.by, self.model, piece, None, run, lambda _, turned: begun[turned]())

    @property
    def calibrators(self) -> Mapping[str, Calibrator]:
        """As ``Node.calibrators``."""
        return self.by


class Calibrated(Node):
    """Verdicts, with the evidence beside them, as the experts' grades.

    Args:
        of: Whose verdicts.
        by: The calibrator of each aspect; an aspect without one keeps the verdict as it is.
        beside: Makes the features that they read, or None where none reads any.
    """

    kind: Literal["calibrated"] = "calibrated"
    of: "Rates"
    by: dict[str, Calibrator] = Field(default_factory=dict)
    beside: SavedEvidence | None = None

    def rate(self, piece: Piece, run: Run) -> Rating:
        """As ``Node.rate``."""
        raw = yield from self.of.rate(piece, run)
        if isinstance(self.of, Leaf):
            run.count.half_way += half_way(raw, run.scale)
        return self.graded(piece, raw, run)

    def graded(self, piece: Piece, raw: Judgments, run: Run) -> Judgments:
        """The grades that follow from these verdicts on the piece."""
        return graded(self.by, self.beside, piece, raw, run, self._observe(piece, run))

    def _observe(self, piece: Piece, run: Run) -> Observe:
        def observe(rows: IntArray, turned: bool) -> Observed:
            assert self.beside is not None  # asked only then
            return run.features.begin(self.beside, piece, rows.tolist(), turned=turned)()

        return observe

    @property
    def parts(self) -> tuple[Node, ...]:
        """As ``Node.parts``."""
        return (self.of,)

    @property
    def calibrators(self) -> Mapping[str, Calibrator]:
        """As ``Node.calibrators``."""
        return self.by


class Mean(Node):
    """Several at once, whose distributions are averaged (``raters.pool``).

    Args:
        of: At least two.
    """

    kind: Literal["mean"] = "mean"
    of: tuple["Rates", ...] = Field(min_length=2)

    @property
    def members(self) -> tuple[str, ...]:
        """The names of those whose verdicts are pooled."""
        return tuple(leaf.name for leaf in self.leaves)

    def rate(self, piece: Piece, run: Run) -> Rating:
        """As ``Node.rate``; what one of them was not asked before the run ended stays unscored."""
        said = yield from together([one.rate(piece, run) for one in self.of])
        raw = all(isinstance(one, Leaf) for one in self.of)
        return pool(said, run.scale, None if raw else [one.thresholds for one in self.of]).without(not_yet(said))

    @property
    def parts(self) -> tuple[Node, ...]:
        """As ``Node.parts``."""
        return self.of


class Cascade(Node):
    """One after the other: the second is asked where the first decided nothing, or is not sure enough.

    Args:
        first: Is asked about every item.
        then: Is asked about the others.
        below: The confidence of ``first`` under which this is so, the least of its aspects.
    """

    kind: Literal["cascade"] = "cascade"
    first: "Rates"
    then: "Rates"
    below: float = Field(ge=0, le=1, strict=True)

    def rate(self, piece: Piece, run: Run) -> Rating:
        """As ``Node.rate``."""
        first = yield from self.first.rate(piece, run)
        rows = self.passed_on(first)
        run.count.add(run.orders * (len(first.item_ids) - len(rows)), 0)
        second = (yield from self.then.rate(piece.only(rows.tolist()), run)) if len(rows) else first.subset([])
        return merged(first, second, rows)

    def passed_on(self, first: Judgments) -> IntArray:
        """Positions of the items that the second is asked about."""
        return np.flatnonzero(~(least_confidence(first) >= self.below))

    @property
    def parts(self) -> tuple[Node, ...]:
        """As ``Node.parts``."""
        return self.first, self.then

    @property
    def calibrators(self) -> Mapping[str, Calibrator]:
        """Those of the second."""
        return self.then.calibrators


def least_confidence(judged: Judgments) -> FloatArray:
    """The least confidence over the aspects, shape (n_items,); -infinity where nothing was decided.

    Args:
        judged: Calibrated judgments, of pairs after both orders were brought together.
    """
    return np.where(judged.scored, judged.confidence.min(axis=1), -np.inf)


AnyLeaf: TypeAlias = PromptLeaf | RecordedLeaf | FunctionLeaf
Rates = Annotated[
    PromptLeaf | RecordedLeaf | FunctionLeaf | EvidenceAlone | Calibrated | Mean | Cascade,
    Field(discriminator="kind"),
]


def calibrated_by(
    of: Rates, by: Mapping[str, Calibrator], beside: EvidenceModel | None, aspects: tuple[str, ...]
) -> Calibrated | EvidenceAlone:
    """A rater under its calibrators; evidence alone where no aspect needs a verdict.

    Args:
        of: Whose verdicts.
        by: The calibrators, by aspect.
        beside: Makes the features, or None.
        aspects: What is graded.
    """
    if beside is not None and all(aspect in by and by[aspect].source == "evidence" for aspect in aspects):
        return EvidenceAlone(model=beside, by=dict(by))
    reads = any(one.source != "lm" for one in by.values())
    return Calibrated(of=of, by=dict(by), beside=beside if reads else None)


class SavedTree(FiniteRecord):
    """A tree in a file.

    Args:
        tree: Its root.
    """

    tree: Rates
