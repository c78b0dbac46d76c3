"""S3: the longest stop of the event loop by anything that a model, a tool, a guest or a file says.

Measured in processor time of this process, so that a busy machine makes nothing longer.
"""

import asyncio
import gc
import random
import re
import signal
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.workflows.renaming import LONGEST
from app.llm.tokens import text_tokens
from app.store.folder.folder import DataFolder
from tests.app_process import AppProcess
from tests.browser import chromium
from tests.e2e.conftest import FLAGS
from tests.figures import Figure
from tests.hostile_parsers import PARSERS, TOOLS, Parser
from tests.hostile_patterns import FoundPattern, HostileText, found_patterns, hostile_texts
from tests.hostile_servers import echo
from tests.processor import at_work, slowness

LENGTH = 200_000
FIRST = 1_000
BAR = 0.1
NOTHING = HostileText("", "", "")
MEASURED = "openai/x"
"""A model whose tokens are counted with the vocabulary."""
FEW = 16
"""Patterns of the short form: to make the texts of all takes longer than to try them."""
SLOWEST = 6
"""Texts for each pattern that are doubled: those that took longest when they were short."""
MOST_OF = (("app.llm.demo.sums", 400), ("app.llm.demo", 4_000), ("app.domain.workflows.renaming", LONGEST))
"""So many characters at most are seen by any pattern there: what the demo model reads is cut, what names are changed in
is left alone where it is longer."""
ANSWERS = (
    *("![" * 50_000, "[" * 100_000, "a|b\n-|-\n" * 12_000, "> " * 50_000, "- a\n" * 40_000),
    *("*a **b " * 20_000, "<" * 99_000),
    *("`" * 99_000, "a" * 199_000, "\n" * 99_000 + "x", "ก" * 99_000, '{"a":' * 20_000, "1. a\n\n" * 20_000),
    ("```python\n" + "x = 1\n" * 800 + "```\n\n") * 20,
    "```bash\n$'" + "\\0" * 400 + "\n```\n\n```python\nx = 1\n```",
)  # fmt: skip
PATIENCE = 120_000
"""Milliseconds for whatever a machine that does much else is slow with."""
VIEWS = ("trajectory", "messages", "review", "raw")
TYPE = "(box, text) => { box.value = text; box.dispatchEvent(new Event('input')); }"
DEMO = (
    *("`", "-", "What is 5 -", "replace x with ", "read it. ", "in a.b ", "(", "1+", "a=", "Data:\n", "take "),
    "and then ",
)


async def run(*, brief: bool = False) -> list[Figure]:
    random.seed(3)
    patterns = found_patterns()
    longest, texts = longest_match(random.sample(patterns, FEW) if brief else patterns, brief=brief)
    stop, parsed = await longest_stop(PARSERS, length=LENGTH // 10 if brief else LENGTH, most=1 if brief else 1_000)
    said = [(text * 40_000)[:length] for length in (4_000, 32_000) for text in DEMO]
    answers, said, views = (ANSWERS, said, VIEWS) if not brief else (["- a\n" * 500], [], VIEWS[:1])
    told, asked = await asyncio.to_thread(longest_stop_of_the_app, answers, said, views)
    bar = BAR * slowness() if brief else BAR  # the short form is part of the tests, on whatever machine
    return [
        figure("patterns of the app: longest match", longest, f"of {texts:,} texts", bar),
        figure("parsers of the app: longest stop of the loop", stop, f"of {parsed:,} texts", bar),
        figure("the running app: longest stop of the loop", told, f"of {asked} messages and answers", bar),
    ]


def figure(name: str, seconds: float, of: str, bar: float) -> Figure:
    return Figure(f"S3 {name}", f"{seconds * 1000:.0f} ms {of}", f"<= {bar * 1000:.0f} ms", seconds <= bar)


def longest_match(patterns: Sequence[FoundPattern], *, brief: bool) -> tuple[float, int]:
    """The longest that any pattern takes for any text, and how many were tried; what is over the bar is printed."""
    longest, tried = 0.0, 0
    for pattern in patterns:
        texts = hostile_texts(pattern.pattern)
        texts = random.sample(texts, min(len(texts), 3)) if brief else texts
        tried += len(texts)
        seconds, text = longest_of(pattern, texts, LENGTH // 10 if brief else LENGTH)
        if seconds > BAR:
            print(f"  {pattern}: {seconds * 1000:.0f} ms for {text}")
        longest = max(longest, seconds)
    return longest, tried


def longest_of(pattern: FoundPattern, texts: Sequence[HostileText], length: int) -> tuple[float, HostileText]:
    """The seconds of the slowest text, or of the first one over the bar."""
    most = next((most for place, most in MOST_OF if pattern.module.startswith(place)), length)
    took: list[tuple[float, HostileText]] = []
    for text in texts:
        took.append((seconds_for(pattern, text.of(min(FIRST, most))), text))
        if took[-1][0] > BAR and (again := seconds_for(pattern, text.of(min(FIRST, most)))) > BAR:
            return again, text
    slowest = (0.0, NOTHING)
    for _, text in sorted(took, key=lambda one: one[0], reverse=True)[:SLOWEST]:
        slowest = max(slowest, (doubled(pattern, text, most), text), key=lambda one: one[0])
        if slowest[0] > BAR:
            break
    return slowest


def doubled(pattern: FoundPattern, text: HostileText, most: int) -> float:
    """Seconds for the text at its full length, or at the first one that is over the bar."""
    length, seconds = min(FIRST, most), 0.0
    while True:
        seconds = max(seconds, min(seconds_for(pattern, text.of(length)) for _ in range(2)))
        if seconds > BAR or length >= most:
            return seconds
        length = min(2 * length, most)


def seconds_for(pattern: FoundPattern, text: str) -> float:
    """Given up after one second: a signal ends a match."""
    before = signal.signal(signal.SIGPROF, _give_up)
    with at_work() as work:
        signal.setitimer(signal.ITIMER_PROF, 1)
        try:
            with suppress(TimeoutError):
                pattern.apply(text)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
    return work.seconds


def _give_up(*_: object) -> None:
    raise TimeoutError


async def longest_stop(parsers: Sequence[Parser], *, length: int, most: int) -> tuple[float, int]:
    longest, tried = 0.0, 0
    gc.freeze()  # as the app does at its start: what tests hold is not looked through for garbage
    await text_tokens("", MEASURED)  # the vocabulary is read for the first of them, and stops the loop for once
    for parser in parsers:
        texts = parser.texts()
        for text in random.sample(texts, min(len(texts), most)):
            seconds = await stop_by(parser, text.of(length)[:length])
            if seconds > BAR:
                print(f"  {parser.name}: {seconds * 1000:.0f} ms for {text}")
            longest, tried = max(longest, seconds), tried + 1
    await TOOLS.close()
    gc.unfreeze()
    return longest, tried


async def stop_by(parser: Parser, text: str) -> float:
    """The most processor time between two turns of the loop."""
    stops: list[float] = []
    watch = asyncio.create_task(_watch(stops))
    await asyncio.sleep(0.01)
    await parser.read(text)
    await asyncio.sleep(0.01)
    watch.cancel()
    return max(stops)


async def _watch(stops: list[float]) -> None:
    before = time.process_time()
    while True:
        await asyncio.sleep(0.002)
        now = time.process_time()
        stops.append(now - before)
        before = now


STOPPED = re.compile(r"STOPPED (\d+) ms")


def longest_stop_of_the_app(answers: Sequence[str], demo: Sequence[str], views: Sequence[str]) -> tuple[float, int]:
    """What a model answers and what is said to the demo model: sent, streamed, shown, and looked at again."""
    with tempfile.TemporaryDirectory() as temporary, echo() as model:
        folder = Path(temporary) / "data"
        asyncio.run(_with_agents(folder))
        said = [("Echo", text) for text in answers] + [("Demo", text) for text in demo]
        return _longest_of_the_app(folder, model, said, views)


def _longest_of_the_app(
    folder: Path, model: str, said: Sequence[tuple[str, str]], views: Sequence[str]
) -> tuple[float, int]:
    with sync_playwright() as playwright:
        environment = {"OPENAI_BASE_URL": model, "OPENAI_API_KEY": "sk-bench"}
        app = AppProcess(folder, module="tests.lagging_app", environment=environment)
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            app.start()
            page = browser.new_page(base_url=app.url)
            page.set_default_timeout(PATIENCE)
            page.goto(app.playground)
            for agent in dict(said):  # what is imported with the first of them stops the loop for once
                _stops_of(app, page, agent, "warm up", views)
            stops = [(_stops_of(app, page, agent, text, views), f"{agent}: {text[:40]!r}") for agent, text in said]
        finally:
            browser.close()
            app.stop()
    for found, what in stops:
        if found > BAR:
            print(f"  {what}: {found * 1000:.0f} ms")
    return max(found for found, _ in stops), len(stops)


def _stops_of(app: AppProcess, page: Page, agent: str, text: str, views: Sequence[str]) -> float:
    """The longest stop while the text is sent, answered, and looked at on the pages of its session and its run."""
    page.goto("/playground")
    page.get_by_test_id("agent-card").filter(has_text=agent).click()
    expect(page.get_by_test_id("chat-input")).to_be_focused(timeout=PATIENCE)
    before = len(app.log)
    page.get_by_test_id("chat-input").evaluate(TYPE, text)
    page.get_by_test_id("chat-input").press("Enter")
    expect(page.get_by_test_id("stream-state")).to_have_text("Idle", timeout=PATIENCE)
    expect(page.get_by_test_id("assistant-message")).to_have_count(1, timeout=PATIENCE)
    expect(page.get_by_test_id("message-streaming")).to_have_count(0, timeout=PATIENCE)
    page.reload()
    page.get_by_test_id("open-run").first.click()
    page.wait_for_url("**/runs/*")
    address = page.url
    for view in views:
        page.goto(f"{address}?view={view}")
        expect(page.locator("main h1").first).to_be_visible(timeout=PATIENCE)
    return max((int(found) / 1000 for found in STOPPED.findall(app.log[before:])), default=0.0)


async def _with_agents(folder: Path) -> None:
    data = DataFolder.open(folder)
    for name, model in (("Echo", "openai/echo"), ("Demo", "demo/agent")):
        await data.agents.create(new_agent(name, PromptBehaviour(model=model), taken_slugs=data.agents.slugs()))
    await data.close()
