"""Signing in at one MCP server, and out again: where, as whom, for what; or as a client that its owner registered."""

from collections.abc import Callable

from nicegui import ui

from app.domain.errors import ToolError, WorkbenchError
from app.domain.tool_settings import HttpTransport, McpGrant
from app.tools.mcp.hub import McpHub
from app.tools.mcp.launching import has_key
from app.tools.mcp.states import ServerState
from app.ui.conversation.sign_in_link import sign_in_view
from app.ui.elements.buttons import button, loading
from app.ui.elements.focus import refocus
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.visible import visible

NEEDED = (
    "It answers nobody who is not signed in. You sign in on its provider's own page; this app gets a token for it, "
    "which is kept with your keys. If it gave you a key instead, put that into its headers."
)

OWN = "Where a provider registers no apps by itself, register one there, with this address to come back to: "


class McpSignIn(ui.element):
    """Hidden where nobody has to sign in. `show` is called again and again."""

    def __init__(self, hub: McpHub, name: str, look: Callable[[], None]) -> None:
        """`look` has it shown anew."""
        super().__init__("section")
        self.classes("panel tool-section").props('aria-label="Sign-in" data-testid=mcp-sign-in')
        self._hub, self._name, self._look = hub, name, look
        self._problem = ""
        with self:
            ui.html("Sign-in", sanitize=False, tag="h2").classes("section-title")
            self._words = LiveHtml().classes("stack")
            self._trouble = LiveHtml().props("role=alert")
            with ui.element("div").classes("row-line"):
                self._begin = button("Sign in…", self._sign_in, look="primary", icon="login", testid="sign-in-button")
                self._cancel = button("Cancel", self._break_off, look="quiet", testid="cancel-sign-in")
                self._leave = button("Sign out", self._sign_out, icon="logout", testid="sign-out-button")
            self._build_client()

    def _build_client(self) -> None:
        with ui.expansion("Use a client of your own").classes("fill") as self._own:
            words = tag("p", OWN, tag("code", self._hub.callback), cls="field-note")
            ui.html(words, sanitize=False)
            self._id = ui.input("Client ID").classes("fill").props("outlined dense spellcheck=false maxlength=2000")
            self._id.props('hint="Empty: the app registers itself anew"')
            self._id.props("data-testid=client-id autocomplete=off")
            self._secret = ui.input("Client secret (if it gave you one)", password=True).classes("fill")
            self._secret.props("outlined dense maxlength=4000 data-testid=client-secret autocomplete=off")
            button("Use it", self._use_client, testid="use-client")
        self._own.props("dense data-testid=own-client")

    def show(self, state: ServerState) -> None:
        """Show how it stands."""
        sign_in, transport = state.sign_in, state.server.transport
        needed = state.status == "sign-in" or sign_in.request is not None
        may = isinstance(transport, HttpTransport) and not has_key(transport)
        self.visible = may and (needed or sign_in.signed_in or sign_in.grant is not None)
        if sign_in.request is not None:
            self._words.show(visible(joined(_waiting(), sign_in_view(sign_in.request))))
        elif sign_in.signed_in and sign_in.grant is not None and not needed:
            self._words.show(visible(_granted(sign_in.grant)))
        else:
            self._words.show(tag("p", NEEDED, cls="what-to-do"))
        problem = self._problem or ("" if sign_in.request or (sign_in.signed_in and not needed) else sign_in.problem)
        fault = tag("p", icon("error_outline"), problem, cls="field-fault")
        self._trouble.show(visible(fault) if problem else Html(""))
        self._begin.visible = sign_in.request is None and (needed or not sign_in.signed_in)
        self._cancel.visible = sign_in.request is not None
        self._leave.visible = sign_in.signed_in and sign_in.request is None
        self._own.visible = sign_in.request is None and not (sign_in.signed_in and not needed)

    async def _sign_in(self) -> None:
        self._problem = ""
        with loading(self._begin):
            try:
                await self._hub.sign_in(self._name)
            except (ToolError, WorkbenchError) as problem:
                self._problem = str(problem)
        self._look()
        refocus(self, "[data-testid=sign-in-link]", "[data-testid=sign-in-button]")

    def _break_off(self) -> None:
        with problems_shown():
            self._hub.cancel_sign_in(self._name)

    async def _sign_out(self) -> None:
        with self.client, problems_shown(), loading(self._leave):  # the page may be another one by then
            revoked = await self._hub.sign_out(self._name)
            words = "the token was revoked" if revoked else "the token is forgotten here, and ends by itself there"
            ui.notify(f"Signed out: {words}.", timeout=5000)

    async def _use_client(self) -> None:
        with problems_shown():
            await self._hub.use_client(
                self._name, str(self._id.value or "").strip(), str(self._secret.value or "").strip()
            )
            self._secret.set_value("")
            self._problem = ""
            words = "The next sign-in is made as that client." if self._id.value else "The app registers itself again."
            ui.notify(words, timeout=3500)


def _waiting() -> Html:
    return tag("p", tag("strong", icon("hourglass_top"), "Waits for you to sign in, for ten minutes"), role="status")


def _granted(grant: McpGrant) -> Html:
    spaced = [part for scope in grant.scope.split() for part in (tag("code", scope, cls="chip"), " ")]
    by = "a client of your own" if grant.by_hand else "this app"
    rows = (("Signed in at", grant.host), ("As", grant.who), ("Known there as", by))
    return tag(
        "dl",
        *(part for title, text in rows if text for part in (tag("dt", title), tag("dd", text))),
        *(tag("dt", "It may"), tag("dd", *(spaced or ["what the provider lets it"]))),
        cls="sign-in-facts",
        data_testid="signed-in",
    )
