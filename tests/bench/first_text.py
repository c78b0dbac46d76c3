"""P2: from Send to the first text in the browser, with a provider that answers at once, so that all of it is ours."""

import statistics
import tempfile
from pathlib import Path

from tests.bench.browsing import ask, session_with
from tests.figures import Figure

ROUNDS = 30
WATCH = """() => {
  window.firstText = null;
  let sent = null;
  document.addEventListener("keydown", (event) => { if (event.key === "Enter") sent = performance.now(); },
    {capture: true, once: true});
  const before = document.querySelectorAll("[data-testid=assistant-message]").length;
  const look = () => {
    const answers = document.querySelectorAll("[data-testid=assistant-message]");
    const shown = answers.length > before && answers[answers.length - 1].querySelector(".answer");
    if (shown && shown.innerText.trim()) { window.firstText = performance.now() - sent; return; }
    requestAnimationFrame(look);
  };
  look();
}"""


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, session_with("openai/stream-200-100", Path(folder)) as (_, page):
        ask(page, "warm up")
        milliseconds: list[float] = []
        for number in range(ROUNDS):
            page.evaluate(WATCH)
            ask(page, f"question {number}")
            milliseconds.append(page.evaluate("() => window.firstText"))
    p95 = statistics.quantiles(milliseconds, n=20)[-1]
    value = f"{p95:.0f} ms (p50 {statistics.median(milliseconds):.0f} ms)"
    return [Figure("P2 Send to first text in the browser, p95", value, "<= 150 ms", p95 <= 150)]
