"""What models replied, and who asked what, is for its owner alone; pages and results are for whom the umask lets."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgec.connect.tracking.client import open_store
from judgec.connect.tracking.store import tracking_store
from judgec.labels.split.family import locked_home, write_whole
from judgec.lm.journal.journal import Journal
from tests.compile.small import compiled_from, write
from tests.service import grading_world
from tests.verbs.cli.process import judgec


@pytest.fixture(params=[0o022, 0o077, 0o002], ids=["022", "077", "002"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_journal_and_lock_are_for_their_owner_alone(tmp_path: Path, umask: int) -> None:
    folder = tmp_path / "home" / ".judgec"
    with Journal(folder / "journal.db") as journal:
        journal.select("SELECT 1")
    (folder / "journal.db").chmod(0o644)  # of an older judgec
    with Journal(folder / "journal.db") as journal:
        journal.select("SELECT 1")
        assert {mode(path) for path in folder.iterdir()} == {0o600}  # the log beside it, too
    with locked_home(tmp_path / "home"):
        assert mode(folder / "programs.lock") == 0o600
    assert mode(folder) == 0o700
    assert mode(tmp_path / "home") == 0o777 & ~umask


def test_folder_that_others_may_read_already_stays_so(tmp_path: Path, umask: int) -> None:
    (tmp_path / ".judgec").mkdir(mode=0o755)
    (tmp_path / ".judgec").chmod(0o755)
    Journal(tmp_path / ".judgec" / "journal.db").close()
    assert mode(tmp_path / ".judgec") == 0o755
    assert mode(tmp_path / ".judgec" / "journal.db") == 0o644 & ~umask


def test_written_files_follow_the_umask(tmp_path: Path, umask: int) -> None:
    write_whole(tmp_path / "report.html", "page")
    assert mode(tmp_path / "report.html") == 0o666 & ~umask
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_default_store_is_for_its_owner_alone_and_another_database_is_not(tmp_path: Path) -> None:
    open_store(tracking_store(tmp_path, None, {}))
    assert mode(tmp_path / "mlruns") == 0o700
    assert mode(tmp_path / "mlruns" / "mlflow.db") == 0o600
    open_store(tracking_store(tmp_path, f"sqlite:///{tmp_path}/other/mlflow.db", {}))
    assert mode(tmp_path / "other" / "mlflow.db") & 0o044


def test_judging_leaves_a_private_home(tmp_path: Path) -> None:
    compiled_from(tmp_path, grading_world.rows(60), name="w", accept_at="4", lm="embedded")
    write(tmp_path / "items.jsonl", grading_world.rows(4))
    command = ["judge", "items.jsonl", "--judge", "w@1", "--out", "out.csv", "--home", ".", "--json"]
    assert json.loads(judgec(tmp_path, *command).stdout)["items"] > 0
    assert mode(tmp_path / ".judgec") == 0o700
    assert {mode(path) for path in (tmp_path / ".judgec").iterdir()} == {0o600}
    assert mode(tmp_path / "out.csv") & 0o044
