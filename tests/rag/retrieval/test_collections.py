"""Published figures of two classic collections; the labels are not part of this repository."""

from pathlib import Path

import pytest
from benchmarks.collections_quality import measured

ROOT = Path(__file__).parents[3]
DATA = ROOT.parent / "shared" / "data" / "labels"

pytestmark = pytest.mark.full


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("vaswani", 0.285, 0.31),  # a plain Porter BM25 has MAP .288; Terrier publishes .2965
        ("cranfield", 0.347, 0.387),  # nDCG@10 .367, k1 1.2, b .75, Porter, stop words
    ],
)
def test_bm25_reaches_what_is_published_within_intervals(name: str, low: float, high: float, tmp_path: Path) -> None:
    if not (DATA / f"{name}_corpus.jsonl").is_file():
        pytest.skip(
            f"{DATA}: {name}_corpus.jsonl is not here; the collection is needed to check BM25 against its figures"
        )
    found = measured(name, DATA, tmp_path / "index")
    assert low <= (found.means["bm25"].value or 0) <= high
    assert (found.means["knn"].value or 0) > 0.15
    for difference in found.hybrid_minus.values():
        assert difference.low is not None
        assert difference.high is not None
        assert difference.low < (difference.value or 0) < difference.high
