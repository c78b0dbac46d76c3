"""A run's row as it is stored: looked at in tens of thousands, and let through by filters, without parsing one."""

from collections.abc import Callable, Container, Iterator
from math import inf

from pydantic import JsonValue
from pydantic_core import to_json

from app.domain.provenance import BEHIND
from app.domain.trace import KeyRuns, RunFilter, SortKey
from app.domain.trace.model_tallies import provider_of, read_tally
from app.store.journal.documents import number
from app.store.journal.frames import Document
from app.store.runs.search_words import terms

PICO = 10**12
"""Of a US dollar: costs are summed up as whole numbers of these."""
Condition = Callable[[Document], bool]


def row_field(document: Document, name: str) -> JsonValue:
    """`None` also for what every row says that says nothing else: `cost` of nothing, say, is not stored."""
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


def is_of_app(document: Document) -> bool:
    """Whether the run holds the calls of an app."""
    trigger = row_field(document, "trigger")
    return isinstance(trigger, dict) and trigger.get("kind") == "app"


def is_behind(document: Document) -> bool:
    """Whether it is of an experiment, a judge or a try: nobody talked to an agent there."""
    return row_field(document, "purpose") in BEHIND


def paid(document: Document) -> float:
    """US dollars that the run has cost here: nothing, where it was imported."""
    return 0.0 if row_field(document, "imported") else number(row_field(document, "cost"))


def spent(document: Document | None, start: float) -> int:
    """What the run has cost, as a whole number that can be taken out of a sum again; 0 for one that began before."""
    return 0 if document is None or number(document.get("started")) < start else round(paid(document) * PICO)


def stamp(document: Document) -> str:
    """What tells the run's state from any other one of it."""
    return f"{row_field(document, 'finished_at') or row_field(document, 'status')}"


def to_tell(documents: list[Document], *, all_runs: bool) -> list[str]:
    """The runs that are not deleted, the newest first: all, or those whose row lacks tallies of models."""
    kept = (document for document in documents if not document.get("deleted"))
    found = [document for document in kept if all_runs or row_field(document, "models") is None]
    return [str(document.get("id")) for document in sorted(found, key=SORT_KEYS["started_at"], reverse=True)]


SORT_KEYS: dict[SortKey, Callable[[Document], float]] = {
    "started_at": lambda document: number(document.get("started")),
    "duration_ms": lambda document: number(row_field(document, "duration_ms")),
    "cost": lambda document: number(row_field(document, "cost")),
    "total_tokens": lambda doc: number(row_field(doc, "input_tokens")) + number(row_field(doc, "output_tokens")),
    "model_calls": lambda document: number(row_field(document, "model_calls")),
}


def conditions(wanted: RunFilter, matching: Container[str]) -> list[Condition]:
    """One for each field of the filter that is set; `matching` are the runs whose trace says its text."""
    found = list(_since(wanted))  # first: of many runs few are of the last days
    found += [
        _equals(name, value)
        for name, value in (
            ("status", wanted.status),
            ("failure", wanted.failure),
            ("purpose", wanted.purpose),
            ("unpriced", wanted.unpriced),
            ("session_id", wanted.session_id),
        )
        if value
    ]
    if not (wanted.parent or wanted.session_id):  # calls of apps are seen where their app is
        found.append(lambda document: not is_of_app(document))
        if not wanted.behind and wanted.purpose not in BEHIND:
            found.append(lambda document: not is_behind(document))
    if wanted.agent:
        found.append(lambda document: agent_field(document, "slug") == wanted.agent)
    if wanted.variant is not None:
        found.append(lambda document: agent_field(document, "variant") == str(wanted.variant))
    if wanted.parent:
        found.append(lambda document: parent_of(document) == wanted.parent)
    if wanted.background is not None:
        found.append(lambda document: bool(row_field(document, "background")) == wanted.background)
    if (of_key := wanted.of_key) is not None:
        found.append(lambda document: is_of_key(document, of_key))
    found.extend(_calls(wanted))
    found.extend(_range("cost", wanted.min_cost, wanted.max_cost, unsaid=0.0))
    found.extend(_range("duration_ms", wanted.min_ms, wanted.max_ms, unsaid=None))
    if words := [term.text for term in terms(wanted.text.casefold())]:
        found.append(_says(words, matching))
    return found


def _range(name: str, least: float | None, most: float | None, *, unsaid: float | None) -> list[Condition]:
    """Whether the number in that field is within these; one that is not there is in no range."""
    if least is None and most is None:
        return []
    low, high = -inf if least is None else least, inf if most is None else most

    def holds(document: Document) -> bool:
        value = row_field(document, name)
        value = unsaid if value is None else value
        return isinstance(value, (int, float)) and low <= value <= high

    return [holds]


def _since(wanted: RunFilter) -> Iterator[Condition]:
    if wanted.since is not None:
        since = wanted.since.timestamp()
        yield lambda document: number(document.get("started")) >= since
    if wanted.until is not None:
        until = wanted.until.timestamp()
        yield lambda document: number(document.get("started")) <= until


def _calls(wanted: RunFilter) -> Iterator[Condition]:
    """By what was called in a run."""
    if model := wanted.model:
        yield lambda document: row_field(document, "model") == model or _called(document, "model", model)
    if provider := wanted.provider:
        yield lambda document: _called(document, "provider", provider)
    if tool := wanted.tool:
        yield lambda document: any(tally.get("name") == tool for tally in listed(row_field(document, "tools")))


def _called(document: Document, name: str, value: str) -> bool:
    """Whether a model that was called says that of itself; where there was none, the name of the run's."""
    models = row_field(document, "models")
    if not isinstance(models, list) or not models:
        return name == "provider" and provider_of(str(row_field(document, "model"))) == value
    written = to_json(value).decode()  # most say it nowhere, and are not read
    return any(written in str(stored) and tally_of(stored).get(name) == value for stored in models)


def tally_of(stored: JsonValue) -> Document:
    """What a model did in a run; nothing where the row is damaged, which is in no list either."""
    try:
        return read_tally(str(stored))
    except ValueError:
        return {}


def listed(stored: JsonValue) -> list[Document]:
    """The objects of a list; none of anything else."""
    return [one for one in stored if isinstance(one, dict)] if isinstance(stored, list) else []


def _equals(name: str, value: str | bool) -> Condition:
    return lambda document: row_field(document, name) == value


def _says(words: list[str], matching: Container[str]) -> Condition:
    def holds(document: Document) -> bool:
        if document.get("id") in matching:
            return True
        text = str(document.get("text"))
        return all(word in text for word in words)

    return holds
