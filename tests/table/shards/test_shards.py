"""Shards of a folder: which there are, which count as judged, and replies that outlive the machine."""

from pathlib import Path

import pytest

from judgec.errors import ArtifactError, UserError
from judgec.lm.cluster.replies import BATCH, ShardJournal
from judgec.lm.journal.journal import JournaledReply
from judgec.table.shards.manifest import REPLIES, ShardManifest, judged_already, key_of, manifest_of
from judgec.table.shards.place import Found, ShardPlace, as_shown, shards_of


def filled(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}\n")
    return folder


def reply(number: int) -> tuple[bytes, JournaledReply]:
    return number.to_bytes(32, "big"), JournaledReply("m", "m", f"said {number} é", "stop", None, 3, 2, 0.25, 1.5)


def test_shards_are_files_of_rows_and_nothing_hidden(tmp_path: Path) -> None:
    filled(tmp_path, "b.jsonl", "a.parquet", "deep/c.ndjson", "notes.txt", "_manifests/b.jsonl", ".tmp/x.jsonl")
    for pattern, names in (
        ("", ["a.parquet", "b.jsonl", "deep/c.ndjson"]),
        ("/d*p/*.ndjson", ["deep/c.ndjson"]),
        ("/[ab].*", ["a.parquet", "b.jsonl"]),
    ):
        assert [one.name for one in shards_of(f"{tmp_path}{pattern}")[1]] == names
    with pytest.raises(UserError, match=r"\.parquet, \.jsonl, \.ndjson"):
        shards_of(f"{tmp_path}/*.csv")


def test_urls_keep_the_slashes_that_a_path_takes() -> None:
    assert as_shown(Path("s3://bucket/items")) == "s3://bucket/items"
    assert [as_shown(place) for place in ("gs://bucket", Path("/data/items"))] == ["gs://bucket", "/data/items"]


def test_a_shard_counts_only_while_its_manifest_fits_what_is_asked_and_what_lies_there(tmp_path: Path) -> None:
    shard, place = Found("part.jsonl", 3, 7), ShardPlace(str(tmp_path))
    key = key_of({"judge": "a"}, shard)

    def counts(key: str = key) -> bool:
        return bool(judged_already(place, [shard], {shard.name: key}))

    place.write("part.jsonl", b"12345")
    assert not counts()  # rows without a manifest
    ShardManifest(shard="part.jsonl", key=key, size=5, sha256="", counts={"items": 1}).write(place)
    assert counts()
    assert not counts(key_of({"judge": "b"}, shard))
    assert not counts(key_of({"judge": "a"}, Found("part.jsonl", 3, 8)))
    place.write("part.jsonl", b"1234")  # half of another
    assert not counts()
    place.write("part.jsonl", b"12345")
    place.write(manifest_of("part.jsonl"), b"{")
    assert not counts()
    place.remove(manifest_of("part.jsonl"))
    place.remove(manifest_of("part.jsonl"))
    assert not counts()


def test_replies_of_a_shard_outlive_its_machine(tmp_path: Path) -> None:
    place = ShardPlace(str(tmp_path / "out"))
    first = ShardJournal(tmp_path / "one" / "journal.db", place, "part.jsonl")
    first.put_many(map(reply, range(BATCH + 1)))
    first.put(*reply(5000))
    with ShardJournal(tmp_path / "two" / "journal.db", place, "part.jsonl") as second:  # the first was never closed
        assert len(second) == BATCH + 1
        assert second.get(reply(7)[0]) == reply(7)[1]
        second.put(*reply(6000))
    first.close()
    with ShardJournal(tmp_path / "three" / "journal.db", place, "part.jsonl") as third:
        assert third.get(reply(6000)[0]) == reply(6000)[1]
    with ShardJournal(tmp_path / "four" / "journal.db", place, "other.jsonl") as other:
        assert len(other) == 0


def test_journal_of_a_shard_whose_place_fails_is_closed(tmp_path: Path) -> None:
    opened: list[ShardJournal] = []

    class Kept(ShardJournal):
        def __init__(self, folder: str) -> None:
            opened.append(self)
            super().__init__(tmp_path / folder / "journal.db", ShardPlace(str(tmp_path / "out")), "part.jsonl")

    journal = Kept("one")
    journal.put_many(map(reply, range(BATCH)))
    journal.put(*reply(BATCH))
    (tmp_path / "out" / REPLIES).rename(tmp_path / "away")
    (tmp_path / "out" / REPLIES).touch()
    with pytest.raises(NotADirectoryError):
        journal.close()
    (tmp_path / "out" / REPLIES).unlink()
    ShardPlace(str(tmp_path / "out")).write(f"{REPLIES}/part.jsonl/00000001-a.jsonl", b"half\n")
    with pytest.raises(ValueError, match="Expecting value"):
        Kept("two")
    for one in opened:
        with pytest.raises(ArtifactError, match="closed"):
            len(one)
