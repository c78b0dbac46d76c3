"""S2: files that somebody is talked into importing or restoring, and what they then decide: nothing.

Each is taken in by the real app; then it is gone on with in every way there is, as a person would who looks at it.
"""

import asyncio
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.domain.agents import Limits, PromptBehaviour, ToolChoice, new_agent, promoted, with_variant
from app.domain.caution import narrowed
from app.domain.errors import WorkbenchError
from app.domain.events import RunStarted
from app.domain.forks.forks import ForkPlan, ToolPlan
from app.domain.provenance import Trigger
from app.engine.run.run import Run
from app.export.agent_file import read_agent_file
from app.workbench import Workbench
from tests.figures import Figure
from tests.hostile_files import BACKUPS, RUNS, SECRET, TOOL, TOOL_FILE, Victim, agent_files, backup, bundles
from tests.waiting import until

PAGE = Trigger(kind="page")
WHAT = RUN, LOOSENED, ASKED = "commands run", "policies loosened", "addresses asked"


@dataclass
class Toll:
    files: int = 0
    found: dict[str, dict[str, set[str]]] = field(default_factory=lambda: {what: {} for what in WHAT})
    """For each figure: by file, what it did."""

    def note(self, what: str, name: str, found: Iterable[str]) -> None:
        if seen := set(found):
            self.found[what].setdefault(name, set()).update(seen)

    def figures(self) -> list[Figure]:
        for what, files in self.found.items():
            for name, found in files.items():
                print(f"{what}: {name}: {', '.join(sorted(found))}", file=sys.stderr)
        counted = f"of {self.files} hostile files"
        return [Figure(f"S2 {what}", f"{len(files)} {counted}", "0", not files) for what, files in self.found.items()]


async def run(*, brief: bool = False) -> list[Figure]:
    """All of them, or of each kind every sixth."""
    step = 6 if brief else 1
    toll = Toll()
    with tempfile.TemporaryDirectory() as name, listening() as attacker:
        place = Path(name)
        victim = await settled(place / "here", place / "canary", attacker.address)
        await _bundles(toll, place / "here", victim, list(RUNS)[::step])
        _agents(toll, victim, step)
        for number, planted in enumerate(list(BACKUPS)[::step]):
            await _backup(toll, place / f"restored{number}", victim, planted, attacker)
        for planted in attacker.heard:
            toll.note(ASKED, planted, ["connected"])
    return toll.figures()


async def settled(folder: Path, canary: Path, address: str) -> Victim:
    """Somebody who has a tool that runs commands, and an agent that asks before each call of it."""
    (folder / "tools").mkdir(parents=True)
    (folder / "tools" / "run_command.py").write_text(TOOL_FILE.format(canary=str(canary)))
    async with opened(folder) as workbench:
        await _trusted(workbench)
        auto, ask = (PromptBehaviour(tools=(ToolChoice(name=TOOL, policy=one),)) for one in ("auto", "ask"))
        agent = with_variant(new_agent("Runner", auto, taken_slugs=workbench.agents.slugs()), ask, origin=1)
        agent = await workbench.agents.create(promoted(agent, 2))
        live = await workbench.chat.send((await workbench.chat.new_session(agent.id)).id, "Hello")
        await live.ended()
        return Victim(agent, workbench.tools.specs((TOOL,))[0], live.run_id, canary, address, folder)


async def _trusted(workbench: Workbench) -> None:
    await workbench.user_tools.trust("run_command.py")
    await until(lambda: workbench.tools.specs((TOOL,)))


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Workbench]:
    workbench = Workbench.open(folder, demo_pace=0)
    await workbench.start()
    await workbench.warm()
    try:
        yield workbench
    finally:
        await workbench.close()


async def _bundles(toll: Toll, folder: Path, victim: Victim, names: list[str]) -> None:
    packed = bundles(victim)
    async with opened(folder) as workbench:
        await until(lambda: workbench.tools.specs((TOOL,)))
        for name in names:
            toll.files += 1
            with suppress(WorkbenchError):  # refused
                await _gone_on_with(toll, workbench, await workbench.exports.import_bundle(packed[name]), name)
            _look(toll, victim, name)
    async with opened(folder):  # what a start does of itself
        _look(toll, victim, "the next start")


async def _gone_on_with(toll: Toll, workbench: Workbench, run_id: str, name: str) -> None:
    """Fork it here and there, resume it, answer it again, write to its session, replay it."""
    entries = (await workbench.runs.trace(run_id)).entries
    first = entries[0].event
    assert isinstance(first, RunStarted)
    live = {tool.spec.name: ToolPlan(before="live") for tool in first.tools}
    plans = [ForkPlan(seq=len(entries) - 1, tools=tools) for tools in (live, {})] + [ForkPlan(seq=1)]
    session_id = workbench.runs.row(run_id).session_id
    tries: list[Callable[[], object]] = [
        *(lambda plan=plan: workbench.forks.start(run_id, plan, trigger=PAGE) for plan in plans),
        lambda: workbench.chat.resume(run_id),
        lambda: workbench.chat.send(session_id, f"Call {TOOL}"),
        lambda: workbench.chat.regenerate(session_id, run_id),
        lambda: workbench.forks.replay(run_id),
    ]
    for attempt in tries:
        with suppress(WorkbenchError):  # refused
            begun = await attempt()  # type: ignore[misc]
            if isinstance(begun, Run):
                await _stopped(begun)
                toll.note(LOOSENED, name, _wide(begun.started))


async def _stopped(live: Run) -> None:
    """Once it waits for a person, or has ended."""
    await until(lambda: live.control.waits or not live.alive)
    live.stop()
    await live.ended()


def _wide(started: RunStarted) -> Iterator[str]:
    """What the run may do unasked."""
    yield from (
        f"{tool.spec.name} unasked" for tool in started.tools if tool.policy == "auto" and tool.spec.name == TOOL
    )
    if narrowed(started.limits) != started.limits:
        yield "limits"
    if started.unpriced_agreed:
        yield "agreed to an unknown price"


def _agents(toll: Toll, victim: Victim, step: int) -> None:
    for name, content in list(agent_files(victim).items())[::step]:
        toll.files += 1
        with suppress(WorkbenchError):  # refused
            agent = read_agent_file(content, {victim.agent.slug})
            behaviours = [variant.behaviour for variant in agent.variants]
            is_wide = any(narrowed(one.limits) != one.limits for one in behaviours)
            is_auto = any(tool.policy != "off" for one in behaviours for tool in one.tools)
            if is_wide or is_auto or agent.is_public or agent.id == victim.agent.id:
                toll.note(LOOSENED, f"agent's file: {name}", ["an agent"])


async def _backup(toll: Toll, folder: Path, victim: Victim, planted: str, attacker: "Attacker") -> None:
    toll.files += 1
    content = await backup(planted, replace(victim, data=folder))

    async def pieces() -> AsyncIterator[bytes]:
        yield content

    async with opened(folder) as workbench:
        name = (await workbench.data.backups.receive(pieces())).name
        assert await workbench.data.backups.to_allow_again(name)
        await workbench.data.backups.restore(name)
    attacker.listens_for = f"backup: {planted}"
    async with opened(folder) as workbench:
        await workbench.user_tools.settled()
        toll.note(LOOSENED, f"backup: {planted}", _allowed(workbench))
        _look(toll, victim, f"backup: {planted}")
        await _trusted(workbench)  # as who restored it may do by and by
        with suppress(WorkbenchError):  # there is no such run
            await _gone_on_with(toll, workbench, "evilrun", f"backup: {planted}")
        await until(lambda: all(state.status != "connecting" for state in workbench.mcp.states()))
    _look(toll, victim, f"backup: {planted}")


def _allowed(workbench: Workbench) -> Iterator[str]:
    """All that is allowed in data which nobody has looked at yet."""
    data, wanted, own = workbench.data, workbench.preferences.get(), Limits()
    behaviours = [variant.behaviour for agent in data.agents.all() for variant in agent.variants]
    behaviours += [copy.behaviour for copy in [data.working_copies.find("x")] if copy]
    behaviours += [one.tried for one in [data.sessions.find("evil")] if one and one.tried]
    said = {
        "policies": any(tool.policy == "auto" for one in behaviours for tool in one.tools),
        "limits": any(narrowed(one.limits, own) != one.limits for one in behaviours),
        "public": any(agent.is_public for agent in data.agents.all()),
        "hosts": bool(wanted.http_hosts),
        "search": wanted.web_search.provider != "off",
        "ceiling of a day": wanted.day_cost != 10.0,
        "key": workbench.keys.check(SECRET) is not None,
        "session": any(one.tools_allowed for one in data.sessions.recent()),
        "queue": any(one.trigger != PAGE for session in data.sessions.recent() for one in session.queue),
        "consent": any(server.consented or server.seen_tools is not None for server in data.mcp_servers.all()),
        "request": any(listed.setting.enabled for listed in workbench.tools.listed() if listed.spec.name == "send"),
        "file": any(file.status != "untrusted" for file in workbench.user_tools.files()),
        "providers": bool(data.providers.all()),
    }
    return (what for what, is_so in said.items() if is_so)


def _look(toll: Toll, victim: Victim, name: str) -> None:
    if victim.canary.exists():
        toll.note(RUN, name, [victim.canary.read_text()[:60]])
        victim.canary.unlink()


@dataclass
class Attacker:
    address: str
    listens_for: str = ""
    heard: list[str] = field(default_factory=list)


@contextmanager
def listening() -> Iterator[Attacker]:
    """Whoever connects was told the address by a file."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        attacker = Attacker(f"http://127.0.0.1:{server.getsockname()[1]}")
        loop = asyncio.get_running_loop()

        def connected() -> None:
            server.accept()[0].close()
            attacker.heard.append(attacker.listens_for)

        loop.add_reader(server, connected)
        try:
            yield attacker
        finally:
            loop.remove_reader(server)
