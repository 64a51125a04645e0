"""The benchmark of cascades on a world in which the cheap judge knows when it guesses."""

from pathlib import Path

import pytest
from benchmarks.cascades import Tried, main, run

from tests.compile.recorded_world import labels
from tests.compile.test_cascades import verdicts
from tests.compile.test_panels import world


def test_a_row_says_what_a_cascade_saves() -> None:
    rows = labels(60, 5)
    said = verdicts(rows, knows=True)
    # A second prompt of the dear model, worse, which was asked about items alone that the first one has right.
    grades = {row["item_id"]: row["grade"] for row in rows}
    easy = [one for one in said if one["judge"] == "dear" and one["grade"] == grades[one["item_id"]]]
    worse = [{**one, "judge": "dear/easy"} for one in easy]
    for one in worse[::20]:
        one["grade"] = (int(str(one["grade"])) + 1) % 4
    _, objective, names, evidence, items, cheap, dear, whole, share, *_, ships = run(
        Tried("made", "qwk", "cheap", "dear"), *world([*said, *worse], rows)
    )
    assert (objective, names, evidence, ships) == ("qwk", "cheap > dear", "", "**yes**")
    assert items == "300"  # the first one ships, whose own items are harder
    assert float(cheap) < float(dear) < float(whole)
    assert 40 < int(share.removesuffix(" %")) < 65


def test_a_folder_without_the_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="none of"):
        main(["--data", str(tmp_path)])
