"""Signing in at MCP servers: every way in which it goes well or wrong ends in the state that is said."""

import asyncio
import contextlib
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2

from app.domain.errors import ToolError
from app.tools.http.net_guard import OWN_PORTS
from app.tools.mcp.hub import McpHub
from app.tools.mcp.oauth.reachable import Reachable
from app.tools.mcp.states import Patience
from tests.figures import Figure
from tests.guarded import CHANGE, WHOAMI, Guarded, guarded
from tests.oauth_servers import Manners, Servers, serving
from tests.tools.context import Context
from tests.tools.mcp.hubs import called, reached, text_of
from tests.tools.mcp.oauth.signing_in import NAME, Person, go_through, signed_in
from tests.waiting import until

SHORT_LINK = Patience(handshake=10, retries=(0.05,), settling=0, listing=0, link=0.4)
CASE_SECONDS = 40
Case = Callable[[Path], Awaitable[None]]


async def first_use(folder: Path) -> None:
    async with serving() as servers, Person(folder).hub(servers) as hub:
        await signed_in(Person(folder), hub)
        assert servers.asked["register"] == servers.asked["authorize"] == 1


async def restart_with_a_good_token(folder: Path) -> None:
    async with serving() as servers:
        person = await left_signed_in(folder, servers)
        before = servers.asked.copy()
        async with person.hub() as hub:
            await reached(hub, "ready", name=NAME)
            assert text_of(await called(hub, WHOAMI)) == "read" and servers.asked == before


async def restart_with_a_token_that_ended(folder: Path) -> None:
    async with serving() as servers:
        person = await left_signed_in(folder, servers)
        servers.expire()
        async with person.hub() as hub:
            await reached(hub, "ready", name=NAME)
            assert (servers.asked["refresh"], servers.asked["authorize"]) == (1, 1)


async def restart_with_nothing_that_renews(folder: Path) -> None:
    async with serving() as servers:
        person = await left_signed_in(folder, servers)
        servers.expire()
        servers.refresh.clear()
        async with person.hub() as hub:
            await signed_in(person, hub)
            assert servers.asked["register"] == 1


async def another_port(folder: Path) -> None:
    async with serving() as servers:
        person = await left_signed_in(folder, servers)
        person.origin = "http://127.0.0.1:18997"
        servers.access.clear()
        servers.refresh.clear()
        async with person.hub() as hub:
            await signed_in(person, hub)
            assert servers.asked["register"] == 2


async def expiry_while_it_runs(folder: Path) -> None:
    async with serving() as servers, Person(folder).hub(servers) as hub:
        await signed_in(Person(folder), hub)
        servers.expire()
        assert text_of(await called(hub, WHOAMI)) == "read"
        assert (servers.asked["refresh"], servers.asked["authorize"]) == (1, 1)


async def renewal_that_fails_for_now(folder: Path) -> None:
    async with serving() as servers, Person(folder).hub(servers) as hub:
        await signed_in(Person(folder), hub)
        servers.expire()
        servers.manners.token_status = 503
        with contextlib.suppress(ToolError):
            await called(hub, WHOAMI)
            raise AssertionError("it was answered without a token")
        servers.manners.token_status = 0
        assert text_of(await called(hub, WHOAMI)) == "read" and servers.asked["authorize"] == 1


async def two_slow_calls(folder: Path) -> None:
    async with serving() as servers, Person(folder).hub(servers) as hub:
        await signed_in(Person(folder), hub)
        began = time.perf_counter()
        await asyncio.gather(*(called(hub, f"{NAME}__slow", seconds=1) for _ in range(2)))
        assert time.perf_counter() - began < 1.9


async def more_scopes(folder: Path) -> None:
    await stepped_up(folder, Manners(), registered=1)


async def more_scopes_than_were_registered(folder: Path) -> None:
    await stepped_up(folder, Manners(widens=False), registered=2)


async def denial(folder: Path) -> None:
    async with serving() as servers, guarded(folder, servers, signed_in=True) as world:
        servers.manners.denies = True
        run = await world.call(CHANGE)
        await world.asked(run)
        await world.signs_in()
        status, text = await world.result(run)
        assert status == "denied" and "access_denied" in text and "Not signed in" in world.tab


async def person_slower_than_the_tool(folder: Path) -> None:
    async with serving() as servers, guarded(folder, servers, signed_in=True, tool_timeout=0.8) as world:
        run = await world.call(CHANGE)
        await world.asked(run)
        await asyncio.sleep(1.2)  # longer than the tool's time-out
        await world.signs_in()
        assert (await world.result(run))[0] == "ok"


async def five_runs_at_once(folder: Path) -> None:
    async with serving() as servers, guarded(folder, servers, signed_in=True) as world:
        runs = [await world.call(CHANGE) for _ in range(5)]
        for run in runs:
            await world.asked(run)
        await world.signs_in()
        assert {await world.result(run) for run in runs} == {("ok", "changed by read write")}
        assert servers.asked["authorize"] == 2 and servers.calls["change"] == 5


async def stop_while_it_waits(folder: Path) -> None:
    async with serving() as servers, guarded(folder, servers, signed_in=True) as world:
        run = await world.call(CHANGE)
        await world.asked(run)
        link = current_link(world.workbench.mcp)
        run.stop()
        assert (await world.result(run))[0] == "cancelled"
        back = f"{world.origin}/oauth/callback?state={httpx2.URL(link).params['state']}&code=x"
        assert (await world.comes_back(back)).status_code == 404


async def restart_while_it_waits(folder: Path) -> None:
    async with serving() as servers:
        async with guarded(folder, servers, signed_in=True) as world:
            run = await world.call(CHANGE)
            await world.asked(run)
        async with guarded(folder, servers) as world:
            await reached(world.workbench.mcp, "ready", name=NAME)
            await world.signs_in(scopes="read write")  # as the link on its card has them
            live = await until(lambda: world.workbench.runs.recent(run.run_id), 10)
            assert live is not None and await world.result(live) == ("ok", "changed by read write")
            assert servers.calls["change"] == 1


async def revoked_over_there(folder: Path) -> None:
    async with serving() as servers, guarded(folder, servers, signed_in=True) as world:
        servers.access.clear()
        servers.refresh.clear()
        run = await world.call(WHOAMI)
        await world.asked(run)
        await world.signs_in()
        assert await world.result(run) == ("ok", "read")


async def sign_out(folder: Path) -> None:
    async with serving() as servers, Person(folder).hub(servers) as hub:
        await signed_in(Person(folder), hub)
        assert await hub.sign_out(NAME) and servers.access == servers.refresh == {}


async def link_that_is_too_old(folder: Path) -> None:
    async with serving() as servers, Person(folder).hub(servers, patience=SHORT_LINK) as hub:
        await signed_in(Person(folder), hub)
        context = Context()
        call = asyncio.create_task(called(hub, CHANGE, context))
        await until(lambda: context.asked)
        old = current_link(hub)
        await until(lambda: not hub.states()[0].sign_in.request, 5)
        assert not await go_through(hub, old) and not call.done()
        await Person(folder).signs_in(hub)
        assert text_of(await call) == "changed by read write"


async def server_that_takes_no_token(folder: Path) -> None:
    async with serving() as servers, Person(folder).hub(servers) as hub:
        await signed_in(Person(folder), hub)
        servers.manners.refuses_all = True
        asked = 0
        for _ in range(5):
            context = Context()
            call = asyncio.create_task(called(hub, WHOAMI, context))
            await until(lambda context=context, call=call: context.asked or call.done())
            if context.asked:
                asked += 1
                await go_through(hub, current_link(hub))
            await asyncio.wait({call})
            assert isinstance(call.exception(), ToolError)
        assert asked == 2


async def nobody_to_ask(folder: Path) -> None:
    async with serving() as servers, guarded(folder, servers, signed_in=True) as world:
        hand_call = world.workbench.hand_calls.start(CHANGE, {}, unattended=True)
        await hand_call.ended()
        assert hand_call.outcome is not None and hand_call.outcome.status == "denied"


async def no_page_to_come_back_to(folder: Path) -> None:
    async with serving() as servers, Person(folder, origin="").hub(servers) as hub:
        await reached(hub, "sign-in", name=NAME)
        with contextlib.suppress(ToolError):
            await hub.sign_in(NAME)
            raise AssertionError("it has a link")


CASES: tuple[Case, ...] = (
    *(first_use, restart_with_a_good_token, restart_with_a_token_that_ended, restart_with_nothing_that_renews),
    *(another_port, expiry_while_it_runs, renewal_that_fails_for_now, two_slow_calls, more_scopes),
    *(more_scopes_than_were_registered, denial, person_slower_than_the_tool, five_runs_at_once),
    *(stop_while_it_waits, restart_while_it_waits, revoked_over_there, sign_out, link_that_is_too_old),
    *(server_that_takes_no_token, nobody_to_ask, no_page_to_come_back_to),
)


async def run(*, brief: bool = False) -> list[Figure]:
    cases = CASES[1::5] if brief else CASES
    failed = [name for case in cases if (name := await _failed(case))]
    for words in failed:
        print(f"  {words}")
    ended = Figure(
        "OAuth, ways in which it goes", f"{len(cases) - len(failed)} of {len(cases)} end as said", "all", not failed
    )
    documents = HOSTILE[:3] if brief else HOSTILE
    return [ended, await hostile_addresses(), await hostile_metadata(documents), await told_secrets()]


async def _failed(case: Case) -> str:
    """What went wrong, empty where it ended as it should."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            async with asyncio.timeout(CASE_SECONDS):
                await case(Path(folder))
        except Exception as error:  # noqa: BLE001  the others are tried all the same
            return f"{case.__name__}: {type(error).__name__} {error}"[:300]
    return ""


async def left_signed_in(folder: Path, servers: Servers) -> Person:
    person = Person(folder)
    async with person.hub(servers) as hub:
        await signed_in(person, hub)
    return person


async def stepped_up(folder: Path, manners: Manners, *, registered: int) -> None:
    async with serving(manners) as servers, guarded(folder, servers, signed_in=True) as world:
        run = await world.call(CHANGE)
        await world.asked(run)
        await world.signs_in()
        assert await world.result(run) == ("ok", "changed by read write")
        assert servers.asked["register"] == registered and servers.calls["change"] == 1


def current_link(hub: McpHub) -> str:
    """The address of the link that is out."""
    link = hub._session(NAME).authorization.current
    return link.address if link is not None else ""


KNOWN = {
    "mcp.example": ["93.184.216.34"],
    "local.example": ["127.0.0.1"],
    "office.example": ["10.1.2.3"],
    "both.example": ["127.0.0.1", "93.184.216.34"],
    "six.example": ["::1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "cloud.example": ["169.254.169.254"],
}
OWN = 18_765
FROM_THE_INTERNET = (
    *("http://mcp.example/a", "http://127.0.0.1/a", "https://127.0.0.1/a", "https://localhost/a", "https://[::1]/a"),
    *("https://2130706433/a", "https://0x7f000001/a", "https://0.0.0.0/a", "https://local.example/a"),
    *("https://office.example/a", "https://six.example/a", "https://mapped.example/a", "https://cloud.example/a"),
    *("https://169.254.169.254/latest/meta-data", "https://192.168.1.1/", "https://[fd00::1]/", "https://100.64.0.1/"),
    *(
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "https://user:pass@mcp.example/",
        "//mcp.example",
    ),
    *("https:///a", "", "ftp://mcp.example/", "https://nobody.example/a", f"http://127.0.0.1:{OWN}/oauth/callback"),
)
FROM_THIS_COMPUTER = (
    *(f"http://127.0.0.1:{OWN}/api/v1/runs", "http://mcp.example/a", "http://192.168.1.1/a"),
    *("http://169.254.169.254/latest", "https://169.254.169.254/latest", "javascript:alert(1)"),
)


async def resolve(host: str, port: int) -> list[str]:
    if host.replace(".", "").isdigit() or ":" in host or host.startswith("0x"):
        return {"2130706433": ["127.0.0.1"], "0x7f000001": ["127.0.0.1"]}.get(host, [host])
    if host == "localhost":
        return ["127.0.0.1"]
    if host not in KNOWN:
        raise OSError("not known")
    return KNOWN[host]


async def hostile_addresses() -> Figure:
    """What a server may not send this app, or its owner, to."""
    reached_at, tried = [], 0
    OWN_PORTS.add(OWN)
    try:
        for server, addresses in (
            ("https://mcp.example/mcp", FROM_THE_INTERNET),
            ("https://both.example/mcp", FROM_THE_INTERNET),
            ("http://127.0.0.1:9/mcp", FROM_THIS_COMPUTER),
        ):
            for address in addresses:
                tried += 1
                with contextlib.suppress(ToolError):
                    await Reachable(server, resolve).addresses(address)
                    reached_at.append(f"{address} of {server}")
        for server, address in (
            ("https://mcp.example/mcp", "https://both.example/a"),
            ("http://127.0.0.1:9/mcp", "http://127.0.0.1:10/a"),
            ("http://127.0.0.1:9/mcp", "https://mcp.example/a"),
            ("https://office.example/mcp", "https://office.example/a"),
        ):
            await Reachable(server, resolve).addresses(address)
    finally:
        OWN_PORTS.discard(OWN)
    for words in reached_at:
        print(f"  reached: {words}")
    return Figure("OAuth, hostile addresses reached", f"{len(reached_at)} of {tried}", "0", not reached_at)


HOSTILE: tuple[Manners, ...] = (
    Manners(metadata={"issuer": "https://bank.example"}),
    Manners(metadata={"authorization_endpoint": "javascript:alert(1)"}),
    Manners(metadata={"authorization_endpoint": "http://10.0.0.1/authorize"}),
    Manners(metadata={"token_endpoint": "http://169.254.169.254/token"}),
    Manners(metadata={"token_endpoint": "http://10.0.0.1/token"}),
    Manners(metadata={"registration_endpoint": "http://169.254.169.254/register"}),
    Manners(metadata={"code_challenge_methods_supported": ["plain"]}),
    Manners(metadata={"code_challenge_methods_supported": None}),
    Manners(metadata={"scopes_supported": ["x" * 2_000_000]}),
    Manners(metadata={"authorization_endpoint": "https://example.org/?" + "x" * 5_000}),
    Manners(resource={"resource": "https://bank.example/mcp"}),
    Manners(resource={"authorization_servers": ["http://169.254.169.254/"]}),
    Manners(resource={"authorization_servers": []}),
)


async def hostile_metadata(documents: tuple[Manners, ...]) -> Figure:
    """Documents that would lead astray: nobody is registered, and nobody gets a link."""
    led = []
    for manners in documents:
        with tempfile.TemporaryDirectory() as folder:
            async with serving(manners) as servers, Person(Path(folder)).hub(servers) as hub:
                await reached(hub, "sign-in", name=NAME)
                with contextlib.suppress(ToolError):
                    await hub.sign_in(NAME)
                    led.append(f"{manners.metadata or manners.resource}"[:100])
                if servers.asked["register"] + servers.asked["authorize"]:
                    led.append(f"asked {servers.asked} by {manners.metadata or manners.resource}"[:100])
    for words in led:
        print(f"  led astray: {words}")
    return Figure("OAuth, hostile documents followed", f"{len(led)} of {len(documents)}", "0", not led)


async def told_secrets() -> Figure:
    """Tokens, codes, secrets and states that lie anywhere but where keys are kept, or that a server's answer told."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with serving(
            Manners(metadata={"token_endpoint_auth_methods_supported": ["client_secret_post"]})
        ) as servers:
            async with guarded(folder, servers, signed_in=True) as world:
                runs = [await world.call(CHANGE)]
                await world.asked(runs[0])
                went = await world.signs_in()
                runs.append(await world.call(f"{NAME}__tell"))
                texts = [(await world.result(run))[1] for run in runs]
                exported = [await _exported(world, run.run_id) for run in runs]
            secrets = {*servers.secrets, went[1].params["state"], went[1].params["code_challenge"]}
            stored = await asyncio.to_thread(_stored, folder)
    told = [secret for secret in secrets for text in (*texts, *exported, *stored, world.tab) if secret in text]
    value = f"{len(told)} of {len(secrets)} in {len(stored)} files, {len(exported)} exports, results and pages"
    return Figure("OAuth, secrets told", value, "0", not told and len(secrets) >= 7)


def _stored(folder: Path) -> list[str]:
    """All that lies in the data folder but the file of the keys, which has them all."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "provider-keys.json")
    return [path.read_text("utf-8", "replace") for path in files]


async def _exported(world: Guarded, run_id: str) -> str:
    exports = world.workbench.exports
    written = [await exports.export(run_id, "jsonl"), await exports.export(run_id, "html")]
    return "".join(one.content.decode("utf-8", "replace") for one in written)
