"""What a frame of a streamed answer takes of the browser's main thread below many long answers, against one below none.

Tables, code and formulas are among the answers. Milliseconds of processor, which a busy machine does not stretch.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from playwright.sync_api import CDPSession, Page

from tests.bench.browsing import session_with
from tests.bench.following import POLLING, begin, complete
from tests.bench.provider import say_enough
from tests.figures import Figure

MODEL = "openai/mixed-100000-200"
AT_MOST = 1.5
# Counts the frames in which the answer was longer than in the one before.
COUNT = """() => { window.grown = 0; window.written = 0;
  const look = () => { const now = document.querySelector('[data-testid=message-streaming]')?.textContent.length ?? 0;
    if (now > window.written) window.grown += 1; window.written = now; requestAnimationFrame(look); };
  look(); }"""


def run(above: int = 10, characters: int = 5_000) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, session_with(MODEL, Path(folder)) as (app, page):
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.evaluate(COUNT)
        enough = partial(say_enough, app.environment["OPENAI_BASE_URL"])
        times = [frame_ms(page, devtools, number, characters, enough) for number in range(above + 1)]
    ratio = times[-1] / times[0]
    value = f"{ratio:.2f} x ({times[-1]:.1f} ms)"
    return [Figure(f"A frame of an answer below {above} long ones", value, f"<= {AT_MOST} x", ratio <= AT_MOST)]


def frame_ms(page: Page, devtools: CDPSession, number: int, characters: int, enough: Callable[[], None]) -> float:
    """Of the main thread for each frame that showed more of an answer, in milliseconds."""
    begin(page, f"and {number}")
    frames, seconds = page.evaluate("window.grown"), busy_seconds(devtools)
    more = page.evaluate("window.written") + characters
    page.wait_for_function(f"window.written >= {more}", polling=POLLING)
    frames, seconds = page.evaluate("window.grown") - frames, busy_seconds(devtools) - seconds
    complete(page, enough, at=characters)
    return float(seconds * 1000 / frames)


def busy_seconds(devtools: CDPSession) -> float:
    """What the page's main thread has worked so far."""
    told = devtools.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in told if metric["name"] == "TaskDuration"))
