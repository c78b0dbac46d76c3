"""Workflows that run: one with a node of each kind, and ones at random."""

from random import Random

from app.domain.workflows.document import (
    AgentNode,
    ApprovalNode,
    BranchCase,
    BranchNode,
    Carried,
    Edge,
    FixedValue,
    FoundValue,
    JoinNode,
    LoopNode,
    MapNode,
    Node,
    OutputNode,
    Template,
    ToolNode,
    TransformNode,
    Workflow,
)
from tests.domain.workflows.random_workflows import random_workflow
from tests.domain.workflows.worlds import workflow

CODES = ("1 + 1", "1 / 0", "LEN([input.text])")


def sends(id_: str, text: str, *, scope: str = "", tool: str = "post") -> ToolNode:
    named = "text" if tool == "post" else "line"
    return ToolNode(id=id_, scope=scope, tool=tool, arguments={named: Template(text=text)})


def of_each_kind(agent: str = "writer", tool: str = "post", nested: str = "") -> Workflow:
    """Asks the agent, sends things that cannot be taken back, asks a person; what it answers is always the same.

    `nested` is an agent that is a workflow and is asked beside these.
    """
    inside = (AgentNode(id="nest", agent=nested, message=Template(text="{{input.text}}")),) if nested else ()
    nodes = (
        sends("first", "first of {{input.text}}", tool=tool),
        AgentNode(id="draft", agent=agent, message=Template(text="draft {{input.text}}")),
        TransformNode(
            id="shout", language="python", code="inputs['it'].upper()", inputs={"it": FoundValue(path="draft")}
        ),
        BranchNode(id="pick", cases=(BranchCase(name="long", formula="LEN([shout]) > 5"),)),
        MapNode(id="each", items=FixedValue(value=["a", "b", "c"]), gives=Template(text="{{index}} {{part}} {{sent}}")),
        sends("sent", "item {{item}} of {{input.text}}", scope="each", tool=tool),
        TransformNode(id="part", scope="each", code="join('-', [item, input.text])"),
        LoopNode(
            id="again", until="[carry.n] > 2", most=5,
            carry={"n": Carried(first=FixedValue(value=1), next=FoundValue(path="more"))},
        ),
        TransformNode(id="more", scope="again", language="formula", code="[carry.n] + 1"),
        sends("round", "round {{carry.n}} of {{input.text}}", scope="again", tool=tool),
        ApprovalNode(id="ask", question="Go on with {{draft}}?"),
        JoinNode(id="all", values={"each": FoundValue(path="each"), "again": FoundValue(path="again.n")}),
        *inside,
    )  # fmt: skip
    wires = (
        "input > first", "first > draft", "draft > shout", "shout > pick", "pick:long > each", "pick:long > again",
        "pick:long > ask", "pick:else > output", "each > all", "again > all", "ask:approved > all",
        "ask:denied > output", "all > output", "more > round", *(["pick:long > nest", "nest > all"] if nested else ()),
    )  # fmt: skip
    answer = "{{first}} {{shout}} {{all ?? nothing}}"
    return workflow(*nodes, wires=wires, answer=f"{answer} {{{{nest ?? nothing}}}}" if nested else answer)


def random_flow(random: Random, most: int = 7) -> Workflow:
    """One whose nodes end by themselves, well or not."""
    made = random_workflow(random, most)
    nodes = tuple(_ending(random, node) for node in made.nodes)
    ends = [
        node.id for node in nodes if not node.scope and isinstance(node, TransformNode | JoinNode | MapNode | LoopNode)
    ]
    output = OutputNode(id="the_output", value=Template(text="{{input.text}}"))
    edges = [Edge(source=id_, target=output.id) for id_ in ("input", *ends[:3])]
    return Workflow(nodes=(*nodes, output), edges=(*made.edges, *edges))


def _ending(random: Random, node: Node) -> Node:  # noqa: PLR0911  a kind each
    match node:
        case ToolNode():
            common = node.model_dump(include={"id", "scope", "on_error"})
            code = random.choice([CODES[0], CODES[0], CODES[0], CODES[2], CODES[1]])
            return TransformNode(language="formula", code=code, **common)
        case BranchNode():
            formulas = (random.choice(["1 = 1", "1 = 2", "1 = 2"]) for _ in node.cases)
            cases = tuple(
                case.model_copy(update={"formula": one}) for case, one in zip(node.cases, formulas, strict=True)
            )
            return node.model_copy(update={"cases": cases})
        case MapNode():
            return node.model_copy(update={"items": FixedValue(value=[*range(random.randint(0, 3))]), "at_once": 2})
        case LoopNode():
            return node.model_copy(update={"until": random.choice(["1 = 2", "[round] = 1"])})
        case ApprovalNode():
            return node.model_copy(update={"question": "Well?"})
        case OutputNode():
            return node.model_copy(update={"value": Template(text="here")})
        case _:
            return node
