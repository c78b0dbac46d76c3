"""The door's rules, one by one, in front of a small app."""

import re
from collections.abc import AsyncIterator
from functools import partial

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from app.api.door.security import API_BODY, ENVELOPE, Door, install
from app.domain.keys import ApiKey, secret_digest
from app.domain.values import now
from app.export.limits import LARGEST_AGENT
from tests.door import NoGuests, evil_hosts, evil_origins
from tests.signed_in import BROWSER, one_browser

PORT = 8765
TOKEN = "A-token-of-tests-with-43-characters-_0123456"
COOKIE = f"agent_playground_{PORT}={BROWSER}"
HERE = f"http://127.0.0.1:{PORT}"
OWNER = {"Origin": HERE, "Cookie": COOKIE}


async def length(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


async def strict(_: Request) -> HTMLResponse:
    return HTMLResponse("", headers={"Content-Security-Policy": "sandbox", "Cache-Control": "max-age=60"})


async def crash(_: Request) -> PlainTextResponse:
    raise ZeroDivisionError


METHODS = ["GET", "POST"]
PAGE_BODY = LARGEST_AGENT + ENVELOPE
SMALL_APP = Starlette(
    routes=[
        Route("/", length, methods=METHODS),
        Route("/crash", crash),
        Route("/strict", strict),
        Route("/health", length, methods=METHODS),
        Route("/api/v1/runs", length, methods=METHODS),
    ]
)


class OneKey(NoGuests):
    """A script with a key for everything."""

    def key(self, secret: str) -> ApiKey | None:
        digest = secret_digest("key-of-a-script")
        key = ApiKey(id="1", name="script", secret_digest=digest, last_four="ript", created_at=now())
        return key if key.fits(secret) else None


@pytest.fixture
async def visitor() -> AsyncIterator[httpx.AsyncClient]:
    """Somebody at the door who shows nothing yet."""
    door = Door(SMALL_APP, port=PORT, token=TOKEN, sign_ins=one_browser(), guests=OneKey())
    transport = httpx.ASGITransport(app=door, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
        yield client


async def test_the_cookie_opens_the_app(visitor: httpx.AsyncClient) -> None:
    assert (await visitor.get("/", headers={"Cookie": f"theirs=1; {COOKIE}; junk; =x"})).status_code == 200


async def test_the_token_of_the_address_becomes_a_cookie_and_leaves_the_address(visitor: httpx.AsyncClient) -> None:
    answer = await visitor.get("/runs", params={"token": TOKEN, "q": 'a"b&c', "page": "2"})

    assert answer.status_code == 200
    name, shown, rest = re.fullmatch(r"(\w+)=([\w-]+); (.*)", answer.headers["set-cookie"]).groups()
    assert name == f"agent_playground_{PORT}" and TOKEN not in shown
    assert rest == "HttpOnly; Max-Age=34560000; Path=/; SameSite=strict"
    assert '<meta http-equiv="refresh" content="0;url=/runs?q=a%22b%26c&amp;page=2">' in answer.text
    assert TOKEN not in answer.text


async def test_a_browser_that_is_signed_in_is_led_out_of_the_address_and_not_signed_in_twice(
    visitor: httpx.AsyncClient,
) -> None:
    answer = await visitor.get("/", params={"token": TOKEN}, headers={"Cookie": COOKIE})

    assert 'content="0;url=/"' in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", ["//evil.example/x", "/\\evil.example/x", '/"><script>'])
async def test_the_cleaned_address_stays_on_this_origin(visitor: httpx.AsyncClient, path: str) -> None:
    answer = await visitor.get(f"{HERE}{path}", params={"token": TOKEN})

    assert 'content="0;url=/' in answer.text
    assert 'content="0;url=//' not in answer.text
    assert "<script>" not in answer.text


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "A", "ü"])
async def test_a_wrong_token_opens_nothing(visitor: httpx.AsyncClient, token: str) -> None:
    assert (await visitor.get("/", params={"token": token})).status_code == 401
    assert (await visitor.get("/", headers={"Cookie": f"agent_playground_{PORT}={token}".encode()})).status_code == 401
    assert (await visitor.get("/api/v1/runs", headers={"X-API-Key": token.encode()})).status_code == 401


async def test_the_token_in_the_address_of_a_change_opens_nothing(visitor: httpx.AsyncClient) -> None:
    assert (await visitor.post("/", params={"token": TOKEN}, headers={"Origin": HERE})).status_code == 401


async def test_localhost_is_sent_to_the_address_the_app_answers_as(visitor: httpx.AsyncClient) -> None:
    answer = await visitor.get(f"http://localhost:{PORT}//runs/a b", params={"token": TOKEN})

    assert answer.status_code == 307
    assert answer.headers["location"] == f"{HERE}/runs/a%20b?token={TOKEN}"


async def test_nothing_is_changed_under_the_name_of_localhost(visitor: httpx.AsyncClient) -> None:
    localhost = {"Host": f"localhost:{PORT}", "Origin": f"http://localhost:{PORT}", "Cookie": COOKIE}
    answer = await visitor.post("/", headers=localhost)

    assert answer.status_code == 421
    assert HERE in answer.text


@pytest.mark.parametrize("host", evil_hosts(PORT))
async def test_another_name_is_refused_whatever_is_shown(visitor: httpx.AsyncClient, host: str | None) -> None:
    assert (await visitor.get("/", headers={**OWNER, "Host": host or ""})).status_code == 421
    assert (await visitor.get("/health", headers={"Host": host or ""})).status_code == 421


async def test_two_names_are_refused(visitor: httpx.AsyncClient) -> None:
    twice = [("Host", f"127.0.0.1:{PORT}"), ("Host", f"127.0.0.1:{PORT}"), ("Cookie", COOKIE)]
    assert (await visitor.get("/", headers=twice)).status_code == 421


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
@pytest.mark.parametrize("origin", evil_origins(PORT))
async def test_a_foreign_page_is_refused_whatever_it_shows(
    visitor: httpx.AsyncClient, origin: str, method: str
) -> None:
    shown = {**OWNER, "Origin": origin, "Authorization": f"Bearer {TOKEN}", "Sec-Fetch-Site": "same-origin"}
    answer = await visitor.request(method, "/api/v1/runs", headers=shown)

    assert answer.status_code == 403
    assert not any(name.startswith("access-control") for name in answer.headers)


async def test_two_origins_are_refused(visitor: httpx.AsyncClient) -> None:
    twice = [("Origin", HERE), ("Origin", HERE), ("Cookie", COOKIE)]
    assert (await visitor.post("/", headers=twice)).status_code == 403


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        ({"Cookie": COOKIE}, 403),
        ({"Cookie": COOKIE, "X-API-Key": "wrong"}, 401),
        ({"Cookie": COOKIE, "Sec-Fetch-Site": "none"}, 403),
        ({"Cookie": COOKIE, "Sec-Fetch-Site": "same-site"}, 403),
        ({"Cookie": COOKIE, "Sec-Fetch-Site": "same-origin"}, 200),
        ({"Authorization": f"Bearer {TOKEN}"}, 200),
        ({"authorization": f"bearer  {TOKEN}"}, 200),
        ({"X-API-Key": "key-of-a-script"}, 200),
        ({"X-API-Key": "key-of-a-script", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({}, 401),
        ({"Sec-Fetch-Site": "none"}, 403),
        (OWNER, 200),
    ],
)
async def test_a_change_tells_where_it_comes_from(
    visitor: httpx.AsyncClient, shown: dict[str, str], status: int
) -> None:
    assert (await visitor.post("/api/v1/runs", headers=shown)).status_code == status


async def test_a_key_opens_the_api_and_no_page(visitor: httpx.AsyncClient) -> None:
    assert (await visitor.get("/api/v1/runs", headers={"X-API-Key": "key-of-a-script"})).status_code == 200
    assert (await visitor.get("/", headers={"X-API-Key": "key-of-a-script"})).status_code == 401
    assert (await visitor.get("/", headers={"Authorization": f"Bearer {TOKEN}"})).status_code == 401


@pytest.mark.parametrize(("mode", "status"), [("navigate", 200), ("no-cors", 403), ("cors", 403), ("websocket", 403)])
async def test_a_link_on_another_site_may_lead_here_but_its_scripts_may_not_ask(
    visitor: httpx.AsyncClient, mode: str, status: int
) -> None:
    for site in ("same-site", "cross-site"):
        shown = {"Cookie": COOKIE, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
        assert (await visitor.get("/", headers=shown)).status_code == status


async def test_health_needs_no_secret_and_tells_none(visitor: httpx.AsyncClient) -> None:
    answer = await visitor.get("/health")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert (await visitor.get("/health/")).status_code == 401
    assert (await visitor.post("/health", headers={"Origin": HERE})).status_code == 401


async def test_a_person_is_told_which_address_to_open(visitor: httpx.AsyncClient) -> None:
    answer = await visitor.get("/runs", headers={"Accept": "text/html,*/*"})

    assert answer.status_code == 401
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "the whole address that was printed when it started" in answer.text


@pytest.mark.parametrize("path", ["/runs/a%22%3E%3Cb", "//evil.example/"])
async def test_who_follows_a_link_from_elsewhere_gets_one_of_ours(visitor: httpx.AsyncClient, path: str) -> None:
    asked = {"Accept": "text/html", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    page = await visitor.get(f"{HERE}{path}", headers=asked)
    assert page.status_code == 401
    [link] = re.findall(r'href="(/[^"]*)"', page.text)
    assert link in ("/runs/a%22%3E%3Cb", "/evil.example/")
    assert "from here" not in (await visitor.get("/", headers={"Accept": "text/html"})).text


async def test_a_program_is_told_in_the_envelope_of_the_api(visitor: httpx.AsyncClient) -> None:
    answer = await visitor.get("/api/v1/runs", headers={"Accept": "text/html"})

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["success"] is False
    assert answer.json()["code"] == "unauthorized"
    assert "X-API-Key" in answer.json()["error"]


@pytest.mark.parametrize("path", ["/", "/runs", "/crash", "/health", "/api/v1/runs", "/?token=" + TOKEN])
@pytest.mark.parametrize("cookie", [COOKIE, ""])
async def test_every_answer_closes_the_browser_around_this_origin(
    visitor: httpx.AsyncClient, path: str, cookie: str
) -> None:
    headers = (await visitor.get(path, headers={"Cookie": cookie})).headers

    assert "default-src 'self'" in headers["content-security-policy"]
    assert f"connect-src 'self' ws://127.0.0.1:{PORT};" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"


async def test_what_a_route_says_more_strictly_stays(visitor: httpx.AsyncClient) -> None:
    headers = (await visitor.get("/strict", headers=OWNER)).headers

    assert headers.get_list("content-security-policy") == ["sandbox"]
    assert headers.get_list("cache-control") == ["max-age=60"]


@pytest.mark.parametrize(("path", "allowed"), [("/", PAGE_BODY), ("/api/v1/runs", API_BODY)])
async def test_a_body_may_be_as_large_as_allowed_and_no_larger(
    visitor: httpx.AsyncClient, path: str, allowed: int
) -> None:
    assert (await visitor.post(path, headers=OWNER, content=b"x" * allowed)).text == str(allowed)
    assert (await visitor.post(path, headers=OWNER, content=b"x" * (allowed + 1))).status_code == 413


async def test_a_body_that_does_not_tell_its_size_is_counted_while_it_arrives(visitor: httpx.AsyncClient) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 100 * PAGE_BODY:
            sent += 65536
            yield bytes(65536)

    assert (await visitor.post("/", headers=OWNER, content=endless())).status_code == 413
    assert sent <= PAGE_BODY + 65536


async def test_the_app_never_gets_more_than_allowed() -> None:
    hoard = 0

    async def hoarder(_: Scope, receive: Receive, __: Send) -> None:
        nonlocal hoard
        while (message := await receive())["type"] == "http.request":
            hoard += len(message["body"])

    async def pieces() -> AsyncIterator[bytes]:
        yield bytes(PAGE_BODY)
        yield b"x"

    transport = httpx.ASGITransport(
        app=Door(hoarder, port=PORT, token=TOKEN, guests=NoGuests(), sign_ins=one_browser())
    )
    async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
        assert (await client.post("/", headers=OWNER, content=pieces())).status_code == 413
    assert hoard == PAGE_BODY


async def test_a_crash_of_the_app_reaches_the_log() -> None:
    transport = httpx.ASGITransport(
        app=Door(SMALL_APP, port=PORT, token=TOKEN, guests=NoGuests(), sign_ins=one_browser())
    )
    async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
        with pytest.raises(ZeroDivisionError):
            await client.get("/crash", headers=OWNER)


async def test_what_is_too_large_is_told_in_words(visitor: httpx.AsyncClient) -> None:
    answer = await visitor.post("/api/v1/runs", headers=OWNER, content=b"x" * (API_BODY + 1024**2))

    assert answer.json()["error"] == "At most 10 MiB can be sent at once."
    assert answer.json()["code"] == "too_large"


@pytest.mark.parametrize("path", ["/api/v1/runs/%0A", "/api/v1/keys/%0a/x", "/runs%0A"])
async def test_an_address_with_a_line_break_is_not_there(visitor: httpx.AsyncClient, path: str) -> None:
    assert (await visitor.get(path)).status_code == 401
    answer = await visitor.get(path, headers=OWNER)

    assert answer.status_code == 404 and "line break" in answer.text
    assert not path.startswith("/api/") or answer.json()["code"] == "not_found"


@pytest.mark.parametrize("token", ["", "short", "with space and more", "ünïcödeünïcödeünïcöde"])
def test_a_token_that_is_no_secret_is_not_taken(token: str) -> None:
    with pytest.raises(ValueError, match="16 or more"):
        Door(SMALL_APP, port=PORT, token=token, guests=NoGuests())


async def test_the_door_cannot_be_put_into_a_house_that_is_open() -> None:
    house = Starlette()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=house), base_url=HERE) as client:
        await client.get("/")
    with pytest.raises(RuntimeError, match="before the first request"):
        install(house, partial(Door, port=PORT, token=TOKEN, guests=NoGuests()))


async def test_what_is_added_after_the_door_stands_behind_it() -> None:
    house = Starlette()
    install(house, partial(Door, port=PORT, token=TOKEN, guests=NoGuests(), sign_ins=one_browser()))
    house.add_route("/late", length)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=house), base_url=HERE) as client:
        assert (await client.get("/late")).status_code == 401
        assert (await client.get("/late", headers=OWNER)).status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:80"])
async def test_the_port_of_plain_http_goes_without_saying(host: str) -> None:
    door = Door(SMALL_APP, port=80, token=TOKEN, guests=NoGuests(), sign_ins=one_browser())
    cookie = f"agent_playground_80={BROWSER}"
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=door), base_url="http://127.0.0.1") as client:
        shown = {"Host": host, "Origin": "http://127.0.0.1", "Cookie": cookie}
        assert (await client.post("/", headers=shown)).status_code == 200
