"""A workflow as a Mermaid flowchart, for documents that draw those."""

from collections.abc import Iterator

from app.domain.errors import WorkbenchError
from app.domain.workflows.checking import shape_faults
from app.domain.workflows.document import ERROR, NEXT, LoopNode, MapNode, Node, NoteNode, Workflow
from app.domain.workflows.graph import Graph

_SHAPES = {
    "input": ('(["', '"])'),
    "output": ('(["', '"])'),
    "agent": ('["', '"]'),
    "tool": ('[["', '"]]'),
    "transform": ('[/"', '"/]'),
    "branch": ('{"', '"}'),
    "approval": ('{{"', '"}}'),
    "join": ('(("', '"))'),
    "note": ('>"', '"]'),
}


def mermaid(workflow: Workflow) -> str:
    """Maps and loops are boxes; edges that lead nowhere are left out. Raises `WorkbenchError` where it has no shape."""
    if found := shape_faults(workflow):
        raise WorkbenchError(f"The workflow cannot be drawn. {found[0].text}")
    graph = Graph(workflow)
    edges = [edge for id_ in graph.places for edge in graph.after[id_]]
    lines = ["flowchart LR", *_body(graph, "", "  ")]
    for edge in edges:
        line = "-.->" if edge.port == ERROR else "-->"
        label = "" if edge.port == NEXT else f'|"{_text(edge.port)}"|'
        lines.append(f"  {_id(edge.source)} {line}{label} {_id(edge.target)}")
    return "\n".join(lines) + "\n"


def _body(graph: Graph, scope: str, indent: str) -> Iterator[str]:
    for id_ in graph.bodies.get(scope, ()):
        node = graph.nodes[id_]
        if isinstance(node, MapNode | LoopNode):
            yield f'{indent}subgraph {_id(id_)}["{_text(node.title or id_)}"]'
            yield from _body(graph, id_, indent + "  ")
            yield f"{indent}end"
        else:
            opening, closing = _SHAPES[node.kind]
            yield f"{indent}{_id(id_)}{opening}{_words(node)}{closing}"


def _words(node: Node) -> str:
    words = node.note if isinstance(node, NoteNode) and node.note else node.title or node.id
    return _text(words if len(words) <= 200 else words[:199] + "…")


def _id(id_: str) -> str:
    """Some words, `end` for one, mean something else in Mermaid."""
    return f"n_{id_}"


def _text(words: str) -> str:
    """Nothing in it ends the text or is read as Markdown, HTML or a code of Mermaid's."""
    plain = " ".join(words.split())
    return "".join(sign if sign.isalnum() or sign in " .,:!?…-" else f"#{ord(sign)};" for sign in plain)
