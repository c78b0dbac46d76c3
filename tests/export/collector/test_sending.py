"""Runs on their way to a real collector over HTTP, which is down, slow, wrong, or fine again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.domain.collectors import Destination, UnsentRun, spans_address
from app.domain.errors import StorageError
from app.domain.events import Entry
from app.export.collector import sending as at
from app.export.collector.posting import post
from app.export.collector.sending import Sending, UnsentStore
from app.export.exports import Exports
from app.store.folder.folder import DataFolder
from tests.app_process import free_port
from tests.cancelling import AtAwait
from tests.export.runs import Shelf, rich_run
from tests.fakes.collector import FakeCollector, values
from tests.traces import a_workflow_run, asked, finished, started, the_sum, trace_of
from tests.waiting import until

SECRET = "hunter2-hunter2-Zx81"


class Slow:
    """A store that takes its time to note that a run is given up, in which something else comes to its end."""

    def __init__(self, store: UnsentStore) -> None:
        self.all, self.delete, self._save = store.all, store.delete, store.save
        self.meanwhile: Callable[[], Awaitable[None]] | None = None

    async def save(self, value: UnsentRun) -> UnsentRun:
        if value.given_up and self.meanwhile is not None:
            await self.meanwhile()
        return await self._save(value)


@dataclass
class Desk:
    data: DataFolder
    collector: FakeCollector
    shelf: Shelf
    address: str = ""
    content: bool = False
    deleted: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    unsent: Slow | None = None
    agreed: bool = True

    def sending(self) -> Sending:
        exports = Exports(self.shelf, self.shelf, lambda: [SECRET], app="1", importing=None)
        store = self.unsent or self.data.unsent_runs
        return Sending(store, exports, self.is_there, self.wanted, app="1", pause=0.002)

    def is_there(self, run_id: str) -> bool:
        if run_id in self.damaged:
            raise StorageError("Its row is damaged.")
        return run_id not in self.deleted

    async def wanted(self) -> tuple[Destination, bool] | None:
        if not self.agreed:
            return None
        address = spans_address(self.address or self.collector.url)
        return Destination(address, by_environment=False, agreed=True, headers={"x-key": SECRET}), self.content


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    data = DataFolder.open(tmp_path / "data")
    shelf = Shelf(*(a_run(f"r{number}") for number in range(5)), rich_run("rich"))
    async with FakeCollector() as collector:
        yield Desk(data, collector, shelf)
    await data.close()


def a_run(run_id: str) -> list[Entry]:
    return trace_of(*(entry.event for entry in the_sum()), run_id=run_id)


async def settled(sending: Sending) -> None:
    await until(lambda: not sending.waiting and not sending._keeping)


async def sent(desk: Desk, *ways: str, runs: tuple[str, ...] = ("r1",)) -> Sending:
    """After those runs have met those ways of the collector."""
    desk.collector.ways = list(ways)
    sending = desk.sending()
    desk.agreed = False  # the first is not sent before the others wait
    for run_id in runs:
        sending.take(run_id)
    await until(lambda: not sending._keeping)
    desk.agreed = True
    sending.begin()
    await settled(sending)
    await sending.close()
    return sending


async def test_a_run_that_ended_is_taken_once_with_its_tree(desk: Desk):
    await sent(desk)
    root, *others = desk.collector.spans
    assert root.name == "invoke_agent Assistant" and len(others) == 5
    assert {span.parent_span_id for span in others} == {root.span_id}
    assert desk.collector.asked[0]["x-key"] == SECRET
    assert values(root)["agent_playground.run.purpose"] == "chat"
    assert desk.data.unsent_runs.all() == []


@pytest.mark.parametrize("way", ["503", "429 after 0", "429 after Wed, 21 Oct 2015 07:28:00 GMT", "408", "hang up"])
async def test_what_may_be_taken_later_is_tried_again(desk: Desk, way: str):
    sending = await sent(desk, way, way)
    assert desk.collector.times() == {"r1": 1} and len(desk.collector.raw) == 3
    assert not sending.refused() and not sending.trouble


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("400", "The collector answered 400: No."),
        ("401", "The collector answered 401: No."),
        ("500", "The collector answered 500: No."),
        ("redirect", "The collector answered 307: the spans are wanted at another address."),
        ("garbage", "What answered there is no collector: it gave no receipt of spans."),
        ("page", "What answered there is no collector: it gave no receipt of spans."),
        ("partial", "The collector refused 2 of the spans: too old."),
    ],
)
async def test_what_no_collector_takes_is_given_up_at_once_and_counted(desk: Desk, way: str, words: str):
    sending = await sent(desk, way)
    assert sending.refused() == {words: 1} and len(desk.collector.raw) == 1
    assert desk.data.unsent_runs.all() == [UnsentRun(run_id="r1", given_up=words)]
    again = desk.sending()  # as after a restart
    assert again.refused() == {words: 1} and not again.waiting
    await again.again()
    await settled(again)
    assert desk.collector.times() == {"r1": 1} and not desk.data.unsent_runs.all()
    await again.close()


async def test_what_is_tried_again_twice_or_forgotten_meanwhile_is_sent_once_or_never(desk: Desk):
    sending = await sent(desk, "400")
    await asyncio.gather(sending.again(), sending.again())
    await settled(sending)
    assert desk.collector.times() == {"r1": 1}
    await sending.close()
    await desk.data.unsent_runs.save(UnsentRun(run_id="r2", given_up="No."))
    other = desk.sending()
    await asyncio.gather(other.forget(), other.again())
    await settled(other)
    assert desk.collector.times() == {"r1": 1} and not desk.data.unsent_runs.all()
    await other.close()


async def test_an_answer_in_json_is_a_receipt_too(desk: Desk):
    assert not (await sent(desk, "json")).refused()


async def test_a_collector_wants_to_be_left_alone_for_as_long_as_it_says(desk: Desk):
    desk.collector.ways = ["429 after 3000"]
    sending = desk.sending()
    sending.take("r1")
    await until(lambda: sending.trouble)
    assert sending.trouble == "The collector answered 429." and len(desk.collector.raw) == 1
    sending.begin()  # a person does not wait
    await settled(sending)
    assert desk.collector.times() == {"r1": 1}
    await sending.close()


async def test_a_slow_collector_is_given_its_time_and_no_more(desk: Desk):
    desk.collector.ways = ["slow"]
    wanted = await desk.wanted()
    assert wanted is not None
    receipt = await post({}, wanted[0], seconds=0.1)
    assert receipt.outcome == "later" and "did not answer within 0.1 seconds" in receipt.words


async def test_the_end_of_the_app_waits_for_no_slow_collector(desk: Desk):
    desk.collector.ways = ["slow"]
    sending = desk.sending()
    sending.take("r1")
    await until(lambda: desk.collector.raw)
    async with asyncio.timeout(2):
        await sending.close()
    assert desk.data.unsent_runs.all() == [UnsentRun(run_id="r1")]


async def test_a_collector_that_is_down_gets_all_of_it_when_it_is_back(desk: Desk):
    port = free_port()
    desk.address = f"http://127.0.0.1:{port}"
    sending = desk.sending()
    for number in range(5):
        sending.take(f"r{number}")
    await until(lambda: sending.waiting == 5 and "cannot be reached" in sending.trouble)
    async with FakeCollector() as back:
        await back.stop()
        await back.start(port)
        await settled(sending)
        assert back.times() == {f"r{number}": 1 for number in range(5)}
    await sending.close()


async def test_one_that_fails_holds_up_no_other(desk: Desk):
    sending = await sent(desk, "503", runs=("r1", "r2"))
    names = [values(span).get("agent_playground.run.id") for span in desk.collector.spans]
    assert [name for name in names if name] == ["r2", "r1"] and not sending.refused()


async def test_deleted_and_forgotten_runs_are_sent_to_nobody(desk: Desk):
    desk.deleted = ("r1",)
    await sent(desk, runs=("r1", "r2"))
    assert desk.collector.times() == {"r2": 1} and not desk.data.unsent_runs.all()
    desk.agreed = False
    sending = desk.sending()
    sending.take("r3")
    await until(lambda: sending.waiting)
    await sending.forget()
    desk.agreed = True
    sending.begin()
    assert not sending.waiting and not desk.data.unsent_runs.all()
    await sending.close()


async def test_a_run_whose_trace_is_gone_is_dropped(desk: Desk):
    sending = await sent(desk, runs=("r1", "nowhere"))
    assert desk.collector.times() == {"r1": 1} and not sending.refused()


async def test_a_run_whose_row_is_damaged_holds_up_no_other(desk: Desk):
    desk.damaged = ("r1",)
    sending = await sent(desk, runs=("r1", "r2"))
    assert desk.collector.times() == {"r2": 1} and sending.refused() == {"It cannot be read: Its row is damaged.": 1}


async def test_a_run_that_is_forgotten_while_it_is_given_up_is_gone(desk: Desk):
    desk.collector.ways = ["400"]
    desk.unsent = Slow(desk.data.unsent_runs)
    sending = desk.sending()
    desk.unsent.meanwhile = sending.forget
    sending.take("r1")
    await until(lambda: sending._working is not None and sending._working.done())
    sending.take("r2")
    await until(lambda: desk.collector.times() == {"r2": 1})
    await settled(sending)
    assert not sending.refused() and not desk.data.unsent_runs.all()
    await sending.close()


async def test_the_queue_takes_no_more_than_it_holds(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(at, "MOST_UNSENT", 2)
    desk.agreed = False
    sending = desk.sending()
    for number in range(2):
        sending.take(f"r{number}")
    await until(lambda: sending.waiting == 2)
    sending.take("r3")
    assert sending.left_out == 1 and sending.waiting == 2
    await sending.close()


async def test_what_was_said_goes_along_only_when_it_is_wanted(desk: Desk):
    said = ("What is this?", "a chart", "execute_python(", "print(1)", "I look at it", "Hm.", "notes.csv", "drawn")
    await sent(desk, runs=("rich",))
    assert not [words for words in said if words.encode() in desk.collector.raw[0]]
    desk.content = True
    await sent(desk, runs=("rich",))
    assert [words for words in said if words.encode() in desk.collector.raw[1]] != []


async def test_of_a_workflow_it_is_always_told_what_ran(desk: Desk):
    desk.shelf = Shelf(a_workflow_run())
    await sent(desk)
    told = [values(span) for span in desk.collector.spans]
    assert [one["gen_ai.workflow.name"] for one in told if "gen_ai.workflow.name" in one] == ["Assistant"]
    names = {name.removeprefix("agent_playground.node.") for one in told for name in one if ".node." in name}
    assert names == {"id", "kind", "call.id", "status", "port"}


async def test_secrets_are_taken_out(desk: Desk):
    desk.shelf = Shelf(trace_of(started(), asked(f"Add 5 to 10, {SECRET}"), finished(), run_id="r1"))
    desk.content = True
    await sent(desk)
    assert SECRET.encode() not in desk.collector.raw[0] and b"Add 5 to 10" in desk.collector.raw[0]


async def test_a_test_says_what_the_collector_answered(desk: Desk):
    sending = desk.sending()
    assert (await sending.test()).outcome == "taken"
    desk.collector.ways = ["401"]
    assert (await sending.test()).words == "The collector answered 401: No."
    desk.agreed = False
    assert (await sending.test()).words == "There is no address to send to."
    assert [span.name for span in desk.collector.spans] == ["test of Agent Playground"]


async def test_a_sender_that_is_cancelled_anywhere_loses_nothing(desk: Desk):
    """At each await, one after the other; what was sent twice has the same ids."""
    for nth in range(200):
        desk.collector.spans.clear()
        desk.collector.ways = ["503"]
        at_await = AtAwait("Sending._send_all", nth)
        loop = asyncio.get_running_loop()
        loop.set_task_factory(at_await)
        sending = desk.sending()
        sending.take("r1")
        sending.take("r2")
        await until(lambda sending=sending: sending._working is not None and sending._working.done())
        loop.set_task_factory(None)
        await sending.close()
        fresh = desk.sending()
        fresh.begin()
        await settled(fresh)
        await fresh.close()
        assert set(desk.collector.times()) == {"r1", "r2"}, nth
        assert len({span.span_id for span in desk.collector.spans}) == 12 and not desk.data.unsent_runs.all()
        if not at_await.reached and nth:
            return
    raise AssertionError("It never came to its end")
