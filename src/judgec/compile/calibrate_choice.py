"""Chooses calibrator and decision rule together, out of fold, by the objective that was asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from judgec.compile.decision_rule import fit_cuts
from judgec.raters.calibrator import Calibrator, CalibratorChoice, Family, Source, above_cuts
from judgec.raters.decision import DecisionRule, RuleName, acceptability, accepted, stated_grades
from judgec.raters.pairwise import places_mirrored
from judgec.records.consensus import accept_rate_of, mean_of, parts_of
from judgec.records.judgment import UNSCORED
from judgec.records.label import UNLABELLED, FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.records.scale import Scale
from judgec.records.tasks.spec import PAIR_GRADES
from judgec.stats.agreement.kappa import kappa_table, qwk_table
from judgec.stats.agreement.objective import Objective, parse_objective
from judgec.stats.agreement.statistic import Statistic, mean, weighted_sum
from judgec.stats.agreement.tables import contingency
from judgec.stats.intervals.paired_gain import PairedGain, paired_gain

FOLDS = 5
MAY_FALL = 0.02  # of kappa and QWK below the incumbent's: further down no gain of the objective counts
GRID = np.linspace(0.02, 0.98, 97)  # accept thresholds tried
SOFTNESS = 0.05  # width of the smoothed step in probability
KAPPA_WEIGHT = 0.3  # beside the objective, where its cut points cost kappa
PULL = 5.0  # queries' worth of weight that keep the threshold near one half

Key = tuple[Source, Family]


@dataclass(frozen=True)
class Data:
    """The rows that may be learned from; ``verdicts`` has no NaN.

    Args:
        verdicts: The LM's probabilities, shape (n, n_grades), or None.
        evidence: Features, shape (n, n_features), or None.
        target: The experts' positions, shape (n, n_tied): the one, or those that share the row in equal parts; -1 fills
            up. Families are fitted to the parts, losses are their means.
        cluster: The query of each row, shape (n,).
        scale: The grades.
        accept: The experts' accept, 1 / 0, in the same form; -1 where unknown.
        own_accept: True when the experts said accept or reject apart from their grades.
        stated: The positions that the LM stated, shape (n,), or None to take them from ``verdicts``.
        alone: The features where no LM is asked, if they differ: evidence may count what the LM said of claims.
        joint: The verdicts are those of a panel: on ordered grades they decide by cut points on their value.
    """

    verdicts: FloatArray | None
    evidence: FloatArray | None
    target: IntArray
    cluster: IntArray
    scale: Scale
    accept: IntArray
    own_accept: bool = False
    stated: IntArray | None = None
    alone: FloatArray | None = None
    joint: bool = False

    def read_by(self, source: Source) -> FloatArray | None:
        """The features that a source reads."""
        return self.alone if source == "evidence" and self.alone is not None else self.evidence

    @property
    def sources(self) -> tuple[Source, ...]:
        """What may be read."""
        if self.verdicts is None:
            return ("evidence",)
        return ("lm",) if self.evidence is None else ("lm", "evidence", "both")

    @property
    def n_grades(self) -> int:
        """Number of grades that the scale has."""
        return len(self.scale.grades)

    @property
    def nominal(self) -> bool:
        """True for classes without an order."""
        return self.scale.level == "nominal"

    @property
    def pairs(self) -> bool:
        """True where two answers are compared."""
        return self.nominal and set(self.scale.grades) == set(PAIR_GRADES)

    @cached_property
    def values(self) -> FloatArray:
        """What each grade stands for."""
        return np.array(self.scale.values)

    @property
    def truth(self) -> FloatArray:
        """Value of each row in scale units, shape (n,)."""
        return mean_of(self.values[self.target], self.target)

    def rows(self, keep: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> "Data":
        """The rows where ``keep`` is true."""
        columns = {one.name: getattr(self, one.name) for one in fields(self)}
        kept: dict[str, Any] = {name: one[keep] for name, one in columns.items() if isinstance(one, np.ndarray)}
        return replace(self, **kept)  # Any: each of its own type

    def both_orders(self) -> "Data":
        """Pairs and, behind them all, each with its answers exchanged: a judge of pairs says the same of both."""
        places = places_mirrored(self.scale)
        verdicts, evidence, alone = self.verdicts, self.evidence, self.alone
        return replace(
            self,
            verdicts=None if verdicts is None else np.concatenate([verdicts, verdicts[:, places]]),
            evidence=None if evidence is None else np.concatenate([evidence, -evidence]),
            alone=None if alone is None else np.concatenate([alone, -alone]),
            target=np.concatenate([self.target, np.where(self.target < 0, self.target, places[self.target])]),
            cluster=np.tile(self.cluster, 2),
            accept=np.tile(self.accept, (2, 1)),
            stated=None,
        )

    def training_rows(self) -> "TrainingRows":
        """The rows as they are fitted: one a row, or one for each grade that shares it."""
        return TrainingRows(*parts_of(self.target))


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """The rows that a family is fitted on.

    Args:
        row: Position in the data, shape (n_parts,).
        grade: Position on the scale, same shape.
        weight: How much each counts, summing to 1 over a row; None: all alike.
    """

    row: IntArray
    grade: IntArray
    weight: FloatArray | None

    def merged(self, verdicts: FloatArray) -> "TrainingRows":
        """One row of each verdict and grade, with the weight of all that are equal: verdicts take few values."""
        told = np.column_stack([verdicts[self.row], self.grade])
        _, first, code = np.unique(told, axis=0, return_index=True, return_inverse=True)
        weight = np.bincount(code.ravel(), self.weight).astype(np.float64)
        return TrainingRows(self.row[first], self.grade[first], weight)


Fit = Callable[[Data, Source], Iterable[tuple[Family, Calibrator]]]
"""Fits every family of a source."""


@dataclass(frozen=True)
class Contender:
    """One way from verdict and evidence to a grade, out of fold.

    Args:
        key: Source and family.
        rule: How the grade follows.
        grade: Positions, shape (n,).
        accept: 1 / 0, -1 where nobody said what is accepted, shape (n,).
        score: In scale units, shape (n,).
        goal: The objective that its cut points are fitted to, where it has any.
    """

    key: Key
    rule: RuleName
    grade: IntArray
    accept: IntArray
    score: FloatArray
    goal: Objective | None = None


@dataclass(frozen=True)
class Chosen:
    """The calibrator that ships.

    Args:
        key: Source and family.
        rule: The decision rule, fitted on all rows.
        table: Every option; empty where there was nothing to cross-validate (a single query, or a single grade).
        probabilities: Of the rows, out of fold, shape (n, n_grades), or None.
        grade: The option's positions out of fold, shape (n,), or None.
    """

    key: Key
    rule: DecisionRule
    table: tuple[CalibratorChoice, ...] = ()
    probabilities: FloatArray | None = None
    grade: IntArray | None = None


def choose(data: Data, fit: Fit, objective: Objective, seed: int) -> Chosen:
    """Choose source, family and decision rule together, by the objective, on out-of-fold grades.

    Of each source the family with the lowest ranked probability score (Brier score of classes) competes. With verdicts
    the raw one is the incumbent, of a panel cut points on its value; without, evidence alone, with its likeliest grade
    or with cut points on its expected grade, whichever has the higher objective.
    A challenger replaces it when its paired gain is more than one standard error (jackknife over queries) above 0,
    neither kappa nor QWK falls by ``MAY_FALL``, and its probabilities are no worse: a family that predicts worse than
    the incumbent may win on grades by luck and ruin the score. Of several the one with the largest gain ships; equal
    ones go by that score. Of numbers the squared error takes the place of the gain.

    Every fold's calibrators were fitted on the other folds, and cut points for it on the other folds' predictions.

    Args:
        data: Labelled rows, scored where there is an LM.
        fit: Fits every family of a source.
        objective: What is maximized.
        seed: Of the folds, which are made of whole queries, and of the cut points' resamples.
    """
    by_lm = data.verdicts is not None
    fold = _folds(data, seed)
    if fold is None:
        key: Key = ("lm", "none") if by_lm else ("evidence", "prior")
        return Chosen(key, DecisionRule(name="raw" if by_lm else "likeliest"))
    predicted = _out_of_fold(data, fit, fold)
    losses = {key: _loss(one, data) for key, one in predicted.items()}
    base = _incumbent(losses, data)
    if data.scale.interval:
        options = [_of_numbers(data, key, predicted[key]) for key in dict.fromkeys([base, *predicted])]
        rows = _table(options, losses, objective, data, fold)
        at = _closest(options, rows, losses, data)
    else:
        options = list(_options(data, predicted, losses, base, fold, objective, seed))
        rows = _table(options, losses, objective, data)
        at = _winner(rows)
    table = tuple(row.model_copy(update={"incumbent": i == 0, "chosen": i == at}) for i, row in enumerate(rows))
    won = options[at]
    cuts = () if won.goal is None else _cuts(_cut_score(data, won.key, predicted), data, won.goal, seed)
    return Chosen(won.key, DecisionRule(name=won.rule, cuts=cuts), table, predicted[won.key], won.grade)


def fit_accept_threshold(p_accept: FloatArray, accept: FloatArray, cluster: IntArray) -> float:
    """The P(accept) from which to accept: the smoothed fewest disagreements, pulled towards one half.

    For experts who said accept or reject apart from their grades. The step is softened over ``SOFTNESS`` and one half
    counts for ``PULL`` queries, so that 60 items cannot carry the threshold to a chance gap between two of them. It
    moves far only where many queries ask for it, as when the experts' own accept labels are stricter than the grades.

    Args:
        p_accept: P(grade >= accept_at), shape (n,); NaN where unscored.
        accept: The part of each row that the experts accept, NaN where unknown, shape (n,).
        cluster: The query of each row, shape (n,).

    Returns:
        A threshold within .02 .. .98; .5 when nothing is labelled.
    """
    usable = ~np.isnan(accept) & ~np.isnan(p_accept)
    n_queries = len(np.unique(cluster[usable]))
    if n_queries == 0:
        return 0.5
    margin = (p_accept[usable][None, :] - GRID[:, None]) / SOFTNESS
    said = 0.5 * (1.0 + np.tanh(0.5 * margin))
    disagreement = (accept[usable] + said * (1.0 - 2.0 * accept[usable])).mean(axis=1)
    return float(GRID[int(np.argmin(disagreement + (PULL / n_queries) * (GRID - 0.5) ** 2))])


def folds_by_query(cluster: IntArray, seed: int) -> IntArray | None:
    """Fold of each row, whole queries together; None with a single query."""
    queries, code = np.unique(cluster, return_inverse=True)
    n_folds = min(FOLDS, len(queries))
    if n_folds < 2:
        return None
    fold = np.empty(len(queries), dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(len(queries))] = np.arange(len(queries)) % n_folds
    return np.asarray(fold[code])


def _folds(data: Data, seed: int) -> IntArray | None:
    """Fold of each row, whole queries together; None with a single query or a single grade."""
    if len(np.unique(data.target[data.target != UNLABELLED])) < 2:
        return None
    return folds_by_query(data.cluster, seed)


def _out_of_fold(data: Data, fit: Fit, fold: IntArray) -> dict[Key, FloatArray]:
    """Probabilities of each source and family for each row, from folds that hold none of its query."""
    predicted: dict[Key, FloatArray] = {}
    for number in range(int(fold.max()) + 1):
        held = fold == number
        train, test = data.rows(~held), data.rows(held)
        for source in data.sources:
            for family, calibrator in fit(train, source):
                room = predicted.setdefault((source, family), np.empty((len(data.target), data.n_grades)))
                room[held] = calibrator.apply(test.verdicts, test.read_by(source))
    return predicted


def _best(losses: Mapping[Key, FloatArray], source: Source) -> Key:
    """The family of a source with the lowest loss, of equals the simpler; the shares alone do not count."""
    keys = [key for key in losses if key[0] == source and key[1] != "prior"]
    return min(keys, key=lambda key: float(losses[key].mean()))


def _incumbent(losses: Mapping[Key, FloatArray], data: Data) -> Key:
    """Source and family of the one that has to be beaten: those of the raw verdict, or of evidence alone.

    Evidence itself has to predict better than the bare shares of the grades by more than one standard error; where it
    does not, the most frequent grade stands, of numbers their mean.
    """
    if data.verdicts is not None:
        return ("lm", "none") if data.scale.interval else _best(losses, "lm")
    shares: Key = ("evidence", "prior")
    best = _best(losses, "evidence")
    return best if _clearly_lower(losses[best], losses[shares], data) and not data.scale.interval else shares


def _clearly_lower(one: FloatArray, other: FloatArray, data: Data) -> bool:
    """True where losses are lower by more than one standard error by query."""
    return paired_gain(mean(other, data.cluster), mean(one, data.cluster)).clear


def _options(
    data: Data,
    predicted: Mapping[Key, FloatArray],
    losses: Mapping[Key, FloatArray],
    base: Key,
    fold: IntArray,
    objective: Objective,
    seed: int,
) -> Iterator[Contender]:
    """The rules of each source's best family, the incumbent first.

    What predicts worse than the incumbent gives its likeliest grade alone. Cut points that are best for the objective
    may give exact agreement away: then they are fitted to kappa beside it.
    """
    joint, alone = data.joint and not data.nominal, data.verdicts is None
    least = -np.inf  # kappa that cut points should keep
    for key in dict.fromkeys([base, *(_best(losses, source) for source in data.sources)]):
        spread, verdicts = predicted[key], data.verdicts if key[0] == "lm" else None
        found: list[tuple[RuleName, IntArray, Objective | None]] = []
        if verdicts is not None and not joint:  # of a panel's verdicts the map alone competes
            stated = stated_grades(verdicts, data.scale) if data.stated is None else data.stated
            found = [("raw", stated, None)]
        if verdicts is None or not joint:
            found.append(("likeliest", DecisionRule(name="likeliest").grades(spread, data.scale), None))
        if key == base and found:
            least = _kappas(found[0][1], data)[0] - MAY_FALL
        if not data.nominal and key[1] != "prior" and losses[key].mean() <= losses[base].mean():
            score, goal = _cut_score(data, key, predicted), objective
            grade = _crossed(score, data, fold, goal, seed)
            if data.n_grades > 2 and _kappas(grade, data)[0] < least:
                goal = Objective((*objective.terms, (KAPPA_WEIGHT, "kappa")))
                grade = _crossed(score, data, fold, goal, seed)
            found.append(("cuts" if verdicts is None else "map", grade, goal))
        options = [
            Contender(key, rule, said, _accepts(said, spread, data, fold), data.values[said], cut_for)
            for rule, said, cut_for in found
        ]
        if alone:  # no verdict has to be respected
            options.sort(key=lambda one: -_statistic(one, objective, data, None).point())
        yield from options


def _cut_score(data: Data, key: Key, predicted: Mapping[Key, FloatArray]) -> FloatArray:
    """The score that cut points are fitted to: the value of the verdict where it alone is read, else the expected
    grade.
    """
    spread = data.verdicts if key[0] == "lm" and data.verdicts is not None else predicted[key]
    return np.asarray(spread @ data.values)


def _of_numbers(data: Data, key: Key, spread: FloatArray) -> Contender:
    rule: RuleName = "raw" if key == ("lm", "none") else "nearest"
    grade = DecisionRule().grades(spread, data.scale)
    return Contender(key, rule, grade, accepted(spread, data.scale), spread @ data.values)


def _closest(
    options: list[Contender], rows: list[CalibratorChoice], losses: Mapping[Key, FloatArray], data: Data
) -> int:
    """Number of the regression that ships: the lowest squared error of those clearly below the incumbent's."""
    most = losses[options[0].key]
    better = [i for i in range(1, len(options)) if _clearly_lower(losses[options[i].key], most, data)]
    return min((i for i in better if not rows[i].guarded), key=lambda i: rows[i].loss, default=0)


def _table(
    options: list[Contender],
    losses: Mapping[Key, FloatArray],
    objective: Objective,
    data: Data,
    fold: IntArray | None = None,
) -> list[CalibratorChoice]:
    """Compares each option with the incumbent, the first; numbers within each fold, and on average.

    The lines that folds fit differ by a little, which would put equal verdicts of two folds in an order, and in the
    wrong one (a fold of high labels is predicted from low ones).
    """
    statistics = [_statistic(one, objective, data, fold) for one in options]
    guards = [_guards(one, data, fold) for one in options]
    most = float(losses[options[0].key].mean())
    rows = []
    for one, statistic, guard in zip(options, statistics, guards, strict=True):
        gain, loss = paired_gain(statistic, statistics[0]), float(losses[one.key].mean())
        rows.append(
            CalibratorChoice(
                source=one.key[0],
                family=one.key[1],
                rule=one.rule,
                loss=loss,
                grade_error=float(_distance(one, data).mean()),
                value=statistic.point(),
                gain=gain.value,
                gain_error=gain.error,
                guarded=bool((guard < guards[0] - MAY_FALL).any()) or loss > most,
            )
        )
    return rows


def _winner(rows: list[CalibratorChoice]) -> int:
    """Number of the row that ships."""
    better = [i for i, row in enumerate(rows) if PairedGain(row.gain, row.gain_error).clear and not row.guarded]
    return max(better, key=lambda i: (round(rows[i].gain, 9), -rows[i].loss), default=0)


def _statistic(one: Contender, objective: Objective, data: Data, fold: IntArray | None = None) -> Statistic:
    _, code = np.unique(data.cluster, return_inverse=True)
    ratings = GradePairs(
        target=data.target,
        judge=one.grade,
        score=one.score,
        target_accept=data.accept,
        judge_accept=one.accept,
        cluster=code,
        values=data.scale.values,
        n_clusters=int(code.max()) + 1,
        people=data.truth if data.scale.interval else None,
        interval=data.scale.interval,
    )
    if fold is None:
        return objective.statistic(ratings)
    parts = [fold == number for number in np.unique(fold)]
    return weighted_sum([(float(part.mean()), objective.statistic(ratings.where(part))) for part in parts])


def _guards(one: Contender, data: Data, fold: IntArray | None) -> FloatArray:
    """Kappa and, where grades have an order, QWK; of numbers tau-b and ``mae``; undefined counts as 0."""
    if data.scale.interval:
        return np.array([_statistic(one, parse_objective(name), data, fold).point() for name in ("tau_b", "mae")])
    return _kappas(one.grade, data)


def _kappas(grade: IntArray, data: Data) -> FloatArray:
    """Kappa and, where grades have an order, QWK; undefined counts as 0."""
    rows = data.training_rows()
    table = contingency(rows.grade, grade[rows.row], data.n_grades, rows.weight)
    values = [float(kappa_table(table))] + ([] if data.nominal else [float(qwk_table(table))])
    return np.array([0.0 if np.isnan(value) else value for value in values])


def _crossed(score: FloatArray, data: Data, fold: IntArray, objective: Objective, seed: int) -> IntArray:
    """Grades by cut points that were fitted on the other folds."""
    grade = np.empty(len(score), dtype=np.int64)
    for number in range(int(fold.max()) + 1):
        held = fold == number
        cuts = _cuts(score[~held], data.rows(~held), objective, seed)
        grade[held] = np.searchsorted(np.array(cuts), score[held], side="right")
    return grade


def _cuts(score: FloatArray, data: Data, objective: Objective, seed: int) -> tuple[float, ...]:
    rows, at = data.training_rows(), None if data.own_accept else data.scale.accept_index
    facts = (score[rows.row], rows.grade, data.cluster[rows.row], data.n_grades, objective)
    return fit_cuts(*facts, accept_index=at, seed=seed, weight=rows.weight)


def _accepts(grade: IntArray, probabilities: FloatArray, data: Data, fold: IntArray) -> IntArray:
    """Accepts of a rule: as the grade says, or by thresholds fitted on the other folds where experts said both."""
    if not data.own_accept:
        at = data.scale.accept_index
        return np.full(len(grade), UNSCORED, dtype=np.int64) if at is None else (grade >= at).astype(np.int64)
    chances, said = acceptability(probabilities, data.scale), accept_rate_of(data.accept)
    accept = np.empty(len(grade), dtype=np.int64)
    for number in range(int(fold.max()) + 1):
        held = fold == number
        accept[held] = chances[held] >= fit_accept_threshold(chances[~held], said[~held], data.cluster[~held])
    return accept


def _loss(probabilities: FloatArray, data: Data) -> FloatArray:
    """Ranked probability score of each row in 0..1; of classes the Brier score, halved, of numbers the squared error.

    Where grades share a row, the mean of their losses.

    Source: Epstein (1969), Journal of Applied Meteorology 8; Brier (1950), Monthly Weather Review 78.
    """
    values, k = data.values, data.n_grades
    if data.scale.interval:
        return np.asarray(((probabilities @ values - data.truth) / (values[-1] - values[0])) ** 2)
    target = np.maximum(data.target, 0)[:, :, None]
    if data.nominal:
        each = ((probabilities[:, None] - (target == np.arange(k))) ** 2).sum(axis=2) / 2.0
    else:
        each = ((above_cuts(probabilities)[:, None] - (target >= np.arange(1, k))) ** 2).sum(axis=2) / (k - 1)
    return mean_of(each, data.target)


def _distance(one: Contender, data: Data) -> FloatArray:
    """Distance between the grade that would ship and the experts', of numbers in their units; of classes 0 or 1."""
    if data.scale.interval:
        return np.abs(one.score - data.truth)
    apart = np.abs(one.grade[:, None] - data.target)
    return mean_of(apart > 0 if data.nominal else apart, data.target)
