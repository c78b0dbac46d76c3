"""The agent of P6 as ADK's API server runs it: the same model, by LiteLLM, and the same tool."""

import os

from google.adk.agents import Agent
from google.adk.models.lite_llm import LiteLlm


def calculator(operation: str, x: float, y: float) -> str:
    """Calculate with two numbers.

    Args:
        operation: add or subtract.
        x: The first number.
        y: The second number.
    """
    return f"{x} + {y} = {x + y}" if operation == "add" else f"{x} - {y} = {x - y}"


root_agent = Agent(name="sums", model=LiteLlm(model=os.environ["BENCH_MODEL"]), tools=[calculator])
