"""What the app does in a terminal without serving pages: run an agent, check itself."""

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from app.api.door.caller import STARTED_FROM
from app.api.following.replies import RunReply, pauses_of, run_reply
from app.domain.provenance import Trigger
from app.domain.trace import steps
from app.engine.runs.standing import all_wait
from app.start.already_running import ask
from app.store.folder.lock import Announcement
from app.workbench import Workbench

ANSWER_SECONDS, LOOK_SECONDS = 3600, 0.25
WAITS = "The run waits for a person: {what}. Decide in the app, on its Overview or at /runs/{run_id}.\n"


async def run_here(folder: Path, slug: str, text: str) -> RunReply:
    """Run the agent in this process, over that data folder, to its end or to where a person has to decide."""
    workbench = Workbench.open(folder, demo_pace=0)  # nobody watches it write
    try:
        await workbench.start()
        await workbench.user_tools.settled()
        agent = workbench.agents.by_slug(slug)
        session = await workbench.chat.new_session(agent.id)
        live = await workbench.chat.send(session.id, text, trigger=Trigger(kind="terminal"), purpose="api")
        ending = asyncio.ensure_future(live.ended())
        while not ending.done() and not all_wait(workbench.runs.live_runs()):
            await asyncio.wait([ending], timeout=LOOK_SECONDS)
        waits = not ending.done()
        below = workbench.rows.below(live.run_id) if live.started.workflow else ()
        reply = run_reply(live.entries, alive=waits, below=below)
        return _waiting(reply, workbench) if waits else reply
    finally:
        await workbench.close()


def _waiting(reply: RunReply, workbench: Workbench) -> RunReply:
    """The same of a run that waits for a person, be it in a run below it."""
    asking = (live for live in workbench.runs.live_runs() if live.control.waits)
    return reply.waiting_for([pause for live in asking for pause in pauses_of(live.entries)])


def run_there(running: Announcement, slug: str, text: str) -> RunReply:
    """Run the agent in the app that is running, through its API."""
    started_from = {STARTED_FROM: "terminal"}
    address = f"/agents/{quote(slug, safe='')}/run"
    answer, _ = ask(running, address, method="POST", body={"input": text}, seconds=ANSWER_SECONDS, **started_from)
    return RunReply.model_validate(json.loads(answer)["data"])


def print_reply(reply: RunReply, *, as_json: bool, write: Callable[[str], object] = sys.stdout.write) -> int:
    """Print the answer, or the whole reply as JSON; the exit code: 0 for a completed run."""
    if as_json:
        write(reply.model_dump_json(indent=2) + "\n")
    elif reply.output_text:
        write(reply.output_text.rstrip() + "\n")
    if reply.status == "completed":
        return 0
    if reply.status == "paused":
        sys.stderr.write(WAITS.format(what="; ".join(pause.awaited for pause in reply.pauses), run_id=reply.run_id))
        return 1
    sys.stderr.write(f"The run ended as {reply.status}: {reply.error or 'no reason given'}\n")
    return 1


async def check(folder: Path | None) -> str:
    """Run the demo model with a tool and read its trace back: `ok`, or what is wrong. `None` takes a new folder."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="agent-playground-check-") as temporary:
            return await check(Path(temporary))
    reply = await run_here(folder, "assistant", "What is 5 + 10, then multiply by 3?")
    workbench = Workbench.open(folder)
    try:
        trace = await workbench.runs.trace(reply.run_id)
        found = [step.type for step in steps(trace.entries)]
    finally:
        await workbench.close()
    if reply.status != "completed" or "45" not in reply.output_text:
        return f"The run ended as {reply.status} with {reply.output_text!r}."
    return "ok" if found == EXPECTED_STEPS else f"The trace has the steps {found}."


EXPECTED_STEPS = ["user-request", *["agent-thought", "tool-call", "tool-result"] * 2, "agent-response"]
