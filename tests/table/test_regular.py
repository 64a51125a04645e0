"""Pipes and folders in the place of files are refused at once."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from judgec.errors import ArtifactError, InputError
from judgec.labels.split.family import read_family
from judgec.labels.split.memory import read_memory
from judgec.rag.queries.scenarios.reading import read_scenario
from judgec.raters import programs
from judgec.table.regular import regular
from judgec.table.toml import read_toml
from tests.raters.test_programs import program


def test_regular_takes_files_and_links_to_them(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    assert regular(tmp_path / "link").read_text() == "x"
    with pytest.raises(FileNotFoundError):
        regular(tmp_path / "none")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("stem", ["card", "tree", "split", "report"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_pipe_or_folder_in_the_place_of_a_file_of_a_version_is_refused(
    tmp_path: Path, stem: str, make: Callable[[Path], None]
) -> None:
    programs.save(tmp_path, program())
    path = tmp_path / "programs" / "sensors" / "0001" / f"{stem}.json"
    path.unlink()
    make(path)
    with pytest.raises(ArtifactError, match=rf"{stem}\.json: .*a file is needed"):
        programs.load(tmp_path, "sensors@1")
    if stem == "card":
        with pytest.raises(ArtifactError, match=rf"{stem}\.json: (.*a file is needed|modified)"):
            read_memory(tmp_path, "sensors")


@pytest.mark.timeout(60)
def test_pipe_in_the_place_of_other_files_is_refused(tmp_path: Path) -> None:
    reads: dict[str, Callable[[Path], object]] = {
        "programs/s/aliases.json": lambda _: programs.aliases(tmp_path, "s"),
        "programs/s/family.json": lambda _: read_family(tmp_path, "s"),
        "datasheet.toml": read_toml,
        "s.yaml": read_scenario,
    }
    (tmp_path / "programs" / "s").mkdir(parents=True)
    for name, read in reads.items():
        os.mkfifo(tmp_path / name)
        with pytest.raises((ArtifactError, InputError), match="a file is needed"):
            read(tmp_path / name)
