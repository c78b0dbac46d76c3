"""What the nodes do that do something: each kind by its own file."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
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
from app.engine.run.stopwatch import Stopwatch
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
            with trying.run.working(trying.inner):
                return await call_tool(trying, node, inputs)
        case MapNode() | LoopNode() | ApprovalNode() | TransformNode():
            try:
                async with _timed(trying, node):
                    return await _in_time(trying, node, inputs)
            except TimeoutError as error:
                trying.withdraw()
                s = "" if node.timeout == 1 else "s"
                raise NodeFailed(f"It took longer than {node.timeout:g} second{s}.") from error
        case _:
            raise ValueError(f"{node.kind} has given its value already")


@asynccontextmanager
async def _timed(trying: "Trying", node: MapNode | LoopNode | ApprovalNode | TransformNode) -> AsyncIterator[None]:
    """Raises `TimeoutError`. In a map or loop only what is worked counts, not what waits for a person."""
    if node.timeout is None:
        yield
        return
    stopwatch = Stopwatch(node.timeout)
    if isinstance(node, MapNode | LoopNode):
        trying.run.scopes[trying.call_id] = stopwatch
    try:
        async with stopwatch.timer:
            yield
    finally:
        trying.run.scopes.pop(trying.call_id, None)


async def _in_time(trying: "Trying", node: MapNode | LoopNode | ApprovalNode | TransformNode, inputs: Inputs) -> Given:
    match node:
        case MapNode():
            return await each(trying, node, inputs)
        case LoopNode():
            return await repeat(trying, node, inputs)
        case ApprovalNode():
            with trying.run.working(trying.inner):
                return await ask_person(trying, node, inputs)
        case TransformNode(code=code):
            with trying.run.working(trying.inner):
                return await _python(trying, code, inputs)
        case _:
            assert_never(node)


async def _python(trying: "Trying", code: str, inputs: Inputs) -> Given:
    try:
        return Given(await trying.computing.python(code, inputs))
    except ToolError as error:
        raise NodeFailed(str(error), may_pass=isinstance(error, ToolTimedOut)) from error
