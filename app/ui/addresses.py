"""The addresses of the pages."""

LANDING = "/playground"
RUNS = "/runs"
AGENTS = "/agents"
COMPARE = "/compare"


def session_address(session_id: str) -> str:
    return f"/playground/{session_id}"


def run_address(run_id: str) -> str:
    return f"/runs/{run_id}"


def agent_address(slug: str) -> str:
    return f"/agents/{slug}"


def comparison_address(comparison_id: str) -> str:
    return f"{COMPARE}/{comparison_id}"


def compare_address(agent_slug: str, *variants: int) -> str:
    """Where a comparison of that agent's variants is set up; without variants those that suit it."""
    chosen = "".join(f"&variant={number}" for number in variants)
    return f"{COMPARE}?agent={agent_slug}{chosen}"
