"""What nodes read, and what they give where nothing has to be done for it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from pydantic import JsonValue

from app.domain.errors import ErrorInfo, FailureClass, NodeFailure
from app.domain.json_schema import UnusableSchema, mistakes
from app.domain.reading.expressions import Expressions
from app.domain.tools import JsonSchema
from app.domain.workflows.bindings import (
    Read,
    calculated,
    formula_reads,
    found,
    holds,
    joined,
    path_reads,
    value_at,
    value_of,
)
from app.domain.workflows.document import (
    CARRY,
    ELSE,
    NEXT,
    AgentNode,
    ApprovalNode,
    Binding,
    BranchNode,
    JoinNode,
    LoopNode,
    MapNode,
    Node,
    OutputNode,
    Template,
    ToolNode,
    TransformNode,
)

MOST_MISTAKES = 5
MOST_REFERENCES = 2_000

Names = Mapping[str, JsonValue]
"""What bindings may read, by its name."""


class NodeFailed(NodeFailure):
    """`may_pass` where another try may do better and does no harm."""

    def __init__(self, text: str, *, failure: FailureClass = "node", may_pass: bool = False) -> None:
        super().__init__(ErrorInfo(failure=failure, text=text))
        self.may_pass = may_pass


def titled(node: Node, error: ErrorInfo) -> NodeFailed:
    """The failure as it goes on where the node's failure leads nowhere."""
    return NodeFailed(f"{node.title or node.id}: {error.text}", failure=error.failure)


@dataclass(frozen=True, slots=True)
class Given:
    """What a node gives, and the port at which it goes on."""

    value: JsonValue
    port: str | None = NEXT
    as_returned: bool = False
    """It is what its tool returned, which stands in the trace already."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a node's bindings came to."""

    inputs: dict[str, JsonValue] = field(default_factory=dict)
    given: Given | None = None
    """What it gives, where nothing more has to be done for that."""


def bound(node: Node, names: Names, expressions: Expressions) -> Bound:  # noqa: PLR0911  a kind of node each
    """Raises `BadExpression` where a binding has no value, `NodeFailed` where one is not of the kind that is wanted."""
    match node:
        case OutputNode(value=value, output_schema=schema):
            answer = value_of(value, names, expressions)
            check(schema, answer, "answers")
            return Bound(given=Given(answer, port=None))
        case AgentNode(message=message, variables=variables):
            told = {f"variables.{name}": one for name, one in _values(variables, names, expressions).items()}
            return Bound({"message": as_text(value_of(message, names, expressions)), **told})
        case ToolNode(arguments=arguments):
            return Bound(_values(arguments, names, expressions))
        case TransformNode():
            return _transformed(node, names, expressions)
        case BranchNode():
            return _branched(node, names, expressions)
        case MapNode(items=items):
            return Bound({"items": _items(node, value_of(items, names, expressions))})
        case LoopNode(carry=carry):
            return Bound({CARRY: _values({name: one.first for name, one in carry.items()}, names, expressions)})
        case ApprovalNode(question=question, shown=shown):
            asked = value_of(Template(text=question), names, expressions)
            return Bound({"question": asked, "shown": _values(shown, names, expressions)})
        case JoinNode(values=values):
            return Bound(given=Given(joined(values, names, expressions)))
        case _:
            raise NodeFailed("This is a note, which does nothing.")


def as_text(value: JsonValue) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def check(schema: JsonSchema | None, value: JsonValue, does: str) -> None:
    """Raises `NodeFailed` where the value does not fit; `does` is how the sentence begins that says so."""
    if not schema:
        return
    try:
        wrong = list(islice(mistakes(schema, value, most_references=MOST_REFERENCES), MOST_MISTAKES))
    except UnusableSchema as error:
        raise NodeFailed(f"The schema {error}. Change it.") from error
    if wrong:
        places = (f"{'.'.join(map(str, one.path))}: {one.message}".removeprefix(": ") for one in wrong)
        raise NodeFailed(f"What it {does} does not fit its schema. {' '.join(places)}")


def _values(bindings: Mapping[str, Binding], names: Names, expressions: Expressions) -> dict[str, JsonValue]:
    return {name: value_of(one, names, expressions) for name, one in bindings.items()}


def _transformed(node: TransformNode, names: Names, expressions: Expressions) -> Bound:
    match node.language:
        case "python":
            return Bound(_values(node.inputs, names, expressions))
        case "jmespath":
            read = _read(path_reads(node.code, expressions), names)
            return Bound(read, Given(found(node.code, names, expressions)))
        case "formula":
            read = _read(formula_reads(node.code, expressions), names)
            return Bound(read, Given(calculated(node.code, names, expressions)))


def _branched(node: BranchNode, names: Names, expressions: Expressions) -> Bound:
    """At the first case that holds; what the cases before read is told too."""
    read: dict[str, JsonValue] = {}
    for case in node.cases:
        read |= _read(formula_reads(case.formula, expressions), names)
        if holds(case.formula, names, expressions):
            return Bound(read, Given(case.name, case.name))
    return Bound(read, Given(ELSE, ELSE))


def _items(node: MapNode, items: JsonValue) -> list[JsonValue]:
    if not isinstance(items, list):
        raise NodeFailed(f"It goes through a list, and was given {as_text(items)[:80]}. Read a list.")
    if len(items) > node.most:
        raise NodeFailed(f"It was given {len(items):,} items, and goes through {node.most:,} at most. Raise that.")
    return items


def _read(reads: Iterable[Read], names: Names) -> dict[str, JsonValue]:
    return {one.path.written: value_at(names.get(one.path.name), one.path.steps) for one in reads}
