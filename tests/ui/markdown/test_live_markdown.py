import asyncio
import gc
import random
import time
import weakref
from contextvars import ContextVar
from itertools import count

import pytest

from app.ui.markdown.live_markdown import LINES, LiveMarkdown, LiveText, render
from app.ui.markdown.render import rendered
from tests.cancelling import AtAwait
from tests.hostile import dangers

STORY = """# Title

First paragraph with **bold** words
over two lines.

- one
- two

  still two

1. a
2. b

| x | y |
|---|---|
| 1 | 2 |

```python
def f():

    return 1
```
Text right behind the code.
~~~
tildes

# no heading
~~~

> quoted
> more

- list with code:
  ```sh
  ls

  pwd
  ```
- next

Last paragraph."""


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def pieces(text: str, seed: int) -> list[str]:
    """The text as a model would stream it: ever longer beginnings."""
    chooser = random.Random(seed)
    ends = sorted({*chooser.sample(range(1, len(text)), 40), len(text)})
    return [text[:end] for end in ends]


@pytest.mark.parametrize("seed", range(20))
async def test_blocks_and_tail_are_the_text_in_order(seed: int) -> None:
    clock, shown = Clock(), []
    live = LiveText(clock)
    for text in pieces(STORY, seed):
        clock.time += 1
        await live.take(text)
        shown.append((len(live.blocks), live.tail, live.code))
    counts = [count for count, _, _ in shown]
    assert counts == sorted(counts)
    assert "Last paragraph" in live.tail
    assert live.code is None
    whole = "".join(live.blocks) + live.tail
    for words in ("Title", "First paragraph", "still two", "return", "right behind", "no heading", "quoted", "pwd"):
        assert whole.count(words) == 1


@pytest.mark.parametrize("seed", range(10))
async def test_a_code_block_that_holds_blank_lines_is_one_block(seed: int) -> None:
    clock = Clock()
    live = LiveText(clock)
    for text in pieces(STORY, seed):
        clock.time += 1
        await live.take(text)
    (code,) = [block for block in live.blocks if "return" in block]
    assert code.count("<pre>") == 1
    assert "def" in code


async def test_an_open_code_block_grows_as_plain_text() -> None:
    clock = Clock()
    live = LiveText(clock)
    await live.take("Look:\n\n```js\nlet a = '<b>'\n")
    assert live.code is not None
    assert live.code.language == "js"
    assert live.code.text == "let a = '<b>'\n"
    assert live.tail == ""
    clock.time += 1
    await live.take("Look:\n\n```js\nlet a = '<b>'\n```\nDone")
    assert live.code is None
    assert "&lt;b&gt;" in live.blocks[-1]
    assert "Done" in live.tail


async def test_json_that_was_asked_for_grows_line_by_line() -> None:
    clock = Clock()
    live = LiveText(clock, json=True)
    await live.take(' {"name":"<b>","li')
    assert live.code is not None
    assert live.code.text == '{\n  "name": "<b>",\n  "li'
    clock.time += 1
    await live.take(' {"name":"<b>","list":[1]}')
    assert live.code.text == '{\n  "name": "<b>",\n  "list": [\n    1\n  ]\n}'
    assert (live.code.language, live.tail, live.blocks) == ("json", "", [])


async def test_what_is_no_json_is_markdown_though_json_was_asked_for() -> None:
    live = LiveText(json=True)
    await live.take("I *cannot*")
    assert live.code is None
    assert live.tail == rendered("I *cannot*")
    assert await render("I *cannot*", json=True) == rendered("I *cannot*")


async def test_finished_json_is_indented_and_can_do_no_harm() -> None:
    html = await LiveMarkdown().finished("run", 0, '{"x":"<img src=x onerror=a()>"}', json=True)
    assert html.startswith('<pre><code class="language-json">')
    assert "onerror" in html and "\n" in html
    assert dangers(html) == []
    assert "language-json" not in await render('{"x":1}')


async def test_it_renders_no_more_often_than_it_can_afford() -> None:
    clock = Clock()
    live = LiveText(clock)
    await live.take("one")
    await live.take("one two")
    assert live.version == 1
    clock.time += 0.1
    await live.take("one two")
    assert live.version == 2
    assert "two" in live.tail


async def test_the_first_words_wait_for_less_than_those_behind_them() -> None:
    clock = Clock()
    live = LiveText(clock)
    await live.take("## ")
    clock.time += 0.01
    await live.take("## Title\n\nOne paragraph")
    assert "One paragraph" in live.tail
    clock.time += 0.01
    await live.take("## Title\n\nOne paragraph more")
    assert "more" not in live.tail


async def test_two_tabs_cost_one_rendering() -> None:
    texts = LiveMarkdown()
    first, second = texts.text("run", 0), texts.text("run", 0)
    assert first is second
    await asyncio.gather(first.take("hello"), second.take("hello"))
    assert first.version == 1
    assert texts.text("run", 1) is not first
    assert texts.text("run", 0, reasoning=True) is not first


@pytest.mark.parametrize(
    ("text", "json"),
    [(STORY.replace("First", "First, " + "and on " * 300), False), ('{"words": ["' + "and on " * 300 + '"]}', True)],
    ids=["Markdown", "JSON"],
)
async def test_what_a_tab_took_that_closes_meanwhile_is_there_for_the_others(text: str, json: bool) -> None:
    loop = asyncio.get_running_loop()
    for nth in count(1):
        live = LiveText(Clock(), json=json)
        at_await = AtAwait("LiveText.take", nth)
        loop.set_task_factory(at_await)
        closing = asyncio.create_task(live.take(text))
        loop.set_task_factory(None)
        await asyncio.gather(closing, return_exceptions=True)
        await live.take(text)
        whole = live.code.text if live.code else "".join([*live.blocks, live.tail])
        assert whole.count("and on") == 300
        assert "]" in whole if json else "Last paragraph." in whole
        if not at_await.reached:
            break


async def test_nothing_is_kept_of_the_page_that_asked() -> None:
    class Request:
        """What came with the page."""

    async def look(live: LiveText, request: Request) -> weakref.ref[Request]:
        asked_by.set(request)
        await live.take("Hello")
        return weakref.ref(request)

    asked_by: ContextVar[Request] = ContextVar("asked_by")
    live = LiveText()
    kept = await asyncio.create_task(look(live, Request()))
    await asyncio.sleep(0)  # the loop lets go of that task
    gc.collect()
    assert live.version == 1
    assert kept() is None


async def test_the_finished_answer_is_rendered_in_one_piece() -> None:
    texts = LiveMarkdown()
    await texts.text("run", 0).take(STORY)
    assert await texts.finished("run", 0, STORY) == rendered(STORY)


async def test_many_long_texts_leave_others_their_turn() -> None:
    gc.freeze()  # as the app does at its start: what else tests have loaded is nobody's garbage
    waits: list[float] = []
    while len(waits) < 3 and min(waits, default=1) >= 0.1:  # a busy machine only adds to it
        waits.append(await longest_wait_beside_drawing())
    assert min(waits) < 0.1


async def longest_wait_beside_drawing() -> float:
    """Seconds of processor time."""
    drawing = asyncio.gather(*(render("- a\n" * 2_400) for _ in range(18)))
    longest, before = 0.0, time.process_time()
    while not drawing.done():
        await asyncio.sleep(0.002)
        now = time.process_time()
        longest, before = max(longest, now - before), now
    assert all("<li>" in html for html in drawing.result())
    return longest


async def test_very_many_new_lines_leave_others_their_turn() -> None:
    live, seen = LiveText(), set[int]()
    taking = asyncio.create_task(live.take("\n" * 10 * LINES + "x"))
    while not taking.done():
        seen.add(live._splitter._scanned)
        await asyncio.sleep(0)
    assert len(seen) >= 10
    assert "x" in live.tail + "".join(live.blocks)


async def test_an_open_formula_grows_as_plain_text_and_is_marked_when_it_is_closed() -> None:
    clock = Clock()
    live = LiveText(clock)
    await live.take("So:\n\n$$\na_1 * b_1 *")
    assert live.tail == "<p>$$\na_1 * b_1 *</p>\n"
    clock.time += 1
    await live.take("So:\n\n$$\na_1 * b_1 * c\n$$\n\nNext\n")
    assert '<code class="math-display">a_1 * b_1 * c</code>' in live.blocks[-1]


async def test_a_finished_answer_begins_with_its_finished_blocks_so_that_they_can_stay() -> None:
    clock, text = Clock(), "One $x$.\n\n```mermaid\ngraph TD\n```\n\n> [!NOTE]\n> Two\n\nThree.\n\nFour."
    live = LiveText(clock)
    for end in range(1, len(text) + 1):
        clock.time += 1
        await live.take(text[:end])
    assert len(live.blocks) >= 3
    assert (await LiveMarkdown().finished("run", 0, text)).startswith("".join(live.blocks))


async def test_an_answer_that_is_shown_again_is_not_rendered_again() -> None:
    texts = LiveMarkdown()
    first = await texts.finished("run", 0, STORY)
    assert await texts.drawn(STORY) is first
    assert await texts.finished("another", 3, STORY) is first
    assert await texts.drawn('{"a": 1}', json=True) != await texts.drawn('{"a": 1}')


async def test_no_more_is_kept_than_there_is_room_for() -> None:
    texts = LiveMarkdown(room=100)
    first = await texts.drawn("a" * 60)
    second = await texts.drawn("b" * 60)
    assert await texts.drawn("b" * 60) is second
    assert await texts.drawn("a" * 60) is not first
