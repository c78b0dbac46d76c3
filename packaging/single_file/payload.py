"""The folder as the single file carries it: an index of its files, and pieces of what is in them, packed one by one.

The boot loader leaves an entry of this kind alone, so that a start which finds everything unpacked reads none of it.
"""

import hashlib
import json
import os
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

from backports import zstd

KIND = "PKG"
"""What PyInstaller calls the entry, and `_KIND` what it writes: its boot loader knows others only."""
_KIND = b"a"
_PIECE = 1024 * 1024
"""Bytes that are packed together: few enough to stay in a processor's cache until they are written."""
_GIVEN_BACK = 16 * _PIECE
"""Bytes taken and given back first: from then on glibc keeps as many, and need not ask for those of each piece."""
_HOW: Mapping[int, int] = {
    zstd.CompressionParameter.compression_level: 19,
    zstd.CompressionParameter.checksum_flag: 1,
}
_COOKIE = struct.Struct("!8sIII4x64x")
"""PyInstaller's end of its archive: a mark, how long the archive is, where in it its table is, how long that is."""
_COOKIE_BEGINS = b"MEI\014\013\012\013\016"
_ENTRY = struct.Struct("!IIIIBc")
_SEARCHED = 1024 * 1024
"""Bytes that an executable has behind that, such as a signature, at most."""
_LENGTH = struct.Struct("!I")


class Damaged(OSError):
    """The single file is not what was built."""


class File(NamedTuple):
    name: str
    """Its path in the folder, with slashes."""
    size: int
    is_program: bool


class Piece(NamedTuple):
    packed: int
    """Bytes."""
    digest: str
    """Of the packed bytes; what comes out of them is checked by a sum of its own."""


class Block(NamedTuple):
    """Small files together, or a large one, in pieces that follow each other."""

    start: int
    pieces: tuple[Piece, ...]
    files: tuple[File, ...]

    @property
    def packed(self) -> int:
        return sum(piece.packed for piece in self.pieces)


class Index(NamedTuple):
    folders: tuple[str, ...]
    """Each after the one it is in."""
    links: dict[str, str]
    """Symbolic links, with what they lead to."""
    blocks: tuple[Block, ...]


def pack(folder: Path, payload: IO[bytes]) -> str:
    """Write all of the folder; a digest of it that no other build has."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  heavy, and unpacking needs none

    paths = sorted(folder.rglob("*"))
    names = {path: path.relative_to(folder).as_posix() for path in paths}
    links = {names[path]: str(path.readlink()) for path in paths if path.is_symlink()}
    folders = tuple(names[path] for path in paths if path.is_dir() and not path.is_symlink())
    together = list(_blocks([path for path in paths if path.is_file() and not path.is_symlink()]))
    packed, blocks = bytearray(), []
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for of_block, contents in zip(together, threads.map(_packed_pieces, together), strict=True):
            files = (File(names[path], path.stat().st_size, os.access(path, os.X_OK)) for path in of_block)
            pieces = (Piece(len(content), _digest(content)) for content in contents)
            blocks.append(Block(len(packed), tuple(pieces), tuple(files)))
            packed += b"".join(contents)
    blocks.sort(key=lambda block: -block.packed)  # a large one at the end would be waited for alone
    index = _packed(json.dumps(Index(folders, links, tuple(blocks))).encode())
    payload.write(_LENGTH.pack(len(index)) + index + packed)
    return _digest(index)


def unpack(executable: Path, folder: Path) -> None:
    """Make the folder out of what the executable carries, each file as it was packed; raises `OSError`."""
    bytes(_GIVEN_BACK)
    index, start = _index(executable)
    folder.mkdir(mode=0o700)
    for name in index.folders:
        (folder / name).mkdir(mode=0o700)
    for name, target in index.links.items():
        (folder / name).symlink_to(target)
    _work_off(index.blocks, lambda block: _unpack(block, executable, start, folder))


def _work_off(blocks: tuple[Block, ...], work: Callable[[Block], None]) -> None:
    """Do it to each, on all processors; raises what one of them raised.

    Not by `concurrent.futures`: to import that takes a tenth of the time.
    """
    left, troubles = deque(blocks), list[Exception]()

    def work_on() -> None:
        while not troubles:
            try:
                block = left.popleft()
            except IndexError:  # none is left
                return
            try:
                work(block)
            except Exception as error:  # noqa: BLE001  raised below, by the thread that waits
                troubles.append(error)

    threads = [threading.Thread(target=work_on) for _ in range(min(os.cpu_count() or 1, 4) - 1)]
    for thread in threads:
        thread.start()
    try:
        work_on()
    finally:
        left.clear()  # whatever has ended this thread ends the others, which write where nothing may be left
        for thread in threads:
            thread.join()
    if troubles:
        raise troubles[0]


def _unpack(block: Block, executable: Path, start: int, folder: Path) -> None:
    pieces, content = iter(block.pieces), memoryview(b"")
    with executable.open("rb", buffering=0) as file:
        file.seek(start + block.start)
        for name, size, is_program in block.files:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            descriptor = os.open(folder / name, flags, 0o700 if is_program else 0o600)
            try:
                while size:
                    content = content or memoryview(_next(pieces, file))
                    written = os.write(descriptor, content[:size])
                    content, size = content[written:], size - written  # noqa: PLW2901  what is left of it
            finally:
                os.close(descriptor)


def _next(pieces: Iterator[Piece], file: IO[bytes]) -> bytes:
    piece = next(pieces)
    packed = file.read(piece.packed)
    if _digest(packed) != piece.digest:
        raise Damaged(f"{file.name} is damaged: it holds something else before {file.tell()} than was built")
    return _unpacked(packed, file.name)


def _index(executable: Path) -> tuple[Index, int]:
    """And where in the executable the blocks begin."""
    with executable.open("rb") as file:
        start = file.seek(_start(file))
        [length] = _LENGTH.unpack(file.read(_LENGTH.size))
        try:
            folders, links, blocks = json.loads(_unpacked(file.read(length), file.name))
        except ValueError as error:
            raise Damaged(f"{executable} is damaged: {error}") from error
    read = (
        Block(begin, tuple(Piece(*piece) for piece in pieces), tuple(File(*file) for file in files))
        for begin, pieces, files in blocks
    )
    return Index(tuple(folders), links, tuple(read)), start + _LENGTH.size + length


def _start(file: IO[bytes]) -> int:
    """Where in an executable of PyInstaller the payload begins."""
    end = file.seek(0, os.SEEK_END)
    begin = file.seek(max(0, end - _SEARCHED))
    searched = file.read()
    if (cookie := searched.rfind(_COOKIE_BEGINS)) < 0:
        raise Damaged(f"{file.name} has lost its end")
    _, length, table, size = _COOKIE.unpack_from(searched, cookie)
    archive = begin + cookie + _COOKIE.size - length
    file.seek(archive + table)
    entries, position = file.read(size), 0
    while position < size:
        step, offset, _, _, _, kind = _ENTRY.unpack_from(entries, position)
        if kind == _KIND:
            return int(archive + offset)
        position += step
    raise Damaged(f"{file.name} carries nothing")


def _packed_pieces(files: list[Path]) -> list[bytes]:
    content = b"".join(path.read_bytes() for path in files)
    return [_packed(content[begin : begin + _PIECE]) for begin in range(0, len(content), _PIECE)]


def _packed(content: bytes) -> bytes:
    return zstd.compress(content, options=_HOW)


def _unpacked(packed: bytes, executable: str) -> bytes:
    try:
        return zstd.decompress(packed)
    except zstd.ZstdError as error:
        raise Damaged(f"{executable} is damaged: {error}") from error


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _blocks(files: list[Path]) -> Iterator[list[Path]]:
    """Files of one kind are packed together: they have more in common."""
    together: list[Path] = []
    size = 0
    for path in sorted(files, key=lambda path: (path.suffix, path)):
        length = path.stat().st_size
        if together and size + length > _PIECE:
            yield together
            together, size = [], 0
        together.append(path)
        size += length
    if together:
        yield together
