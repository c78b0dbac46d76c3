"""A node calls a tool: under its policy and limits, as an agent's call."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.domain.messages import FilePart, TextPart, ToolCall, ToolResult
from app.domain.tools import stricter
from app.domain.trace.nodes import value_of
from app.domain.workflows.document import ToolNode
from app.engine.loop.calling import answer_call
from app.engine.loop.results import whole_name
from app.engine.workflows.given import Given, NodeFailed

if TYPE_CHECKING:
    from app.engine.workflows.trying import Trying


async def call_tool(trying: "Trying", node: ToolNode, arguments: Mapping[str, JsonValue]) -> Given:
    """What it returns, read as JSON where it is. Raises `NodeFailed`."""
    run, call_id = trying.run, trying.inner
    result = trying.past.returned(call_id)
    if result is None:
        left = trying.past.left(ToolCall(call_id=call_id, name=node.tool, arguments=dict(arguments)))
        granted = run.granted(node.tool)
        if granted is not None:
            granted = granted.model_copy(update={"policy": stricter(granted.policy, node.policy)})
        result = await answer_call(run, left, granted, seconds=node.timeout)
        await run.recorder.flush()
    if result.failed:
        raise NodeFailed(result.text, may_pass=_may_pass(trying, node, result))
    return await _given(trying, node, result)


def _may_pass(trying: "Trying", node: ToolNode, result: ToolResult) -> bool:
    granted = trying.run.granted(node.tool)
    return result.status in ("error", "timeout") and granted is not None and granted.spec.idempotent


async def _given(trying: "Trying", node: ToolNode, result: ToolResult) -> Given:
    files = (part for part in result.parts if isinstance(part, FilePart))
    whole = next((part for part in files if part.filename == whole_name(node.tool)), None)
    if whole is None:
        return Given(value_of(result), as_returned=True)
    text = (await trying.run.artifacts.get(whole.artifact)).decode(errors="replace")
    return Given(value_of(result.model_copy(update={"parts": (TextPart(text=text),)})))
