from pathlib import Path

from judgec.lm.journal.facts import Facts
from judgec.lm.journal.journal import LOOKUP_CHUNK, Journal


def test_get_many_finds_the_newest_of_its_own_owner_only(tmp_path: Path) -> None:
    items = [n.to_bytes(16, "big") for n in range(3 * LOOKUP_CHUNK)]
    with Journal(tmp_path / "journal.db") as journal:
        mine = Facts(journal, "verdicts", b"mine", "a judge")
        theirs = Facts(journal, "verdicts", b"theirs", "a judge")
        mine.put_many((item, b"old") for item in items[::2])
        mine.put_many([(items[4], b"new")])
        theirs.put_many([(items[1], b"theirs")])
        found = mine.get_many(items)
    assert found == dict.fromkeys(items[::2], b"old") | {items[4]: b"new"}


def test_facts_opened_again_under_the_same_digest_are_the_same(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.db") as journal:
        Facts(journal, "features", b"d", "first name").put_many([(b"i", b"v")])
        assert Facts(journal, "features", b"d", "another name").get_many([b"i", b"j"]) == {b"i": b"v"}
        assert journal.select("SELECT COUNT(*) FROM owners") == [(1,)]


def test_put_many_appends_what_differs_from_the_newest_alone(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.db") as one, Journal(tmp_path / "journal.db") as two:
        for value, rows in ((b"a", 2), (b"a", 2), (b"b", 4), (b"a", 6)):
            for journal in (one, two):
                Facts(journal, "features", b"d", "n").put_many([(b"i", value), (b"j", value), (b"i", value)])
            assert one.select("SELECT COUNT(*) FROM facts") == [(rows,)]
        assert Facts(two, "features", b"d", "n").get_many([b"i", b"j"]) == {b"i": b"a", b"j": b"a"}


def test_get_many_of_a_journal_that_holds_a_fact_many_times_finds_the_newest(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.db") as journal:
        facts = Facts(journal, "features", b"d", "n")
        rows = [(1, item, f"{n}".encode()) for n in range(16) for item in (b"i", b"j")]
        journal.change("INSERT INTO facts (owner, item, value) VALUES (?, ?, ?)", rows)
        assert facts.get_many([b"i", b"k", b"j"]) == {b"i": b"15", b"j": b"15"}


def test_put_many_of_nothing_writes_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.db") as journal:
        Facts(journal, "features", b"d", "n").put_many([])
        assert journal.select("SELECT COUNT(*) FROM facts") == [(0,)]
