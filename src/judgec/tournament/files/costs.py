"""Reads what a row of answers says beside the answer: what it took, and which passages it rests on."""

import math
from collections.abc import Sequence

from judgec.labels.rows.items import digest
from judgec.table.rows.cells import as_id, as_texts, is_missing
from judgec.table.table import Row
from judgec.tournament.files.entries import AnswerCost


def cost_of(row: Row) -> AnswerCost:
    """Columns ``seconds``, ``tokens`` or ``input_tokens`` and ``output_tokens``, ``usd``; no number is None."""
    tokens = _number(row.get("tokens"))
    if tokens is None:
        parts = [_number(row.get(name)) for name in ("input_tokens", "output_tokens")]
        known = [part for part in parts if part is not None]
        tokens = sum(known) if known else None
    return AnswerCost(_number(row.get("seconds")), tokens, _number(row.get("usd")))


def context_ids(row: Row, contexts: Sequence[str]) -> tuple[str, ...]:
    """An id for each context: the row's ``passage_ids`` where it has as many, else a hash of the text.

    An id may come again: these are then several chunks of one document.
    """
    given = () if is_missing(row.get("passage_ids")) else as_texts(row["passage_ids"])[0]
    if len(given) == len(contexts):
        return tuple(map(as_id, given))
    return tuple(digest(context)[:16] for context in contexts)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or is_missing(value):
        return None
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
