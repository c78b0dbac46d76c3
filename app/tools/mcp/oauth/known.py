"""What is known of a server when a way through OAuth begins, as the MCP library asks for it. Heavy: import it late."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass

from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl, JsonValue

from app.domain.tool_settings import McpGrant
from app.tools.mcp.oauth.desk import words


@dataclass(frozen=True)
class Secrets:
    """What is kept where keys are, and shown to nobody."""

    access_token: str = ""
    refresh_token: str = ""
    client_secret: str = ""


class Known:
    """The library's storage. Nothing is stored by it: all of a sign-in has worked before any of it is kept."""

    def __init__(self, grant: McpGrant | None, secrets: Secrets, *, with_client: bool = True) -> None:
        """Without its client another one is registered, for what was granted before and what is asked now."""
        self._client = grant if with_client else None
        self._secrets = secrets
        self._scope = grant.scope if grant else ""

    @property
    def tokens(self) -> OAuthToken:
        return OAuthToken(
            access_token=self._secrets.access_token,
            refresh_token=self._secrets.refresh_token or None,
            scope=self._scope or None,
        )

    async def get_tokens(self) -> OAuthToken | None:
        """Without what renews it: that was tried before anybody is asked."""
        return self.tokens.model_copy(update={"refresh_token": None}) if self._secrets.access_token else None

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        client = self._client
        if client is None:
            return None
        return OAuthClientInformationFull(
            client_id=client.client_id,
            client_secret=self._secrets.client_secret or None,
            token_endpoint_auth_method=client.auth_method,
            redirect_uris=[AnyUrl(client.redirect_uri)] if client.redirect_uri else None,
            scope=client.client_scope or None,
            issuer=client.issuer or None,
        )

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """They are in the flow."""

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Likewise."""


def who(answer: JsonValue) -> str:
    """Whom an id token names. It comes from the token endpoint itself, so that need not be proved (OpenID 3.1.3.7)."""
    token = answer.get("id_token") if isinstance(answer, dict) else None
    try:
        middle = str(token).split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
    except (ValueError, IndexError):
        return ""
    found: Mapping[str, object] = claims if isinstance(claims, dict) else {}
    named = (found.get(claim) for claim in ("email", "preferred_username", "name"))
    return words(next((one for one in named if isinstance(one, str) and one), ""))
