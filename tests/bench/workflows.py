"""W2: how long the check, the layout and an operation take of a workflow of 300 nodes of all kinds, at quiet speed.

While a workflow is built, each check finds nearly all expressions read already; the first has to read them.
"""

import time
from collections.abc import Callable

from app.domain.workflows.checking import faults
from app.domain.workflows.document import (
    AgentNode,
    ApprovalNode,
    BranchCase,
    BranchNode,
    Calculated,
    Edge,
    FixedValue,
    FoundValue,
    InputNode,
    JoinNode,
    MapNode,
    Node,
    OutputNode,
    Template,
    ToolNode,
    TransformNode,
    Workflow,
    ports,
)
from app.domain.workflows.layout import tidied
from app.domain.workflows.operations import connected, moved
from app.domain.workflows.schedule import Place, Schedule
from tests.bench.yardstick import slower, work
from tests.domain.workflows.worlds import world
from tests.figures import Figure

NODES = 300
WIDE = 6
"""Nodes beside each other."""
ROUNDS = 100
MOST_CHECK_MS, MOST_LAYOUT_MS = 20, 5


def run(nodes: int = NODES, rounds: int = ROUNDS) -> list[Figure]:
    workflow, first, around = large(nodes), large(nodes, "first"), world()
    faults(large(12), around)  # what is imported once
    began = time.perf_counter()
    found = faults(first, around)
    cold = (time.perf_counter() - began) * 1000
    if found:
        raise RuntimeError(found[0].text)
    spread = {node.id: (node.x + 1, node.y) for node in workflow.nodes[:1]}
    stick, *took = best(
        rounds,
        work,
        lambda: faults(workflow, around),
        lambda: tidied(workflow),
        lambda: moved(workflow, spread),
        lambda: connected(workflow, "input", "next", "output"),
        lambda: walked(workflow),
    )
    check, layout, move, edge, schedule = (ms / slower(stick) for ms in took)
    return [
        bar(f"W2 check of {nodes} nodes, each expression read before", check),
        Figure(f"W2 check of {nodes} nodes, the first", f"{cold:.0f} ms", "no bar", passed=True),
        bar(f"W2 layout of {nodes} nodes", layout, MOST_LAYOUT_MS),
        bar(f"W2 a node moved among {nodes}", move),
        bar(f"W2 an edge more among {nodes}", edge),
        bar(f"W2 schedule of {nodes} nodes, a node", schedule / nodes, MOST_LAYOUT_MS),
    ]


def bar(name: str, ms: float, most: float = MOST_CHECK_MS) -> Figure:
    return Figure(name, f"{ms:.3g} ms", f"<= {most} ms", ms <= most)


def best(rounds: int, *acts: Callable[[], object]) -> list[float]:
    """Milliseconds of each, the least: the machine has other work too, for a second at a time, so they take turns."""
    took: list[list[float]] = [[] for _ in acts]
    for _ in range(rounds):
        for act, all_ in zip(acts, took, strict=True):
            began = time.perf_counter()
            act()
            all_.append((time.perf_counter() - began) * 1000)
    return [min(all_) for all_ in took]


def large(nodes: int, salt: str = "") -> Workflow:
    """Columns of six, of all kinds; each node reads one of the column before."""
    made: list[Node] = [InputNode(id="input")]
    edges: list[Edge] = []
    for number in range(nodes - 2):
        before = made[max(0, number + 1 - WIDE)] if number >= WIDE else made[0]
        before = made[0] if before.scope else before
        made.append(_node(number, before.id, salt))
        if not made[-1].scope:
            edges += _edges(before, made[-1].id)
            if number % 3 == 0 and number > WIDE and not (other := made[number - WIDE + 2]).scope:
                edges += _edges(other, made[-1].id)
    made.append(OutputNode(id="output", value=Template(text="{{input.text}}")))
    leading = {edge.source for edge in edges}
    for node in made[1:-1]:
        if node.id not in leading and not node.scope:
            edges += _edges(node, "output")
    return Workflow(nodes=tuple(made), edges=tuple(dict.fromkeys(edges)))


def _edges(source: Node, target: str) -> list[Edge]:
    return [Edge(source=source.id, port=port, target=target) for port in ports(source)]


def _node(number: int, before: str, salt: str) -> Node:
    id_, text = f"n{number}", Template(text=f"{{{{{before}}}}} and {{{{input.text}}}} {salt}")
    match number % 10:
        case 0 | 1:
            node: Node = AgentNode(id=id_, agent="critic", message=text)
        case 2 | 3:
            tries = Calculated(formula=f'LEN("{salt}{number}")') if number % 2 else FixedValue(value=3)
            node = ToolNode(id=id_, tool="fetch", arguments={"url": text, "tries": tries})
        case 4:
            node = TransformNode(id=id_, code=f"{before}.items[?name == '{salt}{number}'].price")
        case 5:
            case = BranchCase(name="long", formula=f'LEN({before}) > {number} + LEN("{salt}")')
            node = BranchNode(id=id_, cases=(case,))
        case 6:
            node = MapNode(id=id_, items=FixedValue(value=["a", "b"]), gives=FoundValue(path=f"n{number + 1}"))
        case 7:
            node = AgentNode(id=id_, agent="writer", message=Template(text="{{item}}"), scope=f"n{number - 1}")
        case 8:
            node = ApprovalNode(id=id_, question=f"{text.text} Well?")
        case _:
            node = JoinNode(id=id_, values={"a": FoundValue(path=before)})
    return node


def walked(workflow: Workflow) -> None:
    """All nodes, one after the other; of what repeats one round."""
    schedule, nodes = Schedule(workflow), workflow.by_id()
    todo = list(schedule.begin().ready)
    while todo:
        place = todo.pop()
        schedule.start(place)
        if isinstance(nodes[place.node], MapNode):
            [inner] = schedule.open(place, 0).ready
            schedule.start(inner)
            schedule.end(inner, port="next")
        port = next(iter(ports(nodes[place.node])), None)
        todo += schedule.end(place, port=port).ready
    if schedule.state(Place("output")) != "done":
        raise RuntimeError("The output was not reached.")
