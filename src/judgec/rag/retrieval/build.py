"""Builds an index from files; a second time, only what changed is read."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from judgec.errors import UserError
from judgec.rag.retrieval.latent import LSA
from judgec.rag.retrieval.manifest import Ann, Manifest, Metric, SourceFile
from judgec.rag.retrieval.parsing.chunking import Chunking
from judgec.rag.retrieval.parsing.document import Document, UnreadableError
from judgec.rag.retrieval.parsing.read import KINDS, read_documents
from judgec.rag.retrieval.stores.writer import LANGUAGES, PassageWriter, Row
from judgec.table.regular import seen_at

OnFile = Callable[[int, int], None]
"""Told how many files are read, of how many."""


@dataclass(frozen=True, slots=True)
class BuildReport:
    """Report of an indexing run.

    Args:
        passages: In the index now.
        documents: Documents that were read now.
        files: In the index now.
        read: Files that were read now.
        unchanged: Files that were left as they are.
        removed: Files that are gone, with their passages.
        duplicates: Passages left out because their text is there already, in the whole index.
        skipped: Files that could not be read, and why.
        faults: Rows left out, a sentence each.
        left_out: Files of kinds that nobody reads, by ending.
        manifest: The index's description.
    """

    passages: int
    documents: int
    files: int
    read: int
    unchanged: int
    removed: int
    duplicates: int
    skipped: Mapping[str, str]
    faults: tuple[str, ...]
    left_out: Mapping[str, int]
    manifest: Manifest


def build_index(
    paths: Sequence[str | Path],
    out: Path,
    *,
    chunking: Chunking | None = None,
    embedder: str | None = None,
    language: str | None = None,
    api_base: str | None = None,
    metric: Metric | None = None,
    ann: Ann | None = None,
    rename: Mapping[str, str] | None = None,
    seed: int = 0,
    on_file: OnFile | None = None,
) -> BuildReport:
    """Index files and folders, or bring an index up to date with them.

    A file that cannot be read is skipped and reported; its old passages leave the index. An interrupted build is
    finished by the next one. Settings left at None are those of the index, or the defaults of a new one.

    Args:
        paths: Files and folders; folders are read recursively, hidden files aside.
        out: The index's folder.
        chunking: 1000/250 by default.
        embedder: ``lsa`` by default.
        language: Of stems and stop words; English by default.
        api_base: Where a hosted embedder is asked.
        metric: What makes vectors near; ``cosine`` by default.
        ann: How the nearest are found; ``auto`` by default.
        rename: Our column names by theirs, in tables of passages.
        seed: Of the latent semantics.
        on_file: Told of progress.

    Raises:
        UserError: No such file, nothing to index, settings that the index was not built with.
        ArtifactError: An index that is damaged or of another format.
        ServiceError: The embedder failed; what is embedded is kept.
    """
    found, left_out = find_files(paths, out)
    manifest = _settings(out, chunking, embedder, language, rename, metric, ann)
    if not found:
        kinds = f" ({', '.join(f'{n} {kind}' for kind, n in sorted(left_out.items()))} left out)" if left_out else ""
        raise UserError(f"{_shown(paths)}: nothing to index{kinds}; {', '.join(KINDS)} are read. Name other files.")
    digests = {name: _digest(path) for name, path in found.items()}
    gone = [name for name in manifest.files if name not in found]
    changed = _changed(manifest, digests, gone)
    writer = PassageWriter(out, manifest, api_base=api_base, seed=seed)
    intake = _Intake(writer, Chunking.parse(manifest.chunking), manifest.rename)
    if changed or gone or not manifest.complete:
        writer.begin([*gone, *changed])
        for number, name in enumerate(changed, 1):
            intake.read(name, found[name], digests[name])
            if on_file is not None:
                on_file(number, len(changed))
        if not writer.manifest.passages and not intake.waiting:
            skips = [f"{name}: {why}." for name, why in intake.skipped.items()]
            raise UserError("\n".join([f"{_shown(paths)}: no passage could be read. Mend the files.", *skips]))
        manifest = writer.finish()
    return _report(manifest, intake, unchanged=len(found) - len(changed), removed=len(gone), left_out=left_out)


def _report(
    manifest: Manifest, intake: "_Intake", *, unchanged: int, removed: int, left_out: Mapping[str, int]
) -> BuildReport:
    return BuildReport(
        passages=manifest.passages,
        documents=intake.documents,
        files=len(manifest.files),
        read=intake.files,
        unchanged=unchanged,
        removed=removed,
        duplicates=sum(file.duplicates for file in manifest.files.values()),
        skipped=intake.skipped,
        faults=tuple(fault for file in manifest.files.values() for fault in file.faults),
        left_out=left_out,
        manifest=manifest,
    )


def find_files(paths: Sequence[str | Path], out: Path) -> tuple[dict[str, Path], dict[str, int]]:
    """Files by name (the path below the folder that was given), sorted, and how many of which other endings.

    Raises:
        UserError: A path that is not there, or a named file of a kind that nobody reads.
    """
    found: dict[str, Path] = {}
    left_out: Counter[str] = Counter()
    for given in map(Path, paths):
        if given.is_dir():
            for path in _below(given, out.resolve()):
                if path.suffix.lower() in KINDS:
                    _enter(found, path.relative_to(given).as_posix(), path)
                else:
                    left_out[path.suffix.lower() or "without an ending"] += 1
        elif not given.is_file():
            seen = seen_at(given, "file or folder")
            raise UserError(f"{given}: {seen}; files or folders to index are needed. Check the path.")
        elif given.suffix.lower() not in KINDS:
            raise UserError(
                f"{given}: files ending in {given.suffix or 'nothing'} are not read; {', '.join(KINDS)} are. "
                "Convert it."
            )
        else:
            _enter(found, given.name, given)
    return dict(sorted(found.items())), dict(left_out)


def _enter(found: dict[str, Path], name: str, path: Path) -> None:
    """Two files of one name below different folders are told apart by their whole paths."""
    same = found.get(name, path).resolve() == path.resolve()
    found[name if same else path.as_posix()] = path


def _below(folder: Path, out: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden and not path.resolve().is_relative_to(out):
            yield path


def _language(said: str | None) -> str | None:
    """As the full-text index calls it, however it was written.

    Raises:
        UserError: When its stems are not known.
    """
    if said is None or said.strip().title() in LANGUAGES:
        return said and said.strip().title()
    raise UserError(f"--language {said}: its stems are not known; {', '.join(LANGUAGES)} are. Name one of these.")


def _settings(
    out: Path,
    chunking: Chunking | None,
    embedder: str | None,
    language: str | None,
    rename: Mapping[str, str] | None,
    metric: Metric | None,
    ann: Ann | None,
) -> Manifest:
    """The index's manifest, or that of a new one.

    Raises:
        UserError: When the folder holds something else, or the index was built with other settings.
    """
    language = _language(language)
    manifest = Manifest.read(out)
    if manifest is None:
        if out.is_file() or (out.is_dir() and any(out.iterdir())):
            raise UserError(
                f"--out {out}: not empty, and no index; a new or an index's folder is needed. Name another."
            )
        return Manifest(
            chunking=str(chunking or Chunking()),
            embedder=embedder or LSA,
            language=language or "English",
            rename=dict(rename or {}),
            metric=metric or "cosine",
            ann=ann or "auto",
        )
    asked = {
        "--chunk": (chunking and str(chunking), manifest.chunking),
        "--embedder": (embedder, manifest.embedder),
        "--language": (language, manifest.language),
        "--metric": (metric, manifest.metric),
        "--ann": (ann, manifest.ann),
        "--map": (rename and dict(rename), dict(manifest.rename)),
    }
    for option, (wanted, built) in asked.items():
        if wanted and wanted != built:
            raise UserError(
                f"{option} {wanted}: the index in {out} was built with {built}; one index has one. "
                "Leave the option out, or give another --out."
            )
    return manifest


def _changed(manifest: Manifest, digests: Mapping[str, str], gone: Iterable[str]) -> list[str]:
    """New and changed files, and those that left out a text or doc_id that they, or files that are gone, held."""
    changed = {
        name for name, digest in digests.items() if name not in manifest.files or manifest.files[name].digest != digest
    }
    stale = changed | set(gone)
    while True:
        more = {
            name
            for name, file in manifest.files.items()
            if name in digests and name not in changed and stale & set(file.copies_of)
        }
        if not more:
            return sorted(changed)
        changed |= more
        stale |= more


@dataclass(slots=True)
class _Intake:
    """Reads files into the writer: documents, chunks, duplicates."""

    writer: PassageWriter
    chunking: Chunking
    rename: Mapping[str, str]
    files: int = 0
    documents: int = 0
    waiting: int = 0
    skipped: dict[str, str] = field(default_factory=dict)

    def read(self, name: str, path: Path, digest: str) -> None:
        try:
            documents, faults = read_documents(path, self.rename)
        except UnreadableError as error:
            self.skipped[name] = str(error)
            return
        rows: list[Row] = []
        copies: Counter[str] = Counter()
        rivals: set[str] = set()
        for document in documents:
            doc_id = document.doc_id or name
            holder = self.writer.documents.setdefault(doc_id, name)
            if holder != name:
                rivals.add(holder)
                faults.append(f"{name}: doc_id {doc_id!r} is in {holder} already; the document is left out.")
                continue
            self.documents += 1
            self._chunks(document, doc_id, name, rows, copies)
        self.files += 1
        self.waiting += len(rows)
        record = SourceFile(
            digest=digest,
            passages=len(rows),
            duplicates=copies.total(),
            copies_of=tuple(sorted((rivals | set(copies)) - {name})),
            faults=tuple(faults),
        )
        self.writer.add(name, record, rows)

    def _chunks(self, document: Document, doc_id: str, name: str, rows: list[Row], copies: Counter[str]) -> None:
        chunks = list(self.chunking.split(document.sections))
        for number, chunk in enumerate(chunks, 1):
            key = hashlib.sha256(" ".join(chunk.text.split()).encode("utf-8", "replace")).hexdigest()[:32]
            holder = self.writer.texts.get(key)
            if holder is not None:
                copies[holder] += 1
                continue
            self.writer.texts[key] = name
            said = chunk.text[: len(document.title) + 80]
            prefix = f"{document.title}\n\n" if document.title and document.title not in said else ""
            rows.append(
                Row(
                    passage_id=doc_id if len(chunks) == 1 else f"{doc_id}#{number}",
                    doc_id=doc_id,
                    source=name,
                    ordinal=len(rows),
                    title=document.title,
                    section=chunk.section,
                    page=chunk.page,
                    digest=key,
                    indexed=prefix + chunk.text,
                    prefix=len(prefix),
                )
            )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _shown(paths: Sequence[str | Path]) -> str:
    return ", ".join(map(str, paths[:3])) + (" ..." if len(paths) > 3 else "")
