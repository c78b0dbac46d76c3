"""How nodes are told: what one does on a line, and its name for people."""

import json
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
