"""Tables in memory, and the changes that are made in them."""

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from functools import partial

from app.store.journal.frames import Batch, Document

Table = MutableMapping[int, Document]
Forms = Mapping[str, Callable[[], Table]]
"""Makes the tables of these names; all others are dicts."""
Undo = list[Callable[[], object]]


class Tables(dict[str, Table]):
    def __init__(self, forms: Forms) -> None:
        super().__init__()
        self._forms = forms

    def __missing__(self, name: str) -> Table:
        """Make the table."""
        found = self[name] = self._forms.get(name, dict)()
        return found


def make(batches: Iterable[Batch], tables: Tables) -> None:
    """Make the changes, oldest first."""
    for batch in batches:
        for name, documents in batch:
            if documents is None:
                tables.pop(name, None)
                continue
            table = tables[name]
            for doc_id, document in documents.items():
                if document is None:
                    table.pop(doc_id, None)
                else:
                    table[doc_id] = document


def make_undoable(batch: Batch, tables: Tables) -> Undo:
    """The same for one batch; returns how to take its changes back, to be done in reverse."""
    undo: Undo = []
    for name, documents in batch:
        if documents is None:
            if (dropped := tables.pop(name, None)) is not None:
                undo.append(partial(tables.__setitem__, name, dropped))
            continue
        if name not in tables:
            undo.append(partial(tables.pop, name))
        table = tables[name]
        for doc_id, document in documents.items():
            before = table.get(doc_id)
            undo.append(
                partial(table.pop, doc_id, None) if before is None else partial(table.__setitem__, doc_id, before)
            )
            if document is None:
                table.pop(doc_id, None)
            else:
                table[doc_id] = document
    return undo
