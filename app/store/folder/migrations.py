"""Schema numbers of a data folder, and the steps from each to the next.

A step reads the main database and returns changes of it; these and the new number are one change on disk. Beside the
number stands the app that wrote it; `reads_from` may say the least number that an app must know to look at the data.
Before the first step the folder is saved as a zip file, which is read back.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from pathlib import Path

from pydantic import JsonValue

from app import __version__
from app.domain.errors import StorageError
from app.domain.values import new_id, now
from app.store.folder.archive import write_archive
from app.store.journal.frames import Changes, Document
from app.store.journal.journal import JournalStorage

SCHEMA = 5
"""The number that this app reads and writes."""

Step = Callable[[JournalStorage], Changes]


def rights_of_keys(journal: JournalStorage) -> Changes:
    """From 1 to 2: a key for certain agents may only what it says, where it could do everything with its agents.

    Runs of schema 1 tell the name of their key and no id: who has the name now goes on with those from when nobody
    else had it.
    """
    documents = journal.table("api_keys")
    keys = {place: key for place, document in documents.items() if isinstance(key := document.get("value"), dict)}
    changed: dict[int, Document | None] = {}
    for place, key in keys.items():
        ends = [_moment(other.get("revoked_at")) for other in keys.values() if other.get("name") == key.get("name")]
        created = _moment(key.get("created_at"))
        if created is not None and not key.get("revoked_at"):
            since = max([created, *filter(None, ends)])
            rights: Document = {"may": [], "once_named": key.get("name"), "once_since": since.isoformat()}
            changed[place] = {**documents[place], "value": {**key, **rights}}
    return [("api_keys", changed)] if changed else []


def _moment(written: JsonValue) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(written))
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def votes_as_scores(journal: JournalStorage) -> Changes:
    """From 2 to 3: a vote of a comparison is a score of the run that was voted for, no part of the comparison."""
    scores: list[Document] = []
    changed: dict[int, Document | None] = {}
    for place, document in journal.table("comparisons").items():
        value = document.get("value")
        if isinstance(value, dict) and value.get("votes"):
            scores += [{"id": vote["id"], "revision": 1, "value": vote} for vote in _votes_of(value)]
            changed[place] = {**document, "value": {name: one for name, one in value.items() if name != "votes"}}
    taken = max(journal.table("scores"), default=0)
    numbered: dict[int, Document | None] = dict(enumerate(scores, start=taken + 1))
    return [("comparisons", changed), ("scores", numbered)] if changed else []


def _votes_of(comparison: dict[str, JsonValue]) -> Iterator[dict[str, JsonValue]]:
    """A score for each vote; one for an answer that never came says nothing."""
    turns, votes = comparison.get("turns"), comparison.get("votes")
    if not isinstance(turns, list) or not isinstance(votes, dict):
        return
    for number, turn in enumerate(turns):
        runs = turn.get("runs") if isinstance(turn, dict) else None
        run_id = runs.get(str(votes.get(str(number)))) if isinstance(runs, dict) else None
        if isinstance(run_id, str):
            said: dict[str, JsonValue] = {"source": "person", "name": "vote", "value": 1.0, "by": {"kind": "page"}}
            yield {"id": new_id(), "run_id": run_id, "at": comparison.get("updated_at"), **said}


def with_experiments(_journal: JournalStorage) -> Changes:
    """From 3 to 4: nothing of the old is changed. An older app knows neither these purposes nor hidden sessions.

    It would leave runs out of its lists as unreadable, and show each cell as a conversation.
    """
    return []


def kinds_of_behaviours(journal: JournalStorage) -> Changes:
    """From 4 to 5: a behaviour says its kind, as that of an agent may be a workflow.

    An older app would run such an agent with an empty prompt, and drop its nodes when it saves it.
    """
    changes: list[tuple[str, Mapping[int, Document | None]]] = []
    for table, path in _BEHAVIOURS.items():
        changed: dict[int, Document | None] = {}
        for place, document in journal.table(table).items():
            if any("kind" not in behaviour for behaviour in _at(document, path)):
                changed[place] = told = deepcopy(document)
                for behaviour in _at(told, path):
                    behaviour.setdefault("kind", "prompt")
        if changed:
            changes.append((table, changed))
    return changes


_BEHAVIOURS = {
    "agents": ("value", "variants", "*", "behaviour"),
    "working_copies": ("value", "behaviour"),
    "sessions": ("value", "tried"),
    "experiments": ("value", "plan", "columns", "*", "tried"),
}
"""By table, where behaviours stand in its documents."""


def _at(value: JsonValue, path: Sequence[str]) -> Iterator[dict[str, JsonValue]]:
    """What stands there; what cannot be read is passed over."""
    if isinstance(value, list):
        for one in value if path and path[0] == "*" else ():
            yield from _at(one, path[1:])
    elif isinstance(value, dict) and path:
        yield from _at(value.get(path[0]), path[1:])
    elif isinstance(value, dict):
        yield value


STEPS: Mapping[int, Step] = {1: rights_of_keys, 2: votes_as_scores, 3: with_experiments, 4: kinds_of_behaviours}
"""By the number they start from. The first release is number 1."""

_KEPT_BACKUPS = 7


class NewerData(StorageError):
    """A data folder that a newer app wrote."""


def schema_of(journal: JournalStorage) -> int | None:
    """The number of the folder, `None` for a new one."""
    number = journal.table("schema").get(1, {}).get("number")
    return number if isinstance(number, int) else None


def check_schema(journal: JournalStorage, folder: Path, target: int = SCHEMA) -> None:
    """Raises `NewerData` for data of a newer app, `StorageError` for a file of which nothing can be read."""
    number = schema_of(journal)
    if number is not None and number > target:
        by = journal.table("schema").get(1, {}).get("app")
        version = f"version {by[:40]}, " if isinstance(by, str) else ""
        raise NewerData(
            f"The data folder {folder} was written by a newer Agent Playground ({version}schema {number}, "
            f"this one reads up to {target}). Update the app, or start with --data and another folder."
        )
    if number is None and journal.damaged and not journal.names():
        raise StorageError(
            f"{journal.path} holds nothing that this Agent Playground can read: it is damaged, or of a newer app. "
            "Update the app, put a backup in its place, or start with --data and another folder."
        )


def migrate(journal: JournalStorage, folder: Path, *, steps: Mapping[int, Step] = STEPS, target: int = SCHEMA) -> bool:
    """Bring the folder to `target`; whether nothing was stored in it yet. Raises `NewerData`, `StorageError`."""
    check_schema(journal, folder, target)
    number, is_new = schema_of(journal), journal.holds_only("schema")  # so left by a start that came to nothing
    if number is None:
        journal.commit([_stamp(target)])
        return is_new
    if number < target:
        back_up(folder, number)
    _take_steps(journal, number, journal.commit, steps, target)
    return is_new


def migrate_in_memory(journal: JournalStorage, *, steps: Mapping[int, Step] = STEPS, target: int = SCHEMA) -> None:
    """Bring what is read of a folder to `target`, of which nothing may be written."""
    _take_steps(journal, schema_of(journal) or target, journal.assume, steps, target)


def back_up(folder: Path, number: int) -> Path:
    """Save the folder's data as a zip in `backups`, read back to be sure of it. Raises `StorageError`."""
    backups = folder / "backups"
    target = backups / f"schema-{number}-{now():%Y%m%d-%H%M%S-%f}.zip"
    write_archive(folder, target, number)
    for old in sorted(backups.glob("schema-*.zip"), key=lambda path: path.stat().st_mtime)[:-_KEPT_BACKUPS]:
        old.unlink()
    return target


def _take_steps(
    journal: JournalStorage, number: int, make: Callable[[Changes], None], steps: Mapping[int, Step], target: int
) -> None:
    for at in range(number, target):
        make([*steps[at](journal), _stamp(at + 1)])


def _stamp(number: int) -> tuple[str, dict[int, Document | None]]:
    return "schema", {1: {"number": number, "app": __version__}}
