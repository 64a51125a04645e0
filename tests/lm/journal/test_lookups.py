import threading
from collections.abc import Sequence
from pathlib import Path

from judgec.lm.journal.journal import Journal, JournaledReply
from judgec.lm.journal.lookups import Lookups
from tests.lm.journal.test_journal import REPLY, key


class Slow(Journal):
    """Stops before or after it reads many replies, until it may go on."""

    before = after = False

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.reading, self.may_go_on = threading.Event(), threading.Event()
        self.reads = 0

    def get(self, digest: bytes) -> JournaledReply | None:
        self.reads += 1
        return super().get(digest)

    def get_many(self, digests: Sequence[bytes]) -> dict[bytes, JournaledReply]:
        if self.before:
            self._stop()
        found = super().get_many(digests)
        if self.after:
            self._stop()
        return found

    def _stop(self) -> None:
        self.reading.set()
        assert self.may_go_on.wait(60)


def test_one_reads_no_journal_for_what_many_did_not_find_until_a_call_has_ended(tmp_path: Path) -> None:
    with Slow(tmp_path / "journal.db") as journal:
        lookups = Lookups(journal)
        journal.put(key(0), REPLY)
        assert lookups.many([key(0), key(1), key(2)]) == {key(0): REPLY}
        assert lookups.one(key(1)) is None
        assert journal.reads == 0
        assert lookups.one(key(0)) == REPLY
        journal.put(key(1), REPLY)
        lookups.ended(key(1))
        assert lookups.one(key(1)) == REPLY


def test_one_finds_what_another_thread_is_still_looking_up(tmp_path: Path) -> None:
    with Slow(tmp_path / "journal.db") as journal:
        lookups, journal.before = Lookups(journal), True
        journal.put(key(0), REPLY)
        other = threading.Thread(target=lookups.many, args=([key(0)],))
        other.start()
        assert journal.reading.wait(60)
        assert lookups.one(key(0)) == REPLY
        journal.may_go_on.set()
        other.join(60)


def test_one_finds_the_reply_of_a_call_that_ended_while_it_was_looked_up(tmp_path: Path) -> None:
    with Slow(tmp_path / "journal.db") as journal:
        lookups, journal.after = Lookups(journal), True
        other = threading.Thread(target=lookups.many, args=([key(0), key(1)],))
        other.start()
        assert journal.reading.wait(60)  # it has found nothing
        journal.put(key(0), REPLY)
        lookups.ended(key(0))
        journal.may_go_on.set()
        other.join(60)
        assert lookups.one(key(0)) == REPLY
        assert journal.reads == 1
        assert lookups.one(key(1)) is None
        assert journal.reads == 1
