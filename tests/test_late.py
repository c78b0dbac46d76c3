"""What the app's first page is served without, and the way modules are read later."""

import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel

from app import late as lateness
from tests.app_process import ROOT

HEAVY = (
    *("litellm", "openai", "tiktoken", "httpx", "aiohttp", "requests", "mcp", "keyring", "truststore", "sqlite3"),
    *("pypdf", "lark", "jmespath", "dateutil", "jsonschema", "pydantic_monty", "markdown_it", "nh3", "matplotlib"),
    *("mdit_py_plugins", "latex2mathml", "xml.etree.ElementTree", "cryptography", "tornado", "pydantic.v1"),
)
"""Libraries that take long to import."""
LATE = (
    "app.engine.runs.runs",
    "app.engine.loop.loop",
    "app.engine.sessions.chat",
    "app.engine.forks.forks",
    "app.engine.forks.node_forks",
    "app.engine.workflows.walking",
    "app.engine.workflows.grants",
    "app.domain.workflows.checking",
    "app.engine.sessions.jobs",
    "app.llm.demo.model",
    "app.llm.litellm.litellm_model",
    "app.llm.providers.doctor",
    "app.llm.providers.provider_desk",
    "app.llm.providers.nearby",
    "app.tools.registry",
    "app.tools.http.tools",
    "app.tools.mcp.hub",
    "app.tools.worker.file_worker",
    "app.tools.builtin.listed",
    "app.tools.user_tools.folder",
    "app.tools.http.net",
    "app.tools.sandbox",
    "app.store.runs.rows",
    "app.store.runs.search",
    "app.store.runs.traces",
    "app.store.keys.key_places",
    "app.store.keys.provider_keys",
    "app.export.exports",
    "app.export.redacting",
    "app.api.application",
    "app.ui.markdown.render",
    "app.ui.overview.waiting",
    "app.ui.playground.landing_page",
    "app.ui.playground.session_page",
    "app.ui.build.workflow_page",
    "app.ui.run.run_page",
    "app.ui.settings.settings_page",
)
"""Parts that no first page needs."""
STARTED = """
import sys
import app.start.serve
from app.late import is_read
from app.workbench import Workbench
print(*(name for name, module in sys.modules.items() if module and is_read(module)))
"""


ANSWERED = """
import asyncio, sys
from pathlib import Path
import app.start.serve
from app.engine.loop.context import context_of
from app.workbench import Workbench

async def ask() -> None:
    workbench = Workbench.open(Path(sys.argv[1]), demo_pace=0)
    await workbench.start()
    await workbench.warm()
    session = await workbench.chat.new_session(workbench.agents.all()[0].id)
    live = await workbench.chat.send(session.id, "What is 5 + 10, then multiply by 3?")
    await live.ended()
    await context_of(await workbench.chat.next_request(session.id), workbench.models)
    await workbench.close()

asyncio.run(ask())
print(*(name for name, module in sys.modules.items() if module))
"""


def modules(script: str, *arguments: str) -> set[str]:
    """The names that it prints."""
    command = [sys.executable, "-c", script, *arguments]
    return set(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split())


def test_a_start_reads_nothing_that_the_first_page_can_do_without():
    read = modules(STARTED)
    assert "nicegui" in read and "app.ui.overview.overview_page" in read
    assert read.isdisjoint(HEAVY) and read.isdisjoint(LATE)


def test_an_answer_of_the_demo_needs_few_libraries(tmp_path: Path):
    """Each is megabytes of memory, and seconds of the first use."""
    read = modules(ANSWERED, str(tmp_path))
    assert "app.llm.demo.model" in read and "app.engine.workflows.acting" not in read  # no workflow was run
    assert read & {*HEAVY, "app.api.application"} == {"sqlite3"}


def test_models_that_are_defined_unbuilt_are_built_when_they_are_used():
    with lateness.unbuilt():

        class Late(BaseModel):
            number: int

    class Soon(BaseModel):
        number: int

    assert Soon.__pydantic_complete__ and not Late.__pydantic_complete__
    assert Late(number=1).number == 1 and Late.__pydantic_complete__


def test_a_library_that_is_not_wanted_is_not_there_for_a_while():
    with lateness.without("colorsys"), pytest.raises(ImportError, match="colorsys is not wanted here"):
        sys.modules.pop("colorsys", None)
        import colorsys
    import colorsys

    assert colorsys.rgb_to_hsv(0, 0, 0) == (0, 0, 0)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A module of the app whose text a test writes; it counts in `sys.read_times` how often it is read."""
    package = __import__("app.store", fromlist=["store"])
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    monkeypatch.setattr(sys, "read_times", [], raising=False)

    def imported(text: str) -> ModuleType:
        (tmp_path / "written_by_test.py").write_text(f"import sys\nsys.read_times.append(1)\n{text}\n")
        with lateness.late():
            from app.store import written_by_test
        return written_by_test

    yield imported
    sys.modules.pop("app.store.written_by_test", None)
    vars(package).pop("written_by_test", None)


def test_a_late_module_is_read_once_when_it_is_used(written):
    module = written("word = 'said'")
    assert sys.read_times == [] and not lateness.is_read(module)
    assert module.word == "said" and sys.read_times == [1] and lateness.is_read(module)
    assert type(module) is ModuleType and Path(module.__file__).name == "written_by_test.py"
    lateness.read(module)
    assert sys.read_times == [1]


def test_a_name_that_is_not_there_is_told_as_of_any_module(written):
    module = written("")
    with pytest.raises(AttributeError, match=r"written_by_test.*no attribute 'missing'"):
        _ = module.missing


def test_a_module_that_breaks_is_tried_again(written):
    module = written("if len(sys.read_times) == 1: raise OSError('disk')\nword = 1")
    with pytest.raises(OSError, match="disk"):
        _ = module.word
    assert module.word == 1


def test_threads_that_want_a_late_module_at_once_get_all_of_it(written):
    module = written("import time\nfirst = 1\ntime.sleep(0.05)\nlast = 2")
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(module.last)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert found == [2] * 4 and sys.read_times == [1]


def test_a_thread_that_uses_a_module_of_which_another_has_read_half_waits_for_all_of_it(
    written, monkeypatch: pytest.MonkeyPatch
):
    half, rest, found = threading.Event(), threading.Event(), list[str]()
    monkeypatch.setattr(sys, "read_half", lambda: half.set() or rest.wait(5), raising=False)
    module = written("def word(): return later\nsys.read_half()\nlater = 'said'")
    reading = threading.Thread(target=lambda: lateness.read(module))
    using = threading.Thread(target=lambda: found.append(module.word()))
    reading.start()
    half.wait(5)
    using.start()
    using.join(0.05)  # in which it would have found no `later`
    rest.set()
    reading.join(5)
    using.join(5)
    assert found == ["said"] and sys.read_times == [1]


def test_a_late_module_may_call_something_as_this_one_does(written):
    assert written("def read(): return 'said'").read() == "said"


def test_modules_that_are_put_off_twice_are_read_all_the_same(written):
    with lateness.late():
        module = written("word = 'said'")
        assert not lateness.is_read(module)
    assert module.word == "said"


def test_what_other_threads_find_does_not_change_meanwhile():
    finders = list(sys.meta_path)
    with lateness.late(), lateness.without("colorsys"):
        assert sys.meta_path == finders


def test_a_package_is_read_at_once():
    """Its modules are found through it."""
    with lateness.late():
        from app.llm import demo
    assert lateness.is_read(demo)


def test_a_part_is_made_once_however_many_threads_ask():
    made: list[int] = []

    class Whole:
        @lateness.late_part
        def slow(self) -> object:
            made.append(1)
            together.wait(0.2)  # so that a second one would have the time to begin
            return object()

    together = threading.Event()
    whole, found = Whole(), list[object]()
    threads = [threading.Thread(target=lambda: found.append(whole.slow)) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(made) == 1 and set(found) == {whole.slow}
