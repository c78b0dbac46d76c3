"""Which hosts and addresses a fetch may reach."""

import pytest

from app.domain.errors import ToolError
from app.tools.http.net_guard import Guard, reach, system_resolver
from tests.tools.answering import WAY_OUT, Names

PRIVATE = [
    "127.0.0.1",
    "127.9.9.9",
    "10.1.1.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.1.1",
    "::1",
    "fc00::1",
    "fd12::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "2002:7f00:1::",
    "2002:c0a8:101::",
]
NEVER = [
    "0.0.0.0",
    "0.1.2.3",
    "169.254.1.1",
    "169.254.169.254",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "fd00:ec2::254",
    "::127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::7f00:1",
    "2002:a9fe:a9fe::",
    "2001:db8::1",
    "100::1",
    "2130706433",
    "0x7f.1",
    "localhost",
]
PUBLIC = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::"]


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_of_this_computer_and_private_networks_are_private(address: str) -> None:
    assert reach(address) == "private"


@pytest.mark.parametrize("address", NEVER)
def test_addresses_without_a_host_of_the_internet_behind_them_are_never_reached(address: str) -> None:
    assert reach(address) == "never"


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert reach(address) == "public"


@pytest.mark.parametrize(
    ("pattern", "host", "allowed"),
    [
        ("example.org", "example.org", True),
        ("example.org", "EXAMPLE.org.", True),
        (" Example.ORG ", "example.org", True),
        ("example.org", "www.example.org", False),
        ("example.org", "badexample.org", False),
        ("example.org", "example.org.evil.net", False),
        ("*.example.org", "api.example.org", True),
        ("*.example.org", "a.b.example.org", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "badexample.org", False),
        ("*.0.0.1", "127.0.0.1", False),
        ("*", "anything.at.all", True),
        ("bücher.example", "xn--bcher-kva.example", True),
        ("", "example.org", False),
    ],
)
def test_a_host_is_asked_only_where_the_list_has_it(pattern: str, host: str, allowed: bool) -> None:
    guard = Guard(hosts=(pattern,), way_out=WAY_OUT)
    if allowed:
        guard.check_host(host)
    else:
        with pytest.raises(ToolError, match=f"^{host} is not among the allowed hosts. {WAY_OUT}$"):
            guard.check_host(host)


async def test_of_several_addresses_only_the_public_ones_are_used() -> None:
    async def both(host: str, port: int) -> list[str]:
        return ["127.0.0.1", "8.8.8.8", "::1", "2606:4700::1111"]

    guard = Guard(hosts=("*",), way_out=WAY_OUT, resolve=both)
    assert await guard.addresses("example.org", 80) == ("8.8.8.8", "2606:4700::1111")


async def test_a_private_host_is_reached_where_its_owner_named_it_but_never_a_metadata_address() -> None:
    names = Names({"nas.local": ["192.168.1.9", "169.254.169.254"], "other.local": ["192.168.1.9"]})
    guard = Guard(hosts=("*",), way_out=WAY_OUT, private_hosts=frozenset(["nas.local"]), resolve=names)
    assert await guard.addresses("nas.local", 80) == ("192.168.1.9",)
    for host in ("nas.local", "other.local"):
        with pytest.raises(ToolError, match="not a public address"):
            await guard.addresses(host, 80)


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1"])
async def test_other_spellings_of_this_computer_are_found_out(host: str) -> None:
    with pytest.raises(ToolError, match=r"not a public address|is not known"):
        await Guard(hosts=("*",), way_out=WAY_OUT).addresses(host, 80)


async def test_a_name_that_nobody_knows_is_told() -> None:
    with pytest.raises(ToolError, match=r"The name nowhere.invalid is not known: .*Check the address"):
        await Guard(hosts=("*",), way_out=WAY_OUT, resolve=Names({})).addresses("nowhere.invalid", 80)


async def test_a_label_that_is_too_long_is_told() -> None:
    with pytest.raises(ToolError, match="is not known"):
        await Guard(hosts=("*",), way_out=WAY_OUT).addresses("ü" * 300 + ".example", 80)


async def test_the_system_knows_the_loopback_address() -> None:
    assert "127.0.0.1" in await system_resolver("127.0.0.1", 80)
