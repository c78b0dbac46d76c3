"""Short forms of what `make faults` kills, stops, cancels and lets fail. They measure no time."""

from concurrent.futures import ThreadPoolExecutor

from tests.faults import (
    api_crowd,
    api_stalled,
    backup_kills,
    cancelled,
    collectors,
    crashing_servers,
    evals_kills,
    evals_ways,
    jobs,
    money,
    provider_ways,
    reloads,
    reviews,
    run_kills,
    stopped,
    workflow_kills,
    workflow_runs,
    workflows,
)
from tests.figures import missed


async def test_what_is_cancelled_is_measured():
    figures = await cancelled.run()
    assert not missed(figures)


async def test_messages_behind_a_stop_are_measured():
    [figure] = await stopped.run(stops=24)
    assert figure.passed, figure


async def test_the_ways_of_a_provider_are_measured():
    figures = await provider_ways.run(brief=True)
    assert len(figures) == 4
    assert not missed(figures, but="R2 ends within its limit")


async def test_runs_at_once_over_the_api_are_measured():
    [figure] = await api_crowd.run(runs=10)
    assert figure.passed, figure


async def test_clients_that_never_read_are_measured():
    _, sent_away = await api_stalled.run(clients=2)
    assert sent_away.passed, sent_away


def test_reloads_in_mid_answer_are_measured():
    with ThreadPoolExecutor(1) as beside:  # Playwright's own event loop may run in this thread
        figures = beside.submit(reloads.run, reloads=4).result()
    assert figures[0].value == "4 of 4"
    assert not missed(figures)


async def test_ceilings_of_money_are_measured():
    figures = await money.run()
    assert len(figures) == 3
    assert not missed(figures)


async def test_crashes_of_servers_are_measured():
    [figure] = await crashing_servers.run(crashes=3)
    assert figure.passed


def test_kills_in_mid_run_are_measured():
    figures = run_kills.run(kills=1)
    assert [figure.value.split()[0] for figure in figures] == ["0", "0", "0"]
    assert not missed(figures)


async def test_runs_of_workflows_at_random_are_measured():
    [figure] = await workflow_runs.run(workflows=40)
    assert figure.passed, figure


def test_kills_in_nodes_of_workflows_are_measured():
    figures = workflow_kills.run(kills=1)
    assert [figure.value.split()[0] for figure in figures] == ["0", "0", "1"]
    assert not missed(figures)


def test_kills_in_backup_and_retention_are_measured():
    figures = backup_kills.run(kills=2)
    assert [figure.name.split()[0] for figure in figures] == ["Backup", "Restore", "Restore", "Retention"]
    assert not missed(figures)


def test_kills_while_tasks_go_on_are_measured():
    figures = jobs.run(kills=1, parents=2)
    assert len(figures) == 3
    assert not missed(figures)


async def test_the_ways_of_a_provider_in_experiments_are_measured():
    figures = await evals_ways.run(brief=True)
    assert len(figures) == 2
    assert not missed(figures)


def test_kills_of_experiments_are_measured():
    figures = evals_kills.run(kills=1, repeats=1)
    assert len(figures) == 5
    assert not missed(figures)


def test_reviews_are_killed():
    with ThreadPoolExecutor(1) as beside:  # Playwright's own event loop may run in this thread
        following, lost = beside.submit(reviews.run, reviews=4, kills=1).result()
    assert following.value.endswith(" ms")
    assert lost.passed, lost


def test_random_workflows_are_measured():
    figures = workflows.run(workflows=60)
    assert not missed(figures)


def test_collectors_are_measured():
    with ThreadPoolExecutor(1) as beside:  # it has event loops of its own
        figures = beside.submit(collectors.run, kills=1, real=False).result()
    assert len(figures) == 4
    assert not missed(figures, but="End of the app")
