"""The addresses of the pages."""

LANDING = "/playground"
RUNS = "/runs"


def session_address(session_id: str) -> str:
    return f"/playground/{session_id}"


def run_address(run_id: str) -> str:
    return f"/runs/{run_id}"
