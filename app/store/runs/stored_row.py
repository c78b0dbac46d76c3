"""A run's row as it is stored, looked at without parsing it."""

from pydantic import JsonValue

from app.domain.trace.model_tallies import read_tally
from app.store.journal.frames import Document


def row_field(document: Document, name: str) -> JsonValue:
    """`None` also for what every row says that says nothing else: `cost` of nothing, say, is not stored."""
    row = document.get("value")
    return row.get(name) if isinstance(row, dict) else None


def agent_field(document: Document, name: str) -> str:
    agent = row_field(document, "agent")
    return str(agent.get(name)) if isinstance(agent, dict) else ""


def is_of_app(document: Document) -> bool:
    """Whether the run holds the calls of an app."""
    trigger = row_field(document, "trigger")
    return isinstance(trigger, dict) and trigger.get("kind") == "app"


def stamp(document: Document) -> str:
    """What tells the run's state from any other one of it."""
    return f"{row_field(document, 'finished_at') or row_field(document, 'status')}"


def tally_of(stored: JsonValue) -> Document:
    """What a model did in a run; nothing where the row is damaged, which is in no list either."""
    try:
        return read_tally(str(stored))
    except ValueError:
        return {}


def listed(stored: JsonValue) -> list[Document]:
    """The objects of a list; none of anything else."""
    return [one for one in stored if isinstance(one, dict)] if isinstance(stored, list) else []
