"""100 runs at once over the API: each is answered, each with its own answer, each is in the list."""

import asyncio
import tempfile
from pathlib import Path

import httpx

from tests.app_process import AppProcess
from tests.figures import Figure

RUNS = 100
SECONDS = 120


async def run(runs: int = RUNS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        app = AppProcess(Path(folder) / "data")
        try:
            app.start()
            return [await _crowd(app, runs)]
        finally:
            app.stop()


async def _crowd(app: AppProcess, runs: int) -> Figure:
    limits = httpx.Limits(max_connections=runs)
    headers = {"Authorization": f"Bearer {app.token}"}
    async with httpx.AsyncClient(
        base_url=f"{app.url}/api/v1", headers=headers, limits=limits, timeout=SECONDS
    ) as client:
        answered = await asyncio.gather(*(_asked(client, number) for number in range(runs)))
        listed = (await client.get("/runs", params={"limit": 500, "status": "completed"})).json()["data"]
    run_ids = {run_id for run_id in answered if run_id}
    kept = run_ids & {run["id"] for run in listed}
    value = f"{len(kept)} of {runs} answered rightly and listed"
    return Figure("concurrent API runs", value, "none lost", len(kept) == runs)


async def _asked(client: httpx.AsyncClient, number: int) -> str:
    """The id of a run that added rightly; empty for one that did not."""
    answer = await client.post("/agents/assistant/run", json={"input": f"What is {number} + 1000?"})
    if answer.status_code != 200:
        print(f"  run {number}: {answer.status_code} {answer.text[:200]}")
        return ""
    run = answer.json()["data"]
    return run["run_id"] if str(number + 1000) in run["output_text"] else ""
