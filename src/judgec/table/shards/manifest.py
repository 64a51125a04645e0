"""Tells which shards are judged: one counts when its manifest, written last, fits what is asked and what lies there.

In the folder of the judged shards, ``_manifests/SHARD.json`` says what a judged shard was made from, and what is in it.
It is taken away before a shard is written again, so that at no moment one stands beside rows that it is not about.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from judgec.table.shards.place import Found, ShardPlace

FOLDER = "_manifests"
REPLIES = "_replies"


class ShardManifest(BaseModel):
    """A judged shard.

    Args:
        shard: Its name, that of the input too.
        key: Digest of everything that the rows follow from: judge, options, release, the input's name, size and time.
        size: Bytes of the judged shard.
        sha256: Of the same.
        counts: What was counted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    shard: str
    key: str
    size: int
    sha256: str
    counts: dict[str, object]

    def write(self, place: ShardPlace) -> None:
        """Let the shard count."""
        place.write(manifest_of(self.shard), self.model_dump_json(indent=1).encode())

    @classmethod
    def read(cls, place: ShardPlace, shard: str) -> Self | None:
        """Reads the manifest; None where it is none."""
        try:
            return cls.model_validate_json(place.read(manifest_of(shard)))
        except ValidationError:
            return None


def manifest_of(shard: str) -> str:
    """The name of a shard's manifest."""
    return f"{FOLDER}/{shard}.json"


def key_of(asked: Mapping[str, object], shard: Found) -> str:
    """The key of a shard's manifest.

    Args:
        asked: Everything besides the input that the rows follow from, as JSON has it.
        shard: The input.
    """
    about = [asked, shard.name, shard.size, shard.changed]
    return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()


def judged_already(place: ShardPlace, shards: Sequence[Found], keys: Mapping[str, str]) -> dict[str, ShardManifest]:
    """The manifests that count, by shard.

    Args:
        place: Where judged shards are.
        shards: The inputs.
        keys: By shard, what its manifest has to say.
    """
    there = {one.name: one.size for one in place.files()}
    found = {}
    for shard in shards:
        if shard.name in there and manifest_of(shard.name) in there:
            manifest = ShardManifest.read(place, shard.name)
            if manifest is not None and (manifest.key, manifest.size) == (keys[shard.name], there[shard.name]):
                found[shard.name] = manifest
    return found
