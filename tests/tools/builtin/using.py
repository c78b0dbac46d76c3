"""Calls of tools as the engine makes them."""

from app.domain.messages import ToolCall
from app.domain.tools import ToolOutput
from app.tools.ports import RunnableTool
from app.tools.registry import Registry
from tests.tools.context import Context


async def output_of(tool: RunnableTool, context: Context | None = None, **arguments: object) -> ToolOutput:
    call = ToolCall.model_validate({"call_id": "1", "name": tool.spec.name, "arguments": arguments})
    return await Registry([tool]).call(call, context or Context())


async def told_by(tool: RunnableTool, context: Context | None = None, **arguments: object) -> str:
    """The text of what the tool returned."""
    output = await output_of(tool, context, **arguments)
    return "\n".join(part.text for part in output.parts if part.type == "text")
