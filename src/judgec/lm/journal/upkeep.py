"""Looking after a journal: what is in it, taking it out as text, making it smaller."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from judgec.lm.journal.journal import Journal

DAY = 86_400.0  # seconds
EXPORTED_AT_ONCE = 1000  # replies


@dataclass(frozen=True, slots=True)
class ModelStats:
    """Journal entries of one model.

    Args:
        model: As in the spec.
        replies: Rows, superseded ones included.
        superseded: Rows that a newer reply to the same call replaced.
        input_tokens: Billed, over all rows.
        output_tokens: Likewise.
        usd: Dollars paid, of the rows with a known price.
        unpriced: Rows without one.
        first: When the oldest was finished, in seconds since the epoch.
        last: When the newest was finished.
    """

    model: str
    replies: int
    superseded: int
    input_tokens: int
    output_tokens: int
    usd: float
    unpriced: int
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class FactStats:
    """Facts on items from one judge or evidence model; ``bytes`` without indexes."""

    kind: str
    name: str
    facts: int
    bytes: int


@dataclass(frozen=True, slots=True)
class BatchStats:
    """A batch of calls whose replies have not been read.

    Args:
        service: ``openai`` or ``anthropic``.
        identity: The endpoint, or empty for the provider's own.
        model: As in the spec.
        batch: The provider's name of it, or None while it is not known.
        calls: How many are in it.
        made: When it was intended, in seconds since the epoch.
    """

    service: str
    identity: str
    model: str
    batch: str | None
    calls: int
    made: float


def model_stats(journal: Journal) -> list[ModelStats]:
    """Replies by model, the most first."""
    rows = journal.select(
        "SELECT model, COUNT(*), COUNT(*) - COUNT(DISTINCT digest), SUM(input_tokens), SUM(output_tokens), "
        "COALESCE(SUM(usd), 0.0), SUM(usd IS NULL), MIN(finished), MAX(finished) "
        "FROM replies GROUP BY model ORDER BY COUNT(*) DESC, model"
    )
    return [ModelStats(*row) for row in rows]


def fact_stats(journal: Journal) -> list[FactStats]:
    """Verdicts and features by what they follow from, the largest first."""
    rows = journal.select(
        "SELECT kind, name, COUNT(facts.seq), COALESCE(SUM(LENGTH(value)), 0) FROM owners "
        "LEFT JOIN facts ON facts.owner = owners.id GROUP BY owners.id ORDER BY 4 DESC, name"
    )
    return [FactStats(*row) for row in rows]


def unread_batches(journal: Journal) -> list[BatchStats]:
    """Batches that were, or may have been, handed to a provider and are not read, the oldest first."""
    rows = journal.select(
        "SELECT service, identity, model, remote, (SELECT COUNT(*) FROM batch_calls WHERE batch = batches.id), made "
        "FROM batches WHERE state IN ('intended', 'created') ORDER BY id"
    )
    return [BatchStats(*row) for row in rows]


def exported(journal: Journal, *, model: str | None = None) -> Iterator[dict[str, object]]:
    """The newest reply of every call, oldest first, as JSON-ready rows.

    The key is a digest: prompts are not in a journal.

    Args:
        journal: Read while others may write it.
        model: Only of this model.
    """
    last = 0
    while True:
        rows = journal.select(
            "SELECT seq, digest, model, served_by, text, finish, logprobs, input_tokens, output_tokens, usd, finished "
            "FROM replies AS r WHERE seq > ? AND (? IS NULL OR model = ?) "
            "AND NOT EXISTS (SELECT 1 FROM replies AS n WHERE n.digest = r.digest AND n.seq > r.seq) "
            "ORDER BY seq LIMIT ?",
            (last, model, model, EXPORTED_AT_ONCE),
        )
        if not rows:
            return
        names = ("model", "served_by", "text", "finish", "logprobs", "input_tokens", "output_tokens", "usd", "finished")
        for seq, digest, *values in rows:
            last = seq
            yield {"call": digest.hex(), **dict(zip(names, values, strict=True))}


def prune(
    journal: Journal, *, days: float | None, model: str | None, facts: bool, clock: Callable[[], float] = time.time
) -> dict[str, int]:
    """Delete superseded replies and facts, and what was asked for besides; the file shrinks.

    Replies that are deleted are paid again when they are needed again.

    Args:
        journal: Nobody else should be writing it: shrinking waits for them.
        days: Also delete replies older than this.
        model: Also delete all replies of this model.
        facts: Also delete all verdicts and features; they are worked out again from replies and items.
        clock: Seconds since the epoch.

    Returns: How many rows went, by reason.
    """
    gone = {
        "superseded": journal.change(
            "DELETE FROM replies WHERE EXISTS "
            "(SELECT 1 FROM replies AS n WHERE n.digest = replies.digest AND n.seq > replies.seq)",
            [()],
        )
        + journal.change(
            "DELETE FROM facts WHERE EXISTS "
            "(SELECT 1 FROM facts AS n WHERE n.owner = facts.owner AND n.item = facts.item AND n.seq > facts.seq)",
            [()],
        )
    }
    if days is not None:
        gone["old"] = journal.change("DELETE FROM replies WHERE finished < ?", [(clock() - days * DAY,)])
    if model is not None:
        gone["model"] = journal.change("DELETE FROM replies WHERE model = ?", [(model,)])
    if facts:
        gone["facts"] = journal.change("DELETE FROM facts", [()])
    journal.shrink()
    return gone


def size(path: Path) -> int:
    """Bytes on disk, the write-ahead log included."""
    files = (path, path.with_name(path.name + "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
