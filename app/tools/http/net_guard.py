"""Which hosts and addresses may be reached from here: names by an allow-list, addresses by what they are."""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from app.domain.errors import ToolError, WorkbenchError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Reach = Literal["public", "private", "never"]
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""The IP addresses of a host and port, best first."""

HOST = re.compile(r"https?://(?:\[([^\]]*)\]|([^/:?#]*))", re.IGNORECASE)
PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""RFC 6052: the last 32 bits are the IPv4 address that is really reached."""
UNIQUE_LOCAL = ipaddress.IPv6Network("fc00::/7")
SHARED = ipaddress.IPv4Network("100.64.0.0/10")
"""RFC 6598: behind a provider's NAT, and in overlay networks."""
METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in ("169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254")
)
"""Where clouds hand a machine its credentials."""
OWN_PORTS: set[int] = set()
"""Where this process itself serves. A fact of the process, so that no way to make a guard can forget it."""


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """As the operating system knows it. Raises `OSError` or `UnicodeError` for what is no known name."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True)
class Guard:
    """What one fetch may reach."""

    hosts: tuple[str, ...]
    """`example.org`, `*.example.org` for all below it, or `*`."""
    way_out: str
    """A sentence on where a missing host is allowed."""
    private_hosts: frozenset[str] = frozenset()
    """Hosts that their owner named, which may be this computer or in a private network."""
    resolve: Resolver = system_resolver

    def check_host(self, host: str) -> None:
        """Raises `ToolError` for a host that is not on the list."""
        name = plain_host(host)
        if name not in self.private_hosts and not any(_fits(name, pattern) for pattern in self.hosts):
            raise ToolError(f"{host} is not among the allowed hosts. {self.way_out}")

    async def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses to connect to. Raises `ToolError` where there are none that may be reached."""
        try:
            found = await self.resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise ToolError(f"The name {host} is not known: {error}. Check the address and the connection.") from error
        allowed = ("public", "private") if plain_host(host) in self.private_hosts else ("public",)
        addresses = tuple(address for address in found if reach(address) in allowed)
        if port in OWN_PORTS and any(map(leads_here, addresses)):
            raise ToolError(f"{host}:{port} is Agent Playground itself, which no tool may ask. Ask another address.")
        if not addresses:
            leads_to = ", ".join(found[:3]) or "no address"
            raise ToolError(
                f"{host} leads to {leads_to}, which is not a public address. "
                "Addresses of this computer and of private networks are never asked."
            )
        return addresses


async def refuse_itself(address: str) -> None:
    """Raises `WorkbenchError` for an address of the app itself, whatever name leads here."""
    port = urlsplit(address).port
    if port not in OWN_PORTS:
        return
    with suppress(OSError, UnicodeError):
        if any(map(leads_here, await system_resolver(host_of(address), port))):
            raise WorkbenchError(
                "This is Agent Playground itself, whose agents would call each other in a circle. Give an agent the "
                "tool spawn_task instead, which hands tasks to other agents."
            )


def plain_host(host: str) -> str:
    """The one spelling of a host's name: small letters, in ASCII (`xn--…`), without a last dot."""
    name = host.strip().lower().rstrip(".")
    try:
        return name if name.isascii() else name.encode("idna").decode()
    except UnicodeError:
        return name


def host_of(address: str) -> str:
    """The host in an HTTP address, in that spelling; empty where there is none."""
    found = HOST.match(address)
    return plain_host(found[1] or found[2]) if found else ""


def reach(text: str) -> Reach:
    """Whether an IP address is of the internet, of this computer or a private network, or nothing to talk to."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return "never"
    return _worst([_reach(one) for one in (address, *_inner(address))])


def leads_here(text: str) -> bool:
    """Whether it is an IP address of this computer alone, in any of its spellings."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return any(one.is_loopback or one.is_unspecified for one in (address, *_inner(address)))


def _reach(address: Address) -> Reach:
    if address in METADATA or address.is_multicast or address.is_unspecified:
        return "never"
    if isinstance(address, ipaddress.IPv6Address):
        return _reach_v6(address)
    if address.is_link_local or address.is_reserved or address in ipaddress.IPv4Network("0.0.0.0/8"):
        return "never"
    if address.is_loopback or address in SHARED:
        return "private"
    return "private" if address.is_private else "public"


def _reach_v6(address: ipaddress.IPv6Address) -> Reach:
    if address.is_loopback or address in UNIQUE_LOCAL:
        return "private"
    if address.ipv4_mapped is not None or address in NAT64:
        return "public"
    return "public" if address in PUBLIC_IPV6 and address.is_global else "never"


def _inner(address: Address) -> Iterable[Address]:
    """The IPv4 addresses that traffic to an IPv6 address may really go to."""
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    tunnelled = address.teredo or ()
    embedded = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in NAT64 else None
    return tuple(one for one in (address.ipv4_mapped, address.sixtofour, embedded, *tunnelled) if one is not None)


def _worst(reaches: Sequence[Reach]) -> Reach:
    if "never" in reaches:
        return "never"
    return "private" if "private" in reaches else "public"


def _fits(name: str, pattern: str) -> bool:
    wanted = plain_host(pattern)
    if wanted.startswith("*."):
        return name.endswith(wanted[1:]) and not _is_address(name)
    return wanted in ("*", name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
