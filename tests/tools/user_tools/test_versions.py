"""A run keeps the version it began with; what nobody holds any more ends."""

import asyncio
from collections.abc import Callable

from app.domain.messages import TextPart
from app.domain.tools import ToolOutput
from tests.processes import alive
from tests.tools.context import Context
from tests.tools.user_tools.conftest import Folder, returning, until

PID = 'import os\n\ndef pid() -> int:\n    """Tell the process."""\n    return os.getpid()\n'


def number(output: ToolOutput) -> int:
    [part] = output.parts
    assert isinstance(part, TextPart)
    return int(part.text)


async def test_a_held_version_stays_callable_and_ends_with_its_last_holder(folder: Folder) -> None:
    await folder.add("a.py", PID)
    old = folder.tools.tools()["pid"]
    first, second = folder.tools.hold(), folder.tools.hold()
    folder.write("a.py", returning("new"))
    await folder.has("word")
    pid = number(await old.run({}, Context()))
    first()
    first()
    assert number(await old.run({}, Context())) == pid
    second()
    await until(lambda: not alive(pid))


async def test_a_call_goes_on_though_its_file_is_deleted(folder: Folder) -> None:
    waits = 'from agent_playground import Context\n\ndef wait(context: Context) -> str:\n    """Wait."""\n'
    asks = '    context.log("began")\n    return context.ask("go on?").decision\n'
    await folder.add("a.py", waits + asks)
    context = HeldUp()
    call = asyncio.create_task(folder.tools.tools()["wait"].run({}, context))
    await until(lambda: context.asked)
    (folder.tools.folder / "a.py").unlink()
    await folder.has()
    context.go_on.set()
    assert await call == ToolOutput.of_text("decline", printed="")


async def test_tools_that_change_their_names_leave_nothing_behind(folder: Folder) -> None:
    changing = (
        "import os, secrets\nname = f'tool_{os.getpid()}'\ndef made() -> int:\n    '''Tell the process.'''\n"
        "    return os.getpid()\nmade.__name__ = name\nglobals()[name] = made\ndel made\n"
    )
    await folder.add("a.py", changing)
    pids = []
    for _ in range(2):
        [(name, tool)] = folder.tools.tools().items()
        pids.append(number(await tool.run({}, Context())))
        assert name == f"tool_{pids[-1]}"
        await folder.tools.reload("a.py")
        await folder.tools.settled()
    assert len(set(pids)) == 2
    await until(lambda: not any(alive(pid) for pid in pids))
    assert len(folder.tools.tools()) == 1


async def test_nothing_outlives_the_app(folder: Folder) -> None:
    await folder.add("a.py", PID)
    folder.tools.hold()
    pid = number(await folder.tools.tools()["pid"].run({}, Context()))
    (folder.tools.folder / "a.py").unlink()
    await folder.has()
    assert alive(pid)
    await folder.tools.close()
    assert not alive(pid)


async def test_what_is_saved_while_the_app_ends_starts_nothing(
    folder: Folder, started: Callable[[], list[str]]
) -> None:
    await folder.add("a.py", PID)
    saved = asyncio.gather(folder.tools.save("a.py", f"{PID}\n", expected=None), folder.tools.close())
    await saved
    await folder.tools.settled()
    assert not started()


class HeldUp(Context):
    """A person who takes their time to answer."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()

    async def ask(self, question):
        answer = await super().ask(question)
        await self.go_on.wait()
        return answer
