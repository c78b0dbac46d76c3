"""What others than the owner may reach: whoever has an API key, and anyone at all.

What is not named here is refused, so a new route is the owner's, and that of keys for all agents, until it is.
"""

import re
from collections.abc import Sequence
from typing import Protocol

from starlette.requests import HTTPConnection

from app.api.door.caller import ANYONE, Caller
from app.api.door.refusals import MCP, Refusal
from app.domain.errors import NotFound
from app.domain.keys import ApiKey
from app.domain.provenance import Trigger
from app.late import late
from app.tools.mcp.oauth.desk import CALLBACK
from app.workbench import Workbench

with late():
    from app.api.door import access
    from app.engine.runs import standing

API = "/api/v1"
PUBLIC_ROUTES = (f"GET {API}/agents", f"GET {API}/agents/{{slug}}", f"POST {API}/agents/{{slug}}/run")
"""All that is open without a key, `/health` and `SIGN_IN_ROUTE` aside: the list has public agents only, and only those
are read and run.
"""
SIGN_IN_ROUTE = f"GET {CALLBACK}"
"""Where browsers come back to from other sites, so without their cookie: it takes a `state` that it gave them, once."""
_LIST = PUBLIC_ROUTES[0]
_OF_PUBLIC = re.compile("|".join(PUBLIC_ROUTES[1:]).replace("{slug}", "([^/]+)"))
_OWNERS = re.compile(rf"{API}/keys(/.*)?")
_OF_AGENTS = re.compile(
    rf"(GET|SOCKET) {API}/(agents|runs|sessions|jobs|docs)(/.*)?|GET {API}/openapi\.json"
    rf"|POST {API}/(agents/[^/]+/run|chat|uploads|(runs|sessions)/.+)"
    rf"|DELETE {API}/((runs|sessions)/[^/]+|runs/[^/]+/scores/[^/]+)"
    rf"|SOCKET {API}/ws/chat|(GET|POST) /v1/.*|(GET|POST|DELETE) {MCP}"
)
"""What a key for certain agents may reach, as `METHOD path`."""
_NAMED = re.compile(rf"{API}/(agents|runs|sessions)/([^/]+)(/.*)?")
"""Paths that name an agent, or what belongs to one."""

FOREIGN = Refusal(
    403,
    "forbidden",
    "This key is for certain agents",
    "This key opens the agents it was made for, and nothing else. Use a key for all agents.",
)
FOR_OWNER = Refusal(
    403,
    "forbidden",
    "Only the owner manages keys",
    "Keys are made and revoked in Integrations, in the terminal, or with the token of the address that was printed.",
)


class Guests(Protocol):
    """Whom the door lets in besides the owner, and how far."""

    def key(self, secret: str) -> ApiKey | None:
        """The key that was sent, valid or not."""
        ...

    def bridge(self) -> ApiKey:
        """The key as which the app's own bridge to MCP asks."""
        ...

    def used(self, key: ApiKey) -> None:
        """Note that the key opened something."""
        ...

    def open_to_anyone(self, request: HTTPConnection) -> bool:
        """Whether what is asked needs no credential."""
        ...

    def refusal(self, caller: Caller, request: HTTPConnection) -> Refusal | None:
        """Why the caller may not reach what is asked; `None` where they may."""
        ...

    def going_on(self) -> Sequence[Trigger]:
        """Who started the runs that go on, those that wait for a person left out."""
        ...

    def waiting(self) -> Sequence[Trigger]:
        """Who started the runs that wait for a person."""
        ...

    def largest_file(self) -> int:
        """Bytes of a file that may be sent."""
        ...


class WorkbenchGuests:
    """The keys of a workbench, and the agents they were made for."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench

    def key(self, secret: str) -> ApiKey | None:
        return self._workbench.keys.check(secret)

    def bridge(self) -> ApiKey:
        return self._workbench.keys.bridge

    def used(self, key: ApiKey) -> None:
        self._workbench.keys.used(key)

    def open_to_anyone(self, request: HTTPConnection) -> bool:
        asked = f"{method_of(request)} {request.scope['path']}"
        if asked in (_LIST, SIGN_IN_ROUTE):
            return True
        if (named := _OF_PUBLIC.fullmatch(asked)) is None:
            return False
        slug = named[1] or named[2]
        return any(slug in (one.id, one.slug) and ANYONE.may_use(one) for one in self._workbench.agents.all())

    def refusal(self, caller: Caller, request: HTTPConnection) -> Refusal | None:
        path = str(request.scope["path"])
        if caller.owner:
            return None
        if caller.key is None:
            return _not_json(request)
        if _OWNERS.fullmatch(path):
            return FOR_OWNER
        if caller.manages:
            return None
        if not _OF_AGENTS.fullmatch(f"{method_of(request)} {path}"):
            return FOREIGN
        return self._hidden(caller, path)

    def going_on(self) -> Sequence[Trigger]:
        return self._started(waiting=False)

    def waiting(self) -> Sequence[Trigger]:
        return self._started(waiting=True)

    def largest_file(self) -> int:
        return self._workbench.preferences.get().largest_attachment

    def _started(self, *, waiting: bool) -> Sequence[Trigger]:
        runs = self._workbench.runs.live_runs()
        still = {live.run_id for live in standing.waiting(runs)}
        return [live.started.trigger for live in runs if (live.run_id in still) == waiting]

    def _hidden(self, caller: Caller, path: str) -> Refusal | None:
        """What is not theirs is as what is not there."""
        if (named := _NAMED.fullmatch(path)) is None:
            return None
        try:
            match named[1]:
                case "runs":
                    access.run_for(self._workbench, caller, named[2])
                case "sessions":
                    access.session_for(self._workbench, caller, named[2])
                case _:
                    access.agent_for(self._workbench, caller, named[2])
        except NotFound as missing:
            return Refusal(404, "not_found", "Not found", str(missing))
        return None


def method_of(request: HTTPConnection) -> str:
    """The HTTP method, or SOCKET."""
    return str(request.scope.get("method", "SOCKET"))


def _not_json(request: HTTPConnection) -> Refusal | None:
    """A form of any page can be sent without being asked for leave; JSON cannot."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if method_of(request) == "GET" or kind == "application/json":
        return None
    return Refusal(422, "invalid", "Send JSON", "Without a key, send JSON as 'Content-Type: application/json'.")
