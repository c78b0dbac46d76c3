"""A coding agent at `/mcp`: it reads runs, makes cases of them, proposes variants and tries them; it activates none."""

import re

import pytest

from app import paths
from app.api.mcp.eval_tools import TAKES, StartExperiment
from app.domain.evals.drafts import ExperimentDraft
from app.domain.evals.scores import NOTE, given
from app.domain.provenance import Trigger
from app.export.bundle import bundle
from app.export.json_lines import json_lines
from tests.api.mcp.serving import MODES, SUM, agent_with, client_of, mcp_at_a_port
from tests.api.over import asking, ending_as_it_is_read
from tests.export.runs import rich_run

TOOLS = {"search_runs", "read_run", "make_case", "start_experiment", "get_experiment", "propose_variant"}
EXACT = [{"type": "contains", "texts": ["15"]}]


async def told(client, name, **arguments):
    answer = await client.call_tool(name, arguments)
    assert not answer.is_error, answer.content[0].text
    return answer.structured_content


async def refused(client, name, **arguments):
    answer = await client.call_tool(name, arguments)
    assert answer.is_error, answer.structured_content
    return answer.content[0].text


@pytest.mark.parametrize("mode", MODES)
async def test_from_a_run_to_a_variant_that_was_tried_and_is_not_active(workbench, mode):
    async with mcp_at_a_port(workbench) as base, client_of(base, mode=mode) as client:
        run_id = (await told(client, "run_assistant", input=SUM))["run_id"]
        await workbench.scores.give(given(run_id, NOTE, Trigger(kind="page"), note="Say it in a word."))
        found = await told(client, "search_runs", agent="assistant", text="10", noted=True)
        [run] = found["runs"]
        assert (run["id"], found["count"], run["said"]["notes"]) == (run_id, 1, ["Say it in a word."])
        read = await told(client, "read_run", run_id=run_id, longest=200)
        assert read["system_prompt"].endswith("more characters)") and "said" in read
        assert [step["type"] for step in read["steps"]][-3:] == ["tool-call", "tool-result", "agent-response"]
        case = await told(
            client, "make_case", run_id=run_id, dataset="Sums", new_dataset=True, reference="15", tags=["add"]
        )
        assert (case["dataset"], case["reference"], case["recorded"], case["cases"]) == ("sums", "15", True, 1)
        [kept] = workbench.cases.of(workbench.datasets.by_slug("sums").id)
        assert (kept.reference, kept.tags, kept.run_id) == ("15", ("add",), run_id)

        before = workbench.agents.by_slug("assistant")
        proposed = await told(
            client, "propose_variant", agent="assistant", reason="Shorter", system_prompt="Answer in a word."
        )
        after = workbench.agents.by_slug("assistant")
        assert after.active == before.active == proposed["active"] != proposed["variant"]
        assert after.variant(proposed["variant"]).note == "Shorter"

        both = [before.active, proposed["variant"]]
        begun = await told(
            client, "start_experiment", dataset="sums", agent="assistant", variants=both, scorers=EXACT, repeats=2
        )
        assert (begun["cells"], begun["estimate"]["cells"]) == (4, 4)
        ended = await told(client, "get_experiment", experiment_id=begun["experiment_id"], wait=20)
        assert (ended["status"], ended["ended"]) == ("completed", 4), ended
        assert [(one["passed"], one["errors"], one["recorded"]) for one in ended["columns"]] == [(2, 0, 2)] * 2
        [verdict] = ended["verdicts"]
        assert (verdict["verdict"], verdict["of"]) == ("cannot tell", f"variant {proposed['variant']}")
        assert workbench.agents.by_slug("assistant").active == before.active


async def test_what_failed_is_told_with_its_reasons_and_runs(workbench):
    async with mcp_at_a_port(workbench) as base, client_of(base) as client:
        run_id = (await told(client, "run_assistant", input=SUM))["run_id"]
        await told(client, "make_case", run_id=run_id, dataset="Sums", new_dataset=True)
        wrong = [{"type": "contains", "texts": ["sixteen"]}]
        begun = await told(client, "start_experiment", dataset="sums", agent="assistant", scorers=wrong)
        ended = await told(client, "get_experiment", experiment_id=begun["experiment_id"], wait=20)
        [cell] = ended["failed"]
        assert cell["input"] == SUM and "15" in cell["answer"] and "sixteen" in cell["scores"][0]["reason"]
        assert (await told(client, "read_run", run_id=cell["runs"][0]))["user_query"] == SUM
        none = await told(client, "get_experiment", experiment_id=begun["experiment_id"], cells=0)
        assert none["failed"] == [] and none["columns"][0]["failed"] == 1


async def test_an_experiment_that_is_said_to_be_over_has_its_verdict(workbench, monkeypatch):
    monkeypatch.setattr(workbench.experimenting, "results", ending_as_it_is_read(workbench))
    async with mcp_at_a_port(workbench) as base, client_of(base) as client:
        run_id = (await told(client, "run_assistant", input=SUM))["run_id"]
        await told(client, "make_case", run_id=run_id, dataset="Sums", new_dataset=True)
        begun = await told(
            client, "start_experiment", dataset="sums", agent="assistant", variants=[1, 1], scorers=EXACT
        )
        for over in (False, True):
            found = await told(client, "get_experiment", experiment_id=begun["experiment_id"])
            assert (found["status"] == "completed") is over is ("no verdict" not in found["verdicts"][0]["words"])


async def test_a_workflow_is_read_with_what_its_agents_used(workbench):
    await asking(workbench)
    async with mcp_at_a_port(workbench) as base, client_of(base) as client:
        run_id = (await told(client, "run_asking", input=SUM))["run_id"]
        read = await told(client, "read_run", run_id=run_id)
        [below] = workbench.rows.below(run_id)
        assert read["metrics"]["tokens_input"] == below.input_tokens > 0


async def test_a_run_whose_beginning_cannot_be_read_is_told_in_words(workbench):
    entries = rich_run()
    run_id = await workbench.exports.import_bundle(bundle(entries, json_lines(entries, app="1"), app="1", artifacts={}))
    (workbench.data.path / "runs" / f"{run_id}.tdb").write_bytes(b"nothing that can be read\n")
    async with mcp_at_a_port(workbench) as base, client_of(base) as client:
        for tool in ("get_run", "read_run"):
            words = await refused(client, tool, run_id=run_id)
            assert f"The beginning of the run '{run_id}' cannot be read any more." in words


async def test_a_prompt_that_drops_a_variable_is_told_of_it(workbench):
    await agent_with(workbench, "Asking", system_prompt="Ask {{who}} in {{where}}.")
    async with mcp_at_a_port(workbench) as base, client_of(base) as client:
        made = await told(client, "propose_variant", agent="asking", reason="one", system_prompt="Ask {{who}}.")
        assert made["notes"] == [
            "The prompt does not name where any more, which the variant that it was made from does."
        ]
        other = await told(client, "propose_variant", agent="asking", reason="two", temperature=0.5, origin=1)
        behaviour = workbench.agents.by_slug("asking").variant(other["variant"]).behaviour
        assert (behaviour.parameters.temperature, behaviour.system_prompt) == (0.5, "Ask {{who}} in {{where}}.")


async def test_the_tools_are_there_for_keys_with_the_right_only(workbench):
    async with mcp_at_a_port(workbench) as base:
        plain = (await workbench.keys.create("plain", agents=["assistant"], may=["approve", "variants"])).secret
        evaluating = (await workbench.keys.create("evals", agents=["assistant"], may=["evals"])).secret
        whole = (await workbench.keys.create("whole")).secret
        for key, there in ((plain, False), (evaluating, True), (whole, True)):
            async with client_of(base, key) as client:
                listed = {tool.name for tool in (await client.list_tools()).tools}
                assert listed & TOOLS == (TOOLS if there else set())
        async with client_of(base, plain) as client:
            assert "can tick 'Evaluate'" in await refused(client, "search_runs")
            words = await refused(client, "propose_variant", agent="assistant", reason="x", system_prompt="y")
            assert "may not propose variants" in words
        assert len(workbench.agents.by_slug("assistant").variants) == 1


async def test_a_key_for_certain_agents_evaluates_these_and_sees_what_it_started(workbench):
    await agent_with(workbench, "Mine")
    async with mcp_at_a_port(workbench) as base:
        key = (await workbench.keys.create("K", agents=["mine"], may=["evals"])).secret
        async with client_of(base) as owner, client_of(base, key) as client:
            theirs = (await told(owner, "run_assistant", input=SUM))["run_id"]
            mine = (await told(client, "run_mine", input=SUM))["run_id"]
            assert [run["id"] for run in (await told(client, "search_runs"))["runs"]] == [mine]
            for name in ("read_run", "make_case"):
                more = {"dataset": "Sums", "new_dataset": True} if name == "make_case" else {}
                assert "There is no run" in await refused(client, name, run_id=theirs, **more)
            await told(client, "make_case", run_id=mine, dataset="Sums", new_dataset=True)
            words = await refused(client, "start_experiment", dataset="sums", agent="assistant")
            assert "There is no agent 'assistant'" in words
            words = await refused(client, "start_experiment", dataset="sums", agent="mine", models=["demo/agent"])
            assert "choose another variant or model" in words
            own = (await told(client, "start_experiment", dataset="sums", agent="mine", scorers=EXACT))["experiment_id"]
            ended = await told(client, "get_experiment", experiment_id=own, wait=20)
            assert ended["ended"] == 1
            its_run = (await told(client, "search_runs", behind=True))["runs"][0]
            assert its_run["triggered_by"] == "api_key:K" and its_run["id"] != mine
            words = await refused(client, "start_experiment", dataset="sums", agent="mine", beside=["assistant"])
            assert "There is no agent 'assistant'" in words
            hidden = (await told(owner, "start_experiment", dataset="sums", agent="mine"))["experiment_id"]
            assert "There is no experiment" in await refused(client, "get_experiment", experiment_id=hidden)


async def test_what_does_not_fit_is_refused_in_words(workbench):
    async with mcp_at_a_port(workbench) as base, client_of(base) as client:
        for name, arguments, words in (
            ("start_experiment", {"dataset": "no", "agent": "assistant"}, "There is no dataset 'no'"),
            ("start_experiment", {"dataset": "no", "agent": "assistant", "live": ["x"]}, "live"),
            ("propose_variant", {"agent": "assistant", "reason": "r", "origin": 9}, "9"),
            ("propose_variant", {"agent": "assistant", "reason": "r", "active": True}, "active"),
            ("get_experiment", {"experiment_id": "e"}, "There is no experiment 'e'"),
            ("read_run", {}, "run_id"),
        ):
            assert words in await refused(client, name, **arguments), name


def test_the_skill_names_every_tool_and_nothing_that_is_none():
    words = (paths.assets() / "skill" / "SKILL.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", words, re.MULTILINE)) == TOOLS == set(TAKES)
    [example] = re.findall(r"```json\n(.*?)```", words, re.DOTALL)
    asked = StartExperiment.model_validate_json(example)
    ExperimentDraft.model_validate(asked.model_dump())
