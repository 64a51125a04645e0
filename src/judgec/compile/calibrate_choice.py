"""Chooses calibrator and decision rule together, out of fold, by the objective that was asked for."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from judgec.compile.decision_rule import fit_cuts
from judgec.raters.calibrator import Calibrator, CalibratorChoice, Family, Source, above_cuts
from judgec.raters.decision import DecisionRule, RuleName, acceptability, accepted, stated_grades
from judgec.records.consensus import accept_rate_of, mean_of, parts_of
from judgec.records.judgment import UNSCORED
from judgec.records.label import UNLABELLED, FloatArray, IntArray, TextArray
from judgec.records.ratings import GradePairs
from judgec.records.scale import Scale
from judgec.records.tasks.spec import PAIR_GRADES
from judgec.stats.agreement.kappa import kappa_table, qwk_table
from judgec.stats.agreement.objective import Objective, parse_objective
from judgec.stats.agreement.statistic import Statistic, weighted_sum
from judgec.stats.agreement.tables import contingency
from judgec.stats.intervals.paired_gain import PairedGain, paired_gain

FOLDS = 5
MAY_FALL = 0.02  # of kappa and QWK below the incumbent's: further down no gain of the objective counts
KAPPA_WEIGHTS = (0.6, 1.0)  # beside the objective, of further cut points that compete
GRID = np.linspace(0.02, 0.98, 97)  # accept thresholds tried
SOFTNESS = 0.05  # width of the smoothed step in probability
PULL = 5.0  # queries' worth of weight that keep the threshold near one half


@dataclass(frozen=True)
class Data:
    """The rows that may be learned from; ``verdicts`` has no NaN.

    Args:
        verdicts: The LM's probabilities, shape (n, n_grades), or None.
        evidence: Features, shape (n, n_features), or None.
        target: The experts' positions, shape (n, n_tied): the one, or those that share the row in equal parts; -1 fills
            up. Families are fitted to the parts, losses are their means.
        alone: The features where no LM is asked, if they differ: evidence may count what the LM said of claims.
        system: Who answered each row, empty where nobody says, shape (n,); None where nobody says of any.
        joint: The verdicts are those of a panel: on ordered grades they decide by cut points on their value.
        cluster: The query of each row, shape (n,).
        scale: The grades.
        accept: The experts' accept, 1 / 0, in the same form; -1 where unknown.
        own_accept: True when the experts said accept or reject apart from their grades.
        stated: The positions that the LM stated, shape (n,), or None to take them from ``verdicts``.
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
    system: TextArray | None = None

    def read_by(self, source: Source) -> FloatArray | None:
        """The features that a source reads."""
        return self.alone if source == "evidence" and self.alone is not None else self.evidence

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

    @property
    def accept_index(self) -> int | None:
        """The lowest accepted position where accepts follow from the grades, else None."""
        return None if self.own_accept else self.scale.accept_index

    @property
    def truth(self) -> FloatArray:
        """Value of each row in scale units, shape (n,)."""
        return mean_of(np.array(self.scale.values)[self.target], self.target)

    def rows(self, keep: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> "Data":
        """The rows where ``keep`` is true."""
        return replace(
            self,
            verdicts=None if self.verdicts is None else self.verdicts[keep],
            evidence=None if self.evidence is None else self.evidence[keep],
            alone=None if self.alone is None else self.alone[keep],
            target=self.target[keep],
            cluster=self.cluster[keep],
            accept=self.accept[keep],
            stated=None if self.stated is None else self.stated[keep],
            system=None if self.system is None else self.system[keep],
        )

    def training_rows(self) -> "TrainingRows":
        """The rows as they are fitted: one a row, or one for each grade that shares it."""
        return TrainingRows(*parts_of(self.target))


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """The rows that a family is fitted on.

    Args:
        row: Position in the data, shape (n_lessons,).
        grade: Position on the scale, same shape.
        weight: How much each counts, summing to 1 over a row; None: all alike.
    """

    row: IntArray
    grade: IntArray
    weight: FloatArray | None


Key = tuple[Source, Family]
Fit = Callable[[Data, Source], Iterable[tuple[Key, Calibrator]]]
"""Fits every family of a source."""


@dataclass(frozen=True)
class Contender:
    """One way from verdict and evidence to a grade, out of fold.

    Args:
        key: Source and family.
        rule: How the grade follows.
        grade: Positions, shape (n,).
        accept: 1 / 0, -1 where nobody said what is accepted, shape (n,).
        goal: What its cut points are fitted to, where it has any.
        score: In scale units, shape (n,); None where no objective reads it.
    """

    key: Key
    rule: RuleName
    grade: IntArray
    accept: IntArray
    goal: Objective
    score: FloatArray | None = None


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

    With a language model the raw verdict is the incumbent, of a panel cut points on its value. Without one it is
    evidence alone with its likeliest grade. A challenger replaces it when its paired gain is more than one standard
    error (jackknife over queries) above 0, neither kappa nor QWK falls by ``MAY_FALL``, and its probabilities are no
    worse: a family with a higher ranked probability score (Brier score on a nominal scale) than the incumbent's may
    win on grades by luck and ruin the score. Of several the one with the largest gain ships; equal ones, and the
    family of the incumbent, go by that score.

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
    losses = {key: _loss(p, data) for key, p in predicted.items()}
    base = _incumbent_key(losses, data, by_lm=by_lm)
    if data.scale.interval:
        return _number(data, fold, predicted, losses, objective)
    objective = objective.of_grades_too
    most = float(losses[base].mean())
    by_cuts = by_lm and data.joint and not data.nominal  # of the verdicts the map alone competes
    options = [
        one
        for key in predicted
        if key[0] != "lm" or not by_cuts
        for one in _options(data, predicted[key], key, fold, objective, seed, whole=float(losses[key].mean()) <= most)
    ]
    best_lm = _best(losses, "lm")
    if data.verdicts is not None and best_lm is not None:
        options += _verdict_rules(data, data.verdicts, predicted[best_lm], best_lm, fold, objective, seed)
    if objective.needs_systems:
        values = np.array(data.scale.values)
        worth = {
            key: (p if key[0] != "lm" or data.verdicts is None else data.verdicts) @ values
            for key, p in predicted.items()
        }
        options = [replace(one, score=worth[one.key]) for one in options]
    if by_cuts:
        options = [one for one in options if one.key[0] != "lm" or (one.rule, one.goal) == ("map", objective)]
    wanted: RuleName = "likeliest" if base[0] != "lm" else "map" if by_cuts else "raw"
    first = next(i for i, one in enumerate(options) if (one.key, one.rule) == (base, wanted))
    rows = _table(options, first, losses, objective, data)
    at = _winner(rows, first)
    table = tuple(row.model_copy(update={"incumbent": i == first, "chosen": i == at}) for i, row in enumerate(rows))
    winner = options[at]
    score = predicted[winner.key] @ np.array(data.scale.values)
    if winner.rule == "map" and data.verdicts is not None:
        score = data.verdicts @ np.array(data.scale.values)
    cuts = _cuts(score, data, winner.goal, seed) if winner.rule in {"map", "cuts"} else ()
    return Chosen(winner.key, DecisionRule(name=winner.rule, cuts=cuts), table, predicted[winner.key], winner.grade)


def _number(
    data: Data, fold: IntArray, predicted: dict[Key, FloatArray], losses: dict[Key, FloatArray], objective: Objective
) -> Chosen:
    """The calibrator for labels on an interval scale: the score of a regression, or of the raw verdict.

    The raw verdict is the incumbent, else the mean label. A regression replaces it when its squared error is lower by
    more than one standard error (by query) and neither tau-b nor the mean absolute error falls behind; of several the
    one with the lowest squared error ships. Ranks are compared within each fold: the lines that folds fit differ by a
    little, which would put equal verdicts of two folds in an order, and in the wrong one (a fold of high labels is
    predicted from low ones).
    """
    values = np.array(data.scale.values)
    options = []
    for key, spread in predicted.items():
        rule = DecisionRule(name="raw" if key == ("lm", "none") else "nearest")
        grade = DecisionRule().grades(spread, data.scale)
        options.append(Contender(key, rule.name, grade, accepted(spread, data.scale), objective, spread @ values))
    base: Key = ("lm", "none") if data.verdicts is not None else ("evidence", "prior")
    first = next(i for i, one in enumerate(options) if one.key == base)
    rows = _table(options, first, losses, objective, data, fold)

    def better(i: int) -> bool:
        gain, error = clustered_mean(losses[base] - losses[options[i].key], data.cluster)
        return i != first and gain > error and not rows[i].guarded

    able = [i for i in range(len(options)) if better(i)]
    at = min(able, key=lambda i: rows[i].loss, default=first)
    table = tuple(row.model_copy(update={"incumbent": i == first, "chosen": i == at}) for i, row in enumerate(rows))
    winner = options[at]
    return Chosen(winner.key, DecisionRule(name=winner.rule), table, predicted[winner.key], winner.grade)


def decided_by_cuts(
    data: Data, probabilities: FloatArray, objective: Objective, seed: int
) -> tuple[IntArray, IntArray] | None:
    """Grades and accepts by cut points on the expected score, of classes the likeliest, from the other folds.

    Args:
        data: Labelled rows.
        probabilities: What each row's grade follows from, itself made without the row's query, shape (n, n_grades).
        objective: What the cut points are fitted to.
        seed: Of the folds and the cut points' resamples.

    Returns:
        Positions and 1 / 0 (-1 where nobody said what is accepted), shape (n,); None with a single query or grade.
    """
    fold = _folds(data, seed)
    if fold is None:
        return None
    if data.nominal:
        grade = DecisionRule(name="likeliest").grades(probabilities, data.scale)
    else:
        grade = _crossed(probabilities @ np.array(data.scale.values), data, fold, objective, seed)
    return grade, _accepts(grade, probabilities, data, fold)


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
    cost = disagreement + (PULL / n_queries) * (GRID - 0.5) ** 2
    return float(GRID[int(np.argmin(cost))])


def _best(losses: dict[Key, FloatArray], source: Source) -> Key | None:
    """The family of a source with the lowest loss, of equals the simpler; the shares alone do not count."""
    keys = [key for key in losses if key[0] == source and key[1] != "prior"]
    return min(keys, key=lambda key: float(losses[key].mean()), default=None)


def _incumbent_key(losses: dict[Key, FloatArray], data: Data, *, by_lm: bool) -> Key:
    """Source and family of the one that has to be beaten: those of the raw verdict, or of evidence alone.

    Evidence itself has to predict better than the bare shares of the grades by more than one standard error; where it
    does not, the most frequent grade stands.
    """
    best = _best(losses, "lm" if by_lm else "evidence")
    shares: Key = ("evidence", "prior") if ("evidence", "prior") in losses else ("lm", "prior")
    if by_lm and best is not None:
        return best
    if best is None:
        return shares
    gain, error = clustered_mean(losses[shares] - losses[best], data.cluster)
    return best if gain > error or shares[0] != "evidence" else shares


def _table(
    options: list[Contender],
    first: int,
    losses: dict[Key, FloatArray],
    objective: Objective,
    data: Data,
    fold: IntArray | None = None,
) -> list[CalibratorChoice]:
    """Compares each option with the incumbent; where folds are given, on average within them."""
    statistics = [_statistic(one, objective, data, fold) for one in options]
    guards = [_guards(one, data, fold) for one in options]
    most = float(losses[options[first].key].mean())
    rows = []
    for one, statistic, guard in zip(options, statistics, guards, strict=True):
        gain = paired_gain(statistic, statistics[first])
        rows.append(
            CalibratorChoice(
                source=one.key[0],
                family=one.key[1],
                rule=one.rule,
                loss=float(losses[one.key].mean()),
                grade_error=float(_distance(one, data).mean()),
                value=statistic.point(),
                gain=gain.value,
                gain_error=gain.error,
                guarded=bool((guard < guards[first] - MAY_FALL).any()) or losses[one.key].mean() > most,
            )
        )
    return rows


def _winner(rows: list[CalibratorChoice], first: int) -> int:
    """Number of the row that ships."""
    better = [i for i, row in enumerate(rows) if PairedGain(row.gain, row.gain_error).clear and not row.guarded]
    return max(better, key=lambda i: (round(rows[i].gain, 9), -rows[i].loss), default=first)


def _statistic(one: Contender, objective: Objective, data: Data, fold: IntArray | None = None) -> Statistic:
    _, code = np.unique(data.cluster, return_inverse=True)
    score = np.array(data.scale.values)[one.grade] if one.score is None else one.score
    ratings = GradePairs(
        target=data.target,
        judge=one.grade,
        score=score,
        target_accept=data.accept,
        judge_accept=one.accept,
        cluster=code,
        values=data.scale.values,
        n_clusters=int(code.max()) + 1,
        people=data.truth if data.scale.interval else None,
        interval=data.scale.interval,
        system=data.system,
    )
    if fold is None:
        return objective.statistic(ratings)
    parts = [fold == number for number in np.unique(fold)]
    return weighted_sum([(float(part.mean()), objective.statistic(ratings.where(part))) for part in parts])


def _guards(one: Contender, data: Data, fold: IntArray | None) -> FloatArray:
    """Kappa and, where grades have an order, QWK; of numbers tau-b and ``mae``; undefined counts as 0."""
    if data.scale.interval:
        return np.array([_statistic(one, parse_objective(name), data, fold).point() for name in ("tau_b", "mae")])
    rows = data.training_rows()
    table = contingency(rows.grade, one.grade[rows.row], data.n_grades, rows.weight)
    values = [float(kappa_table(table))] + ([] if data.nominal else [float(qwk_table(table))])
    return np.array([0.0 if np.isnan(value) else value for value in values])


def _options(
    data: Data, probabilities: FloatArray, key: Key, fold: IntArray, objective: Objective, seed: int, *, whole: bool
) -> Iterator[Contender]:
    """Every rule that reads a family's probabilities alone; only the likeliest grade if not ``whole``."""
    ordered = whole and not data.nominal and key[1] != "prior"
    rules: list[RuleName] = ["likeliest", "median"] if ordered and data.n_grades > 2 else ["likeliest"]
    for name in rules:
        grade = DecisionRule(name=name).grades(probabilities, data.scale)
        yield Contender(key, name, grade, _accepts(grade, probabilities, data, fold), objective)
    if ordered:
        score = probabilities @ np.array(data.scale.values)
        yield from _cut_options(score, "cuts", key, probabilities, data, fold, objective, seed)


def _verdict_rules(
    data: Data,
    verdicts: FloatArray,
    probabilities: FloatArray,
    key: Key,
    fold: IntArray,
    objective: Objective,
    seed: int,
) -> Iterator[Contender]:
    """The raw verdict and its map; ``probabilities`` say how sure they are."""
    stated = stated_grades(verdicts, data.scale) if data.stated is None else data.stated
    yield Contender(key, "raw", stated, _accepts(stated, probabilities, data, fold), objective)
    if not data.nominal:
        score = verdicts @ np.array(data.scale.values)
        yield from _cut_options(score, "map", key, probabilities, data, fold, objective, seed)


def _cut_options(
    score: FloatArray,
    name: RuleName,
    key: Key,
    probabilities: FloatArray,
    data: Data,
    fold: IntArray,
    objective: Objective,
    seed: int,
) -> Iterator[Contender]:
    """Cut points fitted to the objective; on more than two grades also to the objective and kappa together.

    Cuts that are best for QWK or tau-b alone often give exact agreement away, and kappa's guard then refuses them.
    """
    goals = [objective]
    if data.n_grades > 2 and all(term != "kappa" for _, term in objective.terms):
        goals += [Objective((*objective.terms, (weight, "kappa"))) for weight in KAPPA_WEIGHTS]
    for goal in goals:
        grade = _crossed(score, data, fold, goal, seed)
        yield Contender(key, name, grade, _accepts(grade, probabilities, data, fold), goal)


def _crossed(score: FloatArray, data: Data, fold: IntArray, objective: Objective, seed: int) -> IntArray:
    """Grades by cut points that were fitted on the other folds."""
    grade = np.empty(len(score), dtype=np.int64)
    for number in range(int(fold.max()) + 1):
        held = fold == number
        rule = DecisionRule(name="cuts", cuts=_cuts(score[~held], data.rows(~held), objective, seed))
        grade[held] = np.searchsorted(np.array(rule.cuts), score[held], side="right")
    return grade


def _cuts(score: FloatArray, data: Data, objective: Objective, seed: int) -> tuple[float, ...]:
    rows = data.training_rows()
    return fit_cuts(
        score[rows.row],
        rows.grade,
        data.cluster[rows.row],
        data.n_grades,
        objective,
        accept_index=data.accept_index,
        seed=seed,
        weight=rows.weight,
    )


def _accepts(grade: IntArray, probabilities: FloatArray, data: Data, fold: IntArray) -> IntArray:
    """Accepts of a rule: as the grade says, or by thresholds fitted on the other folds where experts said both."""
    if data.own_accept:
        chances = acceptability(probabilities, data.scale)
        accept = np.empty(len(grade), dtype=np.int64)
        for number in range(int(fold.max()) + 1):
            held = fold == number
            least = fit_accept_threshold(chances[~held], accept_rate_of(data.accept[~held]), data.cluster[~held])
            accept[held] = chances[held] >= least
        return accept
    if data.scale.accept_index is None:
        return np.full(len(grade), UNSCORED, dtype=np.int64)
    return (grade >= data.scale.accept_index).astype(np.int64)


def _folds(data: Data, seed: int) -> IntArray | None:
    """Fold of each row, whole queries together; None with a single query or a single grade."""
    if len(np.unique(data.target[data.target != UNLABELLED])) < 2:
        return None
    return folds_by_query(data.cluster, seed)


def folds_by_query(cluster: IntArray, seed: int) -> IntArray | None:
    """Fold of each row, whole queries together; None with a single query."""
    queries, code = np.unique(cluster, return_inverse=True)
    n_folds = min(FOLDS, len(queries))
    if n_folds < 2:
        return None
    fold = np.empty(len(queries), dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(len(queries))] = np.arange(len(queries)) % n_folds
    return np.asarray(fold[code])


def _out_of_fold(data: Data, fit: Fit, fold: IntArray) -> dict[Key, FloatArray]:
    """Probabilities of each source and family for each row, from folds that hold none of its query."""
    predicted: dict[Key, FloatArray] = {}
    for number in range(int(fold.max()) + 1):
        held = fold == number
        train, test = data.rows(~held), data.rows(held)
        for source in _sources(data):
            for key, calibrator in fit(train, source):
                room = predicted.setdefault(key, np.empty((len(data.target), data.n_grades)))
                room[held] = calibrator.apply(test.verdicts, test.read_by(source))
    return predicted


def _sources(data: Data) -> tuple[Source, ...]:
    if data.verdicts is None:
        return ("evidence",)
    return ("lm",) if data.evidence is None else ("lm", "evidence", "both")


def _loss(probabilities: FloatArray, data: Data) -> FloatArray:
    """Ranked probability score of each row in 0..1; on a nominal scale the Brier score, halved.

    Where grades share a row, the mean of their losses.

    Source: Epstein (1969), Journal of Applied Meteorology 8; Brier (1950), Monthly Weather Review 78.
    """
    if data.scale.interval:
        values = np.array(data.scale.values)
        return np.asarray(((probabilities @ values - data.truth) / (values[-1] - values[0])) ** 2)
    each = [_loss_to(probabilities, np.maximum(tied, 0), data) for tied in data.target.T]
    return mean_of(np.stack(each, axis=1), data.target)


def _loss_to(probabilities: FloatArray, target: IntArray, data: Data) -> FloatArray:
    """The loss where ``target`` is the truth."""
    k = data.n_grades
    if data.nominal:
        truth = np.eye(k)[target]
        loss: FloatArray = ((probabilities - truth) ** 2).sum(axis=1) / 2.0
        return loss
    truth = (target[:, None] >= np.arange(1, k)[None, :]).astype(np.float64)
    ranked: FloatArray = ((above_cuts(probabilities) - truth) ** 2).sum(axis=1) / (k - 1)
    return ranked


def _distance(one: Contender, data: Data) -> FloatArray:
    """Distance between the grade that would ship and the experts', of numbers in their units; of classes 0 or 1."""
    if data.scale.interval and one.score is not None:
        return np.abs(one.score - data.truth)
    apart = np.abs(one.grade[:, None] - data.target)
    return mean_of(apart > 0 if data.nominal else apart, data.target)


def clustered_mean(values: FloatArray, cluster: IntArray) -> tuple[float, float]:
    """Mean of ``values`` and its standard error when rows of one query hang together."""
    _, code = np.unique(cluster, return_inverse=True)
    mean = float(values.mean())
    sums = np.bincount(code, weights=values - mean)
    n_queries = len(sums)
    correction = n_queries / max(1, n_queries - 1)
    return mean, float(np.sqrt(correction * (sums**2).sum()) / len(values))
