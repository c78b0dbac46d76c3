"""The same agent, tool and model in a framework of other people, behind the same FastAPI as the bare loop.

`python -m tests.bench.rival_agents.server FRAMEWORK PORT MODEL`, with a name of `FRAMEWORKS`; the provider's address
and key are in the environment. `POST /run` streams the answers of the model, as our runs do. Nothing is traced.
"""

import os
import sys
from collections.abc import Awaitable, Callable
from typing import Literal

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

Answer = Callable[[str], Awaitable[str]]
Operation = Literal["add", "subtract"]

MODEL = sys.argv[3]
PROVIDER = {"base_url": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["OPENAI_API_KEY"]}
MOST_STEPS = 20
calls: list[str] = []
"""What the tool said in this run."""


async def calculator(operation: Operation, x: float, y: float) -> str:
    """Calculate with two numbers."""
    calls.append(f"{x} + {y} = {x + y}" if operation == "add" else f"{x} - {y} = {x - y}")
    return calls[-1]


def autogen() -> Answer:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_core.models import ModelFamily
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    can = {"vision": False, "function_calling": True, "json_output": False, "structured_output": False}
    client = OpenAIChatCompletionClient(model=MODEL, model_info={**can, "family": ModelFamily.UNKNOWN}, **PROVIDER)
    settings = {"max_tool_iterations": MOST_STEPS, "model_client_stream": True, "system_message": None}

    async def answer(question: str) -> str:
        agent = AssistantAgent("sums", client, tools=[calculator], **settings)  # it keeps what was said
        told = [message async for message in agent.run_stream(task=question)]
        return told[-1].messages[-1].content

    return answer


def langgraph() -> Answer:
    from langchain.agents import create_agent
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model=MODEL, streaming=True, stream_usage=True, **PROVIDER)
    graph = create_agent(model, [tool(calculator)])

    async def answer(question: str) -> str:
        state = await graph.ainvoke({"messages": [("user", question)]}, {"recursion_limit": 3 * MOST_STEPS})
        return state["messages"][-1].content

    return answer


def openai_agents() -> Answer:
    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel(MODEL, AsyncOpenAI(**PROVIDER))
    agent = Agent(name="sums", model=model, tools=[function_tool(calculator)])

    async def answer(question: str) -> str:
        run = Runner.run_streamed(agent, question, max_turns=MOST_STEPS)
        async for _ in run.stream_events():
            pass
        return run.final_output

    return answer


def pydantic_ai() -> Answer:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    agent = Agent(OpenAIChatModel(MODEL, provider=OpenAIProvider(**PROVIDER)), tools=[calculator])

    async def answer(question: str) -> str:
        async with agent.run_stream(question) as run:
            return await run.get_output()

    return answer


FRAMEWORKS = {"autogen": autogen, "langgraph": langgraph, "openai_agents": openai_agents, "pydantic_ai": pydantic_ai}


class Question(BaseModel):
    input: str


def main(framework: str, port: int) -> None:
    answer, server = FRAMEWORKS[framework](), FastAPI()

    @server.get("/health")
    async def health() -> str:
        return "ok"

    @server.post("/run")
    async def run(question: Question) -> dict[str, object]:
        calls.clear()
        text = await answer(question.input)
        return {"output_text": text, "steps": len(calls)}

    uvicorn.run(server, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
