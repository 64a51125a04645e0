"""Pairs in a stream: both orders, flips and the features of the mirror image, and all of it known the second time."""

from pathlib import Path

import numpy as np
import pytest

from judgec.lm.client import client_of, open_lm
from judgec.lm.executor import Executor
from judgec.lm.journal.journal import Journal
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from judgec.raters.features import KeptFeatures
from judgec.raters.judge import JudgeTree
from judgec.raters.known import KnownAnswers
from judgec.raters.pairwise import both_orders, mirrored
from judgec.raters.piece import pieces_of
from judgec.raters.prompt import PromptRater
from judgec.raters.rate import rated
from judgec.raters.rater import BothOrders
from judgec.raters.run import Bound
from judgec.records.judgment import Judgments, concatenate
from judgec.records.tasks.preference import PREFERENCE_SCALE as SCALE
from tests.raters.engine import ScriptedEngine
from tests.raters.test_pairwise import ITEMS, MODULE, by_quality, engine, lopsided
from tests.raters.trees import judge_of


def streamed(path: Path, judge: JudgeTree, llm: ScriptedEngine) -> tuple[Judgments, Usage]:
    usage = Usage()
    with Journal(path) as journal:
        lm = open_lm(LMSpec(model="hosted_vllm/scripted"), journal=journal, budget=Budget(), usage=usage, backend=llm)
        known = KnownAnswers(journal, client_of(lm), "judge")
        prompt = PromptRater(MODULE, scale=SCALE, aspects=judge.aspects, anew=True, known=known)
        run = judge.run(lambda _: BothOrders(prompt, SCALE), features=KeptFeatures(journal, "judge"))
        rater = Bound(judge.rater, run)
        return concatenate([one for _, one in rated(rater, pieces_of(ITEMS), Executor(lm).run)]), usage


def of_both() -> JudgeTree:
    """A judge that reads the verdict and the evidence, and likes the first place."""
    judge = lopsided()
    calibrator = judge.calibrators["grade"]
    assert calibrator.linear is not None
    heard = ((0.9, -0.4), (-0.2, 0.7), (0.1, 0.0))
    coefficients = tuple((*one, *two) for one, two in zip(heard, calibrator.linear.coefficients, strict=True))
    changes = {
        "source": "both",
        "center": (0.0, 0.0, *calibrator.center),
        "spread": (1.0, 1.0, *calibrator.spread),
        "linear": calibrator.linear.model_copy(update={"coefficients": coefficients}),
    }
    return judge_of(MODULE, SCALE, ("grade",), judge.evidence, {"grade": calibrator.model_copy(update=changes)})


@pytest.mark.parametrize(
    "judge", [judge_of(MODULE, SCALE, ("grade",)), lopsided(), of_both()], ids=["lm", "evidence", "both"]
)
def test_stream_of_pairs_equals_judging_the_list_and_is_free_the_second_time(tmp_path: Path, judge: JudgeTree) -> None:
    llm = engine(by_quality)
    first, _ = streamed(tmp_path / "j.db", judge, llm)
    asked = sum(llm.asked.values())
    assert asked == (5 if judge.asks_lm else 0)  # different ones among eight
    again, usage = streamed(tmp_path / "j.db", judge, llm)
    assert sum(llm.asked.values()) == asked
    assert usage.spent.journaled == (8 if judge.asks_lm else 0)
    with Journal(":memory:") as journal:
        lm = open_lm(LMSpec(model="hosted_vllm/scripted"), journal=journal, budget=Budget(), usage=Usage(), backend=llm)
        listed = judge.judge(ITEMS, Executor(lm).run)
    for found in (first, again):
        assert found.item_ids == listed.item_ids
        assert found.grade.tolist() == listed.grade.tolist()
        assert np.array_equal(found.probabilities, listed.probabilities, equal_nan=True)
        assert found.rationale == listed.rationale
        if judge.asks_lm:
            assert found.flipped is not None
            assert found.flipped.tolist() == [False, False, True, False]


def test_both_orders_of_a_piece_are_the_pairs_and_then_their_mirror_images_under_other_digests() -> None:
    (piece,) = pieces_of(ITEMS)
    both = both_orders(piece)
    assert list(both.items) == [*ITEMS, *map(mirrored, ITEMS)]
    assert both.item_ids == piece.item_ids * 2
    assert len(set(both.digests)) == 2 * len(ITEMS)
    assert {len(digest) for digest in both.digests} == {16}
