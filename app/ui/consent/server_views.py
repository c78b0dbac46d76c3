"""What would be started or asked, exactly, and each tool that is not what was agreed to, before and after."""

import json
from collections.abc import Sequence

from app.domain.tool_settings import HttpTransport, McpServer, StdioTransport
from app.domain.tools import ToolSpec
from app.tools.mcp.launching import command_line
from app.tools.mcp.states import ToolChange
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.visible import visible

COMMAND_TITLE = "This command would be started on your computer"
COMMAND_MEANING = (
    "It runs as you, with all that you may do on this computer, and may reach the network. Of this app's environment "
    "it gets what every program needs and what is listed here, no keys. Its tools can then be given to agents. You "
    "are asked again when the command changes. Start only what you trust."
)
ADDRESS_TITLE = "This address would be asked"
ADDRESS_MEANING = (
    "Whatever agents give its tools is sent there, together with the headers listed here. You are asked again when "
    "the address changes. Connect only to what you trust."
)


def consent_view(server: McpServer) -> Html:
    """What would be started or asked, exactly, and what that means."""
    match server.transport:
        case StdioTransport() as stdio:
            return _consent(server, COMMAND_TITLE, _variables("Environment it is given", stdio.env), COMMAND_MEANING)
        case HttpTransport() as http:
            return _consent(server, ADDRESS_TITLE, _variables("Headers it is sent", http.headers), ADDRESS_MEANING)


def _consent(server: McpServer, title: str, given: Html, meaning: str) -> Html:
    consent = joined(
        tag("strong", icon("security"), title),
        tag("pre", command_line(server), cls="code-box", tabindex="0", data_testid="consent-command"),
        given,
        tag("p", meaning, cls="what-to-do"),
    )
    return visible(consent)


def _variables(title: str, values: dict[str, str]) -> Html:
    if not values:
        return tag("p", f"{title}: nothing more.", cls="faint")
    names = (tag("code", name, cls="chip") for name in sorted(values))
    return tag("p", f"{title}: ", *names, data_testid="consent-variables")


def changes_view(changes: Sequence[ToolChange]) -> Html:
    """Each tool that is not what was agreed to, as it was and as it is."""
    return visible(joined(*(_change(change) for change in changes)))


def _change(change: ToolChange) -> Html:
    before, after = change.before, change.after
    if before is None:
        body = tag("pre", f"{after.description}\n{_schema(after)}", cls="code-box diff-added") if after else Html("")
        return _change_box(change.name, "new", body)
    if after is None:
        return _change_box(change.name, "gone", tag("pre", before.description, cls="code-box diff-removed"))
    parts = [
        _pair(name, old, new)
        for name, old, new in (
            ("Description", before.description, after.description),
            ("Title", before.title, after.title),
            ("Schema", _schema(before), _schema(after)),
            ("App", before.view or "none", after.view or "none"),
            ("May be called by", ", ".join(before.callers), ", ".join(after.callers)),
        )
        if old != new
    ]
    return _change_box(change.name, "changed", joined(*parts))


def _change_box(name: str, kind: str, body: Html) -> Html:
    title = tag("h3", tag("code", name), tag("span", kind, cls="chip"), cls="field-title")
    return tag("div", title, body, cls="tool-change", data_testid="tool-change", data_change=kind)


def _pair(name: str, old: str, new: str) -> Html:
    before = tag("div", tag("span", "Before", cls="faint"), tag("pre", old, cls="code-box diff-removed"))
    after = tag("div", tag("span", "After", cls="faint"), tag("pre", new, cls="code-box diff-added"))
    return joined(tag("h4", name, cls="faint"), tag("div", before, after, cls="change-pair"))


def _schema(spec: ToolSpec) -> str:
    return json.dumps(spec.parameters, indent=2, ensure_ascii=False)


CHANGES_WORDS = joined(
    tag("strong", icon("difference"), "Its tools are not what you agreed to"),
    tag(
        "p",
        "They are withheld from agents until you have looked at what is different: a server may try to talk a model "
        "into something by a tool's description.",
        cls="what-to-do",
    ),
)
