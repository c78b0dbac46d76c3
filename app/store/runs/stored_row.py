"""A run's row as it is stored: what is looked at in tens of thousands of them, without parsing one."""

from collections.abc import Callable

from pydantic import JsonValue

from app.domain.trace import KeyRuns, SortKey
from app.store.journal.documents import number
from app.store.journal.frames import Document


def row_field(document: Document, name: str) -> JsonValue:
    row = document.get("value")
    return row.get(name) if isinstance(row, dict) else None


def agent_field(document: Document, name: str) -> str:
    agent = row_field(document, "agent")
    return str(agent.get(name)) if isinstance(agent, dict) else ""


def parent_of(document: Document) -> str:
    """The id of the run that started this one, empty where none did."""
    parent = row_field(document, "parent")
    return str(parent.get("run_id")) if isinstance(parent, dict) else ""


def is_of_key(document: Document, wanted: KeyRuns) -> bool:
    """Whether the run is one of these: it says the key's id, or began under its name when runs said no more."""
    trigger = row_field(document, "trigger")
    if not isinstance(trigger, dict):
        return False
    started = trigger["key"] == wanted.key if trigger.get("key") else _has_name(document, trigger, wanted)
    return started and agent_field(document, "id") in wanted.agents and not row_field(document, "imported")


def _has_name(document: Document, trigger: dict[str, JsonValue], wanted: KeyRuns) -> bool:
    if wanted.since is None or trigger.get("kind") != "api_key" or trigger.get("name") != wanted.name:
        return False
    return number(document.get("started")) >= wanted.since.timestamp()


def paid(document: Document) -> float:
    """US dollars that the run has cost here: nothing, where it was imported."""
    return 0.0 if row_field(document, "imported") else number(row_field(document, "cost"))


def stamp(document: Document) -> str:
    """What tells the run's state from any other one of it."""
    return f"{row_field(document, 'finished_at') or row_field(document, 'status')}"


SORT_KEYS: dict[SortKey, Callable[[Document], float]] = {
    "started_at": lambda document: number(document.get("started")),
    "duration_ms": lambda document: number(row_field(document, "duration_ms")),
    "cost": lambda document: number(row_field(document, "cost")),
    "total_tokens": lambda doc: number(row_field(doc, "input_tokens")) + number(row_field(doc, "output_tokens")),
    "model_calls": lambda document: number(row_field(document, "model_calls")),
}
