"""What lists find by the columns is what the rows themselves say, whatever happened to them."""

import asyncio
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from app.domain.errors import FailureClass
from app.domain.provenance import BEHIND, AgentRef, Parent, Purpose, Trigger
from app.domain.trace import KeyRuns, RunFilter, RunRow, RunStatus, SortKey
from app.store.journal.database import JournalDB
from app.store.runs.rows import Rows

BEGAN = datetime(2026, 3, 27, 20, tzinfo=UTC)
statuses: tuple[RunStatus, ...] = ("running", "completed", "failed")
failures: tuple[FailureClass | None, ...] = (None, "network", "limit")
purposes: tuple[Purpose, ...] = ("chat", "experiment")
moments = some.integers(0, 5).map(lambda hours: BEGAN + timedelta(hours=hours))
agents = some.builds(
    AgentRef, id=some.sampled_from("AB"), slug=some.sampled_from("ab"), name=some.just("Ä"), variant=some.integers(0, 2)
)
triggers = some.builds(
    Trigger,
    kind=some.sampled_from(("page", "app", "api_key")),
    name=some.sampled_from(("", "robot")),
    key=some.sampled_from(("", "k1", "k2")),
)
rows_saved = some.builds(
    RunRow,
    run_id=some.sampled_from("abcdefgh"),
    session_id=some.sampled_from("st"),
    agent=agents,
    model=some.sampled_from(("x", "y")),
    status=some.sampled_from(statuses),
    request=some.sampled_from(('say "Hi"', "ÉTÉ\n", "value a\\b", "")),
    purpose=some.sampled_from(purposes),
    trigger=triggers,
    parent=some.none() | some.builds(Parent, run_id=some.sampled_from("ab"), call_id=some.just("c")),
    follows=some.none() | some.sampled_from(("", "a")),
    background=some.booleans(),
    started_at=moments,
    duration_ms=some.none() | some.floats(0, 9),
    cost=some.floats(0, 2),
    failure=some.sampled_from(failures),
)
wishes = {
    "text": some.sampled_from(("hi", '"say', "été", "value", "purpose", "ä x", "a\\b")),
    "agent": some.just("a"),
    "variant": some.integers(0, 2),
    "model": some.just("x"),
    "status": some.sampled_from(statuses),
    "failure": some.sampled_from(failures),
    "min_cost": some.floats(0, 2),
    "max_ms": some.floats(0, 9),
    "since": moments,
    "until": moments,
    "session_id": some.sampled_from(("s", "nobody's")),
    "parent": some.sampled_from(("a", "nobody")),
    "background": some.booleans(),
    "behind": some.just(True),
    "of_key": some.builds(
        KeyRuns,
        key=some.just("k1"),
        agents=some.just(frozenset("A")),
        name=some.sampled_from(("", "robot")),
        since=some.none() | moments,
    ),
}
wished = some.one_of([some.tuples(some.just(name), values) for name, values in wishes.items()])
filters = some.lists(wished, max_size=2).map(dict).map(RunFilter.model_validate)
sorts = some.sampled_from(("started_at", "duration_ms", "cost", "total_tokens", "model_calls"))


@settings(max_examples=100, deadline=None)
@given(some.lists(rows_saved, max_size=25), some.sets(some.sampled_from("abcdefgh"), max_size=3), filters, sorts)
def test_lists_find_what_the_rows_say(saved: list[RunRow], gone: set[str], wanted: RunFilter, sort: SortKey):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(compare(Path(folder) / "app.tdb", saved, gone, wanted, sort))


def test_signs_that_are_stored_otherwise_are_found():
    row = RunRow(
        run_id="a",
        session_id="s",
        agent=AgentRef(id="A", slug="a", name="Ä", variant=1),
        model="x",
        status="completed",
        request="C:\\new\ttab",
        purpose="chat",
        trigger=Trigger(kind="page"),
        started_at=BEGAN,
    )
    for said in ("c:\\new", "ä", '"new\ttab"'):
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(compare(Path(folder) / "app.tdb", [row], set(), RunFilter(text=said), "cost"))


async def compare(path: Path, saved: list[RunRow], gone: set[str], wanted: RunFilter, sort: SortKey) -> None:
    rows = Rows(database := JournalDB(path))
    for row in saved:
        await rows.save(row)
    await rows.delete(gone)
    newest = {row.run_id: row for row in saved}
    shown = [row for run_id, row in newest.items() if run_id not in gone]
    expected = [row.run_id for row in shown if fits(row, wanted)]
    again = Rows(JournalDB(path, later=("runs",)))
    for held in (rows, again):
        page = held.find(wanted, sort=sort)
        assert sorted(row.run_id for row in page.rows) == sorted(expected) and page.total == len(expected)
        values = [sort_value(row, sort) for row in page.rows]
        assert values == sorted(values, reverse=True)
        assert [held.get(row.run_id) for row in page.rows] == [newest[row.run_id] for row in page.rows]
        for session_id in "st":
            turns = {turn.run_id: turn for turn in held.turns(session_id)}
            own = {run_id: row for run_id, row in newest.items() if row.session_id == session_id}
            if len(saved) == len(newest):
                assert turns.keys() == own.keys()
                assert all(turns[one].follows == row.follows for one, row in own.items())
                assert all(turn.deleted == (one in gone) for one, turn in turns.items())
                of_it = with_those_below(own, newest)
                assert held.cost_of_session(session_id) == pytest.approx(sum(newest[one].cost for one in of_it))
    database.close()


def with_those_below(own: Iterable[str], rows: Mapping[str, RunRow]) -> set[str]:
    """The runs, and all that they or those below them started."""
    found, more = set[str](), set(own)
    while more:
        found |= more
        more = {one for one, row in rows.items() if row.parent and row.parent.run_id in found} - found
    return found


def sort_value(row: RunRow, sort: SortKey) -> float:
    match sort:
        case "started_at":
            return row.started_at.timestamp()
        case "total_tokens":
            return row.input_tokens + row.output_tokens
        case "duration_ms":
            return row.duration_ms or 0.0
        case "cost":
            return row.cost
        case "model_calls":
            return row.model_calls


def fits(row: RunRow, wanted: RunFilter) -> bool:
    said = f"{row.request} {row.agent.name} {row.model}".casefold()
    beside = bool(wanted.parent or wanted.session_id)
    quoted = wanted.text.endswith('"')
    words = [wanted.text[1:-1].casefold()] if quoted else wanted.text.casefold().replace('"', "").split()
    return all(
        (
            all(word in said for word in words),
            wanted.agent in ("", row.agent.slug),
            wanted.variant in (None, row.agent.variant),
            wanted.model in ("", row.model),
            wanted.status in (None, row.status),
            wanted.failure in (None, row.failure),
            wanted.min_cost is None or row.cost >= wanted.min_cost,
            wanted.max_ms is None or (row.duration_ms is not None and row.duration_ms <= wanted.max_ms),
            wanted.since is None or row.started_at >= wanted.since,
            wanted.until is None or row.started_at <= wanted.until,
            wanted.session_id in ("", row.session_id),
            not wanted.parent or (row.parent is not None and row.parent.run_id == wanted.parent),
            wanted.background in (None, row.background),
            beside or row.trigger.kind != "app",
            beside or wanted.behind or row.purpose not in BEHIND,
            wanted.of_key is None or of_key(row, wanted.of_key),
        )
    )


def of_key(row: RunRow, wanted: KeyRuns) -> bool:
    named = row.trigger.kind == "api_key" and row.trigger.name == wanted.name
    old = named and wanted.since is not None and row.started_at >= wanted.since
    return (row.trigger.key == wanted.key if row.trigger.key else old) and row.agent.id in wanted.agents
