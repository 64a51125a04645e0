"""Which calibrator to trust: out-of-fold losses by query, and when a richer source may replace the LM."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from judgec.judges.calibrator import Calibrator, Choice, Family, Source, above_cuts
from judgec.records.label import FloatArray, IntArray

FOLDS = 5


@dataclass(frozen=True)
class Data:
    """The rows that may be learned from; ``verdicts`` has no NaN."""

    verdicts: FloatArray | None
    evidence: FloatArray | None
    target: IntArray
    cluster: IntArray
    n_grades: int
    nominal: bool

    def rows(self, keep: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> "Data":
        """The rows where ``keep`` is true."""
        verdicts = None if self.verdicts is None else self.verdicts[keep]
        evidence = None if self.evidence is None else self.evidence[keep]
        return replace(self, verdicts=verdicts, evidence=evidence, target=self.target[keep], cluster=self.cluster[keep])


Key = tuple[Source, Family]
Fit = Callable[[Data, Source], Iterable[tuple[Key, Calibrator]]]
"""Fits every choice of a source."""


def choose(
    data: Data, fit: Fit, seed: int, *, lm_incumbent: bool = True
) -> tuple[tuple[Choice, ...], Key, FloatArray | None]:
    """The cross-validation table, the key of the winner and its out-of-fold probabilities.

    Out-of-fold predictions are scored by the ranked probability score, which rewards all that ships: the expected
    grade, the rounded grade and P(accept) (Brier score on a nominal scale). Within a source the lowest loss wins. The
    LM alone, or without an LM the evidence, has to beat the bare shares of the grades by more than one standard
    error, clustered by query. Evidence or both replace the LM only if they beat it by more than one standard error
    and the grade they ship is not farther from the experts' on average: the mix must never be worse than the LM.
    Where no language model gave the verdicts there is nothing to protect, and the three sources compete as equals.

    Args:
        data: Labelled rows, scored where there is an LM.
        fit: Fits every choice of a source.
        seed: Of the folds, which are made of whole queries.
        lm_incumbent: Whether the LM alone has to be beaten clearly; false for the embedded evidence engine.

    Returns:
        The table is empty and the probabilities are None where there is nothing to cross-validate: a single query, or
        a single grade.
    """
    has_lm = data.verdicts is not None
    base: Key = ("lm", "prior") if has_lm else ("evidence", "prior")
    predicted = _out_of_fold(data, fit, seed)
    if not predicted:
        only: Key = ("lm", "none") if has_lm else base
        return (), only, None
    losses = {key: _loss(p, data) for key, p in predicted.items()}
    errors = {key: float(_grade_error(p, data).mean()) for key, p in predicted.items()}
    winner, rival = _winner(losses, errors, base, data.cluster, lm_incumbent=has_lm and lm_incumbent)
    table = tuple(
        Choice(
            source=key[0],
            family=key[1],
            loss=float(losses[key].mean()),
            grade_error=errors[key],
            gain=gain[0],
            gain_error=gain[1],
            chosen=key == winner,
        )
        for key in losses
        for gain in [_clustered_mean(losses[rival] - losses[key], data.cluster)]
    )
    return table, winner, predicted[winner]


def _winner(
    losses: dict[Key, FloatArray], errors: dict[Key, float], base: Key, cluster: IntArray, *, lm_incumbent: bool
) -> tuple[Key, Key]:
    """What ships, and the rival that it had to beat."""

    def beats(key: Key, other: Key) -> bool:
        mean, error = _clustered_mean(losses[other] - losses[key], cluster)
        return mean > error

    best: dict[Source, Key] = {}
    for key in sorted(losses, key=lambda key: float(losses[key].mean())):  # stable: ties go to the simpler
        best.setdefault(key[0], key)
    rival = base
    if lm_incumbent and beats(best["lm"], base):
        rival = best["lm"]
    winner = rival
    contenders: tuple[Source, ...] = ("evidence", "both") if lm_incumbent else ("lm", "evidence", "both")
    for contender in (best[source] for source in contenders if source in best):
        real = beats(contender, rival) and (rival == base or errors[contender] <= errors[rival])
        if real and losses[contender].mean() < losses[winner].mean():
            winner = contender
    return winner, rival


def _out_of_fold(data: Data, fit: Fit, seed: int) -> dict[Key, FloatArray]:
    """Probabilities of each choice for each row from folds that hold none of its query; empty with a single
    query.
    """
    queries, code = np.unique(data.cluster, return_inverse=True)
    n_folds = min(FOLDS, len(queries))
    if n_folds < 2 or len(np.unique(data.target)) < 2:
        return {}
    fold = np.empty(len(queries), dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(len(queries))] = np.arange(len(queries)) % n_folds
    predicted: dict[Key, FloatArray] = {}
    for number in range(n_folds):
        held = fold[code] == number
        train, test = data.rows(~held), data.rows(held)
        for source in _sources(data):
            for key, calibrator in fit(train, source):
                room = predicted.setdefault(key, np.empty((len(data.target), data.n_grades)))
                room[held] = calibrator.apply(test.verdicts, test.evidence)
    return predicted


def _sources(data: Data) -> tuple[Source, ...]:
    if data.verdicts is None:
        return ("evidence",)
    return ("lm",) if data.evidence is None else ("lm", "evidence", "both")


def _loss(probabilities: FloatArray, data: Data) -> FloatArray:
    """Ranked probability score of each row in 0..1; on a nominal scale the Brier score, halved.

    Source: Epstein (1969), Journal of Applied Meteorology 8; Brier (1950), Monthly Weather Review 78.
    """
    k = data.n_grades
    if data.nominal:
        truth = np.eye(k)[data.target]
        loss: FloatArray = ((probabilities - truth) ** 2).sum(axis=1) / 2.0
        return loss
    truth = (data.target[:, None] >= np.arange(1, k)[None, :]).astype(np.float64)
    ranked: FloatArray = ((above_cuts(probabilities) - truth) ** 2).sum(axis=1) / (k - 1)
    return ranked


def _grade_error(probabilities: FloatArray, data: Data) -> FloatArray:
    """Distance between the grade that would ship and the experts'; 0 or 1 on a nominal scale."""
    if data.nominal:
        wrong: FloatArray = (probabilities.argmax(axis=1) != data.target).astype(np.float64)
        return wrong
    shipped = np.floor(probabilities @ np.arange(data.n_grades) + 0.5)
    distance: FloatArray = np.abs(shipped - data.target)
    return distance


def _clustered_mean(values: FloatArray, cluster: IntArray) -> tuple[float, float]:
    """Mean of ``values`` and its standard error when rows of one query hang together."""
    _, code = np.unique(cluster, return_inverse=True)
    mean = float(values.mean())
    sums = np.bincount(code, weights=values - mean)
    n_queries = len(sums)
    correction = n_queries / max(1, n_queries - 1)
    return mean, float(np.sqrt(correction * (sums**2).sum()) / len(values))
