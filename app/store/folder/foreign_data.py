"""What a backup that was not taken here decides: nothing.

Its agents ask before each call, its runs do not go on, and whatever somebody had allowed there is to be allowed again
by whoever restores it. A table of which nothing is said here is left out.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from app.domain.agents import Agent, WorkingCopy
from app.domain.apps import AppConsent
from app.domain.caution import agent_from_elsewhere, behaviour_from_elsewhere
from app.domain.errors import StorageError
from app.domain.evals.cases import Case, Dataset
from app.domain.evals.experiments import Cell, Column, Experiment, ExperimentStatus
from app.domain.evals.scores import Score
from app.domain.provenance import Trigger
from app.domain.sessions import Session
from app.domain.settings import Preferences
from app.domain.tool_settings import McpServer
from app.domain.tools import canonical_name
from app.domain.trace import RunRow
from app.domain.values import Value
from app.store.folder.migrations import check_schema
from app.store.journal.compaction import rewritten
from app.store.journal.disk import Disk
from app.store.journal.frames import Document
from app.store.journal.journal import JournalStorage

V = TypeVar("V", bound=Value)
Tries = TypeVar("Tries", Session, Column)
Tables = dict[str, dict[int, Document]]
Rule = Callable[[Document], Document | None]
"""The document with what may be kept of its value; `None` for one that cannot be read."""
LARGEST = 256 * 1024 * 1024
"""Bytes of a main database that was not written here."""
_SHOWN = 20


def judged(folder: Path, runs: Path) -> list[str]:
    """Take from the unpacked data what it may not decide; what is to be allowed again, in sentences.

    `runs`: where the traces are. Doing it once more changes nothing. Raises `StorageError`, `OSError`.
    """
    path = folder / "app.tdb"
    if path.stat().st_size > LARGEST:
        most = LARGEST // 1024**2
        raise StorageError(f"This backup was not taken here, and its lists have more than {most} MiB. Choose another.")
    journal = JournalStorage(path)
    check_schema(journal, folder)
    tables = {name: _documents(journal, name) for name in journal.names()}
    kept = {name: _kept(documents, _RULES[name]) for name, documents in tables.items() if name in _RULES}
    _switch_off(kept)
    listed = {document.get("id") for document in kept.get("runs", {}).values()}
    for trace in runs.glob("*.tdb"):
        if trace.stem not in listed:  # it would be taken for one of ours that lost its row in a kill
            trace.unlink()
    rewritten(Disk(), kept, had_damage=False, log=journal.log)
    journal.close()
    return list(_again(tables))


def _documents(journal: JournalStorage, name: str) -> dict[int, Document]:
    stored: Mapping[int, object] = journal.table(name)
    return {doc_id: one for doc_id, one in stored.items() if isinstance(one, dict)}


def _kept(documents: dict[int, Document], rule: Rule) -> dict[int, Document]:
    return {doc_id: kept for doc_id, one in documents.items() if (kept := rule(one)) is not None}


def _rule(kind: type[V], change: Callable[[V], V]) -> Rule:
    def rule(document: Document) -> Document | None:
        try:
            value = change(kind.model_validate(document.get("value")))
        except ValidationError:
            return None
        return document | {"value": value.model_dump(mode="json")}

    return rule


def _session(session: Session) -> Session:
    page = Trigger(kind="page")
    queue = tuple(message.model_copy(update={"trigger": page}) for message in session.queue)
    return _asking(session).model_copy(update={"tools_allowed": (), "queue": queue, "app_contexts": ()})


def _asking(holder: Tries) -> Tries:
    """What tries a behaviour that is no variant asks as the variants do."""
    tried = holder.tried and behaviour_from_elsewhere(holder.tried)
    return holder.model_copy(update={"tried": tried})


def _experiment(experiment: Experiment) -> Experiment:
    """Nothing of it goes on, and what is tried again of it calls no tool for real."""
    status: ExperimentStatus = "completed" if experiment.status == "completed" else "cancelled"
    columns = tuple(map(_asking, experiment.plan.columns))
    plan = experiment.plan.model_copy(update={"tools": "recorded", "live": (), "columns": columns})
    return experiment.model_copy(update={"plan": plan, "status": status, "by": Trigger(kind="page"), "workers": ""})


def _preferences(preferences: Preferences) -> Preferences:
    new = Preferences()
    ours = {name: getattr(new, name) for name in ("http_hosts", "web_search", "keep_days", "keep_runs", "collector")}
    return preferences.model_copy(update={**ours, "day_cost": min(preferences.day_cost or new.day_cost, new.day_cost)})


def _schema(document: Document) -> Document | None:
    number = document.get("number")
    return document if isinstance(number, int) and number > 0 else None


_UNTRUSTED = {"grant": None, "consented": "", "seen_tools": None, "apps": AppConsent()}
_RULES: dict[str, Rule] = {
    "agents": _rule(Agent, agent_from_elsewhere),
    "working_copies": _rule(
        WorkingCopy, lambda copy: copy.model_copy(update={"behaviour": behaviour_from_elsewhere(copy.behaviour)})
    ),
    "sessions": _rule(Session, _session),
    "preferences": _rule(Preferences, _preferences),
    "mcp_servers": _rule(McpServer, lambda one: one.model_copy(update=_UNTRUSTED)),
    "runs": _rule(RunRow, lambda row: row.model_copy(update={"imported": True})),
    "scores": _rule(Score, lambda score: score.model_copy(update={"by": Trigger(kind=score.by.kind)})),
    "experiments": _rule(Experiment, _experiment),
    "cells": _rule(Cell, lambda cell: cell.model_copy(update={"end": cell.end or "skipped"})),
    "datasets": _rule(Dataset, lambda dataset: dataset),
    "cases": _rule(Case, lambda case: case),
    "schema": _schema,
    **dict.fromkeys(
        ("variable_sets", "comparisons", "saved_calls", "kept_keys", "tool_settings", "http_tools"),
        lambda document: document,
    ),
}
_AGAIN = {
    "mcp_servers": "MCP servers",
    "http_tools": "HTTP tools",
    "trusted_files": "tool files",
    "providers": "addresses of models' providers",
    "api_keys": "API keys, to be made anew",
}


def _switch_off(tables: Tables) -> None:
    """Requests have nobody's consent to take back, so their tools are off."""
    settings = tables.setdefault("tool_settings", {})
    values = (form.get("value") for form in tables.get("http_tools", {}).values())
    names = {canonical_name(str(value.get("name"))) for value in values if isinstance(value, dict)}
    others = [setting for setting in settings.values() if setting.get("id") not in names]
    off: list[Document] = [{"id": name, "revision": 1, "value": {"enabled": False}} for name in sorted(names)]
    tables["tool_settings"] = dict(enumerate((*others, *off), start=1))


def _again(tables: Tables) -> Iterator[str]:
    yield "Tools ask before each call, and agents are public to nobody."
    for table, words in _AGAIN.items():
        if names := [_name(document) for document in tables.get(table, {}).values()]:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            yield f"{words}: {', '.join(names[:_SHOWN])}{more}."
    yield "Hosts that tools may ask, the web search, and where spans go; runs that had not ended are forked instead."


def _name(document: Document) -> str:
    """What a person calls it, as far as it can be shown: a file by its name."""
    value = document.get("value")
    said = value.get("name") if isinstance(value, dict) else None
    name = said if isinstance(said, str) else str(document.get("id")).replace("\\", "/").rpartition("/")[2]
    return "".join(one for one in name if one.isprintable())[:60]
