"""Agents run by the library's own client, in both versions of the protocol."""

import asyncio
import json

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult, ToolListChangedNotification

from app.domain.agents import Agent, WorkflowBehaviour, new_agent, promoted, with_variant
from app.domain.workflows.document import Edge, InputNode, OutputNode, Template, Workflow
from tests.api.mcp.serving import ASKS, MODES, QUICK, STORY, SUM, agent_with, client_of, mcp_at_a_port
from tests.api.over import opened
from tests.waiting import until

pytestmark = pytest.mark.parametrize("mode", MODES)


async def test_an_agent_is_listed_and_answers(workbench, mode):
    async with mcp_at_a_port(workbench) as base, client_of(base, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"run_assistant", "get_run", "stop_run"} <= tools.keys()
        assert tools["run_assistant"].input_schema["required"] == ["input"]
        steps: list[str] = []

        async def told(done, total, message):
            steps.append(message)

        answer = await client.call_tool("run_assistant", {"input": SUM}, progress_callback=told)
        assert answer.structured_content["output"] == "5 + 10 = **15**."
        assert json.loads(answer.content[0].text) == answer.structured_content
        assert any("alculator" in step for step in steps), steps
        row = workbench.rows.get(answer.structured_content["run_id"])
        assert (row.status, row.trigger.program) == ("completed", "tester 1")
        again = await client.call_tool("run_assistant", {"input": SUM, "session": row.session_id})
        assert workbench.rows.get(again.structured_content["run_id"]).session_id == row.session_id


async def test_a_schema_of_the_agent_is_that_of_its_tool(workbench, mode):
    schema = {
        "type": "object",
        "properties": {"city": {"$ref": "#/$defs/name"}},
        "required": ["city"],
        "$defs": {"name": {"type": "string"}},
    }
    await agent_with(workbench, "Shaped", output_schema=schema)
    async with mcp_at_a_port(workbench) as base, client_of(base, mode=mode) as client:
        [tool] = [one for one in (await client.list_tools()).tools if one.name == "run_shaped"]
        assert tool.output_schema["$defs"] == schema["$defs"]
        answer = await client.call_tool("run_shaped", {"input": "Where?"})
        assert set(answer.structured_content) == {"city"}
        assert answer.meta["agent-playground/run_id"]


async def test_what_takes_long_goes_on_and_is_looked_after(unhurried, mode):
    async with mcp_at_a_port(unhurried, QUICK) as base, client_of(base, mode=mode) as client:
        begun = await client.call_tool("run_assistant", {"input": STORY})
        assert begun.structured_content["status"] == "running"
        named = {"run_id": begun.structured_content["run_id"]}
        assert (await client.call_tool("get_run", named)).structured_content["status"] == "running"
        ended = await client.call_tool("stop_run", named)
        assert ended.structured_content["status"] == "cancelled"
        told = await client.call_tool("get_run", named | {"wait": 10})
        assert (told.structured_content["status"], told.is_error) == ("cancelled", False)


async def test_who_can_be_told_hears_that_it_goes_on_and_is_not_cut_off(unhurried, mode):
    heard: list[str] = []

    async def told(done, total, message):
        heard.append(message)

    async with mcp_at_a_port(unhurried, QUICK) as base:
        async with client_of(base, mode=mode) as client:
            asking = asyncio.create_task(client.call_tool("run_assistant", {"input": STORY}, progress_callback=told))
            await until(lambda: sum("Still" in words for words in heard) > 4)
            [live] = unhurried.runs.live_runs()
            live.stop()
            answer = await asking
            assert (answer.is_error, answer.structured_content["status"]) == (True, "cancelled")
        async with client_of(base, mode=mode, name="claude-ai") as client:
            cut = await client.call_tool("run_assistant", {"input": STORY}, progress_callback=told)
            assert cut.structured_content["status"] == "running"


async def test_a_cancelled_request_ends_the_run_that_was_made_for_it(unhurried, mode):
    workbench = unhurried
    async with mcp_at_a_port(workbench) as base, client_of(base, mode=mode) as client:
        first = await client.call_tool("run_assistant", {"input": SUM})
        session = first.structured_content["session_id"]
        for arguments, goes_on in (({}, False), ({"session": session}, True)):
            asking = asyncio.create_task(client.call_tool("run_assistant", {"input": STORY} | arguments))
            [live] = await until(workbench.runs.live_runs)
            await until(lambda live=live: live.draft.text)
            asking.cancel()
            if goes_on:
                await client.list_tools()
                assert live.alive
                live.stop()
            await live.ended()
            assert live.status == "cancelled"
            await until(lambda: not workbench.runs.live_runs())  # else the next one would be taken for this


@pytest.mark.parametrize(
    ("action", "allow", "status"), [("accept", True, "15"), ("accept", False, "denied"), ("decline", None, "denied")]
)
async def test_a_person_at_the_client_is_asked_for_leave(workbench, mode, action, allow, status):
    await agent_with(workbench, "Careful", tools=ASKS)
    asked: list[str] = []

    async def person(context, params):
        asked.append(params.message)
        return ElicitResult(action=action, content=None if allow is None else {"allow": allow})

    async with mcp_at_a_port(workbench) as base:
        key = (await workbench.keys.create("K", agents=["careful"], may=["approve"])).secret
        async with client_of(base, key, mode, elicitation_callback=person) as client:
            answer = await client.call_tool("run_careful", {"input": SUM})
        [question] = asked
        assert "calculator" in question and '"x": 5' in question
        entries = (await workbench.runs.trace(answer.structured_content["run_id"])).entries
        [result] = [one.event.result for one in entries if one.event.type == "tool_returned"]
        assert (result.status if status == "denied" else result.text) == (
            status if status == "denied" else "5 + 10 = 15"
        )
        [resolved] = [one.event for one in entries if one.event.type == "pause_resolved"]
        assert resolved.by == "api_key:K"


async def test_without_the_right_or_a_person_the_run_waits_in_the_app(workbench, mode):
    await agent_with(workbench, "Careful", tools=ASKS)

    async def person(context, params):
        raise AssertionError("Nobody is to be asked")

    async with mcp_at_a_port(workbench) as base:
        without = (await workbench.keys.create("no right", agents=["careful"])).secret
        with_right = (await workbench.keys.create("K", agents=["careful"], may=["approve"])).secret
        for key, callback in ((without, person), (with_right, None)):
            async with client_of(base, key, mode, elicitation_callback=callback) as client:
                answer = await client.call_tool("run_careful", {"input": SUM})
                assert (answer.structured_content["status"], answer.is_error) == ("paused", False)
                assert answer.structured_content["waits_for"] == [
                    {"reason": "approval", "what": "leave to call calculator"}
                ]
                await client.call_tool("stop_run", {"run_id": answer.structured_content["run_id"]})


async def test_a_key_opens_its_agents_and_its_runs_only(workbench, mode):
    await agent_with(workbench, "Mine")
    async with mcp_at_a_port(workbench) as base:
        key = (await workbench.keys.create("K", agents=["mine"])).secret
        async with client_of(base, mode=mode) as owner, client_of(base, key, mode) as client:
            theirs = await owner.call_tool("run_assistant", {"input": SUM})
            assert [tool.name for tool in (await client.list_tools()).tools] == ["run_mine", "get_run", "stop_run"]
            with pytest.raises(MCPError, match="There is no tool 'run_assistant'"):
                await client.call_tool("run_assistant", {"input": SUM})
            for name in ("get_run", "stop_run"):
                refused = await client.call_tool(name, {"run_id": theirs.structured_content["run_id"]})
                assert refused.is_error and "There is no run" in refused.content[0].text


async def test_a_promotion_is_told(workbench, mode):
    agent = await agent_with(workbench, "Changing")
    heard = asyncio.Event()

    async def noticed(message):
        if isinstance(message, ToolListChangedNotification):
            heard.set()

    async def listens(client):
        async with client.listen(tools_list_changed=True) as changes:
            async for _ in changes:
                heard.set()

    async with mcp_at_a_port(workbench) as base, client_of(base, mode=mode, message_handler=noticed) as client:
        await client.list_tools()
        listening = asyncio.create_task(listens(client)) if mode == "auto" else None
        newer = agent.active_variant.behaviour.model_copy(update={"system_prompt": "Ask {{who}}."})

        def promote(agent: Agent) -> Agent:
            return promoted(with_variant(agent, newer, origin=1), len(agent.variants) + 1)

        async def until_heard():
            while not heard.is_set():  # the stream may not be open yet
                await workbench.agents.change(agent.id, promote)
                await asyncio.wait([asyncio.ensure_future(heard.wait())], timeout=1.5)

        await asyncio.wait_for(until_heard(), 30)
        [tool] = [one for one in (await client.list_tools(cache_mode="refresh")).tools if one.name == "run_changing"]
        assert "who" in tool.input_schema["properties"]["variables"]["properties"]
        if listening:
            listening.cancel()


async def test_what_does_not_fit_is_refused_in_words(workbench, mode):
    async with mcp_at_a_port(workbench) as base, client_of(base, mode=mode) as client:
        for name, arguments, words in (
            ("run_assistant", {}, "input"),
            ("run_assistant", {"input": "x", "more": 1}, "more"),
            ("run_assistant", {"input": " "}, "empty"),
            ("run_assistant", {"input": "x", "variables": {"nobody": "1"}}, "has no variable 'nobody'"),
            ("run_assistant", {"input": "x", "session": "s"}, "There is no session 's'"),
            ("get_run", {"run_id": "r"}, "There is no run 'r'"),
        ):
            refused = await client.call_tool(name, arguments)
            assert refused.is_error and words in refused.content[0].text, refused


async def test_a_call_of_our_own_agents_counts_how_deep_it_is(workbench, mode):
    async with mcp_at_a_port(workbench) as base, client_of(base, mode=mode) as client:
        answer = await client.call_tool("run_assistant", {"input": SUM}, meta={"agent-playground/depth": 2})
        [first, *_] = (await workbench.runs.trace(answer.structured_content["run_id"])).entries
        assert first.event.depth == 2
        too_deep = await client.call_tool("run_assistant", {"input": SUM}, meta={"agent-playground/depth": 5})
        assert too_deep.is_error and not workbench.runs.live_runs()


async def test_a_run_that_an_earlier_app_left_is_stopped(tmp_path, workbench, mode):
    await agent_with(workbench, "Careful", tools=ASKS)
    async with mcp_at_a_port(workbench) as base, client_of(base, mode=mode) as client:
        waits = await client.call_tool("run_careful", {"input": SUM})
    await workbench.close()
    later = opened(tmp_path)
    try:
        async with mcp_at_a_port(later) as base, client_of(base, mode=mode) as client:
            named = {"run_id": waits.structured_content["run_id"]}
            assert (await client.call_tool("get_run", named)).structured_content["status"] == "paused"
            assert (await client.call_tool("stop_run", named)).structured_content["status"] == "cancelled"
    finally:
        await later.close()


async def test_a_workflow_is_a_tool_that_takes_the_fields_of_its_input(workbench, mode):
    takes = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "count": {"type": "integer", "description": "How many."}},
        "required": ["text", "count"],
    }
    value = Template(text="{{input.count}} of {{input.text}}")
    nodes = (InputNode(id="input", takes=takes), OutputNode(id="output", value=value))
    flow = WorkflowBehaviour(workflow=Workflow(nodes=nodes, edges=(Edge(source="input", target="output"),)))
    await workbench.agents.create(new_agent("Counted", flow, taken_slugs=workbench.agents.slugs()))
    async with mcp_at_a_port(workbench) as base, client_of(base, mode=mode) as client:
        [tool] = [one for one in (await client.list_tools()).tools if one.name == "run_counted"]
        assert tool.input_schema["properties"]["variables"]["properties"]["count"]["description"] == "How many."
        answer = await client.call_tool("run_counted", {"input": "bees", "variables": {"count": "7"}})
        assert answer.structured_content["output"] == "7 of bees"
