"""Searching the web, through servers that answer as the providers do."""

import json
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from app.domain.errors import InvalidArguments, ToolError
from app.domain.settings import Preferences, WebSearch
from app.tools.builtin.web_search import Search
from app.tools.function.tool import AnyTool
from app.tools.http.web_search_providers import PROVIDERS
from tests.tools.answering import Answering, Handler, answering, redirecting, saying
from tests.tools.builtin.using import told_by

KEY = "tvly-0123456789"
KEYS = {"BRAVE_API_KEY": KEY, "TAVILY_API_KEY": KEY, "MINE": "my-own-key"}
PAGES = {
    "results": [
        {"title": "First", "url": "https://one.example/", "content": "About  one", "score": 0.9},
        {"title": None, "url": "https://two.example/", "content": None},
        {"title": "Third", "url": "https://three.example/", "content": "x" * 9_000},
    ]
}
BRAVE_PAGES = {
    "web": {
        "results": [{"title": "A &amp; <b>B</b>", "url": "https://one.example/", "description": "<strong>one</strong>"}]
    }
}
FIRST_TWO = "1. First\nhttps://one.example/\nAbout one\n\n2. \nhttps://two.example/"


def web_search(settings: WebSearch, server: Answering | None = None, keys: Mapping[str, str] = KEYS) -> AnyTool:
    """The tool with the services at the server's address."""
    address = server.url().rstrip("/") if server else "http://127.0.0.1:1"
    providers = {name: replace(one, address=one.address and address) for name, one in PROVIDERS.items()}
    private = frozenset(["127.0.0.1"])
    return Search(
        lambda: Preferences(web_search=settings), lambda: keys, providers=providers, private_hosts=private
    ).tool()


def found(pages: object) -> Handler:
    return saying(json.dumps(pages), "application/json")


async def test_searxng_is_asked_at_its_owners_address_even_on_this_computer() -> None:
    async with answering({"/sub/search": found(PAGES)}) as server:
        settings = WebSearch(provider="searxng", address=server.url("/sub/"))
        tool = Search(lambda: Preferences(web_search=settings), dict).tool()
        assert await told_by(tool, query="gr&ün", count=2) == FIRST_TWO
    assert server.requests == ["GET /sub/search?q=gr%26%C3%BCn&format=json"]


async def test_brave_is_asked_with_its_key_in_a_header() -> None:
    async with answering({"/res/v1/web/search": found(BRAVE_PAGES)}) as server:
        text = await told_by(web_search(WebSearch(provider="brave"), server), query="a b", count=3)
    assert text == "1. A & B\nhttps://one.example/\none"
    assert server.requests == ["GET /res/v1/web/search?q=a+b&count=3"]
    assert server.headers[0]["X-Subscription-Token"] == KEY


async def test_tavily_is_asked_with_its_key_in_a_header() -> None:
    async with answering({"/search": found(PAGES)}) as server:
        text = await told_by(web_search(WebSearch(provider="tavily"), server), query="a", count=2)
    assert text == FIRST_TWO
    assert (json.loads(server.bodies[0]), server.headers[0]["Authorization"]) == (
        {"query": "a", "max_results": 2},
        f"Bearer {KEY}",
    )


async def test_the_key_may_be_in_another_variable() -> None:
    async with answering({"/search": found(PAGES)}) as server:
        await told_by(web_search(WebSearch(provider="tavily", key_variable="MINE"), server), query="a")
    assert server.headers[0]["Authorization"] == "Bearer my-own-key"


async def test_until_it_is_turned_on_it_says_so_and_where() -> None:
    with pytest.raises(ToolError, match=r"^Web search is off\. Choose a provider under Tools → web_search"):
        await told_by(web_search(WebSearch()), query="a")


async def test_a_key_that_is_not_set_is_asked_for_by_its_name() -> None:
    with pytest.raises(ToolError, match="Brave Search needs a key: set the environment variable BRAVE_API_KEY"):
        await told_by(web_search(WebSearch(provider="brave"), keys={}), query="a")


async def test_a_searxng_without_an_address_is_told() -> None:
    with pytest.raises(ToolError, match=r"SearXNG has no address. Write it under Tools → web_search"):
        await told_by(web_search(WebSearch(provider="searxng")), query="a")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "Tavily refused the key in TAVILY_API_KEY"),
        (432, "Tavily takes no more searches now"),
        (429, "Tavily takes no more searches now"),
        (500, "Tavily answered with status 500. Try again later."),
    ],
)
async def test_a_refusal_is_told_without_the_key(status: int, words: str) -> None:
    async with answering({"/search": saying(f"bad key {KEY}", status=status)}) as server:
        with pytest.raises(ToolError, match=words) as error:
            await told_by(web_search(WebSearch(provider="tavily"), server), query="a")
    assert KEY not in str(error.value)


async def test_a_searxng_that_gives_no_json_is_told_how_to() -> None:
    async with answering({"/search": saying("", status=403)}) as server:
        settings = WebSearch(provider="searxng", address=server.url())
        with pytest.raises(ToolError, match=r"add 'json' to 'search: formats:' in its settings.yml"):
            await told_by(web_search(settings, server), query="a")


@pytest.mark.parametrize("answer", ["<html>", "[]", '{"results": 5}', '{"results": [3]}'])
async def test_an_answer_in_another_form_is_told(answer: str) -> None:
    async with answering({"/search": saying(answer)}) as server:
        with pytest.raises(ToolError, match="answered in another form than expected"):
            await told_by(web_search(WebSearch(provider="tavily"), server), query="a")


async def test_nothing_found_is_told() -> None:
    async with answering({"/res/v1/web/search": found({"type": "search"})}) as server:
        assert (await told_by(web_search(WebSearch(provider="brave"), server), query="a")).startswith(
            "Nothing was found"
        )


async def test_a_long_text_of_a_page_is_shortened() -> None:
    async with answering({"/search": found(PAGES)}) as server:
        text = await told_by(web_search(WebSearch(provider="tavily"), server), query="a")
    assert text.endswith("\n" + "x" * 500)


async def test_a_service_that_redirects_elsewhere_gets_no_key_there() -> None:
    async with answering({}) as other, answering({"/search": redirecting(other.url(host="localhost"), 307)}) as server:
        with pytest.raises(ToolError, match="redirects the POST to localhost"):
            await told_by(web_search(WebSearch(provider="tavily"), server), query="a")
    assert (urlsplit(other.url()).port, other.requests) == (other.port, [])


@pytest.mark.parametrize("arguments", [{"query": "a", "count": 0}, {"query": "a", "count": 21}, {}])
async def test_arguments_that_do_not_fit_are_told(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidArguments):
        await told_by(web_search(WebSearch(provider="tavily")), **arguments)


async def test_an_empty_query_is_told() -> None:
    with pytest.raises(ToolError, match="'query' is empty"):
        await told_by(web_search(WebSearch(provider="tavily")), query="  ")
