"""What the specification of MCP Apps asks of a host, and where it is shown that we do it, or why we do not.

The ids are those of `examples/conformance-server` in https://github.com/modelcontextprotocol/ext-apps, for the text of
2026-01-26. Its own runner is not published as a package, and judges some of them by what only a person can see.
"""

from dataclasses import dataclass
from typing import Literal

Clause = Literal["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "REQUIRED"]


@dataclass(frozen=True)
class Requirement:
    id: str
    clause: Clause
    shown_by: str = ""
    """The test, or the hostile view, that would tell if it were not so."""
    why_not: str = ""
    """In place of that: why we do otherwise, or why nothing can be shown."""


PROTOCOL = "test_the_protocol_is_spoken_as_it_is_written"
USED = "test_a_view_is_used_behind_the_gates_of_the_model_and_comes_back"
MOVED = "test_a_view_moves_by_keyboard_alone_and_at_its_own_wish"
REACHES = "test_a_view_reaches_what_its_servers_owner_allowed_and_no_more"
ASKED = "test_what_a_view_wants_of_a_person_is_asked"
CONTEXT = "test_a_message_of_a_view_is_a_draft_and_its_context_goes_along"

REQUIREMENTS = (
    Requirement("security/iframe-sandboxed", "MUST", "sandbox_attributes"),
    Requirement("security/sandbox-proxy-required", "MUST", PROTOCOL),
    Requirement("security/sandbox-distinct-origin", "MUST", "page_dom"),
    Requirement(
        "security/sandbox-permissions",
        "MUST",
        why_not="The outer frame has both rights, as the text asks; the view itself has no origin. The catalogue "
        "infers the right from the view's own origin; with one it freezes our page and shares all views' storage.",
    ),
    Requirement("security/sandbox-proxy-ready", "MUST", "as_the_sandbox"),
    Requirement("security/sandbox-resource-ready", "MUST", "as_the_host"),
    Requirement("security/sandbox-csp-enforced", "MUST", REACHES),
    Requirement("security/sandbox-message-forwarding", "MUST", PROTOCOL),
    Requirement("security/sandbox-no-self-requests", "SHOULD NOT", PROTOCOL),
    Requirement("security/csp-construct-from-domains", "MUST", REACHES),
    Requirement("security/csp-default-deny", "MUST", "fetches"),
    Requirement("security/csp-allow-declared", "MUST", REACHES),
    Requirement("security/csp-no-loosening", "MUST NOT", "more_than_allowed"),
    Requirement("security/permissions-allow-attr", "MAY", why_not="Of the four only the clipboard can be allowed."),
    Requirement(
        "security/csp-audit-log",
        "SHOULD",
        why_not="The server's page and each view say what it asked for and was kept from; no log repeats it.",
    ),
    Requirement("security/external-domain-warning", "SHOULD", REACHES),
    Requirement("security/global-allowlist", "MAY", why_not="Origins are allowed per server, and none at first."),
    Requirement("lifecycle/initialize-capabilities", "MUST", PROTOCOL),
    Requirement("lifecycle/tool-input", "MUST", PROTOCOL),
    Requirement(
        "lifecycle/tool-input-partial",
        "MAY",
        why_not="A view is opened when its call has come back; nothing is partial.",
    ),
    Requirement("lifecycle/tool-input-partial-stop", "MUST", PROTOCOL),
    Requirement("lifecycle/tool-result", "MUST", PROTOCOL),
    Requirement(
        "lifecycle/tool-cancelled",
        "MUST",
        why_not="A call that was cancelled brings no view: nobody is there to be told.",
    ),
    Requirement("lifecycle/teardown-notify", "MUST", PROTOCOL),
    Requirement("lifecycle/teardown-await", "SHOULD", PROTOCOL),
    Requirement("tools/proxy-call", "MAY", USED),
    Requirement("visibility/app-tool-hidden", "MUST NOT", "test_a_tool_for_views_is_no_tool_of_the_model"),
    Requirement("visibility/app-tool-call-guard", "MUST", "tools_for_models_only"),
    Requirement("resources/read-referenced", "MUST", USED),
    Requirement("resources/prefetch", "MAY", why_not="A view is read when its tool was called: it may have changed."),
    Requirement("context/initialize-hostcontext", "SHOULD", PROTOCOL),
    Requirement("context/context-changed", "MAY", PROTOCOL),
    Requirement("dimensions/listen-size-changed", "MUST", "test_a_view_grows_only_so_far"),
    Requirement("display/no-undeclared-mode", "MUST NOT", "undeclared_modes"),
    Requirement("display/return-resulting-mode", "MUST", MOVED),
    Requirement("display/unavailable-returns-current", "SHOULD", MOVED),
    Requirement("display/decline-undeclared", "MAY", "undeclared_modes"),
    Requirement("links/open-external", "SHOULD", ASKED),
    Requirement("messages/add-to-conversation", "SHOULD", CONTEXT),
    Requirement("messages/consent", "MAY", CONTEXT),
    Requirement("model-context/provide-future-turns", "SHOULD", CONTEXT),
    Requirement("model-context/last-wins", "SHOULD", CONTEXT),
    Requirement("model-context/overwrite-defer-dedupe-display", "MAY", CONTEXT),
    Requirement("capabilities/mimetypes-required", "REQUIRED", PROTOCOL),
    Requirement("capabilities/server-passthrough", "SHOULD", PROTOCOL),
)
