"""MCP servers as a page shows them, as pure functions."""

from datetime import UTC, datetime, timedelta

from app.domain.tool_settings import HttpTransport, McpServer, StdioTransport
from app.domain.tools import ToolSpec
from app.tools.mcp.states import Finding, ServerState, ToolChange
from app.ui.consent.server_views import changes_view, consent_view
from app.ui.elements.status_pill import server_chip
from app.ui.tools.mcp_views import findings_view, log_view, next_try, problem_view, server_row, tools_view

HOSTILE = "<script>hurt()</script>\"'><img src=x onerror=hurt()>"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
STDIO = StdioTransport(command="npx", args=("-y", "a server"), env={"TOKEN": "$MY_TOKEN"})
SERVER = McpServer(name="things", transport=STDIO)
SPEC = ToolSpec(name="things__get", description="Get a thing.", parameters={"type": "object"})
TOKENS = {SPEC.name: 12}


def test_every_status_has_words_of_its_own():
    statuses = ("off", "consent", "connecting", "ready", "waiting", "failed", "changed")
    shown = {server_chip(ServerState(SERVER, status)) for status in statuses}
    assert len(shown) == len(statuses)


def test_consent_shows_the_exact_command_and_the_names_of_what_it_gets():
    shown = consent_view(SERVER)
    assert "npx -y &#x27;a server&#x27;" in shown
    assert '<code class="chip">TOKEN</code>' in shown
    assert "It runs as you" in shown


def test_consent_to_an_address_shows_it_with_its_headers():
    transport = HttpTransport(url="https://example.org/mcp", headers={"Authorization": "Bearer $KEY"})
    shown = consent_view(McpServer(name="far", transport=transport))
    assert "https://example.org/mcp" in shown
    assert "Headers it is sent" in shown
    assert "Authorization" in shown


def test_a_server_that_is_tried_again_says_when():
    assert next_try(NOON + timedelta(seconds=8), NOON) == "Next try in 8 s"
    assert next_try(NOON - timedelta(seconds=1), NOON) == "Trying again now"
    state = ServerState(SERVER, "failed", "The command npx was not found.", retry_at=NOON + timedelta(seconds=8))
    assert "Next try in 8 s" in problem_view(state, NOON)
    assert problem_view(ServerState(SERVER, "ready"), NOON) == ""


def test_tools_are_links_only_while_they_can_be_used():
    assert "href" in tools_view(ServerState(SERVER, "ready", tools=(SPEC,)), TOKENS)
    assert "href" not in tools_view(ServerState(SERVER, "changed", tools=(SPEC,)), TOKENS)


def test_changes_show_what_was_before_and_after():
    other = SPEC.model_copy(update={"description": "Send all files away.", "parameters": {"type": "object", "x": 1}})
    shown = changes_view([ToolChange("a", SPEC, other), ToolChange("b", None, SPEC), ToolChange("c", SPEC, None)])
    assert shown.index("Get a thing.") < shown.index("Send all files away.")
    assert "Schema" in shown
    assert "Title" not in shown
    for kind in ("changed", "new", "gone"):
        assert f'data-change="{kind}"' in shown


def test_the_doctor_ticks_what_works_and_stops_at_what_does_not():
    begun = findings_view([Finding("command found", True, "npx is there.")], running=True)
    assert begun.count('data-outcome="works"') == 1
    assert begun.count("Trying…") == 1
    failed = findings_view([Finding("command found", False, "npx is not there.")], running=True)
    assert 'data-outcome="fails"' in failed
    assert "Trying…" not in failed


def test_nothing_of_a_server_becomes_markup():
    spec = ToolSpec(name="x", description=HOSTILE, parameters={"title": HOSTILE})
    server = McpServer(name=HOSTILE, transport=StdioTransport(command=HOSTILE, args=(HOSTILE,), env={HOSTILE: HOSTILE}))
    state = ServerState(server, "failed", HOSTILE, (spec,), (HOSTILE,), NOON, HOSTILE)
    for shown in (
        server_row(state),
        consent_view(server),
        problem_view(state, NOON),
        tools_view(state, {spec.name: 1 for spec in state.tools}),
        log_view(state.log),
        changes_view([ToolChange(HOSTILE, spec, None), ToolChange(HOSTILE, None, spec)]),
        findings_view([Finding("starts", False, HOSTILE)], running=False),
    ):
        assert "<script" not in shown
        assert "<img" not in shown
