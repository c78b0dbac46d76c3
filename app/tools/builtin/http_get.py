"""Reading an address of the web, as far as its owner allowed the host."""

from collections.abc import Callable

from app.domain.errors import ToolError
from app.domain.settings import Preferences
from app.domain.tools import CallContext, ToolOutput
from app.tools.function.tool import AnyTool, Tool
from app.tools.http.answer import answered
from app.tools.http.message import Sent
from app.tools.http.net_guard import Guard, Resolver, system_resolver
from app.tools.http.web import fetch

WAY_OUT = "Add it under Tools → http_get → allowed hosts."


class HttpGet:
    def __init__(
        self,
        preferences: Callable[[], Preferences],
        *,
        private_hosts: frozenset[str] = frozenset(),
        resolve: Resolver = system_resolver,
    ) -> None:
        """`private_hosts` are those that may be on this computer or in a private network."""
        self._preferences = preferences
        self._private_hosts = private_hosts
        self._resolve = resolve

    def tool(self) -> AnyTool:
        return Tool(self.http_get, title="HTTP GET", icon="public", idempotent=True)

    async def http_get(self, url: str, context: CallContext) -> ToolOutput:
        """Read a web page, a JSON interface or a file over HTTP.

        Returns a line with status, type, size and final address, and the text: web pages as readable text, JSON
        indented. A file that is no text, such as an image, is attached to the result. Only allowed hosts can be read,
        and never addresses of this computer or of private networks.

        Args:
            url: The whole address, such as https://example.org/page.
        """
        hosts = self._preferences().http_hosts
        if not hosts:
            raise ToolError(f"No host is allowed yet, so nothing can be read. {WAY_OUT.replace('it', 'one', 1)}")
        guard = Guard(hosts=hosts, way_out=WAY_OUT, private_hosts=self._private_hosts, resolve=self._resolve)
        return await answered(await fetch(Sent(url), guard), context)
