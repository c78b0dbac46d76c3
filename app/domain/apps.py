"""MCP Apps: what a view asks for beyond its own document, what its owner allows, and its policy.

A view is what anybody wrote. Its domains go into a header, so only plain origins on the open internet are taken:
https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
"""

import ipaddress
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from pydantic import Field, JsonValue

from app.domain.values import Text, Value

EXTENSION = "io.modelcontextprotocol/ui"
VIEW_TYPE = "text/html;profile=mcp-app"
SCHEME = "ui://"
LARGEST_VIEW = 8 * 1024 * 1024
"""Bytes of a document."""
MOST_DOMAINS = 40
"""Of one kind that a view can ask for."""
_ORIGIN = re.compile(r"(?:https?|wss?)://((?:\*\.)?[a-z0-9.-]{1,253})(?::\d{1,5})?")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_LOCAL = frozenset({"localhost", "local", "internal", "lan", "home", "intranet", "corp", "test", "invalid", "arpa"})
"""Last parts of names that never lead to the open internet."""
_KINDS = {
    "connect": "connectDomains", "resource": "resourceDomains", "frame": "frameDomains", "base": "baseUriDomains"
}  # fmt: skip


class Domains(Value):
    """Origins such as `https://example.com` or `https://*.example.com:8443`, by what a view wants of them."""

    connect: tuple[str, ...] = ()
    """To ask."""
    resource: tuple[str, ...] = ()
    """To load scripts, styles, pictures, fonts and media from."""
    frame: tuple[str, ...] = ()
    """To show in a frame of its own."""
    base: tuple[str, ...] = ()
    """To begin its relative addresses with."""

    @property
    def names(self) -> tuple[str, ...]:
        """Each origin once."""
        return tuple(dict.fromkeys((*self.connect, *self.resource, *self.frame, *self.base)))

    def only(self, allowed: Collection[str]) -> "Domains":
        """Those among the allowed ones."""
        return Domains(**{kind: tuple(one for one in getattr(self, kind) if one in allowed) for kind in _KINDS})

    def with_those_of(self, other: "Domains") -> "Domains":
        """Both, each origin of a kind once; of very many the first."""
        return Domains(
            **{
                kind: tuple(dict.fromkeys((*getattr(self, kind), *getattr(other, kind))))[:MOST_DOMAINS]
                for kind in _KINDS
            }
        )


class AppConsent(Value):
    """What the views of a server ask for, and what of that its owner allows."""

    asked: Domains = Domains()
    allowed: tuple[str, ...] = ()
    """Origins that its views may reach, each for what it asked for."""
    clipboard_asked: bool = False
    clipboard: bool = False
    """Whether its views may write to the clipboard."""
    evaluates: bool = False
    """Whether its views may make code out of text while they run."""


class AppContext(Value):
    """What a view wants the model to know with the next message."""

    run_id: str
    call_id: str
    server: str
    tool: str
    text: Text
    """At most `LONGEST_CONTEXT` characters."""

    @property
    def said(self) -> str:
        """As the model reads it."""
        return f"[From the app of {self.tool} ({self.server}), not written by the user]\n{self.text}"


LONGEST_CONTEXT = 20_000


class ViewOf(Value):
    """Whose view it is: the call that brought it."""

    run_id: str
    call_id: str
    server: str
    tool: str = Field(default="")
    """The name under which the model called it."""


def domains_of(csp: JsonValue) -> Domains:
    """Those of a view's `_meta.ui.csp` that can be granted at all; nothing else of it is looked at."""
    said: Mapping[str, JsonValue] = csp if isinstance(csp, dict) else {}
    return Domains(**{kind: tuple(_granted(said.get(name))) for kind, name in _KINDS.items()})


def refused_domains(csp: JsonValue) -> int:
    """How many it asks for that nobody can allow."""
    said: Mapping[str, JsonValue] = csp if isinstance(csp, dict) else {}
    lists = [names for name in _KINDS.values() if isinstance(names := said.get(name), list)]
    return sum(len(names) for names in lists) - sum(len(tuple(_granted(names))) for names in lists)


def _granted(names: JsonValue) -> Iterator[str]:
    for name in names[:MOST_DOMAINS] if isinstance(names, list) else ():
        if isinstance(name, str) and is_open_origin(name):
            yield name.lower()


def is_open_origin(name: str) -> bool:
    """Whether it is `scheme://host[:port]`, perhaps with `*.` before the host, of the open internet."""
    if len(name) > 300 or (match := _ORIGIN.fullmatch(name.lower())) is None:
        return False
    host = match[1]
    if _is_numeric(host):
        return _is_open_address(host)
    labels = host.removeprefix("*.").split(".")
    return len(labels) > 1 and labels[-1] not in _LOCAL and all(map(_LABEL.fullmatch, labels))


def _is_numeric(host: str) -> bool:
    """Whether a browser reads it as an address, as it does whenever the last part is a number of any base."""
    last = host.rpartition(".")[2]
    return last.isdigit() or last.startswith("0x")


def _is_open_address(host: str) -> bool:
    try:
        return ipaddress.IPv4Address(host).is_global
    except ValueError:
        return False  # `127.1`, `0x7f.1` and the like: addresses by another spelling


def content_policy(domains: Domains, *, page: str, report: str, evaluates: bool = False) -> str:
    """The Content-Security-Policy of a view that may reach these, framed by `page` and reporting to the path `report`.

    No `'self'`: that would be the origin on which the files of all sessions are served.
    """
    resource = " ".join(domains.resource)
    script = " ".join(filter(None, ["'unsafe-inline' blob: data:", "'unsafe-eval'" if evaluates else "", resource]))
    rules = {
        "default-src": "'none'",
        "script-src": script,
        "style-src": f"'unsafe-inline' {resource}",
        "img-src": f"data: blob: {resource}",
        "media-src": f"data: blob: {resource}",
        "font-src": f"data: {resource}",
        "worker-src": "blob:",
        "connect-src": _or_none(domains.connect),
        "frame-src": _or_none(domains.frame),
        "object-src": "'none'",
        "base-uri": _or_none(domains.base),
        "form-action": "'none'",
        "frame-ancestors": page,
        "report-uri": report,
    }
    return "; ".join(f"{name} {value.strip()}" for name, value in rules.items())


def _or_none(origins: Iterable[str]) -> str:
    return " ".join(origins) or "'none'"
