"""Compiled judges on disk: ``programs/NAME/0001/`` with JSON files and their manifest; the aliases of a family.

A version is written into a hidden folder and renamed, so a reader sees all of it or nothing; two compiles at
once get two numbers. Everything is JSON: nothing that is read here can run code, and no file says which LM to
call.
"""

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from judgec.errors import ArtifactError, UserError
from judgec.lm.spec import LMSpec
from judgec.records.audit import AuditReport
from judgec.records.card import ProgramCard
from judgec.table import seal
from judgec.table.regular import regular

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
VERSION = re.compile(r"\d{4,}")
PARTIAL = re.compile(r"\.(\d{4,})\.partial")
CHAMPION, LATEST = "champion", "latest"
VERBS = {"agent": "compile-agent", "queries": "compile-queries"}  # by the task of a card; of others compile-judge
BEFORE = "a form of programs from before 0.9"
Json = dict[str, Any]  # a JSON object; each reader validates what it takes from it


@dataclass(frozen=True, slots=True)
class Program:
    """One version as stored.

    Args:
        card: What it is.
        tree: Of a judge its raters (``raters.tree``), of others their prompts (``predictors.saved_prompts``) and what
            they were made with; empty of a version from before there were trees.
        split: Which query went to train, dev and test.
        report: The measurements.
    """

    card: ProgramCard
    tree: Json
    split: Json
    report: Json


def gone(program: Program, what: str, lm: str = "") -> str:
    """Says that a saved judge needs what is gone, and how it is compiled again: the one line with which it refuses.

    Args:
        program: The judge, whose card and report are shown all the same.
        what: What is gone.
        lm: The model that the new one asks, where it needs one and the card names none.
    """
    card, source = program.card, program.report.get("source")
    verb = VERBS.get(card.task, "compile-judge")
    labels = str((source if isinstance(source, dict) else {}).get("path") or "LABELS")
    model = str(card.lm.get("model", "")) if "/" in str(card.lm.get("model", "")) else lm
    command = [
        "judgec",
        verb,
        *([labels] if verb == "compile-judge" else []),
        "--name",
        card.name,
        *(["--lm", model] if model else []),
    ]
    return f"{card.name}@{card.version}: it judged with {what}, gone since. Compile it again: {shlex.join(command)}"


def tree_of(program: Program) -> Json:
    """What was saved of a program beside its card.

    Raises:
        ArtifactError: It was saved before there were trees.
    """
    if not program.tree:
        raise ArtifactError(gone(program, BEFORE))
    return program.tree


def model_of(card: ProgramCard, *, lm: str | None = None, api_base: str | None = None, asks: bool = True) -> LMSpec:
    """The model that a saved judge asks, or that is to be asked in its place.

    Args:
        card: Of the judge; no endpoint is taken from it.
        lm: Another model than its own.
        api_base: The endpoint, as typed.
        asks: Whether it will be asked at all; else it does not matter where.

    Raises:
        UserError: As ``LMSpec.from_card``.
    """
    return LMSpec.from_card(card.lm, model=lm, api_base=api_base, asks=asks and not card.evidence_alone)


def save(home: Path, program: Program) -> ProgramCard:
    """Write a new version and return its card, with the version's number.

    Args:
        home: The folder that holds ``programs/``.
        program: Its card's version is replaced by the next free number.

    Raises:
        UserError: When the name cannot be a folder's.
    """
    family = _family(home, program.card.name)
    family.mkdir(parents=True, exist_ok=True)
    version, partial = _reserve(family)
    card = program.card.model_copy(update={"version": version})
    try:
        files = {
            "tree": program.tree,
            "card": card.model_dump(mode="json"),
            "split": program.split,
            "report": program.report,
        }
        for stem, content in files.items():
            (partial / f"{stem}.json").write_text(_text(content), encoding="utf-8")
        seal.seal(partial)
        folder = partial.rename(family / f"{version:04d}")
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    seal.remember(folder)
    return card


def record_audit(home: Path, reference: str, audit: AuditReport) -> ProgramCard:
    """Put an audit on the card, and into the report, of a version; audits that were not run again stay.

    Everything else of a version stays as it was compiled.
    """
    program = load(home, reference)
    card = program.card
    whole = audit if card.audit is None else card.audit.updated(audit)
    card = card.model_copy(update={"audit": whole})
    folder = _family(home, card.name) / f"{card.version:04d}"
    changed = {"card.json": card.model_dump(mode="json"), "report.json": {**program.report, "audit": whole.to_json()}}
    seal.replace_files(folder, {name: _text(content) for name, content in changed.items()})
    return card


def _text(content: Json) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def load(home: Path, reference: str, option: str = "--judge") -> Program:
    """Read a version.

    Args:
        home: The folder that holds ``programs/``.
        reference: ``NAME`` or ``NAME@champion``, ``NAME@latest``, ``NAME@3`` or ``NAME@0003``, any alias.
        option: That names it, for messages.

    Raises:
        UserError: When there is no such judge or version; names what there is.
        ArtifactError: When a file is damaged, or was modified and that is not allowed (``seal.reading``).
    """
    name, _, wanted = reference.partition("@")
    version = _resolve(home, name, wanted or CHAMPION, option)
    folder = _family(home, name) / f"{version:04d}"
    program = read_folder(folder)
    if (program.card.name, program.card.version) != (name, version):
        raise ArtifactError(
            f"{folder / 'card.json'}: the card of {program.card.name}@{program.card.version}; {name}@{version} was "
            "expected. Put the folder back where it was written."
        )
    return program


def champion_or_newest(home: Path, reference: str, option: str = "judge name") -> str:
    """A reference for those who may take a judge that nobody proved.

    Args:
        home: The folder that holds ``programs/``.
        reference: As for ``load``.
        option: Likewise.

    Returns:
        The same; ``NAME@latest`` for a bare NAME of which no version is champion.
    """
    name, _, wanted = reference.partition("@")
    _family(home, name, option)
    bare = not wanted and CHAMPION not in aliases(home, name) and versions(home, name)
    return f"{name}@{LATEST}" if bare else reference


def read_folder(folder: Path) -> Program:
    """Read a version wherever its folder is.

    Raises:
        ArtifactError: When a file is damaged, or was modified and that is not allowed (``seal.reading``).
    """
    contents = {stem: _read(folder / f"{stem}.json") for stem in ("card", "split", "report")}
    contents["tree"] = _read(folder / "tree.json") if (folder / "tree.json").exists() else {}
    seal.check(folder)
    try:
        card = ProgramCard.model_validate(contents.pop("card"))
    except ValidationError as error:
        raise ArtifactError(
            f"{folder / 'card.json'}: {error.errors()[0]['msg']} at {error.errors()[0]['loc']}; "
            "the card of a compiled judge was expected. Compile it again."
        ) from error
    return Program(card=card, **contents)


def page_path(home: Path, card: ProgramCard) -> Path:
    """Path of the page of a version, next to its report."""
    return home / "programs" / card.name / f"{card.version:04d}" / "report.html"


def find(home: Path, name: str, facts: Mapping[str, object], tree: Json) -> ProgramCard | None:
    """The card of the newest version with this content, or None.

    Args:
        home: The folder that holds ``programs/``.
        name: The family.
        facts: Fields of the card that must be equal.
        tree: As it is saved.
    """
    wanted = json.loads(json.dumps([facts, tree]))  # as it comes back from a file
    for version in reversed(versions(home, name)):
        known = load(home, f"{name}@{version}")
        card = known.card.model_dump(mode="json")
        if [{key: card[key] for key in facts}, known.tree] == wanted:
            return known.card
    return None


def names(home: Path) -> tuple[str, ...]:
    """The families that have a version, sorted."""
    root = home / "programs"
    folders = sorted(root.iterdir()) if root.is_dir() else []
    return tuple(folder.name for folder in folders if folder.is_dir() and _numbers(folder))


def versions(home: Path, name: str) -> tuple[int, ...]:
    """The versions of a family, oldest first; none when there is no such family."""
    return tuple(_numbers(_family(home, name)))


def aliases(home: Path, name: str) -> dict[str, int]:
    """The version behind each alias of a family."""
    path = _family(home, name) / "aliases.json"
    if not path.exists():
        return {}
    content = _read(path)
    if not all(isinstance(version, int) for version in content.values()):
        raise ArtifactError(
            f"{path}: {content}; a version number for each alias was expected. Mend or delete the file."
        )
    return content


def set_aliases(home: Path, name: str, changes: Mapping[str, int]) -> None:
    """Point aliases at versions, all at once; other aliases stay.

    Raises:
        UserError: When a version does not exist, or an alias is a number, ``latest`` or no name.
    """
    existing = versions(home, name)
    for alias, version in changes.items():
        if version not in existing:
            raise UserError(f"{name}@{version}: no such version; there are {_listed(existing)}. Name one of these.")
        if not NAME.fullmatch(alias) or alias.isdigit() or alias == LATEST:
            raise UserError(f"alias {alias!r}: not a name; an alias is a word other than {LATEST}. Choose another.")
    path = _family(home, name) / "aliases.json"
    content = json.dumps({**aliases(home, name), **changes}, indent=1, sort_keys=True)
    partial = path.with_name(f".aliases.{os.getpid()}.partial")
    partial.write_text(content + "\n", encoding="utf-8")
    partial.replace(path)


def _resolve(home: Path, name: str, wanted: str, option: str) -> int:
    existing = versions(home, name)
    if not existing:
        others = names(home)
        there = f"there are {_listed(others)}. Name one of these, or make" if others else "it holds none. Make"
        raise UserError(
            f"{option}: there is no judge {name!r} in {home / 'programs'}; {there} one with judgec compile-judge."
        )
    if wanted == LATEST:
        return existing[-1]
    known = aliases(home, name)
    version = int(wanted) if wanted.isdecimal() else known.get(wanted)
    if version in existing:
        return version
    if wanted == CHAMPION and version is None:
        raise UserError(
            f"{option}: {name} has no champion, no version was shown to be better; there are versions "
            f"{_listed(existing)}. To use the newest all the same, name {name}@{LATEST}."
        )
    if version is not None and wanted in known:
        raise UserError(
            f"{option}: {name}@{wanted} is version {version}, which is gone; there are versions {_listed(existing)}. "
            f"Name one of these, or set {wanted!r} to one in {_family(home, name) / 'aliases.json'}."
        )
    raise UserError(
        f"{option}: there is no {name}@{wanted}; there are versions {_listed(existing)} and aliases "
        f"{_listed([*known, LATEST])}. Name one of these."
    )


def _family(home: Path, name: str, option: str = "judge name") -> Path:
    if not NAME.fullmatch(name) or ".." in name:
        raise UserError(
            f"{option} {name!r}: not a folder name; up to 64 letters, digits, '-', '_' and single '.' are "
            "valid, beginning with a letter or digit. Choose another."
        )
    return home / "programs" / name


def _reserve(family: Path) -> tuple[int, Path]:
    """The next number and its hidden folder; ``mkdir`` is what makes the number ours alone."""
    partials = (PARTIAL.fullmatch(path.name) for path in family.iterdir())
    taken = [*_numbers(family), *(int(match[1]) for match in partials if match)]
    version = max(taken, default=0) + 1
    while True:
        partial = family / f".{version:04d}.partial"
        try:
            partial.mkdir()
        except FileExistsError:
            version += 1
            continue
        if not (family / f"{version:04d}").exists():  # another compile may have finished since we listed
            return version, partial
        partial.rmdir()
        version += 1


def _numbers(family: Path) -> list[int]:
    paths = family.iterdir() if family.is_dir() else ()
    return sorted(int(path.name) for path in paths if VERSION.fullmatch(path.name) and path.is_dir())


def _read(path: Path) -> Json:
    try:
        content = json.loads(regular(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ArtifactError(
            f"{path}: {error}; a JSON file of a compiled judge was expected. Restore it, or compile again."
        ) from error
    if not isinstance(content, dict):
        raise ArtifactError(f"{path}: {type(content).__name__}; a JSON object was expected. Compile the judge again.")
    return content


def _listed(values: object) -> str:
    return ", ".join(map(str, values)) or "none" if isinstance(values, (dict, list, tuple, set)) else repr(values)
