"""What a person has decided about tools: which are on, which files may run, which servers and requests were added."""

from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, JsonValue, field_validator

from app.domain.agents import Behaviour, ToolChoice, by_prompt, tools_of
from app.domain.apps import AppConsent
from app.domain.tools import Policy, ToolSpec, canonical_name
from app.domain.values import Value


class ToolSetting(Value):
    """Of one tool, by its name."""

    enabled: bool = True
    description: str | None = None
    """What models are told in place of the tool's own description."""


class TrustedFile(Value):
    """A tool file whose owner allowed it to run; edits of it keep that."""

    path: str
    """Absolute."""
    interpreter: str = ""
    """The Python that runs it, for packages of its own; empty for the app's."""
    trusted_at: datetime


class SavedCall(Value):
    """Arguments for a call by hand, kept under a name."""

    id: str
    tool: str
    name: str
    arguments: dict[str, JsonValue] = {}
    created_at: datetime


FieldType = Literal["string", "number", "integer", "boolean"]


class HttpField(Value):
    """One argument of a tool made from an HTTP request."""

    name: str
    type: FieldType = "string"
    description: str = ""
    required: bool = True
    place: Literal["address", "query", "header", "body"] = "query"
    """Where it goes; `address` fills the `{name}` in the address."""


class HttpTool(Value):
    """A tool made from a form: it sends one HTTP request."""

    name: str
    description: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    address: str
    """`https://…`, with `{field}` where a field belongs."""
    fields: tuple[HttpField, ...] = ()
    headers: dict[str, str] = {}
    """Sent with every request; a value `$NAME` is read from the environment when it is sent, and never stored."""
    allow_private: bool = False
    """Whether it may reach this computer and private networks; its owner named the address."""
    waits: bool = False
    """It was posted, and is no tool before its owner has looked at it on its page and saved it."""


class StdioTransport(Value):
    type: Literal["stdio"] = "stdio"
    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    """All that the process gets of an environment beside PATH, HOME and the like. `$NAME` reads the app's own."""
    cwd: str = ""


class HttpTransport(Value):
    type: Literal["http"] = "http"
    url: str
    headers: dict[str, str] = {}
    """A value `$NAME` or `Bearer $NAME` is read from the environment when it is sent."""


Transport = Annotated[StdioTransport | HttpTransport, Field(discriminator="type")]


class McpGrant(Value):
    """How this app is known where one signs in for a server, and what its owner granted; no secret is in it."""

    url: str
    """The server's address that it is for, and for no other."""
    issuer: str = ""
    """The authorization server that gave it; empty for a client that was entered by hand and not used yet."""
    client_id: str
    by_hand: bool = False
    """Whether its owner registered the client there, rather than this app."""
    auth_method: str = "none"
    redirect_uri: str = ""
    """Where it was registered to come back to."""
    client_scope: str = ""
    """What it was registered for, where that binds it."""
    resource: str = ""
    token_endpoint: str = ""
    revocation_endpoint: str = ""
    host: str = ""
    """Where its owner signed in, with the port."""
    scope: str = ""
    who: str = ""
    """Whom the authorization server says it signed in; empty where it does not."""
    ends_at: datetime | None = None
    """When the access token ends, `None` where that was not said."""


class McpServer(Value):
    """An MCP server that somebody added."""

    name: str
    """Letters, digits, `_` and `-`; its tools are called `name__tool`."""
    transport: Transport
    enabled: bool = True
    consented: str = ""
    """The digest of the transport that its owner agreed to start; another one asks again."""
    seen_tools: tuple[ToolSpec, ...] | None = None
    """Its tools as they were last agreed to; `None` before the first connection."""
    grant: McpGrant | None = None
    """Where one has signed in for it, or entered a client by hand."""
    apps: AppConsent = AppConsent()
    """What its views ask for, and what of that its owner allows."""

    @field_validator("seen_tools")
    @classmethod
    def _without_hints(cls, tools: tuple[ToolSpec, ...] | None) -> tuple[ToolSpec, ...] | None:
        """An earlier version stored as a fact what the server only claimed."""
        return tools and tuple(one.model_copy(update={"idempotent": False, "side_effects": True}) for one in tools)


def policy_of(behaviour: Behaviour, name: str, kit: str = "") -> Policy:
    """What holds for the tool or kit of that name: what is said of a tool goes before what is said of its kit."""
    said = {canonical_name(choice.name): choice.policy for choice in tools_of(behaviour)}
    return said.get(name) or (said.get(kit) if kit else None) or "off"


def with_tool(behaviour: Behaviour, name: str, policy: Policy, *, instead: Collection[str] = ()) -> Behaviour:
    """The behaviour with that tool or kit granted, in place of what it said of it and of the tools in `instead`.

    Raises `WorkbenchError` for a workflow, whose nodes have tools.
    """
    replaced, behaviour = {name, *instead}, by_prompt(behaviour)
    others = tuple(choice for choice in behaviour.tools if canonical_name(choice.name) not in replaced)
    return behaviour.model_copy(update={"tools": (*others, ToolChoice(name=name, policy=policy))})
