"""MCP servers as a page shows them: state, consent, what changed, log, findings."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from app.domain.tools import ToolSpec
from app.tools.mcp.launching import command_line
from app.tools.mcp.states import Finding, ServerState, Step
from app.ui.elements.addresses import mcp_server_address, tool_address
from app.ui.elements.doctor_view import DoctorStep, doctor_steps, steps_view
from app.ui.elements.format import head, plural, tokens_about
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.status_pill import SERVER_WORDS, server_chip
from app.ui.elements.visible import visible

STEP_TITLES: dict[Step, str] = {
    "command found": "The command is found",
    "starts": "It starts",
    "handshake": "It speaks MCP",
    "tools listed": "It lists its tools",
    "first call": "A tool can be called",
}


def server_row(state: ServerState) -> Html:
    """A server in the list of all."""
    server = state.server
    link = tag("a", server.name, href=mcp_server_address(server.name), cls="source-name truncate", data_key=server.name)
    number = tag("span", plural(len(state.tools), "tool"), cls="faint") if state.tools else ""
    line = tag("div", icon("dns"), link, server_chip(state), number, cls="row-line")
    trouble = tag("p", head(state.problem, 200), cls="is-bad") if state.problem else ""
    command = tag("code", head(command_line(server), 160), cls="source-command truncate")
    return tag("li", line, command, trouble, cls="source-row", data_testid="mcp-server", data_server=server.name)


def problem_view(state: ServerState, now: datetime) -> Html:
    """What went wrong, what to do, and when it is tried again."""
    if not state.problem:
        return Html("")
    return tag(
        "div",
        tag("strong", icon("error"), SERVER_WORDS[state.status][0]),
        tag("p", state.problem, cls="pre-line", data_testid="server-problem"),
        tag("p", next_try(state.retry_at, now), cls="mark") if state.retry_at else "",
        cls="notice notice-bad",
    )


def next_try(at: datetime, now: datetime) -> str:
    seconds = round((at - now).total_seconds())
    return f"Next try in {seconds} s" if seconds > 0 else "Trying again now"


def tools_view(state: ServerState, tokens: Mapping[str, int]) -> Html:
    """Its tools, with what each takes of a model's context; links only while they can be used."""
    if not state.tools:
        return tag("p", "No tools are known of it yet.", cls="faint")
    linked = state.status not in ("off", "consent", "changed")
    rows = (_tool(spec, tokens[spec.name], linked=linked) for spec in state.tools)
    return visible(joined(_all_tokens(state, tokens), tag("ul", *rows, cls="file-tools")))


def _all_tokens(state: ServerState, tokens: Mapping[str, int]) -> Html:
    """What the whole server takes."""
    number = sum(tokens[spec.name] for spec in state.tools if "model" in spec.callers)
    words = f"Together their descriptions take {tokens_about(number)} of a model's context."
    return tag("p", words, cls="faint", data_testid="server-tokens")


def _tool(spec: ToolSpec, tokens: int, *, linked: bool) -> Html:
    for_models = "model" in spec.callers
    name = tag("a", spec.name, href=tool_address(spec.name)) if linked and for_models else tag("code", spec.name)
    app = "for apps only" if not for_models else "brings an app" if spec.view else ""
    line = tag("div", name, tag("span", app, cls="chip"), cls="row-line") if app else name
    size = tag("span", tokens_about(tokens), cls="faint tool-tokens") if for_models else ""
    return tag("li", line, size, tag("span", head(spec.description, 160), cls="faint"), data_testid="server-tool")


def log_view(lines: Sequence[str]) -> Html:
    if not lines:
        return tag("p", "Nothing yet. What the server writes to its standard error appears here.", cls="faint")
    return tag("pre", "\n".join(lines), data_testid="server-log")


def findings_view(findings: Sequence[Finding], *, running: bool) -> Html:
    """The steps one after another, ticked as they are found out."""
    found = [DoctorStep(one.step, STEP_TITLES[one.step], "works" if one.ok else "fails", one.text) for one in findings]
    return steps_view(doctor_steps(STEP_TITLES, found, running=running))
