"""REST for tools: listed, turned on and off, described, called by hand."""

import difflib

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, JsonValue

from app.api.envelopes import Envelope, ListEnvelope, read_body, refused
from app.domain.errors import NotFound, WorkbenchError
from app.domain.messages import ResultPart, ToolStatus
from app.domain.tool_settings import ToolSetting
from app.domain.tools import JsonSchema, canonical_name
from app.domain.values import Text, Value
from app.tools.registry import ListedTool
from app.workbench import Workbench


class ToolReply(Value):
    name: str
    title: str
    source: str
    kit: str
    enabled: bool
    """Whether agents may use it."""
    description: str
    """What models are told."""
    own_description: str
    """What it says of itself; another text only where somebody replaced it."""
    parameters: JsonSchema
    idempotent: bool
    side_effects: bool
    handles: tuple[str, ...]


class ToolChange(BaseModel):
    """What is to be different; a `description` of null brings the tool's own back."""

    model_config = ConfigDict(extra="forbid", strict=True)

    enabled: bool = True
    description: Text | None = None


class CallRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    arguments: dict[str, JsonValue] = {}


class CallReply(Value):
    status: ToolStatus
    output: str
    """The text of the result; of a call that failed, why."""
    parts: tuple[ResultPart, ...]
    printed: str
    ms: float


def tool_routes(workbench: Workbench) -> APIRouter:
    router = APIRouter(prefix="/tools")

    @router.get("", response_model=ListEnvelope[ToolReply])
    async def list_tools() -> ListEnvelope[ToolReply]:
        """Every tool, those that are off too."""
        tools = [_reply(listed) for listed in workbench.tools.listed()]
        return ListEnvelope(data=tools, count=len(tools))

    @router.get("/{name}", response_model=Envelope[ToolReply])
    async def get_tool(name: str) -> Envelope[ToolReply] | JSONResponse:
        try:
            return Envelope(data=_reply(found(workbench, name)))
        except WorkbenchError as error:
            return refused(error)

    @router.put("/{name}", response_model=Envelope[ToolReply])
    async def change_tool(name: str, request: Request) -> Envelope[ToolReply] | JSONResponse:
        """Turn it on or off, replace what models are told of it: `{"enabled"?, "description"?}`."""
        try:
            listed = found(workbench, name)
            change = await read_body(request, ToolChange)
            setting = changed(listed.setting, change)
            await workbench.data.tool_settings.save(listed.spec.name, setting)
            return Envelope(data=_reply(found(workbench, name)))
        except WorkbenchError as error:
            return refused(error)

    @router.post("/{name}/call", response_model=Envelope[CallReply])
    async def call_tool(name: str, request: Request) -> Envelope[CallReply] | JSONResponse:
        """Call it with `{"arguments": {…}}`, under its time-out; what a tool asks is declined, nobody is there."""
        try:
            tool = found(workbench, name).spec.name
            wanted = await read_body(request, CallRequest)
        except WorkbenchError as error:
            return refused(error)
        return Envelope(data=await _called(workbench, tool, wanted.arguments))

    return router


def found(workbench: Workbench, name: str) -> ListedTool:
    """The tool of that name, written with `-` or `_`. Raises `NotFound` with the names that are near."""
    tools = {listed.spec.name: listed for listed in workbench.tools.listed()}
    if (listed := tools.get(canonical_name(name))) is not None:
        return listed
    near = difflib.get_close_matches(canonical_name(name), tools, n=3)
    guess = f" Did you mean {' or '.join(near)}?" if near else " GET /api/v1/tools lists all there are."
    raise NotFound(f"There is no tool {name!r}.{guess}")


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
        source=listed.source,
        kit=spec.kit,
        enabled=listed.setting.enabled,
        description=spec.description,
        own_description=listed.tool.spec.description,
        parameters=spec.parameters,
        idempotent=spec.idempotent,
        side_effects=spec.side_effects,
        handles=spec.handles,
    )
