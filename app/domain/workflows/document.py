"""What a workflow is: nodes and the edges that order them.

Data go by a node's id, which never changes; edges only say what comes after what. There is no way back along them: what
repeats is the body of a map or a loop, the nodes that have its id as their `scope`. A document may have faults, which
`checking.py` finds: a working copy keeps it as it is, a variant takes none with errors.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from app.domain.tools import JsonSchema, Policy
from app.domain.values import Strict, Text

MOST_NODES = 500
DEEPEST_SCOPE = 8
"""Maps and loops in each other."""
LARGEST = 256_000
"""Bytes of a document as JSON."""
MOST_ITEMS = 1_000
MOST_ROUNDS = 100
MOST_AT_ONCE = 16
MOST_RETRIES = 5
LONGEST_ID = 60  # characters
LONGEST_TITLE = 120  # characters
NEXT, ERROR, ELSE, APPROVED, DENIED = "next", "error", "else", "approved", "denied"
"""The names of ports; those of a branch are the names of its cases besides."""
INPUT = "input"
"""By this name, and by its node's id, bindings read what the run was given."""
TEXT = "text"
"""The field of the input that a message is."""
ITEM, INDEX, CARRY, ROUND = "item", "index", "carry", "round"
"""What bindings in the body of a map, and in that of a loop, read besides; index and round count from 0."""
GIVEN_NAMES = (INPUT, ITEM, INDEX, CARRY, ROUND)

NodeId = Annotated[str, Field(pattern=rf"^[a-z][a-z0-9_]{{0,{LONGEST_ID - 1}}}$")]
"""Made from the first title, a word that templates, paths and formulas take as it is."""
Place = Annotated[float, Field(ge=-1_000_000, le=1_000_000, allow_inf_nan=False)]


class FixedValue(Strict):
    """A value as it stands."""

    kind: Literal["value"] = "value"
    value: JsonValue = None


class Template(Strict):
    """A text with `{{draft.items[0].name}}` in it; `{{draft.note ?? none}}` where that may be missing."""

    kind: Literal["text"] = "text"
    text: Text = ""


class FoundValue(Strict):
    """What a JMESPath expression finds; JSON behind a last `??` stands for what is not there."""

    kind: Literal["path"] = "path"
    path: Text = ""


class Calculated(Strict):
    """What a formula comes to, `[review.score] * 2`; JSON behind a last `??` where what it reads may be missing."""

    kind: Literal["formula"] = "formula"
    formula: Text = ""


Binding = Annotated[FixedValue | Template | FoundValue | Calculated, Field(discriminator="kind")]
"""Where a value comes from."""


class Placed(Strict):
    """What all nodes have."""

    id: NodeId
    title: Annotated[Text, Field(max_length=LONGEST_TITLE)] = ""
    note: Text = ""
    x: Place = 0.0
    """Its left edge on the canvas, in pixels at full size; within a scope from the scope's left edge."""
    y: Place = 0.0
    scope: NodeId | Literal[""] = ""
    """The id of the map or loop whose body it stands in; empty for none."""


class Working(Placed):
    """What nodes have that may fail."""

    on_error: Literal["fail", "route", "value"] = "fail"
    """Whether its failure fails the run, goes on at the port `error`, or counts as `error_value`."""
    error_value: JsonValue = None
    retries: Annotated[int, Field(ge=0, le=MOST_RETRIES)] = 0
    timeout: Annotated[float, Field(gt=0, le=86_400)] | None = None
    """Seconds for one try; `None` for what the run's limits say."""


def _text_alone() -> JsonSchema:
    return {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class InputNode(Placed):
    """Where a run begins; gives what it was given, checked."""

    kind: Literal["input"] = "input"
    takes: JsonSchema = Field(default_factory=_text_alone)
    """JSON Schema of what a run is given; a message in a chat is its `text`."""
    history: bool = False
    """Whether it gives `history` too, the messages before in the session, each with `role` and `text`."""
    files: bool = False
    """Whether it gives `files` too, the paths of the session's files."""


class OutputNode(Placed):
    """The run's answer; of several the first in the document that was not skipped."""

    kind: Literal["output"] = "output"
    value: Binding = Template()
    output_schema: JsonSchema | None = None


class AgentNode(Working):
    """Asks an agent, which may be a workflow; gives its answer, read as JSON where it has an output schema."""

    kind: Literal["agent"] = "agent"
    agent: str = ""
    """Its slug."""
    variant: Annotated[int, Field(ge=1)] | None = None
    """`None` for the one that is active when the run begins."""
    message: Binding = Template()
    variables: dict[str, Binding] = {}
    """By name: what the variables of its prompt stand for; the others keep their defaults."""
    tools: tuple[str, ...] | None = None
    """Those of its own that it may use; `None` for all."""


class ToolNode(Working):
    """Calls a tool; gives what it returns, read as JSON where it is."""

    kind: Literal["tool"] = "tool"
    tool: str = ""
    arguments: dict[str, Binding] = {}
    policy: Policy = "auto"


class TransformNode(Working):
    """Makes a value of others and changes nothing else."""

    kind: Literal["transform"] = "transform"
    language: Literal["jmespath", "formula", "python"] = "jmespath"
    code: Text = ""
    """An expression that reads nodes as a binding does, or Python that reads `inputs`."""
    inputs: dict[str, Binding] = {}
    """For Python: by name, what stands in `inputs`."""


class BranchCase(Strict):
    name: Annotated[Text, Field(min_length=1, max_length=LONGEST_TITLE)]
    """The port at which it goes on."""
    formula: Text = ""
    """When; JSON behind a last `??` where what it reads may be missing."""


class BranchNode(Working):
    """Goes on at the port of the first case that holds, else at `else`; gives the port's name."""

    kind: Literal["branch"] = "branch"
    cases: tuple[BranchCase, ...] = ()


class MapNode(Working):
    """Goes through its body once for each item; gives the list of what each came to, in the items' order."""

    kind: Literal["map"] = "map"
    items: Binding = FoundValue()
    gives: Binding = Template()
    """What an item comes to; reads the nodes of the body, `item` and `index`."""
    at_once: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = 4
    each_error: Literal["fail", "null", "drop"] = "fail"
    """Whether an item that fails fails the map, is null in the list, or is left out of it."""
    most: Annotated[int, Field(ge=1, le=MOST_ITEMS)] = 100
    """Items; more fail the map."""


class Carried(Strict):
    """A value that a loop takes from round to round."""

    first: Binding = FixedValue()
    next: Binding = FixedValue()
    """Calculated after each round; reads the nodes of the body, `carry` and `round`."""


class LoopNode(Working):
    """Goes through its body until a formula holds; gives what it carried last, and `rounds` and `reached_most`."""

    kind: Literal["loop"] = "loop"
    carry: dict[str, Carried] = {}
    until: Text = ""
    """A formula asked after each round, with what is carried on from it; reads what `next` does."""
    most: Annotated[int, Field(ge=1, le=MOST_ROUNDS)] | None = None
    """Rounds; has to be said. To reach it is no failure, but is told in `reached_most`."""


class ApprovalNode(Working):
    """Asks a person; goes on at `approved` or `denied` and gives `decision`, `values` and `note`."""

    kind: Literal["approval"] = "approval"
    question: Text = ""
    """A template."""
    form: JsonSchema | None = None
    """JSON Schema of the values that are asked for; `None` for a mere yes or no."""
    shown: dict[str, Binding] = {}
    """By name, what is shown beside the question; a field of the form with that name begins with it."""


class JoinNode(Working):
    """Gives an object of what came along several edges; what did not come is null."""

    kind: Literal["join"] = "join"
    values: dict[str, Binding] = {}
    need: Literal["all", "any"] | Annotated[int, Field(ge=1, le=MOST_NODES)] = "all"
    """Begins when all edges are settled, with the first alive one, or with so many; skipped where too few can be."""
    cancel_rest: bool = False
    """Whether what leads to it and still goes on when it begins is cancelled."""


class NoteNode(Placed):
    """Words on the canvas, its `note`; no edge leads to it or from it."""

    kind: Literal["note"] = "note"


Scope = MapNode | LoopNode
Node = Annotated[
    InputNode
    | OutputNode
    | AgentNode
    | ToolNode
    | TransformNode
    | BranchNode
    | MapNode
    | LoopNode
    | ApprovalNode
    | JoinNode
    | NoteNode,
    Field(discriminator="kind"),
]
Kind = Literal[
    "input", "output", "agent", "tool", "transform", "branch", "map", "loop", "approval", "join", "note"
]  # fmt: skip


class Edge(Strict):
    """The target begins once the source has ended, if it went on at this port."""

    source: str
    port: str = NEXT
    target: str


class Workflow(Strict):
    format: Literal[1] = 1
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()

    def by_id(self) -> Mapping[str, Node]:
        """Its nodes; the first of those with the same id."""
        return {node.id: node for node in reversed(self.nodes)}

    def body(self, scope: str) -> Iterator[Node]:
        """The nodes that stand in that map or loop itself, in document order; `""` for those in none."""
        return (node for node in self.nodes if node.scope == scope)


def ports(node: Node) -> tuple[str, ...]:
    """Where edges may leave it, in the order in which they are shown."""
    if isinstance(node, BranchNode):
        own = (*dict.fromkeys(case.name for case in node.cases), ELSE)
    else:
        own = _OWN_PORTS.get(node.kind, (NEXT,))
    return (*own, ERROR) if isinstance(node, Working) and node.on_error == "route" else own


_OWN_PORTS: Mapping[Kind, tuple[str, ...]] = {"output": (), "note": (), "approval": (APPROVED, DENIED)}


def port_for(node: Node, value: JsonValue) -> str | None:
    """Where a value goes on that stands for what the node gives: the port that it names, else the usual one."""
    if value in ports(node):
        return str(value)
    match node:
        case OutputNode() | NoteNode():
            return None
        case BranchNode():
            return ELSE
        case ApprovalNode():
            return APPROVED if isinstance(value, dict) and value.get("decision") == APPROVED else DENIED
        case _:
            return NEXT


def titled(node: Node) -> str:
    """How a fault, an error or a spoken change names it."""
    return f"“{node.title}” ({node.id})" if node.title else node.id
