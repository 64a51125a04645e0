"""Several verdicts on each item: several replies of one judge, several judges, or both, as one judgment.

Every reply is calibrated by itself, because a calibrator knows single replies. A juror's distribution is the mean
over its replies, the jury's the mean over its jurors (a linear opinion pool), so that a juror counts the same
however many replies it needed; replies and jurors that left an item unscored do not vote on it. The grade is the
median of the joint distribution, of classes the likeliest (the middle one of the jurors' own grades is no better:
benchmarks/README.md). Accepts follow from it; where every juror has an accept threshold of its own, an item
is accepted when its margins over them are at least 0 on average. The reason is that of the juror whose score is nearest
to the joint one; of classes, pairs and several aspects that of the first who gave the joint grade.

Source: Stone (1961), The opinion pool, Annals of Mathematical Statistics 32(4).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from judgec.errors import InputError, UserError
from judgec.raters.ballots import Ballots
from judgec.raters.judge import EVEN_ODDS, CompiledJudge, acceptability
from judgec.raters.panel import joint_grade, reasons_of, weighted_mean
from judgec.raters.piece import Piece
from judgec.raters.rater import Rater, Rating, not_yet, together
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Juror:
    """One judge, ready to judge.

    Args:
        name: ``NAME@VERSION``.
        judge: The judge.
        raters: The same, bound: once for each of its replies to an item.
    """

    name: str
    judge: CompiledJudge
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
    _ballots: Ballots = field(init=False)

    def __post_init__(self) -> None:
        require_alike([(juror.name, juror.judge) for juror in self.jurors], "--jury")
        self._ballots = Ballots(self.jurors[0].judge.scale)

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``: the joint judgments."""
        said = yield from together([rater.rate(piece) for juror in self.jurors for rater in juror.raters])
        replies = iter(said)
        by_juror = [list(islice(replies, len(juror.raters))) for juror in self.jurors]
        panel = [pool(own, [juror.judge] * len(own)) for own, juror in zip(by_juror, self.jurors, strict=True)]
        ballots = said if len(panel) == 1 else panel
        if len(ballots) > 1:
            self._ballots.add(ballots)
        return pool(panel, [juror.judge for juror in self.jurors]).without(not_yet(said))

    def agreement(self) -> dict[str, object] | None:
        """Agreement of the jurors on the items judged so far, or None when there was only one reply an item."""
        if len(self.jurors) > 1:
            return self._ballots.agreement([juror.name for juror in self.jurors])
        return self._ballots.agreement([f"{self.jurors[0].name} #{n + 1}" for n in range(self._ballots.count)])


def require_alike(jurors: Sequence[tuple[str, CompiledJudge]], option: str) -> None:
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


def pool(ballots: Sequence[Judgments], judges: Sequence[CompiledJudge]) -> Judgments:
    """Several calibrated judgments of the same items as one, as the module says; a single one is passed on.

    Args:
        ballots: In order of precedence: the reason given is the first one's that has the joint grade.
        judges: Whose they are; gives the accept thresholds.

    Raises:
        InputError: When they are not of the same items.
    """
    first = ballots[0]
    if len(ballots) == 1:
        return first
    if any(ballot.item_ids != first.item_ids for ballot in ballots):
        raise InputError(["--jury: the file changed while it was read. Run the command again."])
    scale, values = judges[0].scale, np.array(judges[0].scale.values)
    votes = np.array([ballot.scored for ballot in ballots])
    scored = np.logical_or.reduce(votes)
    given = np.array([ballot.probabilities for ballot in ballots])
    probabilities = np.full(first.probabilities.shape, np.nan)
    probabilities[scored] = weighted_mean(given[:, scored], votes[:, scored], np.ones(len(ballots)))
    result = replace(
        first,
        probabilities=probabilities,
        grade=np.full(first.grade.shape, UNSCORED, dtype=np.int64),
        accept=np.full(first.grade.shape, UNSCORED, dtype=np.int64),
        score=probabilities @ values,
        confidence=np.full(first.grade.shape, np.nan),
        unscored=tuple(None if has else reason for has, reason in zip(scored, first.unscored, strict=True)),
        flipped=None,
        stated=_mean_stated(ballots),
    )
    for j, aspect in enumerate(first.aspects):
        spread = probabilities[scored, j]
        result.grade[scored, j] = grade = joint_grade(spread, scale)
        result.confidence[scored, j] = spread[np.arange(len(spread)), grade]
        if scale.accept_index is not None and not all(_has_threshold(judge, aspect) for judge in judges):
            result.accept[scored, j] = grade >= scale.accept_index
        else:
            margins = [_margins(ballot, judge, j, aspect) for ballot, judge in zip(ballots, judges, strict=True)]
            result.accept[:, j] = _accepted(margins, votes)
    return replace(result, rationale=reasons_of(ballots, result, scale))


def _mean_stated(ballots: Sequence[Judgments]) -> FloatArray | None:
    """The mean of the confidences that were stated; None where nobody was asked."""
    given = [ballot.stated for ballot in ballots if ballot.stated is not None]
    if not given:
        return None
    has = ~np.isnan(given)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(has, given, 0.0).sum(axis=0) / has.sum(axis=0))


def _has_threshold(judge: CompiledJudge, aspect: str) -> bool:
    calibrator = judge.calibrators.get(aspect)
    return calibrator is not None and (calibrator.rule.legacy or calibrator.accept_threshold is not None)


def _margins(ballot: Judgments, judge: CompiledJudge, j: int, aspect: str) -> FloatArray | None:
    """Distance of each item above the judge's accept threshold; None when it has none."""
    calibrator = judge.calibrators.get(aspect)
    threshold = None if calibrator is None else calibrator.accept_threshold
    if threshold is None and judge.scale.accept_index is None:
        return None
    return acceptability(ballot.probabilities[:, j], judge.scale) - (EVEN_ODDS if threshold is None else threshold)


def _accepted(margins: Sequence[FloatArray | None], votes: FloatArray) -> IntArray:
    known = [(margin, vote) for margin, vote in zip(margins, votes, strict=True) if margin is not None]
    if not known:
        return np.full(votes.shape[1], UNSCORED, dtype=np.int64)
    cast = np.array([vote for _, vote in known])
    total = np.where(cast, np.array([margin for margin, _ in known]), 0.0).sum(axis=0)
    return np.where(cast.any(axis=0), (total >= 0).astype(np.int64), UNSCORED)
