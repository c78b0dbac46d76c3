import asyncio
import itertools
import os
import threading
import time
from pathlib import Path

import pytest

from app.workbench.vitals.process_facts import ProcessFacts, open_files, process_facts
from app.workbench.vitals.vitals import CALLS_KNOWN, SAMPLE_SECONDS, STOP_MS, Vitals
from tests.traces import called, finished, returned, started, trace_of
from tests.waiting import until


def answers(vitals: Vitals, *times: float) -> None:
    for number, ms in enumerate(times):
        ended = returned(f"m{number}").model_copy(update={"total_ms": ms})
        vitals.take_run(f"r{number}", trace_of(started(), called(f"m{number}"), ended, finished()))


async def test_a_sample_says_how_the_process_fares(tmp_path: Path) -> None:
    vitals = Vitals(tmp_path, lambda: 7)
    vitals.look()
    vitals.start()
    facts = await until(lambda: vitals.facts)
    await vitals.close()
    (sample,) = vitals.samples
    assert facts.backlog == 7
    assert facts.threads >= 1
    assert (facts.disk_free or 0) > 0
    assert sample.memory is None or sample.memory > 10_000_000
    assert (facts.files is None) == (sample.memory is None)


async def test_while_nobody_looks_an_hour_is_kept_and_the_system_asked_for_nothing_else(tmp_path: Path) -> None:
    looks = itertools.count()
    vitals, threads = Vitals(tmp_path, lambda: next(looks)), threading.active_count()
    vitals.start()
    await until(lambda: vitals.samples)
    await asyncio.sleep(0)  # what would have been begun has begun
    assert vitals.facts is None and threading.active_count() == threads
    vitals.look()  # and all is asked at once
    facts = await until(lambda: vitals.facts, seconds=SAMPLE_SECONDS - 1)
    await vitals.close()
    assert facts.backlog == 0, "it was asked before"
    assert len(vitals.samples) == 2


async def test_a_loop_that_stood_still_is_among_what_was_slow(tmp_path: Path) -> None:
    vitals = Vitals(tmp_path, lambda: 0)
    vitals.look()
    vitals.start()
    time.sleep(0.4)  # noqa: ASYNC251  this is what the loop must not do
    (slow,) = await until(lambda: list(vitals.slow))
    await vitals.close()
    assert slow.kind == "loop"
    assert STOP_MS < slow.ms < 4000


def test_an_answer_slower_than_the_model_is_used_to_is_told_with_its_run(tmp_path: Path) -> None:
    vitals = Vitals(tmp_path, lambda: 0)
    answers(vitals, 60_000, *[900.0 + number for number in range(200)])
    assert not vitals.slow  # the very first one is compared with nothing
    answers(vitals, 9000)
    assert [(slow.kind, slow.what, slow.ms, slow.run_id) for slow in vitals.slow] == [
        ("model", "demo/agent", 9000, "r0")
    ]


def test_nothing_is_called_slow_before_enough_is_known(tmp_path: Path) -> None:
    vitals = Vitals(tmp_path, lambda: 0)
    answers(vitals, *[10.0] * (CALLS_KNOWN - 1), 9000)
    assert not vitals.slow


@pytest.mark.skipif(not Path("/proc").exists(), reason="this system does not say it")
def test_the_system_says_memory_and_age_of_a_process() -> None:
    facts = process_facts(os.getpid())
    assert (facts.memory or 0) > 1_000_000
    assert 0 <= (facts.seconds or -1) < 86_400
    assert process_facts(2**22 + 1) == ProcessFacts()
    before = open_files()
    with Path(__file__).open():
        assert open_files() == (before[0] + 1, before[1]) if before else True
