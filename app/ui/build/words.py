"""How nodes are told: a name and a picture for each kind, what one does on a line, and its name for people."""

import json
from collections.abc import Mapping
from typing import assert_never

from app.domain.workflows.document import (
    AgentNode,
    ApprovalNode,
    Binding,
    BranchNode,
    Calculated,
    FixedValue,
    FoundValue,
    InputNode,
    JoinNode,
    Kind,
    LoopNode,
    MapNode,
    Node,
    NoteNode,
    OutputNode,
    Template,
    ToolNode,
    TransformNode,
)
from app.ui.elements.format import head, plural

KINDS: Mapping[Kind, tuple[str, str, str]] = {
    "input": ("Input", "input", "Where a run begins"),
    "output": ("Output", "output", "What the run answers"),
    "agent": ("Agent", "smart_toy", "Asks one of your agents, or another workflow"),
    "tool": ("Tool", "build", "Calls a tool"),
    "transform": ("Transform", "transform", "Makes a value of others: JMESPath, formula or Python"),
    "branch": ("Branch", "call_split", "Goes on one way or another"),
    "map": ("Map", "repeat", "Does its body for each item of a list"),
    "loop": ("Loop", "loop", "Does its body until a formula holds"),
    "approval": ("Approval", "how_to_reg", "Asks a person"),
    "join": ("Join", "call_merge", "Goes on once some or all of several ways are there"),
    "note": ("Note", "sticky_note_2", "Words on the canvas"),
}
"""By kind: title, icon and what it is for."""
LONGEST_LINE = 60


def title_of(node: Node) -> str:
    """What people call it."""
    return node.title or node.id


def line_of(node: Node) -> str:
    """What it does, on a line."""
    return head(_line(node), LONGEST_LINE)


def binding_line(binding: Binding) -> str:
    """The binding as somebody would write it."""
    match binding:
        case FixedValue(value=value):
            return "" if value is None else json.dumps(value, ensure_ascii=False)
        case Template(text=text):
            return text
        case FoundValue(path=path):
            return path
        case Calculated(formula=formula):
            return formula
        case _:
            assert_never(binding)


def _line(node: Node) -> str:  # noqa: PLR0911  a line for each kind
    match node:
        case InputNode():
            names = node.takes.get("properties")
            return ", ".join(names) if isinstance(names, dict) else "any value"
        case OutputNode():
            return binding_line(node.value)
        case AgentNode():
            return f"{node.agent or 'no agent yet'}{'' if node.variant is None else f' v{node.variant}'}"
        case ToolNode():
            return node.tool or "no tool yet"
        case TransformNode():
            return node.code or "nothing yet"
        case BranchNode():
            return plural(len(node.cases), "case")
        case MapNode():
            return f"each of {binding_line(node.items) or '…'}"
        case LoopNode():
            return f"until {node.until or '…'}, {node.most or '?'} rounds at most"
        case ApprovalNode():
            return node.question or "no question yet"
        case JoinNode():
            return f"needs {node.need}"
        case NoteNode():
            return node.note
        case _:
            assert_never(node)
