"""What the MCP library does not do, and this app does in its place. One that fails here may be dropped there."""

import asyncio
import time
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from tests.oauth_servers import Manners, Servers, opened, refused_with, serving
from tests.waiting import PATIENCE

CALLBACK = "http://127.0.0.1:18999/oauth/callback"


class Kept:
    """All that the library asks to be kept."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """Opens every address, and counts them."""

    def __init__(self) -> None:
        self.addresses: list[str] = []

    async def go(self, address: str) -> None:
        self.addresses.append(address)

    async def come_back(self) -> AuthorizationCodeResult:
        back = (await opened(self.addresses[-1])).params
        return AuthorizationCodeResult(code=back["code"], state=back["state"], iss=back.get("iss"))

    def provider(self, servers: Servers, kept: Kept) -> OAuthClientProvider:
        metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], token_endpoint_auth_method="none")
        return OAuthClientProvider(servers.url, metadata, kept, self.go, self.come_back)


async def call(servers: Servers, auth: httpx2.Auth, *names: str) -> float:
    """Seconds that these calls take side by side."""
    async with (
        httpx2.AsyncClient(auth=auth, timeout=PATIENCE) as http,
        Client(streamable_http_client(servers.url, http_client=http)) as client,
    ):
        await client.call_tool("whoami", {})
        began = time.perf_counter()
        await asyncio.gather(*(client.call_tool(name, {}) for name in names))
        return time.perf_counter() - began


async def test_calls_wait_for_one_another():
    async with serving() as servers:
        assert await call(servers, Person().provider(servers, Kept()), "slow", "slow", "slow") >= 1.5


async def test_a_token_that_ended_is_not_renewed_after_a_restart():
    async with serving() as servers:
        person, kept = Person(), Kept()
        await call(servers, person.provider(servers, kept))
        servers.expire()
        await call(servers, person.provider(servers, kept))
        assert servers.asked["refresh"] == 0 and len(person.addresses) == 2


async def test_a_client_that_was_registered_for_another_port_is_used_all_the_same():
    async with serving() as servers:
        person, kept = Person(), Kept()
        await call(servers, person.provider(servers, kept))
        assert kept.client is not None
        servers.clients[kept.client.client_id].redirect_uris = [AnyUrl("http://127.0.0.1:1/oauth/callback")]
        kept.client.redirect_uris, kept.tokens = [AnyUrl("http://127.0.0.1:1/oauth/callback")], None
        with pytest.raises(BaseExceptionGroup):  # the person's browser is told, and nobody else
            await call(servers, person.provider(servers, kept))
        assert await refused_with(person.addresses[-1]) == 400
        assert servers.asked["register"] == 1


async def test_a_server_without_s256_is_trusted():
    async with serving(Manners(metadata={"code_challenge_methods_supported": ["plain"]})) as servers:
        person = Person()
        await call(servers, person.provider(servers, Kept()))
        assert len(person.addresses) == 1


async def test_a_person_who_is_sent_back_with_an_error_cannot_be_told_apart():
    assert "error" not in AuthorizationCodeResult.model_fields


async def test_the_names_that_are_leaned_on_are_there():
    provider = OAuthClientProvider(
        "https://example.org/mcp", OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)]), Kept()
    )
    provider.context.client_info = OAuthClientInformationFull(client_id="mine")
    provider.context.current_tokens = OAuthToken(access_token="a", refresh_token="r")
    provider.context.oauth_metadata = OAuthMetadata.model_validate(
        {f"{name}": "https://as.example/x" for name in ("issuer", "authorization_endpoint", "token_endpoint")}
    )
    provider.context.protocol_version = "2025-11-25"
    request = await provider._refresh_token()
    assert str(request.url) == "https://as.example/x"
    assert parse_qs(request.content.decode())["resource"] == ["https://example.org/mcp"]
    assert await provider._handle_refresh_response(httpx2.Response(400, request=request)) is False
    assert provider._select_authorization_server(["https://a/", "https://b/"]) == "https://a/"
    data, headers = provider.context.prepare_token_auth({"client_id": "mine"}, {})
    assert (data, headers) == ({"client_id": "mine"}, {})
    assert urlsplit(str(request.url)).netloc == "as.example"
    assert callable(provider._handle_token_response) and callable(provider._initialize)
