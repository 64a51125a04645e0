"""Undoes the compression of a reply piece by piece, never into more bytes than somebody wants to have."""

import zlib

ENCODINGS = "gzip, deflate"  # what is undone; of anything else the bytes stay as they came
EITHER = 32 + zlib.MAX_WBITS  # zlib finds out which of the two it is


class Unpacker:
    """One body.

    Args:
        encoding: The header ``Content-Encoding``, or None.
    """

    def __init__(self, encoding: str | None) -> None:
        packed = (encoding or "").strip().lower() in {"gzip", "x-gzip", "deflate"}
        self._unpack = zlib.decompressobj(EITHER) if packed else None

    def add(self, chunk: bytes, most: int) -> bytes:
        """What is in the next piece; ``most`` + 1 bytes stand for more than ``most``.

        Raises:
            zlib.error: It is not packed as it says.
        """
        return chunk if self._unpack is None else self._unpack.decompress(chunk, most + 1)

    def end(self) -> None:
        """Nothing more comes.

        Raises:
            zlib.error: There should.
        """
        if self._unpack is not None and not self._unpack.eof:
            raise zlib.error("the reply ends within its compressed data")
