"""Short forms of what `make bench` measures of whole starts and pages in a browser. They judge no time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from tests.bench import (
    agents_page,
    first_text,
    following,
    html_export,
    long_conversation,
    pages,
    prompt_preview,
    runs_pages,
    start,
    stream_cpu,
    tools_page,
    workflow_canvas,
)
from tests.figures import Figure

SHORT = "openai/mixed-600-400"
MEASURED = {
    "Agents with 3 agents": partial(agents_page.run, agents=3, stored=20, rounds=1),
    "A frame of an answer below 1 long ones": partial(long_conversation.run, above=1, characters=300),
    "HTML export of 50 events of 500 bytes, time": partial(html_export.run, events=50, rounds=1),
    "P1 start from source": partial(start.run, stored=20, rounds=1, after=0.5),
    "P2 Send to first text in the browser, p95": partial(first_text.run, rounds=2),
    "P3 server CPU for each chunk, above bare LiteLLM": partial(stream_cpu.run, characters=400),
    "P5 Runs with 200 runs": partial(runs_pages.run, stored=200, events=50, rounds=1),
    "A session of 30 turns": partial(pages.run, stored=200, sessions=20, rounds=1),
    "keystroke to preview at 20,000 characters, p95": partial(prompt_preview.run, keystrokes=2),
    "Tools": partial(tools_page.run, rounds=1, tools=5),
    "W2": partial(workflow_canvas.run, nodes=300, rounds=1),
}


@pytest.mark.parametrize("name", MEASURED)
def test_it_is_measured(name: str):
    figures = measured(MEASURED[name])
    assert figures[0].name.startswith(name), figures


def test_answers_that_are_followed_are_measured():
    figures = measured(partial(following.run, answers=1, scrolled=1, model=SHORT, longer="openai/mixed-100000-50"))
    assert [figure.value for figure in figures] == ["1 of 1", "1 of 1"]


def measured(run: Callable[[], list[Figure]]) -> list[Figure]:
    """In a thread of its own, as Playwright wants it."""
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(run).result()
