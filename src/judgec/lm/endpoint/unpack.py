"""Undoes the compression of a reply piece by piece, never into more bytes than somebody wants to have."""

import zlib

ENCODINGS = "gzip, deflate"  # what is undone; of anything else the bytes stay as they came
PACKED = {"gzip", "x-gzip", "deflate"}
EITHER = 32 + zlib.MAX_WBITS  # zlib finds out which of the two it is


class Unpacker:
    """One body.

    Args:
        encoding: The header ``Content-Encoding``, or None.
    """

    def __init__(self, encoding: str | None) -> None:
        packed = encoding is not None and encoding.strip().lower() in PACKED
        self._unpack = zlib.decompressobj(EITHER) if packed else None
        self._begun = False  # an empty body is one, whatever the header says

    def add(self, chunk: bytes, most: int) -> bytes:
        """Unpacks the next piece; ``most`` + 1 bytes stand for more than ``most``.

        Raises:
            zlib.error: It is not packed as it says.
        """
        if self._unpack is None:
            return chunk
        parts, left = [], most + 1
        while chunk and left:
            if self._unpack.eof:  # several streams one after the other are one, too: RFC 1952, 2.2
                self._unpack = zlib.decompressobj(EITHER)
            self._begun = True
            parts.append(self._unpack.decompress(chunk, left))
            left -= len(parts[-1])
            chunk = self._unpack.unused_data
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def end(self) -> None:
        """Nothing more comes.

        Raises:
            zlib.error: There should.
        """
        if self._begun and self._unpack is not None and not self._unpack.eof:
            raise zlib.error("the reply ends within its compressed data")
