"""P2: from Send to the first text in the browser, and how much of that is the provider's own."""

import json
import statistics
import tempfile
import time
import urllib.request
from pathlib import Path

from tests.bench.browsing import ask, session_with
from tests.bench.provider import provider
from tests.figures import Figure

ROUNDS = 30
MODEL = "stream-200-100"
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


def run(rounds: int = ROUNDS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, session_with(f"openai/{MODEL}", Path(folder)) as (_, page):
        ask(page, "warm up")
        milliseconds: list[float] = []
        for number in range(rounds):
            page.evaluate(WATCH)
            ask(page, f"question {number}")
            milliseconds.append(page.evaluate("() => window.firstText"))
    p50, p95 = statistics.median(milliseconds), statistics.quantiles(milliseconds, n=20)[-1]
    own = providers_own(rounds)
    value = f"{p95 - own:.0f} ms (p50 {p50 - own:.0f} ms; the provider takes {own:.0f} ms)"
    return [
        Figure(
            "P2 Send to first text in the browser, p95", value, "<= 100 ms above the provider's own", p95 - own <= 100
        )
    ]


def providers_own(rounds: int) -> float:
    """Milliseconds from asking that provider to the first word of its answer, the median."""
    with provider() as address:
        return statistics.median(first_word(f"{address}/chat/completions") for _ in range(rounds))


def first_word(address: str) -> float:
    asked = {"model": MODEL, "stream": True, "messages": [{"role": "user", "content": "go"}]}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(address, json.dumps(asked).encode(), headers)
    began, said = time.perf_counter(), ""
    with urllib.request.urlopen(request) as answer:
        while not said.strip("# "):
            said += json.loads(answer.readline().removeprefix(b"data: ") or "{}")["choices"][0]["delta"]["content"]
            answer.readline()
    return (time.perf_counter() - began) * 1000
