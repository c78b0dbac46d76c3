"""What waits, as lines with the buttons that settle it; how things stand, as rows."""

from datetime import UTC, datetime

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.evals.gates import GateLine, GateOutcome
from app.domain.provenance import AgentRef, Trigger
from app.domain.tool_settings import McpServer, StdioTransport
from app.domain.tools import SignInRequest
from app.domain.trace import RunRow
from app.tools.mcp.states import ServerState, SignInState
from app.ui.overview.matters import copy_unsaved, counted, job_failed, matters_view, run_left, server_waits, to_review
from app.ui.overview.standing import agent_row, disk_view, providers_view
from tests.tried import experiment

HOSTILE = "<script>alert(1)</script>"
ROW = RunRow(
    run_id="r1",
    session_id="s",
    agent=AgentRef(id="a", slug="a", name=HOSTILE, variant=1),
    model="demo/agent",
    status="failed",
    failure="rate_limit",
    request=HOSTILE,
    purpose="chat",
    trigger=Trigger(kind="page"),
    started_at=datetime(2026, 11, 20, tzinfo=UTC),
)
SERVER = McpServer(name="files", transport=StdioTransport(command="files"))


def test_a_failed_job_says_why_and_can_be_tried_again_or_dismissed():
    shown = matters_view([job_failed(ROW)], more=0)
    assert "failed. Too many requests." in shown and 'href="/runs/r1"' in shown
    assert [name for name in ("again", "dismiss", "resume", "discard") if f'data-do="{name}"' in shown] == [
        "again",
        "dismiss",
    ]
    assert "met a limit" in job_failed(ROW.model_copy(update={"status": "limited", "failure": None})).words


def test_what_runs_say_is_never_markup():
    agent = new_agent(HOSTILE, PromptBehaviour(), taken_slugs=())
    shown = matters_view([run_left(ROW), job_failed(ROW), copy_unsaved(agent)], more=3)
    assert "<script" not in shown and "And 3 more." in shown


def test_a_server_is_opened_where_it_can_be_settled():
    shown = matters_view([server_waits(ServerState(SERVER, "failed", HOSTILE))], more=0)
    assert 'href="/tools/server/files"' in shown and "Cannot be connected" in shown and "<script" not in shown
    assert 'data-do="again"' in shown
    for status, does in (("consent", "consent"), ("changed", "changes")):
        assert f'data-do="{does}"' in matters_view([server_waits(ServerState(SERVER, status))], more=0)


def test_a_server_that_wants_somebody_to_sign_in_has_the_button_and_then_the_link():
    shown = matters_view([server_waits(ServerState(SERVER, "sign-in"))], more=0)
    assert 'data-do="sign-in"' in shown and 'href="/tools/server/files"' in shown
    asked = SignInState(request=SignInRequest(server="files", host="login.example", scopes=("read", HOSTILE)))
    shown = matters_view([server_waits(ServerState(SERVER, "sign-in", sign_in=asked))], more=0)
    assert "data-do" not in shown and "<script" not in shown and "It asks for read, " in shown
    assert 'href="/sign-in/files?host=login.example&amp;scopes=read+' in shown and "noopener" in shown
    assert 'target="_blank"' in shown and "Sign in at login.example</a>" in shown


def test_answers_to_review_lead_to_their_queue():
    assert 'href="/review?queue=unreviewed"' in matters_view([to_review(3)], more=0)


def test_what_waits_is_counted_in_words():
    assert "Nothing waits" in counted(0) and "1 thing waits" in counted(1) and "2 things wait" in counted(2)


def test_an_agent_shows_its_last_experiment_and_what_its_gate_holds_back():
    agent = new_agent(HOSTILE, PromptBehaviour(), taken_slugs=())
    held = GateOutcome(variant=2, against=1, lines=(GateLine(rule="fresh", state="red", words="Worse."),))
    shown = agent_row(agent, experiment([]), "variant 2: worse", held)
    assert "variant 2: worse" in shown and "Variant 2: held back" in shown and "<script" not in shown
    assert "overview-gate" not in agent_row(agent, None, "", None)


def test_little_room_on_the_disk_is_a_warning():
    assert "72.0 GB free" in disk_view(72 * 1024**3) and "is-warn" not in disk_view(72 * 1024**3)
    assert "Only 300 MB free" in disk_view(300 * 1024**2) and "is-warn" in disk_view(300 * 1024**2)


def test_without_a_provider_the_way_to_one_is_shown():
    assert 'href="/settings"' in providers_view([]) and "demo model" in providers_view([])
