"""The benchmark of cascades on a world in which the cheap judge knows when it guesses."""

from pathlib import Path

import pytest
from benchmarks.cascades import Tried, main, run

from tests.compiler.recorded_world import labels
from tests.compiler.test_cascades import verdicts
from tests.compiler.test_panels import world


def test_a_row_says_what_a_cascade_saves() -> None:
    rows = labels(60, 5)
    _, objective, names, evidence, cheap, dear, whole, share, *_, ships = run(
        Tried("made", "qwk", "cheap", "dear"), *world(verdicts(rows, knows=True), rows)
    )
    assert (objective, names, evidence, ships) == ("qwk", "cheap > dear", "", "**yes**")
    assert float(cheap) < float(dear) < float(whole)
    assert 40 < int(share.removesuffix(" %")) < 65


def test_a_folder_without_the_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="none of"):
        main(["--data", str(tmp_path)])
