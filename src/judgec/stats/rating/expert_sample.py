"""Samples games for experts to label, and tests whether labelled games are a random sample.

Every game has a place in one random order, a hash of its query and agents. Experts who label the first games of
that order have labelled a random sample, wherever they stop, and anybody can check it afterwards.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from judgec.errors import InputError, UserError
from judgec.records.counts import plural
from judgec.records.game import Games
from judgec.records.label import FloatArray, IntArray

PERMUTATIONS = 2000
SUSPICIOUS = 0.001  # a truly random sample is refused once in a thousand


def sample_order(games: Games) -> IntArray:
    """Positions of the games in the random order; who is shown first does not matter."""

    def place(game: int) -> bytes:
        names = sorted((games.agents[games.a[game]], games.agents[games.b[game]]))
        return hashlib.sha256("\0".join((games.queries[games.query[game]], *names)).encode()).digest()

    return np.array(sorted(range(len(games.a)), key=place), dtype=np.int64)


def expert_points(games: Games, labelled: Games, source: str) -> FloatArray:
    """The experts' points for ``a`` in each game, the mean of several experts'; NaN where no expert looked.

    Args:
        games: As judged; each query and pair at most once.
        labelled: As labelled, a row an expert; rows without a preference say nothing.
        source: Where they come from, for messages.

    Raises:
        InputError: Labels of queries or agents that do not play.
        UserError: No label of any of these games.
    """
    place = {(query, a, b): game for game, (query, a, b, _) in enumerate(_rows(games))}
    queries, agents = set(games.queries), set(games.agents)
    sums, counts = np.zeros(len(games.a)), np.zeros(len(games.a))
    unknown: list[str] = []
    for query, a, b, score in _rows(labelled):
        if query not in queries or not {a, b} <= agents:
            unknown.append(f"{source}: {a!r} against {b!r} on query {query!r}; no such game. Correct the names.")
        elif not np.isnan(score):
            for key, points in (((query, a, b), score), ((query, b, a), 1.0 - score)):
                if key in place:
                    sums[place[key]] += points
                    counts[place[key]] += 1.0
    if unknown:
        raise InputError(unknown)
    if not counts.any():
        raise UserError(f"{source}: no expert preference on any of the {len(games.a)} games. Fill in the preferences.")
    mean: FloatArray = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    return mean


def require_random(games: Games, expert: FloatArray, source: str, *, claimed: bool, seed: int = 0) -> str:
    """Checks that the labelled games are a random sample.

    Args:
        games: As judged.
        expert: From ``expert_points``.
        source: Where the labels come from, for messages.
        claimed: They are taken as drawn at random in another way than by ``sample_order``, unless they look otherwise.
        seed: Of the permutations.

    Raises:
        UserError: They are not the first of the random order and nobody vouches for them, or they differ from the
            other games so much that they cannot have been drawn at random.
    """
    known = ~np.isnan(expert)
    n = int(known.sum())
    if known[sample_order(games)[:n]].all():
        return f"the first {plural(n, 'game')} of the random order"
    if not claimed:
        missing = int((~known[sample_order(games)[:n]]).sum())
        raise UserError(
            f"{source}: {missing} of the first {n} games of the random order have no preference, so the labelled ones "
            "are no random sample; only such a sample can correct win rates. Label the games that --sample writes, in "
            "their order."
        )
    p = _looks_random(games, known, seed)
    if p <= SUSPICIOUS:
        raise UserError(
            f"{source}: the {n} labelled games differ from the others in agents or verdicts (p {p:.4f}), so they were "
            "not drawn at random; only a random sample can correct win rates. Label the games that --sample writes."
        )
    return f"{plural(n, 'game')}, taken as drawn at random: they are not shown to differ from the others"


def _rows(games: Games) -> Sequence[tuple[str, str, str, float]]:
    return [
        (games.queries[query], games.agents[a], games.agents[b], score)
        for query, a, b, score in zip(
            games.query.tolist(), games.a.tolist(), games.b.tolist(), games.score.tolist(), strict=True
        )
    ]


def _looks_random(games: Games, known: np.ndarray[tuple[int], np.dtype[np.bool_]], seed: int) -> float:
    """p-value of a permutation test that labelled and other games have the same pairs and verdicts.

    Where queries are labelled as a whole or not at all, queries are drawn, not games.
    """
    turned = games.a > games.b
    low, high = np.where(turned, games.b, games.a), np.where(turned, games.a, games.b)
    score = np.nan_to_num(np.where(turned, 1.0 - games.score, games.score), nan=2.0)
    tables = [np.unique(column, return_inverse=True)[1] for column in (low * len(games.agents) + high, score)]
    expected = [np.bincount(codes) * known.mean() for codes in tables]

    def distance(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
        parts = zip(tables, expected, strict=True)
        return sum(float((((np.bincount(c, mask, len(e)) - e) ** 2) / e).sum()) for c, e in parts)

    rng = np.random.default_rng(seed)
    found = distance(known)
    share = np.bincount(games.query, known) / np.maximum(np.bincount(games.query), 1)
    drawn = np.unique(games.query)
    whole = bool(np.isin(share[drawn], (0.0, 1.0)).all())

    def again() -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        if not whole:
            return rng.permutation(known)
        mask = np.zeros(len(share), dtype=bool)
        mask[drawn] = rng.permutation(share[drawn] > 0)
        return mask[games.query]

    more = sum(distance(again()) >= found - 1e-9 for _ in range(PERMUTATIONS))
    return (1 + more) / (1 + PERMUTATIONS)
