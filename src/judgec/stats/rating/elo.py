"""Elo ratings averaged over shuffled tournaments, all tournaments side by side.

Elo depends on the order of the games, so one order is noise: at K = 32 a single tournament is off by about
40 points. Bradley-Terry is the order-free limit and the headline; Elo is here because the field reports it.
Source: Elo (1978), The Rating of Chessplayers; RAGElo 0.7.0 for ``ragelo_compat``.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgec.errors import UserError
from judgec.records.game import Games
from judgec.records.label import FloatArray

Order = Literal["file", "shuffled"]

FLOAT_INITIAL = 500.0  # the level that the RAG-Fusion paper's table is read at
COMPAT_INITIAL = 1000.0  # RAGElo's start, before truncation pulls the mean down
LANE_BYTES = 2**30  # shuffled games held at once: 500 tournaments of a million games, two bytes each
MOST_LANES = 1024  # tournaments side by side; more leave the processor's cache
MOST_KINDS = 2**16  # (who, whom, points) that are dealt out; more take longer than playing fewer tournaments at a time
REMEMBERED = 1000  # games an agent from which on only a tournament's last ones may be played, if they forget the first
FORGOTTEN = 1e-6  # points between tournaments that began differently; those begun alike differ by less
SPREAD = 400.0  # points between agents where a tournament begins differently
CHECKED = 8  # tournaments that this is tried on
BLOCK = 512  # games transposed at a time, so that each step reads one contiguous row


@dataclass(frozen=True, slots=True)
class EloRatings:
    """Elo ratings and everything they were computed with.

    Args:
        agents: Agent names, sorted.
        rating: Mean over the tournaments, shape (n_agents,); NaN for an agent without a scored game.
        sd: Standard deviation over the tournaments: the noise of the order of the games, not of the queries.
            NaN with a single tournament.
        tournaments: How many orders were averaged; 1 when the order is the file's.
    """

    agents: tuple[str, ...]
    rating: FloatArray
    sd: FloatArray
    tournaments: int
    k: float
    initial: float
    order: Order
    seed: int | None
    ragelo_compat: bool


def elo(
    games: Games,
    *,
    tournaments: int = 500,
    k: float = 32.0,
    initial: float | None = None,
    seed: int = 0,
    order: Order = "shuffled",
    ragelo_compat: bool = False,
) -> EloRatings:
    """Mean Elo rating of each agent over shuffled tournaments; unscored games are left out.

    After each game both ratings move by ``k`` times (points - expected points); their sum never changes. With
    over a thousand games an agent, and tournaments that begin differently but end alike, only the last ones are played.

    Args:
        games: The games; every row is one game.
        tournaments: Number of shuffles; ignored when ``order`` is ``file``.
        k: Points at stake in a game.
        initial: Rating before the first game; default 500, or 1000 with ``ragelo_compat``.
        seed: Seed of the shuffles.
        order: ``shuffled``, or ``file`` for one tournament in the order of the rows.
        ragelo_compat: Truncate both ratings to integers after every game, as RAGElo does. This loses about
            half a point per player and game, and flatters agents that play less; use it only to reproduce
            published numbers.

    Raises:
        UserError: When ``tournaments`` is below 1, ``k`` is not a positive number or ``initial`` is not finite.
    """
    start = initial if initial is not None else COMPAT_INITIAL if ragelo_compat else FLOAT_INITIAL
    if tournaments < 1 or not 0 < k < math.inf or not math.isfinite(start):
        raise UserError(
            f"elo: tournaments {tournaments}, k {k}, initial {start}; at least 1 tournament, a k above 0 and finite "
            "numbers are needed. Change --tournaments, --k or --initial."
        )
    played = games.only(games.scored)
    lanes = 1 if order == "file" else tournaments
    final = _tournaments(played, lanes, k, start, seed if order == "shuffled" else None, truncate=ragelo_compat)
    idle = np.bincount(np.concatenate([played.a, played.b]), minlength=len(games.agents)) == 0
    rating = np.where(idle, np.nan, final.mean(axis=1))
    sd = np.where(idle, np.nan, final.std(axis=1, ddof=1)) if lanes > 1 else np.full(len(idle), np.nan)
    return EloRatings(
        games.agents, rating, sd, lanes, k, start, order, seed if order == "shuffled" else None, ragelo_compat
    )


def _tournaments(games: Games, lanes: int, k: float, initial: float, seed: int | None, *, truncate: bool) -> FloatArray:
    """Final ratings, shape (n_agents, lanes)."""
    n = len(games.agents)
    # A game's place in a tournament needs only its kind (who, whom, points): two bytes instead of an index.
    points, position = np.unique(games.score, return_inverse=True)
    kinds, code = np.unique((games.a * n + games.b) * len(points) + position, return_inverse=True)
    code = code.astype(np.uint16 if len(kinds) <= 2**16 else np.uint32)
    first, second, score = kinds // len(points) // n, kinds // len(points) % n, points[kinds % len(points)]

    def ends(begun: FloatArray, most: int) -> FloatArray:
        ratings, lanes = begun.copy(), begun.shape[1]
        rng = None if seed is None else np.random.default_rng(seed)
        for begin in range(0, lanes, width := _lanes_at_once(code, len(kinds), lanes)):
            part = ratings[:, begin : begin + width].copy()
            for orders in _dealt(code, part.shape[1], rng, most):
                for block in range(0, orders.shape[1], BLOCK):
                    kind = np.ascontiguousarray(orders[:, block : block + BLOCK].T)
                    _play(part, first[kind], second[kind], score[kind], k, truncate=truncate)
            ratings[:, begin : begin + width] = part
        return ratings

    most = len(code)
    if seed is not None and not truncate and (last := REMEMBERED * n) < most and len(kinds) <= MOST_KINDS:
        even = np.full((n, min(lanes, CHECKED)), initial)
        apart = np.abs(ends(even, last) - ends(even + SPREAD * (np.arange(n) % 2)[:, None] - SPREAD / 2, last))
        most = last if apart.max() < FORGOTTEN else most
    return ends(np.full((n, lanes), initial), most)


def _lanes_at_once(code: NDArray[np.unsignedinteger], kinds: int, lanes: int) -> int:
    """Tournaments side by side: fewer where all their games would have to be held, and kinds are too many to deal."""
    return min(MOST_LANES, lanes if kinds <= MOST_KINDS else max(1, LANE_BYTES // max(1, code.nbytes)))


def _dealt(
    code: NDArray[np.unsignedinteger], lanes: int, rng: np.random.Generator | None, most: int
) -> Iterator[NDArray[np.unsignedinteger]]:
    """The last ``most`` games of every lane in an order of its own, shape (lanes, games); so many at a time as fit.

    Many games are dealt like cards. How many of each kind are in a hand is multivariate hypergeometric, and the hand is
    shuffled: all orders are equally likely, as if the games were shuffled as a whole.
    """
    hand = max(BLOCK, LANE_BYTES // (lanes * code.itemsize))
    if (len(code) <= hand and most == len(code)) or rng is None:
        orders = np.tile(code, (lanes, 1))
        if rng is not None:
            rng.permuted(orders, axis=1, out=orders)
        yield orders
        return
    left = np.tile(np.bincount(code), (lanes, 1))
    kinds = np.arange(left.shape[1], dtype=code.dtype)
    for begin in range(0, most, hand):
        size = min(hand, most - begin)
        orders = np.empty((lanes, size), dtype=code.dtype)
        for lane in range(lanes):
            drawn = rng.multivariate_hypergeometric(left[lane], size)
            left[lane] -= drawn
            orders[lane] = np.repeat(kinds, drawn)
        rng.permuted(orders, axis=1, out=orders)
        yield orders


def _play(
    ratings: FloatArray,
    a: NDArray[np.intp],
    b: NDArray[np.intp],
    score: FloatArray,
    k: float,
    *,
    truncate: bool,
) -> None:
    """Play ``len(a)`` games in every lane, in place; ``a``, ``b``, ``score`` have shape (games, lanes)."""
    lanes = ratings.shape[1]
    if lanes == 1:  # plain numbers are twenty times faster than arrays of one
        ratings[:, 0] = _play_alone(ratings[:, 0].tolist(), a.ravel(), b.ravel(), score.ravel(), k, truncate=truncate)
        return
    flat = ratings.reshape(-1)
    lane = np.arange(lanes)
    a = a * lanes + lane
    b = b * lanes + lane
    scale = math.log(10.0) / 400.0
    buffer = np.empty(lanes)
    if truncate:
        won = k * score
        for one, two, points in zip(a, b, won, strict=True):
            mine, theirs = flat[one], flat[two]
            np.subtract(theirs, mine, out=buffer)
            buffer *= scale
            np.exp(buffer, out=buffer)
            buffer += 1.0
            np.divide(k, buffer, out=buffer)
            np.subtract(points, buffer, out=buffer)
            mine += buffer
            theirs -= buffer
            flat[one] = np.trunc(mine, out=mine)
            flat[two] = np.trunc(theirs, out=theirs)
        return
    # Units of logits: the step is two gathers, one exponential and two scatters.
    flat *= scale
    stake = k * scale
    won = stake * score
    for one, two, points in zip(a, b, won, strict=True):
        mine, theirs = flat[one], flat[two]
        np.subtract(theirs, mine, out=buffer)
        np.exp(buffer, out=buffer)
        buffer += 1.0
        np.divide(stake, buffer, out=buffer)
        np.subtract(points, buffer, out=buffer)
        mine += buffer
        theirs -= buffer
        flat[one] = mine
        flat[two] = theirs
    flat /= scale


def _play_alone(
    ratings: list[float],
    a: NDArray[np.intp],
    b: NDArray[np.intp],
    score: FloatArray,
    k: float,
    *,
    truncate: bool,
) -> list[float]:
    """The same for one tournament."""
    for one, two, points in zip(a.tolist(), b.tolist(), score.tolist(), strict=True):
        mine, theirs = ratings[one], ratings[two]
        gain = k * points - k / (1.0 + 10.0 ** ((theirs - mine) / 400.0))
        mine, theirs = mine + gain, theirs - gain
        ratings[one], ratings[two] = (math.trunc(mine), math.trunc(theirs)) if truncate else (mine, theirs)
    return ratings
