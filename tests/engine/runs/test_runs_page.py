"""The list of all runs, whatever has become of one of them."""

from app.domain.trace import RunFilter, run_row
from app.engine.runs.runs import Runs
from app.store.runs.search import Search
from tests.engine.conftest import Bench
from tests.traces import asked, called, finished, said, started, trace_of


async def store(bench: Bench, run_id: str, *events: object, alive: bool = False) -> None:
    entries = trace_of(started(), asked(f"Question {run_id}"), *events, run_id=run_id)
    trace = await bench.data.traces.create(run_id, "s1")
    for entry in entries:
        trace.append(entry)
    await trace.close()
    await bench.data.rows.save(run_row(entries, alive=alive))


async def test_a_run_without_an_end_whose_trace_is_gone_hides_no_other(bench: Bench):
    await store(bench, "whole", said("Yes"), finished())
    await store(bench, "gone", called(), alive=True)
    await bench.data.traces.delete("gone")
    shown = {row.run_id: row.status for row in (await bench.runs.lists.page(RunFilter())).rows}
    assert shown == {"whole": "completed", "gone": "interrupted"}
    assert (await bench.runs.lists.page(RunFilter(status="interrupted"))).total == 1


async def test_a_search_says_where_the_words_are(bench: Bench):
    search = Search(bench.data.path / "cache", bench.data.rows, bench.data.traces)
    runs = Runs(
        bench.data.traces, bench.data.rows, bench.models, bench.runs.toolbox, bench.data.artifacts, bench.clock,
        search=search,
    )  # fmt: skip
    await store(bench, "first", said("The needle is here"), finished())
    await store(bench, "second", said("Only hay"), finished())
    await store(bench, "deleted", said("A needle too"), finished())
    await search.ready()
    await bench.data.rows.delete(["deleted"])
    page = await runs.lists.page(RunFilter(text="NEED"))
    assert ([row.run_id for row in page.rows], page.total) == (["first"], 1)
    assert page.excerpts["first"].place == "Answer"
    assert (await runs.lists.page(RunFilter(text="need", agent="nobody"))).total == 0
    assert (await runs.lists.page(RunFilter(text="question"))).total == 2
    await search.close()


async def test_a_search_finds_by_the_rows_what_is_not_indexed_yet(bench: Bench):
    await store(bench, "first", said("The needle is here"), finished())
    page = await bench.runs.lists.page(RunFilter(text="question first"))
    assert ([row.run_id for row in page.rows], dict(page.excerpts)) == (["first"], {})
