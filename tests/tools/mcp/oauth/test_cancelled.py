"""A call that is cancelled while it asks for a sign-in leaves nothing behind: no link, no task, no wait."""

import asyncio
from pathlib import Path

import pytest

from app.domain.errors import ToolError
from tests.cancelling import AtAwait
from tests.oauth_servers import serving
from tests.tools.context import Context
from tests.tools.mcp.hubs import called, text_of
from tests.tools.mcp.oauth.signing_in import NAME, Person, signed_in
from tests.waiting import until

CHANGE = f"{NAME}__change"


async def test_a_call_is_cancelled_at_each_of_its_awaits(tmp_path: Path):
    person, loop = Person(tmp_path), asyncio.get_running_loop()
    async with serving() as servers, person.hub(servers) as hub:
        await signed_in(person, hub)
        authorization = hub._session(NAME).authorization
        for nth in range(1, 100):
            factory, context = AtAwait("called", nth), Context()
            loop.set_task_factory(factory)
            call = asyncio.create_task(called(hub, CHANGE, context))
            await until(lambda context=context, call=call: context.asked or call.done())
            loop.set_task_factory(None)
            if not call.done():  # it got as far as to wait for the person
                call.cancel()
            await asyncio.wait({call})
            current = authorization.current
            assert current is None or not current.calls
            if current is not None and current.task is not None:
                await asyncio.wait({current.task})
            assert hub._desk._waiting == {}
            if not factory.reached:
                break
        assert nth > 5 and servers.calls["change"] == 0
        await person_signs_in_after_all(person, hub)


async def person_signs_in_after_all(person: Person, hub) -> None:
    context = Context()
    call = asyncio.create_task(called(hub, CHANGE, context))
    await until(lambda: context.asked)
    await person.signs_in(hub)
    assert text_of(await call) == "changed by read write"


async def test_a_page_that_breaks_it_off_tells_the_calls_that_wait(tmp_path: Path):
    person = Person(tmp_path)
    async with serving() as servers, person.hub(servers) as hub:
        await signed_in(person, hub)
        context = Context()
        call = asyncio.create_task(called(hub, CHANGE, context))
        await until(lambda: context.asked)
        hub.cancel_sign_in(NAME)
        with pytest.raises(ToolError, match=r"at the MCP server guarded\. The sign-in was broken off\."):
            await call
