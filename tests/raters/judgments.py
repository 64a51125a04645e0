"""Judgments from plain numbers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from judgec.records.judgment import UNSCORED, Judgments


def judgments(
    spread: ArrayLike,
    grade: ArrayLike,
    *,
    ids: Sequence[str] = (),
    aspects: tuple[str, ...] = ("grade",),
    values: Sequence[float] = (),
    accept_from: int | None = None,
    reason: str = "",
    unscored: Sequence[str | None] = (),
) -> Judgments:
    """Distributions (n, k) or (n, aspects, k) and positions; ``accept_from`` is the lowest accepted one."""
    said = np.asarray(spread, dtype=np.float64)
    said = said[:, None] if said.ndim == 2 else said
    n, _, k = said.shape
    position = np.asarray(grade, dtype=np.int64).reshape(said.shape[:2])
    accept = np.where(position < 0, UNSCORED, position >= (k if accept_from is None else accept_from))
    return Judgments(
        item_ids=tuple(ids) or tuple(map(str, range(n))),
        aspects=aspects,
        probabilities=said,
        grade=position,
        score=said @ np.array(values or range(k), dtype=np.float64),
        accept=np.full_like(position, UNSCORED) if accept_from is None else accept.astype(np.int64),
        confidence=np.full(position.shape, np.nan),
        rationale=(reason,) * n,
        unscored=tuple(unscored) or (None,) * n,
    )
