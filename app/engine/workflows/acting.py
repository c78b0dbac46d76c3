"""What the nodes do that do something: each kind by its own file."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never

from pydantic import JsonValue

from app.domain.errors import ToolError, ToolTimedOut
from app.domain.workflows.document import (
    AgentNode,
    ApprovalNode,
    LoopNode,
    MapNode,
    Node,
    ToolNode,
    TransformNode,
)
from app.engine.workflows.agents import ask_agent
from app.engine.workflows.approvals import ask_person
from app.engine.workflows.given import Given, NodeFailed
from app.engine.workflows.scopes import each, repeat
from app.engine.workflows.tools import call_tool

if TYPE_CHECKING:
    from app.engine.workflows.trying import Trying

Inputs = Mapping[str, JsonValue]


async def act(trying: "Trying", node: Node, inputs: Inputs) -> Given:
    """What came of it. Raises `NodeFailed`."""
    match node:
        case AgentNode():  # what it starts knows how long it may take, as what a tool does
            return await ask_agent(trying, node, inputs)
        case ToolNode():
            with trying.run.stopwatch.part():
                return await call_tool(trying, node, inputs)
        case MapNode() | LoopNode() | ApprovalNode() | TransformNode():
            try:
                async with asyncio.timeout(node.timeout):
                    return await _in_time(trying, node, inputs)
            except TimeoutError as error:
                trying.withdraw()
                raise NodeFailed(f"It took longer than {node.timeout:g} seconds.") from error
        case _:
            raise ValueError(f"{node.kind} has given its value already")


async def _in_time(trying: "Trying", node: MapNode | LoopNode | ApprovalNode | TransformNode, inputs: Inputs) -> Given:
    match node:
        case MapNode():
            return await each(trying, node, inputs)
        case LoopNode():
            return await repeat(trying, node, inputs)
        case ApprovalNode():
            with trying.run.stopwatch.part():
                return await ask_person(trying, node, inputs)
        case TransformNode(code=code):
            with trying.run.stopwatch.part():
                return await _python(trying, code, inputs)
        case _:
            assert_never(node)


async def _python(trying: "Trying", code: str, inputs: Inputs) -> Given:
    try:
        return Given(await trying.computing.python(code, inputs))
    except ToolError as error:
        raise NodeFailed(str(error), may_pass=isinstance(error, ToolTimedOut)) from error
