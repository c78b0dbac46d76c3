"""A whole conversation to take along: the branch one stands on to read, or all runs of all its branches for programs.

As Markdown and as a web page each turn stands as its run does in an export of its own, under one head with what all of
them cost. As JSON Lines: a line `{"format": "agent-playground/session", "version": 1, "app", "session_id", "title",
"agent", "branch": [run ids], "runs": [run ids]}`, then each run as `json_lines` writes it, the oldest first.
"""

import asyncio
from collections.abc import Callable, Sequence, Sized
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, TypeVar

import orjson

from app.domain.errors import TooLarge, WorkbenchError
from app.domain.events import MessageAdded, RunStarted
from app.domain.sessions import Session
from app.domain.trace import totals
from app.domain.trace.row import began_at
from app.export.bundle import with_files
from app.export.exports import (
    EVERYTHING,
    LARGEST_EXPORT,
    Choice,
    Clean,
    Exported,
    Exports,
    contents_of,
    review_of,
)
from app.export.html import document, error_card, facts_table
from app.export.html_events import Timeline
from app.export.json_lines import json_lines
from app.export.markdown_text import plain
from app.export.ports import RowStore, Secrets, SessionRuns
from app.export.redacting import Redactor
from app.export.rich_text import Markup, element
from app.export.words import SessionFormat, cost_words, file_stem, moment_words, one_line

FORMAT, VERSION = "agent-playground/session", 1

T = TypeVar("T", bound=Sized)


class _Turn(NamedTuple):
    """What the head of a file says of a turn."""

    agent: str
    began: datetime
    cost: float
    unpriced: bool


class SessionExports:
    def __init__(self, exports: Exports, runs: SessionRuns, rows: RowStore, secrets: Secrets, *, app: str) -> None:
        """`app`: the version that is written into files."""
        self._exports = exports
        self._runs = runs
        self._rows = rows
        self._secrets = secrets
        self._app = app

    async def export(self, session: Session, format: SessionFormat, choice: Choice = EVERYTHING) -> Exported:
        """The conversation as a file, named by its title. Raises `WorkbenchError` where there is nothing in it yet.

        Deleted runs are left out. Raises `StorageError` and `TooLarge` too.
        """
        stem = file_stem(self._title(session), file_stem(f"session-{session.id}", "session"))
        match format:
            case "markdown":
                content = await self._markdown(session, replace(choice, before=False))
                if content.startswith(b"PK"):
                    return Exported(f"{stem}.md.zip", "application/zip", content)
                return Exported(f"{stem}.md", "text/markdown; charset=utf-8", content)
            case "html":
                content = await self._html(session, replace(choice, before=False))
                return Exported(f"{stem}.html", "text/html; charset=utf-8", content)
            case "jsonl":
                return Exported(f"{stem}.jsonl", "application/x-ndjson", await self._json_lines(session, choice))

    async def text(self, session: Session) -> str:
        """What was said on the branch one stands on, to be pasted anywhere. Raises like `export`."""
        without = Choice(attachments=False, before=False)
        said, _ = await self._written(self._branch(session), without, lambda _, clean: _said(clean))
        return "\n\n".join(said)

    def _title(self, session: Session) -> str:
        return one_line(Redactor(session.id, self._secrets()).text(session.title))

    def _branch(self, session: Session) -> list[str]:
        """The runs of the branch one stands on."""
        return [run_id for run_id in session.runs if self._rows.get(run_id) is not None]

    async def _markdown(self, session: Session, choice: Choice) -> bytes:
        files: dict[str, bytes] = {}

        def write(number: int, clean: Clean) -> str:
            written = review_of(clean, title=f"Turn {number}", folder=f"turn-{number:03d}/")
            files.update(contents_of(written, clean.artifacts))
            return written.document

        elsewhere = self._elsewhere(session)
        documents, turns = await self._written(self._branch(session), choice, write)
        facts = (f"- {name}: {plain(words)}" for name, words in _facts(session, turns, elsewhere).items())
        head = "\n".join((f"# {plain(self._title(session)) or 'Session'}", "", *facts))
        whole = "\n".join((f"{head}\n", *documents))
        return await asyncio.to_thread(with_files, "conversation.md", whole, files)

    async def _html(self, session: Session, choice: Choice) -> bytes:
        artifacts: dict[str, bytes] = {}
        timeline = Timeline(artifacts, origin=self._exports.origin())

        def write(number: int, clean: Clean) -> Markup:
            artifacts.update(clean.artifacts)
            notes = (element("p", note, cls="card note") for note in clean.notes)
            sections = timeline.sections(clean.entries, within=f"turn-{number}-", edits=clean.edits)
            return element("section", element("h2", f"Turn {number}"), *notes, error_card(clean.entries), *sections)

        elsewhere = self._elsewhere(session)
        sections, turns = await self._written(self._branch(session), choice, write)
        title = self._title(session) or "Session"
        head = element("header", element("h1", title), facts_table(_facts(session, turns, elsewhere)))
        return document(title, element("main", head, *sections)).encode()

    async def _json_lines(self, session: Session, choice: Choice) -> bytes:
        rows = (self._rows.get(run_id) for run_id in self._runs.branches(session).follows)
        run_ids = [row.run_id for row in sorted((row for row in rows if row), key=lambda row: row.started_at)]

        def write(_: int, clean: Clean) -> bytes:
            count = sum(redaction.count for redaction in clean.redactions)
            return json_lines(clean.entries, app=self._app, alive=clean.alive, redactions=count, notes=clean.notes)

        runs, _ = await self._written(run_ids, choice, write)
        header = {
            "format": FORMAT,
            "version": VERSION,
            "app": self._app,
            "session_id": session.id,
            "title": self._title(session),
            "agent": session.agent_slug,
            "branch": self._branch(session),
            "runs": run_ids,
        }
        return b"".join((orjson.dumps(header), b"\n", *runs))

    async def _written(
        self, run_ids: Sequence[str], choice: Choice, write: Callable[[int, Clean], T]
    ) -> tuple[list[T], list[_Turn]]:
        """Each run as it is written, and what the head says of it; one after the other, as each may be large."""
        if not run_ids:
            raise WorkbenchError("Nothing was said in this session yet. Say something first, then take it along.")
        written: list[T] = []
        turns: list[_Turn] = []
        size = 0
        for number, run_id in enumerate(run_ids, start=1):
            clean = await self._exports.clean(run_id, choice)
            written.append(await asyncio.to_thread(write, number, clean))
            turns.append(await asyncio.to_thread(_turn, clean))
            size += len(written[-1]) + sum(map(len, clean.artifacts.values()))
            if size > LARGEST_EXPORT:
                raise TooLarge("This session is too much for one file. Leave images and files out, or export its runs.")
        return written, turns

    def _elsewhere(self, session: Session) -> int:
        """How many runs stand on other branches."""
        return len(self._runs.branches(session).follows) - len(session.runs)


def _facts(session: Session, turns: Sequence[_Turn], elsewhere: int) -> dict[str, str]:
    """What the head of a file says."""
    cost = cost_words(sum(turn.cost for turn in turns), unpriced=any(turn.unpriced for turn in turns))
    others = {"Other branches": f"{elsewhere:,} more runs, which are not in this file"} if elsewhere else {}
    return {
        "Agent": ", ".join(dict.fromkeys(one_line(turn.agent) for turn in turns)),
        "Turns": f"{len(turns):,}",
        "Started": moment_words(turns[0].began),
        "Last turn": moment_words(turns[-1].began),
        "Total cost": cost,
        **others,
        "Session": session.id,
    }


def _turn(clean: Clean) -> _Turn:
    entries, sums = clean.entries, totals(clean.entries)
    agent = entries[0].event.agent.name if isinstance(entries[0].event, RunStarted) else ""
    return _Turn(agent, began_at(entries), sums.cost, sums.unpriced)


def _said(clean: Clean) -> str:
    """What the person and the agent said in the run, each under its name."""
    agent = _turn(clean).agent
    messages = [entry.event.message for entry in clean.entries if isinstance(entry.event, MessageAdded)]
    said = [(message, "You" if message.role == "user" else agent) for message in messages if message.role != "tool"]
    return "\n\n".join(f"{name}:\n{message.headline.strip()}" for message, name in said if message.headline.strip())
