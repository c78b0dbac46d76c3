"""All that is wrong with a workflow, found before it runs."""

from collections.abc import Mapping

from app.domain.workflows.document import (
    DEEPEST_SCOPE,
    GIVEN_NAMES,
    INPUT,
    LARGEST,
    MOST_NODES,
    InputNode,
    LoopNode,
    MapNode,
    Node,
    NoteNode,
    OutputNode,
    ToolNode,
    Workflow,
    titled,
)
from app.domain.workflows.graph import Graph
from app.domain.workflows.node_checks import check_node, check_route
from app.domain.workflows.references import MOST_FAULTS, Checking, Fault, Severity
from app.domain.workflows.same_writes import check_writes
from app.domain.workflows.world import World

_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


def faults(workflow: Workflow, world: World) -> tuple[Fault, ...]:
    """What is wrong with it, errors first, else in document order; `MOST_FAULTS` at most.

    Of 300 nodes it takes 15 ms; the first time, when their expressions have to be read, 100: that belongs in a thread.
    While its nodes stand in each other or lead in a circle, only that is told: nothing else can be said of them.
    """
    if found := shape_faults(workflow):
        return found
    graph = Graph(workflow)
    if circle := graph.cycle():
        names = " → ".join(titled(graph.nodes[id_]) for id_ in [*circle, circle[0]])
        way_out = "Take one of the edges away; what repeats goes into a loop."
        return (Fault(node=circle[0], text=f"These lead in a circle: {names}. {way_out}"),)
    check = Checking(graph, world)
    for edge, words in graph.faulty:
        _edge(check, graph.nodes.get(edge.source) or graph.nodes.get(edge.target), edge.source, words)
    _ends(check)
    for node in workflow.nodes:
        check_node(check, node)
        check_route(check, node)
    check_writes(check)
    return tuple(sorted(check.found, key=lambda fault: _SEVERITIES.index(fault.severity))[:MOST_FAULTS])


def shape_faults(workflow: Workflow) -> tuple[Fault, ...]:
    """What has to be right before anything else can be looked at: its size, its ids, what stands in what."""
    return tuple(_size(workflow) or _shape(workflow))


def errors(found: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """Those with which it cannot be saved as a variant."""
    return tuple(fault for fault in found if fault.severity == "error")


def _size(workflow: Workflow) -> list[Fault]:
    if len(workflow.nodes) > MOST_NODES:
        words = f"The workflow has {len(workflow.nodes)} nodes; {MOST_NODES} is the most."
        return [Fault(text=f"{words} Move some into a workflow of their own and call that as an agent.")]
    if (size := len(workflow.model_dump_json().encode())) > LARGEST:
        words = f"The workflow has {size / 1000:,.0f} kB; {LARGEST // 1000} kB is the most."
        return [Fault(text=f"{words} Long texts belong into files or agents.")]
    return []


def _shape(workflow: Workflow) -> list[Fault]:
    nodes = workflow.by_id()
    found: list[Fault] = []
    seen: set[str] = set()
    for node in workflow.nodes:
        if node.id in seen:
            words = "has the id of another node. Paste it again, or give it another id."
            found.append(Fault(node=node.id, text=f"{titled(node)} {words}"))
        seen.add(node.id)
        if words := _scope_fault(node, nodes):
            found.append(Fault(node=node.id, field="scope", text=f"{titled(node)} {words}"))
    return found


def _scope_fault(node: Node, nodes: Mapping[str, Node]) -> str:
    scope, seen = node.scope, {node.id}
    while scope:
        if not isinstance(nodes.get(scope), MapNode | LoopNode):
            return f"stands in “{scope}”, and there is no map or loop of that id. Take it out."
        if scope in seen:
            return "stands in itself. Take it out of the map or loop that it stands in."
        seen.add(scope)
        if len(seen) > DEEPEST_SCOPE + 1:
            return f"stands in more than {DEEPEST_SCOPE} maps and loops in each other. Take it out of some."
        scope = nodes[scope].scope
    return ""


def _edge(check: Checking, node: Node | None, source: str, words: str) -> None:
    if node is None:
        check.found.append(Fault(text=f"“{source}” {words}"))
    else:
        check.add(node, "edges", words)


def _ends(check: Checking) -> None:
    """Where it begins and ends, and what is not on the way from there to here."""
    nodes, top = check.graph.nodes, check.graph.bodies.get("", [])
    begins = [id_ for id_ in top if isinstance(nodes[id_], InputNode)]
    ends = [id_ for id_ in top if isinstance(nodes[id_], OutputNode)]
    for node in nodes.values():
        if isinstance(node, InputNode | OutputNode) and node.scope:
            check.add(node, "scope", f"stands in “{node.scope}”. A run begins and ends outside: take it out.")
        if node.id in GIVEN_NAMES and not (isinstance(node, InputNode) and node.id == INPUT):
            check.add(node, "", "has an id that means something else in bindings. Add it anew under another title.")
    if len(begins) != 1:
        words = f"has {len(begins)} inputs. Leave one." if begins else "has no input. Add one."
        check.found.append(Fault(node=begins[1] if begins else "", text=f"The workflow {words}"))
    reached = check.graph.reached(begins)
    if not reached & set(ends):
        words = "Connect an output to the input." if ends else "Add an output and connect it."
        check.found.append(Fault(node=ends[0] if ends else "", text=f"The workflow never comes to an answer. {words}"))
    leading = check.graph.reached(ends, backwards=True)
    for id_ in top:
        _on_the_way(check, nodes[id_], reached=id_ in reached, leads_on=id_ in leading)


def _on_the_way(check: Checking, node: Node, *, reached: bool, leads_on: bool) -> None:
    if isinstance(node, NoteNode | InputNode):
        return
    tool = check.world.tools.get(node.tool) if isinstance(node, ToolNode) else None
    if not reached:
        check.add(node, "edges", "is never reached. Connect it, or remove it.", "warning")
    elif not leads_on and not (tool and tool.side_effects):
        check.add(node, "edges", "leads to no output. Connect it, or remove it.", "warning")
