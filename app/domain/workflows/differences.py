"""What changed between two workflows, node by node: a node is the same while its id is."""

import json
from collections.abc import Iterator

from app.domain.values import Value
from app.domain.workflows.document import Edge, Node, Workflow

_PLACE = ("x", "y")
_ABSENT: object = object()


class FieldChange(Value):
    name: str
    """The field, `arguments.url` for a part of one."""
    before: str
    """In words or JSON; empty for what was not there."""
    after: str


class NodeChange(Value):
    id: str
    title: str
    """As it is afterwards."""
    fields: tuple[FieldChange, ...]


class GraphDifferences(Value):
    added: tuple[Node, ...] = ()
    removed: tuple[Node, ...] = ()
    changed: tuple[NodeChange, ...] = ()
    moved: tuple[str, ...] = ()
    """The ids of nodes that stand elsewhere on the canvas, which changes nothing of what they do."""
    edges_added: tuple[Edge, ...] = ()
    edges_removed: tuple[Edge, ...] = ()

    @property
    def none(self) -> bool:
        """Whether both do the same."""
        return not (self.added or self.removed or self.changed or self.edges_added or self.edges_removed)


def graph_differences(before: Workflow, after: Workflow) -> GraphDifferences:
    """In the order of the later document, what is gone in that of the earlier one."""
    old, new = before.by_id(), after.by_id()
    both = [(old[id_], node) for id_, node in new.items() if id_ in old]
    changed = ((one, other, tuple(_fields(one, other))) for one, other in both if one != other)
    return GraphDifferences(
        added=tuple(node for id_, node in new.items() if id_ not in old),
        removed=tuple(node for id_, node in old.items() if id_ not in new),
        changed=tuple(NodeChange(id=one.id, title=other.title, fields=told) for one, other, told in changed if told),
        moved=tuple(other.id for one, other in both if (one.x, one.y) != (other.x, other.y)),
        edges_added=tuple(edge for edge in dict.fromkeys(after.edges) if edge not in set(before.edges)),
        edges_removed=tuple(edge for edge in dict.fromkeys(before.edges) if edge not in set(after.edges)),
    )


def _fields(before: Node, after: Node) -> Iterator[FieldChange]:
    old, new = before.model_dump(mode="json"), after.model_dump(mode="json")
    for name in dict.fromkeys((*old, *new)):
        if name not in _PLACE:
            yield from _changes(name, old.get(name, _ABSENT), new.get(name, _ABSENT))


def _changes(name: str, old: object, new: object) -> Iterator[FieldChange]:
    """Of an object each part by itself; of bindings the words."""
    if old == new and type(old) is type(new):
        return
    if isinstance(old, dict) and isinstance(new, dict) and "kind" not in old.keys() | new.keys():
        for part in dict.fromkeys((*old, *new)):
            yield from _changes(f"{name}.{part}", old.get(part, _ABSENT), new.get(part, _ABSENT))
    else:
        yield FieldChange(name=name, before=_words(old), after=_words(new))


def _words(value: object) -> str:
    match value:
        case _ if value is _ABSENT or value is None:
            return ""
        case str(words) | {"kind": "text", "text": str(words)} | {"kind": "path", "path": str(words)}:
            return words
        case {"kind": "formula", "formula": str(formula)}:
            return f"= {formula}"
        case {"kind": "value", "value": inner} | inner:
            return json.dumps(inner, ensure_ascii=False, sort_keys=True)
