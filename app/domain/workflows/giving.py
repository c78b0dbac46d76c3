"""What is known beforehand of the value that a node gives, as JSON Schema; `{}` where nothing is."""

from collections.abc import Iterator

from pydantic import JsonValue

from app.domain.prompts import ValuePath
from app.domain.reading.expressions import BadExpression
from app.domain.tools import JsonSchema
from app.domain.workflows.bindings import reads
from app.domain.workflows.document import (
    CARRY,
    INDEX,
    INPUT,
    ITEM,
    ROUND,
    AgentNode,
    ApprovalNode,
    Binding,
    BranchNode,
    Calculated,
    FixedValue,
    FoundValue,
    InputNode,
    JoinNode,
    LoopNode,
    MapNode,
    Node,
    Template,
    TransformNode,
    Working,
    ports,
)
from app.domain.workflows.fitting import along
from app.domain.workflows.graph import Graph
from app.domain.workflows.world import World

DEEPEST = 50
"""Nodes that give what the next one gives; further on nothing is known."""
SCALAR: JsonSchema = {"type": ["string", "number", "boolean", "null"]}
_TEXT: JsonSchema = {"type": "string"}
_NUMBER: JsonSchema = {"type": "integer"}


class Giving:
    """Keeps what it found; a node that leads to itself gives what nobody knows."""

    def __init__(self, graph: Graph, world: World) -> None:
        self._graph, self._world = graph, world
        self._known: dict[str, JsonSchema] = {}
        self._asked: list[str] = []

    def of(self, id_: str) -> JsonSchema:
        """The value of that node."""
        if id_ not in self._known and len(self._asked) < DEEPEST:
            self._known[id_] = {}  # for whoever asks on the way
            self._asked.append(id_)
            self._known[id_] = self._of(self._graph.nodes[id_])
            self._asked.pop()
        return self._known.get(id_, {})

    def named(self, name: str, inside: str) -> JsonSchema:
        """What a name stands for in the body of that map or loop."""
        scopes = [self._graph.nodes[id_] for id_ in self._graph.chain(inside)]
        match name:
            case "index" | "round":
                return _NUMBER
            case "item":
                return next((self._item(one) for one in scopes if isinstance(one, MapNode)), {})
            case "carry":
                return next((_carried(one) for one in scopes if isinstance(one, LoopNode)), {})
            case "input" if name not in self._graph.nodes:
                inputs = (id_ for id_, node in self._graph.nodes.items() if isinstance(node, InputNode))
                return next((self.of(id_) for id_ in inputs), {})
            case _:
                return self.of(name) if name in self._graph.nodes else {}

    def bound(self, binding: Binding, inside: str) -> JsonSchema:
        """What the binding comes to in the body of that map or loop."""
        match binding:
            case FixedValue(value=value):
                return {"const": value}
            case Template():
                return _TEXT
            case Calculated():
                return SCALAR
            case FoundValue():
                path = self._whole_path(binding)
                return (along(self.named(path.name, inside), path.steps) or {}) if path else {}

    def _of(self, node: Node) -> JsonSchema:
        if isinstance(node, Working) and node.on_error != "fail":
            return {}
        match node:
            case InputNode():
                return _input(node)
            case AgentNode():
                variant = self._world.variant(node.agent, node.variant)
                return {} if variant is None or variant.workflow else variant.output_schema or _TEXT
            case TransformNode(language="jmespath", code=code):
                return self.bound(FoundValue(path=code), node.scope)
            case TransformNode(language="formula"):
                return SCALAR
            case _:
                return self._of_order(node)

    def _of_order(self, node: Node) -> JsonSchema:
        """Of the kinds that say what comes when."""
        match node:
            case BranchNode():
                return {"enum": list(ports(node))}
            case MapNode():
                return {"type": "array", "items": self.bound(node.gives, node.id)}
            case LoopNode():
                return _object({**_properties(_carried(node)), "rounds": _NUMBER, "reached_most": {"type": "boolean"}})
            case ApprovalNode():
                values = node.form or {"type": "object"}
                return _object({"decision": {"enum": ["approved", "denied"]}, "values": values, "note": _TEXT})
            case JoinNode():
                return _object({name: {} for name in node.values})
            case _:
                return {}

    def _item(self, node: MapNode) -> JsonSchema:
        items = self.bound(node.items, node.scope)
        if isinstance(values := items.get("const"), list):
            return {"enum": values}
        inner = items.get("items")
        return inner if isinstance(inner, dict) else {}

    def _whole_path(self, binding: FoundValue) -> ValuePath | None:
        """The path that the binding is, if it is nothing else."""
        try:
            found = reads(binding, self._world.expressions)
        except BadExpression:
            return None
        return found[0].path if len(found) == 1 and found[0].whole and not found[0].has_default else None


def given_names(graph: Graph, inside: str) -> Iterator[str]:
    """Those besides ids that bindings in the body of that map or loop may read."""
    kinds = {type(graph.nodes[id_]) for id_ in graph.chain(inside)}
    yield INPUT
    yield from (ITEM, INDEX) if MapNode in kinds else ()
    yield from (CARRY, ROUND) if LoopNode in kinds else ()


def _carried(node: LoopNode) -> JsonSchema:
    """A value that is text at first and afterwards is text; of others the kind may change."""
    texts = (isinstance(one.first, Template) and isinstance(one.next, Template) for one in node.carry.values())
    return _object({name: _TEXT if text else {} for name, text in zip(node.carry, texts, strict=True)})


def _input(node: InputNode) -> JsonSchema:
    more: JsonSchema = {}
    if node.history:
        more["history"] = {"type": "array", "items": _object({"role": _TEXT, "text": _TEXT})}
    if node.files:
        more["files"] = {"type": "array", "items": _TEXT}
    if not more:
        return node.takes
    required = node.takes.get("required")
    names: list[JsonValue] = [*(required if isinstance(required, list) else ()), *more]
    return {**node.takes, "properties": {**_properties(node.takes), **more}, "required": names}


def _object(properties: JsonSchema) -> JsonSchema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _properties(schema: JsonSchema) -> JsonSchema:
    inner = schema.get("properties")
    return inner if isinstance(inner, dict) else {}
