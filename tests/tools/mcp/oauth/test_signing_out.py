"""Whoever leaves a server while a token is being renewed has left it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from app.tools.mcp.hub import McpHub
from tests.oauth_servers import Manners, Servers, serving
from tests.tools.mcp.hubs import called, reached
from tests.tools.mcp.oauth.signing_in import NAME, Person, signed_in
from tests.waiting import until

WHOAMI = f"{NAME}__whoami"
LEAVING: dict[str, Callable[[McpHub], Coroutine[Any, Any, object]]] = {
    "signing out": lambda hub: hub.sign_out(NAME),
    "another client": lambda hub: hub.use_client(NAME, "mine", "s3cret-of-mine"),
    "removing the server": lambda hub: hub.remove(NAME),
}


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


@asynccontextmanager
async def renewing(person: Person) -> AsyncIterator[tuple[McpHub, Servers, asyncio.Event]]:
    """Signed in, with a call for which a token is being renewed, which ends when the event is set."""
    renews = asyncio.Event()
    async with serving(Manners(renews=renews)) as servers, person.hub(servers) as hub:
        await signed_in(person, hub)
        servers.expire()
        call = asyncio.create_task(called(hub, WHOAMI))
        await until(lambda: servers.asked["held renewal"])
        yield hub, servers, renews
        call.cancel()
        await asyncio.wait({call})


@pytest.mark.parametrize("how", LEAVING)
async def test_a_renewal_that_ends_later_signs_nobody_in_again(person: Person, how: str):
    async with renewing(person) as (hub, servers, renews):
        tokens = hub._session(NAME).authorization.tokens
        leaving = asyncio.create_task(LEAVING[how](hub))
        await asyncio.wait({leaving}, timeout=0.5)  # as long as that goes on, nothing is known of the new token
        renews.set()
        await leaving
        assert tokens._renewing is not None
        await asyncio.wait({tokens._renewing})

        assert not tokens.token
        assert not any("token" in name for name in person.keys.kept)
        assert how == "another client" or not servers.refresh


async def test_a_sign_out_that_is_cancelled_keeps_no_later_one_waiting(person: Person):
    async with renewing(person) as (hub, servers, renews):
        leaving = asyncio.create_task(hub.sign_out(NAME))
        await asyncio.wait({leaving}, timeout=0.1)
        leaving.cancel()
        await asyncio.wait({leaving})
        renews.set()

        assert await hub.sign_out(NAME)
        assert not servers.refresh
        await reached(hub, "sign-in", name=NAME)
