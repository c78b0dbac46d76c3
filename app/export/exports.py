"""Runs to take along: read, without secrets, in one of six formats; several at once as one zip file."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Literal, get_args

from app.domain.errors import NotFound, StorageError, TooLarge, WorkbenchError
from app.domain.evals.scores import Score
from app.domain.events import Entry, RunStarted
from app.domain.secrets.shapes import Shape
from app.domain.trace import Edits, StoredTrace, edits_of, origins_of, without_secrets
from app.export.atif import atif
from app.export.bundle import bundle, with_files, zipped
from app.export.html import html_page
from app.export.importing import Importing
from app.export.json_lines import json_lines
from app.export.markdown import Review, review
from app.export.otel import otlp_json
from app.export.ports import ArtifactReader, RunReader, ScoresOf, Secrets, no_scores
from app.export.redacting import Redaction, Redactor
from app.export.review import artifacts_of, attachment_files
from app.export.words import STATUS_WORDS, file_stem

Format = Literal["markdown", "html", "jsonl", "otel", "atif", "bundle"]
FORMATS: tuple[Format, ...] = get_args(Format)
MOST_RUNS = 500
LARGEST_EXPORT = 512 * 1024 * 1024
"""Bytes of all artifacts of one export."""

_ENDINGS: Mapping[Format, tuple[str, str]] = {
    "markdown": ("md", "text/markdown; charset=utf-8"),
    "html": ("html", "text/html; charset=utf-8"),
    "jsonl": ("jsonl", "application/x-ndjson"),
    "otel": ("otlp.json", "application/json"),
    "atif": ("atif.json", "application/json"),
    "bundle": ("run.zip", "application/zip"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What goes into an export."""

    attachments: bool = True
    """Images and files, where the format takes them."""
    let_through: frozenset[Shape] = frozenset()
    """Shapes of secrets that stay in; keys that the app knows never do."""
    call_files: bool = True
    """Beside a review each tool call as a file; without these, and without images and files, it is no zip file."""
    before: bool = True
    """What the run began with: the earlier conversation, and the session's files."""


@dataclass(frozen=True, slots=True)
class Exported:
    filename: str
    """Lower case letters, digits, `-` and `.`: the same on every system."""
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Clean:
    """One run without its secrets, and what came to light on the way."""

    entries: list[Entry]
    edits: Edits
    artifacts: dict[str, bytes]
    missing: frozenset[str]
    redactions: tuple[Redaction, ...]
    notes: tuple[str, ...]
    alive: bool
    scores: tuple[Score, ...] = ()
    call_files: bool = True


EVERYTHING = Choice()


class Exports:
    def __init__(
        self,
        runs: RunReader,
        artifacts: ArtifactReader,
        secrets: Secrets,
        *,
        app: str,
        importing: Importing | None,
        scores: ScoresOf = no_scores,
        origin: Callable[[], str] = str,
    ) -> None:
        """`app`: the version that is written into files. `importing`: `None` where nothing can be taken in.

        `origin`: where the app's pages are, for links to them; empty where there are none.
        """
        self._runs, self._scores, self.origin = runs, scores, origin
        self._artifacts, self._secrets = artifacts, secrets
        self._app, self._importing = app, importing

    async def export(self, run_id: str, format: Format, choice: Choice = EVERYTHING) -> Exported:
        """The run as a file, as far as it has come. Raises `NotFound`, `StorageError`, `TooLarge`."""
        clean = await self.clean(run_id, choice)
        return await asyncio.to_thread(self._written, clean, format)

    async def export_all(self, run_ids: Sequence[str], format: Format, choice: Choice = EVERYTHING) -> Exported:
        """The runs as one zip file; one alone as itself. Raises like `export`."""
        if len(run_ids) == 1:
            return await self.export(run_ids[0], format, choice)
        if not 1 <= len(run_ids) <= MOST_RUNS:
            raise TooLarge(f"{len(run_ids):,} runs are chosen; from 1 to {MOST_RUNS} can be exported at once.")
        files: dict[str, bytes] = {}
        for number, run_id in enumerate(run_ids, start=1):
            exported = await self.export(run_id, format, choice)
            files[f"{number:03d}-{exported.filename}"] = exported.content
            if sum(map(len, files.values())) > LARGEST_EXPORT:
                raise TooLarge("These runs are too much for one file. Choose fewer, or leave images and files out.")
        content = await asyncio.to_thread(zipped, files)
        return Exported(f"{len(files)}-runs-{format}.zip", "application/zip", content)

    async def preview(self, run_ids: Sequence[str], choice: Choice = EVERYTHING) -> tuple[Redaction, ...]:
        """What an export would take out, and where. Raises like `export`."""
        found: list[Redaction] = []
        for run_id in run_ids[:MOST_RUNS]:
            found.extend((await self.clean(run_id, choice)).redactions)
        return tuple(found)

    async def review(self, run_id: str, choice: Choice = EVERYTHING) -> Review:
        """The run as Markdown, with the names of the files that would go with it. Raises like `export`."""
        clean = await self.clean(run_id, choice)
        return await asyncio.to_thread(review_of, clean)

    async def import_bundle(self, source: bytes | IO[bytes]) -> str:
        """Take in a run of another app; its id here, where searches find it. Raises `WorkbenchError` in words."""
        if self._importing is None:
            raise WorkbenchError("Runs are taken in by the app: open it and import the bundle on its Runs page.")
        return await self._importing.take_in(source)

    async def clean(self, run_id: str, choice: Choice = EVERYTHING) -> Clean:
        """The run without its secrets, as far as it has come. Raises like `export`."""
        alive = self._runs.live(run_id) is not None  # before what it has come to
        trace = await self._runs.trace(run_id)
        entries = list(trace.entries)  # a live run's list grows
        if not entries or not isinstance(entries[0].event, RunStarted):
            raise StorageError(f"The beginning of run {run_id} cannot be read, so it cannot be exported.")
        if not choice.before:
            entries[0] = _alone(entries[0])
        redactor = Redactor(run_id, self._secrets(), let_through=choice.let_through)
        digests = artifacts_of(entries)
        found = await self._contents(digests) if choice.attachments else {}
        origins = await origins_of(entries, self._original)
        edits = await asyncio.to_thread(edits_of, entries, origins)
        artifacts, cleaned, nowhere = await asyncio.to_thread(_redacted, redactor, entries, found)
        olds = (redactor.text_at(one.seq, one.was) for one in edits.all if one.was is not None)
        missing = (frozenset(digests) - found.keys()) | nowhere
        return Clean(
            entries=cleaned,
            edits=without_secrets(edits, olds),
            artifacts=artifacts,
            missing=missing,
            redactions=redactor.redactions,
            notes=_notes(trace, len(missing) if choice.attachments else 0, redactor.redactions, alive=alive),
            alive=alive,
            scores=tuple(redactor.score(score) for score in self._scores(run_id)),
            call_files=choice.call_files,
        )

    async def _original(self, run_id: str) -> Sequence[Entry]:
        """A run that a fork comes from; empty where it cannot be read any more."""
        try:
            return (await self._runs.trace(run_id)).entries
        except WorkbenchError:
            return ()

    async def _contents(self, digests: Collection[str]) -> dict[str, bytes]:
        """The artifacts that are there; raises `TooLarge`."""
        found: dict[str, bytes] = {}
        for digest in digests:
            try:
                found[digest] = await self._artifacts.get(digest)
            except (NotFound, StorageError):
                continue  # the export says which are missing
            if sum(map(len, found.values())) > LARGEST_EXPORT:
                raise TooLarge("Its images and files are too much for one file. Export the run without them.")
        return found

    def _written(self, clean: Clean, format: Format) -> Exported:
        ending, media_type = _ENDINGS[format]
        content = self._content(clean, format)
        if content.startswith(b"PK") and format in ("markdown", "atif"):
            ending, media_type = f"{ending.removesuffix('.json')}.zip", "application/zip"
        started = clean.entries[0].event
        agent = started.agent.slug if isinstance(started, RunStarted) else ""
        name = f"{file_stem(agent, 'agent')}-{file_stem(clean.entries[0].run_id, 'run')}"
        return Exported(f"{name}.{ending}", media_type, content)

    def _content(self, clean: Clean, format: Format) -> bytes:
        if format == "markdown":
            return _packed(review_of(clean), clean.artifacts)
        if format == "otel":
            return otlp_json(clean.entries, app=self._app, alive=clean.alive, edits=clean.edits)
        if format == "atif":
            notes = (*clean.notes, *(edited.words for edited in clean.edits.all))
            return atif(clean.entries, app=self._app, artifacts=clean.artifacts, alive=clean.alive, notes=notes)
        count = sum(redaction.count for redaction in clean.redactions)
        trace = json_lines(clean.entries, app=self._app, alive=clean.alive, redactions=count, notes=clean.notes)
        if format == "html":
            return html_page(
                clean.entries,
                trace,
                artifacts=clean.artifacts,
                alive=clean.alive,
                notes=clean.notes,
                edits=clean.edits,
                origin=self.origin(),
            )
        if format == "bundle":
            return bundle(
                clean.entries,
                trace,
                app=self._app,
                artifacts=clean.artifacts,
                missing=clean.missing,
                redactions=count,
                scores=clean.scores,
            )
        return trace


def _alone(first: Entry) -> Entry:
    """How the run began, without what was before."""
    return first.model_copy(update={"event": first.event.model_copy(update={"history": (), "files": {}})})


def _redacted(
    redactor: Redactor, entries: Sequence[Entry], found: Mapping[str, bytes]
) -> tuple[dict[str, bytes], list[Entry], frozenset[str]]:
    """The contents by the digests that they have then, the entries that refer to those, and what these lack of them."""
    artifacts, renamed = redactor.artifacts(found)
    redactor.rename(renamed)
    cleaned = redactor.entries(entries)
    return artifacts, cleaned, frozenset(attachment_files(cleaned).keys() - artifacts.keys())


def review_of(clean: Clean, *, title: str = "", folder: str = "") -> Review:
    """Its review; `title` and `folder` as `review` takes them."""
    return review(
        clean.entries,
        alive=clean.alive,
        missing=clean.missing,
        notes=clean.notes,
        edits=clean.edits,
        artifacts=clean.artifacts,
        title=title,
        folder=folder,
        call_files=clean.call_files,
    )


def _packed(written: Review, artifacts: Mapping[str, bytes]) -> bytes:
    """The document alone, or with the files beside it as a zip file."""
    return with_files("review.md", written.document, contents_of(written, artifacts))


def contents_of(written: Review, artifacts: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files beside the document, by their paths."""
    return {file.path: artifacts[file.artifact] if file.artifact else file.content for file in written.files}


def _notes(trace: StoredTrace, missing: int, redactions: Sequence[Redaction], *, alive: bool) -> tuple[str, ...]:
    """What a reader has to know about the export, in sentences."""
    notes: list[str] = []
    if alive:
        notes.append(f"The run is {STATUS_WORDS['running']}.")
    if missing:
        notes.append(f"{missing} of its images and files are not stored any more.")
    if count := sum(redaction.count for redaction in redactions):
        notes.append(f"Keys or passwords were taken out in {count} places.")
    notes.extend(f"Not all of the trace could be read: {sentence}" for sentence in trace.damaged[:5])
    return tuple(notes)
