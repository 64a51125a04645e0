"""``manifest.json``: SHA-256 of a version's files, so that a change of them since it was written is seen.

It detects change, not forgery: who can change the files can write the manifest anew. Versions from before it have none;
that a version once had one, the home's ``.judgec/sealed-NAME-0001`` knows, by the manifest's own SHA-256.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from judgec.errors import ArtifactError
from judgec.private import private_file, private_folder
from judgec.table.regular import regular

NAME = "manifest.json"
FILES = tuple(f"{stem}.json" for stem in ("tree", "card", "split", "report"))  # what judges
State = Literal["sealed", "unsealed", "modified"]


@dataclass(slots=True)
class _Reading:
    allowed: bool
    notes: dict[str, None] = field(default_factory=dict)


# Versions are read deep below the verbs: what the user allowed goes down, and what is to be said comes up.
_READING: ContextVar[_Reading | None] = ContextVar("reading", default=None)


@contextmanager
def reading(allow_modified: bool) -> Iterator[None]:
    """The time of one command or verb: whether modified versions may be read; inside of another one, as that one says.

    Args:
        allow_modified: Read them with a note.
    """
    outer = _READING.get()
    if outer is not None and outer.allowed >= allow_modified:
        yield
        return
    mark = _READING.set(_Reading(allow_modified, {} if outer is None else outer.notes))
    try:
        yield
    finally:
        _READING.reset(mark)


def notes() -> list[str]:
    """Notes for every report of this command: versions that were modified, and those that nobody has sealed."""
    now = _READING.get()
    return [] if now is None else list(now.notes)


def note(said: str) -> None:
    """Have something said of a version on every report of this command.

    Args:
        said: A sentence.
    """
    if (now := _READING.get()) is not None:
        now.notes[said] = None


def state_of(folder: Path) -> tuple[State, tuple[str, ...]]:
    """State of a version by its manifest, and its files that were modified.

    Raises:
        ArtifactError: A damaged manifest.
    """
    sealed = _read(folder)
    if sealed is None:
        known = _index(folder)
        remembered = _text(known) if known is not None else ""
        if not remembered:
            return "unsealed", ()
        same = remembered == _sha256(_manifest(_now(folder)))
        return ("sealed", ()) if same else ("modified", (NAME,))
    changed = tuple(name for name in FILES if _digest(folder / name) not in sealed.get(name, ("",)))
    return ("modified" if changed else "sealed"), changed


def check(folder: Path) -> None:
    """Refuse a version whose files were modified, unless that is allowed; note what is not as it was written.

    Args:
        folder: ``programs/NAME/0001``.

    Raises:
        ArtifactError: It was modified, or its manifest is damaged.
    """
    state, changed = state_of(folder)
    if state == "sealed":
        return
    now = _READING.get()
    version = f"{folder.parent.name}@{folder.name.lstrip('0') or '0'}"
    if state == "unsealed":
        said = f"{version} was never sealed: whether it was modified is not known. judgec doctor --seal seals it."
    elif now is None or not now.allowed:
        if changed == (NAME,):
            raise ArtifactError(
                f"{folder / NAME}: missing, and the files of {version} are not those that were sealed; the files of a "
                "version must stay as compiled. Restore them, or compile again; judgec doctor --seal seals them as "
                "they are, judge --allow-modified (load_judge(allow_modified=True)) takes them once."
            )
        raise ArtifactError(
            f"{folder / changed[0]}: modified since it was written (its SHA-256 is not that of {NAME}); the files "
            "of a version must stay as compiled. Restore the file, or compile again; judge --allow-modified "
            "(load_judge(allow_modified=True)) takes it as it is."
        )
    else:
        said = f"MODIFIED: {', '.join(changed)} of {version} are not as they were compiled (--allow-modified)."
    note(said)


def seal(folder: Path) -> None:
    """Write the manifest of the files as they are now."""
    _write(folder, _now(folder))
    remember(folder)


def remember(folder: Path) -> None:
    """Keep in the home of a version that it was sealed, by its manifest's digest; elsewhere nothing is kept."""
    known = _index(folder)
    if known is not None:
        private_folder(known.parent)
        _replace(known, _digest(folder / NAME) + "\n")


def replace_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Change files of a version, each whole or not at all; what was as sealed stays so, wherever a kill interrupts.

    Args:
        folder: Of the version.
        texts: The new text of each file.
    """
    sealed = _read(folder)
    if sealed is not None:
        new = {name: _sha256(text) for name, text in texts.items()}
        untouched = {name: new[name] for name in texts if _digest(folder / name) in sealed.get(name, ())}
        _write(folder, {**sealed, **{name: (*sealed[name], digest) for name, digest in untouched.items()}})
    for name, text in texts.items():
        _replace(folder / name, text)
    if sealed is not None:
        _write(folder, {**sealed, **{name: (digest,) for name, digest in untouched.items()}})
        remember(folder)


def _index(folder: Path) -> Path | None:
    """Place in the home of ``programs/NAME/0001`` that remembers it; of any other folder none."""
    family, programs = folder.absolute().parent, folder.absolute().parent.parent
    if programs.name != "programs" or not folder.name.isdecimal():
        return None
    return programs.parent / ".judgec" / f"sealed-{family.name}-{folder.name}"


def _text(path: Path) -> str:
    """A file's text; empty where there is none for us to read."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _now(folder: Path) -> dict[str, tuple[str, ...]]:
    return {name: (_digest(folder / name),) for name in FILES}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(regular(path).read_bytes()).hexdigest()
    except OSError:
        return ""  # whoever reads it says what is wrong


def _read(folder: Path) -> dict[str, tuple[str, ...]] | None:
    """The digests that each file may have."""
    path = folder / NAME
    try:
        content = json.loads(regular(path).read_text(encoding="utf-8"))["sha256"]
        return {
            str(name): (said,) if isinstance(said, str) else tuple(map(str, said)) for name, said in content.items()
        }
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ArtifactError(
            f"{path}: {error}; the SHA-256 of the files of a version were expected. Restore it, or delete it and run "
            "judgec doctor --seal."
        ) from error


def _write(folder: Path, digests: Mapping[str, tuple[str, ...]]) -> None:
    _replace(folder / NAME, _manifest(digests))


def _manifest(digests: Mapping[str, tuple[str, ...]]) -> str:
    said = {name: known[0] if len(known) == 1 else known for name, known in sorted(digests.items())}
    return json.dumps({"sha256": said}, indent=1) + "\n"


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    if path.parent.name == ".judgec":
        private_file(partial)
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
