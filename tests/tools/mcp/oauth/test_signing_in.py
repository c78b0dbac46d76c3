"""Signing in at a server, from its page and in the middle of a call."""

import asyncio
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from app.domain.errors import Denied, ToolError
from app.domain.tools import Answer
from tests.oauth_servers import PERSON, Manners, serving
from tests.tools.context import Context
from tests.tools.mcp.hubs import called, reached, text_of
from tests.tools.mcp.oauth.signing_in import NAME, Person, go_through, server_of, signed_in
from tests.waiting import until

WHOAMI, CHANGE, SLOW = f"{NAME}__whoami", f"{NAME}__change", f"{NAME}__slow"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


async def test_a_server_that_asks_for_it_is_signed_in_at_from_its_page(person: Person):
    async with serving() as servers, person.hub(servers) as hub:
        await reached(hub, "sign-in", name=NAME)
        link = await hub.sign_in(NAME)
        asked = {name: values[0] for name, values in parse_qs(urlsplit(link.address).query).items()}
        assert asked["resource"] == servers.url and asked["code_challenge_method"] == "S256"
        assert asked["redirect_uri"] == hub.callback and asked["scope"] == "read" and len(asked["state"]) >= 43
        assert link.request and link.request.host == f"127.0.0.1:{servers.authority}"
        assert await go_through(hub, link.address)
        state = await reached(hub, "ready", name=NAME)
        assert state.sign_in.signed_in and state.sign_in.grant and state.sign_in.grant.who == PERSON
        assert text_of(await called(hub, WHOAMI)) == "read"
        assert servers.asked == {"metadata": 1, "register": 1, "authorize": 1, "code": 1}
        assert not servers.secrets & set(repr(hub.states()).replace("'", " ").split())


async def test_a_call_waits_for_the_sign_in_and_is_made_again(person: Person):
    async with serving() as servers, person.hub(servers) as hub:
        await signed_in(person, hub)
        context = Context()
        call = asyncio.create_task(called(hub, CHANGE, context))
        [question] = await until(lambda: context.asked)
        assert question.sign_in and question.sign_in.scopes == ("read", "write")
        assert servers.calls["change"] == 0
        await person.signs_in(hub)
        assert text_of(await call) == "changed by read write"
        assert servers.calls["change"] == 1 and servers.asked["register"] == 1


async def test_one_sign_in_releases_all_calls_that_wait(person: Person):
    async with serving() as servers, person.hub(servers) as hub:
        await signed_in(person, hub)
        contexts = [Context() for _ in range(5)]
        calls = [asyncio.create_task(called(hub, CHANGE, context)) for context in contexts]
        await until(lambda: all(context.asked for context in contexts))
        await person.signs_in(hub)
        assert {text_of(output) for output in await asyncio.gather(*calls)} == {"changed by read write"}
        assert servers.asked["authorize"] == 2


async def test_after_a_restart_a_good_token_asks_nobody_and_one_that_ended_is_renewed(person: Person):
    async with serving() as servers:
        async with person.hub(servers) as hub:
            await signed_in(person, hub)
        before = servers.asked.copy()
        async with person.hub() as hub:
            await reached(hub, "ready", name=NAME)
            assert servers.asked == before
        servers.expire()
        async with person.hub() as hub:
            await reached(hub, "ready", name=NAME)
            assert text_of(await called(hub, WHOAMI)) == "read"
            assert servers.asked - before == {"refresh": 1}


async def test_a_token_that_ends_is_renewed_once_however_many_call(person: Person):
    async with serving() as servers, person.hub(servers) as hub:
        await signed_in(person, hub)
        before = servers.asked.copy()
        servers.expire()
        outputs = await asyncio.gather(*(called(hub, WHOAMI) for _ in range(6)))
        assert {text_of(output) for output in outputs} == {"read"}
        assert (servers.asked - before)["authorize"] == 0
        assert (servers.asked - before)["refresh"] == 1


async def test_calls_go_on_side_by_side(person: Person):
    async with serving() as servers, person.hub(servers) as hub:
        await signed_in(person, hub)
        began = time.perf_counter()
        await asyncio.gather(*(called(hub, SLOW, seconds=2) for _ in range(4)))
        assert time.perf_counter() - began < 6


async def test_who_says_no_denies_the_calls_in_the_servers_words(person: Person):
    async with serving() as servers, person.hub(servers) as hub:
        await signed_in(person, hub)
        servers.manners.denies = True
        context = Context()
        call = asyncio.create_task(called(hub, CHANGE, context))
        await until(lambda: context.asked)
        await person.signs_in(hub)
        with pytest.raises(Denied, match="access_denied Ada said <b>no</b>"):
            await call
        assert hub.states()[0].sign_in.signed_in


async def test_a_call_that_is_cancelled_takes_its_link_back(person: Person):
    async with serving() as servers, person.hub(servers) as hub:
        await signed_in(person, hub)
        context = Context()
        call = asyncio.create_task(called(hub, CHANGE, context))
        await until(lambda: context.asked)
        address = (await hub.sign_in(NAME)).address  # wished by a person: it stays
        call.cancel()
        assert await go_through(hub, address)

        call = asyncio.create_task(called(hub, CHANGE, context))
        assert text_of(await call) == "changed by read write"
        servers.access.clear()
        servers.refresh.clear()
        context = Context()
        call = asyncio.create_task(called(hub, WHOAMI, context))
        await until(lambda: context.asked)
        link = hub._session(NAME).authorization.current
        assert link is not None
        address = link.address
        call.cancel()
        await asyncio.wait({call})
        await until(lambda: link.task is None or link.task.done())
        assert not await go_through(hub, address)


async def test_a_declined_question_denies_that_call_only(person: Person):
    class Declining(Context):
        async def ask(self, question, until=None):
            self.asked.append(question)
            return Answer(decision="decline")

    async with serving() as servers, person.hub(servers) as hub:
        await signed_in(person, hub)
        waits = Context()
        other = asyncio.create_task(called(hub, CHANGE, waits))
        await until(lambda: waits.asked)
        with pytest.raises(Denied, match="Nobody signed in at the MCP server guarded"):
            await called(hub, CHANGE, Declining())
        await person.signs_in(hub)
        assert text_of(await other) == "changed by read write"


async def test_a_server_that_takes_no_token_is_asked_for_once_a_call_and_twice_in_all(person: Person):
    async with serving() as servers, person.hub(servers) as hub:
        await signed_in(person, hub)
        servers.manners.refuses_all = True
        for _ in range(2):
            context = Context()
            call = asyncio.create_task(called(hub, WHOAMI, context))
            await until(lambda context=context: context.asked)
            link = hub._session(NAME).authorization.current
            assert link is not None and await go_through(hub, link.address)
            with pytest.raises(ToolError, match="asks to sign in again right after"):
                await call
        context = Context()
        with pytest.raises(ToolError, match="asked to sign in 2 times within 10 minutes"):
            await called(hub, WHOAMI, context)
        assert not context.asked


async def test_another_port_and_a_scope_that_binds_are_registered_again(person: Person):
    async with serving(Manners(widens=False)) as servers:
        async with person.hub(servers) as hub:
            await signed_in(person, hub)
            context = Context()
            call = asyncio.create_task(called(hub, CHANGE, context))
            await until(lambda: context.asked)
            await person.signs_in(hub)
            assert text_of(await call) == "changed by read write"
            assert servers.asked["register"] == 2
        person.origin = "http://127.0.0.1:18998"
        servers.access.clear()
        servers.refresh.clear()
        async with person.hub() as hub:
            await signed_in(person, hub)
            assert servers.asked["register"] == 3
            assert text_of(await called(hub, WHOAMI)) in ("read", "read write")


async def test_signing_out_revokes(person: Person):
    async with serving() as servers, person.hub(servers) as hub:
        await signed_in(person, hub)
        assert await hub.sign_out(NAME)
        assert servers.access == servers.refresh == {}
        assert not (await reached(hub, "sign-in", name=NAME)).sign_in.signed_in
        assert not any("token" in name for name in person.keys.kept)
        await person.signs_in(hub)
        await reached(hub, "ready", name=NAME)
        assert servers.asked["register"] == 1


async def test_another_address_gets_no_token_of_this_one(person: Person):
    async with serving() as servers, serving() as others, person.hub(servers) as hub:
        await signed_in(person, hub)
        await hub.change(server_of(others))
        assert not any("token" in name for name in person.keys.kept)
        await hub.consent(NAME)
        await reached(hub, "sign-in", name=NAME)
        await hub.remove(NAME)
        assert person.keys.kept == {}


async def test_a_client_entered_by_hand_is_used_and_registers_nothing(person: Person):
    async with serving(Manners(metadata={"registration_endpoint": None})) as servers, person.hub(servers) as hub:
        await reached(hub, "sign-in", name=NAME)
        with pytest.raises(ToolError, match="registers no clients by itself"):
            await hub.sign_in(NAME)
        from mcp.shared.auth import OAuthClientInformationFull

        servers.clients["mine"] = OAuthClientInformationFull(
            client_id="mine",
            client_secret="s3cret-of-mine",
            redirect_uris=[hub.callback],
            token_endpoint_auth_method="client_secret_post",
            scope="read write",
        )
        await hub.use_client(NAME, "mine", "s3cret-of-mine")
        state = await signed_in(person, hub)
        assert state.sign_in.grant and state.sign_in.grant.by_hand
        assert "s3cret-of-mine" in person.keys.kept.values() and "s3cret-of-mine" not in repr(hub.states())
        servers.expire()
        assert text_of(await called(hub, WHOAMI)) == "read"


@pytest.mark.parametrize(
    ("manners", "told"),
    [
        (Manners(metadata={"code_challenge_methods_supported": ["plain"]}), "does not say that it takes S256"),
        (Manners(metadata={"code_challenge_methods_supported": None}), "does not say that it takes S256"),
        (Manners(metadata={"issuer": "http://127.0.0.1:1/other"}), "issuer mismatch"),
        (Manners(metadata={"authorization_endpoint": "http://192.168.7.1/a"}), "without https"),
        (Manners(metadata={"authorization_endpoint": "javascript:alert(1)"}), "does not say where"),
        (Manners(metadata={"registration_endpoint": "http://169.254.169.254/latest"}), "not a public address"),
        (Manners(metadata={"registration_endpoint": "http://example.invalid/"}), "not known"),
        (Manners(resource={"authorization_servers": ["http://169.254.169.254/"]}), "not a public address"),
        (Manners(resource={"resource": "https://bank.example/mcp"}), "does not match"),
    ],
)
async def test_what_a_server_names_is_looked_at_before_anybody_goes_there(person: Person, manners: Manners, told: str):
    async with serving(manners) as servers, person.hub(servers) as hub:
        await reached(hub, "sign-in", name=NAME)
        with pytest.raises(ToolError, match=told):
            await hub.sign_in(NAME)
        assert servers.asked["register"] == servers.asked["authorize"] == 0


async def test_a_token_that_is_to_last_for_longer_than_there_are_years_is_good(person: Person):
    forever = 2**63 - 1  # what some servers write for no end
    async with serving(Manners(lives=forever)) as servers, person.hub(servers) as hub:
        state = await signed_in(person, hub)
        assert state.sign_in.grant and state.sign_in.grant.ends_at is None
        assert text_of(await called(hub, WHOAMI)) == "read"
