"""A small folder that looks like the built one, and an executable that carries it, laid out as PyInstaller does."""

import io
import os
import struct
from pathlib import Path

from single_file import payload

LARGE = os.urandom(2 * 1024 * 1024 + 1)


def built_folder(place: Path) -> Path:
    """With a program, a large file, an empty one, small ones further down, and a symbolic link."""
    files = {
        "agent-playground": b"#!/bin/sh\necho it runs\n",
        "_internal/large.so": LARGE,
        "_internal/empty.txt": b"",
        "_internal/assets/a/one.md": b"one" * 2000,
        "_internal/assets/two.md": b"two",
    }
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (place / "agent-playground").chmod(0o755)
    (place / "_internal" / "linked.so").symlink_to("large.so")
    return place


def carried(folder: Path, executable: Path) -> str:
    """Write an executable that carries the folder; the name of its copy."""
    packed = io.BytesIO()
    digest = payload.pack(folder, packed)
    script, content = b"print()", packed.getvalue()
    table = _entry(b"s", b"starter", 0, len(script)) + _entry(b"a", b"payload", len(script), len(content))
    archive = script + content + table
    cookie = struct.pack(
        "!8sIIII64s", b"MEI\014\013\012\013\016", len(archive) + 88, len(archive) - len(table), len(table), 311, b"lib"
    )
    executable.write_bytes(b"boot loader" * 1000 + archive + cookie + b"a signature")
    return f"1.0.0-{digest[:16]}"


def contents_of(folder: Path) -> dict[str, bytes | str]:
    found = sorted(folder.rglob("*"))
    links = {path.relative_to(folder).as_posix(): str(path.readlink()) for path in found if path.is_symlink()}
    files = (path for path in found if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files} | links


def _entry(kind: bytes, name: bytes, start: int, length: int) -> bytes:
    padded = name.ljust(14, b"\0")
    return struct.pack("!IIIIBc14s", 32, start, length, length, 0, kind, padded)
