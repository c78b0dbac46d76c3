"""Knocking at the door of a running app: every address it has, and every way in that must not work.

Requests are written by hand, byte for byte, because no HTTP client sends what an attacker would.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from fastapi.routing import iter_route_contexts
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute, Host, Mount, WebSocketRoute

from app.api.door.caller import Caller
from app.api.door.guests import SIGN_IN_ROUTE
from app.api.door.refusals import Refusal
from app.domain.keys import ApiKey
from app.domain.provenance import Trigger

Headers = tuple[tuple[str, str], ...]

REFUSALS = frozenset({400, 401, 403, 421})
NOTHING_THERE = frozenset({404, 405})
"""What the second origin says of whatever nobody signed."""
SOCKET_HEADERS: Headers = (
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
)
SOCKET = "SOCKET"
SOCKET_IO = "socket.io/?EIO=4&transport="
AT_ONCE = 16
LARGEST_FILE = 2 * 1024**2
"""Bytes of an upload, where nobody set anything else."""


@dataclass(frozen=True)
class Target:
    """An address, and how it is asked: an HTTP method, or SOCKET."""

    method: str
    path: str

    @property
    def changes_something(self) -> bool:
        return self.method not in ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True)
class Knock:
    """One attempt, and what is wrong with it."""

    target: Target
    headers: Headers
    wrong: str


COME_BACK = Target(*SIGN_IN_ROUTE.split(" "))
"""Who comes back to it from signing in shows no credential but the `state` of that."""


def targets(routes: Sequence[BaseRoute], prefix: str = "") -> list[Target]:
    """Every address of `routes`, with mounts and routers opened; a kind of route nobody knows is a TypeError."""
    found: list[Target] = []
    for context in iter_route_contexts(routes):
        match context.original_route:
            case Mount() as mount:
                found += _mounted(mount, prefix + str(context.path))
            case WebSocketRoute():
                found.append(Target(SOCKET, _filled(prefix + str(context.path))))
            case Host():
                raise TypeError("A Host route answers to a name of its own; the door knows one name only")
            case _ if context.path is None:
                raise TypeError(f"No path is known of {context.original_route!r}")
            case _:
                path = _filled(prefix + context.path)
                found += [Target(method, path) for method in sorted(context.methods or {"GET", "POST"})]
    return found


def _mounted(mount: Mount, path: str) -> Iterator[Target]:
    """A mounted app decides by itself what it answers, so it is asked in every way."""
    yield from targets(mount.routes, path)
    for rest in ("", "x", SOCKET_IO + "polling"):
        for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
            yield Target(method, _filled(f"{path}/{rest}"))
    for rest in ("x", SOCKET_IO + "websocket"):
        yield Target(SOCKET, _filled(f"{path}/{rest}"))


def _filled(path: str) -> str:
    return re.sub(r"\{[^}]+\}", "x", path)


@dataclass(frozen=True)
class Owner:
    """Who is let in: the address of the app, its token and what the cookie of their browser holds."""

    port: int
    token: str
    browser: str = ""
    guest: str = ""
    """An API key that is valid, where the app has one."""
    revoked: str = ""
    """An API key that was."""
    public: str = ""
    """The slug of an agent that anyone may run."""

    @property
    def host(self) -> Headers:
        return (("Host", f"127.0.0.1:{self.port}"),)

    @property
    def origin(self) -> Headers:
        return (("Origin", f"http://127.0.0.1:{self.port}"),)

    @property
    def cookie(self) -> Headers:
        return (("Cookie", f"agent_playground_{self.port}={self.browser}"),)

    @property
    def key(self) -> Headers:
        return (("Authorization", f"Bearer {self.token}"),)

    @property
    def all(self) -> Headers:
        return self.host + self.origin + self.cookie


def evil_hosts(port: int) -> list[str | None]:
    """Names a rebound or confused browser would send; None leaves the header out."""
    return [
        None,
        "",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}",
        f"127.0.0.1.:{port}",
        f"0.0.0.0:{port}",
        f"[::1]:{port}",
        f"evil.example:{port}",
        f"localhost.evil.example:{port}",
        f"127.0.0.1.nip.io:{port}",
        f"127.0.0.1:{port}@evil.example",
        f"evil.example#127.0.0.1:{port}",
        f"127.0.0.1:{port}, evil.example",
        f"LOCALHOST.EVIL.EXAMPLE:{port}",
    ]


def evil_origins(port: int) -> list[str]:
    """Pages that are not ours, however near they look."""
    return [
        "null",
        "",
        "*",
        "http://127.0.0.1",
        f"http://127.0.0.1:{port + 1}",
        f"http://127.0.0.1:{port}0",
        f"https://127.0.0.1:{port}",
        f"http://localhost:{port}",
        f"http://[::1]:{port}",
        f"http://0.0.0.0:{port}",
        f"http://127.0.0.1.:{port}",
        f"http://127.0.0.1.evil.example:{port}",
        f"http://127.0.0.1:{port}.evil.example",
        f"http://127.0.0.1:{port}@evil.example",
        f"http://evil.example:{port}",
        f"http://evil.example#http://127.0.0.1:{port}",
        f"http://evil.example/?http://127.0.0.1:{port}",
        f"http://127.0.0.1:{port}/",
        f"http://127.0.0.1:{port} http://evil.example",
        f"HTTP://127.0.0.1:{port}",
        f"file://127.0.0.1:{port}",
        f"chrome-extension://127.0.0.1:{port}",
    ]


def knocks(target: Target, owner: Owner) -> Iterator[Knock]:
    """All that must be refused at `target`; what is not named as wrong is right, so each rule stands alone."""
    if target != COME_BACK:
        yield from _with_a_wrong_key(target, owner)
    if not open_to_anyone(target, owner):
        yield from _without_a_credential(target, owner)
    for host in evil_hosts(owner.port):
        named: Headers = () if host is None else (("Host", host),)
        yield Knock(target, named + owner.origin + owner.cookie, f"Host {host!r}")
    for origin in evil_origins(owner.port):
        foreign: Headers = (("Origin", origin),)
        yield Knock(target, owner.host + foreign + owner.cookie, f"Origin {origin!r}")
        yield Knock(target, owner.host + foreign + owner.key, f"Origin {origin!r} with a key")
    if target.changes_something:
        yield Knock(target, owner.host + owner.cookie, "no Origin")
        for site in ("cross-site", "same-site", "none"):
            unknown: Headers = (("Sec-Fetch-Site", site),)
            yield Knock(target, owner.host + unknown + owner.cookie, f"no Origin, Sec-Fetch-Site {site}")


def open_to_anyone(target: Target, owner: Owner) -> bool:
    """Whether it is one of the few addresses for who shows nothing."""
    if target == COME_BACK:
        return True
    public = {Target("GET", "/api/v1/agents"), Target("POST", f"/api/v1/agents/{owner.public}/run")}
    return bool(owner.public) and target in public


def _with_a_wrong_key(target: Target, owner: Owner) -> Iterator[Knock]:
    """Who shows a key is let in by that alone, also where nothing would do."""
    here = owner.host + owner.origin
    wrong = _other(owner.token)
    if target.path in ("/mcp", "/metrics") or target.path.startswith(("/api/", "/v1/")):
        yield Knock(target, (*here, ("Authorization", f"Bearer {wrong}")), "wrong bearer")
        yield Knock(target, (*here, ("X-API-Key", wrong)), "wrong key")
        yield Knock(target, (*here, ("X-API-Key", owner.revoked or wrong)), "revoked key")
        yield Knock(target, (*owner.host, ("X-API-Key", owner.revoked or wrong)), "revoked key and no Origin")
    elif owner.guest:
        yield Knock(target, (*here, ("X-API-Key", owner.guest)), "a key where keys open nothing")
        yield Knock(target, (*here, ("Authorization", f"Bearer {owner.guest}")), "a bearer where keys open nothing")
    if target.path.startswith("/api/v1/keys"):
        yield Knock(target, (*here, ("X-API-Key", owner.guest or wrong)), "a key where only the owner may go")


def _other(secret: str) -> str:
    return secret[:-1] + ("A" if secret[-1] != "A" else "B")


def _without_a_credential(target: Target, owner: Owner) -> Iterator[Knock]:
    here = owner.host + owner.origin
    wrong = _other(owner.token)
    yield Knock(target, here, "no credential")
    for cookie in (_other(owner.browser or wrong), owner.token, ""):
        yield Knock(target, (*here, ("Cookie", f"agent_playground_{owner.port}={cookie}")), f"wrong cookie {cookie!r}")
    yield Knock(target, (*here, ("Cookie", f"agent_playground_{owner.port + 1}={owner.browser}")), "another's cookie")
    yield Knock(target, (*here, ("Authorization", f"Bearer {wrong}")), "wrong bearer")
    yield Knock(target, (*here, ("Authorization", f"Basic {owner.token}")), "basic")
    for key in (wrong, owner.browser or wrong):
        yield Knock(target, (*here, ("X-API-Key", key)), f"wrong key {key!r}")
    mark = "&" if "?" in target.path else "?"
    yield Knock(Target(target.method, f"{target.path}{mark}token={wrong}"), here, "wrong token in the address")
    if target.method != "GET":
        right = Target(target.method, f"{target.path}{mark}token={owner.token}")
        yield Knock(right, here, "the token in the address of something else than a page")


def unsigned(paths: Iterable[str], port: int, owner: Owner) -> Iterator[Knock]:
    """All that must be refused at another port of the app, which knows no credential but a signed address."""
    here: Headers = (("Host", f"127.0.0.1:{port}"),)
    for path in paths:
        for method in ("GET", "POST", SOCKET):
            target = Target(method, path)
            yield Knock(target, here, "nothing")
            yield Knock(target, (*here, *owner.origin, *owner.cookie), "the owner's cookie")
            yield Knock(target, (*here, *owner.key), "the owner's key")
            yield Knock(target, (*here, ("X-API-Key", owner.guest)), "a guest's key")
            for host in evil_hosts(port):
                yield Knock(target, () if host is None else (("Host", host),), f"Host {host!r}")
            for origin in (*evil_origins(owner.port), owner.origin[0][1]):
                yield Knock(target, (*here, ("Origin", origin)), f"Origin {origin!r}")


async def signed_in(knocking: Iterable[Knock], port: int) -> tuple[int, list[str]]:
    """How many attempts were made at that port, and those that were not refused, in words."""
    return await _attempted(knocking, port, REFUSALS | NOTHING_THERE)


async def let_in(doors: Iterable[Target], owner: Owner, *, share: int = 1) -> tuple[int, list[str]]:
    """How many attempts were made at these addresses, and those that were not refused, in words.

    With a `share` of 4 each address gets a fourth of them, and the four after each other get all.
    """
    chosen = (islice(knocks(target, owner), number % share, None, share) for number, target in enumerate(doors))
    return await _attempted(chain.from_iterable(chosen), owner.port, REFUSALS)


async def _attempted(knocking: Iterable[Knock], port: int, refusals: frozenset[int]) -> tuple[int, list[str]]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def attempt(knock: Knock) -> str | None:
        async with gate:
            status = await ask(port, knock.target, knock.headers)
        words = f"{knock.target.method} {knock.target.path} at {port} with {knock.wrong}: {status}"
        return None if status in refusals else words

    outcomes = await asyncio.gather(*map(attempt, knocking))
    return len(outcomes), [words for words in outcomes if words]


async def ask(port: int, target: Target, headers: Headers) -> int:
    """The status of the answer; 101 is an open socket, 0 a closed connection."""
    more = SOCKET_HEADERS if target.method == SOCKET else (("Connection", "close"), ("Content-Length", "0"))
    method = "GET" if target.method == SOCKET else target.method
    lines = [f"{method} {target.path} HTTP/1.1", *(f"{name}: {value}" for name, value in (*headers, *more)), "", ""]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write("\r\n".join(lines).encode("latin-1"))
        answered = await asyncio.wait_for(reader.readline(), 60)
    finally:
        writer.close()
    return int(answered.split()[1]) if answered else 0


class NoGuests:
    """For an app that has no keys and no agents."""

    def key(self, secret: str) -> ApiKey | None:
        return None

    def bridge(self) -> ApiKey:
        raise AssertionError("Nobody asks for a bridge here")

    def used(self, key: ApiKey) -> None:
        pass

    def open_to_anyone(self, request: HTTPConnection) -> bool:
        return False

    def refusal(self, caller: Caller, request: HTTPConnection) -> Refusal | None:
        return None

    def going_on(self) -> Sequence[Trigger]:
        return ()

    def waiting(self) -> Sequence[Trigger]:
        return ()

    def largest_file(self) -> int:
        return LARGEST_FILE
