"""Several judges, several replies of one, or both, each calibrated by itself and pooled as one rater.

A calibrator knows single replies. A juror's distribution is the pool of its replies, the jury's the pool of its jurors,
so that a juror counts the same however many replies it needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from judgec.errors import UserError
from judgec.raters.agreement import agreement
from judgec.raters.judge import JudgeTree
from judgec.raters.piece import Piece
from judgec.raters.pool import pool
from judgec.raters.rater import Rater, Rating, not_yet, together
from judgec.records.label import IntArray


@dataclass(frozen=True, slots=True)
class Juror:
    """One judge, ready to judge.

    Args:
        name: ``NAME@VERSION``.
        judge: The judge.
        raters: The same, bound: once for each of its replies to an item.
    """

    name: str
    judge: JudgeTree
    raters: Sequence[Rater]


@dataclass
class Jury:
    """Judges of one task and scale as one rater.

    Args:
        jurors: At least one.

    Raises:
        UserError: When their scales or aspects differ.
    """

    jurors: Sequence[Juror]
    _grades: list[IntArray] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        require_alike([(juror.name, juror.judge) for juror in self.jurors], "--jury")

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``: the joint judgments."""
        said = yield from together([rater.rate(piece) for juror in self.jurors for rater in juror.raters])
        replies = iter(said)
        by_juror = [list(islice(replies, len(juror.raters))) for juror in self.jurors]
        scale, thresholds = self.jurors[0].judge.scale, [juror.judge.rater.thresholds for juror in self.jurors]
        panel = [pool(own, scale, [least] * len(own)) for own, least in zip(by_juror, thresholds, strict=True)]
        voters = panel if len(panel) > 1 else said
        if len(voters) > 1:
            self._grades.append(np.array([one.grade.astype(np.int8).ravel() for one in voters]))
        return pool(panel, scale, thresholds).without(not_yet(said))

    def agreement(self) -> dict[str, object] | None:
        """Agreement of the jurors on the items judged so far, or None when there was only one reply an item."""
        names = [juror.name for juror in self.jurors]
        if len(names) == 1:
            names = [f"{names[0]} #{n + 1}" for n in range(len(self.jurors[0].raters))]
        return agreement(names, self._grades, self.jurors[0].judge.scale)


def require_alike(jurors: Sequence[tuple[str, JudgeTree]], option: str) -> None:
    """Judges whose grades can be pooled.

    Args:
        jurors: Names and judges.
        option: That named them.

    Raises:
        UserError: When their scales or aspects differ.
    """
    (name, first), *others = jurors
    for other_name, other in others:
        same = (other.scale.grades, other.aspects) == (first.scale.grades, first.aspects)
        if not same or other.scale.accept_at != first.scale.accept_at:
            raise UserError(
                f"{option}: {name} and {other_name} judge different aspects or scales; jurors of one task and "
                "scale are valid. Leave one of them out."
            )
