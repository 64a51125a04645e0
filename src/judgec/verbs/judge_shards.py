"""``judgec.judge_shards``: judges a folder or a bucket of files, each file as ``judge_file`` would.

File after file in this process, with the home's journal; or on a Ray cluster, where a shard is read, judged and written
by one worker, with a journal of its own, and what workers share is the judge, which travels to them, and the caps. A
shard counts when its manifest is there, so a run that was killed goes on with the others.
"""

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgec import __version__
from judgec.errors import BudgetError, InputError, JudgecError, ServiceError, UserError
from judgec.lm.cluster.budget_share import BudgetShares, PartialBudget
from judgec.lm.cluster.ray import IN_FLIGHT, Cluster, RemoteShares
from judgec.lm.cluster.replies import ShardJournal
from judgec.lm.executor import Progress
from judgec.lm.usage import Account, Spent
from judgec.lm.watch import Silent, Watch
from judgec.raters.programs import Program
from judgec.records.card import ProgramCard
from judgec.records.counts import plural
from judgec.report.report import Report
from judgec.table.arrow import is_data_set
from judgec.table.shards.manifest import ShardManifest, judged_already, key_of, manifest_of
from judgec.table.shards.place import SUFFIXES, Found, ShardPlace, as_shown, is_remote, is_wild, shards_of
from judgec.verbs.frames import frame_part
from judgec.verbs.judge_file import Tally, asked_lines, judged_by, judges_of, notes_of
from judgec.verbs.opened import RAY
from judgec.verbs.options.judge import WRITTEN, Asking, JudgeFileOptions, judged_beside
from judgec.verbs.validity import missing_inputs, unproven, validity_notes
from judgec.verbs.verb import verb

if TYPE_CHECKING:
    import pandas as pd

MOST_NOTES = 50  # of all shards
HASHED = 1 << 22  # bytes at a time


@dataclass(frozen=True)
class ShardJudgments:
    """Judged shards.

    Args:
        options: How they were judged.
        cards: Of the judges.
        out: Where the judged shards are.
        tally: How many items were accepted, rejected, unscored, in all shards.
        report: What ``judge --json`` prints.
    """

    options: JudgeFileOptions
    cards: tuple[ProgramCard, ...]
    out: str
    tally: Tally
    report: Mapping[str, object]

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges: ``NAME@VERSION``."""
        return tuple(f"{card.name}@{card.version}" for card in self.cards)

    @property
    def unscored(self) -> int:
        """Items without a judgment; their rows say why."""
        return self.tally.unscored

    @property
    def verdict(self) -> str:
        """Sentence on how many shards and items, accepted, rejected and unscored."""
        said, shards = "; ".join(self.tally.sentences()), self.report["shards"]
        assert isinstance(shards, dict)  # as it was made
        return f"{shards['total']} shards, {plural(self.tally.items, 'item')}: {said}; {self.tally.unscored} unscored"

    @property
    def table(self) -> "pd.DataFrame":
        """Aspects by accepted and rejected; missing where the scale has no accept threshold."""
        import pandas as pd

        columns = {"accepted": self.tally.counts(1), "rejected": self.tally.counts(0)}
        return pd.DataFrame(columns, index=list(self.tally.aspects), dtype="Int64")

    def require_some(self) -> None:
        """Say that no item could be judged.

        Raises:
            ServiceError: When none could.
        """
        if self.tally.items and not self.tally.judged:
            raise ServiceError(
                f"{self.out}: none of {self.tally.items} items could be judged; the reasons are in the rows. "
                "Run judgec doctor --lm MODEL."
            )
        self.tally.require_scored(self.options.max_unscored, self.out)

    def __repr__(self) -> str:
        return f"<ShardJudgments {self.out} by {', '.join(self.judges)}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return frame_part(f"{self.out}: {', '.join(self.judges)}: {self.verdict}", self.table)


@dataclass(frozen=True, slots=True)
class _ShardWork:
    """The data that all workers need.

    Args:
        programs: The judges.
        options: How they judge.
        source: Where the shards are.
        target: Where judged ones go.
        shares: The caps, or None.
        away: The worker has no home: its journal is its own, and replies go beside the judged shards.
    """

    programs: tuple[Program, ...]
    options: JudgeFileOptions
    source: str
    target: str
    shares: BudgetShares | RemoteShares | None
    away: bool = True


@dataclass(frozen=True, slots=True)
class _ShardJob:
    """One shard, and the key of its manifest."""

    shard: Found
    key: str


@dataclass(frozen=True, slots=True)
class _Fault:
    """The reason why a shard could not be judged."""

    shard: str
    kind: type[JudgecError]
    lines: tuple[str, ...]


@verb(JudgeFileOptions)
def judge_shards(options: JudgeFileOptions, watch: Watch) -> ShardJudgments:
    """Judge a folder or a bucket of Parquet or JSON lines files, here or on Ray: each into a file of its name.

    Killed at any moment, the same call goes on with the shards that are missing.

    Raises:
        UserError: An option out of range, no such judge, no shards, no place for the judged ones.
        InputError: Faulty items; the other shards are judged all the same.
        BudgetError: A call does not fit the caps, which hold for all workers together.
        ServiceError: A model, a bucket or the cluster cannot be reached, or no item could be judged.

    Example:
        >>> shards = "trainsets/sensors/lab*.jsonl"
        >>> done = judgec.judge_shards(shards, judge="sensors@latest", out="judged")
        >>> done.unscored
        0
    """
    found = judged_shards(options, watch)
    found.require_some()
    return found


def sharded(options: JudgeFileOptions) -> bool:
    """True if a bucket, a pattern or a folder of files is to be judged, rather than a file.

    A folder of labels, a data set that was saved, and without Ray a folder whose rows go to one file, are one table.
    """
    shown = as_shown(options.file)
    path = Path(shown)
    if is_remote(shown) or not path.exists():
        return is_remote(shown) or (is_wild(shown) and shown.endswith((*SUFFIXES, "*")))  # hf:a/b@train[:9] is none
    if not path.is_dir() or options.engine == RAY:
        return path.is_dir()
    named = options.out != judged_beside(str(options.file)) and options.out.suffix.lower() in WRITTEN
    return not named and not is_data_set(path) and any(one.suffix in SUFFIXES for one in path.rglob("*"))


def judged_shards(options: JudgeFileOptions, watch: Watch) -> ShardJudgments:
    """As ``judge_shards``, for callers that have something to say before no item could be judged is an error."""
    shown = as_shown(options.file)
    if options.batch and options.engine == RAY:
        raise UserError("--batch and --engine ray: the provider makes the calls of a batch. Leave one of them out.")
    programs, target = judges_of(options), ShardPlace(_out_of(options))
    source, shards = shards_of(shown)
    cards = tuple(program.card for program in programs)
    about = _asked(programs, options)
    keys = {shard.name: key_of(about, shard) for shard in shards}
    done = judged_already(target, shards, keys)
    missing = [_ShardJob(shard, keys[shard.name]) for shard in shards if shard.name not in done]
    watch.stage("shards", f"{len(shards)} in {source.shown}, {len(done)} judged already")
    faults: list[_Fault] = []
    paid = 0
    # Large ones first, so that no worker begins the largest when the others have nothing left.
    try:
        for one in _judge_all(programs, options, source, target, sorted(missing, key=lambda job: -job.shard.size)):
            if isinstance(one, _Fault):
                faults.append(one)
                if not issubclass(one.kind, UserError):
                    break
            else:
                done[one.shard] = one
                paid += _number(one.counts["lm_calls"])
            spent = Spent(calls=paid)
            watch.progress(Progress(len(done) + len(faults), len(shards), len(faults), spent, of="shards"))
    except ServiceError as lost:
        raise ServiceError(f"{lost} {_kept(len(done), len(shards))}") from lost
    _raise_for(faults, options, len(done), len(shards))
    tally, report = _report(options, cards, shards, done, before=len(shards) - len(missing))
    return ShardJudgments(options, cards, target.shown, tally, report | {"out": target.shown})


def _out_of(options: JudgeFileOptions) -> str:
    """Place of the judged shards: beside the folder, where nobody said it."""
    shown = as_shown(options.file)
    if options.out != judged_beside(str(options.file)):
        out = as_shown(options.out)
        if not is_remote(out) and Path(out).exists() and not Path(out).is_dir():
            raise UserError(f"--out {out}: a file; the shards of {shown} need a folder. Name one.")
        if out.rstrip("/") == shown.rstrip("/"):
            raise UserError(f"--out {out}: the shards to judge; judged ones would replace them. Name another folder.")
        return out
    if is_wild(shown):
        raise UserError(f"{shown}: a pattern; the judged shards need a folder. Name it with --out.")
    return f"{shown.rstrip('/')}.judged"


def _asked(programs: Sequence[Program], options: JudgeFileOptions) -> dict[str, object]:
    """Everything that judged rows follow from, the shard apart."""
    judges = hashlib.sha256(
        json.dumps([[p.card.model_dump(mode="json"), p.tree] for p in programs], default=str).encode()
    )
    spent = {"budget", "max_cost", "in_flight", "engine", "ray_address", "max_wait", "functions"}
    how = {one.name: getattr(options, one.name) for one in fields(Asking) if one.name not in spent}
    rows = {name: getattr(options, name) for name in ("turn", "inputs", "without")} | {"columns": dict(options.columns)}
    return {"judges": judges.hexdigest(), "release": __version__, **how, **rows}


def _judge_all(
    programs: Sequence[Program],
    options: JudgeFileOptions,
    source: ShardPlace,
    target: ShardPlace,
    jobs: Sequence[_ShardJob],
) -> Iterator[ShardManifest | _Fault]:
    if not jobs:
        return
    if options.engine != RAY:
        capped = options.budget is not None or options.max_cost is not None
        own = BudgetShares(options.budget, options.max_cost, 1) if capped else None
        here = _ShardWork(tuple(programs), options, source.shown, target.shown, own, away=False)
        yield from (judge_shard(here, job) for job in jobs)
        return
    cluster = Cluster(options.ray_address)
    try:
        workers = min(options.workers or cluster.processors, len(jobs))
        shares = cluster.shares(options.budget, options.max_cost, workers)
        each = max(1, (options.in_flight or IN_FLIGHT) // workers)
        mine = replace(options, in_flight=each, engine="local", ray_address=None, workers=1)
        work = _ShardWork(tuple(programs), mine, source.shown, target.shown, shares)
        yield from cluster.each(judge_shard, work, jobs, at_once=workers)
    finally:
        cluster.close()


def judge_shard(work: _ShardWork, job: _ShardJob) -> ShardManifest | _Fault:
    """Judge one shard, where this runs: fetch it, judge it, store the rows, then say so in its manifest.

    Args:
        work: What all workers have.
        job: The shard.
    """
    name, source, target = job.shard.name, ShardPlace(work.source), ShardPlace(work.target)
    with tempfile.TemporaryDirectory(prefix="judgec-") as folder:
        here = Path(folder)
        try:
            path = source.fetch(name, here)
            counts, written = _judged(work, target, job, path, here)
            target.remove(manifest_of(name))  # which is about other rows
            target.store(written, name)
            manifest = ShardManifest(
                shard=name, key=job.key, size=written.stat().st_size, sha256=_sha256(written), counts=counts
            )
            manifest.write(target)
        except JudgecError as error:
            lines = error.faults if isinstance(error, InputError) else (str(error),)
            said = tuple(line.replace(str(path), source.of(name)) for line in lines)
            return _Fault(name, next(kind for kind in _KINDS if isinstance(error, kind)), said)
        except OSError as error:
            seen = f"{target.of(name)}: {error.strerror or error}; a place with room that may be written is valid."
            return _Fault(name, ServiceError, (f"{seen} Make room, and run the command again.",))
    return manifest


_KINDS: tuple[type[JudgecError], ...] = (InputError, UserError, BudgetError, ServiceError, JudgecError)


def _judged(
    work: _ShardWork, target: ShardPlace, job: _ShardJob, path: Path, folder: Path
) -> tuple[dict[str, object], Path]:
    """Counts, and the file of judged rows."""
    written = folder / f"judged{Path(job.shard.name).suffix.replace('.ndjson', '.jsonl')}"
    options = replace(work.options, file=str(path), out=written, home=folder if work.away else work.options.home)
    shares = work.shares
    caps = None if shares is None else PartialBudget(options.budget, options.max_cost, shares.take)
    account = None if caps is None else Account(caps)
    used = time.process_time()
    try:
        away = ShardJournal(folder / ".judgec" / "journal.db", target, job.shard.name) if work.away else nullcontext()
        with away as journal:
            found = judged_by(work.programs, options, Silent(), account=account, journal=journal)
    finally:
        if shares is not None and caps is not None:
            shares.give(caps.unused())
    if found.lost is not None:
        raise found.lost  # a shard counts as judged when all of its items were asked about
    rows = {name: found.report[name] for name in ("rows", "learned", "lm_calls", "journaled", "cost_usd")}
    general = validity_notes(found.cards, found.tally.inputs)  # said of all shards together
    rows["notes"] = [note for note in _texts(found.report["notes"]) if note not in general]
    rows["peak_mb"] = _peak_mb()
    rows["cpu_seconds"] = round(time.process_time() - used, 3)
    return found.tally.to_json() | rows, written


def _peak_mb() -> float | None:
    """The most memory that this process has had; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(HASHED):
            digest.update(part)
    return digest.hexdigest()


def _raise_for(faults: Sequence[_Fault], options: JudgeFileOptions, done: int, total: int) -> None:
    """Say what went wrong; the shards that are done stay."""
    if not faults:
        return
    kept = _kept(done, total)
    worst = next((one for one in faults if not issubclass(one.kind, UserError)), None)
    if worst is None:
        lines = [line for one in faults for line in one.lines]
        raise InputError([*lines, f"{len(faults)} of {total} shards have faults; mend them. {kept}"])
    if issubclass(worst.kind, BudgetError):
        caps = {"--budget": options.budget, "--max-cost": options.max_cost}
        given = ", ".join(f"{name} {cap:g}" for name, cap in caps.items() if cap is not None)
        raise BudgetError(f"{given}: used up by all workers together; more is needed. {kept} Raise it.")
    raise worst.kind(f"{worst.shard}: {' '.join(worst.lines)} {kept}")


def _kept(done: int, total: int) -> str:
    return f"{done} of {total} shards are judged, and the same command goes on with the others."


def _report(
    options: JudgeFileOptions,
    cards: Sequence[ProgramCard],
    shards: Sequence[Found],
    done: Mapping[str, ShardManifest],
    *,
    before: int,
) -> tuple[Tally, dict[str, object]]:
    """All shards together; what was paid is that of this run and those before it."""
    tally, sums = (
        Tally(cards[0].scale, cards[0].aspects),
        dict.fromkeys(("rows", "learned", "lm_calls", "journaled"), 0),
    )
    cost: float | None = 0.0
    notes: dict[str, list[str]] = {}
    for shard in shards:
        counts: dict[str, Any] = done[shard.name].counts
        tally.merge(Tally.from_json(cards[0].scale, cards[0].aspects, counts))
        for name in sums:
            sums[name] += counts[name]
        cost = None if cost is None or counts["cost_usd"] is None else cost + counts["cost_usd"]
        for note in counts["notes"]:
            notes.setdefault(note, []).append(shard.name)
    judges = [{"program": card.name, "version": card.version} for card in cards]
    return tally, {
        "judge": None if options.jury else judges[0],
        "jury": judges if options.jury else None,
        "samples": options.samples,
        "shards": {"total": len(shards), "judged_before": before},
        "items": tally.items,
        **sums,
        "unscored": tally.unscored,
        "unscored_reasons": dict(tally.kinds.most_common()),
        "accepted": tally.by_aspect(1),
        "rejected": tally.by_aspect(0),
        "accept_grade_disagree": tally.disagree,
        **({} if tally.escalated is None else {"escalated": tally.escalated}),
        "cost_usd": cost,
        "missing_inputs": missing_inputs(cards, tally.inputs),
        "unproven": unproven(cards),
        "notes": [
            *(f"{_where(names)}: {note}" for note, names in islice(notes.items(), MOST_NOTES)),
            *validity_notes(cards, tally.inputs),
        ],
    }


def _where(shards: Sequence[str]) -> str:
    return shards[0] if len(shards) == 1 else f"{plural(len(shards), 'shard')}"


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)  # as it was made
    return value


def _number(value: object) -> int:
    assert isinstance(value, int)  # as it was counted
    return value


def shards_report(found: ShardJudgments) -> Report:
    """Counts, notes and where the judged shards are."""
    return Report(
        data=found.report,
        verdict=[found.verdict],
        lines=[*asked_lines(found.report, found.tally), f"written: {found.out}"],
        notes=notes_of(found.report),
    )
