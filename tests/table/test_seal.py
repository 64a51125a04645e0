"""A version whose files were changed since it was written does not judge, unless that is allowed and said."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgec.errors import ArtifactError
from judgec.labels.split.memory import read_memory
from judgec.raters import programs
from judgec.records.audit import AuditReport
from judgec.table import seal
from tests.raters.test_programs import program
from tests.table.seals import forgotten

Change = Callable[[dict[str, Any]], object]


def changed(folder: Path, stem: str, change: Change) -> None:
    path = folder / f"{stem}.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content, indent=1) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    programs.save(tmp_path, program())
    return tmp_path / "programs" / "sensors" / "0001"


CHANGES: dict[str, Change] = {
    "tree": lambda content: content["self"].update(instructions="Always grade 5."),
    "card": lambda content: content.update(promoted=False),
    "split": lambda content: content.clear(),
    "report": lambda content: content.update(n=2),
}


@pytest.mark.parametrize("stem", CHANGES)
def test_changed_file_is_refused_and_named_or_allowed_and_noted(folder: Path, stem: str) -> None:
    home = folder.parents[2]
    with seal.reading(allow_modified=False):
        programs.load(home, "sensors@1")
        assert (seal.notes(), seal.state_of(folder)) == ([], ("sealed", ()))
    changed(folder, stem, CHANGES[stem])
    with pytest.raises(ArtifactError, match=rf"0001/{stem}\.json: modified since .*--allow-modified"):
        programs.load(home, "sensors@1")
    with pytest.raises(ArtifactError, match=rf"0001/{stem}\.json: modified since"):
        read_memory(home, "sensors")
    with seal.reading(allow_modified=True):
        programs.load(home, "sensors@1")
        read_memory(home, "sensors")
        (note,) = seal.notes()
        assert note.startswith(f"MODIFIED: {stem}.json of sensors@1 ")
    assert seal.notes() == []


def test_version_without_manifest_is_loaded_with_a_note_until_it_is_sealed(folder: Path) -> None:
    forgotten(folder)
    programs.load(folder.parents[2], "sensors@1")
    with seal.reading(allow_modified=False):
        programs.load(folder.parents[2], "sensors@1")
        (note,) = seal.notes()
    assert note.startswith("sensors@1 was never sealed")
    seal.seal(folder)
    assert seal.state_of(folder) == ("sealed", ())


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"sha256": 1}', '{"sha256": {"card.json": 1}}', "\0"])
def test_damaged_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / seal.NAME).write_text(text)
    with pytest.raises(ArtifactError, match=r"manifest\.json: .*Restore it"):
        programs.load(folder.parents[2], "sensors@1")


def test_manifest_that_lacks_a_file_does_not_let_it_pass(folder: Path) -> None:
    content = json.loads((folder / seal.NAME).read_text())
    del content["sha256"]["split.json"]
    (folder / seal.NAME).write_text(json.dumps(content))
    assert seal.state_of(folder) == ("modified", ("split.json",))


AUDIT = AuditReport(lm="m", created="now", items=1, queries=1, seed=0, findings=())


def test_audit_keeps_a_sealed_version_sealed_and_a_modified_one_modified(folder: Path) -> None:
    home = folder.parents[2]
    programs.record_audit(home, "sensors@1", AUDIT)
    assert seal.state_of(folder) == ("sealed", ())
    changed(folder, "card", CHANGES["card"])
    with seal.reading(allow_modified=True):
        programs.record_audit(home, "sensors@1", AUDIT)
    assert seal.state_of(folder) == ("modified", ("card.json",))


def test_replacing_that_is_killed_anywhere_leaves_a_sealed_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, steps = seal._replace, 0
    texts = {name: (folder / name).read_text() + "\n" for name in ("card.json", "report.json")}

    def replace(path: Path, text: str) -> None:
        nonlocal steps
        if not steps:
            raise KeyboardInterrupt
        steps -= 1
        whole(path, text)

    monkeypatch.setattr(seal, "_replace", replace)
    for most in range(5):
        steps = most
        with pytest.raises(KeyboardInterrupt):
            seal.replace_files(folder, texts)
        assert seal.state_of(folder) == ("sealed", ())
    steps = 5
    seal.replace_files(folder, texts)
    assert seal.state_of(folder) == ("sealed", ())
    assert all(isinstance(digest, str) for digest in json.loads((folder / seal.NAME).read_text())["sha256"].values())


def test_manifest_deleted_beside_changed_files_is_refused_until_they_are_sealed_as_they_are(folder: Path) -> None:
    home = folder.parents[2]
    (folder / seal.NAME).unlink()
    assert seal.state_of(folder) == ("sealed", ())  # as long as the files are the same

    changed(folder, "tree", CHANGES["tree"])
    with pytest.raises(ArtifactError, match=rf"0001/{seal.NAME}: missing"):
        programs.load(home, "sensors@1")
    with seal.reading(allow_modified=True):
        programs.load(home, "sensors@1")
        assert len(seal.notes()) == 1
    seal.seal(folder)
    programs.load(home, "sensors@1")


def test_manifest_deleted_after_an_audit_is_still_known(folder: Path) -> None:
    programs.record_audit(folder.parents[2], "sensors@1", AUDIT)
    (folder / seal.NAME).unlink()
    assert seal.state_of(folder) == ("sealed", ())
