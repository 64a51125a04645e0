"""Items in pieces: what one call of a judge works on at a time."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import orjson

from judgec.records.label import Item

ROWS = 512  # in a piece: enough to work on as arrays, few enough to hold several
DIGEST_BYTES = 16  # of SHA-256: two of 10^9 items agree by chance with probability 10^-21


@dataclass(frozen=True, slots=True)
class Piece:
    """Items that follow one another.

    Args:
        item_ids: Theirs, in order.
        digests: Of their inputs, see ``inputs_digest``.
        items: The items.
    """

    item_ids: tuple[str, ...]
    digests: tuple[bytes, ...]
    items: Sequence[Item]

    def only(self, rows: Sequence[int]) -> "Piece":
        """The items at these positions."""
        return Piece(
            tuple(self.item_ids[i] for i in rows),
            tuple(self.digests[i] for i in rows),
            tuple(self.items[i] for i in rows),
        )


def inputs_digest(item: Item) -> bytes:
    """Digest that tells the inputs of two items apart, and how their pool is shown, whatever they are called."""
    said = item.inputs if item.pool is None else (item.inputs, asdict(item.pool))
    try:
        text = orjson.dumps(said, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half a character
        text = json.dumps(said, sort_keys=True).encode()
    return hashlib.sha256(text).digest()[:DIGEST_BYTES]


def pieces_of(items: Sequence[Item], *, digested: bool = True) -> Iterator[Piece]:
    """Items in pieces; of no items one empty piece.

    Args:
        items: Any number.
        digested: False leaves the digests out, where nothing is looked up.
    """
    for start in range(0, max(len(items), 1), ROWS):
        part = items[start : start + ROWS]
        digests = tuple(map(inputs_digest, part)) if digested else ()
        yield Piece(tuple(item.item_id for item in part), digests, part)
