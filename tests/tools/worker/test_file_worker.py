"""A tool file in its own process."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from textwrap import dedent

import psutil
import pytest

from app.domain.errors import InvalidArguments, ToolCrashed, ToolError, UnknownTool
from app.domain.messages import FilePart, ImagePart, TextPart
from app.domain.tools import Answer
from app.tools.function.printing import LONGEST_PRINT
from app.tools.worker.file_worker import FileWorker, LoadFailed
from tests.tools.context import Context
from tests.waiting import until

Start = Callable[..., FileWorker]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Makes workers of sources, and closes them."""
    workers: list[FileWorker] = []

    def started(source: str, **options: object) -> FileWorker:
        workers.append(FileWorker(tmp_path / "mine.py", dedent(source), **options))
        return workers[-1]

    yield started
    for worker in workers:
        await worker.close()


class Watching(Context):
    """Tells when something was printed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = asyncio.Event()

    def printed(self, text: str) -> None:
        super().printed(text)
        self.seen.set()


def text_of(output) -> str:
    return "".join(part.text for part in output.parts if isinstance(part, TextPart))


TALKING = '''
    import asyncio, os, subprocess, sys
    from agent_playground import Context, File, ToolError

    print("while loading")

    def add(a: int, b: int = 2) -> int:
        """Add."""
        print("adding", a, b)
        return a + b

    async def meet(context: Context) -> str:
        """Ends when two are there."""
        context.files.write(f"/{context.call_id}", b"")
        while len(context.files.names()) < 2:
            await asyncio.sleep(0.01)
        print("met in", context.call_id)
        return "met"

    def work(context: Context) -> list:
        """Use all there is."""
        context.progress(1, 4, "started")
        context.log("a line")
        context.files.write("/out.txt", "written " * 100_000)
        size = len(context.files.read("/out.txt"))
        answer = context.ask("Sure?", {"type": "object"})
        kept = context.artifact(b"kept", "kept.txt")
        context.artifact("besides", "besides.txt")
        return [f"{size} {answer.accepted} {answer.values} {context.files.names()}", kept, b"\\x89PNG\\r\\n\\x1a\\n"]

    def refuse() -> None:
        """Tell the model."""
        raise ToolError("not today")

    def raw() -> str:
        """Past Python."""
        os.write(1, b"garbage {\\n")
        subprocess.run([sys.executable, "-c", "print('from below')"], stdout=sys.stdout)
        sys.stderr.write("no newline")
        return repr(sorted(os.environ))

    def loud() -> str:
        """50 MB."""
        for _ in range(50):
            print("x" * 1_000_000)
        return "done"

    def huge() -> str:
        """50 MB."""
        return "x" * 50_000_000

    def huge_file() -> bytes:
        """50 MB."""
        return b"x" * 50_000_000

    def ask_keyboard() -> str:
        """Read."""
        return input("name? ")

    def deep(n: int) -> int:
        """Deep."""
        return deep(n + 1)

    def leave() -> None:
        """Raise what ends a program."""
        sys.exit(4)

    def read(context: Context) -> int:
        """Read a file."""
        return len(context.files.read("/big"))

    def nowhere(context: Context) -> None:
        """Progress that cannot be shown."""
        context.progress(float("nan"))

    def long_words() -> None:
        """50 MB."""
        raise ToolError("x" * 50_000_000)

    def odd() -> None:
        """Raise what a future cannot hold."""
        raise StopIteration
'''


async def test_a_file_is_loaded_and_its_tools_are_called_side_by_side(start):
    worker = start(TALKING)
    loaded = await worker.load()
    assert [spec.name for spec in loaded.tools][:2] == ["add", "meet"]
    assert loaded.printed == "while loading\n"
    context = Context()
    assert text_of(await worker.call("add", {"a": "3"}, context)) == "5"
    assert context.shown == ["adding 3 2\n"]
    first, second = Context(call_id="one"), Context(call_id="two")
    second.files = first.files
    outputs = await asyncio.gather(worker.call("meet", {}, first), worker.call("meet", {}, second))
    assert [text_of(output) for output in outputs] == ["met", "met"]
    assert (first.shown, second.shown) == (["met in one\n"], ["met in two\n"])


async def test_a_tool_uses_its_context(start):
    context = Context(answer=Answer(decision="accept", values={"n": 1}))
    output = await start(TALKING).call("work", {}, context)
    assert text_of(output) == "800000 True {'n': 1} ['/out.txt']"
    assert context.files.contents["/out.txt"].startswith(b"written written")
    assert context.shown == ["a line\n"]
    assert [(one.done, one.total, one.text) for one in context.progress] == [(1, 4, "started")]
    assert [one.text for one in context.asked] == ["Sure?"]
    assert [type(part) for part in output.parts] == [TextPart, FilePart, ImagePart, FilePart]
    assert sorted(context.kept.values()) == [b"besides", b"kept", b"\x89PNG\r\n\x1a\n"]


async def test_what_is_printed_past_python_is_shown_and_no_key_is_inherited(start, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    context = Context()
    environment = text_of(await start(TALKING).call("raw", {}, context))
    await until(lambda: len("".join(context.shown)) >= 30)
    assert "PATH" in environment and "OPENAI" not in environment
    assert sorted("".join(context.shown).split()) == ["below", "from", "garbage", "newline", "no", "{"]


async def test_a_character_that_is_printed_past_python_in_two_pieces_is_whole(start):
    worker = start("""
        import os
        from agent_playground import Context

        def halves(context: Context) -> None:
            \"\"\"Both.\"\"\"
            for half in (b"caf\\xc3", b"\\xa9 au lait"):
                os.write(1, half)
                context.ask("Read?")
    """)
    context = Context()
    await worker.call("halves", {}, context)
    await until(lambda: "lait" in "".join(context.shown))
    assert "".join(context.shown) == "café au lait"


async def test_errors_reach_the_model_by_their_kind(start):
    worker = start(TALKING)
    with pytest.raises(ToolError, match="not today"):
        await worker.call("refuse", {}, Context())
    with pytest.raises(InvalidArguments, match="a: got 'x'"):
        await worker.call("add", {"a": "x"}, Context())
    with pytest.raises(InvalidArguments, match="c: unknown"):
        await worker.call("add", {"a": None, "c": 1}, Context())
    with pytest.raises(InvalidArguments, match="cannot be sent"):
        await worker.call("add", {"a": "\ud800"}, Context())
    with pytest.raises(UnknownTool, match="is not in its file"):
        await worker.call("gone", {}, Context())
    with pytest.raises(ToolError, match="keyboard"):
        await worker.call("ask_keyboard", {}, Context())


async def test_what_a_tool_did_not_mean_to_raise_comes_with_its_own_frames(start):
    worker = start(TALKING)
    with pytest.raises(ToolCrashed, match=r"RecursionError.*\(line \d+\)") as raised:
        await worker.call("deep", {"n": 0}, Context())
    assert "return deep(n + 1)" in raised.value.traceback and "more times" in raised.value.traceback
    assert "calls.py" not in raised.value.traceback
    for name, told in (("leave", "SystemExit: 4"), ("odd", "StopIteration"), ("nowhere", "ValueError.*finite")):
        with pytest.raises(ToolCrashed, match=told):
            await worker.call(name, {}, Context())


async def test_fifty_megabytes_are_not_taken_in(start):
    worker, context = start(TALKING), Context()
    before = psutil.Process().memory_info().rss
    assert text_of(await worker.call("loud", {}, context)) == "done"
    assert len("".join(context.shown)) <= LONGEST_PRINT and "more was printed" in context.shown[-1]
    with pytest.raises(ToolError, match=r"50,000,000 characters"):
        await worker.call("huge", {}, Context())
    with pytest.raises(ToolError, match=r"32 MB of files"):
        await worker.call("huge_file", {}, Context())
    with pytest.raises(ToolError) as raised:
        await worker.call("long_words", {}, Context())
    assert len(str(raised.value)) < 100_000 and "cut here" in str(raised.value)
    assert psutil.Process().memory_info().rss - before < 20e6


async def test_files_of_the_session_are_read_up_to_a_size(start):
    worker, context = start(TALKING), Context()
    context.files.contents["/big"] = b"x" * 5_000_000
    assert text_of(await worker.call("read", {}, context)) == "5000000"
    context.files.contents["/big"] = b"x" * 40_000_000
    with pytest.raises(ToolError, match="40,000,000 bytes"):
        await worker.call("read", {}, context)
    with pytest.raises(ToolError, match=r"There is no file /big"):
        await worker.call("read", {}, Context())


STUBBORN = '''
    import asyncio, os, time, threading
    from agent_playground import Context

    def spin() -> None:
        """Never ends."""
        print("on")
        while True:
            pass

    async def swallow() -> None:
        """Does not want to end."""
        print("on")
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                pass

    async def patient() -> None:
        """Can be cancelled."""
        print("on")
        await asyncio.sleep(600)

    def polite(context: Context) -> None:
        """Uses its context."""
        print("on")
        while True:
            context.progress(1)
            time.sleep(0.01)

    def short(context: Context) -> str:
        """Ends when a file is there."""
        print("on")
        while "/go" not in context.files.names():
            time.sleep(0.01)
        return "through"

    def pid() -> int:
        """Whose process."""
        return os.getpid()

    def leave() -> None:
        """Ends the process, and leaves one that it started."""
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        print(child.pid, "last words", end="", flush=True)
        os._exit(3)

    def fault() -> None:
        """A crash of Python itself."""
        import faulthandler
        faulthandler._sigsegv()

    def meddle() -> None:
        """Write where only the app's messages go."""
        for number in range(3, 20):
            try:
                os.write(number, b"garbage\\n")
            except OSError:
                pass
        time.sleep(60)
'''


async def cancelled(worker: FileWorker, name: str) -> float:
    """Seconds that a call took to be cancelled."""
    context = Watching()
    call = asyncio.create_task(worker.call(name, {}, context))
    await asyncio.wait_for(context.seen.wait(), 30)
    began = time.perf_counter()
    call.cancel()
    await asyncio.wait({call})
    assert call.cancelled()
    return time.perf_counter() - began


async def test_a_cancelled_call_ends_in_place_where_it_can(start):
    worker = start(STUBBORN)
    await worker.load()
    pid = worker.pid
    assert await cancelled(worker, "patient") < 1
    assert await cancelled(worker, "polite") < 1
    assert worker.pid == pid is not None


async def test_a_call_that_is_cancelled_as_it_begins_costs_no_process(start):
    worker = start(STUBBORN)
    await worker.load()
    pid = worker.pid
    for turns in range(1, 5):  # of the loop; by then it was sent
        call = asyncio.create_task(worker.call("patient", {}))
        for _ in range(turns):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait({call})
    assert worker.pid == pid is not None


async def test_a_stuck_call_costs_its_process_and_the_next_one_gets_a_new_one(start):
    worker = start(STUBBORN)
    for name in ("spin", "swallow"):
        await worker.load()
        process = psutil.Process(worker.pid)
        assert await cancelled(worker, name) < 1
        assert not process.is_running() and worker.pid is None
    assert text_of(await worker.call("pid", {}, Context())) == str(worker.pid)


async def test_other_calls_may_end_before_a_stuck_one_costs_the_process(start):
    worker, context = start(STUBBORN), Watching()
    await worker.load()
    process = psutil.Process(worker.pid)
    other = asyncio.create_task(worker.call("short", {}, context))
    await context.seen.wait()
    await cancelled(worker, "spin")
    assert not other.done()
    await context.files.write("/go", b"")
    assert text_of(await other) == "through"
    await until(lambda: not process.is_running())


@pytest.mark.parametrize(
    ("name", "told"),
    [("leave", r"exit code 3"), ("fault", r"SIGSEGV"), ("meddle", r"wrote into its line")],
)
async def test_a_process_that_ends_tells_its_calls_and_starts_again(start, name, told):
    worker = start(STUBBORN)
    patient, context = Watching(), Context()
    other = asyncio.create_task(worker.call("patient", {}, patient))
    await patient.seen.wait()
    with pytest.raises(ToolCrashed, match=told) as raised:
        await worker.call(name, {}, context)
    with pytest.raises(ToolError):
        await other
    if name == "leave":
        [(pid, *words)] = [text.split() for text in context.shown]
        assert words == ["last", "words"]
        await until(lambda: not psutil.pid_exists(int(pid)) or ended(psutil.Process(int(pid))))
    if name == "fault":
        assert 'mine.py", line' in raised.value.traceback and "in fault" in raised.value.traceback
    assert await worker.call("pid", {}, Context())


async def test_a_file_that_hangs_while_it_is_loaded_is_ended_and_says_where(start, started):
    worker = start("import time\nx = 1\nwhile True:\n    pass")
    with pytest.raises(LoadFailed, match=r"still being loaded after 0\.3 seconds") as raised:
        await worker.load(timeout=0.3)
    assert raised.value.line in (3, 4)
    assert worker.pid is None
    assert not started()


async def test_a_file_that_ends_its_process_says_how(start):
    with pytest.raises(LoadFailed, match=r"mine.py ended its process .*exit code 3"):
        await start("import os\nos._exit(3)").load()


async def test_a_broken_file_says_where(start, started):
    with pytest.raises(LoadFailed, match="SyntaxError") as raised:
        await start("\n\ndef f(:").load()
    assert raised.value.line == 3 and "def f(:" in raised.value.traceback
    assert not started()


async def test_names_that_change_with_each_start_are_told(start):
    worker = start("import os\nexec(f\"def t{os.getpid()}() -> int:\\n  'D'\\n  os._exit(1)\")\nos._exit")
    [spec] = (await worker.load()).tools
    with pytest.raises(ToolCrashed):
        await worker.call(spec.name, {}, Context())
    with pytest.raises(UnknownTool, match="names its tools anew"):
        await worker.call(spec.name, {}, Context())


async def test_an_idle_process_ends_and_comes_back(start):
    worker = start(STUBBORN, idle_seconds=0.05)
    await worker.load()
    process = psutil.Process(worker.pid)
    await until(lambda: not process.is_running())
    assert text_of(await worker.call("pid", {}, Context())) != str(process.pid)


async def test_closing_ends_what_the_file_has_started(start, tmp_path):
    worker = start("import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)")
    await worker.load()
    process = psutil.Process(worker.pid)
    family = [process, *process.children(recursive=True)]
    assert len(family) == 2
    await worker.close()
    await until(lambda: not any(ended(one) is False for one in family))
    with pytest.raises(ToolError, match="changed or closed"):
        await worker.load()


@pytest.mark.parametrize("begun", [True, False])
async def test_closing_ends_a_file_that_is_being_loaded(start, started, tmp_path, begun):
    mark = tmp_path / "begun"
    worker = start(f"import time\nopen({str(mark)!r}, 'w')\ntime.sleep(60)")
    loading = asyncio.create_task(worker.load())
    await (until(mark.exists) if begun else asyncio.sleep(0))
    began = time.perf_counter()
    await worker.close()
    with pytest.raises(ToolError, match="changed or closed"):
        await loading
    assert time.perf_counter() - began < 5
    assert mark.exists() == begun and not started()


async def test_an_interpreter_that_is_not_there_or_lacks_pydantic_is_told(start, tmp_path):
    with pytest.raises(LoadFailed, match="could not be started: No such file"):
        await start("", interpreter=str(tmp_path / "python")).load()
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nshift\nexec "{sys.executable}" -S -E "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(LoadFailed, match=r"lacks pydantic.*-m pip install pydantic") as raised:
        await start("", interpreter=str(bare)).load()
    assert raised.value.missing == ("pydantic",)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing ends code that keeps Python busy")
@pytest.mark.parametrize("its_end", ["os.kill(os.getpid(), 9)", "end_with_its_main_thread_first()"])
async def test_nothing_outlives_an_app_that_is_killed(tmp_path, its_end):
    app = await asyncio.create_subprocess_exec(
        sys.executable, "-c", DYING_APP, str(tmp_path / "mine.py"), its_end, stdout=asyncio.subprocess.PIPE
    )
    assert app.stdout
    family = [psutil.Process(int(pid)) for pid in (await app.stdout.readline()).split()]
    try:
        assert len(family) == 2
        await app.wait()
        await until(lambda: all(ended(process) for process in family), seconds=20, pause=0.01)
    finally:
        for process in family:
            if process.is_running():
                process.kill()


DYING_APP = """
import asyncio, ctypes, os, platform, sys, threading
from pathlib import Path
from app.tools.worker.file_worker import FileWorker
from tests.tools.context import Context

SOURCE = '''
import os, re, subprocess, sys
def hold() -> None:
    "Hold Python's lock for ever, with a child beside."
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print(os.getpid(), child.pid)
    re.match("(a+)+b", "a" * 60)
'''

def end_with_its_main_thread_first():
    "What the scheduler may do to a killed app: the process's files are open until its last thread is gone."
    threading.Timer(0.2, os.kill, (os.getpid(), 9)).start()
    ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)

class Telling(Context):
    def printed(self, text):
        print(text, end="", flush=True)
        eval(sys.argv[2])

asyncio.run(FileWorker(Path(sys.argv[1]), SOURCE).call("hold", {}, Telling()))
"""


def ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE or not process.is_running()
    except psutil.NoSuchProcess:
        return True
