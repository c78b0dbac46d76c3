"""A long run as a self-contained page: how long that takes, from the stored entries to the bytes, and how many."""

import random
import statistics
import string
import time

from app.domain.events import Entry
from app.export.html import html_page
from app.export.json_lines import json_lines
from app.export.redacting import Redactor
from tests.figures import Figure
from tests.traces import asked, call, called, finished, ran, returned, said, started, trace_of

EVENTS = 5_000
BYTES = 500
ROUNDS = 5


def run(events: int = EVENTS, rounds: int = ROUNDS) -> list[Figure]:
    entries = long_run(random.Random(6), events)
    took, size = [], 0
    for _ in range(rounds):
        began = time.perf_counter()
        cleaned = Redactor("long", ["a-known-key-0042"]).entries(entries)
        page = html_page(cleaned, json_lines(cleaned, app="0"), artifacts={})
        took.append(time.perf_counter() - began)
        size = len(page)
    seconds = statistics.median(took)
    name = f"HTML export of {events:,} events of {BYTES} bytes"
    return [
        Figure(f"{name}, time", f"{seconds:.2f} s", "<= 2 s", seconds <= 2),
        Figure(f"{name}, size", f"{size / 1e6:.1f} MB", "<= 6 MB", size <= 6_000_000),
    ]


def long_run(chance: random.Random, most: int) -> list[Entry]:
    """Decisions with a call each; events take about that many bytes on average, most of it words."""
    words = ["".join(chance.choices(string.ascii_lowercase, k=chance.randint(2, 9))) for _ in range(3_000)]

    def text(length: int) -> str:
        return " ".join(chance.choices(words, k=length))[:length]

    events = [started(), asked(text(BYTES))]
    while len(events) < most - 5:
        number = str(len(events))
        wanted = call(number, expression=text(BYTES))
        decision = (called(number), said(text(BYTES), wanted, reasoning=text(BYTES)), returned(number))
        events += [*decision, *ran(wanted, text(BYTES))]
    answer = [called("last"), said(text(BYTES)), returned("last"), finished()]
    entries = trace_of(*events, *answer)
    average = sum(len(entry.model_dump_json()) for entry in entries) / len(entries)
    if average < BYTES:
        raise RuntimeError(f"The events have only {average:.0f} bytes")
    return entries
