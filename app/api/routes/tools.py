"""REST for tools: listed, turned on and off, described, called by hand."""

import difflib
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.api.door.access import agents_for, managers_only
from app.api.door.caller import Caller
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, ListEnvelope, Reply
from app.domain.agents import tools_of
from app.domain.errors import NotFound
from app.domain.messages import ResultPart, ToolStatus
from app.domain.tool_settings import ToolSetting
from app.domain.tools import JsonSchema, canonical_name
from app.domain.values import Text
from app.tools.registry import ListedTool
from app.workbench import Workbench

_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
}
_TOOL: dict[str, JsonValue] = {
    "name": "calculator",
    "title": "Calculator",
    "icon": "calculate",
    "source": "built-in",
    "kit": "",
    "enabled": True,
    "description": "Add, subtract, multiply, divide, or raise to a power.",
    "own_description": "Add, subtract, multiply, divide, or raise to a power.",
    "parameters": _SCHEMA,
    "schema": _SCHEMA,
    "idempotent": True,
    "side_effects": False,
    "handles": [],
}


class ToolReply(Reply):
    """A tool as models are told of it."""

    model_config = ConfigDict(json_schema_extra={"examples": [_TOOL]})

    name: str
    title: str
    icon: str
    """The name of a Material icon."""
    source: str
    """Where it comes from."""
    kit: str
    enabled: bool
    """Whether agents may use it."""
    description: str
    """What models are told."""
    own_description: str
    """What it says of itself; another text only where somebody replaced it."""
    parameters: JsonSchema
    """The JSON Schema of its arguments, as models are sent it."""
    schema_: JsonSchema = Field(serialization_alias="schema")
    """The same."""
    idempotent: bool
    side_effects: bool
    handles: tuple[str, ...]
    """Media types of files that it takes."""


class ToolChange(BaseModel):
    """What is to be different; a `description` of null brings the tool's own back."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"enabled": False}]})

    enabled: bool = Field(True, strict=True)
    description: Annotated[Text, Field(max_length=20_000)] | None = None


class CallRequest(BaseModel):
    """What a tool is called with."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"arguments": {"operation": "add", "x": 5, "y": 10}}]}
    )

    arguments: dict[str, JsonValue] = {}


class CallReply(Reply):
    """What came of the call."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "status": "ok",
                    "output": "5 + 10 = 15",
                    "parts": [{"type": "text", "text": "5 + 10 = 15"}],
                    "printed": "",
                    "ms": 0.4,
                }
            ]
        }
    )

    status: ToolStatus
    output: str
    """The text of the result; of a call that failed, why."""
    parts: tuple[ResultPart, ...]
    printed: str
    ms: float


router = resource("/tools", "Tools")


@router.get("")
async def list_tools(workbench: Here, caller: Asking) -> ListEnvelope[ToolReply]:
    """Every tool, those that are off too."""
    tools = [_reply(listed) for listed in _tools_for(workbench, caller).values()]
    return ListEnvelope(data=tools, count=len(tools))


@router.get("/{name}")
async def get_tool(name: str, workbench: Here, caller: Asking) -> Envelope[ToolReply]:
    """The tool of that name, written with `-` or `_`."""
    return Envelope(data=_reply(found(workbench, caller, name)))


@router.put("/{name}")
async def change_tool(name: str, body: ToolChange, workbench: Here, caller: Asking) -> Envelope[ToolReply]:
    """Turn it on or off, replace what models are told of it."""
    listed = found(workbench, caller, name)
    managers_only(caller, "change tools")
    await workbench.data.tool_settings.save(listed.spec.name, changed(listed.setting, body))
    return Envelope(data=_reply(found(workbench, caller, name)))


@router.post("/{name}/call")
async def call_tool(name: str, body: CallRequest, workbench: Here, caller: Asking) -> Envelope[CallReply]:
    """Call it by hand, under its time-out; what a tool asks is declined, since nobody is there."""
    tool = found(workbench, caller, name).spec.name
    managers_only(caller, "call tools by hand")
    return Envelope(data=await _called(workbench, tool, body.arguments))


def found(workbench: Workbench, caller: Caller, name: str) -> ListedTool:
    """The tool of that name, written with `-` or `_`. Raises `NotFound` with the names that are near."""
    tools = _tools_for(workbench, caller)
    if (listed := tools.get(canonical_name(name))) is not None:
        return listed
    near = difflib.get_close_matches(canonical_name(name), tools, n=3)
    guess = f" Did you mean {' or '.join(near)}?" if near else " GET /api/v1/tools lists all there are."
    raise NotFound(f"There is no tool {name!r}.{guess}")


def _tools_for(workbench: Workbench, caller: Caller) -> dict[str, ListedTool]:
    """By name all tools, or for whom only certain agents are there those of these agents."""
    tools = {listed.spec.name: listed for listed in workbench.tools.listed()}
    if caller.manages:
        return tools
    choices = (
        choice.name for agent in agents_for(workbench, caller) for choice in tools_of(agent.active_variant.behaviour)
    )
    theirs = {spec.name for spec in workbench.tools.specs(tuple(choices))}
    return {name: listed for name, listed in tools.items() if name in theirs}


def changed(setting: ToolSetting, change: ToolChange) -> ToolSetting:
    """The setting with what the change names; a blank description is the tool's own."""
    values: dict[str, object] = {name: getattr(change, name) for name in change.model_fields_set}
    if change.description is not None and not change.description.strip():
        values["description"] = None
    return setting.model_copy(update=values)


async def _called(workbench: Workbench, tool: str, arguments: dict[str, JsonValue]) -> CallReply:
    call = workbench.hand_calls.start(tool, arguments, unattended=True)
    try:
        await call.ended()
    finally:
        call.cancel()
    outcome = call.outcome
    if outcome is None:
        raise RuntimeError(f"The call of {tool} ended without an outcome")
    return CallReply(
        status=outcome.status, output=outcome.text, parts=outcome.parts, printed=outcome.printed, ms=outcome.ms
    )


def _reply(listed: ListedTool) -> ToolReply:
    spec = listed.spec
    return ToolReply(
        name=spec.name,
        title=spec.title,
        icon=spec.icon,
        source=listed.source,
        kit=spec.kit,
        enabled=listed.setting.enabled,
        description=spec.description,
        own_description=listed.tool.spec.description,
        parameters=spec.parameters,
        schema_=spec.parameters,
        idempotent=spec.idempotent,
        side_effects=spec.side_effects,
        handles=spec.handles,
    )
