"""Holds what a split of a compile has brought."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from judgec.compile.assemble import Bench, Fitted
from judgec.compile.cascades import MadeCascade
from judgec.compile.choose import Choice
from judgec.compile.pools import PoolFound
from judgec.compile.search.candidates import Candidate
from judgec.compile.verify import COMPILED_SINGLE
from judgec.records.judgment import Judgments


@dataclass(frozen=True, slots=True)
class Made:
    """What a split has brought.

    Args:
        bench: Its data, with evidence fitted on its train items.
        choice: The candidates.
        shipped: The one that its judge is made of.
        judge: That, calibrated.
        judged: The test items by each judge; empty where nothing is tested.
        bare: The test items by the uncompiled candidate with a calibrator of its own.
        pooled: What came of pooling several; None where nobody asked for it.
        cascade: What came of two judges one after the other; likewise.
    """

    bench: Bench
    choice: Choice
    shipped: Candidate
    judge: Fitted
    judged: Mapping[str, Judgments]
    bare: Judgments | None
    pooled: PoolFound | None = None
    cascade: MadeCascade | None = None

    def without_verdicts(self) -> "Made":
        """The same without the grades of every candidate, which fill memory."""
        return replace(self, choice=self.choice.without_verdicts())

    def with_cascade(self) -> "Made":
        """The same with the cascade as its judge, and the dear judge alone beside it."""
        made, judged = self.cascade, dict(self.judged)
        assert made is not None  # the caller has looked
        if made.tested is not None:
            test = made.tested
            judged |= {"compiled_prompt": test.raw, COMPILED_SINGLE: test.dear, "compiled": test.whole}
        return replace(self, shipped=made.rated.candidate, judge=made.judge, judged=judged, pooled=None)
