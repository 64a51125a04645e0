"""Tables 5 and 6 of the RAG-Fusion paper (Rackauckas et al. 2024, "Evaluating RAG-Fusion with RAGElo")."""

import numpy as np
import pytest

from judgec.records.game import Games
from judgec.stats.rating.elo import elo
from judgec.stats.rating.ratings import bradley_terry
from judgec.stats.rating.win_table import win_table

AGENTS = ("BM25-RAG", "BM25-RAGF", "KNN-RAG", "KNN-RAGF", "Hybrid-RAG", "Hybrid-RAGF")
WIN_PERCENT = np.array(  # Table 5: row over column, 200 games a pair
    [
        [0.0, 14.5, 49.5, 52.5, 29.0, 28.5],
        [49.0, 0.0, 58.5, 51.5, 53.5, 30.5],
        [33.0, 27.0, 0.0, 20.0, 26.0, 31.0],
        [34.5, 30.0, 37.0, 0.0, 30.5, 32.0],
        [41.5, 21.0, 51.5, 48.0, 0.0, 20.5],
        [46.0, 35.0, 49.0, 45.5, 43.5, 0.0],
    ]
)
ELO = np.array([487, 571, 436, 470, 497, 550])  # Table 6
ORDER = np.argsort(-ELO).tolist()


def _games() -> Games:
    rows = []
    for i in range(6):
        for j in range(i + 1, 6):
            won, lost = round(2 * WIN_PERCENT[i, j]), round(2 * WIN_PERCENT[j, i])
            points = [1.0] * won + [0.0] * lost + [0.5] * (200 - won - lost)
            rows += [(i, j, query, score) for query, score in enumerate(points)]
    a, b, query, score = np.array(rows).T
    queries = tuple(f"q{query}" for query in range(200))
    return Games(AGENTS, queries, a.astype(int), b.astype(int), query.astype(int), score)


def test_ragelo_compat_mean_of_10000_tournaments_is_at_most_5_8_points_from_table_6() -> None:
    games = _games()
    assert len(games.a) == 3000
    ratings = elo(games, tournaments=10_000, ragelo_compat=True)
    assert np.abs(ratings.rating - ELO).max() == pytest.approx(5.8, abs=0.05)  # the figure of docs/papers.md
    assert ratings.rating.mean() == pytest.approx(502, abs=2)  # 1000 before truncation


def test_float_elo_and_bradley_terry_give_the_order_of_table_6() -> None:
    games = _games()
    ratings = elo(games, tournaments=10_000)
    assert np.argsort(-ratings.rating).tolist() == ORDER
    assert np.abs(ratings.rating - ELO).max() < 8.0
    assert np.argsort(-bradley_terry(games, resamples=0).rating).tolist() == ORDER


def test_win_table_gives_table_5_and_the_averages_that_the_paper_misprints() -> None:
    table = win_table(_games())
    off = ~np.eye(6, dtype=bool)
    assert np.abs(table.win_percent[off] - WIN_PERCENT[off]).max() < 1e-9
    assert table.average[4] == pytest.approx(36.5)
    assert table.average[5] == pytest.approx(43.8)
