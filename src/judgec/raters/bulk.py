"""The items of a list through one judge, uncalibrated: what compiling needs of ``stream.interview``."""

from collections import Counter
from collections.abc import Sequence

import dspy

from judgec.labels.stream.pieces import pieces_of
from judgec.lm.executor import Ask
from judgec.raters.stream.asking import SERVICE_ERROR
from judgec.raters.stream.interview import FAR_AHEAD, Interview
from judgec.records.judgment import Judgments, concatenate
from judgec.records.label import Item
from judgec.records.scale import Scale

__all__ = ["SERVICE_ERROR", "judge_items"]


def judge_items(
    module: dspy.Module,
    items: Sequence[Item],
    *,
    ask: Ask,
    scale: Scale,
    aspects: tuple[str, ...],
    asked_again: Counter[str] | None = None,
) -> Judgments:
    """Raw verdicts: what the LM said, before any calibration.

    The probabilities of an item are those of the label log-probabilities where the backend gives them, of the stated
    grade alone where not. The grade is the stated one. An item without a readable reply is unscored, with the last
    reason.

    Args:
        module: From ``registry.judge_module``, compiled or not; never called: its prompt is rendered.
        items: In the order of the result.
        ask: Sends the requests.
        scale: The judge's scale.
        aspects: The judge's aspects.
        asked_again: Counts the replies that were asked for again, by kind: malformed reply, refusal, ...

    Raises:
        UserError: When the module is not a judge of these aspects.
        ServiceError: When the LM cannot be reached at all; finished calls are in the journal.
    """
    interview = Interview(
        module,
        ask=ask,
        scale=scale,
        aspects=aspects,
        asked_again=asked_again,
        total=len(items),
        ahead=max(FAR_AHEAD, len(items)),  # they are all here already
    )
    return concatenate([said for _, (said,) in interview.hold(pieces_of(items, digested=False))])
