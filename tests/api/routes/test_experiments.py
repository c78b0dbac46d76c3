"""REST: experiments are estimated, started, looked at, told to pause or go on, taken along and deleted."""

import csv
import io
import json
from xml.etree import ElementTree

import pytest

from app.api.door.access import Forbidden
from app.api.door.caller import with_key
from app.api.routes.experiment_bodies import ExperimentRequest
from app.api.routes.experiments import start_experiment
from app.domain.evals.cases import CaseContent, new_cases
from tests.api.over import ending_as_it_is_read
from tests.waiting import until

SCORERS = [{"type": "contains", "texts": ["demo model"]}]


@pytest.fixture
async def draft(workbench) -> dict[str, object]:
    dataset = await workbench.collecting.new_dataset("Greetings")
    contents = [CaseContent(input=text) for text in ("hello", "=hello", "What is 5 + 10?")]
    await workbench.collecting.add_all(dataset.id, new_cases(dataset.id, contents))
    return {"dataset": "greetings", "agent": "assistant", "variants": [1, 1], "scorers": SCORERS}


async def ran(client, workbench, draft: dict[str, object]) -> str:
    reply = await client.post("/experiments", json=draft)
    assert reply.status_code == 202, reply.text
    told = reply.json()["data"]
    assert (told["status"], told["plan"]["cells"], told["by"]) == ("running", 6, "api_key")
    await until(lambda: not workbench.experimenting.is_live(told["id"]))
    return str(told["id"])


async def test_an_experiment_is_priced_started_and_told_of(client, workbench, draft):
    estimate = (await client.post("/experiments/estimate", json=draft)).json()["data"]
    assert (estimate["cells"], estimate["low_usd"], estimate["pilot"]) == (6, 0.0, False)
    assert "3 cases can show no gain reliably" in estimate["reach"] and "recorded" in estimate["notes"][0]

    found = (await client.get(f"/experiments/{await ran(client, workbench, draft)}")).json()["data"]
    assert found["status"] == "completed" and found["progress"]["ended"] == 6
    assert [(one["words"], one["passed"], one["errors"], one["rate"]) for one in found["columns"]] == [
        ("variant 1", 2, 1, 1.0)
    ] * 2
    [verdict] = found["verdicts"]
    assert (verdict["against"], verdict["verdict"], verdict["dropped"]) == ("variant 1", "cannot tell", 1)
    listed = (await client.get("/experiments", params={"dataset": "greetings", "agent": "assistant"})).json()
    assert listed["count"] == 1 and "case_ids" not in listed["data"][0]["plan"]


async def test_one_that_is_said_to_be_over_has_its_verdict(client, workbench, draft, monkeypatch):
    monkeypatch.setattr(workbench.experimenting, "results", ending_as_it_is_read(workbench))
    own = (await client.post("/experiments", json=draft)).json()["data"]["id"]
    for over in (False, True):
        found = (await client.get(f"/experiments/{own}")).json()["data"]
        assert (found["status"] == "completed") is over is ("no verdict" not in found["verdicts"][0]["words"])


async def test_another_agent_is_tried_beside_it_and_named(client, workbench, draft):
    other = next(agent for agent in workbench.agents.all() if agent.slug != "assistant")
    both = {**draft, "variants": [1], "beside": [other.slug]}
    found = (await client.get(f"/experiments/{await ran(client, workbench, both)}")).json()["data"]
    assert [(one["agent"], one["variant"]) for one in found["columns"]] == [("", 1), (other.slug, other.active)]
    assert [one["agent"] for one in found["verdicts"]] == [other.slug]
    assert found["plan"]["columns"][1]["agent_id"] == other.id
    twice = await client.post("/experiments", json={**both, "beside": ["assistant"]})
    assert twice.status_code == 422 and "is tried already" in twice.json()["error"]


async def test_its_cells_are_listed_by_how_they_ended_and_its_runs_on_request(client, workbench, draft):
    experiment = await ran(client, workbench, draft)
    cells = (await client.get(f"/experiments/{experiment}/cells", params={"only": "error", "limit": 1})).json()
    assert cells["count"] == 2 and len(cells["data"]) == 1
    assert "calculator" in cells["data"][0]["why"]
    assert (await client.get("/runs")).json()["count"] == 0
    assert (await client.get("/runs", params={"behind": "true"})).json()["count"] == 6
    assert (await client.get("/sessions")).json()["count"] == 0 == (await client.get("/jobs")).json()["count"]


async def test_it_is_paused_resumed_and_deleted_as_far_as_it_stands_so(client, workbench, draft):
    experiment = await ran(client, workbench, draft)
    refused = await client.post(f"/experiments/{experiment}/resume")
    assert refused.status_code == 409 and "completed" in refused.json()["error"]
    assert (await client.post(f"/experiments/{experiment}/retry-errors")).status_code == 202
    await until(lambda: not workbench.experimenting.is_live(experiment))
    assert (await client.post(f"/experiments/{experiment}/score-again")).status_code == 202
    await until(lambda: not workbench.experimenting.is_live(experiment))
    assert (await client.delete(f"/experiments/{experiment}")).status_code == 200
    assert (await client.get(f"/experiments/{experiment}")).status_code == 404
    await workbench.experimenting.restore(experiment)
    assert (await client.get(f"/experiments/{experiment}")).status_code == 200


async def test_it_is_taken_along_for_spreadsheets_programs_and_build_servers(client, workbench, draft):
    experiment = await ran(client, workbench, draft)

    async def file(format: str) -> str:
        reply = await client.get(f"/experiments/{experiment}/export", params={"format": format})
        assert "attachment" in reply.headers["Content-Disposition"]
        return reply.content.decode("utf-8-sig")

    rows = list(csv.DictReader(io.StringIO(await file("csv"))))
    assert [row["input"] for row in rows][2] == "'=hello", "no spreadsheet takes it for a formula"
    assert rows[0]["score: contains"] == "1.0" and {row["state"] for row in rows} == {"passed", "error"}
    header, *cells = map(json.loads, (await file("jsonl")).splitlines())
    assert (header["format"], header["version"], len(cells)) == ("agent-playground/experiment", 1, 6)
    root = ElementTree.fromstring(await file("junit"))
    counted = (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped"))
    assert counted == ("6", "0", "2", "0") and len(root.findall("testsuite")) == 2


async def test_what_is_asked_wrongly_is_said_in_words(client, workbench, draft):
    for changes, status in (
        ({"dataset": "none"}, 404),
        ({"agent": "none"}, 404),
        ({"variants": [9]}, 404),
        ({"live": ["none"]}, 422),
        ({"repeats": 0}, 422),
        ({"scorers": [{"type": "magic"}]}, 422),
        ({"oops": 1}, 422),
    ):
        reply = await client.post("/experiments", json={**draft, **changes})
        assert reply.status_code == status and not reply.json()["success"], reply.text


async def test_only_the_owner_names_other_machines_by_an_address_that_is_one(client, workbench, draft):
    wrong = await client.post("/experiments", json=draft | {"workers": "http://10.0.0.5:8786"})
    assert wrong.status_code == 422 and "workers" in wrong.json()["error"]
    key = with_key((await workbench.keys.create("K")).key)
    asked = ExperimentRequest.model_validate(draft | {"workers": "tcp://127.0.0.1:1"})
    with pytest.raises(Forbidden, match="hand cells to other machines"):
        await start_experiment(asked, workbench, key)
    assert workbench.experiments.count() == 0
