"""Experiments from their plan to their end: paused, resumed, stopped, retried, scored again, left by a kill."""

import asyncio

import pytest

from app.domain.errors import Conflict, ModelFailure, NotFound, WorkbenchError
from app.domain.evals.cases import CaseContent, SimulatedUser
from app.domain.evals.experiments import Cell, CellKey, cell_id
from app.domain.evals.scorers import Contains, Exact, Pairwise
from app.domain.evals.statistics import reach
from app.domain.messages import ToolCall
from app.domain.models import Price
from app.domain.sessions import Session
from app.domain.trace import RunFilter
from app.domain.values import new_id
from tests.engine.experiments.trials import Gate, Trials
from tests.engine.scripted import reply
from tests.processor import at_work
from tests.waiting import until


async def prepared(trials: Trials, cases: int = 3, **agent: object) -> Trials:
    await trials.agent(**agent)  # type: ignore[arg-type]
    await trials.written(*(f"case {number}" for number in range(cases)))
    return trials


def ends(cells: list[Cell]) -> list[str | None]:
    return [cell.end for cell in cells]


async def test_cells_come_in_the_order_of_the_plan_one_repeat_after_the_other(trials):
    await prepared(trials, 2, variants=2)
    cells = await trials.ran(variants=(1, 2), repeats=2)
    assert [(cell.repeat, cell.case_id, cell.column) for cell in cells] == [
        (key.repeat, key.case_id, key.column)
        for key in sorted((cell.key for cell in cells), key=lambda key: key.repeat)
    ]
    assert [request.messages[-1].text for request in trials.models.requests] == [
        "case 0",
        "case 0",
        "case 1",
        "case 1",
    ] * 2
    experiment = trials.bench.experimenting.get(cells[0].experiment_id)
    assert (experiment.status, experiment.finished_at is not None) == ("completed", True)
    progress = await trials.bench.experimenting.progress(experiment.id)
    assert (progress.passed, progress.ended, progress.pending, progress.cost) == (8, 8, 0, pytest.approx(0.0016))


@pytest.mark.parametrize(
    ("answer", "end", "failure"),
    [
        ("It is 3.", "passed", None),
        ("It is 4.", "failed", None),
        (ModelFailure("context_overflow", "x"), "failed", "context_overflow"),
        (ModelFailure("safety_filter", "x"), "failed", "safety_filter"),
        (ModelFailure("bad_request", "x"), "failed", "bad_request"),
        (reply("cut", finish="length"), "failed", "limit"),
        (ModelFailure("rate_limit", "x"), "error", "rate_limit"),
        (ModelFailure("quota", "x"), "error", "quota"),
        (ModelFailure("invalid_key", "x"), "error", "invalid_key"),
        (ModelFailure("model_unavailable", "x"), "error", "model_unavailable"),
        (ModelFailure("network", "x"), "error", "network"),
        (ModelFailure("timeout", "x"), "error", "timeout"),
        (ModelFailure("provider_error", "x"), "error", "provider_error"),
        (ModelFailure("bad_response", "x"), "error", "bad_response"),
        (ValueError("a bug"), "error", "internal"),
    ],
)
async def test_what_the_variant_did_is_a_failure_and_all_else_an_error(trials, answer, end, failure):
    await prepared(trials, 1)
    trials.models.answers = lambda _request: answer
    [cell] = await trials.ran()
    assert (cell.end, cell.failure) == (end, failure)


async def test_what_no_scorer_could_say_is_not_scored_and_scored_again_without_a_run(trials):
    await prepared(trials, 2)
    cells = await trials.ran(scorers=(Pairwise(model="fake/judge", criterion="It is short."),))
    assert ends(cells) == ["not_scored", "not_scored"]
    asked = len(trials.models.requests)

    await trials.bench.experimenting.score_again(cells[0].experiment_id)
    again = await trials.over(cells[0].experiment_id)
    assert ends(again) == ["not_scored", "not_scored"] and [one.runs for one in again] == [one.runs for one in cells]
    assert len(trials.models.requests) == asked
    assert trials.bench.experimenting.get(cells[0].experiment_id).status == "completed"


async def test_a_pause_lets_what_goes_on_come_to_its_end_and_a_resume_goes_on(trials):
    await prepared(trials, 3)
    gate = trials.models.answers = Gate()
    experiment = await trials.planned()
    experimenting = trials.bench.experimenting
    await experimenting.start(experiment.id)
    await until(lambda: gate.waiting == 1)
    assert (await experimenting.progress(experiment.id)).running == 1
    assert (await experimenting.pause(experiment.id)).status == "paused"
    with pytest.raises(Conflict):
        await experimenting.delete(experiment.id)
    gate.open.set()
    assert ends(await trials.over(experiment.id)) == ["passed"]
    assert experimenting.get(experiment.id).status == "paused"

    await experimenting.resume(experiment.id)
    assert ends(await trials.over(experiment.id)) == ["passed"] * 3
    assert gate.waiting == 3 and experimenting.get(experiment.id).status == "completed"
    with pytest.raises(Conflict, match="completed"):
        await experimenting.resume(experiment.id)


async def test_a_resume_right_behind_a_pause_loses_nothing(trials):
    await prepared(trials, 3)
    gate = trials.models.answers = Gate()
    experiment = await trials.planned()
    await trials.bench.experimenting.start(experiment.id)
    await until(lambda: gate.waiting == 1)
    await trials.bench.experimenting.pause(experiment.id)
    resuming = asyncio.create_task(trials.bench.experimenting.resume(experiment.id))
    gate.open.set()
    await resuming
    assert ends(await trials.over(experiment.id)) == ["passed"] * 3 and gate.waiting == 3


async def test_a_cancelled_one_stops_its_runs_and_counts_them_as_skipped(trials):
    await prepared(trials, 3)
    gate = trials.models.answers = Gate()
    experiment = await trials.planned(concurrency=2)
    await trials.bench.experimenting.start(experiment.id)
    await until(lambda: gate.waiting == 2)
    await trials.bench.experimenting.cancel(experiment.id)
    assert ends(await trials.over(experiment.id)) == ["skipped", "skipped"]
    results = await trials.bench.experimenting.results(experiment.id)
    assert (results.columns[0].skipped, results.columns[0].pending, results.finished) == (3, 0, False)


async def test_whenever_it_is_cancelled_no_run_goes_on(trials):
    await prepared(trials, 2)
    gate = trials.models.answers = Gate()
    for turns in range(0, 60, 3):
        experiment = await trials.planned(concurrency=2)
        await trials.bench.experimenting.start(experiment.id)
        for _ in range(turns):
            await asyncio.sleep(0)
        await trials.bench.experimenting.cancel(experiment.id)
        assert set(ends(await trials.over(experiment.id))) <= {"skipped"}, turns
        assert not trials.bench.runs.live_runs()
    assert not gate.open.is_set()


async def test_once_it_is_cancelled_no_simulated_user_is_asked(trials, monkeypatch):
    await trials.agent()
    user = SimulatedUser(goal="Know what 1 + 2 is", model="fake/user", most_turns=5)
    await trials.written(CaseContent(input="Hello", user=user, reference="3"))
    experiment, asked = await trials.planned(), []

    def answer(request):
        asked.append(request.messages[-1].text)
        return "Hi"

    async def check(model: str) -> None:
        if model == "fake/user":
            await trials.bench.experimenting.cancel(experiment.id)

    trials.models.answers = answer
    monkeypatch.setattr(trials.bench.runs.models, "check", check)
    await trials.bench.experimenting.start(experiment.id)
    assert ends(await trials.over(experiment.id)) == ["skipped"]
    assert asked == ["Hello"] and not trials.bench.runs.live_runs()


async def test_a_run_that_a_person_stops_is_skipped_and_the_others_go_on(trials):
    await prepared(trials, 2)
    gate = trials.models.answers = Gate()
    experiment = await trials.planned()
    await trials.bench.experimenting.start(experiment.id)
    await until(lambda: gate.waiting == 1)
    [live] = trials.bench.runs.live_runs()
    live.stop()
    gate.open.set()
    assert ends(await trials.over(experiment.id)) == ["skipped", "passed"]


async def test_errors_are_tried_again_and_what_was_scored_is_not(trials):
    await prepared(trials, 3)
    said = {"case 0": "It is 3.", "case 1": ModelFailure("invalid_key", "No."), "case 2": "It is 4."}
    trials.models.answers = lambda request: said[request.messages[-1].text]
    first = await trials.ran()
    assert ends(first) == ["passed", "error", "failed"]

    said.update({"case 0": "wrong", "case 1": "It is 3.", "case 2": "It is 3."})
    await trials.bench.experimenting.retry_errors(first[0].experiment_id)
    again = await trials.over(first[0].experiment_id)
    assert ends(again) == ["passed", "passed", "failed"]
    assert (again[0], again[2]) == (first[0], first[2])
    assert again[1].before == first[1].runs and len(again[1].runs) == 1


async def test_a_ceiling_ends_it_with_the_rest_skipped(trials):
    await prepared(trials, 5)
    cells = await trials.ran(ceiling_usd=0.0003)
    assert ends(cells) == ["passed", "passed"]
    experiment = trials.bench.experimenting.get(cells[0].experiment_id)
    assert experiment.status == "completed" and "3 cells were not begun" in experiment.why
    results = await trials.bench.experimenting.results(experiment.id)
    assert (results.columns[0].skipped, results.finished) == (3, False)


async def test_the_ceiling_of_a_day_pauses_it_and_its_cell_is_made_again(trials):
    await prepared(trials, 2)
    preferences = trials.bench.preferences
    await preferences.save(preferences.get().model_copy(update={"day_cost": 0.01}))
    experiment = await trials.planned()
    await trials.bench.experimenting.start(experiment.id)
    assert ends(await trials.over(experiment.id)) == [None]
    stands = trials.bench.experimenting.get(experiment.id)
    assert stands.status == "paused" and "a day" in stands.why

    await preferences.save(preferences.get().model_copy(update={"day_cost": 0.0}))
    await trials.bench.experimenting.resume(experiment.id)
    cells = await trials.over(experiment.id)
    assert ends(cells) == ["passed", "passed"] and len(cells[0].before) == 1


async def test_what_a_closed_app_left_is_interrupted_and_made_again_once(trials):
    await trials.agent("add")
    await trials.written("case 0", "case 1", "case 2")
    gate, adding = Gate(), ToolCall(call_id="c1", name="add", arguments={"x": 1, "y": 2})
    answers = trials.models.answers
    trials.models.answers = lambda request: (
        gate(request) if len(request.messages) > 1 else reply("", adding) if "1" in request.messages[0].text else "3"
    )
    experiment = await trials.planned(tools="live")
    await trials.bench.experimenting.start(experiment.id)
    await until(lambda: gate.waiting == 1)
    await trials.again()
    trials.models.answers = answers

    experimenting = trials.bench.experimenting
    assert experimenting.get(experiment.id).status == "interrupted"
    await experimenting.settle()
    assert trials.bench.experiments.get(experiment.id).status == "interrupted"
    [first, left] = (await experimenting.cells(experiment.id))[0]
    assert (first.end, left.end, len(left.runs)) == ("passed", None, 1)

    await experimenting.resume(experiment.id)
    cells = await trials.over(experiment.id)
    assert ends(cells) == ["passed"] * 3 and cells[0] == first
    assert cells[1].before == left.runs and cells[1].runs != left.runs
    ended = [trials.bench.rows.get(run_id).status for run_id in left.runs]
    assert ended == ["cancelled"]
    assert cells[1].cost == pytest.approx(2 * 0.0002), "its answer, and the one before the end"


async def test_a_run_that_was_noted_and_never_began_is_forgotten(trials):
    await prepared(trials, 1)
    experiment = await trials.planned()
    key = CellKey(experiment.plan.case_ids[0], 0, 0)
    noted = Cell(id=cell_id(experiment.id, key), experiment_id=experiment.id, case_id=key.case_id, column=0, repeat=0)
    await trials.bench.cells.save(noted.model_copy(update={"runs": (new_id(),)}))
    await trials.bench.experimenting.start(experiment.id)
    [cell] = await trials.over(experiment.id)
    assert (cell.end, cell.before, len(cell.runs)) == ("passed", (), 1)


async def test_a_session_that_cannot_be_opened_leaves_no_run_in_its_cell(trials):
    await prepared(trials, 1, variants=2)
    experiment = await trials.planned(variants=(2,))
    agent = trials.bench.agents.by_slug("tester")
    await trials.bench.agents.change(agent.id, lambda one: one.model_copy(update={"variants": one.variants[:1]}))
    await trials.bench.experimenting.start(experiment.id)
    [cell] = await trials.over(experiment.id)
    assert (cell.end, cell.runs, "no variant 2" in cell.why) == ("error", (), True)


async def test_a_session_and_the_note_of_its_run_wait_for_the_disk_together(trials):
    await prepared(trials, 1)
    noting, opening = asyncio.Event(), asyncio.Event()
    save, create = trials.bench.cells.save, trials.bench.data.sessions.create

    async def save_when_opening(cell: Cell) -> Cell:
        noting.set()
        await opening.wait()
        return await save(cell)

    async def create_when_noting(session: Session) -> Session:
        opening.set()
        await noting.wait()
        return await create(session)

    trials.bench.cells.save, trials.bench.data.sessions.create = save_when_opening, create_when_noting
    async with asyncio.timeout(30):
        [cell] = await trials.ran()
    assert cell.end == "passed"


async def test_a_kill_before_a_runs_row_leaves_no_run_as_going_on(trials):
    await prepared(trials, 1)
    [cell] = await trials.ran()
    bench, [run_id] = trials.bench, cell.runs
    await bench.rows.save(bench.rows.get(run_id).model_copy(update={"status": "running", "cost": 0.0}))
    await bench.cells.save(cell.model_copy(update={"end": None, "cost": 0.0}))
    await bench.experiments.change(cell.experiment_id, lambda one: one.model_copy(update={"status": "interrupted"}))
    await bench.experimenting.resume(cell.experiment_id)
    [again] = await trials.over(cell.experiment_id)
    assert (again.end, again.before, bench.rows.get(run_id).status) == ("passed", (run_id,), "completed")
    assert again.cost == pytest.approx(0.0004)


async def test_a_kill_in_a_runs_first_write_is_no_error_of_its_cell(trials):
    await prepared(trials, 1)
    experiment = await trials.planned()
    key = CellKey(experiment.plan.case_ids[0], 0, 0)
    noted = Cell(id=cell_id(experiment.id, key), experiment_id=experiment.id, case_id=key.case_id, column=0, repeat=0)
    run_id = new_id()
    (trials.bench.data.path / "runs" / f"{run_id}.tdb").touch()
    await trials.bench.cells.save(noted.model_copy(update={"runs": (run_id,)}))
    await trials.bench.experimenting.start(experiment.id)
    [cell] = await trials.over(experiment.id)
    assert (cell.end, cell.before) == ("passed", ())


async def test_a_cells_run_is_not_resumed_by_itself(trials):
    await prepared(trials, 1)
    gate = trials.models.answers = Gate()
    experiment = await trials.planned()
    await trials.bench.experimenting.start(experiment.id)
    await until(lambda: gate.waiting == 1)
    await trials.again()
    [cell], _ = await trials.bench.experimenting.cells(experiment.id)
    with pytest.raises(Conflict, match="Resume the experiment"):
        await trials.bench.chat.resume(cell.runs[0])


async def test_a_busy_provider_is_waited_for_or_not(trials):
    await prepared(trials, 1)
    answers = iter([ModelFailure("rate_limit", "Slow down."), "It is 3."])
    trials.models.answers = lambda _request: next(answers)
    assert ends(await trials.ran()) == ["passed"] and len(trials.clock.waits) == 1

    trials.models.answers = lambda _request: ModelFailure("rate_limit", "Slow down.")
    [cell] = await trials.ran(wait=False)
    assert (cell.end, cell.failure) == ("error", "rate_limit") and "does not wait" in cell.why


async def test_a_deleted_one_is_gone_until_it_is_brought_back(trials):
    await prepared(trials, 1)
    [cell] = await trials.ran()
    experimenting = trials.bench.experimenting
    await experimenting.delete(cell.experiment_id)
    for asked in (experimenting.results, experimenting.cells, experimenting.progress):
        with pytest.raises(NotFound, match="was deleted"):
            await asked(cell.experiment_id)
    await experimenting.restore(cell.experiment_id)
    assert ends((await experimenting.cells(cell.experiment_id))[0]) == ["passed"]


async def test_a_deleted_one_takes_its_cells_and_runs_along_at_the_next_start(trials):
    await prepared(trials, 2)
    first, other = await trials.ran(), await trials.ran()
    await trials.bench.experimenting.delete(first[0].experiment_id)
    await trials.again()
    bench = trials.bench
    assert await bench.removed_experiments.remove() == [first[0].experiment_id]
    assert bench.cells.of(first[0].experiment_id) == [] and len(bench.cells.of(other[0].experiment_id)) == 2
    assert bench.experiments.find(first[0].experiment_id) is None
    kept = {row.run_id for row in bench.rows.find(RunFilter(behind=True)).rows}
    assert kept == {cell.runs[0] for cell in other}
    await trials.again()
    assert sorted(await trials.bench.removed_runs.remove()) == sorted(cell.runs[0] for cell in first)


async def test_what_an_experiment_needs_outlives_what_else_is_old(trials):
    await prepared(trials, 2)
    cells = await trials.ran()
    session = await trials.bench.chat.new_session(trials.bench.agents.by_slug("tester").id)
    for text in ("hello", "again"):
        await (await trials.bench.chat.send(session.id, text)).ended()
    assert trials.bench.retention.expired(days=0, runs=1).runs == (), (
        "a conversation stays whole, and cells count for none"
    )
    await trials.bench.experimenting.delete(cells[0].experiment_id)
    assert set(trials.bench.retention.expired(days=0, runs=1).runs) == {cell.runs[0] for cell in cells}


async def test_a_plan_names_what_there_is(trials):
    await prepared(trials, 1)
    for changes, words in (
        ({"dataset": "none"}, "no dataset 'none'"),
        ({"agent": "none"}, "no agent 'none'"),
        ({"variants": (7,)}, "variant 7"),
        ({"models": ("unknown/x",)}, "no provider"),
        ({"live": ("send",)}, "no tool 'send'"),
        ({"primary": "other"}, "no scorer 'other'"),
        ({"scorers": (Exact(), Exact())}, "Two scorers"),
    ):
        with pytest.raises(WorkbenchError, match=words):
            await trials.planned(**changes)


async def test_an_estimate_tells_a_range_of_what_such_runs_cost_before(trials):
    await prepared(trials, 4)
    unknown = await trials.bench.experimenting.estimate(trials.draft())
    assert (unknown.cells, unknown.low_usd, unknown.pilot) == (4, None, True)
    await trials.ran()
    known = await trials.bench.experimenting.estimate(trials.draft(repeats=2))
    assert (known.cells, known.low_usd, known.high_usd) == (8, pytest.approx(0.0016), pytest.approx(0.0016))
    assert not known.pilot and "4 cases" in known.reach
    other = await trials.bench.experimenting.estimate(trials.draft(models=("fake/other",)))
    assert other.low_usd == pytest.approx(0.0008), "as many tokens, at its own price"


async def test_where_the_first_three_end_in_errors_their_price_tells_nothing(trials):
    await prepared(trials, 5)
    trials.models.answers = lambda _request: ModelFailure("invalid_key", "No.")
    [cell, *_] = await trials.ran()
    experiment = trials.bench.experimenting.get(cell.experiment_id)
    assert experiment.status == "paused" and experiment.why.startswith("The first cells all ended in errors")


async def test_where_nothing_is_known_three_cases_go_first_and_count(trials):
    await prepared(trials, 5)
    cells = await trials.ran()
    experiment = trials.bench.experimenting.get(cells[0].experiment_id)
    assert ends(cells) == ["passed"] * 3 and experiment.status == "paused"
    assert experiment.why.startswith("The first 3 cases cost $0.0006; all 5 cells would cost about $0.001.")
    await trials.bench.experimenting.resume(experiment.id)
    assert [cell.runs for cell in await trials.over(experiment.id)][:3] == [cell.runs for cell in cells]
    assert trials.bench.experimenting.get(experiment.id).status == "completed"


async def test_what_a_cheap_model_would_cost_is_told_without_an_exponent(trials):
    await prepared(trials, 5)
    trials.models.priced = Price(input=1e-7, output=1e-7)
    [cell, *_] = await trials.ran()
    why = trials.bench.experimenting.get(cell.experiment_id).why
    assert why.startswith("The first 3 cases cost $0.000006; all 5 cells would cost about $0.00001.")


async def test_a_ceiling_below_a_cent_is_told_as_it_was_set(trials):
    await prepared(trials, 5)
    await trials.ran()
    cells = await trials.ran(ceiling_usd=0.0003, concurrency=1)
    assert "The ceiling of $0.0003 was reached" in trials.bench.experimenting.get(cells[0].experiment_id).why


async def test_what_the_first_three_cost_is_told_of_all_three_where_errors_were_tried_again(trials):
    await prepared(trials, 5)
    trials.models.answers = lambda request: (
        ModelFailure("invalid_key", "No.") if request.messages[-1].text == "case 0" else "It is 3."
    )
    [cell, *_] = await trials.ran()
    trials.models.answers = lambda _request: "It is 3."
    await trials.bench.experimenting.retry_errors(cell.experiment_id)
    assert ends(await trials.over(cell.experiment_id)) == ["passed"] * 3
    why = trials.bench.experimenting.get(cell.experiment_id).why
    assert why.startswith("The first 3 cases cost $0.0006; all 5 cells would cost about $0.001.")


async def test_results_tell_each_column_and_a_verdict_once_all_is_done(trials):
    await prepared(trials, 3, variants=2)
    trials.models.answers = lambda request: "It is 3." if "Variant 2" in request.system.text else "It is 4."
    cells = await trials.ran(variants=(1, 2), scorers=(Contains(texts=("3",)),))
    results = await trials.bench.experimenting.results(cells[0].experiment_id)
    assert [(one.passed, one.failed, one.rate) for one in results.columns] == [(0, 3, 0.0), (3, 0, 1.0)]
    [told] = results.verdicts
    assert (told.column, told.verdict.better, told.verdict.worse, results.finished) == (1, 3, 0, True)
    assert await trials.bench.experimenting.results(cells[0].experiment_id) is results


async def test_the_gain_that_many_cases_can_show_is_worked_out_beside_the_event_loop(trials):
    await prepared(trials, 2000)
    await trials.bench.experimenting.estimate(trials.draft())  # nothing is read for the first time below
    reach.cache_clear()
    with at_work() as work:
        reach(2000)
    alone = work.seconds
    reach.cache_clear()
    with at_work() as work:
        await trials.bench.experimenting.estimate(trials.draft())
    assert work.seconds < alone / 2
