"""Cells handed to another machine: what goes out, what comes back as ordinary runs, and what is not taken in."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, ToolChoice, WorkflowBehaviour, new_agent
from app.domain.evals.cases import CaseContent, new_cases
from app.domain.evals.drafts import ExperimentDraft
from app.domain.evals.elsewhere import CellReturn, sha256
from app.domain.evals.experiments import Cell, Experiment
from app.domain.evals.scorers import Contains
from app.domain.events import ModelReturned
from app.domain.provenance import Trigger
from app.domain.trace import RunFilter
from app.domain.workflows.document import AgentNode, Template
from app.engine.experiments.handing import Elsewhere
from app.export.bundle import bundle, read_bundle
from app.export.json_lines import json_lines
from app.workbench import Workbench
from app.workbench.cluster import worker
from tests.api.over import opened
from tests.domain.workflows.worlds import chain
from tests.waiting import until

PAGE = Trigger(kind="page")
ADDRESS = "tcp://127.0.0.1:8786"
SUM = "What is 5 + 10?"
Told = tuple[bytes, Sequence[bytes]]
Between = Callable[[bytes, Mapping[str, bytes], Told], Told]


def honest(_order: bytes, _contents: Mapping[str, bytes], told: Told) -> Told:
    return told


class Threads:
    """Workers of this process; `between` is what happens to what they give back."""

    def __init__(self, between: Between = honest) -> None:
        self.between = between
        self.orders: list[dict[str, object]] = []
        self.closed = False

    async def tried(self, order: bytes, contents: Mapping[str, bytes]) -> Told:
        self.orders.append(json.loads(order))
        return self.between(order, contents, await asyncio.to_thread(worker.tried, order, contents))

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = opened(tmp_path)
    await workbench.start()
    yield workbench
    await workbench.close()


def reach(bench: Workbench, workers: Threads) -> None:
    """The workbench hands cells to these."""

    async def connect(_address: str) -> Threads:
        return workers

    before = bench.experimenting.elsewhere
    assert before is not None
    bench.experimenting.elsewhere = Elsewhere(connect, before.runs_here, before.trying, before.version)


async def recorded_sum(bench: Workbench) -> None:
    """A dataset of one case that was made of a run, whose tools are recorded."""
    session = await bench.chat.new_session(bench.agents.by_slug("assistant").id)
    live = await bench.chat.send(session.id, SUM)
    await live.ended()
    dataset = await bench.collecting.new_dataset("Sums")
    await bench.collecting.from_run(dataset.id, live.run_id)


async def ran(bench: Workbench, **draft: object) -> tuple[Experiment, list[Cell]]:
    asked = {"dataset": "sums", "agent": "assistant", "scorers": (Contains(texts=("15",)),), "workers": ADDRESS}
    planned = await bench.experimenting.plan(ExperimentDraft.model_validate({**asked, **draft}), PAGE)
    await bench.experimenting.start(planned.id)
    await until(lambda: not bench.experimenting.is_live(planned.id))
    cells, _ = await bench.experimenting.cells(planned.id)
    return bench.experimenting.get(planned.id), cells


async def test_a_cell_comes_back_as_an_ordinary_run_of_a_hidden_session(bench):
    await recorded_sum(bench)
    reach(bench, workers := Threads())
    experiment, [first, second] = await ran(bench, repeats=2)
    assert (experiment.status, experiment.workers, workers.closed) == ("completed", ADDRESS, True)
    for cell in (first, second):
        assert (cell.end, cell.recorded, cell.called) == ("passed", 1, 1), cell
        assert cell.worker and "15" in cell.answer
        row = bench.rows.get(cell.runs[0])
        assert (row.purpose, row.imported, row.agent.slug) == ("experiment", False, "assistant")
        assert (row.trigger.kind, row.session_id) == ("job", cell.session_id)
        session = bench.sessions.get(cell.session_id)
        assert (session.behind, session.runs) == (experiment.id, cell.runs)
        trace = (await bench.runs.trace(cell.runs[0])).entries
        assert {entry.run_id for entry in trace} == {cell.runs[0]} and trace[-1].event.type == "run_finished"
    assert first.runs != second.runs


async def test_no_key_no_scorer_and_no_other_case_goes_out(bench):
    await bench.data.provider_keys.save("OPENAI_API_KEY", "sk-of-the-owner-0123456789abcdef")
    await recorded_sum(bench)
    dataset = bench.datasets.by_slug("sums")
    await bench.collecting.add_all(dataset.id, new_cases(dataset.id, [CaseContent(input="Nobody else's 15")]))
    reach(bench, workers := Threads())
    await ran(bench, concurrency=1)
    first, second = workers.orders
    assert "Nobody else's" not in json.dumps(first) and "Nobody else's" in json.dumps(second)
    assert "sk-of-the-owner" not in json.dumps(workers.orders)
    plan = first["experiment"]["plan"]
    assert (len(plan["case_ids"]), plan["scorers"], len(first["agent"]["variants"])) == (1, [], 1)
    assert first["secret"] != second["secret"]


def changed(told: Told, **changes: object) -> Told:
    said, bundles = told
    return CellReturn.model_validate_json(said).model_copy(update=changes).model_dump_json().encode(), bundles


def another_run(order: bytes, contents: Mapping[str, bytes], told: Told) -> Told:
    return told[0], [bundle + b"x" for bundle in told[1]]


def damaged_run(order: bytes, contents: Mapping[str, bytes], told: Told) -> Told:
    bundles = [b"no zip file"]
    return changed((told[0], bundles), bundles=tuple(map(sha256, bundles)))


def another_cell(order: bytes, contents: Mapping[str, bytes], told: Told) -> Told:
    cell = CellReturn.model_validate_json(told[0]).cell
    return changed(told, cell=cell.model_copy(update={"case_id": "another"}))


def fewer_runs(order: bytes, contents: Mapping[str, bytes], told: Told) -> Told:
    return changed((told[0], []), bundles=())


STRANGE: dict[str, tuple[Between, str]] = {
    "no JSON": (lambda _order, _contents, told: (b"?", told[1]), "cannot be read"),
    "another secret": (lambda _order, _contents, told: changed(told, secret="guessed"), "another secret"),
    "another order": (lambda _order, _contents, told: changed(told, order="0" * 64), "another order"),
    "another run": (another_run, "hashes"),
    "a damaged run": (damaged_run, "damaged"),
    "another cell": (another_cell, "another cell"),
    "fewer runs": (fewer_runs, "not whole"),
}


@pytest.mark.parametrize("what", STRANGE)
async def test_what_was_not_asked_for_is_an_error_of_the_cell_and_not_taken_in(bench, what):
    await recorded_sum(bench)
    between, words = STRANGE[what]
    reach(bench, Threads(between))
    before = len(bench.runs.rows.find(RunFilter(behind=True)).rows)
    _, [cell] = await ran(bench)
    assert (cell.end, cell.failure) == ("error", "internal") and words in cell.why
    assert len(bench.runs.rows.find(RunFilter(behind=True)).rows) == before


def dear(order: bytes, contents: Mapping[str, bytes], told: Told) -> Told:
    """The same, whose run cost ten cents."""
    found = read_bundle(told[1][0])
    entries = [
        entry.model_copy(update={"event": entry.event.model_copy(update={"cost": 0.05})})
        if isinstance(entry.event, ModelReturned)
        else entry
        for entry in found.entries
    ]
    bundles = [bundle(entries, json_lines(entries, app=found.app), app=found.app, artifacts=found.artifacts)]
    return changed((told[0], bundles), bundles=tuple(map(sha256, bundles)))


async def test_the_money_of_a_worker_counts_and_each_cell_has_its_share_of_the_ceiling(bench):
    await recorded_sum(bench)
    reach(bench, workers := Threads(dear))
    experiment, cells = await ran(bench, repeats=5, concurrency=1, ceiling_usd=0.25)
    assert [cell.cost for cell in cells] == [pytest.approx(0.1)] * 3
    assert "were not begun" in experiment.why
    rows = [bench.rows.get(cell.runs[0]) for cell in cells]
    assert [row.cost for row in rows] == [pytest.approx(0.1)] * 3
    assert bench.runs.ledger.day_cost() == pytest.approx(0.3)
    limits = [order["agent"]["variants"][0]["behaviour"]["limits"]["session_cost"] for order in workers.orders]
    assert limits == [pytest.approx(0.25), pytest.approx(0.15), pytest.approx(0.05)]


def unpriced(order: bytes, contents: Mapping[str, bytes], told: Told) -> Told:
    """The same, which asked below it what has no known price there."""
    cell = CellReturn.model_validate_json(told[0]).cell
    assert cell is not None
    return changed(told, cell=cell.model_copy(update={"unpriced": True}))


@pytest.mark.parametrize(("between", "is_unpriced"), [(honest, False), (unpriced, True)])
async def test_a_cell_that_a_worker_could_not_price_is_unpriced_here(bench, between, is_unpriced):
    await recorded_sum(bench)
    reach(bench, Threads(between))
    _, [cell] = await ran(bench)
    assert (cell.end, cell.unpriced) == ("passed", is_unpriced)


async def test_the_money_of_a_month_holds_cells_back(bench):
    await recorded_sum(bench)
    await bench.preferences.save(bench.preferences.get().model_copy(update={"day_cost": 0.0, "month_cost": 0.15}))
    reach(bench, Threads(dear))
    experiment, cells = await ran(bench, repeats=5, concurrency=1)
    assert len([cell for cell in cells if cell.cost]) == 2
    assert experiment.status == "paused" and "month" in experiment.why


async def test_cells_that_are_out_together_share_what_is_left(bench):
    await recorded_sum(bench)
    reach(bench, workers := Threads())
    await ran(bench, repeats=4, concurrency=4, ceiling_usd=0.4)
    limits = [order["agent"]["variants"][0]["behaviour"]["limits"]["session_cost"] for order in workers.orders]
    assert limits[:4] == [pytest.approx(0.1)] * 4


class Silent(Threads):
    """They never answer."""

    async def tried(self, order: bytes, contents: Mapping[str, bytes]) -> Told:
        self.orders.append(json.loads(order))
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")


async def test_cancelling_takes_back_what_is_out(bench):
    await recorded_sum(bench)
    reach(bench, workers := Silent())
    asked = {"dataset": "sums", "agent": "assistant", "workers": ADDRESS, "repeats": 3, "concurrency": 2}
    planned = await bench.experimenting.plan(ExperimentDraft.model_validate(asked), PAGE)
    await bench.experimenting.start(planned.id)
    await until(lambda: len(workers.orders) == 2)
    await bench.experimenting.cancel(planned.id)
    await until(lambda: not bench.experimenting.is_live(planned.id))
    cells, _ = await bench.experimenting.cells(planned.id)
    assert [cell.end for cell in cells] == ["skipped"] * 2 and workers.closed
    assert bench.experimenting.get(planned.id).status == "cancelled"


async def test_a_return_of_an_earlier_try_is_not_taken_for_another(bench):
    await recorded_sum(bench)
    given: list[Told] = []

    def first_one_again(order: bytes, contents: Mapping[str, bytes], told: Told) -> Told:
        given.append(told)
        return given[0]

    reach(bench, Threads(first_one_again))
    _, cells = await ran(bench, repeats=2, concurrency=1)
    assert [cell.end for cell in cells] == ["passed", "error"] and "another secret" in cells[1].why


async def test_a_worker_cannot_say_that_a_cell_passed(bench):
    await recorded_sum(bench)

    def passed(order: bytes, contents: Mapping[str, bytes], told: Told) -> Told:
        cell = CellReturn.model_validate_json(told[0]).cell
        return changed(told, cell=cell.model_copy(update={"end": "passed", "answer": "sixteen"}))

    reach(bench, Threads(passed))
    _, [cell] = await ran(bench, scorers=(Contains(texts=("sixteen",)),))
    assert (cell.end, "15" in cell.answer) == ("failed", True)


async def test_a_tool_that_a_worker_lacks_is_an_error_of_the_cell(bench):
    folder = bench.data.path / "tools"
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text('def mine(x: int) -> str:\n    """Mine."""\n    return "1"\n')
    await until(bench.user_tools.files)
    await bench.user_tools.trust("mine.py")
    await until(lambda: not bench.tools.missing(("mine",)))
    behaviour = PromptBehaviour(tools=(ToolChoice(name="mine"),))
    await bench.agents.create(new_agent("Owner", behaviour, taken_slugs=bench.agents.slugs()))
    await recorded_sum(bench)
    reach(bench, Threads())
    _, [cell] = await ran(bench, agent="owner")
    assert cell.end == "error" and "has no tool 'mine'" in cell.why


async def test_without_dask_or_a_scheduler_the_experiment_pauses_and_says_why(bench):
    await recorded_sum(bench)
    experiment, cells = await ran(bench, workers="tcp://127.0.0.1:1")
    assert (experiment.status, cells) == ("paused", [])
    assert "pip install" in experiment.why or "No scheduler of Dask answers" in experiment.why


async def test_a_workflow_is_tried_here_where_the_agents_are_that_its_nodes_ask(bench):
    await recorded_sum(bench)
    ask = AgentNode(id="ask", agent="assistant", message=Template(text="{{input.text}}"))
    flow = WorkflowBehaviour(workflow=chain(ask, answer="{{ask}}"))
    await bench.agents.create(new_agent("Asking", flow, taken_slugs=bench.agents.slugs()))
    reach(bench, workers := Threads())
    _, [cell, plain] = await ran(bench, agent="asking", beside=("assistant",), tools="live")
    assert (cell.end, cell.worker) == ("passed", "")
    assert plain.end == "passed" and plain.worker and bench.rows.get(plain.runs[0]).agent.slug == "assistant"
    [order] = workers.orders
    assert order["agent"]["slug"] == "assistant"
