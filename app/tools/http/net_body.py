"""A body read piece by piece, unpacked as it comes, and never more of it than asked for."""

import zlib
from collections.abc import AsyncIterable

from app.domain.errors import ToolError

ACCEPTED = "gzip, deflate"
"""For the header `Accept-Encoding`."""
PLAIN = ("", "identity")


class Unpacker:
    """Undoes gzip and deflate, and gives no more than `room` bytes in all, however small a bomb is packed."""

    def __init__(self, encoding: str, room: int) -> None:
        """Raises `ToolError` for an encoding that nobody asked for."""
        self._room = room
        self._packed = encoding not in PLAIN
        self._unpacking = _decompressor(encoding) if self._packed else None
        self._deflate = encoding == "deflate"
        self.cut = False
        """True when there was more."""

    def take(self, piece: bytes) -> bytes:
        """The next bytes. Raises `ToolError` for what is damaged."""
        plain = piece if self._unpacking is None else self._unpacked(piece)
        given, self.cut = plain[: self._room], self.cut or len(plain) > self._room
        self._room -= len(given)
        return given

    def _unpacked(self, piece: bytes) -> bytes:
        if self._unpacking is None:
            return b""
        try:
            return self._unpacking.decompress(piece, self._room + 1)
        except zlib.error as error:
            if self._deflate:
                return self._raw_deflate(piece)
            raise ToolError(f"The answer is damaged: {error}.") from error

    def _raw_deflate(self, piece: bytes) -> bytes:
        """Some servers leave out the two bytes at the head that the standard wants."""
        self._deflate = False
        self._unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
        return self._unpacked(piece)


async def read_body(pieces: AsyncIterable[bytes], encoding: str, most: int) -> tuple[bytes, bool]:
    """At most `most` bytes of the unpacked body, and whether there was more."""
    unpacker = Unpacker(encoding.strip().lower(), most)
    taken = bytearray()
    packed = 0
    async for piece in pieces:
        packed += len(piece)
        taken += unpacker.take(piece)
        if unpacker.cut or packed > most:
            return bytes(taken), True
    return bytes(taken), False


def _decompressor(encoding: str) -> "zlib._Decompress":
    if encoding in ("gzip", "x-gzip"):
        return zlib.decompressobj(zlib.MAX_WBITS | 16)
    if encoding == "deflate":
        return zlib.decompressobj()
    raise ToolError(f"The answer is packed as {encoding!r}, which was not asked for and cannot be read.")
