"""Prices recorded judges: as recorded, else by their prompts and the price list."""

from collections.abc import Sequence

from judgec.lm.prices import TYPICAL_REPLY, estimate_tokens, price
from judgec.raters.about_judges import AboutJudge
from judgec.raters.recorded import RecordedVerdicts
from judgec.raters.turns import filled
from judgec.records.label import Item

PRICED = 50  # items whose prompts say what the others cost


def listed_price(about: AboutJudge, items: Sequence[Item], aspects: Sequence[str]) -> float | None:
    """US dollars for asking a recorded judge about an item once, the mean of the first items.

    Args:
        about: Its model and prompt.
        items: That are judged.
        aspects: What is graded of each: a prompt of its own each, where the judge has several.

    Returns:
        None where its prompt or the price of its model is not known.
    """
    rate = price(about.model) if about.model else None
    some = items[:PRICED]
    if not about.messages or rate is None or not some:
        return None
    of = aspects if "" not in about.messages else aspects[:1]
    asked = [turns for item in some for aspect in of if (turns := filled(about.messages, aspect, item))]
    usd = sum(estimate_tokens(messages) * rate.input + TYPICAL_REPLY * rate.output for messages in asked)
    return usd / len(some)


def cost_once(recorded: RecordedVerdicts, judge: str, items: Sequence[Item]) -> float | None:
    """US dollars for an item that a recorded judge was asked about: as recorded, else by the price list; else None."""
    ids = [item.item_id for item in items]
    calls, asked = recorded.calls_of(judge, ids)
    if not asked:
        return None
    cost = recorded.cost_of(judge, ids)
    if cost is not None:
        return cost / asked
    listed = listed_price(recorded.judges[judge], items, recorded.about.aspects)
    return None if listed is None else listed * calls / asked
