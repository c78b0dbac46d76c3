"""Gates over REST: set, asked, run, and in the way of each route that would activate a variant."""

import pytest

from app.domain.evals.cases import CaseContent, DatasetChanges, new_cases
from app.domain.evals.scorers import Contains
from app.domain.evals.statistics import reach
from app.export.agent_file import agent_file, read_agent_file
from tests.processor import at_work
from tests.waiting import until

GATE = "/agents/assistant/gate"


@pytest.fixture
async def guarded(client, workbench):
    """The assistant, guarded by a dataset of one case that must pass, and a second variant of it."""
    dataset = await workbench.collecting.new_dataset("Sums")
    await workbench.collecting.change_dataset(dataset.id, DatasetChanges(scorers=(Contains(),)))
    case = CaseContent(input="What is 5 + 10?", reference="15", must_pass=True)
    await workbench.collecting.add_all(dataset.id, new_cases(dataset.id, [case]))
    rules = {"dataset": "sums", "repeats": 1, "tools": "live"}
    assert (await client.put(GATE, json=rules)).status_code == 200
    assert (await client.post("/agents/assistant/variants", json={"system_prompt": "Be brief."})).status_code == 201
    return workbench


async def test_a_gate_is_told_with_what_it_can_notice(client, guarded):
    told = (await client.get(GATE)).json()["data"]
    assert (told["dataset"], told["repeats"], told["outcome"]) == ("sums", 1, None)
    assert told["notices"].startswith("So few cases notice no loss reliably")
    assert (await client.put(GATE, json={"dataset": "none"})).status_code == 404
    refused = await client.put(GATE, json={"dataset": "sums", "primary": "other"})
    assert refused.status_code == 422


async def test_what_many_cases_notice_is_worked_out_beside_the_event_loop(client, guarded):
    dataset = guarded.datasets.by_slug("sums")
    contents = [CaseContent(input=f"What is {number} + 10?") for number in range(1999)]
    await guarded.collecting.add_all(dataset.id, new_cases(dataset.id, contents))
    await client.get(GATE)  # nothing is read for the first time below
    reach.cache_clear()
    with at_work() as work:
        reach(2000)
    alone = work.seconds
    reach.cache_clear()
    with at_work() as work:
        told = (await client.get(GATE)).json()["data"]
    assert work.seconds < alone / 2
    assert told["notices"].startswith("2000 cases notice a loss of about")


async def test_a_promotion_that_is_held_back_is_409_and_names_the_variant_and_the_reasons(client, guarded):
    held = await client.post("/agents/assistant/variants/2/promote")
    told = held.json()
    assert (held.status_code, told["success"], told["code"]) == (409, False, "gate")
    assert (told["data"]["variant"], told["data"]["state"], told["data"]["experiment_id"]) == (2, "amber", "")
    assert "was not tried beside variant 1" in told["data"]["reasons"][0]
    assert guarded.agents.by_slug("assistant").active == 1


async def test_new_behaviour_is_saved_and_not_active_and_a_reason_goes_past(client, guarded):
    held = await client.put("/agents/assistant", json={"system_prompt": "Be kind.", "description": "changed"})
    assert (held.status_code, held.json()["data"]["variant"]) == (409, 3)
    agent = guarded.agents.by_slug("assistant")
    assert (agent.active, len(agent.variants), agent.description) == (1, 3, "changed")
    past = await client.put("/agents/assistant", json={"system_prompt": "Be quick.", "override": "It is urgent."})
    assert (past.status_code, past.json()["data"]["variant"]) == (200, 4)
    kept = guarded.agents.by_slug("assistant").activations[-1]
    assert (kept.variant, kept.override) == (4, "It is urgent.")
    back = await client.post("/agents/assistant/variants/1/promote")
    assert (back.status_code, back.json()["data"]["variant"]) == (200, 1)


async def test_a_change_that_is_no_behaviour_asks_no_gate(client, guarded):
    assert (await client.put("/agents/assistant", json={"description": "another"})).status_code == 200


async def test_a_gate_is_run_and_lets_past_what_did_well(client, guarded):
    begun = await client.post("/agents/assistant/variants/2/gate")
    assert begun.status_code == 202
    experiment_id = begun.json()["data"]["id"]
    await until(lambda: not guarded.experimenting.is_live(experiment_id))
    told = (await client.get(GATE, params={"variant": 2})).json()["data"]["outcome"]
    assert (told["state"], told["experiment_id"]) == ("green", experiment_id)
    assert (await client.post("/agents/assistant/variants/2/promote", json={})).status_code == 200


async def test_without_its_gate_an_agent_takes_any_variant(client, guarded):
    assert (await client.delete(GATE)).status_code == 200
    assert (await client.get(GATE)).status_code == 404
    assert (await client.post("/agents/assistant/variants/2/promote")).status_code == 200


async def test_an_agent_from_a_file_brings_no_gate_and_no_history(client, guarded):
    await guarded.gating.activate(guarded.agents.by_slug("assistant").id, 2, by="page", override="x")
    read = read_agent_file(agent_file(guarded.agents.by_slug("assistant")), ())
    assert (read.gate, read.activations, read.active) == (None, (), 2)
