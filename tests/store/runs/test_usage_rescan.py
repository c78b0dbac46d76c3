"""Daily figures after whatever happened to runs: they equal those made anew of all rows."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as some

from app.domain.provenance import AgentRef, Purpose, Trigger
from app.domain.trace import ModelTally, RunRow, RunStatus, ToolTally
from app.domain.usage.figures import Cell, UsageKey
from app.store.journal.database import JournalDB
from app.store.runs.rows import Rows

BEGAN = datetime(2026, 3, 27, 20, tzinfo=UTC)
FIRST, LAST = date(2026, 3, 1), date(2026, 4, 30)

counts = some.dictionaries(some.integers(0, 140), some.integers(1, 3), max_size=3)
models = some.builds(
    ModelTally,
    model=some.sampled_from(("openai/small", "claude-sonnet")),
    provider=some.sampled_from(("openai", "")),
    calls=some.integers(0, 4),
    retries=some.integers(0, 2),
    failures=some.dictionaries(some.sampled_from(("timeout", "network")), some.integers(1, 2)),
    input_tokens=some.integers(0, 9000),
    cost=some.integers(0, 10**9),
    times=counts,
    first_token_times=counts,
)
tools = some.builds(ToolTally, name=some.sampled_from(("add", "see")), calls=some.integers(1, 3), times=counts)
statuses: tuple[RunStatus, ...] = ("running", "completed", "failed")
purposes: tuple[Purpose, ...] = ("chat", "experiment")
rows_saved = some.builds(
    RunRow,
    run_id=some.sampled_from("abcdef"),
    session_id=some.just("s"),
    agent=some.builds(
        AgentRef, id=some.sampled_from("AB"), slug=some.just("a"), name=some.just("A"), variant=some.integers(0, 2)
    ),
    model=some.just("openai/small"),
    status=some.sampled_from(statuses),
    request=some.just("?"),
    purpose=some.sampled_from(purposes),
    trigger=some.builds(Trigger, kind=some.sampled_from(("page", "app"))),
    background=some.booleans(),
    imported=some.booleans(),
    started_at=some.integers(0, 60).map(lambda hours: BEGAN + timedelta(hours=hours)),
    duration_ms=some.one_of(some.none(), some.floats(0, 1e8)),
    cost=some.floats(0, 1),
    models=some.one_of(some.none(), some.lists(models, max_size=2, unique_by=lambda one: one.model).map(tuple)),
    queued=some.integers(0, 2),
    waits=counts,
    tools=some.lists(tools, max_size=2, unique_by=lambda one: one.name).map(tuple),
)
happenings = some.one_of(
    rows_saved,
    some.sampled_from(("delete", "restore", "empty", "store", "kill", "close", "settle", "older app")),
)


class Kept:
    """A store that lives through all this."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.open()

    def open(self) -> None:
        self.database = JournalDB(self.path)
        self.rows = Rows(self.database)

    async def meet(self, happening: RunRow | str) -> None:
        match happening:
            case RunRow():
                await self.rows.save(happening)
            case "delete":
                await self.rows.delete("abc")
            case "restore":
                await self.rows.restore("ab")
            case "empty":
                await self.rows.empty("a")
            case "store":
                self.rows.usage_figures.keep()
            case "settle":
                settling = asyncio.create_task(self.rows.settle_usage())
                await asyncio.sleep(0)
                for row in self.values()[:2]:  # which goes on meanwhile
                    other = "failed" if row.status == "completed" else "completed"
                    await self.rows.save(row.model_copy(update={"status": other}))
                await settling
            case "older app":  # knows nothing of models, nor of daily figures
                for row in self.values()[:1]:
                    await self.rows._documents.save(row.run_id, row.model_copy(update={"models": None, "form": 0}))
                self.open()
            case _:
                if happening == "close":
                    self.rows.usage_figures.keep()
                self.open()

    def values(self) -> list[RunRow]:
        return list(self.rows._documents.values())

    async def cells(self) -> dict[UsageKey, object]:
        await self.rows.settle_usage()
        return told(list(self.rows.usage_figures.cells(FIRST, LAST)()))


def told(cells: Sequence[Cell]) -> dict[UsageKey, object]:
    found = dict(cells)
    assert len(found) == len(cells)
    return dict(found)


async def go_through(happened: Sequence[RunRow | str], folder: Path) -> None:
    kept = Kept(folder / "app.tdb")
    for happening in happened:
        await kept.meet(happening)
    cells = await kept.cells()
    assert cells == await kept.cells()
    await kept.meet("close")
    assert cells == await kept.cells(), "they are not the same after a restart"
    kept.database.drop_table("usage")
    kept.open()
    assert cells == await kept.cells(), "they are not those made anew of all rows"
    own = [row for row in kept.values() if not row.imported]
    spent = Counter[str]()
    for row in own:
        if row.models is None:
            spent[row.model] += round(row.cost * 10**9)
        for tally in row.models or ():
            spent[tally.model] += tally.cost
    figures = list(kept.rows.usage_figures.cells(FIRST, LAST)())
    for model in ("openai/small", "claude-sonnet"):
        assert sum(one.cost for key, one in figures if key.model == model) == spent[model]
    assert sum(one.runs for _, one in figures) == sum(row.trigger.kind != "app" for row in own)
    assert sum(one.queued for _, one in figures) == sum(row.queued for row in own)
    assert sum(one.tool_calls for _, one in figures) == sum(tool.calls for row in own for tool in row.tools)


@settings(max_examples=60, deadline=None)
@given(some.lists(happenings, max_size=25))
def test_figures_equal_a_full_rescan_whatever_happened_to_runs(happened: list[RunRow | str]):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(go_through(happened, Path(folder)))
