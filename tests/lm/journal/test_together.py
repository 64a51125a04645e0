import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from judgec.errors import ArtifactError
from judgec.lm.journal.journal import Journal, JournaledReply
from judgec.lm.journal.together import Together
from tests.lm.journal.test_journal import REPLY, key


class Counting(Journal):
    commits = 0

    def put_many(self, replies: object) -> None:
        self.commits += 1
        super().put_many(replies)  # type: ignore[arg-type]  # passed on as it came


def test_put_returns_when_the_reply_is_durable_and_shares_commits(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def put(together: Together, number: int, other: Journal) -> None:
        await asyncio.sleep(0)
        await together.put(key(number), REPLY._replace(text=str(number)))
        assert other.get(key(number)) == REPLY._replace(text=str(number))

    async def all_of_them(journal: Journal, other: Journal) -> None:
        together = Together(journal)
        await asyncio.gather(*(put(together, number, other) for number in range(100)))
        await put(together, 100, other)

    with Counting(path) as journal, Journal(path) as other:
        asyncio.run(all_of_them(journal, other))
        assert len(other) == 101
        assert journal.commits == 4 + 1  # 32 at most in one


def test_put_that_cannot_be_written_fails_for_everybody_in_the_commit(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def both(journal: Journal) -> list[JournaledReply | BaseException | None]:
        together = Together(journal)
        return await asyncio.gather(*(together.put(key(n), REPLY) for n in range(2)), return_exceptions=True)

    with Journal(path) as journal:
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("DROP TABLE replies")
        other.close()
        failed = asyncio.run(both(journal))
    assert [type(one) for one in failed] == [ArtifactError, ArtifactError]


def test_put_from_two_loops_keeps_them_apart(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.db") as journal:
        together = Together(journal)
        for number in range(2):
            asyncio.run(together.put(key(number), REPLY))
        assert len(journal) == 2


@pytest.mark.parametrize("count", [1, 2, 3])
def test_put_cancelled_while_waiting_is_written_and_takes_nobody_along(tmp_path: Path, count: int) -> None:
    async def cancelled(journal: Journal) -> list[BaseException | None]:
        together = Together(journal)
        tasks = [asyncio.create_task(together.put(key(n), REPLY)) for n in range(count)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        said = await asyncio.gather(*tasks, return_exceptions=True)
        assert journal.get(key(0)) == REPLY  # whoever waits for the same reply asks at once
        await together.put(key(count), REPLY)
        return said

    with Journal(tmp_path / "journal.db") as journal:
        first, *others = asyncio.run(cancelled(journal))
        assert isinstance(first, asyncio.CancelledError)
        assert others == [None] * (count - 1)
        assert len(journal) == count + 1
