"""A world of agents and tools, and workflows in it, for tests and measurements."""

from itertools import pairwise

from app.domain.tools import ToolSpec
from app.domain.workflows.document import Edge, InputNode, OutputNode, Template, Workflow
from app.domain.workflows.world import KnownAgent, KnownVariant, World
from app.tools.expressions import JsonExpressions


def tool(name, properties=None, required=(), *, closed=False, **flags):
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    if closed:
        schema["additionalProperties"] = False
    return ToolSpec(name=name, description="", parameters=schema, **flags)


TOOLS = [
    tool("now"),
    tool("fetch", {"url": {"type": "string"}, "tries": {"type": "integer"}}, ("url",), closed=True),
    tool("write_file", {"path": {"type": "string"}, "text": {"type": "string"}}, ("path",), side_effects=True),
    tool("mail", {"to": {"type": "array", "items": {"type": "string"}}}, ("to",), side_effects=True),
]
REVIEW = {"type": "object", "properties": {"score": {"type": "number"}, "notes": {"type": "array"}}}
WRITER = KnownAgent("Writer", 1, {1: KnownVariant(variables=("tone",), tools=("now", "files"))})
CRITIC = KnownAgent("Critic", 2, {1: KnownVariant(), 2: KnownVariant(output_schema=REVIEW)})


def world(slug="", **agents):
    known = {"writer": WRITER, "critic": CRITIC, **agents}
    return World(JsonExpressions(), agents=known, tools={one.name: one for one in TOOLS}, slug=slug)


def workflow(*nodes, wires=(), answer="done"):
    """Between `input` and `output`; a wire is `a > b` or `a:port > b`."""
    ends = (InputNode(id="input"), *nodes, OutputNode(id="output", value=Template(text=answer)))
    return Workflow(nodes=ends, edges=tuple(edge(wire) for wire in wires))


def edge(wire):
    source, target = wire.split(" > ")
    source, _, port = source.partition(":")
    return Edge(source=source, port=port or "next", target=target)


def chain(*nodes, answer="done"):
    """The nodes one after the other."""
    ids = ["input", *(node.id for node in nodes), "output"]
    wires = [f"{one} > {other}" for one, other in pairwise(ids)]
    return workflow(*nodes, wires=wires, answer=answer)
