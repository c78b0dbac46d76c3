"""What went wrong between us and a server, in words for the person who added it."""

import http
import signal
import sys
from collections.abc import Iterator

from pydantic import ValidationError

from app.domain.errors import ToolError, WorkbenchError
from app.domain.tool_settings import HttpTransport, McpServer
from app.tools.mcp.server_log import Link

HTTP_WAYS_OUT = {
    401: "Sign in on its page, or check the key in its headers.",
    403: "Check the key in its headers.",
    404: "Check the address: the path is often /mcp.",
    405: "Check the address: the path is often /mcp, of an old server /sse.",
    406: "Check the address: the path is often /mcp, of an old server /sse.",
}

MOST_FAULTS = 3
"""Told of a message that is not as it should be."""


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The errors in a group of groups; the error itself when it is none."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from leaves(one)
    else:
        yield error


def in_words(error: BaseException, server: McpServer, link: Link, *, seconds: float) -> str:
    """One or two sentences: what happened, and what to do about it."""
    found = next(iter(leaves(error)))
    if isinstance(found, WorkbenchError | ToolError):
        return str(found)
    if isinstance(server.transport, HttpTransport):
        return _over_http(found, server.transport, link, seconds)
    if isinstance(found, TimeoutError):
        return f"It did not answer within {seconds:g} seconds. {_garbage(link)}".strip()
    if link.lost:
        return loss(server, link)
    if isinstance(found, OSError):
        return f"It cannot be started: {found.strerror or found}."
    return f"It does not speak MCP as it should: {named(found)}. {_garbage(link)}".strip()


def _over_http(error: BaseException, transport: HttpTransport, link: Link, seconds: float) -> str:
    if link.http_status is not None:
        return _refusal(link.http_status)
    if isinstance(error, TimeoutError):
        return f"It did not answer within {seconds:g} seconds."
    if not link.started:
        return f"Nothing answers at {transport.url} ({named(error)}). Is the server running there?"
    return f"It does not speak MCP as it should: {named(error)}."


def loss(server: McpServer, link: Link) -> str:
    """How a connection ended that was there; of a process its last words too."""
    if isinstance(server.transport, HttpTransport):
        return f"The connection to {server.transport.url} is lost."
    words = link.log.last_words()
    return f"{_exit(link.exit_code)} {_garbage(link)}".strip() + (f" Its last words:\n{words}" if words else "")


def _exit(code: int | None) -> str:
    if code is None:
        return "It closed its output."
    if code >= 0:
        return f"It ended by itself, with exit code {code}."
    name = signal.Signals(-code).name if sys.platform != "win32" and -code in set(signal.Signals) else str(-code)
    return f"It was ended by the signal {name}."


def _garbage(link: Link) -> str:
    if not link.garbage:
        return ""
    return f"It wrote {link.garbage:,} lines to its standard output that are no MCP messages (see its log)."


def _refusal(status: int) -> str:
    phrase = http.HTTPStatus(status).phrase if status in set(http.HTTPStatus) else ""
    way_out = HTTP_WAYS_OUT.get(status, "Look into the server's own log.")
    return f"The server answered {status} {phrase}. {way_out}"


def named(error: BaseException) -> str:
    """What an error says; of a message that is not as it should be, what of it and why."""
    if isinstance(error, ValidationError):
        faults = error.errors(include_url=False)[:MOST_FAULTS]
        return f"{error.title}: " + "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in faults)
    return str(error) or type(error).__name__
