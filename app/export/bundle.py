"""A run with its artifacts as one zip file that another copy of the app takes in.

Format: `manifest.json` `{"format": "agent-playground/bundle", "version": 1, "trace_format", "app", "run_id", "agent",
"request", "artifacts": {sha256: bytes}, "missing": [sha256], "redactions", "scores"}`, `trace.jsonl` (see `json_lines`)
and `artifacts/<sha256>`. The same run makes the same bytes. Read with no trust in who wrote it: only these names, only
contents that are what their names say, and no more of them than fits.
"""

import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

import orjson
from pydantic import ValidationError

from app.domain.errors import TooLarge, WorkbenchError
from app.domain.evals.scores import Score
from app.domain.events import Entry
from app.domain.trace import run_row
from app.domain.unpacked import check_listing
from app.export.json_lines import check_header, read_json_lines, trace_format
from app.export.limits import LARGEST_BUNDLE

FORMAT = "agent-playground/bundle"
VERSION = 1
LARGEST_UNPACKED = 128 * 1024 * 1024
"""Bytes of all but the trace, which is read line by line."""
LARGEST_LISTING = 2 * 1024 * 1024
MOST_FILES = 5_000
MOST_SCORES = 1_000
_MANIFEST, _TRACE = "manifest.json", "trace.jsonl"
_ARTIFACT = re.compile(r"artifacts/([0-9a-f]{64})")
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError, ValueError)
"""What reading a zip file raises that is damaged, encrypted or packed in a way that nobody knows."""


@dataclass(frozen=True, slots=True)
class Bundle:
    entries: list[Entry]
    artifacts: dict[str, bytes]
    """By sha256."""
    app: str
    """The version that wrote it."""
    scores: tuple[Score, ...] = ()
    """What was said of the run there."""
    notes: tuple[str, ...] = ()
    """What could not be taken over of a trajectory of another program, in sentences."""


def bundle(
    entries: Sequence[Entry],
    trace: bytes,
    *,
    app: str,
    artifacts: Mapping[str, bytes],
    missing: Collection[str] = (),
    redactions: int = 0,
    scores: Sequence[Score] = (),
) -> bytes:
    """The zip file for `read_bundle`. `trace`: the entries as JSON Lines."""
    row = run_row(entries, alive=False)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "trace_format": trace_format(entries),
        "app": app,
        "run_id": row.run_id,
        "agent": row.agent.name,
        "request": row.request,
        "artifacts": {digest: len(artifacts[digest]) for digest in sorted(artifacts)},
        "missing": sorted(missing),
        "redactions": redactions,
        "scores": [score.model_dump(mode="json", exclude={"by"}) | {"by": score.by.kind} for score in scores],
    }
    files = {_MANIFEST: orjson.dumps(manifest, option=orjson.OPT_INDENT_2), _TRACE: trace}
    return zipped({**files, **{f"artifacts/{digest}": artifacts[digest] for digest in sorted(artifacts)}})


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip file of these, the same bytes for the same files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, content)
    return packed.getvalue()


def with_files(name: str, document: str, files: Mapping[str, bytes]) -> bytes:
    """The document alone, or under that name with its files as a zip file."""
    return zipped({name: document.encode(), **files}) if files else document.encode()


def read_bundle(source: bytes | IO[bytes], *, largest_unpacked: int = LARGEST_UNPACKED) -> Bundle:
    """What is in the bundle, each content checked. Raises `WorkbenchError` in words, `TooLarge` for one too big."""
    packed = io.BytesIO(source) if isinstance(source, bytes) else source
    size = packed.seek(0, io.SEEK_END)
    if size > LARGEST_BUNDLE:
        most = LARGEST_BUNDLE // 1024**2
        raise TooLarge(f"This file has {size / 1024**2:.0f} MiB; a bundle has {most} MiB at most.")
    try:
        check_listing(packed, LARGEST_LISTING)
        with zipfile.ZipFile(packed) as archive:
            return _read(archive, largest_unpacked)
    except DAMAGE as error:
        raise WorkbenchError(f"This bundle is damaged, or no zip file: {error}. Export the run again.") from error


def _read(archive: zipfile.ZipFile, largest_unpacked: int) -> Bundle:
    files = _unpacked(archive, largest_unpacked)
    for name in (_MANIFEST, _TRACE):
        if name not in files:
            raise WorkbenchError(f"This is no bundle of a run: {name} is not in it. Export one from a run's page.")
    header = check_header(files[_MANIFEST], FORMAT, VERSION, noun="bundle")
    artifacts = _artifacts(files)
    promised = header.get("artifacts")
    lost = [digest for digest in promised if digest not in artifacts] if isinstance(promised, dict) else []
    if lost:
        raise WorkbenchError(f"This bundle is not whole: {len(lost)} of its artifacts are missing. Export it again.")
    with archive.open(_TRACE) as trace:
        entries = read_json_lines(trace)
    return Bundle(entries, artifacts, str(header.get("app", ""))[:40], tuple(_scores(header.get("scores"))))


def _scores(said: object) -> Iterator[Score]:
    """Those that can be read; who gave them is nobody of this app."""
    for one in said[:MOST_SCORES] if isinstance(said, list) else ():
        if isinstance(one, dict):
            with suppress(ValidationError):
                yield Score.model_validate({**one, "by": {"kind": one.get("by")}, "experiment": ""})


def _unpacked(archive: zipfile.ZipFile, largest: int) -> dict[str, bytes]:
    """All but the trace, of which only the name is there."""
    files: dict[str, bytes] = {}
    left = largest
    members = archive.infolist()
    if len(members) > MOST_FILES:
        raise TooLarge(f"This bundle has {len(members):,} files; {MOST_FILES:,} can be taken in.")
    for member in members:
        _check_name(member.filename, files)
        with archive.open(member) as file:  # what is said of its size may be a lie
            files[member.filename] = b"" if member.filename == _TRACE else file.read(left + 1)
        if (left := left - len(files[member.filename])) < 0:
            raise TooLarge(f"Unpacked, this bundle has more than {largest // 1024**2} MiB.")
    return files


def _check_name(name: str, files: Mapping[str, bytes]) -> None:
    if name not in (_MANIFEST, _TRACE) and not _ARTIFACT.fullmatch(name):
        raise WorkbenchError(f"This bundle holds a file that belongs to none: {name[:80]!r}. Nothing was taken in.")
    if name in files:
        raise WorkbenchError(f"This bundle holds {name[:80]!r} twice. Nothing was taken in.")


def _artifacts(files: Mapping[str, bytes]) -> dict[str, bytes]:
    found = {match[1]: content for name, content in files.items() if (match := _ARTIFACT.fullmatch(name))}
    for digest, content in found.items():
        if hashlib.sha256(content).hexdigest() != digest:
            raise WorkbenchError(f"This bundle is damaged: artifact {digest[:12]} is not what its name says.")
    return found
