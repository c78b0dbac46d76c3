"""A message that is refused leaves no session behind, whichever way it came."""

import httpx
import pytest

from app.workbench import Workbench
from tests.api.mcp.serving import agent_with, client_of, mcp_at_a_port
from tests.api.over import api_over

NOWHERE = [{"sha256": "0" * 64}]
RUN, CHAT = "/api/v1/agents/assistant/run", "/api/v1/chat"
COMPLETIONS, RESPONSES = "/v1/chat/completions", "/v1/responses"
Body = dict[str, object]


def asked(text: str, *, model: str = "assistant") -> Body:
    return {"model": model, "messages": [{"role": "user", "content": text}]}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (RUN, {"input": " "}),
        (RUN, {"input": "hi", "attachments": NOWHERE}),
        (RUN, {"input": " ", "background": True}),
        (CHAT, {"message": ""}),
        (CHAT, {"message": "hi", "attachments": NOWHERE}),
        (COMPLETIONS, asked(" ")),
        (RESPONSES, {"model": "assistant", "input": " "}),
        ("/api/v1/agents/stuck/run", {"input": "hi"}),
        (COMPLETIONS, asked("hi", model="stuck")),
    ],
)
async def test_a_refused_message_leaves_no_session(workbench: Workbench, path: str, body: Body):
    await agent_with(workbench, "Stuck", model="nobody/knows")
    reply = await post(workbench, path, body)
    assert 400 <= reply.status_code < 500, reply.text
    assert sessions_of(workbench) == []


async def test_a_tool_call_that_is_refused_leaves_no_session(workbench: Workbench):
    async with mcp_at_a_port(workbench) as base, client_of(base) as client:
        answer = await client.call_tool("run_assistant", {"input": " "})
    assert answer.is_error and "empty" in answer.content[0].text
    assert sessions_of(workbench) == []


async def test_a_session_that_was_there_stays_when_a_message_in_it_is_refused(workbench: Workbench):
    agent = next(agent for agent in workbench.agents.all() if agent.slug == "assistant")
    session = await workbench.chat.new_session(agent.id)
    reply = await post(workbench, RUN, {"input": " ", "session": session.id})
    assert reply.status_code == 422
    assert sessions_of(workbench) == [session.id]


async def post(workbench: Workbench, path: str, body: Body) -> httpx.Response:
    transport = httpx.ASGITransport(app=api_over(workbench))
    async with httpx.AsyncClient(transport=transport, base_url="http://here", timeout=30) as client:
        return await client.post(path, json=body)


def sessions_of(workbench: Workbench) -> list[str]:
    return [session.id for session in workbench.sessions.recent()]
