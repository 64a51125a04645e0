"""Replies that a few turns of an event loop bring, in one commit: a commit each costs more than the replies."""

import asyncio

from judgec.lm.journal.journal import Journal, JournaledReply

TURNS = 16  # most turns of the loop that a commit waits for more; without calls to wait for, a turn takes no time
MOST = 32  # replies a commit: who waits for one makes the next call with all the others, so few go in step


class Together:
    """Writes for coroutines of any event loop.

    Args:
        journal: Where to.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._open: dict[asyncio.AbstractEventLoop, _Commit] = {}

    async def put(self, digest: bytes, reply: JournaledReply) -> None:
        """Return when the reply is durable.

        Raises:
            ArtifactError: When the journal cannot be written; to everybody in the same commit.
        """
        loop = asyncio.get_running_loop()
        commit = self._open.get(loop)
        if commit is None:
            commit = self._open[loop] = _Commit(loop)
            loop.call_soon(self._turn, commit, 0, TURNS)
        durable: asyncio.Future[None] = loop.create_future()  # one each: who is cancelled takes nobody along
        commit.replies.append((digest, reply))
        commit.waiting.append(durable)
        if len(commit.replies) == MOST:
            self._write(commit)
        try:
            await durable
        except asyncio.CancelledError:
            if self._open.get(loop) is commit:
                self._write(commit)  # whoever asks the same next finds it
            raise

    def _turn(self, commit: "_Commit", before: int, turns: int) -> None:
        if self._open.get(commit.loop) is not commit:  # full, and written
            return
        if turns and len(commit.replies) > before:  # more are coming in
            commit.loop.call_soon(self._turn, commit, len(commit.replies), turns - 1)
        else:
            self._write(commit)

    def _write(self, commit: "_Commit") -> None:
        del self._open[commit.loop]
        fault: Exception | None = None
        try:
            self._journal.put_many(commit.replies)
        except Exception as error:  # noqa: BLE001 - raised where the replies are waited for
            fault = error
        for durable in commit.waiting:
            if durable.done():  # cancelled
                continue
            if fault is None:
                durable.set_result(None)
            else:
                durable.set_exception(fault)


class _Commit:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.replies: list[tuple[bytes, JournaledReply]] = []
        self.waiting: list[asyncio.Future[None]] = []
