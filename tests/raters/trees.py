"""Judges for tests: a prompt under calibrators, as a compile would save it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import dspy

from judgec.evidence.model import EvidenceModel
from judgec.lm.executor import Ask
from judgec.raters.calibrator import Calibrator
from judgec.raters.judge import JudgeTree
from judgec.raters.piece import Piece
from judgec.raters.predictors import saved_prompt
from judgec.raters.prompt import leaf_rater
from judgec.raters.rate import rate_all
from judgec.raters.rater import Rater, Rating
from judgec.raters.run import Bound
from judgec.raters.tree import Leaf, calibrated_by
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale

NONE: Mapping[str, Calibrator] = {}


def judge_of(
    module: dspy.Module,
    scale: Scale,
    aspects: tuple[str, ...],
    evidence: EvidenceModel | None = None,
    calibrators: Mapping[str, Calibrator] = NONE,
    *,
    task: str = "",
    tie_band: float | None = None,
) -> JudgeTree:
    """A judge of one prompt."""
    prompt = saved_prompt(module, scale, "prompt")
    task = task or ("preference" if {"answer_a", "answer_b"} <= {*prompt.inputs} else "answer")
    tree = calibrated_by(prompt, calibrators, evidence, aspects)
    return JudgeTree(tree, task, scale, aspects, tie_band)


@dataclass(frozen=True)
class GivenVerdicts:
    """Verdicts that are known, in the place of a rater.

    Args:
        verdicts: On all items that it will be asked about.
    """

    verdicts: Judgments

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        yield from ()
        row_of = {item_id: row for row, item_id in enumerate(self.verdicts.item_ids)}
        return self.verdicts.subset([row_of[item_id] for item_id in piece.item_ids])


def looking_up(judge: JudgeTree, items: Sequence[Item], ask: Ask, recorded: Callable[[Leaf], Rater]) -> Judgments:
    """What a judge says whose recorded leaves are opened by ``recorded``, and the others asked."""

    def opened(leaf: Leaf) -> Rater:
        if leaf.verdicts:
            return recorded(leaf)
        return leaf_rater(leaf, judge.scale, judge.aspects, both_orders=judge.pairs, to=leaf.name)

    return rate_all(Bound(judge.rater, judge.run(opened)), items, ask)
