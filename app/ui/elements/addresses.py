"""The addresses of the pages."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from urllib.parse import quote, urlencode

from app.domain.agents import Agent

OVERVIEW = "/"
LANDING = "/playground"
RUNS = "/runs"
JOBS = "/jobs"
MONITORING = "/monitoring"
RESOURCES = "/resources"
AGENTS = "/agents"
BUILD = "/build"
TOOLS = "/tools"
TOOL_SOURCES = "/tools/sources/all"
NEW_HTTP_TOOL = "/tools/new/request"
COMPARE = "/compare"
EVALS = "/evals"
EXPERIMENTS = f"{EVALS}?show=experiments"
MATRIX = "/matrix"
REVIEW = "/review"
JUDGES = "/review/judges"
INTEGRATIONS = "/integrations"
SETTINGS = "/settings"
BUDGETS = f"{SETTINGS}?section=budgets"
SETUP = "/setup"


def edge_text(edge: datetime | date) -> str:
    """The day `2026-11-21`, or the moment `2026-11-21T09:30:00Z`, as addresses of Runs begin and end with it."""
    return f"{edge.astimezone(UTC).replace(tzinfo=None).isoformat()}Z" if isinstance(edge, datetime) else str(edge)


def session_address(session_id: str) -> str:
    return f"/playground/{session_id}"


def deleted_session_address(session_id: str) -> str:
    """Where a session that was deleted just now can be brought back."""
    return f"{LANDING}?deleted={quote(session_id, safe='')}"


def run_address(run_id: str) -> str:
    return f"/runs/{run_id}"


def agent_address(slug: str) -> str:
    return f"/agents/{slug}"


def build_address(slug: str) -> str:
    """Where the nodes of that workflow are built."""
    return f"{BUILD}/{slug}"


def editor_address(agent: Agent) -> str:
    """Where that agent is changed: its prompt, or its nodes."""
    return build_address(agent.slug) if agent.kind == "workflow" else agent_address(agent.slug)


def suggest_address(slug: str, *, variant: int, dataset: str = "", tools: str = "", live: Sequence[str] = ()) -> str:
    """Where a better prompt for that agent's variant is searched, by a dataset's slug, with tools as in a plan."""
    said = {"variant": str(variant), "dataset": dataset, "tools": tools, "live": ",".join(live)}
    query = urlencode({name: value for name, value in said.items() if value})
    return f"/agents/{slug}/suggest?{query}"


def agent_runs_address(slug: str, variant: int | None = None) -> str:
    """The runs of that agent, or of that variant of it."""
    return f"{RUNS}?agent={quote(slug, safe='')}" + ("" if variant is None else f"&variant={variant}")


def tool_address(name: str) -> str:
    return f"{TOOLS}/{quote(name, safe='')}"


def tool_file_address(name: str) -> str:
    """Where a tool file is read and written; `name` is its path in the folder."""
    return f"{TOOLS}/file/{quote(name)}"


def mcp_server_address(name: str) -> str:
    return f"{TOOLS}/server/{quote(name, safe='')}"


def sign_in_address(server: str, host: str, scopes: Iterable[str]) -> str:
    """From where one is sent to sign in for that MCP server, at `host` and for these as they were shown."""
    return f"/sign-in/{quote(server, safe='')}?{urlencode({'host': host, 'scopes': ' '.join(scopes)})}"


def http_tool_address(name: str) -> str:
    """Where the form of an HTTP tool is changed."""
    return f"{TOOLS}/request/{quote(name, safe='')}"


def provider_address(name: str) -> str:
    """Where that provider is set up."""
    return f"{SETTINGS}?provider={quote(name, safe='')}"


def experiment_address(experiment_id: str) -> str:
    return f"/experiments/{experiment_id}"


def comparison_address(comparison_id: str) -> str:
    return f"{COMPARE}/{comparison_id}"


def compare_address(agent_slug: str, *variants: int) -> str:
    """Where a comparison of that agent's variants is set up; without variants those that suit it."""
    chosen = "".join(f"&variant={number}" for number in variants)
    return f"{COMPARE}?agent={agent_slug}{chosen}"


def dataset_address(slug: str, *, case: str = "") -> str:
    """The dataset, or that case of it, open to be changed."""
    return f"{EVALS}/{slug}" + (f"?case={case}" if case else "")


def matrix_address(experiment_id: str) -> str:
    """Its cases × columns."""
    return f"/matrix/{experiment_id}"


def review_address(queue: str, experiment_id: str = "") -> str:
    """Quick review of that queue, of that experiment where it is of one."""
    return f"{REVIEW}?{urlencode({'queue': queue} | ({'experiment': experiment_id} if experiment_id else {}))}"


def fork_with_note_address(run_id: str) -> str:
    """Where the run's message is edited by what was noted on it, and the run gone on with."""
    return f"{run_address(run_id)}?fork=note"
