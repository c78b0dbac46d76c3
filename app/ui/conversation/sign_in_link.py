"""A server asks to sign in: where, for what, and the link that leads there."""

from app.domain.tools import SignInRequest
from app.ui.elements.addresses import sign_in_address
from app.ui.elements.markup import Html, icon, joined, tag


def sign_in_view(request: SignInRequest) -> Html:
    """What a person has to know before they go, and the link in a tab of its own that learns nothing of this one."""
    spaced = [part for scope in request.scopes for part in (tag("code", scope, cls="chip"), " ")]
    facts = tag(
        "dl",
        *(tag("dt", "For the server"), tag("dd", request.server)),
        *(tag("dt", "You sign in at"), tag("dd", tag("strong", request.host, data_testid="sign-in-host"))),
        *(tag("dt", "It asks for"), tag("dd", *(spaced or ["nothing in particular"]), data_testid="sign-in-scopes")),
        cls="sign-in-facts",
    )
    # Where it would lead elsewhere by now, that is shown before.
    link = tag(
        "a",
        icon("open_in_new"),
        f"Sign in at {request.host}",
        href=sign_in_address(request.server, request.host, request.scopes),
        target="_blank",
        rel="noopener noreferrer",
        cls="sign-in-link",
        data_key="sign-in",
        data_testid="sign-in-link",
    )
    return joined(facts, link)
