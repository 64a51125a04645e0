"""Remembers the batches of calls that were, or may have been, handed to a provider, so that none is paid twice.

A batch is *intended* before anything is sent, *created* once the provider's name for it is known, *read* when the
replies in it are in the journal, and *void* when it is certain that the provider has none such.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from judgec.lm.journal.journal import Journal, Row
from judgec.lm.journal.leases import Leases

_COLUMNS = "id, nonce, made, since, sent, file, remote"


@dataclass(frozen=True, slots=True)
class BatchedCall:
    """A call in a batch: what is needed to journal its reply when nobody has its prompt any more.

    Args:
        digest: The journal's key.
        attempt: 1, or 2 for a call that failed in a batch before.
        prompt_tokens: By the prompt's length.
        reply_tokens: The longest reply that was asked for.
    """

    digest: bytes
    attempt: int
    prompt_tokens: int
    reply_tokens: int


@dataclass(frozen=True, slots=True)
class IntendedBatch:
    """A batch as the journal knows it.

    Args:
        row: Its number here.
        nonce: Ours; the provider keeps it with the batch.
        made: When it was intended, in seconds since the epoch.
        since: Creation time of the provider's newest batch before it, by the provider's clock; 0 when there was none.
        sent: When its creation was about to be sent, or None when it never was.
        file: The provider's name of the uploaded requests; empty where nothing is uploaded.
        remote: The provider's name of the batch, or None while it is not known.
        calls: What is in it, in order.
    """

    row: int
    nonce: str
    made: float
    since: float
    sent: float | None
    file: str
    remote: str | None
    calls: tuple[BatchedCall, ...]

    @property
    def tokens(self) -> int:
        """Prompt tokens, by length."""
        return sum(call.prompt_tokens for call in self.calls)


class Batches:
    """The batches of one model at one endpoint.

    Args:
        journal: Where.
        leases: Who holds what.
        service: ``openai`` or ``anthropic``.
        identity: The endpoint.
        model: As in the spec.
    """

    def __init__(self, journal: Journal, leases: Leases, service: str, identity: str, model: str) -> None:
        self._journal = journal
        self._leases = leases
        self._whose = (service, identity, model)

    def intend(self, nonce: str, calls: Sequence[BatchedCall], *, made: float, since: float) -> IntendedBatch:
        """Say that a batch is about to be created; durable when this returns."""
        with self._journal.transaction():
            holder, _ = self._leases.living()
            row = self._journal.insert(
                "INSERT INTO batches (nonce, service, identity, model, made, since, holder, state) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, 'intended')",
                (nonce, *self._whose, made, since, holder),
            )
            self._journal.insert_many(
                "INSERT INTO batch_calls VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (row, at, call.digest, call.attempt, call.prompt_tokens, call.reply_tokens)
                    for at, call in enumerate(calls)
                ],
            )
        return IntendedBatch(row, nonce, made, since, None, "", None, tuple(calls))

    def sending(self, row: int, file: str, now: float) -> None:
        """Say that the next thing to be sent creates it.

        Args:
            row: Of the batch.
            file: The provider's name of the uploaded requests.
            now: Seconds since the epoch.
        """
        self._journal.change("UPDATE batches SET file = ?, sent = ? WHERE id = ?", [(file, now, row)])

    def created(self, row: int, remote: str) -> None:
        """The provider has it under this name."""
        self._journal.change("UPDATE batches SET remote = ?, state = 'created' WHERE id = ?", [(remote, row)])

    def read(self, row: int) -> None:
        """Its replies are in the journal."""
        self._end(row, "read")

    def void(self, row: int) -> None:
        """The provider has no such batch, and will have none."""
        self._end(row, "void")

    def _end(self, row: int, state: str) -> None:
        with self._journal.transaction():
            self._journal.insert("UPDATE batches SET state = ? WHERE id = ?", (state, row))
            self._journal.insert("DELETE FROM batch_calls WHERE batch = ?", (row,))

    def take_over(self) -> list[IntendedBatch]:
        """The batches that a process left behind which lives no more; they are this one's from now on."""
        with self._journal.transaction():
            holder, living = self._leases.living()
            rows = self._journal.select(
                f"SELECT {_COLUMNS}, holder FROM batches WHERE state IN ('intended', 'created') "  # noqa: S608 - constants only
                "AND service = ? AND identity = ? AND model = ? ORDER BY id",
                self._whose,
            )
            left = [row for *row, whose in rows if whose not in living]
            self._journal.insert_many("UPDATE batches SET holder = ? WHERE id = ?", [(holder, row[0]) for row in left])
        return [self._whole(tuple(row)) for row in left]

    def known(self) -> set[str]:
        """The provider's names of all batches of this home at the endpoint."""
        service, identity, _ = self._whose
        rows = self._journal.select(
            "SELECT remote FROM batches WHERE service = ? AND identity = ? AND remote IS NOT NULL", (service, identity)
        )
        return {remote for (remote,) in rows}

    def _whole(self, row: Row) -> IntendedBatch:
        number, nonce, made, since, sent, file, remote = row
        calls = self._journal.select(
            "SELECT digest, attempt, prompt_tokens, reply_tokens FROM batch_calls WHERE batch = ? ORDER BY position",
            (number,),
        )
        return IntendedBatch(
            number, nonce, made, since, sent, file, remote, tuple(BatchedCall(*call) for call in calls)
        )
