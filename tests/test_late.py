"""What the app's first page is served without, and the way modules are read later."""

import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest

from app import late as lateness
from tests.app_process import ROOT

HEAVY = (
    *("litellm", "openai", "tiktoken", "httpx", "mcp", "keyring", "truststore", "sqlite3"),
    *("pypdf", "lark", "jmespath", "dateutil", "jsonschema", "pydantic_monty", "markdown_it", "nh3", "matplotlib"),
)
"""Libraries that take long to import."""
LATE = (
    *("app.engine.runs", "app.engine.loop", "app.engine.chat", "app.engine.forks", "app.engine.jobs"),
    *("app.llm.demo.model", "app.llm.litellm_model", "app.llm.doctor", "app.llm.provider_desk", "app.llm.nearby"),
    *("app.tools.registry", "app.tools.http_tools", "app.tools.mcp.hub", "app.tools.worker.file_worker"),
    *("app.tools.builtin", "app.tools.user_tools.folder", "app.store.rows", "app.store.search", "app.store.traces"),
    *("app.store.key_places", "app.store.provider_keys", "app.export.exports", "app.export.redacting"),
    *("app.api.application", "app.ui.render", "app.ui.pages.session", "app.ui.pages.run", "app.ui.pages.settings"),
)
"""Parts that no first page needs."""
STARTED = """
import sys
import app.serve
from app.late import is_read
from app.workbench import Workbench
print(*(name for name, module in sys.modules.items() if is_read(module)))
"""


def test_a_start_reads_nothing_that_the_first_page_can_do_without():
    told = subprocess.run([sys.executable, "-c", STARTED], cwd=ROOT, capture_output=True, text=True, check=True)
    read = set(told.stdout.split())
    assert "nicegui" in read and "app.ui.pages.landing" in read
    assert read.isdisjoint(HEAVY) and read.isdisjoint(LATE)


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
